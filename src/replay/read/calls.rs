//! Sessions as lists of calls: `{"session", "success", "calls": [{"turn", "tool", "arguments", "effect", "result"}]}`.
//!
//! A call may name its `task`. Where none does, `turn` tells: it counts messages, a call is one and each result another, so
//! that a longer way to the next call means that the user has spoken.

use std::borrow::Cow;

use super::members::{effect, text_or_raw};
use super::{Wrong, labelled};
use crate::domain::document::Value;
use crate::replay::recording::{RecordedCall, RecordedResult, Recording};

/// Where in the session a call stands, by those before it.
#[derive(Default)]
struct Place<'a> {
    step: u32,
    task: u32,
    task_name: Option<Cow<'a, str>>,
    turn: Option<u64>,
    /// Calls of this turn.
    in_turn: u64,
}

/// Reads a session.
pub(super) fn read<'a>(value: Value<'a>, list: Value<'a>) -> Result<Recording<'a>, Wrong> {
    let mut recording = labelled(value)?;
    let mut place = Place::default();
    for (at, item) in list.items().enumerate() {
        let call = call(item, &mut place).map_err(|wrong| wrong.inside(&format!("calls[{at}]")))?;
        recording.push(call)?;
    }
    Ok(recording)
}

fn call<'a>(item: Value<'a>, place: &mut Place<'a>) -> Result<RecordedCall<'a>, Wrong> {
    let tool = item.get("tool").ok_or_else(|| Wrong::missing("tool", "the name of the tool is due"))?;
    let tool = tool.as_str().ok_or_else(|| Wrong::value("tool", tool.raw(), "the name of the tool is due"))?;
    place.move_to(item)?;
    let mut call = RecordedCall::of_tool(tool, place.step, place.task)?;
    call.arguments = item.get("arguments").and_then(text_or_raw).unwrap_or_default();
    call.effect = item.get("effect").map(|word| effect("effect", word)).transpose()?.flatten();
    let body = item.get("result").and_then(text_or_raw);
    call.result = body.map(|body| RecordedResult { body, is_flagged: false });
    Ok(call)
}

impl<'a> Place<'a> {
    /// To the call that comes next.
    fn move_to(&mut self, item: Value<'a>) -> Result<(), Wrong> {
        let due = "a whole number that rises is due";
        let turn = item.get("turn").filter(|turn| !turn.is_null());
        let turn = match turn {
            None => None,
            Some(turn) => {
                let number = turn.as_i64().and_then(|turn| u64::try_from(turn).ok());
                Some(number.ok_or_else(|| Wrong::value("turn", turn.raw(), due))?)
            }
        };
        let task = item.get("task").and_then(text_or_raw);
        let has_spoken = match (self.turn, turn) {
            (Some(last), Some(turn)) => task.is_none() && turn > last.saturating_add(1).saturating_add(self.in_turn),
            (None, _) | (_, None) => false,
        };
        if has_spoken || (task.is_some() && task != self.task_name) {
            self.task += 1;
            self.task_name = task;
        }
        let is_same_turn = turn.is_some() && turn == self.turn;
        self.in_turn = if is_same_turn { self.in_turn + 1 } else { 1 };
        self.step += u32::from(!is_same_turn);
        self.turn = turn;
        Ok(())
    }
}
