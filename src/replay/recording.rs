//! What was recorded of one agent run: its calls in their order, each with the result that the model was given.
//!
//! Borrows from the text that it was read from. Knows neither that text's format nor what would be answered today.

use std::borrow::Cow;

use super::fault::Wrong;
use crate::domain::behaviour::SessionOutcome;
use crate::domain::ids::{InvalidTarget, TARGET_BYTES_MAX, TargetName};
use crate::domain::tool::Effect;

/// The most calls of one session.
pub const CALLS_MAX: usize = 100_000;
/// The longest name of a session in bytes, as the service takes it.
pub(crate) const SESSION_BYTES_MAX: usize = crate::wire::invalid::NAME_BYTES_MAX;

/// One recorded session.
#[derive(Debug)]
pub(crate) struct Recording<'a> {
    /// Its name; none where the recording gives it none.
    pub(crate) name: Option<Cow<'a, str>>,
    /// Whether the work succeeded; none where nobody said.
    pub(crate) success: Option<bool>,
    /// How it ended.
    pub(crate) outcome: SessionOutcome,
    /// In order; calls of one step stand together.
    pub(crate) calls: Vec<RecordedCall<'a>>,
}

/// One recorded tool call.
#[derive(Debug)]
pub(crate) struct RecordedCall<'a> {
    /// The model step, counted from 1; the calls of one step are a wave.
    pub(crate) step: u32,
    /// The request of the user that it worked on, counted from 0.
    pub(crate) task: u32,
    /// The tool as the model knows it.
    pub(crate) tool: Cow<'a, str>,
    /// What was called: the tool, as a target.
    pub(crate) target: TargetName,
    /// JSON, as the model wrote it; empty where it is not recorded.
    pub(crate) arguments: Cow<'a, str>,
    /// What it does; none: what is known of the tool.
    pub(crate) effect: Option<Effect>,
    /// What came of it; none where the recording ends before.
    pub(crate) result: Option<RecordedResult<'a>>,
}

/// One recorded result.
#[derive(Debug)]
pub(crate) struct RecordedResult<'a> {
    /// The body as the model got it.
    pub(crate) body: Cow<'a, str>,
    /// The recording itself says that the call failed: then `body` is a result of the Model Context Protocol.
    pub(crate) is_flagged: bool,
}

impl<'a> RecordedCall<'a> {
    /// A call of a tool of which nothing else is known yet.
    pub(crate) fn of_tool(tool: Cow<'a, str>, step: u32, task: u32) -> Result<Self, Wrong> {
        let target = TargetName::parse(&tool).map_err(|invalid| match invalid {
            InvalidTarget::Empty => Wrong::at("tool", "is empty", "the name of the tool is due"),
            InvalidTarget::TooLong { got } => {
                Wrong::at("tool", format!("has {got} bytes"), format!("at most {TARGET_BYTES_MAX} are taken"))
            }
        })?;
        Ok(Self { step, task, tool, target, arguments: Cow::Borrowed(""), effect: None, result: None })
    }
}

impl<'a> Recording<'a> {
    /// Takes one more call, as long as there is room.
    pub(crate) fn push(&mut self, call: RecordedCall<'a>) -> Result<(), Wrong> {
        if self.calls.len() >= CALLS_MAX {
            let due = "split the session";
            return Err(Wrong::at("", format!("more than {CALLS_MAX} calls stand in one session"), due));
        }
        self.calls.push(call);
        Ok(())
    }
}
