//! What is asked of the engine, and what it answers.

use std::sync::Arc;

use super::calls::Granted;
use super::failure::Step;
use crate::domain::breaker::Acknowledgement;
use crate::domain::contract::render::Rendered;
use crate::domain::contract::session::Refuser;
use crate::domain::contract::{Fields, Trip, Wording};
use crate::domain::failure::attempts::Attempt;
use crate::domain::ids::{Code, SafeText, TargetName};
use crate::domain::observation::transport::TransportFacts;
use crate::domain::observation::{Classification, Handling, RetryHint, Typing};
use crate::domain::signal::Phase;
use crate::domain::time::{Timestamp, WallClock};
use crate::domain::tool::Effect;

/// The arguments of a call, as far as the caller shows them. Hashed on arrival, never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments<'a> {
    /// Not shown.
    Unknown,
    /// As sent.
    Bytes(
        /// JSON.
        &'a [u8],
    ),
    /// Hashed by the caller.
    Digest(
        /// The hash.
        &'a [u8],
    ),
}

/// How a call names itself, for repeats and for reports without a permit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallId<'a> {
    /// Who calls.
    pub caller: &'a str,
    /// The agent run.
    pub session: &'a str,
    /// The call in it.
    pub call: &'a str,
    /// From 1.
    pub attempt: u32,
}

/// One call that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What is called.
    pub target: &'a TargetName,
    /// Whether that is no more than the tool's name, so that its arguments tell things apart.
    pub target_is_tool: bool,
    /// Its own name.
    pub id: CallId<'a>,
    /// Its arguments.
    pub arguments: Arguments<'a>,
    /// Their size, where known.
    pub arguments_bytes: Option<u32>,
    /// The opaque name of the credential; empty for none.
    pub credential: &'a str,
    /// As what its result will be read.
    pub asked_as: AskedAs<'a>,
}

/// What a call says of itself that only its result is read by. Remembered with the call where that has a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskedAs<'a> {
    /// The tool as the model knows it; empty for unknown.
    pub tool_name: &'a str,
    /// What it does; none: what is known of the tool.
    pub effect: Option<Effect>,
    /// Whether its target recognises a repeat.
    pub is_idempotent: bool,
    /// The key by which it does; empty for none.
    pub idempotency_key: &'a str,
    /// The calls of one model step; empty for unknown.
    pub wave: &'a str,
    /// The sub-agent; empty for the main one.
    pub lane: &'a str,
    /// The model step.
    pub turn: Option<u32>,
    /// The request of the user; empty: as before.
    pub task: &'a str,
    /// What it is to find out; empty for none.
    pub purpose: &'a str,
    /// The user said yes to exactly this call.
    pub is_approved: bool,
}

/// A result as it is reported.
#[derive(Debug)]
pub struct Report<'a> {
    /// Of which call.
    pub reported: Reported<'a>,
    /// What came of it.
    pub said: Said<'a>,
    /// How long it took, in milliseconds; none where the caller did not say.
    pub latency_ms: Option<u64>,
    /// What the call was asked as, where that is told again; what is not told is remembered.
    pub asked_as: AskedAs<'a>,
    /// Which try it was; none: as remembered, else the first.
    pub attempt: Option<u32>,
    /// Who refused the call, so that it was never made.
    pub refused_by: Option<Refuser>,
    /// The step that the call was an attempt of, where the tree is to decide what follows a failure.
    pub step: Option<Box<StepOfCall>>,
}

/// The step that a call was an attempt of, with what only its caller knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOfCall {
    /// The step and its binding.
    pub step: Step,
    /// The step may write.
    pub writes: bool,
    /// The step may call tools.
    pub tools_enabled: bool,
    /// What the step reads is still what it read at its first attempt.
    pub snapshot_same: bool,
    /// The caller knows that the reply was lost; the transport facts may say so, too.
    pub effect_unknown: bool,
    /// A policy forbids the step.
    pub policy_denied: bool,
}

/// What came of a call.
#[derive(Debug)]
pub enum Said<'a> {
    /// The caller's own judgement.
    Judged(
        /// What it came to.
        Classification,
        /// The wait that the target asked for.
        Option<RetryHint>,
    ),
    /// What was seen, to be judged here.
    Seen(
        /// The facts.
        Seen<'a>,
    ),
}

/// What was seen of a result.
#[derive(Debug)]
pub struct Seen<'a> {
    /// What the transport said.
    pub transport: TransportFacts,
    /// The body; none where it was not sent along.
    pub payload: Option<&'a [u8]>,
    /// Its media type, where the caller gave one.
    pub content_type: Option<&'a str>,
    /// The call's arguments, as JSON, where they are told again.
    pub arguments: Option<&'a [u8]>,
    /// The caller cut the body.
    pub is_cut_by_caller: bool,
}

impl<'a> Call<'a> {
    /// A call of which nothing but the target is known.
    #[must_use]
    pub fn of_target(target: &'a TargetName) -> Self {
        Self {
            target,
            target_is_tool: false,
            id: CallId::default(),
            arguments: Arguments::Unknown,
            arguments_bytes: None,
            credential: "",
            asked_as: AskedAs::default(),
        }
    }

    /// The target as text.
    #[must_use]
    pub fn target_str(&self) -> &'a str {
        self.target.as_str()
    }
}

/// What a report is of.
#[derive(Clone, Copy, Debug)]
pub enum Reported<'a> {
    /// A permit.
    Permit(
        /// The bytes as handed out.
        &'a [u8],
    ),
    /// A call, by its own name.
    Call(
        /// Its name.
        CallId<'a>,
    ),
}

/// A refusal as it is told.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Everything that programs need.
    pub trip: Arc<Trip>,
    /// The nine fields at this moment.
    pub fields: Fields,
    /// The text for the model.
    pub rendered: Rendered,
    /// Its wording: the session's own, where a session is told.
    pub wording: Wording,
    /// The moment, for relative times.
    pub now: Timestamp,
    /// The wall clock, for absolute ones.
    pub wall: WallClock,
    /// The tools of the session that cannot be called now; at most 16. Empty where it is told to no session, in a peek,
    /// and of a circuit in shadow.
    pub withdraw: Vec<SafeText>,
}

/// The answer to an ask.
#[derive(Clone, Debug)]
pub enum Decision {
    /// The call may be made.
    Permit {
        /// The permit.
        granted: Granted,
        /// How long it lives from now, in milliseconds.
        expires_in_ms: u64,
        /// What a circuit in shadow would have said.
        shadow: Option<Box<Refusal>>,
    },
    /// It may not.
    Trip(
        /// Why.
        Box<Refusal>,
    ),
}

/// The answer to a report.
#[derive(Clone, Debug)]
pub struct ReportAnswer {
    /// What became of it.
    pub acknowledgement: Acknowledgement,
    /// The strictest phase after it.
    pub phase_after: Phase,
    /// What the model gets instead of the raw result.
    pub trip: Option<Box<Refusal>>,
}

/// The answer to a report of a result: what became of it, what it is, who acts.
#[derive(Clone, Debug)]
pub struct Handed {
    /// What became of it.
    pub answer: ReportAnswer,
    /// What the result is; none where the caller judged itself.
    pub typing: Option<Box<Typing>>,
    /// Who acts on it.
    pub handling: Handling,
    /// What a session guard told, in place of the result or under it.
    pub guard: Option<Box<Refusal>>,
    /// What was decided on the failed attempt of a step; none where the tree was not asked.
    pub decided: Option<Arc<Attempt>>,
}

/// What a look at a target finds.
#[derive(Clone, Debug)]
pub enum Peeked {
    /// It can be called.
    Callable {
        /// The breaker's code.
        breaker: Code,
        /// The call would be a probe.
        is_probe: bool,
    },
    /// It cannot.
    Trip(
        /// Why.
        Box<Refusal>,
    ),
}
