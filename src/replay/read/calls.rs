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

/// What a call is made of. Members of other names are notes of whoever recorded it.
#[derive(Default)]
struct Members<'a> {
    turn: Option<Value<'a>>,
    task: Option<Value<'a>>,
    tool: Option<Value<'a>>,
    arguments: Option<Value<'a>>,
    effect: Option<Value<'a>>,
    result: Option<Value<'a>>,
}

impl<'a> Members<'a> {
    fn of(item: Value<'a>) -> Self {
        let mut members = Self::default();
        for (name, value) in item.entries() {
            match name.text().as_ref() {
                "turn" => members.turn = Some(value),
                "task" => members.task = Some(value),
                "tool" => members.tool = Some(value),
                "arguments" => members.arguments = Some(value),
                "effect" => members.effect = Some(value),
                "result" => members.result = Some(value),
                _ => {}
            }
        }
        members
    }
}

fn call<'a>(item: Value<'a>, place: &mut Place<'a>) -> Result<RecordedCall<'a>, Wrong> {
    let members = Members::of(item);
    let tool = members.tool.ok_or_else(|| Wrong::missing("tool", "the name of the tool is due"))?;
    let tool = tool.as_str().ok_or_else(|| Wrong::value("tool", tool.raw(), "the name of the tool is due"))?;
    place.move_to(&members)?;
    let mut call = RecordedCall::of_tool(tool, place.step, place.task)?;
    call.arguments = members.arguments.and_then(text_or_raw).unwrap_or_default();
    call.effect = members.effect.map(|word| effect("effect", word)).transpose()?.flatten();
    let body = members.result.and_then(text_or_raw);
    call.result = body.map(|body| RecordedResult { body, is_flagged: false });
    Ok(call)
}

impl<'a> Place<'a> {
    /// To the call that comes next.
    fn move_to(&mut self, members: &Members<'a>) -> Result<(), Wrong> {
        let due = "a whole number that rises is due";
        let turn = members.turn.filter(|turn| !turn.is_null());
        let turn = match turn {
            None => None,
            Some(turn) => {
                let number = turn.as_i64().and_then(|turn| u64::try_from(turn).ok());
                Some(number.ok_or_else(|| Wrong::value("turn", turn.raw(), due))?)
            }
        };
        let task = members.task.and_then(text_or_raw);
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
