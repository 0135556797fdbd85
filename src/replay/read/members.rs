//! Single members as recordings write them: texts, words of ours, numbers.

use std::borrow::Cow;

use crate::domain::document::{Kind, Value};
use crate::domain::tool::Effect;
use crate::replay::fault::Wrong;

/// A text, or what else stands there as it was written; none for null.
pub(super) fn text_or_raw(value: Value<'_>) -> Option<Cow<'_, str>> {
    match value.kind() {
        Kind::Null => None,
        Kind::String => value.as_str(),
        Kind::Bool | Kind::Number | Kind::Array | Kind::Object | Kind::Opaque => Some(Cow::Borrowed(value.raw())),
    }
}

/// A text that may be left out.
pub(super) fn text(path: &str, value: Value<'_>) -> Result<String, Wrong> {
    match value.kind() {
        Kind::Null => Ok(String::new()),
        Kind::String => Ok(value.as_str().unwrap_or_default().into_owned()),
        Kind::Bool | Kind::Number | Kind::Array | Kind::Object | Kind::Opaque => {
            Err(Wrong::at(path, "is no text", "a text is due"))
        }
    }
}

/// What a call does; none where the recording leaves it open.
pub(super) fn effect(path: &str, value: Value<'_>) -> Result<Option<Effect>, Wrong> {
    if value.is_null() {
        return Ok(None);
    }
    let word = value.as_str().and_then(|word| Effect::from_word(&word));
    word.map(Some).ok_or_else(|| Wrong::value(path, value.raw(), "read, mutate or unknown is due"))
}

/// Whether it is so.
pub(super) fn truth(path: &str, value: Value<'_>) -> Result<bool, Wrong> {
    value.as_bool().ok_or_else(|| Wrong::value(path, value.raw(), "true or false is due"))
}

/// A whole number, or its digits as a text, as JSON of protos writes long ones.
pub(super) fn number<N: TryFrom<i64>>(path: &str, value: Value<'_>) -> Result<N, Wrong> {
    let number = value.as_i64().or_else(|| value.as_str()?.parse().ok());
    let number = number.and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| Wrong::value(path, value.raw(), "a whole number that is not too large is due"))
}

/// The members of an object, with the names of the protos: `sessionId` is `session_id`.
pub(super) fn members<'a>(value: Value<'a>) -> Result<impl Iterator<Item = (Cow<'a, str>, Value<'a>)>, Wrong> {
    if !value.is_object() {
        return Err(Wrong::at("", "is no object", "an object is due"));
    }
    let named = value.entries().map(|(name, member)| (snake(name.text()), member));
    Ok(named.filter(|(_, member)| !member.is_null()))
}

fn snake(name: Cow<'_, str>) -> Cow<'_, str> {
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return name;
    }
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    Cow::Owned(snake)
}
