//! JSON into a message in one pass, with nothing in between: what a body can make the service hold is what the message
//! holds. The first fault ends it.

use std::cell::RefCell;
use std::fmt;

use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::Unread;
use super::fields::named_field;
use super::scalar::{of_float, of_integer, of_text, shown, wanted};
use crate::domain::ids::SafeText;
use crate::wire::InvalidField;

/// Entries of one list; the wire knows closer bounds of each, and this one keeps a body from costing many times its size.
const ENTRIES_MAX: usize = 4_096;
/// Of a name that is not known, so much is shown to who sent it.
const NAME_SHOWN_MAX: usize = 64;

/// Where in a message.
#[derive(Clone, Copy)]
enum Path<'a> {
    Top,
    Member(&'a Path<'a>, &'a str),
    Entry(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top => Ok(()),
            Self::Member(Self::Top, name) => f.write_str(name),
            Self::Member(outer, name) => write!(f, "{outer}.{name}"),
            Self::Entry(outer, at) => write!(f, "{outer}[{at}]"),
        }
    }
}

/// Takes the fault past serde, whose errors are texts.
type Fault = RefCell<Option<InvalidField>>;

pub(super) fn read(of: &MessageDescriptor, json: &[u8]) -> Result<DynamicMessage, Unread> {
    let fault = Fault::default();
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let seed = Seed { what: What::Message(of), at: Path::Top, fault: &fault };
    let read = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    match (read, fault.into_inner()) {
        (_, Some(invalid)) if invalid.path.is_empty() => Err(Unread::NoJson(invalid.rule)),
        (_, Some(invalid)) => Err(Unread::Field(invalid)),
        (Err(error), None) => Err(Unread::NoJson(error.to_string())),
        (Ok(Some(Value::Message(message))), None) => Ok(message),
        (Ok(_), None) => Err(Unread::NoJson("it is null, an object is taken".to_owned())),
    }
}

#[derive(Clone, Copy)]
enum What<'a> {
    Message(&'a MessageDescriptor),
    /// All that a field holds.
    Field(&'a FieldDescriptor),
    /// One entry of a list.
    Entry(&'a FieldDescriptor),
}

/// One value that is due somewhere.
#[derive(Clone, Copy)]
struct Seed<'a> {
    what: What<'a>,
    at: Path<'a>,
    fault: &'a Fault,
}

impl<'a> Seed<'a> {
    fn fail<T, E: Error>(&self, rule: String) -> Result<T, E> {
        self.fault.replace(Some(InvalidField::new(self.at.to_string(), rule)));
        Err(E::custom("a member is at fault"))
    }

    /// The kind of single value that is due; none where a list is.
    fn kind(&self) -> Option<Kind> {
        match self.what {
            What::Message(of) => Some(Kind::Message(of.clone())),
            What::Field(field) if field.is_list() => None,
            What::Field(field) | What::Entry(field) => Some(field.kind()),
        }
    }

    fn wanted(&self) -> String {
        self.kind().map_or_else(|| "a list is taken".to_owned(), |kind| wanted(&kind))
    }

    fn single<E: Error>(&self, text: &str, value: impl FnOnce(&Kind) -> Option<Value>) -> Result<Option<Value>, E> {
        match self.kind().as_ref().and_then(value) {
            Some(value) => Ok(Some(value)),
            None => self.fail(format!("{}, {}", shown(text), self.wanted())),
        }
    }

    fn list<'de, A: SeqAccess<'de>>(&self, field: &'a FieldDescriptor, mut seq: A) -> Result<Value, A::Error> {
        let mut list = vec![];
        loop {
            let at = Path::Entry(&self.at, list.len());
            let seed = Seed { what: What::Entry(field), at, fault: self.fault };
            match seq.next_element_seed(seed)? {
                None => return Ok(Value::List(list)),
                Some(_) if list.len() >= ENTRIES_MAX => {
                    return self.fail(format!("has more than {ENTRIES_MAX} entries"));
                }
                Some(Some(value)) => list.push(value),
                Some(None) => return seed.fail(format!("is null, {}", seed.wanted())),
            }
        }
    }

    fn message<'de, A: MapAccess<'de>>(&self, of: &MessageDescriptor, mut map: A) -> Result<Value, A::Error> {
        let mut message = DynamicMessage::new(of.clone());
        let mut seen = vec![];
        while let Some(name) = map.next_key::<String>()? {
            let Some(field) = named_field(of, &name) else {
                let cut = SafeText::cut(&name, NAME_SHOWN_MAX);
                let (at, known) = (Path::Member(&self.at, cut.as_str()), known_names(of));
                return Seed { at, ..*self }.fail(format!("is not known here: {known}"));
            };
            let at = Path::Member(&self.at, field.name());
            let seed = Seed { what: What::Field(&field), at, fault: self.fault };
            if seen.contains(&field.number()) {
                return seed.fail("is given twice: send it once".to_owned());
            }
            seen.push(field.number());
            let Some(value) = map.next_value_seed(seed)? else { continue };
            let others = field.containing_oneof().into_iter().flat_map(|oneof| oneof.fields().collect::<Vec<_>>());
            if let Some(other) = others.into_iter().find(|other| *other != field && message.has_field(other)) {
                return seed.fail(format!("stands beside {}: send one of the two", other.name()));
            }
            message.set_field(&field, value);
        }
        Ok(Value::Message(message))
    }
}

/// What may stand in a message.
fn known_names(of: &MessageDescriptor) -> String {
    let names: Vec<String> = of.fields().map(|field| field.json_name().to_owned()).collect();
    if names.is_empty() {
        format!("{} holds nothing", of.name())
    } else {
        format!("{} holds {}", of.name(), names.join(", "))
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.wanted())
    }

    fn visit_unit<E: Error>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Option<Value>, E> {
        self.single(&truth.to_string(), |kind| (*kind == Kind::Bool).then_some(Value::Bool(truth)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<Value>, E> {
        self.single(&number.to_string(), |kind| of_integer(kind, number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Option<Value>, E> {
        self.single(&number.to_string(), |kind| of_integer(kind, number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Option<Value>, E> {
        self.single(&number.to_string(), |kind| of_float(kind, number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<Value>, E> {
        self.single(text, |kind| of_text(kind, text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Option<Value>, A::Error> {
        match self.what {
            What::Field(field) if field.is_list() => self.list(field, seq).map(Some),
            What::Field(_) | What::Entry(_) | What::Message(_) => self.fail(format!("is a list, {}", self.wanted())),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<Value>, A::Error> {
        match self.kind() {
            Some(Kind::Message(of)) => self.message(&of, map).map(Some),
            Some(_) | None => self.fail(format!("is an object, {}", self.wanted())),
        }
    }
}
