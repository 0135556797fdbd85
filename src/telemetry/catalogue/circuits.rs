//! Rows about circuits and what is kept of targets.

use super::{BREAKER, Label, Metric, Unit, words};
use crate::domain::signal::{Phase, closed_words};

closed_words! {
    /// How a breaker stands: the strictest of its circuits, unless an operator holds one open.
    BreakerState {
        /// Every circuit is closed.
        Closed = "closed",
        /// None is open, and one is half-open.
        HalfOpen = "half_open",
        /// A circuit is open.
        Open = "open",
        /// An operator holds a circuit open.
        ForcedOpen = "forced_open",
    }
}

closed_words! {
    /// A phase in which a circuit is counted.
    NotClosed {
        /// Open.
        Open = "open",
        /// Half-open.
        HalfOpen = "half_open",
    }
}

closed_words! {
    /// What an operator did, or what ended by itself.
    OperatorAction {
        /// Holds circuits open.
        ForceOpen = "force_open",
        /// Holds circuits closed.
        ForceClosed = "force_closed",
        /// Lets circuits explain and not refuse.
        Shadow = "shadow",
        /// A hold ended, by clearing or by its time.
        Release = "release",
        /// A circuit was closed, and forgot its past.
        Reset = "reset",
    }
}

/// The transitions that there are; half-open to closed is a recovery or a reset.
pub const MOVES: [(Phase, Phase); 5] = [
    (Phase::Closed, Phase::Open),
    (Phase::Open, Phase::HalfOpen),
    (Phase::HalfOpen, Phase::Open),
    (Phase::HalfOpen, Phase::Closed),
    (Phase::Open, Phase::Closed),
];

/// Transitions.
pub const TRANSITIONS: Metric = Metric::counter(
    "tripnote_transitions_total",
    &[BREAKER, Label::words("from", || words!(Phase)), Label::words("to", || words!(Phase))],
    "Changes of phase of circuits; open to closed is an operator's reset",
);
/// The state of a breaker.
pub const BREAKER_STATE: Metric = Metric::gauge(
    "tripnote_breaker_state",
    Unit::Truth,
    &[BREAKER, Label::words("state", || words!(BreakerState))],
    "How a configured breaker stands, by the strictest of its circuits: 1 for one state, 0 for the others",
);
/// When it opened.
pub const BREAKER_OPENED: Metric = Metric::gauge(
    "tripnote_breaker_opened_timestamp_seconds",
    Unit::Second,
    &[BREAKER],
    "When a circuit of a configured breaker opened last, as Unix time; 0 while none is open",
);
/// Circuits.
pub const CIRCUITS: Metric = Metric::gauge(
    "tripnote_circuits",
    Unit::Count,
    &[Label::words("phase", || words!(NotClosed))],
    "Circuits of all breakers that are not closed; an open one stays so until the first call after its time",
);
/// Lost probes.
pub const PROBES_LOST: Metric = Metric::counter(
    "tripnote_probes_lost_total",
    &[],
    "Probes whose lease ended without a report; noticed at the next call",
);
/// What operators did.
pub const OPERATOR_ACTIONS: Metric = Metric::counter(
    "tripnote_operator_actions_total",
    &[Label::words("action", || words!(OperatorAction))],
    "Overrides that were set or ended, and circuits that were reset",
);
/// Targets.
pub const TARGETS: Metric = Metric::gauge("tripnote_targets", Unit::Count, &[], "Targets with circuits of their own");
/// Breakers.
pub const BREAKERS: Metric =
    Metric::gauge("tripnote_breakers", Unit::Count, &[], "Breakers that a call has met, or an operator named");
/// Evictions.
pub const EVICTIONS: Metric =
    Metric::counter("tripnote_evictions_total", &[], "Idle targets that made room for others");
/// Overflows.
pub const OVERFLOWS: Metric = Metric::counter(
    "tripnote_overflows_total",
    &[],
    "Times that targets had to share the overflow circuit, noted once a second and breaker at most",
);
