//! What an operator and the caller of a session may set of its gates (spec 4.1, 4.2, 4.5), with the defaults.

use std::num::NonZeroU32;
use std::sync::Arc;

use globset::GlobMatcher;

use crate::domain::ids::SafeText;

/// Globs of an allowlist at most.
pub const ALLOW_MAX: usize = 256;
/// Required tools at most.
pub const REQUIRED_TOOLS_MAX: usize = 64;

/// Two counts of the same thing: the first tells once, the second ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Thresholds {
    steer_at: u32,
    halt_at: u32,
}

/// Why two counts are no thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidThresholds {
    /// One observation is no repeat.
    #[error("steer_at `{got}` is below 2: one observation is no repeat")]
    SteersAtOnce {
        /// The count that was asked for.
        got: u32,
    },
    /// Nobody would be told before the halt.
    #[error("halt_at `{halt_at}` is not above steer_at `{steer_at}`: a halt comes after a steer")]
    HaltsUntold {
        /// The count that steers.
        steer_at: u32,
        /// The count that halts.
        halt_at: u32,
    },
}

impl Thresholds {
    /// Two counts, the second above the first.
    ///
    /// # Errors
    /// Where the first is below 2, or the second not above the first.
    pub const fn new(steer_at: u32, halt_at: u32) -> Result<Self, InvalidThresholds> {
        if steer_at < 2 {
            Err(InvalidThresholds::SteersAtOnce { got: steer_at })
        } else if halt_at <= steer_at {
            Err(InvalidThresholds::HaltsUntold { steer_at, halt_at })
        } else {
            Ok(Self { steer_at, halt_at })
        }
    }

    /// The count that steers.
    #[must_use]
    pub const fn steer_at(self) -> u32 {
        self.steer_at
    }

    /// The count that halts.
    #[must_use]
    pub const fn halt_at(self) -> u32 {
        self.halt_at
    }
}

/// What the no-progress ledger goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ProgressPolicy {
    /// The same failed or empty result to the same question.
    pub same: Thresholds,
    /// The same failed or empty result to other questions.
    pub sweep: Thresholds,
    /// Failures of one tool in a row, whatever their text.
    pub broad: Thresholds,
    /// The same usable result to the same call; none: usable results are not counted.
    pub observed: Option<Thresholds>,
    /// Halted routes that halt the session.
    pub max_halts: NonZeroU32,
    /// Steers that ended in a halt at which the operator is to be alerted; exported, decides nothing.
    pub alert_steer_then_halt: u32,
}

impl Default for ProgressPolicy {
    fn default() -> Self {
        Self {
            same: Thresholds { steer_at: 2, halt_at: 3 },
            sweep: Thresholds { steer_at: 4, halt_at: 6 },
            broad: Thresholds { steer_at: 6, halt_at: 10 },
            observed: Some(Thresholds { steer_at: 3, halt_at: 6 }),
            max_halts: NonZeroU32::MIN.saturating_add(2),
            alert_steer_then_halt: 3,
        }
    }
}

/// Calls of one tool that may run at once in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FanOutPolicy {
    /// The cap; none: no cap, and twins are still told to use the running call.
    pub per_wave: Option<NonZeroU32>,
}

impl Default for FanOutPolicy {
    fn default() -> Self {
        Self { per_wave: Some(NonZeroU32::MIN.saturating_add(3)) }
    }
}

/// What may be called at all.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ScopePolicy {
    /// Tools by their names as the model knows them; empty: any. At most [`ALLOW_MAX`].
    #[serde(with = "crate::domain::written::globs")]
    pub allow: Vec<GlobMatcher>,
    /// Refusals of one tool by the user or the host that pin the tool; none: only the exact call is pinned.
    pub pin_tool_after: Option<NonZeroU32>,
}

/// The policy of a session.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct SessionPolicy {
    /// The no-progress ledger.
    pub progress: ProgressPolicy,
    /// The fan-out cap.
    pub fan_out: FanOutPolicy,
    /// The allowlist and the pins.
    pub scope: ScopePolicy,
    /// Measurements that the job must make, by their names as the model knows them. No guard takes one away: an
    /// exhausted one stays required, and the answer must give it as Unknown. At most [`REQUIRED_TOOLS_MAX`].
    pub required_tools: Vec<Arc<str>>,
    /// What `stop_and_escalate` names.
    pub escalation_tool: Option<SafeText>,
}
