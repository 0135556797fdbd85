//! What never left the house: a call that the host refused, and our own words that come back as a tool's result.
//!
//! Whoever counts its own messages never closes a breaker again.

use super::cause::Cause;
use super::finding::Finding;
use super::look::Look;
use crate::domain::document::Value;
use crate::domain::session::review::MESSAGE_HEAD;

/// The fields by which a contract is known.
const CONTRACT_FIELDS: [&str; 3] = ["action", "breaker", "do_not"];
/// How texts begin that tell a model of a call which it made before.
#[rustfmt::skip] // a list of words reads as a paragraph
const REMINDERS: &[&str] = &[
    "you already ran this exact query", "you already ran this", "you already called",
    "this exact call was already made", "duplicate call", "duplicate tool call", "this call was already made",
    "this query was already run",
    "identical call already", "already ran this exact",
];
/// What a duplicate's text that a host wrote is at most.
const REMINDER_BYTES_MAX: usize = 600;

/// Whether the host, or we, kept the call back.
pub(super) fn refusal(look: &Look<'_>) -> Option<Finding> {
    if look.layer.result.told.holds(look.text()) {
        return Some(ours());
    }
    if let Some(root) = look.object() {
        if !look.layer.is_opaque() && root.get("denied").and_then(Value::as_bool) == Some(true) {
            return Some(Cause::Denied.because("the host refused to make the call"));
        }
        return is_contract(root).then(ours);
    }
    let text = look.plain()?;
    if text.starts_with(MESSAGE_HEAD) {
        return Some(Cause::OurReminder.because("a review of ours that came back, not an answer of the target"));
    }
    if CONTRACT_FIELDS.iter().all(|field| starts_a_line(text, field)) {
        return Some(ours());
    }
    let head: String = text.chars().take(80).collect::<String>().to_lowercase();
    (text.len() <= REMINDER_BYTES_MAX && REMINDERS.iter().any(|words| head.starts_with(words)))
        .then(|| Cause::OurReminder.because("a reminder of the host that came back, not an answer of the target"))
}

fn ours() -> Finding {
    Cause::OurRefusal.because("a contract of ours that came back: the call was never made")
}

/// Whether an object is a contract, alone or under a name of its own.
fn is_contract(root: Value<'_>) -> bool {
    let has_fields =
        |value: Value<'_>| CONTRACT_FIELDS.iter().all(|field| value.get(field).is_some_and(Value::is_string));
    has_fields(root) || ["contract", "trip"].iter().any(|name| root.get(name).is_some_and(has_fields))
}

fn starts_a_line(text: &str, field: &str) -> bool {
    text.len() <= 8_192
        && text.lines().take(64).any(|line| line.strip_prefix(field).is_some_and(|rest| rest.starts_with(": ")))
}
