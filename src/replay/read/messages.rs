//! Sessions as the lists of messages that language models take.
//!
//! OpenAI: `assistant` with `tool_calls` or `function_call`, answered by `tool` or `function`. Anthropic: `assistant` with
//! blocks `tool_use`, answered by blocks `tool_result` of a `user` message. The calls of one assistant message are one step,
//! and what the user says begins a task.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use super::members::text_or_raw;
use super::{Wrong, labelled};
use crate::domain::document::Value;
use crate::replay::recording::{RecordedCall, RecordedResult, Recording};

/// A session on its way in.
struct Reader<'a> {
    recording: Recording<'a>,
    step: u32,
    task: u32,
    /// Calls by their ids; of one id, the latest.
    named: HashMap<Cow<'a, str>, usize>,
    /// Calls of the last step that nobody answered, for answers that name none.
    waiting: VecDeque<usize>,
}

/// Reads a session. `value` holds its labels, where it is more than the list itself.
pub(super) fn read<'a>(value: Value<'a>, list: Value<'a>) -> Result<Recording<'a>, Wrong> {
    let recording = labelled(value)?;
    let mut reader = Reader { recording, step: 0, task: 0, named: HashMap::new(), waiting: VecDeque::new() };
    for (at, message) in list.items().enumerate() {
        reader.message(message).map_err(|wrong| wrong.inside(&format!("messages[{at}]")))?;
    }
    Ok(reader.recording)
}

impl<'a> Reader<'a> {
    fn message(&mut self, message: Value<'a>) -> Result<(), Wrong> {
        let due = "system, user, assistant or tool is due";
        let role = message.get("role").ok_or_else(|| Wrong::missing("role", due))?;
        match role.head().as_deref() {
            Some("assistant") => self.assistant(message),
            Some("user") => {
                self.user(message);
                Ok(())
            }
            Some("tool") => {
                let id = message.get("tool_call_id").and_then(text_or_raw);
                self.answer(id.as_deref(), result(message));
                Ok(())
            }
            Some("function") => {
                self.answer(None, result(message));
                Ok(())
            }
            Some("system" | "developer") => Ok(()),
            Some(_) | None => Err(Wrong::value("role", role.raw(), due)),
        }
    }

    fn assistant(&mut self, message: Value<'a>) -> Result<(), Wrong> {
        self.waiting.clear();
        let before = self.recording.calls.len();
        self.calls_of(message, self.step + 1)?;
        // Words alone are no step, as sessions that were recorded as calls hold none of them.
        self.step += u32::from(self.recording.calls.len() > before);
        Ok(())
    }

    fn calls_of(&mut self, message: Value<'a>, step: u32) -> Result<(), Wrong> {
        let calls = message.get("tool_calls").into_iter().flat_map(Value::items);
        for (at, call) in calls.enumerate() {
            let path = || format!("tool_calls[{at}]");
            let function = call.get("function").unwrap_or(call);
            let arguments = function.get("arguments").or_else(|| function.get("args"));
            self.call(step, call.get("id"), [function.get("name"), arguments])
                .map_err(|wrong| wrong.inside(&path()))?;
        }
        if let Some(function) = message.get("function_call").filter(|function| function.is_object()) {
            self.call(step, None, [function.get("name"), function.get("arguments")])
                .map_err(|wrong| wrong.inside("function_call"))?;
        }
        for (at, block) in blocks(message).enumerate().filter(|(_, block)| is_kind(*block, "tool_use")) {
            self.call(step, block.get("id"), [block.get("name"), block.get("input")])
                .map_err(|wrong| wrong.inside(&format!("content[{at}]")))?;
        }
        Ok(())
    }

    fn call(
        &mut self,
        step: u32,
        id: Option<Value<'a>>,
        [name, arguments]: [Option<Value<'a>>; 2],
    ) -> Result<(), Wrong> {
        let due = "the name of the tool is due";
        let name = name.ok_or_else(|| Wrong::missing("name", due))?;
        let tool = name.as_str().ok_or_else(|| Wrong::value("name", name.raw(), due))?;
        let mut call = RecordedCall::of_tool(tool, step, self.task)?;
        call.arguments = arguments.and_then(text_or_raw).unwrap_or_default();
        let at = self.recording.calls.len();
        self.recording.push(call)?;
        self.waiting.push_back(at);
        if let Some(id) = id.and_then(text_or_raw) {
            self.named.insert(id, at);
        }
        Ok(())
    }

    /// A user brings results of tools, or speaks; where both, the results were there before.
    fn user(&mut self, message: Value<'a>) {
        let mut has_results = false;
        for block in blocks(message).filter(|block| is_kind(*block, "tool_result")) {
            has_results = true;
            let id = block.get("tool_use_id").and_then(text_or_raw);
            self.answer(id.as_deref(), result(block));
        }
        let speaks = |block: Value<'_>| {
            let words = block.get("text").and_then(Value::head);
            words.map_or(!is_kind(block, "tool_result"), |words| !words.trim().is_empty())
        };
        if !has_results || blocks(message).any(speaks) {
            self.task += 1;
        }
    }

    /// Gives a call its result: the one that is named, else the first of the step that has none. An answer to a call that
    /// was not recorded says nothing.
    fn answer(&mut self, id: Option<&str>, result: RecordedResult<'a>) {
        let named = id.and_then(|id| self.named.get(id).copied());
        let at = if id.is_some() { named } else { self.waiting.pop_front() };
        let call = at.and_then(|at| self.recording.calls.get_mut(at));
        if let Some(call) = call.filter(|call| call.result.is_none()) {
            call.result = Some(result);
        }
    }
}

/// The blocks of a message's content; none where it is a plain text.
fn blocks(message: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    message.get("content").into_iter().flat_map(Value::items)
}

fn is_kind(block: Value<'_>, kind: &str) -> bool {
    block.get("type").and_then(Value::head).is_some_and(|own| own == kind)
}

/// What a tool answered: a text, blocks of text that are one, or what else stands there.
fn result(message: Value<'_>) -> RecordedResult<'_> {
    let content = message.get("content");
    let body = content.and_then(body).unwrap_or_default();
    let is_flagged = message.get("is_error").and_then(Value::as_bool) == Some(true);
    if is_flagged {
        RecordedResult { body: flagged(&body).into(), is_flagged }
    } else {
        RecordedResult { body, is_flagged }
    }
}

fn body(content: Value<'_>) -> Option<Cow<'_, str>> {
    let is_texts = content.is_array() && !content.is_empty() && content.items().all(|block| is_kind(block, "text"));
    if !is_texts {
        return text_or_raw(content);
    }
    let mut texts = content.items().filter_map(|block| block.get("text")?.as_str());
    let first = texts.next()?;
    Some(texts.fold(first, |mut all, text| {
        all.to_mut().push('\n');
        all.to_mut().push_str(&text);
        all
    }))
}

/// A failure that the recording itself marks, in the protocol's words that say so.
fn flagged(body: &str) -> String {
    serde_json::json!({ "content": [{ "type": "text", "text": body }], "isError": true }).to_string()
}
