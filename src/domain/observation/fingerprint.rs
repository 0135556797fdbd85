//! Whether two failed or empty results are the same answer, whatever was changed in the question (spec 3.6).
//!
//! The text made here leaves out the arguments, what is volatile, what repeats the question and what advises; it keeps
//! codes and the words of the cause. It is hashed under a key and shown by `explain`; it is kept nowhere.

mod keys;
mod mask;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::look::{Body, Look};
use super::typing::{RawResult, Typing};
use crate::domain::document::{Document, Kind, Value};
pub(super) use mask::Mask;

/// The longest normalised body in bytes; what lies beyond is not compared.
const CORE_BYTES_MAX: usize = 4_096;
/// Values that are looked at in one body.
const VALUES_MAX: usize = 2_048;
/// How deep a body is looked into.
const DEPTH_MAX: u8 = 16;

/// The normalised body of a layer that was decided to be failed or empty. For empty ones only the cause that the
/// payload names counts: which container was empty, and of which type, is the question talking.
pub(super) fn core(look: &Look<'_>, is_empty: bool) -> String {
    let mask = look.layer.mask();
    let mut out = String::new();
    match look.body {
        Body::Nothing => {}
        Body::Text(_) => mask.push(look.text(), &mut out),
        Body::Json(root) if is_empty => {
            for name in keys::CAUSES {
                if let Some(text) = root.get(name).and_then(Value::head).filter(|text| !text.is_empty()) {
                    let _ = write!(out, "{name}=");
                    mask.push(&text, &mut out);
                    out.push(';');
                }
            }
        }
        Body::Json(root) => {
            let mut walk = Walk { mask, left: VALUES_MAX };
            out = walk.value(root, 0).unwrap_or_default();
        }
    }
    cut(out)
}

/// What a process left behind, normalised: its code and its words.
pub(super) fn process(look: &Look<'_>, exit: i32, said: &str) -> String {
    let mut out = format!("exit={exit};");
    look.layer.mask().push(said, &mut out);
    cut(out)
}

/// Words that stand for a whole body, normalised: the joined texts of an MCP failure.
pub(super) fn words(look: &Look<'_>, text: &str) -> String {
    let mask = look.layer.mask();
    let mut out = String::new();
    match Document::read(text.trim()) {
        Ok(document) if matches!(document.root().kind(), Kind::Object | Kind::Array) => {
            out = Walk { mask, left: VALUES_MAX }.value(document.root(), 0).unwrap_or_default();
        }
        _ => mask.push(text, &mut out),
    }
    cut(out)
}

/// What is hashed: tool, target selector, state, signal, class and the normalised body. None for what is no terminal
/// observation: usable, context, pending, or a text of ours.
#[must_use]
pub fn text_of(result: &RawResult<'_>, typing: &Typing) -> Option<String> {
    let core = typing.core.as_deref().filter(|_| typing.is_terminal)?;
    let facts = result.transport;
    let mut out = format!("v1|{}|", result.tool_name);
    selector(result.arguments, &mut out);
    let _ = write!(
        out,
        "|{}|{}|{}|",
        typing.observation,
        typing.kind.map_or("-", |kind| kind.word()),
        typing.failure_class.map_or("-", |class| class.word()),
    );
    // Codes of the transport are codes: they tell apart what the same empty body does not.
    if let Some(kind) = facts.error_kind {
        let _ = write!(out, "{kind};");
    }
    if let Some(code) = facts.http_status.filter(|code| *code >= 300) {
        let _ = write!(out, "http={code};");
    }
    if let Some(code) = facts.grpc_code.filter(|code| *code > 0) {
        let _ = write!(out, "grpc={code};");
    }
    out.push_str(core);
    Some(out)
}

/// Which of several like targets was asked: the same words of another data source are another observation.
fn selector(arguments: Option<&[u8]>, out: &mut String) {
    let text = arguments.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
    let Ok(document) = Document::read(text) else { return };
    for name in keys::SELECTORS {
        if let Some(value) = document.root().get(name).filter(|value| !matches!(value.kind(), Kind::Null | Kind::Array))
        {
            let _ = write!(out, "{name}=");
            out.push_str(value.raw().get(..value.raw().len().min(256)).unwrap_or_default());
            out.push(',');
        }
    }
}

/// A walk over a body, which ends after so many values.
struct Walk<'a> {
    mask: &'a Mask,
    left: usize,
}

impl Walk<'_> {
    /// A value, normalised; none for what says nothing.
    fn value(&mut self, value: Value<'_>, depth: u8) -> Option<String> {
        self.left = self.left.checked_sub(1)?;
        match value.kind() {
            Kind::Null | Kind::Number | Kind::Opaque => None, // a number that is no code changes from call to call
            Kind::Bool => Some(value.as_bool().map(|truth| truth.to_string()).unwrap_or_default()),
            Kind::String => {
                let mut out = String::new();
                self.mask.push(&value.head()?, &mut out);
                (!out.is_empty()).then_some(out)
            }
            Kind::Array | Kind::Object if depth >= DEPTH_MAX => None,
            Kind::Array => self.list(value.items(), depth),
            Kind::Object => self.object(value, depth),
        }
    }

    /// A code stays as it is; a sentence under a code's name is none.
    fn code(&mut self, value: Value<'_>, depth: u8) -> Option<String> {
        let text = value.head().unwrap_or_else(|| value.raw().into());
        let is_code = text.len() <= 128 && !text.contains(char::is_whitespace);
        if is_code { Some(text.into_owned()) } else { self.value(value, depth + 1) }
    }

    /// Sorted and without what is there twice: width and order of a fan-out vanish.
    fn list<'d>(&mut self, values: impl Iterator<Item = Value<'d>>, depth: u8) -> Option<String> {
        let mut parts = BTreeSet::new();
        for value in values {
            if self.left == 0 {
                break;
            }
            parts.extend(self.value(value, depth + 1));
        }
        let joined = parts.into_iter().collect::<Vec<_>>().join(",");
        (!joined.is_empty()).then(|| format!("[{joined}]"))
    }

    fn object(&mut self, object: Value<'_>, depth: u8) -> Option<String> {
        let mut parts = BTreeSet::new();
        for (name, value) in object.entries() {
            if self.left == 0 {
                break;
            }
            let name = name.text();
            if keys::is_dropped(&name) {
                continue;
            }
            let told = match value.kind() {
                Kind::Array | Kind::Object if keys::MAPS.contains(&&*name) && value.is_object() => {
                    self.list(value.entries().map(|(_, value)| value), depth)
                }
                Kind::Array | Kind::Object | Kind::Null => self.value(value, depth + 1),
                Kind::Bool | Kind::Number | Kind::String | Kind::Opaque if keys::CODES.contains(&&*name) => {
                    self.code(value, depth)
                }
                Kind::Bool | Kind::Number | Kind::String | Kind::Opaque => self.value(value, depth + 1),
            };
            parts.extend(told.map(|told| format!("{name}={told}")));
        }
        let joined = parts.into_iter().collect::<Vec<_>>().join(";");
        (!joined.is_empty()).then(|| format!("{{{joined}}}"))
    }
}

fn cut(mut text: String) -> String {
    let mut end = text.len().min(CORE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}
