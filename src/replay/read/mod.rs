//! What a piece of recorded text is, by its structure alone, and what stands in it. A format is a file.
//!
//! Reads what lies there and decides nothing about the calls.

mod calls;
mod event;
mod members;
mod messages;

use super::fault::Wrong;
use super::recording::{Recording, SESSION_BYTES_MAX};
use crate::domain::behaviour::SessionOutcome;
use crate::domain::document::{Damage, Dialect, Document, Value};
pub(crate) use event::{Close, Event, Happened, PermitName};

/// What every fault about the form says would be right.
const DUE: &str =
    "a session with `calls` or `messages`, a list of messages, or an event with `admit`, `report` or `close` is due";
/// The names under which recordings keep their list of messages.
const MESSAGES: [&str; 2] = ["messages", "traj"];

/// What stands in a piece.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// Sessions that were recorded apart; one that cannot be read does not cost the others.
    Sessions(Vec<Result<Recording<'a>, Wrong>>),
    /// Something that happened at a service.
    Event(Box<Event>),
}

/// Reads a text as a document.
pub(crate) fn document(text: &str) -> Result<Document<'_>, Wrong> {
    let document = Document::read(text).map_err(|damage| Wrong::at("", damaged(damage), DUE))?;
    if document.dialect() != Dialect::Json {
        return Err(Wrong::at("", "it is what Python prints, and no JSON", "write it with `json.dumps`"));
    }
    Ok(document)
}

const fn damaged(damage: Damage) -> &'static str {
    match damage {
        Damage::Foreign => "it is no JSON",
        Damage::Cut => "the JSON ends before it is closed",
        Damage::Malformed => "it is damaged JSON",
        Damage::Trailing => "more text stands behind the JSON",
        Damage::TooDeep => "the JSON is nested too deep",
    }
}

/// Finds out what stands in a document.
pub(crate) fn found<'a>(document: &'a Document<'a>) -> Result<Found<'a>, Wrong> {
    let root = document.root();
    if let Some(event) = event::read(root)? {
        return Ok(Found::Event(Box::new(event)));
    }
    if root.is_array() && !is_message_list(root) {
        let items = (1_u32..).zip(root.items());
        let sessions = items.map(|(at, item)| session(item).map_err(|wrong| wrong.inside(&format!("item {at}"))));
        return Ok(Found::Sessions(sessions.collect()));
    }
    session(root).map(|session| Found::Sessions(vec![Ok(session)]))
}

/// One session, in whichever form.
fn session(value: Value<'_>) -> Result<Recording<'_>, Wrong> {
    if is_message_list(value) {
        return messages::read(value, value);
    }
    if let Some(list) = value.get("calls").filter(|list| list.is_array()) {
        return calls::read(value, list);
    }
    let list = MESSAGES.iter().find_map(|name| value.get(name));
    match list.filter(|list| list.is_array()) {
        Some(list) => messages::read(value, list),
        None => Err(Wrong::at("", "it is no recording", DUE)),
    }
}

fn is_message_list(value: Value<'_>) -> bool {
    value.is_array() && value.items().next().is_some_and(|first| first.get("role").is_some())
}

/// The name of a session and whether it succeeded: what all recordings of whole sessions say alike.
fn labelled(value: Value<'_>) -> Result<Recording<'_>, Wrong> {
    let name = ["session", "session_id", "id"].iter().find_map(|name| value.get(name)).filter(|name| !name.is_null());
    let name = name.map(|name| name.as_str().unwrap_or(std::borrow::Cow::Borrowed(name.raw())));
    let name = name.filter(|name| !name.is_empty());
    if let Some(long) = name.as_ref().filter(|name| name.len() > SESSION_BYTES_MAX) {
        let what = format!("has {} bytes", long.len());
        return Err(Wrong::at("session", what, format!("at most {SESSION_BYTES_MAX} are taken")));
    }
    Ok(Recording { name, success: success(value)?, outcome: outcome(value)?, calls: Vec::new() })
}

/// How a session ended. One that was recorded whole and does not say it was answered.
fn outcome(value: Value<'_>) -> Result<SessionOutcome, Wrong> {
    let Some(word) = value.get("outcome").filter(|word| !word.is_null()) else { return Ok(SessionOutcome::Answered) };
    let known = word.as_str().and_then(|word| SessionOutcome::from_word(&word));
    known.ok_or_else(|| Wrong::value("outcome", word.raw(), "answered, escalated, halted or abandoned is due"))
}

/// Whether a session succeeded, by its label or by its full reward.
fn success(value: Value<'_>) -> Result<Option<bool>, Wrong> {
    /// A reward is often the product of floats.
    const FULL_REWARD: f64 = 1.0 - 1e-6;
    if let Some(label) = value.get("success").filter(|label| !label.is_null()) {
        let due = "true, false or null is due";
        return label.as_bool().map(Some).ok_or_else(|| Wrong::value("success", label.raw(), due));
    }
    match value.get("reward").filter(|reward| !reward.is_null()) {
        None => Ok(None),
        Some(reward) => {
            let number = reward.as_f64().or(reward.as_bool().map(f64::from));
            let number = number.ok_or_else(|| Wrong::value("reward", reward.raw(), "a number is due"))?;
            Ok(Some(number >= FULL_REWARD))
        }
    }
}

#[cfg(test)]
mod tests;
