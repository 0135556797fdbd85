//! What happened, in order: the one list that logs, metrics, watchers and stores read.

use crate::domain::behaviour::Fact;
use crate::domain::contract::{Action, Facts, Observed, Threshold, Urgency};
use crate::domain::ids::Code;
use crate::domain::session::review::{ReviewRule, ReviewWord};
use crate::domain::signal::{CircuitKind, Phase, Signal};
use crate::domain::time::Timestamp;

/// One thing that happened. Holds figures, closed words, codes and scope names; never arguments, payloads, callers or
/// credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number, gapless within an incarnation; 0 until the engine gives it one.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// The breaker.
    pub breaker: Code,
    /// The scope, as text; empty where the whole breaker is meant.
    pub scope: Box<str>,
    /// The scope's id, by which what has changed is found again; 0 where the whole breaker is meant. Never shown.
    pub scope_id: u64,
    /// What the circuit watches; none where the event is not of one circuit.
    pub kind: Option<CircuitKind>,
    /// The circuit's generation after the event.
    pub generation: u32,
    /// What.
    pub what: Happening,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A call was let through.
    Admitted {
        /// As a leased probe.
        is_probe: bool,
    },
    /// A report was counted.
    Recorded,
    /// A call was refused.
    Refused(
        /// What the model was told.
        Told,
    ),
    /// A circuit in shadow would have refused.
    ShadowRefused(
        /// What the model would have been told.
        Told,
    ),
    /// A session guard told a model once to take another route.
    Steered(
        /// What the model was told.
        Told,
    ),
    /// A session guard halted a route.
    Halted {
        /// What the model was told.
        told: Told,
        /// The steer that it comes after; none where a guard halts without one.
        steered: Option<SteerThenHalt>,
    },
    /// An answer was held against the evidence of its session.
    Reviewed {
        /// What is to be done with it.
        verdict: ReviewWord,
        /// The first rule that it breaks; none where it may stand.
        rule: Option<ReviewRule>,
    },
    /// Something became known of a contract that was told, or a session ended.
    FollowedUp(
        /// What.
        Fact,
    ),
    /// A circuit opened.
    Tripped(
        /// Why and for how long.
        Box<Opening>,
    ),
    /// An open circuit's time is over: the first probe was leased.
    Probing,
    /// A probe's lease ended without a report.
    ProbeLost,
    /// A half-open circuit closed.
    Recovered,
    /// A report under a generation that is gone, or of a written-off probe.
    Stale,
    /// A report that had been made.
    Duplicate,
    /// A report after its permit's time.
    Expired,
    /// A report for a permit of a breaker or target that is gone.
    Unknown,
    /// An operator set an override.
    Overridden {
        /// `force_open`, `force_closed` or `shadow`.
        mode: OverrideMode,
        /// Who.
        owner: Box<str>,
    },
    /// An owner let an override go, or it expired.
    Released {
        /// Who.
        owner: Box<str>,
    },
    /// An operator closed it and forgot its past.
    Reset {
        /// The phase before.
        from: Phase,
    },
    /// A reload changed the breaker's policy.
    ConfigChanged {
        /// The configuration's number.
        version: u64,
    },
    /// A reload took the breaker, or this kind of circuit, away.
    Removed {
        /// Circuits of it that were open.
        open: u32,
        /// Circuits of it that were half-open.
        half_open: u32,
    },
    /// An idle target made room.
    Evicted,
    /// No room and nothing to evict: the target shares the overflow circuit.
    Overflowed,
}

use crate::domain::breaker::overrides::OverrideMode;

impl Happening {
    /// Whether it is of a single call that went as it should: told only to who asks for it.
    #[must_use]
    pub fn is_of_call(&self) -> bool {
        matches!(self, Self::Admitted { .. } | Self::Recorded)
    }
}

/// A halt as the end of a steer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteerThenHalt {
    /// Steers of the session that ended in a halt, with this one.
    pub count: u32,
    /// The count that the operator wants to hear of.
    pub alert_at: u32,
}

/// What a model was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The class of trouble.
    pub signal: Signal,
    /// The next step.
    pub action: Action,
    /// How urgent it is.
    pub urgency: Urgency,
    /// The phase of the refusing circuit.
    pub phase: Phase,
    /// The figures.
    pub observed: Observed,
    /// The rule.
    pub threshold: Threshold,
}

/// Why and for how long a circuit opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The phase before.
    pub from: Phase,
    /// The figures.
    pub observed: Observed,
    /// The rule that fired.
    pub threshold: Threshold,
    /// What the rule counted.
    pub facts: Facts,
    /// Milliseconds; none until an operator releases it.
    pub open_for_ms: Option<u64>,
    /// The backoff level.
    pub level: u8,
    /// The target's own hint, as it came.
    pub hint_ms: Option<i64>,
    /// Whether the hint was longer than the policy allows.
    pub hint_clamped: bool,
}

/// The buffer that a caller owns and the domain appends to.
pub type Events = Vec<Event>;
