//! The table of spec 06: whether the call that follows a contract is what its action asked for.

use super::telling::{CallKey, NextCall, Way};
use crate::domain::contract::Action;
use crate::domain::time::Timestamp;

/// What a contract asked for, of which calls, and until when.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Asked {
    pub(super) action: Action,
    /// The calls that were refused, or whose results it stands for.
    pub(super) calls: Vec<CallKey>,
    /// Where it sent the model.
    pub(super) ways: Vec<Way>,
    /// The N of `reduce_payload`.
    pub(super) max_argument_bytes: Option<u32>,
    /// Its time; none: until the task or session ends.
    pub(super) until: Option<Timestamp>,
    pub(super) epoch: u32,
}

impl Asked {
    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    fn is_target(&self, next: &NextCall) -> bool {
        self.calls.iter().any(|call| call.target == next.key.target)
    }

    /// Whether a call goes where the contract sent the model.
    pub(super) fn is_way(&self, key: &CallKey) -> bool {
        self.ways.iter().any(|way| way.tool == key.tool || way.target == key.target)
    }

    /// The same call, in the same context epoch, before the time. In a later wave it is what `call_in_next_wave` asks for.
    pub(super) fn is_repeated_by(&self, next: &NextCall) -> bool {
        let CallKey { tool, target, arguments, .. } = next.key;
        let is_same = |call: &CallKey| (call.tool, call.target, call.arguments) == (tool, target, arguments);
        self.action != Action::CallInNextWave
            && self.epoch == next.epoch
            && !self.is_over(next.at)
            && self.calls.iter().any(is_same)
    }

    pub(super) fn is_met_by(&self, next: &NextCall) -> bool {
        match self.action {
            Action::SwitchToFallback | Action::VerifyEffect => self.is_way(&next.key),
            Action::AwaitRecovery | Action::WaitForQuota => !self.is_target(next) || self.is_over(next.at),
            Action::ReducePayload => {
                let is_small = || self.max_argument_bytes.zip(next.argument_bytes).is_some_and(|(max, got)| got <= max);
                self.is_target(next) && (self.is_over(next.at) || is_small())
            }
            Action::ChangeRoute => self.calls.iter().all(|call| {
                let CallKey { tool, identity, .. } = next.key;
                call.tool != tool || call.identity != identity
            }),
            Action::CallInNextWave => true, // who comes in a later step comes in a later wave
            Action::StopAndEscalate | Action::HaltWithPartialFindings => self.is_way(&next.key),
        }
    }

    /// The same target with other arguments before the time, against the action.
    pub(super) fn is_ignored_by(&self, next: &NextCall) -> bool {
        self.is_target(next) && !self.is_over(next.at) && !self.is_repeated_by(next) && !self.is_met_by(next)
    }

    /// Whether it is met by no further call in its task.
    pub(super) fn asks_to_stop(&self) -> bool {
        matches!(self.action, Action::StopAndEscalate | Action::HaltWithPartialFindings)
    }
}
