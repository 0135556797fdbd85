//! Messages as JSON Schema, with the comments of the protos as descriptions and the bounds that these state. What comes in
//! may be written in every spelling that the reader takes; what goes out has one.

use std::collections::BTreeMap;

use prost_reflect::{EnumDescriptor, FieldDescriptor, FileDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

/// Which way a message goes; one that goes both ways is described as it may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Out of the service.
    Out,
    /// Into the service.
    In,
}

/// The schemas of messages and of all that they hold, by name.
#[must_use]
pub fn schemas(of: impl IntoIterator<Item = (MessageDescriptor, Direction)>) -> Map<String, Value> {
    let mut found = BTreeMap::new();
    of.into_iter().for_each(|(message, direction)| gather(&message, direction, &mut found));
    let schema =
        |(name, (message, direction)): (String, (MessageDescriptor, Direction))| (name, object(&message, direction));
    found.into_iter().map(schema).collect()
}

/// The schema of a value that a path or a query gives as text.
#[must_use]
pub fn parameter(field: &FieldDescriptor) -> Value {
    let mut schema = single(field, Direction::Out);
    if let Kind::Uint64 | Kind::Uint32 = field.kind() {
        schema = json!({"type": "integer", "minimum": 0, "maximum": most(&field.kind())});
    }
    bounded(&mut schema, field);
    schema
}

/// What the protos say of a name, in one text.
#[must_use]
pub fn comment(file: &FileDescriptor, path: &[i32]) -> String {
    let proto = file.file_descriptor_proto();
    let locations = proto.source_code_info.iter().flat_map(|info| &info.location);
    let mut said = locations.filter(|at| at.path == path).map(|at| at.leading_comments().trim());
    said.next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where a schema is.
#[must_use]
pub fn reference(message: &MessageDescriptor) -> Value {
    json!({ "$ref": format!("#/components/schemas/{}", name(message)) })
}

fn name(message: &MessageDescriptor) -> String {
    let package = format!("{}.", message.package_name());
    message.full_name().strip_prefix(&package).unwrap_or(message.full_name()).to_owned()
}

fn is_time(message: &MessageDescriptor) -> bool {
    message.full_name() == "google.protobuf.Timestamp"
}

fn gather(
    message: &MessageDescriptor,
    direction: Direction,
    found: &mut BTreeMap<String, (MessageDescriptor, Direction)>,
) {
    if is_time(message) || found.get(&name(message)).is_some_and(|(_, known)| *known >= direction) {
        return;
    }
    found.insert(name(message), (message.clone(), direction));
    for field in message.fields() {
        if let Kind::Message(inner) = field.kind() {
            gather(&inner, direction, found);
        }
    }
}

fn object(message: &MessageDescriptor, direction: Direction) -> Value {
    let property = |field: FieldDescriptor| (field.json_name().to_owned(), property(&field, direction));
    let properties: Map<String, Value> = message.fields().map(property).collect();
    json!({
        "type": "object",
        "description": comment(&message.parent_file(), message.path()),
        "properties": properties,
        "additionalProperties": false,
    })
}

fn property(field: &FieldDescriptor, direction: Direction) -> Value {
    let mut schema = single(field, direction);
    if field.is_list() {
        schema = json!({"type": "array", "items": schema});
    }
    bounded(&mut schema, field);
    if direction == Direction::In {
        schema = json!({"anyOf": [schema, {"type": "null"}]});
    }
    let description = comment(&field.parent_file(), field.path());
    if let Some(members) = schema.as_object_mut() {
        members.insert("description".to_owned(), description.into());
    }
    schema
}

/// The greatest number of a kind.
const fn most(kind: &Kind) -> u64 {
    match kind {
        Kind::Uint32 | Kind::Fixed32 => u32::MAX as u64,
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => i32::MAX as u64,
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => i64::MAX as u64,
        Kind::Uint64
        | Kind::Fixed64
        | Kind::Bool
        | Kind::Double
        | Kind::Float
        | Kind::String
        | Kind::Bytes
        | Kind::Message(_)
        | Kind::Enum(_) => u64::MAX,
    }
}

fn single(field: &FieldDescriptor, direction: Direction) -> Value {
    let kind = field.kind();
    match (&kind, direction) {
        (Kind::Bool, _) => json!({"type": "boolean"}),
        (Kind::String, _) => json!({"type": "string"}),
        (Kind::Bytes, _) => {
            json!({"type": "string", "contentEncoding": "base64", "pattern": "^[A-Za-z0-9+/_-]*={0,2}$"})
        }
        (Kind::Double | Kind::Float, _) => json!({"type": "number"}),
        (Kind::Message(of), _) if is_time(of) => json!({"type": "string", "format": "date-time"}),
        (Kind::Message(of), _) => reference(of),
        (Kind::Enum(words), Direction::Out) => word(words),
        (Kind::Enum(words), Direction::In) => {
            json!({"anyOf": [word(words), {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX}]})
        }
        (Kind::Uint32 | Kind::Fixed32, Direction::Out) => {
            json!({"type": "integer", "minimum": 0, "maximum": most(&kind)})
        }
        (Kind::Int32 | Kind::Sint32 | Kind::Sfixed32, Direction::Out) => {
            json!({"type": "integer", "minimum": i32::MIN, "maximum": most(&kind)})
        }
        (Kind::Uint64 | Kind::Fixed64, Direction::Out) => json!({"type": "string", "pattern": "^[0-9]+$"}),
        (Kind::Int64 | Kind::Sint64 | Kind::Sfixed64, Direction::Out) => {
            json!({"type": "string", "pattern": "^-?[0-9]+$"})
        }
        (Kind::Uint32 | Kind::Fixed32 | Kind::Uint64 | Kind::Fixed64, Direction::In) => json!({"anyOf": [
            {"type": "integer", "minimum": 0, "maximum": most(&kind)},
            {"type": "string", "pattern": "^[0-9]+$"},
        ]}),
        (Kind::Int32 | Kind::Sint32 | Kind::Sfixed32, Direction::In) => json!({"anyOf": [
            {"type": "integer", "minimum": i32::MIN, "maximum": most(&kind)},
            {"type": "string", "pattern": "^-?[0-9]+$"},
        ]}),
        (Kind::Int64 | Kind::Sint64 | Kind::Sfixed64, Direction::In) => json!({"anyOf": [
            {"type": "integer", "minimum": i64::MIN, "maximum": most(&kind)},
            {"type": "string", "pattern": "^-?[0-9]+$"},
        ]}),
    }
}

fn word(words: &EnumDescriptor) -> Value {
    let names: Vec<String> = words.values().map(|word| word.name().to_owned()).collect();
    json!({"type": "string", "enum": names, "description": comment(&words.parent_file(), words.path())})
}

/// Puts the bounds in that the comment of a field states as such: of a text in bytes, of a list in entries.
fn bounded(schema: &mut Value, field: &FieldDescriptor) {
    let (text, is_text) = (comment(&field.parent_file(), field.path()), field.kind() == Kind::String);
    let Some(members) = schema.as_object_mut() else { return };
    if let Some(most) = bytes(&text).filter(|_| is_text && !field.is_list()) {
        members.insert("maxLength".to_owned(), most.into());
    }
    if let Some(most) = entries(&text).filter(|_| field.is_list()) {
        members.insert("maxItems".to_owned(), most.into());
    }
}

/// The bound of a text: `At most 256 bytes` or `1 to 256 bytes`, unless something is cut off before it is measured. There is
/// no lower one: an empty text is an absent one, and what is due may stand in the path.
fn bytes(text: &str) -> Option<u64> {
    let (before, after) = text.split_once(" bytes")?;
    let mut words = before.rsplit(' ');
    let most = words.next()?.replace(',', "").parse().ok()?;
    let is_bound = matches!((words.next()?, words.next()?), ("most", "At" | "at") | ("to", "1"));
    (is_bound && !after.starts_with(" after")).then_some(most)
}

/// The bound of a list: `At most 64` or `1 to 256 calls`.
fn entries(text: &str) -> Option<u64> {
    let number = |after: &str| after.split([' ', ',', '.', ';']).next().and_then(|word| word.parse().ok());
    let most = text.split_once("At most ").and_then(|(_, after)| number(&after.replace(',', "")));
    most.or_else(|| text.strip_prefix("1 to ").and_then(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::json::descriptors;

    fn field(path: &str) -> FieldDescriptor {
        let (message, field) = path.split_once('.').unwrap();
        let message = descriptors().get_message_by_name(&format!("tripnote.v1.{message}")).unwrap();
        message.get_field_by_name(field).unwrap()
    }

    #[test]
    fn bounds_are_those_that_the_comments_state() {
        for (path, member, due) in [
            ("AdmitRequest.session_id", "maxLength", Some(256)),
            ("AdmitRequest.tool_name", "maxLength", Some(512)),
            ("AdmitRequest.target", "maxLength", None), // measured after something is cut off
            ("SessionRef.session_id", "maxLength", Some(256)),
            ("SessionRef.session_id", "minLength", None), // it may stand in the path
            ("AdmitRequest.reports", "maxItems", Some(256)),
            ("AdmitWaveRequest.calls", "maxItems", Some(256)),
            ("SessionPolicy.known_ids", "maxItems", Some(1_024)),
            ("SessionPolicy.known_ids", "maxLength", None),
            ("ReviewAnswerRequest.text", "maxLength", None),
        ] {
            let schema = property(&field(path), Direction::Out);
            assert_eq!(schema[member].as_u64(), due, "{path} {member}: {schema}");
        }
    }

    #[test]
    fn what_goes_both_ways_is_described_as_it_may_come_in() {
        let of = |name: &str| descriptors().get_message_by_name(&format!("tripnote.v1.{name}")).unwrap();
        let all = schemas([(of("Circuit"), Direction::Out), (of("ResetRequest"), Direction::In)]);
        assert!(all["CircuitName"]["properties"]["kind"]["anyOf"].is_array());
        assert_eq!(all["Circuit"]["properties"]["generation"]["type"], "string");
        assert_eq!(all["Circuit"]["properties"]["openUntil"]["format"], "date-time");
        assert!(all.values().all(|schema| !schema["description"].as_str().unwrap().is_empty()));
    }
}
