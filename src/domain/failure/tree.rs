//! The tree: what may follow a failed attempt. Pure, total, first match wins.
//!
//! It knows no host and no route; a leaf says only what may change.

use super::FailureClass as Class;
use super::record::AttemptRecord;
use crate::domain::ids::SafeText;
use crate::domain::signal::closed_words;

closed_words! {
    /// What may follow a failed attempt.
    Leaf {
        /// The same binding once more; only the attempt counter moves.
        SameBindingRetry = "same_binding_retry",
        /// Another host; route, snapshot and tools as they were.
        ComputeMove = "compute_move",
        /// A smaller route without tools and writes, asked for one labelled field. Its reply is a sketch.
        RouteNarrowing = "route_narrowing",
        /// Nothing: no socket is opened, and a person reads the record before a new binding exists.
        Halt = "halt",
    }
}

closed_words! {
    /// The row of the table that matched; the two that stand between the numbered ones have a word.
    Row {
        /// Before all others: a policy forbids it.
        Policy = "policy",
        /// No class, or `unknown`.
        NoClass = "1",
        /// Class `scope_creep`.
        Scope = "2",
        /// A step that may act missed its contract or its score.
        Acting = "3",
        /// Before row 4: a write whose reply was lost.
        Effect = "effect",
        /// A transport fault within the cap of retries.
        Retry = "4",
        /// A transport fault beyond it.
        Move = "5",
        /// A read-only step without tools missed its contract.
        Narrow = "6",
        /// Every other row.
        Rest = "7",
    }
}

impl Row {
    /// Its number in the table; none for the two rows that stand between.
    #[must_use]
    pub const fn number(self) -> Option<u8> {
        match self {
            Self::Policy | Self::Effect => None,
            Self::NoClass => Some(1),
            Self::Scope => Some(2),
            Self::Acting => Some(3),
            Self::Retry => Some(4),
            Self::Move => Some(5),
            Self::Narrow => Some(6),
            Self::Rest => Some(7),
        }
    }
}

closed_words! {
    /// Why this leaf. The four about spare hosts stand in the order of how near the host came to being the next.
    Reason {
        /// A policy forbids the step.
        PolicyDenied = "policy_denied",
        /// Nothing is known of the cause, and another call does not tell.
        UnknownClass = "unknown_class",
        /// A call outside the allowlist; another host would copy it.
        ScopeCreep = "scope_creep",
        /// The step may write or call tools, and its answer was not what it promised.
        WritesOrTools = "writes_or_tools",
        /// The write may have happened, and nothing would recognise a second one.
        AmbiguousEffect = "ambiguous_effect",
        /// A transport fault that one more try may mend.
        TransportFault = "transport_fault",
        /// A transport fault that more tries did not mend.
        TransportFaultRepeated = "transport_fault_repeated",
        /// A read-only answer that was not what it promised.
        ReadOnlyMiss = "read_only_miss",
        /// The input changed: this would be another step.
        SnapshotChanged = "snapshot_changed",
        /// Attempts count from 1; with 0 nothing is known of what was tried.
        NoAttempt = "no_attempt",
        /// Two scores are a record, not a cue to ask again.
        ScoreWobble = "score_wobble",
        /// No confirmed host but the present one serves the route.
        NoSpareHost = "no_spare_host",
        /// Those that serve it were left by this chain before.
        NoSpareHostLeft = "no_spare_host_left",
        /// The snapshot is published at none of those that remain.
        SnapshotNotPublished = "snapshot_not_published",
        /// The circuits of those that remain are open.
        SpareCircuitOpen = "spare_circuit_open",
        /// No narrow route is confirmed for the route.
        NoNarrowRoute = "no_narrow_route",
    }
}

/// What the tree says of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// What may follow.
    pub leaf: Leaf,
    /// The row that matched.
    pub row: Row,
    /// Why.
    pub reason: Reason,
}

impl Branch {
    const fn new(leaf: Leaf, row: Row, reason: Reason) -> Self {
        Self { leaf, row, reason }
    }

    const fn halt(row: Row, reason: Reason) -> Self {
        Self::new(Leaf::Halt, row, reason)
    }
}

/// The branch of an attempt: the rows of the table in their order.
#[must_use]
pub fn branch(record: &AttemptRecord, cap: &RetryCap) -> Branch {
    if record.policy_denied {
        return Branch::halt(Row::Policy, Reason::PolicyDenied);
    }
    let may_act = record.writes || record.tools_enabled;
    let is_tried = record.attempt > 0 && record.snapshot_same;
    match record.failure_class {
        None | Some(Class::Unknown) => Branch::halt(Row::NoClass, Reason::UnknownClass),
        Some(Class::ScopeCreep) => Branch::halt(Row::Scope, Reason::ScopeCreep),
        Some(Class::ContractMiss | Class::ScoreWobble) if may_act => Branch::halt(Row::Acting, Reason::WritesOrTools),
        Some(Class::Transport) if record.is_ambiguous() => Branch::halt(Row::Effect, Reason::AmbiguousEffect),
        Some(Class::Transport) if is_tried && record.attempt <= cap.retries => {
            Branch::new(Leaf::SameBindingRetry, Row::Retry, Reason::TransportFault)
        }
        Some(Class::Transport) if is_tried => Branch::new(Leaf::ComputeMove, Row::Move, Reason::TransportFaultRepeated),
        Some(Class::ContractMiss) => Branch::new(Leaf::RouteNarrowing, Row::Narrow, Reason::ReadOnlyMiss),
        Some(Class::Transport) if !record.snapshot_same => Branch::halt(Row::Rest, Reason::SnapshotChanged),
        Some(Class::Transport) => Branch::halt(Row::Rest, Reason::NoAttempt),
        Some(Class::ScoreWobble) => Branch::halt(Row::Rest, Reason::ScoreWobble),
    }
}

/// The most retries of one binding that can be configured: more is a loop, not a retry.
pub const RETRIES_MAX: u32 = 5;
/// The longest reason for a raised cap, in bytes.
pub const REASON_BYTES_MAX: usize = 256;

/// How often one binding is tried again. One, unless somebody wrote down why more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryCap {
    retries: u32,
    because: Option<SafeText>, // INVARIANT: some exactly where `retries` is above 1
}

impl Default for RetryCap {
    fn default() -> Self {
        Self { retries: 1, because: None }
    }
}

/// Why a cap of retries is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRetryCap {
    /// Not a number of retries that makes sense.
    #[error("same_binding_retries `{got}` is outside 1 to {RETRIES_MAX}")]
    OutOfRange {
        /// What was asked for.
        got: u32,
    },
    /// Raised, and nobody said why.
    #[error(
        "same_binding_retries `{got}` stands without a reason: write one of 1 to {REASON_BYTES_MAX} bytes, or leave it at 1"
    )]
    WithoutReason {
        /// What was asked for.
        got: u32,
    },
    /// Raised, with more words than are kept.
    #[error("reason has {got} bytes, at most {REASON_BYTES_MAX} are taken")]
    ReasonTooLong {
        /// Its bytes.
        got: usize,
    },
}

impl RetryCap {
    /// A configured cap. Beside a cap of 1 a reason is not needed and not kept.
    ///
    /// # Errors
    /// Where the count is out of range, or raised without a reason that can be kept.
    pub fn parse(retries: u32, reason: &str) -> Result<Self, InvalidRetryCap> {
        if retries == 1 {
            return Ok(Self::default());
        }
        if !(1..=RETRIES_MAX).contains(&retries) {
            return Err(InvalidRetryCap::OutOfRange { got: retries });
        }
        if reason.len() > REASON_BYTES_MAX {
            return Err(InvalidRetryCap::ReasonTooLong { got: reason.len() });
        }
        let because = SafeText::cut(reason.trim(), usize::MAX);
        if because.as_str().trim().is_empty() {
            return Err(InvalidRetryCap::WithoutReason { got: retries });
        }
        Ok(Self { retries, because: Some(because) })
    }

    /// How many retries of one binding it allows.
    #[must_use]
    pub const fn retries(&self) -> u32 {
        self.retries
    }

    /// Why it was raised; none where it was not.
    #[must_use]
    pub const fn because(&self) -> Option<&SafeText> {
        self.because.as_ref()
    }
}

#[cfg(test)]
mod tests;
