//! What is told, asked for and brought back in a session, as far as it matters to what becomes of a trip.

use super::Label;
use crate::domain::contract::{Action, NamedFallback, Observed, Trip};
use crate::domain::ids::{Code, HashKey, HashTag, SafeText};
use crate::domain::session::flight::FollowedCall;
use crate::domain::time::Timestamp;

/// One call by what it is. All hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CallKey {
    /// The tool.
    pub tool: u64,
    /// The target.
    pub target: u64,
    /// The canonical arguments; a number of its own where they are not known.
    pub arguments: u64,
    /// The query identity.
    pub identity: u64,
}

/// Where a contract sends a model: a name that may be a tool's or a target's, hashed as both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Way {
    /// As a tool.
    pub tool: u64,
    /// As a target.
    pub target: u64,
}

/// When and where in a session something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Moment {
    /// The sub-agent, hashed; 0 for the main one.
    pub lane: u64,
    /// The model step in the lane.
    pub step: u32,
    /// The time.
    pub at: Timestamp,
}

/// A contract that is told.
#[derive(Clone, Debug)]
pub struct Telling {
    /// Of which breaker and signal, in which wording.
    pub label: Label,
    /// What it asks for.
    pub action: Action,
    /// The breaker's key; 0 for a session guard.
    pub breaker: u64,
    /// The call.
    pub call: CallKey,
    /// Where it sends the model: the fallback it names, the escalation tool.
    pub ways: Vec<Way>,
    /// The N of `reduce_payload`.
    pub max_argument_bytes: Option<u32>,
    /// The time it gives; none: until the task or session ends.
    pub until: Option<Timestamp>,
    /// The context epoch.
    pub epoch: u32,
    /// When, and in which step.
    pub moment: Moment,
    /// The text, hashed; 0 for none.
    pub text: u64,
    /// It came with a result: in its place, or under it.
    pub is_of_result: bool,
}

impl Way {
    fn to(name: &str, target: &str, keys: &HashKey) -> Self {
        Self { tool: keys.hash(HashTag::Tool, name.as_bytes()), target: keys.hash(HashTag::Target, target.as_bytes()) }
    }
}

impl Telling {
    /// A refusal that is told in a wording, of a call.
    #[must_use]
    pub fn of(
        trip: &Trip,
        variant: Code,
        call: &FollowedCall,
        is_of_result: bool,
        (keys, at): (&HashKey, Timestamp),
    ) -> Self {
        let contract = &trip.contract;
        let is_guards = matches!(&contract.observed, Observed::Session(figures) if figures.guard_code().is_some());
        let breaker = if is_guards { 0 } else { keys.hash(HashTag::Code, contract.breaker.as_str().as_bytes()) };
        let way = |fallback: &NamedFallback| {
            let name = fallback.name.as_str();
            Way::to(name, fallback.target.as_ref().map_or(name, |target| target.as_str()), keys)
        };
        let FollowedCall { key: call, lane, step } = *call;
        Self {
            label: Label { breaker: contract.breaker.clone(), signal: contract.row.signal, variant },
            action: contract.row.action,
            breaker,
            call,
            ways: contract.fallback.iter().map(way).collect(),
            max_argument_bytes: contract.max_argument_bytes,
            until: trip.retry_at,
            epoch: 0,
            text: 0,
            moment: Moment { lane, step, at },
            is_of_result,
        }
    }

    /// The same, in a session that names a tool to escalate to: it is as good as no further call.
    #[must_use]
    pub fn or_escalate_to(mut self, tool: Option<&SafeText>, keys: &HashKey) -> Self {
        if matches!(self.action, Action::StopAndEscalate | Action::HaltWithPartialFindings) {
            self.ways.extend(tool.map(|tool| Way::to(tool.as_str(), tool.as_str(), keys)));
        }
        self
    }
}

/// A call that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct NextCall {
    /// The call.
    pub key: CallKey,
    /// The size of its arguments, where it is known.
    pub argument_bytes: Option<u32>,
    /// The context epoch.
    pub epoch: u32,
    /// Its lane.
    pub lane: u64,
    /// Its step.
    pub step: u32,
    /// Now.
    pub at: Timestamp,
}

/// A usable result.
#[derive(Clone, Copy, Debug)]
pub struct UsableResult {
    /// Of which call.
    pub key: CallKey,
    /// The breaker that let it through.
    pub breaker: u64,
    /// The lane and step of the call.
    pub moment: Moment,
}
