//! What an orchestrator can write down of its traffic with a service: one object a line, with the names and words of the
//! protos. The room's own page shows them.
//!
//! Names may be written as `session_id` or `sessionId`, words as `read` or `EFFECT_READ`. A name that is not known is a
//! fault, as a misspelt one would change what is replayed.

mod admit;
mod outcome;

use super::Wrong;
use super::members::{members, number, text, truth};
use crate::domain::document::Value;
use crate::wire::pb;

/// One thing that happened.
#[derive(Debug)]
pub(crate) struct Event {
    /// When, in milliseconds on one clock of the caller's.
    pub(crate) at_ms: u64,
    /// What.
    pub(crate) what: Happened,
}

/// What can happen.
#[derive(Debug)]
pub(crate) enum Happened {
    /// A call was asked for.
    Admit {
        /// As it was asked.
        request: Box<pb::AdmitRequest>,
        /// The permit that it got then, as reports name it.
        permit: Option<PermitName>,
    },
    /// A call was reported. A permit in it is the name of one.
    Report(Box<pb::Outcome>),
    /// A session ended.
    Close(Close),
}

/// The permit of a recorded call: nothing but a name here.
pub(crate) type PermitName = String;

/// The end of a session.
#[derive(Debug, Default)]
pub(crate) struct Close {
    /// Who opened it.
    pub(crate) caller: String,
    /// Its name.
    pub(crate) session: String,
    /// How it ended.
    pub(crate) outcome: pb::SessionOutcome,
    /// Whether the work succeeded; none where nobody said.
    pub(crate) success: Option<bool>,
}

/// Reads an event; none where the object is none.
pub(super) fn read(value: Value<'_>) -> Result<Option<Event>, Wrong> {
    let kinds = ["admit", "report", "close"].into_iter().filter_map(|kind| Some((kind, value.get(kind)?)));
    let mut kinds = kinds.filter(|(_, member)| member.is_object());
    let Some((kind, body)) = kinds.next() else { return Ok(None) };
    if let Some((other, _)) = kinds.next() {
        return Err(Wrong::at("", format!("{kind} and {other} stand in one event"), "write an event for each"));
    }
    let at = value.get("at_ms").or_else(|| value.get("atMs"));
    let at = at.ok_or_else(|| Wrong::missing("at_ms", "the time of the event in milliseconds is due"))?;
    let at_ms = number("at_ms", at)?;
    let what = match kind {
        "admit" => {
            let permit = value.get("permit").map(|permit| text("permit", permit)).transpose()?;
            let permit = permit.filter(|permit| !permit.is_empty());
            let request = admit::read(body).map_err(|wrong| wrong.inside("admit"))?;
            Happened::Admit { request: Box::new(request), permit }
        }
        "report" => Happened::Report(Box::new(outcome::read(body).map_err(|wrong| wrong.inside("report"))?)),
        _ => Happened::Close(close(body).map_err(|wrong| wrong.inside("close"))?),
    };
    Ok(Some(Event { at_ms, what }))
}

fn close(value: Value<'_>) -> Result<Close, Wrong> {
    let mut close = Close::default();
    for (name, member) in members(value)? {
        match name.as_ref() {
            "session_id" => close.session = text(&name, member)?,
            "caller" => close.caller = text(&name, member)?,
            "success" => close.success = Some(truth(&name, member)?),
            "outcome" => close.outcome = word(&name, member, "SESSION_OUTCOME_", pb::SessionOutcome::from_str_name)?,
            _ => return Err(unknown(&name)),
        }
    }
    if close.session.is_empty() {
        return Err(Wrong::missing("session_id", "the name of the session is due"));
    }
    Ok(close)
}

/// A word of the protos, in full or without what stands before all words of its kind.
fn word<W>(path: &str, value: Value<'_>, prefix: &str, known: impl Fn(&str) -> Option<W>) -> Result<W, Wrong> {
    let due = || format!("a word of the API is due, such as those with `{prefix}` in its manual");
    let written = text(path, value)?;
    let full = written.to_ascii_uppercase().replace('.', "_");
    known(&full).or_else(|| known(&format!("{prefix}{full}"))).ok_or_else(|| Wrong::value(path, value.raw(), due()))
}

fn unknown(name: &str) -> Wrong {
    let quoted = crate::replay::fault::quoted(name);
    Wrong::at("", format!("{quoted} is no field"), "a field of the API is due, as its manual names it")
}
