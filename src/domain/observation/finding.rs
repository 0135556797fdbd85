//! What one step of the decision found out about a payload.

use super::cause::Cause;
use super::{Classification, Observation, RetryHint};
use crate::domain::failure::FailureClass;
use crate::domain::signal::CircuitKind;

/// A decision on a payload, before the tool has a say.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    /// May it be cited?
    pub(super) observation: Observation,
    /// Why it may not, or what else is wrong with what may.
    pub(super) cause: Option<Cause>,
    /// The circuit that a usable result counts against all the same.
    pub(super) trouble: Option<CircuitKind>,
    /// What a retry may do where nothing failed: another score for the same snapshot.
    pub(super) class: Option<FailureClass>,
    /// Why, in words for an integrator.
    pub(super) reason: &'static str,
    /// The wait that the body asks for.
    pub(super) hint: Option<RetryHint>,
    /// How many there are in all, where the answer says so exactly.
    pub(super) total: Option<u64>,
    /// Even the values that are there may be wrong.
    pub(super) degrades_values: bool,
    /// It counts against nobody: another part of the same answer was good.
    pub(super) spares_target: bool,
}

impl Finding {
    const fn new(observation: Observation, cause: Option<Cause>, reason: &'static str) -> Self {
        Self {
            observation,
            cause,
            trouble: None,
            class: None,
            reason,
            hint: None,
            total: None,
            degrades_values: false,
            spares_target: false,
        }
    }

    /// At least one datum.
    pub(super) const fn observed(reason: &'static str) -> Self {
        Self::new(Observation::Observed, None, reason)
    }

    /// A datum, and a sign of more.
    pub(super) const fn truncated(reason: &'static str) -> Self {
        Self::new(Observation::Truncated, None, reason)
    }

    /// Asked, answered, nothing there.
    pub(super) const fn empty(reason: &'static str) -> Self {
        Self::new(Observation::Empty, None, reason)
    }

    /// Orients the next query.
    pub(super) const fn context(reason: &'static str) -> Self {
        Self::new(Observation::Context, None, reason)
    }

    /// Not usable, for a cause.
    pub(super) const fn failed(cause: Cause, reason: &'static str) -> Self {
        Self::new(cause.outputs().0, Some(cause), reason)
    }

    /// The same, and a strike against the target: usable, but a time limit ended it.
    pub(super) const fn counting_against(self, kind: CircuitKind) -> Self {
        Self { trouble: Some(kind), ..self }
    }

    pub(super) const fn with_hint(self, hint: Option<RetryHint>) -> Self {
        Self { hint, ..self }
    }

    pub(super) const fn with_total(self, total: Option<u64>) -> Self {
        Self { total, ..self }
    }

    pub(super) const fn degrading_values(self) -> Self {
        Self { degrades_values: true, ..self }
    }

    /// Whether it may be cited.
    pub(super) const fn is_usable(&self) -> bool {
        self.observation.is_usable()
    }

    /// Whether the call or the query failed, so that it weighs as a failed part among others.
    pub(super) const fn is_failure(&self) -> bool {
        self.cause.is_some()
    }

    /// The circuit that it counts against.
    pub(super) fn kind(&self) -> Option<CircuitKind> {
        if self.spares_target {
            return None;
        }
        self.trouble.or_else(|| self.cause.and_then(|cause| cause.outputs().1))
    }

    /// What a retry may do.
    pub(super) fn failure_class(&self) -> Option<FailureClass> {
        self.class.or_else(|| self.cause.and_then(|cause| cause.outputs().2))
    }

    /// What it says to the circuits of the target.
    pub(super) fn classification(&self) -> Classification {
        match (self.trouble, self.cause) {
            _ if self.spares_target => Classification::Ignored,
            (Some(kind), _) => Classification::Failed(kind), // usable, and late all the same
            (None, Some(cause)) => cause.classification(),
            (None, None) => Classification::Ok,
        }
    }
}
