//! One call as the session's gates see it: hashes, closed words and times. Arguments and payloads never come here.
//!
//! Every hash is keyed and made outside; 0 stands for "none".

use crate::domain::contract::session::Refuser;
use crate::domain::ids::SafeText;
use crate::domain::observation::Observation;
use crate::domain::signal::CircuitKind;
use crate::domain::time::Timestamp;
use crate::domain::tool::{Effect, Poll};

/// A tool: its hashed name and the name as the model knows it.
#[derive(Clone, Copy, Debug)]
pub struct ToolName<'a> {
    /// The hash by which it is known.
    pub id: u64,
    /// The name; kept, where it is kept, within the bound of a name.
    pub name: &'a str,
}

/// The calls of one turn. A caller that gives every turn's wave the same id is told apart by the turn; two sub-agents
/// that count alike, by the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Wave {
    /// The sub-agent, hashed; 0 for the main one.
    pub lane: u64,
    /// The hashed wave id.
    pub id: u64,
    /// The turn; 0 where the caller sends none.
    pub turn: u64,
}

/// What is asked before a call.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The tool.
    pub tool: ToolName<'a>,
    /// What was to be called, as the caller named it: the contract's `target`.
    pub target: &'a SafeText,
    /// The canonical arguments, hashed.
    pub arguments: u64,
    /// The wave, where the caller says it.
    pub wave: Option<Wave>,
    /// The call's own name (session, call id), hashed; the same for every attempt.
    pub call: u64,
    /// The number of the permit that it would get: names its place.
    pub place: u64,
    /// When that permit's lease ends.
    pub lease_ends: Timestamp,
    /// The idempotency key, hashed; 0 for none.
    pub idempotency_key: u64,
    /// The user said yes to exactly this call.
    pub is_approved: bool,
    /// The target's circuit would give this call a half-open probe.
    pub may_probe: bool,
    /// Tools to turn to, the configured one first, that the breakers let through now.
    pub alternatives: &'a [ToolName<'a>],
    /// Now.
    pub now: Timestamp,
}

/// What is reported of a call.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The tool.
    pub tool: ToolName<'a>,
    /// What was called, as the caller named it.
    pub target_name: &'a SafeText,
    /// The same, hashed.
    pub target: u64,
    /// The canonical arguments, hashed.
    pub arguments: u64,
    /// The query identity, hashed (see [`super::identity`]).
    pub identity: u64,
    /// What this call is to find out, hashed; 0 for none.
    pub purpose: u64,
    /// The wave, where the caller says it.
    pub wave: Option<Wave>,
    /// The task in which it was asked for, hashed; 0 where the caller says none: the present one.
    pub task: u64,
    /// The place that its permit took.
    pub place: u64,
    /// The idempotency key, hashed; 0 for none.
    pub idempotency_key: u64,
    /// May it be cited?
    pub observation: Observation,
    /// The fingerprint of a failed or empty terminal result, hashed.
    pub fingerprint: Option<u64>,
    /// A usable result, normalised and hashed.
    pub result: Option<u64>,
    /// The circuit that it counts against.
    pub kind: Option<CircuitKind>,
    /// What the call does to the world.
    pub effect: Effect,
    /// The target answered well.
    pub is_success: bool,
    /// The tool keeps notes or memory: its writes change nothing that is asked about.
    pub is_note: bool,
    /// A second or later attempt of a call whose first was reported.
    pub is_silent_retry: bool,
    /// It was refused by us, or a text of ours came back.
    pub is_ours: bool,
    /// The user or the host refused it.
    pub refused_by: Option<Refuser>,
    /// The circuit speaks of it: the call was a half-open probe, or the circuit is not closed after this report.
    pub is_held_by_circuit: bool,
    /// It was sent, and the reply was lost: a time limit after dispatch, a broken stream.
    pub is_reply_lost: bool,
    /// Whether the tool may answer the same for a while.
    pub poll: Option<Poll>,
    /// The tool that tells whether a write of this one happened.
    pub read_tool: Option<ToolName<'a>>,
    /// Tools to turn to, the configured one first, that the breakers let through now.
    pub alternatives: &'a [ToolName<'a>],
    /// When it was sent.
    pub sent_at: Timestamp,
    /// Now.
    pub now: Timestamp,
}

impl Report<'_> {
    /// Whether it changed what is asked about.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.is_success && self.effect == Effect::Mutate && !self.is_note
    }

    /// The target that a failure counts against, where it carries a target signal.
    #[must_use]
    pub fn signalled_target(&self) -> Option<u64> {
        self.kind.map(|_| self.target).filter(|target| *target != 0)
    }
}
