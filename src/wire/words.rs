//! Closed words, both ways. Every match is exhaustive: a new word does not compile until it is here.

use super::pb;
use crate::domain::behaviour::{FirstAction, Resolution, SessionOutcome};
use crate::domain::breaker::Acknowledgement;
use crate::domain::breaker::overrides::OverrideMode;
use crate::domain::contract::session::Refuser;
use crate::domain::contract::{Action, Urgency, Variant, Wording};
use crate::domain::failure::FailureClass;
use crate::domain::failure::tree::{Leaf, Reason};
use crate::domain::observation::transport::{Carrier, ErrorKind};
use crate::domain::observation::{Disposition, Observation};
use crate::domain::session::review::{ReviewRule, ReviewWord};
use crate::domain::signal::{CircuitKind, Phase, Signal};
use crate::domain::tool::Effect;

/// Maps a domain enum to its wire twin and back; `Unspecified` comes back as none.
macro_rules! twins {
    ($domain:ty, $wire:ty { $($word:ident),+ $(,)? }) => {
        impl From<$domain> for $wire {
            fn from(word: $domain) -> Self {
                match word { $(<$domain>::$word => Self::$word),+ }
            }
        }

        impl From<$wire> for Option<$domain> {
            fn from(word: $wire) -> Self {
                match word {
                    <$wire>::Unspecified => None,
                    $(<$wire>::$word => Some(<$domain>::$word)),+
                }
            }
        }
    };
}

twins!(
    Action,
    pb::Action {
        StopAndEscalate,
        VerifyEffect,
        SwitchToFallback,
        HaltWithPartialFindings,
        AwaitRecovery,
        WaitForQuota,
        ReducePayload,
        ChangeRoute,
        CallInNextWave,
    }
);
twins!(
    Signal,
    pb::Signal {
        AuthFailure,
        QuotaExhausted,
        MalformedResponse,
        ErrorRate,
        Latency,
        OperatorOverride,
        NoProgress,
        FanOut,
        ScopeCreep,
        AmbiguousEffect,
    }
);
twins!(Urgency, pb::Urgency { Corruption, Crash, StuckLoop, WrongOutput, RateLimit });
twins!(Observation, pb::Observation { Observed, Truncated, Empty, Unavailable, Error, Context });
twins!(FailureClass, pb::FailureClass { Transport, ContractMiss, ScopeCreep, ScoreWobble, Unknown });
twins!(Leaf, pb::Leaf { SameBindingRetry, ComputeMove, RouteNarrowing, Halt });
twins!(
    Reason,
    pb::LeafReason {
        PolicyDenied,
        UnknownClass,
        ScopeCreep,
        WritesOrTools,
        AmbiguousEffect,
        TransportFault,
        TransportFaultRepeated,
        ReadOnlyMiss,
        SnapshotChanged,
        NoAttempt,
        ScoreWobble,
        NoSpareHost,
        NoSpareHostLeft,
        SnapshotNotPublished,
        SpareCircuitOpen,
        NoNarrowRoute,
    }
);
twins!(Disposition, pb::Disposition { Trip, Steer, ReturnError, RetrySilently, Move, Narrow, Deliver, DeliverFailure });
twins!(
    ReviewRule,
    pb::ReviewRule {
        NoUsableEvidence,
        InventedIdentifier,
        GapAsNegative,
        UnnamedGap,
        RequiredMissing,
        ExcludedHypothesis,
        CappedTotal,
        FiguresDropped,
    }
);
twins!(ReviewWord, pb::ReviewVerdict { Allow, SendBack, AllowUnsupported });
twins!(FirstAction, pb::FirstAction { Match, Repeat, Other, None });
twins!(Resolution, pb::Resolution { Recovered, Halted, Abandoned, Superseded });
twins!(SessionOutcome, pb::SessionOutcome { Answered, Escalated, Halted, Abandoned });
twins!(Refuser, pb::RefusedBy { User, Host });
twins!(Effect, pb::Effect { Read, Mutate, Unknown });
twins!(Carrier, pb::Carrier { Http, Grpc, Mcp, Process });
twins!(Phase, pb::Phase { Closed, Open, HalfOpen });
twins!(OverrideMode, pb::OverrideMode { ForceOpen, ForceClosed, Shadow });
twins!(Acknowledgement, pb::Acknowledgement { Counted, Stale, Duplicate, Expired, Unknown });
twins!(
    ErrorKind,
    pb::ErrorKind {
        ConnectRefused,
        Dns,
        Tls,
        Reset,
        Timeout,
        CancelledByCaller,
        RefusedByHost,
        NotSent,
        MalformedBody,
    }
);

impl From<&Wording> for pb::Variant {
    /// One word stands for every template, whose name is told beside it.
    fn from(wording: &Wording) -> Self {
        match wording {
            Wording::BuiltIn(Variant::Contract) => Self::Contract,
            Wording::BuiltIn(Variant::ContractLines) => Self::ContractLines,
            Wording::BuiltIn(Variant::Weak) => Self::Weak,
            Wording::BuiltIn(Variant::Silent) => Self::Silent,
            Wording::Template(_) => Self::Template,
        }
    }
}

impl From<CircuitKind> for pb::CircuitKind {
    fn from(kind: CircuitKind) -> Self {
        match kind {
            CircuitKind::Authentication => Self::AuthFailureAuthentication,
            CircuitKind::Authorisation => Self::AuthFailureAuthorisation,
            CircuitKind::MalformedResponse => Self::MalformedResponse,
            CircuitKind::ErrorRate => Self::ErrorRate,
            CircuitKind::QuotaRate => Self::QuotaExhaustedRate,
            CircuitKind::QuotaBilling => Self::QuotaExhaustedBilling,
            CircuitKind::Latency => Self::Latency,
        }
    }
}

impl From<pb::CircuitKind> for Option<CircuitKind> {
    fn from(kind: pb::CircuitKind) -> Self {
        CircuitKind::ALL.iter().copied().find(|own| pb::CircuitKind::from(*own) == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::contract::Template;
    use crate::domain::ids::Code;

    /// The wire name without its prefix, in lower case, is the word.
    fn assert_same_word(name: &str, prefix: &str, word: &str) {
        assert_eq!(name.strip_prefix(prefix).unwrap().to_lowercase(), word);
    }

    macro_rules! same_words {
        ($domain:ty, $wire:ty, $prefix:literal) => {
            for word in <$domain>::ALL {
                let wire = <$wire>::from(*word);
                assert_same_word(wire.as_str_name(), $prefix, &word.word().replace('.', "_"));
                assert_eq!(Option::<$domain>::from(wire), Some(*word));
            }
            let known = (0..64).filter(|n| <$wire>::try_from(*n).is_ok()).count();
            assert_eq!(known, <$domain>::ALL.len() + 1, "a wire word without a domain word");
        };
    }

    #[test]
    fn the_words_of_the_wire_are_the_words_of_the_domain() {
        same_words!(Action, pb::Action, "ACTION_");
        same_words!(Signal, pb::Signal, "SIGNAL_");
        same_words!(Urgency, pb::Urgency, "URGENCY_");
        same_words!(Observation, pb::Observation, "OBSERVATION_");
        same_words!(FailureClass, pb::FailureClass, "FAILURE_CLASS_");
        same_words!(Leaf, pb::Leaf, "LEAF_");
        same_words!(Reason, pb::LeafReason, "LEAF_REASON_");
        same_words!(FirstAction, pb::FirstAction, "FIRST_ACTION_");
        same_words!(Resolution, pb::Resolution, "RESOLUTION_");
        same_words!(SessionOutcome, pb::SessionOutcome, "SESSION_OUTCOME_");
        same_words!(Disposition, pb::Disposition, "DISPOSITION_");
        same_words!(Effect, pb::Effect, "EFFECT_");
        same_words!(Carrier, pb::Carrier, "CARRIER_");
        same_words!(Phase, pb::Phase, "PHASE_");
        same_words!(OverrideMode, pb::OverrideMode, "OVERRIDE_MODE_");
        same_words!(Acknowledgement, pb::Acknowledgement, "ACKNOWLEDGEMENT_");
        same_words!(ErrorKind, pb::ErrorKind, "ERROR_KIND_");
        same_words!(CircuitKind, pb::CircuitKind, "CIRCUIT_KIND_");
    }

    #[test]
    fn a_wording_is_its_variant_and_every_template_is_one() {
        let all = "{action}{breaker}{target}{signal}{observed}{threshold}{state}{do_not}{fallback}";
        let template = Template::parse(Code::parse("short").unwrap(), all).unwrap();
        for variant in Variant::ALL {
            assert_same_word(pb::Variant::from(&Wording::from(*variant)).as_str_name(), "VARIANT_", variant.word());
        }
        assert_eq!(pb::Variant::from(&Wording::Template(template.into())), pb::Variant::Template);
        let known = (0..64).filter(|n| pb::Variant::try_from(*n).is_ok()).count();
        assert_eq!(known, Variant::ALL.len() + 2, "a wire word without a wording");
    }
}
