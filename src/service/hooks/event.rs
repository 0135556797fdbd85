//! An event as the programs send it: what of it is read, and what is wrong with it where it cannot be. Holds nothing of
//! an event in its faults but where they are.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::domain::ids::SafeText;
use crate::domain::signal::closed_words;

/// Of a name that is not known, so much is shown to who sent it.
const NAME_SHOWN_MAX: usize = 64;

closed_words! {
    /// Events that mean something here, or are known to mean nothing.
    EventName {
        /// The user asks for something.
        UserPromptSubmit = "UserPromptSubmit",
        /// A call is about to be made.
        PreToolUse = "PreToolUse",
        /// A call has its result.
        PostToolUse = "PostToolUse",
        /// A call failed.
        PostToolUseFailure = "PostToolUseFailure",
        /// All calls of one step have their results.
        PostToolBatch = "PostToolBatch",
        /// The program refused a call by its own rules.
        PermissionDenied = "PermissionDenied",
        /// The user is asked whether a call may be made.
        PermissionRequest = "PermissionRequest",
        /// The model has answered.
        Stop = "Stop",
        /// The model has not answered: its service failed.
        StopFailure = "StopFailure",
        /// A sub-agent begins.
        SubagentStart = "SubagentStart",
        /// A sub-agent has answered.
        SubagentStop = "SubagentStop",
        /// The context is about to be compacted.
        PreCompact = "PreCompact",
        /// The context was compacted.
        PostCompact = "PostCompact",
        /// A session begins, or goes on.
        SessionStart = "SessionStart",
        /// A session has ended.
        SessionEnd = "SessionEnd",
        /// The user is told something.
        Notification = "Notification",
    }
}

/// Why an event is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidHook {
    /// It is no JSON object, or a member is of another type than is documented.
    Unreadable {
        /// Whether it is JSON at all.
        is_json: bool,
        /// Where it stops to be one, from 1.
        line: usize,
        /// Where in that line, from 1.
        column: usize,
    },
    /// Its name is none that is known.
    UnknownEvent(
        /// The name, cut.
        SafeText,
    ),
    /// A member that this event needs is not there.
    Missing {
        /// The event.
        event: &'static str,
        /// The member.
        member: &'static str,
    },
}

impl fmt::Display for InvalidHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { is_json: false, line, column } => {
                write!(f, "the event is no JSON object: see line {line} column {column}")
            }
            Self::Unreadable { is_json: true, line, column } => {
                write!(
                    f,
                    "a member of the event is of another type than is documented: see line {line} column {column}"
                )
            }
            Self::UnknownEvent(name) => {
                let known: Vec<&str> = EventName::ALL.iter().map(|known| known.word()).collect();
                write!(f, "hook_event_name `{}` is not known: there are {}", name.as_str(), known.join(", "))
            }
            Self::Missing { event, member } => write!(f, "{member} is missing: {event} has to name it"),
        }
    }
}

impl std::error::Error for InvalidHook {}

/// What is read of an event; everything else is passed over.
#[derive(Debug, Deserialize)]
struct Members<'a> {
    #[serde(borrow)]
    hook_event_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    prompt_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    turn_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    agent_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_response: Option<&'a RawValue>,
    error: Option<String>,
    #[serde(default)]
    is_interrupt: Option<bool>,
    duration_ms: Option<f64>,
    stop_hook_active: Option<bool>,
    last_assistant_message: Option<String>,
    #[serde(borrow)]
    source: Option<Cow<'a, str>>,
}

/// A call that an event is about.
#[derive(Debug)]
pub(super) struct ToolUse<'a> {
    pub(super) name: &'a str,
    pub(super) id: &'a str,
    /// The arguments as JSON, as they came; empty for none.
    pub(super) input: &'a str,
}

/// One event of a hook.
#[derive(Debug)]
pub struct HookEvent<'a> {
    pub(super) name: EventName,
    members: Members<'a>,
}

impl<'a> HookEvent<'a> {
    /// Reads an event.
    ///
    /// # Errors
    /// Where it is no event that is known, or lacks what it has to name.
    pub fn read(json: &'a [u8]) -> Result<Self, InvalidHook> {
        let members: Members<'a> = serde_json::from_slice(json).map_err(|error| InvalidHook::Unreadable {
            is_json: error.is_data(),
            line: error.line(),
            column: error.column(),
        })?;
        let missing = |event, member| InvalidHook::Missing { event, member };
        let name = members.hook_event_name.as_deref().ok_or(missing("a hook", "hook_event_name"))?;
        let name =
            EventName::from_word(name).ok_or_else(|| InvalidHook::UnknownEvent(SafeText::cut(name, NAME_SHOWN_MAX)))?;
        let is_there = |member: &Option<Cow<'_, str>>| member.as_deref().is_some_and(|text| !text.is_empty());
        if !is_there(&members.session_id) {
            return Err(missing(name.word(), "session_id"));
        }
        let is_of_call = match name {
            EventName::PreToolUse
            | EventName::PostToolUse
            | EventName::PostToolUseFailure
            | EventName::PermissionDenied => true,
            EventName::UserPromptSubmit
            | EventName::PostToolBatch
            | EventName::PermissionRequest
            | EventName::Stop
            | EventName::StopFailure
            | EventName::SubagentStart
            | EventName::SubagentStop
            | EventName::PreCompact
            | EventName::PostCompact
            | EventName::SessionStart
            | EventName::SessionEnd
            | EventName::Notification => false,
        };
        if is_of_call && !is_there(&members.tool_name) {
            return Err(missing(name.word(), "tool_name"));
        }
        if is_of_call && !is_there(&members.tool_use_id) {
            return Err(missing(name.word(), "tool_use_id"));
        }
        Ok(Self { name, members })
    }

    /// The agent run.
    #[must_use]
    pub fn session(&self) -> &str {
        self.members.session_id.as_deref().unwrap_or_default()
    }

    /// The tool that is about to be called; none where the event is another.
    #[must_use]
    pub fn tool_before_call(&self) -> Option<&str> {
        self.members.tool_name.as_deref().filter(|_| self.name == EventName::PreToolUse)
    }

    /// What the user asked for: the prompt, or the turn that it began; empty where the program does not say.
    pub(super) fn task(&self) -> &str {
        let Members { prompt_id, turn_id, .. } = &self.members;
        prompt_id.as_deref().or(turn_id.as_deref()).unwrap_or_default()
    }

    /// The sub-agent; empty for the main one.
    pub(super) fn lane(&self) -> &str {
        self.members.agent_id.as_deref().unwrap_or_default()
    }

    pub(super) fn tool(&self) -> ToolUse<'_> {
        let Members { tool_name, tool_use_id, tool_input, .. } = &self.members;
        ToolUse {
            name: tool_name.as_deref().unwrap_or_default(),
            id: tool_use_id.as_deref().unwrap_or_default(),
            input: tool_input.map_or("", RawValue::get),
        }
    }

    /// What the tool answered: the text of a string, else JSON as it came.
    pub(super) fn response(&self) -> Cow<'_, str> {
        let raw = self.members.tool_response.map_or("", RawValue::get);
        match serde_json::from_str::<Cow<'_, str>>(raw) {
            Ok(text) => text,
            Err(_) => Cow::Borrowed(raw),
        }
    }

    /// What the program says of a failed call.
    pub(super) fn error(&self) -> &str {
        self.members.error.as_deref().unwrap_or_default()
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.members.is_interrupt == Some(true)
    }

    pub(super) fn duration_ms(&self) -> Option<u64> {
        self.members.duration_ms.filter(|ms| ms.is_finite() && *ms >= 0.0).map(|ms| ms as u64)
    }

    /// The model goes on because a hook sent its answer back.
    pub(super) fn is_sent_back(&self) -> bool {
        self.members.stop_hook_active == Some(true)
    }

    pub(super) fn last_message(&self) -> &str {
        self.members.last_assistant_message.as_deref().unwrap_or_default()
    }

    pub(super) fn source(&self) -> &str {
        self.members.source.as_deref().unwrap_or_default()
    }
}
