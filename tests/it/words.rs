//! The protos are the manual: every name in them is explained, and their closed words are those of the domain.

use std::collections::BTreeSet;

use prost::Message as _;
use prost_types::source_code_info::Location;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet};
use tripnote::domain::behaviour::{FirstAction, Resolution, SessionOutcome};
use tripnote::domain::breaker::Acknowledgement;
use tripnote::domain::breaker::overrides::OverrideMode;
use tripnote::domain::contract::{Action, Urgency, Variant};
use tripnote::domain::failure::FailureClass;
use tripnote::domain::failure::tree::{Leaf, Reason as LeafReason};
use tripnote::domain::observation::transport::{Carrier, ErrorKind};
use tripnote::domain::observation::{Disposition, Observation};
use tripnote::domain::session::review::ReviewRule;
use tripnote::domain::signal::{CircuitKind, Phase, Signal};
use tripnote::domain::tool::Effect;
use tripnote::wire::pb;

/// Places of fields in the descriptors (google/protobuf/descriptor.proto), as paths of comments spell them.
mod place {
    pub(super) const MESSAGE: i32 = 4;
    pub(super) const ENUM: i32 = 5;
    pub(super) const SERVICE: i32 = 6;
    pub(super) const FIELD: i32 = 2;
    pub(super) const NESTED: i32 = 3;
    pub(super) const NESTED_ENUM: i32 = 4;
    pub(super) const ONEOF: i32 = 8;
    pub(super) const VALUE: i32 = 2;
    pub(super) const METHOD: i32 = 2;
}

fn files() -> Vec<FileDescriptorProto> {
    let set = FileDescriptorSet::decode(pb::DESCRIPTORS).unwrap();
    set.file.into_iter().filter(|file| file.package() == "tripnote.v1").collect()
}

/// Every name of a file with the path of its comment.
#[derive(Default)]
struct Names(Vec<(Vec<i32>, String)>);

impl Names {
    fn add(&mut self, path: &[i32], more: [i32; 2], name: String) -> Vec<i32> {
        let path = [path, &more].concat();
        self.0.push((path.clone(), name));
        path
    }

    fn message(&mut self, path: Vec<i32>, message: &DescriptorProto) {
        for (at, field) in (0..).zip(&message.field) {
            self.add(&path, [place::FIELD, at], format!("{}.{}", message.name(), field.name()));
        }
        for (at, oneof) in (0..).zip(&message.oneof_decl) {
            if !oneof.name().starts_with('_') {
                self.add(&path, [place::ONEOF, at], format!("{}.{}", message.name(), oneof.name()));
            }
        }
        for (at, nested) in (0..).zip(&message.nested_type) {
            let path = self.add(&path, [place::NESTED, at], nested.name().to_owned());
            self.message(path, nested);
        }
        for (at, words) in (0..).zip(&message.enum_type) {
            let path = self.add(&path, [place::NESTED_ENUM, at], words.name().to_owned());
            self.words(&path, words);
        }
    }

    fn words(&mut self, path: &[i32], words: &EnumDescriptorProto) {
        for (at, value) in (0..).zip(&words.value) {
            self.add(path, [place::VALUE, at], value.name().to_owned());
        }
    }

    fn of(file: &FileDescriptorProto) -> Self {
        let mut names = Self::default();
        for (at, message) in (0..).zip(&file.message_type) {
            let path = names.add(&[], [place::MESSAGE, at], message.name().to_owned());
            names.message(path, message);
        }
        for (at, words) in (0..).zip(&file.enum_type) {
            let path = names.add(&[], [place::ENUM, at], words.name().to_owned());
            names.words(&path, words);
        }
        for (at, service) in (0..).zip(&file.service) {
            let path = names.add(&[], [place::SERVICE, at], service.name().to_owned());
            for (at, method) in (0..).zip(&service.method) {
                names.add(&path, [place::METHOD, at], method.name().to_owned());
            }
        }
        names
    }
}

#[test]
fn every_name_of_the_protos_has_a_comment_before_it() {
    let mut named = 0;
    for file in files() {
        let locations = file.source_code_info.clone().unwrap_or_default().location;
        let has_comment = |path: &[i32]| {
            let explains = |at: &Location| at.path == path && !at.leading_comments().trim().is_empty();
            locations.iter().any(explains)
        };
        let names = Names::of(&file);
        named += names.0.len();
        let bare: Vec<String> =
            names.0.into_iter().filter(|(path, _)| !has_comment(path)).map(|(_, name)| name).collect();
        assert_eq!(bare, [""; 0], "without a comment in {}", file.name());
    }
    assert!(named > 200, "{named} names are few: are the descriptors whole?");
}

/// The words of an enum of the protos, by number, without prefix and in lower case. Number 0 says that there is none.
fn words_of(name: &str) -> Vec<String> {
    let words = files().into_iter().flat_map(|file| file.enum_type).find(|words| words.name() == name).unwrap();
    let snake =
        name.char_indices().map(|(at, c)| if at > 0 && c.is_uppercase() { format!("_{c}") } else { c.to_string() });
    let prefix = format!("{}_", snake.collect::<String>().to_uppercase());
    let first = &words.value[0];
    assert_eq!((first.number(), first.name()), (0, format!("{prefix}UNSPECIFIED").as_str()));
    let word = |(at, value): (i32, &prost_types::EnumValueDescriptorProto)| {
        assert_eq!(value.number(), at, "{name} is numbered without gaps");
        value.name().strip_prefix(&prefix).unwrap().to_lowercase()
    };
    (0..).zip(&words.value).skip(1).map(word).collect()
}

#[test]
fn the_words_of_the_protos_are_the_words_of_the_domain_in_its_order() {
    macro_rules! same {
        ($($words:ident),+) => {
            $(
                let own: Vec<String> = $words::ALL.iter().map(|word| word.word().replace('.', "_")).collect();
                assert_eq!(words_of(stringify!($words)), own, stringify!($words));
            )+
        };
    }
    same!(Action, Signal, Urgency, Phase, OverrideMode, Acknowledgement, ErrorKind, CircuitKind);
    same!(FirstAction, Resolution, SessionOutcome);
    same!(Observation, FailureClass, Disposition, Effect, Carrier, ReviewRule, Leaf, LeafReason);
}

#[test]
fn the_variants_of_the_protos_are_those_that_are_built_in_and_one_for_all_templates() {
    let built_in: Vec<&str> = Variant::ALL.iter().map(|variant| variant.word()).collect();
    assert_eq!(words_of("Variant"), [built_in, vec!["template"]].concat());
}

#[test]
fn no_enum_of_the_protos_is_left_without_a_twin() {
    let twins = ["Action", "Signal", "Urgency", "Phase", "Variant", "OverrideMode", "Acknowledgement", "ErrorKind"];
    let only_on_the_wire = ["EventKind"]; // its twin carries figures: `domain::event::Happening`
    let of_results = ["Observation", "FailureClass", "Disposition", "Effect", "Carrier", "ReviewRule"];
    // Their twins carry figures, or are told apart by more than a word.
    let of_sessions = ["RefusedBy", "ReviewVerdict"];
    let of_failures = ["Leaf", "LeafReason"];
    let of_behaviour = ["FirstAction", "Resolution", "SessionOutcome"];
    let known: BTreeSet<&str> = twins
        .into_iter()
        .chain(of_results)
        .chain(of_sessions)
        .chain(of_failures)
        .chain(of_behaviour)
        .chain(only_on_the_wire)
        .chain(["CircuitKind"])
        .collect();
    let files = files();
    let all: BTreeSet<&str> = files.iter().flat_map(|file| &file.enum_type).map(EnumDescriptorProto::name).collect();
    assert_eq!(all, known);
}

#[test]
fn the_nine_fields_of_a_contract_are_the_first_nine_of_a_trip() {
    let trip = files().into_iter().flat_map(|file| file.message_type).find(|message| message.name() == "Trip").unwrap();
    let nine: Vec<(i32, &str)> = trip.field.iter().take(9).map(|field| (field.number(), field.name())).collect();
    let due = ["action", "breaker", "target", "signal", "observed", "threshold", "state", "do_not", "fallback"];
    assert_eq!(nine, (1..).zip(due).collect::<Vec<_>>());
}
