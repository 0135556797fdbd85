//! Fields of a message by their names: those of JSON or of the protos, and dotted paths into messages within.

use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage as _, Value};

use super::scalar::{of_text, shown, wanted};
use crate::wire::InvalidField;

/// A field by its name in JSON or in the protos.
pub(super) fn named_field(of: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    of.get_field_by_json_name(name).or_else(|| of.get_field_by_name(name))
}

/// Puts a text at a dotted path, as a path or a query of a request gives it; one that the message has already must be
/// the same.
///
/// # Errors
/// Where it is no value of that field, or another than the message has.
pub fn put_text(message: &mut DynamicMessage, path: &str, text: &str) -> Result<(), InvalidField> {
    let invalid = |rule: String| InvalidField::new(path, rule);
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let Some(field) = named_field(&message.descriptor(), name) else {
        return Err(invalid("is not known here".to_owned()));
    };
    if let Some(rest) = rest {
        let Value::Message(inner) = message.get_field_mut(&field) else {
            return Err(invalid("is not known here".to_owned()));
        };
        return put_text(inner, rest, text).map_err(|fault| fault.inside(name));
    }
    let kind = field.kind();
    let value = match (&kind, text) {
        (Kind::Bool, "true") => Some(Value::Bool(true)),
        (Kind::Bool, "false") => Some(Value::Bool(false)),
        _ => of_text(&kind, text),
    };
    let value = value.ok_or_else(|| invalid(format!("{}, {}", shown(text), wanted(&kind))))?;
    if message.has_field(&field) && *message.get_field(&field) != value {
        return Err(invalid("is not what the path of the request says: leave it out".to_owned()));
    }
    message.set_field(&field, value);
    Ok(())
}

/// Puts a text at the one of some dotted paths that ends with a name, in either spelling.
///
/// # Errors
/// Where none does, or it is no value of that field.
pub fn put_named(message: &mut DynamicMessage, paths: &[&str], (name, text): (&str, &str)) -> Result<(), InvalidField> {
    let is_it = |path: &&&str| {
        let last = path.rsplit('.').next().unwrap_or(path);
        last == name || camel(last) == name
    };
    match paths.iter().find(is_it) {
        Some(path) => put_text(message, path, text),
        None => {
            let known: Vec<String> = paths.iter().map(|path| camel(path.rsplit('.').next().unwrap_or(path))).collect();
            let known =
                if known.is_empty() { "it takes none".to_owned() } else { format!("there are {}", known.join(", ")) };
            let cut = crate::domain::ids::SafeText::cut(name, 64);
            Err(InvalidField::new(cut.as_str(), format!("is no parameter of this request: {known}")))
        }
    }
}

/// A name of the protos as JSON writes it.
#[must_use]
pub fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut is_up = false;
    for c in name.chars() {
        if c == '_' {
            is_up = true;
        } else {
            out.extend(if is_up { c.to_uppercase().next() } else { Some(c) });
            is_up = false;
        }
    }
    out
}
