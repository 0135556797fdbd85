//! A call between its admission and its report, and what the report brings.

use super::call::{Report, ToolName, Wave};
use crate::domain::behaviour::telling::CallKey;
use crate::domain::contract::session::Refuser;
use crate::domain::ids::SafeText;
use crate::domain::observation::{Observation, Typing};
use crate::domain::time::Timestamp;
use crate::domain::tool::{Effect, Tool};

/// A call between its admission and its report.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct InFlight {
    /// The tool, hashed.
    pub tool: u64,
    /// The tool as the model knows it.
    pub tool_name: Box<str>,
    /// What was called, as contracts show it.
    pub target_name: SafeText,
    /// What was called, hashed.
    pub target: u64,
    /// The canonical arguments, hashed.
    pub arguments: u64,
    /// The query identity, hashed.
    pub identity: u64,
    /// What it is to find out, hashed.
    pub purpose: u64,
    /// The sub-agent, hashed; 0 for the main one.
    pub lane: u64,
    /// The model step in its lane, as it is counted.
    pub step: u32,
    /// Its wave.
    pub wave: Option<Wave>,
    /// The model step.
    pub turn: Option<u32>,
    /// The task, as it is numbered.
    pub task: u32,
    /// The idempotency key, hashed.
    pub idempotency_key: u64,
    /// What it does.
    pub effect: Effect,
    /// Which try it is.
    pub attempt: u32,
    /// It is a half-open probe.
    pub is_probe: bool,
    /// When it was admitted.
    pub sent_at: Timestamp,
}

/// What a report of a session's call is made of beside what the call said of itself.
#[derive(Clone, Copy, Debug)]
pub struct Came<'a> {
    /// What the result is; none where the caller judged itself.
    pub typing: Option<&'a Typing>,
    /// What is known of the tool.
    pub tool: &'a Tool,
    /// The breaker that let it through.
    pub breaker: u64,
    /// The fingerprint of a failed or empty result, hashed.
    pub fingerprint: Option<u64>,
    /// A usable result, hashed.
    pub result: Option<u64>,
    /// The target answered well.
    pub is_success: bool,
    /// Who refused the call.
    pub refused_by: Option<Refuser>,
    /// A circuit speaks of it.
    pub is_held_by_circuit: bool,
    /// It was sent, and the reply was lost.
    pub is_reply_lost: bool,
    /// The tool that tells whether a write happened.
    pub read_tool: Option<ToolName<'a>>,
    /// Tools to turn to that can be called now.
    pub alternatives: &'a [ToolName<'a>],
    /// The body, for the ids in it.
    pub payload: Option<&'a [u8]>,
    /// The caller cut it.
    pub is_cut_by_caller: bool,
    /// It is about to be made again in silence: the last try alone is evidence.
    pub is_retried: bool,
    /// Now.
    pub now: Timestamp,
}

/// A call by what tells that it is made again, and where in its session it was.
#[derive(Clone, Copy, Debug)]
pub struct FollowedCall {
    /// What it is.
    pub key: CallKey,
    /// The sub-agent, hashed; 0 for the main one.
    pub lane: u64,
    /// The model step.
    pub step: u32,
}

impl InFlight {
    /// What tells that it is made again.
    #[must_use]
    pub const fn key(&self) -> CallKey {
        let Self { tool, target, arguments, identity, .. } = *self;
        CallKey { tool, target, arguments, identity }
    }

    /// The call as it is followed.
    #[must_use]
    pub const fn followed(&self) -> FollowedCall {
        FollowedCall { key: self.key(), lane: self.lane, step: self.step }
    }

    /// The call and what came of it, as the gates take it.
    #[must_use]
    pub fn report<'a>(&'a self, place: u64, came: &Came<'a>) -> Report<'a> {
        let typing = came.typing;
        let is_note = came.tool.role.as_ref().is_some_and(|role| matches!(role.as_str(), "notes" | "memory"));
        Report {
            tool: ToolName { id: self.tool, name: &self.tool_name },
            target_name: &self.target_name,
            target: self.target,
            arguments: self.arguments,
            identity: self.identity,
            purpose: self.purpose,
            wave: self.wave,
            task: self.task.into(),
            place,
            idempotency_key: self.idempotency_key,
            // What the caller judged itself is no observation: it has no payload to be known again by.
            observation: typing.map_or(Observation::Context, |typing| typing.observation),
            fingerprint: came.fingerprint,
            result: came.result,
            kind: typing.and_then(|typing| typing.kind),
            effect: self.effect,
            is_success: came.is_success,
            is_note,
            is_silent_retry: self.attempt > 1,
            is_ours: typing.is_some_and(|typing| typing.is_ours),
            refused_by: came.refused_by,
            is_held_by_circuit: came.is_held_by_circuit || self.is_probe,
            is_reply_lost: came.is_reply_lost,
            poll: came.tool.poll,
            read_tool: came.read_tool,
            alternatives: came.alternatives,
            sent_at: self.sent_at,
            now: came.now,
        }
    }
}
