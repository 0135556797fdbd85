//! The closed words of the wire as people and programs write them: the value's name without its prefix, in lower case.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::domain::signal::CircuitKind;
use crate::wire::pb;

/// The word of an enum value; empty where it is unspecified.
pub(super) trait Word {
    /// The word.
    fn word(self) -> String;
}

macro_rules! words {
    ($($name:ident $prefix:literal),+ $(,)?) => {
        $(impl Word for pb::$name {
            fn word(self) -> String {
                stripped(self.as_str_name(), $prefix)
            }
        })+
    };
}
words! {
    Action "ACTION_",
    Signal "SIGNAL_",
    Urgency "URGENCY_",
    Phase "PHASE_",
    Variant "VARIANT_",
    Acknowledgement "ACKNOWLEDGEMENT_",
    OverrideMode "OVERRIDE_MODE_",
    EventKind "EVENT_KIND_",
    Observation "OBSERVATION_",
    FailureClass "FAILURE_CLASS_",
    Disposition "DISPOSITION_",
    ReviewVerdict "REVIEW_VERDICT_",
    ReviewRule "REVIEW_RULE_",
    Leaf "LEAF_",
    LeafReason "LEAF_REASON_",
    FirstAction "FIRST_ACTION_",
    Resolution "RESOLUTION_",
    SessionOutcome "SESSION_OUTCOME_",
}

impl Word for pb::comparison::Verdict {
    fn word(self) -> String {
        stripped(self.as_str_name(), "VERDICT_")
    }
}

impl Word for pb::CircuitKind {
    /// The path of its table in the configuration.
    fn word(self) -> String {
        let name = stripped(self.as_str_name(), "CIRCUIT_KIND_");
        let known = CircuitKind::ALL.iter().find(|kind| joined(**kind) == name);
        known.map_or(name, |kind| kind.word().to_owned())
    }
}

fn stripped(name: &str, prefix: &str) -> String {
    let word = name.strip_prefix(prefix).unwrap_or(name).to_ascii_lowercase();
    if word == "unspecified" { String::new() } else { word }
}

fn joined(kind: CircuitKind) -> String {
    kind.word().replace('.', "_")
}

/// Reads the word of a circuit kind.
pub(super) fn circuit_kinds() -> impl TypedValueParser<Value = pb::CircuitKind> {
    PossibleValuesParser::new(CircuitKind::ALL.iter().map(|kind| kind.word())).try_map(|word| circuit_kind(&word))
}

fn circuit_kind(word: &str) -> Result<pb::CircuitKind, String> {
    let known = CircuitKind::from_word(word);
    let name = known.map(|kind| format!("CIRCUIT_KIND_{}", joined(kind).to_ascii_uppercase()));
    name.and_then(|name| pb::CircuitKind::from_str_name(&name)).ok_or_else(|| format!("no kind is called `{word}`"))
}

/// What can go wrong with a call apart from its status, by its word.
const ERROR_KINDS: [(&str, pb::ErrorKind); 9] = [
    ("connect_refused", pb::ErrorKind::ConnectRefused),
    ("dns", pb::ErrorKind::Dns),
    ("tls", pb::ErrorKind::Tls),
    ("reset", pb::ErrorKind::Reset),
    ("timeout", pb::ErrorKind::Timeout),
    ("cancelled_by_caller", pb::ErrorKind::CancelledByCaller),
    ("refused_by_host", pb::ErrorKind::RefusedByHost),
    ("not_sent", pb::ErrorKind::NotSent),
    ("malformed_body", pb::ErrorKind::MalformedBody),
];

/// What a call can do to the world, by its word.
const EFFECTS: [(&str, pb::Effect); 3] =
    [("read", pb::Effect::Read), ("mutate", pb::Effect::Mutate), ("unknown", pb::Effect::Unknown)];

/// Reads the word of an effect.
pub(super) fn effects() -> impl TypedValueParser<Value = pb::Effect> {
    PossibleValuesParser::new(EFFECTS.map(|(word, _)| word)).try_map(|word| {
        let known = EFFECTS.iter().find(|(name, _)| *name == word);
        known.map(|(_, effect)| *effect).ok_or_else(|| format!("no effect is called `{word}`"))
    })
}

/// What can carry a call, by its word.
const CARRIERS: [(&str, pb::Carrier); 4] = [
    ("http", pb::Carrier::Http),
    ("grpc", pb::Carrier::Grpc),
    ("mcp", pb::Carrier::Mcp),
    ("process", pb::Carrier::Process),
];

/// Reads the word of a carrier.
pub(super) fn carriers() -> impl TypedValueParser<Value = pb::Carrier> {
    PossibleValuesParser::new(CARRIERS.map(|(word, _)| word)).try_map(|word| {
        let known = CARRIERS.iter().find(|(name, _)| *name == word);
        known.map(|(_, carrier)| *carrier).ok_or_else(|| format!("no carrier is called `{word}`"))
    })
}

/// Reads the word of an error kind.
pub(super) fn error_kinds() -> impl TypedValueParser<Value = pb::ErrorKind> {
    PossibleValuesParser::new(ERROR_KINDS.map(|(word, _)| word)).try_map(|word| error_kind(&word))
}

fn error_kind(word: &str) -> Result<pb::ErrorKind, String> {
    let known = ERROR_KINDS.iter().find(|(name, _)| *name == word);
    known.map(|(_, kind)| *kind).ok_or_else(|| format!("no kind is called `{word}`"))
}

#[cfg(test)]
mod tests {
    use super::{ERROR_KINDS, Word, circuit_kind, error_kind};
    use crate::domain::contract::{Action, Urgency, Variant};
    use crate::domain::signal::{CircuitKind, Phase, Signal};
    use crate::wire::pb;

    /// The words of every value of a wire enum but the unspecified one, in the order of their numbers.
    fn words<T: TryFrom<i32> + Word>() -> Vec<String> {
        (1..).map_while(|number| T::try_from(number).ok()).map(Word::word).collect()
    }

    #[test]
    fn the_wire_and_the_domain_have_the_same_words() {
        let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let of = |words: Vec<&'static str>| texts(&words);
        assert_eq!(words::<pb::Action>(), of(Action::ALL.iter().map(|it| it.word()).collect()));
        assert_eq!(words::<pb::Signal>(), of(Signal::ALL.iter().map(|it| it.word()).collect()));
        assert_eq!(words::<pb::Urgency>(), of(Urgency::ALL.iter().map(|it| it.word()).collect()));
        let templates = ["template"]; // on the wire alone: each has a name of its own
        assert_eq!(words::<pb::Variant>(), of(Variant::ALL.iter().map(|it| it.word()).chain(templates).collect()));
        assert_eq!(words::<pb::Phase>(), of(Phase::ALL.iter().map(|it| it.word()).collect()));
        let mut kinds = words::<pb::CircuitKind>();
        let mut known = of(CircuitKind::ALL.iter().map(|it| it.word()).collect());
        kinds.sort();
        known.sort();
        assert_eq!(kinds, known);
    }

    #[test]
    fn a_word_that_is_typed_means_the_value_that_prints_it() {
        for kind in CircuitKind::ALL {
            assert_eq!(circuit_kind(kind.word()).unwrap().word(), kind.word());
        }
        for (word, kind) in ERROR_KINDS {
            assert_eq!(error_kind(word), Ok(kind));
            assert_eq!(kind.as_str_name(), format!("ERROR_KIND_{}", word.to_ascii_uppercase()));
        }
        assert_eq!(ERROR_KINDS.len(), (1..).map_while(|number| pb::ErrorKind::try_from(number).ok()).count());
    }
}
