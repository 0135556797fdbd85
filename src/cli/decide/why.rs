//! Each reason of the tree in one sentence, for whoever reads a record in the night.

use crate::wire::pb::LeafReason;

/// The sentence; empty where no reason was sent.
pub(super) const fn sentence(reason: LeafReason) -> &'static str {
    match reason {
        LeafReason::Unspecified => "",
        LeafReason::PolicyDenied => "a policy forbids the step, wherever it would run",
        LeafReason::UnknownClass => "nothing is known of the cause, and another call does not tell",
        LeafReason::ScopeCreep => "it called outside the allowlist; another host would copy that",
        LeafReason::WritesOrTools => "it may write or call tools, and its answer was not what it promised",
        LeafReason::AmbiguousEffect => "the write may have happened, and nothing would recognise a second one",
        LeafReason::TransportFault => "a transport fault that one more try may mend",
        LeafReason::TransportFaultRepeated => "a transport fault that more tries did not mend",
        LeafReason::ReadOnlyMiss => "a read-only answer that was not what it promised",
        LeafReason::SnapshotChanged => "what the step reads has changed: this would be another step",
        LeafReason::NoAttempt => "attempts count from 1; with 0 nothing is known of what was tried",
        LeafReason::ScoreWobble => "two scores are a record, not a cue to ask again",
        LeafReason::NoSpareHost => "the fault came again, and no [[host]] but this one serves the route",
        LeafReason::NoSpareHostLeft => "the fault came again, and every host that serves the route was left before",
        LeafReason::SnapshotNotPublished => "the fault came again, and no spare host can read the snapshot",
        LeafReason::SpareCircuitOpen => "the fault came again, and the circuits of the spare hosts are open",
        LeafReason::NoNarrowRoute => "the answer was not what it promised, and no [[route]] narrows this one",
    }
}
