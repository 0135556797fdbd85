//! What programs read.

use std::collections::BTreeSet;

use prost::Message as _;
use serde_json::Value;

use super::*;
use crate::cli::tests::samples;

/// The names of all fields of a message, as its proto has them.
fn fields_of(message: &str) -> BTreeSet<String> {
    let files = prost_types::FileDescriptorSet::decode(pb::DESCRIPTORS).unwrap().file;
    let messages = files.iter().filter(|file| file.package() == "tripnote.v1").flat_map(|file| &file.message_type);
    let found = messages.clone().find(|known| known.name() == message).unwrap();
    found.field.iter().map(|field| field.name().to_owned()).collect()
}

fn names_of(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

fn parsed(object: &Object) -> Value {
    serde_json::from_str(&object.line().unwrap()).unwrap()
}

#[test]
fn every_field_of_the_protos_is_told_under_its_name() {
    let told = parsed(&trip(&samples::trip()));
    assert_eq!(names_of(&told), fields_of("Trip"));
    assert_eq!(names_of(&told["facts"]), fields_of("Facts"));
    assert_eq!(names_of(&told["also_open"][0]), fields_of("AlsoOpen"));
    let told = parsed(&circuit(&samples::open_circuit()));
    assert_eq!(names_of(&told), fields_of("Circuit"));
    assert_eq!(names_of(&told["name"]), fields_of("CircuitName"));
    assert_eq!(names_of(&told["holds"][0]), fields_of("OverrideHold"));
    assert_eq!(names_of(&parsed(&event(&samples::event()))), fields_of("Event"));
    let told = parsed(&ack(&samples::ack()));
    assert_eq!(names_of(&told), fields_of("ReportAck"));
    assert_eq!(names_of(&told["typing"]), fields_of("Typing"));
    assert_eq!(names_of(&told["handling"]), fields_of("Handling"));
    assert_eq!(names_of(&told["next_binding"]), fields_of("StepBinding"));
    let told = parsed(&attempt(&samples::narrowed()));
    assert_eq!(names_of(&told), fields_of("Attempt"));
    assert_eq!(names_of(&told["record"]), fields_of("AttemptRecord"));
    assert_eq!(names_of(&told["sketch"]), fields_of("Sketch"));
    assert_eq!(names_of(&parsed(&permit(&pb::Permit::default()))), fields_of("Permit"));
    assert_eq!(names_of(&parsed(&item_error(&pb::ItemError::default()))), fields_of("ItemError"));
}

#[test]
fn objects_are_one_line_in_the_order_of_the_contract() {
    let lines = [
        trip(&samples::trip()),
        circuit(&samples::closed_circuit()),
        event(&pb::Event { seq: 1, event_kind: pb::EventKind::Gap.into(), lost: 3, ..pb::Event::default() }),
    ];
    let lines: Vec<String> = lines.iter().map(|object| object.line().unwrap()).collect();
    assert!(lines.iter().all(|line| !line.contains('\n')));
    samples::assert_golden("objects.jsonl", &lines.join("\n"));
}
