//! What the session guards print: the session table of spec 01, as data. The guards have no circuit of their own;
//! `breaker` is the guard's fixed code.

use std::fmt::{self, Formatter};

use crate::domain::observation::Observation;
use crate::domain::signal::Signal;
use crate::domain::time::Span;

/// Who refused a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Refuser {
    /// The user.
    User,
    /// The agent's host.
    Host,
}

/// The figures of a session guard's refusal, one variant a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SessionFigures {
    /// A tool outside the allowlist.
    NotAllowed {
        /// Tools on the list.
        allowed: u32,
    },
    /// A call that the user or the host refused.
    Refused(
        /// Who refused.
        Refuser,
    ),
    /// A write whose reply was lost.
    AmbiguousEffect {
        /// How long the reply was awaited, in milliseconds.
        after_ms: u64,
    },
    /// The same result again: the route is steered, or halted from `halt_at` on.
    SameResult {
        /// The observation that came back.
        observation: Observation,
        /// How often.
        times: u32,
        /// The count that steers.
        steer_at: u32,
        /// The count that halts.
        halt_at: u32,
    },
    /// The same result to other questions.
    Sweep {
        /// The observation that came back.
        observation: Observation,
        /// How often.
        times: u32,
        /// The count that steers.
        steer_at: u32,
        /// The count that halts.
        halt_at: u32,
    },
    /// One tool failing with different texts.
    Broad {
        /// Failures in a row.
        failures: u32,
        /// The count that steers.
        steer_at: u32,
        /// The count that halts.
        halt_at: u32,
    },
    /// The same usable result again.
    AlreadyHeld {
        /// How often.
        times: u32,
        /// The count that steers.
        steer_at: u32,
        /// The count that halts.
        halt_at: u32,
    },
    /// Too many routes of the task are halted.
    SessionHalted {
        /// Halted routes.
        routes: u32,
        /// The count that halts the session.
        halt_at: u32,
    },
    /// Too many calls of one tool at once.
    Wave {
        /// Calls running.
        running: u32,
        /// The cap.
        cap: u32,
    },
    /// The same call is running in this wave.
    Twin,
    /// Too many calls against one backend.
    Backend {
        /// Calls running.
        running: u32,
        /// The cap.
        cap: u32,
    },
}

const STEERED: &str = "steered; the same result again halts this route";
const HALTED: &str = "halted for this session";
const FULL: &str = "full until one returns";

/// The fixed codes of the session guards, with the signal that each speaks of.
pub const GUARDS: [(&str, Signal); 4] = [
    ("session_scope", Signal::ScopeCreep),
    ("session_effects", Signal::AmbiguousEffect),
    ("session_progress", Signal::NoProgress),
    ("session_fan_out", Signal::FanOut),
];

impl SessionFigures {
    /// The fixed code of the guard; none for a backend cap, which speaks in its breaker's name.
    #[must_use]
    pub const fn guard_code(&self) -> Option<&'static str> {
        match self {
            Self::NotAllowed { .. } | Self::Refused(_) => Some("session_scope"),
            Self::AmbiguousEffect { .. } => Some("session_effects"),
            Self::SameResult { .. }
            | Self::Sweep { .. }
            | Self::Broad { .. }
            | Self::AlreadyHeld { .. }
            | Self::SessionHalted { .. } => Some("session_progress"),
            Self::Wave { .. } | Self::Twin => Some("session_fan_out"),
            Self::Backend { .. } => None,
        }
    }

    /// Whether the count has reached the halt.
    #[must_use]
    pub const fn is_halt(&self) -> bool {
        match *self {
            Self::SameResult { times, halt_at, .. }
            | Self::Sweep { times, halt_at, .. }
            | Self::AlreadyHeld { times, halt_at, .. } => times >= halt_at,
            Self::Broad { failures, halt_at, .. } => failures >= halt_at,
            Self::SessionHalted { .. } => true,
            Self::NotAllowed { .. }
            | Self::Refused(_)
            | Self::AmbiguousEffect { .. }
            | Self::Wave { .. }
            | Self::Twin
            | Self::Backend { .. } => false,
        }
    }

    /// The wait that a full wave or backend hints at, in milliseconds.
    #[must_use]
    pub const fn retry_hint_ms(&self) -> Option<u64> {
        match self {
            Self::Wave { .. } | Self::Twin | Self::Backend { .. } => Some(1_000),
            Self::NotAllowed { .. }
            | Self::Refused(_)
            | Self::AmbiguousEffect { .. }
            | Self::SameResult { .. }
            | Self::Sweep { .. }
            | Self::Broad { .. }
            | Self::AlreadyHeld { .. }
            | Self::SessionHalted { .. } => None,
        }
    }

    pub(super) fn write_observed(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed { allowed } => write!(f, "not in the allowlist of {allowed} tools"),
            Self::Refused(Refuser::User) => f.write_str("refused by the user"),
            Self::Refused(Refuser::Host) => f.write_str("refused by the host"),
            Self::AmbiguousEffect { after_ms } => write!(f, "reply lost after {}", Span(*after_ms)),
            Self::SameResult { observation, times, .. } => write!(f, "same {observation} result {times} times"),
            Self::Sweep { observation, times, .. } => write!(f, "{times} {observation} results, other questions"),
            Self::Broad { failures, .. } => write!(f, "{failures} failures in a row"),
            Self::AlreadyHeld { times, .. } => write!(f, "same result {times} times"),
            Self::SessionHalted { routes, .. } => write!(f, "{routes} routes halted"),
            Self::Wave { running, cap } | Self::Backend { running, cap } => write!(f, "{running} of {cap} running"),
            Self::Twin => f.write_str("same call already running"),
        }
    }

    pub(super) fn write_threshold(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed { .. } => f.write_str("allowlist"),
            Self::Refused(_) => f.write_str("one refusal"),
            Self::AmbiguousEffect { .. } => f.write_str("verify before repeating"),
            Self::SameResult { halt_at, .. } if self.is_halt() => write!(f, "halt at {halt_at}"),
            Self::SameResult { steer_at, halt_at, .. }
            | Self::Sweep { steer_at, halt_at, .. }
            | Self::Broad { steer_at, halt_at, .. }
            | Self::AlreadyHeld { steer_at, halt_at, .. } => write!(f, "steer at {steer_at}, halt at {halt_at}"),
            Self::SessionHalted { halt_at, .. } => write!(f, "session halt at {halt_at} routes"),
            Self::Wave { cap, .. } => write!(f, "{cap} at once"),
            Self::Twin => f.write_str("one of a kind in a wave"),
            Self::Backend { cap, .. } => write!(f, "{cap} at once over all sessions"),
        }
    }

    pub(super) const fn state(&self) -> &'static str {
        match self {
            Self::NotAllowed { .. } | Self::Refused(_) => "refused for this session",
            Self::AmbiguousEffect { .. } => "unverified write",
            Self::SameResult { .. } | Self::Sweep { .. } | Self::Broad { .. } => {
                if self.is_halt() {
                    HALTED
                } else {
                    STEERED
                }
            }
            Self::AlreadyHeld { .. } => "the result is already in your context",
            Self::SessionHalted { .. } => "session halted",
            Self::Wave { .. } | Self::Backend { .. } => FULL,
            Self::Twin => "use the running call's result",
        }
    }
}
