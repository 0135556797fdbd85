//! Addresses to listen at, texts, names and globs over names, JSON pointers, and the words that are compared with values.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::GlobSetBuilder;
use serde_json::{Value, json};
use toml::de::{DeArray, DeValue};

use super::fault::{Place, Sink};
use super::field::{Range, wrong_type};
use super::list::{Bound, one_or_list, read_list};
use super::settings::Listen;
use super::text::quoted;
use crate::domain::breaker::routes::target_glob;
use crate::domain::contract::wording::{FIELD_NAMES, TEMPLATE_BYTES_MAX};
use crate::domain::failure::confirmed::ROUTES_MAX;
use crate::domain::failure::names::{NAME_BYTES_MAX, RouteName};
use crate::domain::ids::{SafeText, TARGET_BYTES_MAX};

/// Pointers in one list.
pub(super) const POINTERS_MAX: usize = 16;
/// Bytes of one pointer.
pub(super) const POINTER_BYTES_MAX: usize = 128;
/// Words in one list.
pub(super) const WORDS_MAX: usize = 32;
/// Bytes of one word.
pub(super) const WORD_BYTES_MAX: usize = 128;
/// What a pointer looks like.
pub(super) const POINTER_DUE: &str = "`\"\"` or a path such as `\"/data/rows\"`";
/// Globs in one breaker.
pub(super) const GLOBS_MAX: usize = 64;
/// Bytes of one glob; a longer one could match no target but by `*`.
pub(super) const GLOB_BYTES_MAX: usize = TARGET_BYTES_MAX;
/// Bytes of a socket's path that every system takes.
const SOCKET_PATH_BYTES_MAX: usize = 103;

/// An address as `ip:port` or `unix:/path`.
pub(super) fn parse_address(text: &str) -> Result<Listen, String> {
    if let Some(path) = text.strip_prefix("unix:") {
        let is_fitting = Path::new(path).is_absolute() && path.len() <= SOCKET_PATH_BYTES_MAX && !path.contains('\0');
        let rule =
            || format!("is no socket: `unix:` and an absolute path of at most {SOCKET_PATH_BYTES_MAX} bytes are due");
        return is_fitting.then(|| Listen::Unix(PathBuf::from(path))).ok_or_else(rule);
    }
    let rule = |_| "is no address: an IP and a port such as `127.0.0.1:7171`, or `unix:/run/tripnote.sock`, is due";
    text.parse().map(Listen::Tcp).map_err(rule).map_err(str::to_owned)
}

/// What an address that need not be there looks like.
pub(super) const ADDRESS_OR_NONE_DUE: &str =
    "an address such as `\"127.0.0.1:7172\"` or `\"unix:/run/tripnote-http.sock\"`, or `\"\"` for none";

/// The same, or none where the text is empty.
pub(super) fn parse_address_or_none(text: &str) -> Result<Option<Listen>, String> {
    if text.is_empty() { Ok(None) } else { parse_address(text).map(Some) }
}

/// Text that reaches a model as it is written: nothing may have to be dropped or cut.
pub(super) fn read_text(text: &str, bytes: Range) -> Result<SafeText, String> {
    let max = usize::try_from(bytes.max).unwrap_or(usize::MAX);
    let kept = SafeText::cut(text, max);
    if text.is_empty() && bytes.min > 0 {
        return Err(format!("is empty: a text of {} to {} bytes is due", bytes.min, bytes.max));
    }
    if SafeText::cut(text, usize::MAX).as_str() != text {
        return Err("holds a control, line or direction mark: plain text is due".to_owned());
    }
    if kept.as_str() != text {
        return Err(format!("is longer than {max} bytes, in which a quote or backslash takes two"));
    }
    Ok(kept)
}

/// A name that is kept byte for byte; the rule is the same for every kind of name.
pub(super) fn read_name(text: &str) -> Result<Arc<str>, String> {
    RouteName::parse(text).map(|_| text.into()).map_err(|invalid| invalid.to_string())
}

/// The names; none where one is at fault, which is reported.
pub(super) fn read_names(list: &DeArray<'_>, place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Vec<Arc<str>>> {
    let name = |value: &DeValue<'_>| value.as_str().map_or_else(|| Err(wrong_type(value, &name_due())), read_name);
    read_list(list, place, Bound { what: "names", max: ROUTES_MAX }, sink, reported(name))
}

pub(super) fn name_due() -> String {
    format!("a name of 1 to {NAME_BYTES_MAX} bytes")
}

pub(super) fn names_due() -> String {
    format!("a list of 1 to {ROUTES_MAX} names of 1 to {NAME_BYTES_MAX} bytes each")
}

pub(super) fn name_schema() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": NAME_BYTES_MAX})
}

pub(super) fn names_schema() -> Value {
    json!({"type": "array", "minItems": 1, "maxItems": ROUTES_MAX, "items": name_schema()})
}

/// The longest path that Linux takes.
const PATH_BYTES_MAX: usize = 4_095;

/// A path; whether anything is there is seen when it is used.
pub(super) fn read_path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() || text.len() > PATH_BYTES_MAX || text.contains('\0') {
        return Err(format!("is no path: {} is due", path_due()));
    }
    Ok(PathBuf::from(text))
}

pub(super) fn path_due() -> String {
    format!("a path of 1 to {PATH_BYTES_MAX} bytes")
}

pub(super) fn path_schema() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": PATH_BYTES_MAX})
}

/// The globs; none where one is at fault, which is reported.
pub(super) fn read_globs(list: &DeArray<'_>, place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Vec<String>> {
    let glob = |value: &DeValue<'_>| value.as_str().map_or_else(|| Err(wrong_type(value, "a glob")), read_glob);
    read_list(list, place, Bound { what: "globs", max: GLOBS_MAX }, sink, reported(glob))
}

/// The JSON pointers; none where one is at fault, which is reported.
pub(super) fn read_pointers(list: &DeArray<'_>, place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Vec<Arc<str>>> {
    let pointer =
        |value: &DeValue<'_>| value.as_str().map_or_else(|| Err(wrong_type(value, "a JSON pointer")), read_pointer);
    read_list(list, place, Bound { what: "pointers", max: POINTERS_MAX }, sink, reported(pointer))
}

/// The words, of which one alone needs no list; none where one of a list is at fault, which is reported.
pub(super) fn read_words(place: &Place<'_>, sink: &mut Sink<'_>) -> Result<Option<Vec<Arc<str>>>, String> {
    match place.value.as_array() {
        Some(list) => Ok(read_list(list, place, Bound { what: "words", max: WORDS_MAX }, sink, reported(read_word))),
        None => read_word(place.value).map(|word| Some(vec![word])),
    }
}

/// Reads one item and reports what is wrong with it.
fn reported<V>(
    read_one: impl Fn(&DeValue<'_>) -> Result<V, String>,
) -> impl Fn(&Place<'_>, &mut Sink<'_>) -> Option<V> {
    move |place, sink| read_one(place.value).map_err(|rule| sink.fault(place, rule)).ok()
}

/// A text, number or boolean as it is written in JSON.
fn read_word(value: &DeValue<'_>) -> Result<Arc<str>, String> {
    let word = match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Boolean(is) => is.to_string(),
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| number.as_str().to_owned(), |number| number.to_string()),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            return Err(wrong_type(value, "a text, a number or a boolean"));
        }
    };
    if word.len() > WORD_BYTES_MAX {
        return Err(format!("has {} bytes: at most {WORD_BYTES_MAX} are allowed", word.len()));
    }
    Ok(word.into())
}

/// A JSON pointer (RFC 6901).
pub(super) fn read_pointer(text: &str) -> Result<Arc<str>, String> {
    if text.len() > POINTER_BYTES_MAX {
        return Err(format!("has {} bytes: at most {POINTER_BYTES_MAX} are allowed", text.len()));
    }
    let is_escaped = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if !is_escaped {
        return Err("is no JSON pointer: in a name, `~0` is due for `~` and `~1` for `/`".to_owned());
    }
    let is_rooted = text.is_empty() || text.starts_with('/');
    is_rooted.then(|| text.into()).ok_or_else(|| format!("is no JSON pointer: {POINTER_DUE} is due"))
}

pub(super) fn read_glob(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > GLOB_BYTES_MAX {
        return Err(format!("has {} bytes: 1 to {GLOB_BYTES_MAX} are due", text.len()));
    }
    compile(text).map(|()| text.to_owned()).map_err(|error| format!("is no glob: {}", error.kind()))
}

/// Builds what the matcher will build, so that nothing can fail later.
fn compile(text: &str) -> Result<(), globset::Error> {
    GlobSetBuilder::new().add(target_glob(text)?).build().map(|_| ())
}

/// Texts as TOML writes them.
pub(super) fn written_texts(texts: &[impl AsRef<str>]) -> String {
    format!("[{}]", quoted_each(texts).join(", "))
}

/// Words as TOML writes them; a number or boolean is as good as the text of it.
pub(super) fn written_words(words: &[Arc<str>]) -> String {
    one_or_list(&quoted_each(words))
}

fn quoted_each(texts: &[impl AsRef<str>]) -> Vec<String> {
    texts.iter().map(|text| quoted(text.as_ref())).collect()
}

pub(super) fn template_due() -> String {
    let fields = FIELD_NAMES.map(|name| format!("`{{{name}}}`")).join(", ");
    format!("a text of at most {TEMPLATE_BYTES_MAX} bytes that has {fields}, each once and in this order")
}

pub(super) fn pointer_schema() -> Value {
    json!({"type": "string", "pattern": "^(/([^~]|~[01])*)?$", "maxLength": POINTER_BYTES_MAX})
}

/// What words look like.
pub(super) fn words_due() -> String {
    format!("a text, number or boolean, or a list of 1 to {WORDS_MAX} of at most {WORD_BYTES_MAX} bytes each")
}

pub(super) fn globs_schema() -> Value {
    json!({
        "type": "array", "minItems": 1, "maxItems": GLOBS_MAX,
        "items": {"type": "string", "minLength": 1, "maxLength": GLOB_BYTES_MAX},
    })
}

pub(super) fn pointers_schema() -> Value {
    json!({"type": "array", "minItems": 1, "maxItems": POINTERS_MAX, "items": pointer_schema()})
}

pub(super) fn words_schema() -> Value {
    let text = json!({"type": "string", "maxLength": WORD_BYTES_MAX});
    let word = json!({"anyOf": [text, {"type": "number"}, {"type": "boolean"}]});
    json!({"anyOf": [word, {"type": "array", "minItems": 1, "maxItems": WORDS_MAX, "items": word}]})
}
