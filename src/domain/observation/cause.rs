//! Why a result cannot be cited, each cause with the three outputs that follow from it.
//!
//! The formats name causes; what a cause means for citing, for the target and for a retry stands here and nowhere else
//! (spec 3.1, and the status maps of the research behind it).

use super::finding::Finding;
use super::{Classification, Observation};
use crate::domain::failure::FailureClass;
use crate::domain::signal::CircuitKind;

/// A cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// No usable path to the target, or the target is not there or overloaded.
    Down,
    /// The target was reached and failed inside.
    Broken,
    /// It failed, and nobody says why.
    Unexplained,
    /// A time limit ended it.
    TimedOut,
    /// The credential is missing, wrong or expired.
    Unauthenticated,
    /// The credential is good, the right is missing.
    Forbidden,
    /// A throttle that time lifts.
    Throttled,
    /// An allowance that only the account's owner refills.
    Unpaid,
    /// The caller's input was rejected.
    BadInput,
    /// A policy refused it: read-only surfaces, allowlists, admission rules.
    AgainstPolicy,
    /// The answer cannot be read, or is not what was promised.
    Malformed,
    /// The caller or its user gave it up.
    Cancelled,
    /// It still runs, or more pages are to come and this one was empty.
    Pending,
    /// A limit kept everything back: there is nothing to cite.
    Withheld,
    /// Nothing was asked: no shard, index or source stood behind the question.
    NothingBehind,
    /// Part of the sources did not answer, and the others had nothing.
    PartlyAnswered,
    /// It is not there, or hidden from this credential: which of the two is not said.
    Hidden,
    /// A healthy system declined, as its business is.
    Declined,
    /// The host refused to make the call.
    Denied,
    /// Our own refusal came back: the call was never made.
    OurRefusal,
    /// Our own remark that this call was made before came back.
    OurReminder,
}

impl Cause {
    /// What it means: may it be cited, what does it count against, what may a retry do.
    pub(super) const fn outputs(self) -> (Observation, Option<CircuitKind>, Option<FailureClass>) {
        use CircuitKind::{
            Authentication, Authorisation, ErrorRate, Latency, MalformedResponse, QuotaBilling, QuotaRate,
        };
        use FailureClass::{ContractMiss, ScopeCreep, Transport, Unknown};
        use Observation::{Error, Unavailable};
        match self {
            Self::Down => (Unavailable, Some(ErrorRate), Some(Transport)),
            Self::Broken => (Error, Some(ErrorRate), Some(Transport)),
            Self::Unexplained => (Error, Some(ErrorRate), Some(Unknown)),
            Self::TimedOut => (Unavailable, Some(Latency), Some(Transport)),
            Self::Unauthenticated => (Unavailable, Some(Authentication), Some(Unknown)),
            Self::Forbidden => (Unavailable, Some(Authorisation), Some(Unknown)),
            Self::Throttled => (Unavailable, Some(QuotaRate), Some(Transport)),
            Self::Unpaid => (Unavailable, Some(QuotaBilling), Some(Unknown)),
            Self::BadInput => (Error, None, Some(ContractMiss)),
            Self::AgainstPolicy | Self::Denied => (Error, None, Some(ScopeCreep)),
            Self::Malformed => (Error, Some(MalformedResponse), Some(ContractMiss)),
            Self::Cancelled | Self::Pending | Self::Withheld | Self::OurRefusal => (Unavailable, None, None),
            Self::NothingBehind => (Unavailable, None, Some(ContractMiss)),
            Self::PartlyAnswered => (Unavailable, None, Some(Transport)),
            Self::Hidden | Self::Declined => (Error, None, Some(Unknown)),
            Self::OurReminder => (Error, None, None),
        }
    }

    /// What it says to the circuits of the target.
    pub(super) const fn classification(self) -> Classification {
        match self {
            Self::TimedOut => Classification::TimedOut,
            Self::BadInput | Self::AgainstPolicy | Self::Hidden | Self::Declined | Self::NothingBehind => {
                Classification::BadInput
            }
            Self::Cancelled
            | Self::Pending
            | Self::Withheld
            | Self::PartlyAnswered
            | Self::Denied
            | Self::OurRefusal
            | Self::OurReminder => Classification::Ignored,
            Self::Down
            | Self::Broken
            | Self::Unexplained
            | Self::Unauthenticated
            | Self::Forbidden
            | Self::Throttled
            | Self::Unpaid
            | Self::Malformed => match self.outputs().1 {
                Some(kind) => Classification::Failed(kind),
                None => Classification::Ignored,
            },
        }
    }

    /// Whether the same answer again is a repeat that a session should count (spec 3.6).
    pub(super) const fn is_terminal(self) -> bool {
        !matches!(self, Self::Pending) && !self.is_ours()
    }

    /// Whether a wait that the target asks for helps: an empty account does not fill by waiting (spec 3.4).
    pub(super) const fn heeds_hints(self) -> bool {
        matches!(self, Self::Down | Self::Broken | Self::Unexplained | Self::TimedOut | Self::Throttled)
    }

    /// Whether it is a text of ours.
    pub(super) const fn is_ours(self) -> bool {
        matches!(self, Self::OurRefusal | Self::OurReminder)
    }

    /// A finding with this cause.
    pub(super) const fn because(self, reason: &'static str) -> Finding {
        Finding::failed(self, reason)
    }
}
