//! Where the service reads spec 02 otherwise than to its letter. Each is `true` for what the service does; set it to
//! `false` in the change that makes the service follow the letter.

/// 2.4 "`probes` leases at once": no more run than good ones are still wanted.
pub(crate) const ONLY_WANTED_PROBES: bool = true;
/// 2.3 "calls in flight": the call whose report is being judged still counts as hanging.
pub(crate) const TOLD_CALL_HANGS: bool = true;
/// 2.3 "rules are evaluated as soon as": a good result beside hanging calls is judged at the next entry.
pub(crate) const GOOD_LEAVES_HANGING: bool = true;
/// 2.3 `min_reporters`: hanging calls of one caller open the circuit for all.
pub(crate) const HANGING_NEEDS_NO_QUORUM: bool = true;
/// 2.3 "one sick caller may be refused alone": so is a caller whose good result made a rule fire on others' failures.
pub(crate) const GOOD_CALLER_IS_REFUSED: bool = true;
/// 2.4 "acknowledged as counted": the failure that opens a caller's own circuit is acknowledged as stale.
pub(crate) const OWN_TRIP_IS_STALE: bool = true;
/// 2.4 "stale reports never move a circuit": a failure from before a caller's own circuit opened may open it again.
pub(crate) const STALE_OPENS_OWN: bool = true;
/// 2.4 "staleness is judged per circuit": a half-open circuit in shadow that lets a call through without a lease finds
/// its report stale where the call is another circuit's probe.
pub(crate) const PROBE_ELSEWHERE_IS_STALE: bool = true;
/// Housekeeping changes nothing: it forgets the generation that running calls were permitted under, and how many
/// results said nothing about a kind.
pub(crate) const HOUSEKEEPING_FORGETS: bool = true;
/// A look ahead says "probe" for a call that a circuit in shadow merely lets through.
pub(crate) const PEEK_SEES_PROBES_IN_SHADOW: bool = true;
/// 01 "not refused for the same reason": where one circuit is open and another's probe runs, only the open one's
/// deadline is told, although the lease may end later.
pub(crate) const RUNNING_PROBE_TELLS_NO_TIME: bool = true;
