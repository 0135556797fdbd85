//! Who acts on the failure of a step: the rows of spec 3.5 between `return_error` and `deliver`, as the tree decides
//! them where the call came with a step binding.
//!
//! Asks no tree: what it said is handed in.

use super::{
    Classification, Disposition, FailureClass, Handled, Handling, Observation, RetryHint, Typing, class_of, kind_of,
    silent_wait_of,
};
use crate::domain::failure::tree::Leaf;
use crate::domain::signal::CircuitKind;

/// A failed result that the tree is asked about, with what the model is told of it where nobody else acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedStep {
    /// Why it failed.
    pub class: FailureClass,
    /// A time limit ended it, of the call or of what it waited for: what it did is not known.
    pub is_timed_out: bool,
    observation: &'static str,
    kind: Option<CircuitKind>,
    hint: Option<RetryHint>,
}

impl Handled<'_> {
    /// The failure in a typed result. None where nothing failed, where what came may be delivered, and where an earlier
    /// row has the word.
    #[must_use]
    pub fn failed_step(&self, typing: &Typing) -> Option<FailedStep> {
        let is_failed = matches!(typing.observation, Observation::Unavailable | Observation::Error) && !typing.is_ours;
        let is_returned = typing.observation == Observation::Error && typing.complaint.is_some();
        let Typing { kind, hint, .. } = *typing;
        let is_timed_out = typing.classification == Classification::TimedOut;
        let class = typing.failure_class.filter(|_| is_failed && !is_returned && !self.opened)?;
        Some(FailedStep { class, is_timed_out, observation: typing.observation.word(), kind, hint })
    }

    /// The failure in a result that the caller judged itself, as above.
    #[must_use]
    pub fn failed_judgement(&self, classification: Classification, hint: Option<RetryHint>) -> Option<FailedStep> {
        let class = class_of(classification).filter(|_| !self.opened)?;
        let is_timed_out = classification == Classification::TimedOut;
        Some(FailedStep { class, is_timed_out, observation: "failed", kind: kind_of(classification), hint })
    }

    /// What is to be done with a failure on which the tree has decided.
    #[must_use]
    pub fn stepped(&self, failed: &FailedStep, leaf: Leaf) -> Handling {
        let FailedStep { class, observation, kind, hint, .. } = *failed;
        let wait = match leaf {
            Leaf::ComputeMove => return Handling { disposition: Disposition::Move, after_ms: None, text: None },
            Leaf::RouteNarrowing => return Handling { disposition: Disposition::Narrow, after_ms: None, text: None },
            Leaf::SameBindingRetry => silent_wait_of(hint).filter(|_| !self.is_open),
            Leaf::Halt => None,
        };
        match wait {
            Some(_) => Handling { disposition: Disposition::RetrySilently, after_ms: wait, text: None },
            None => self.failure(observation, kind, Some(class)),
        }
    }
}
