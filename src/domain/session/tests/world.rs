//! A small world of calls, for histories drawn at random.

use proptest::prelude::*;

use super::super::call::{Report, ToolName, Wave};
use crate::domain::ids::SafeText;
use crate::domain::observation::Observation;
use crate::domain::signal::CircuitKind;
use crate::domain::time::Timestamp;
use crate::domain::tool::{Effect, Poll};

const NAMES: [&str; 5] = ["none", "alpha", "beta", "gamma", "delta"];
/// Tools of this world are 1 to 4; the last one is a declared poll.
pub(super) const TOOLS: std::ops::RangeInclusive<u64> = 1..=4;

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Result {
    Empty,
    Error(u64),
    /// With a target signal.
    Down(u64),
    Usable(u64),
    Context,
    Written,
    Note,
    Ours,
}

/// One reported call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) tool: u64,
    pub(super) arguments: u64,
    pub(super) purpose: u64,
    pub(super) target: u64,
    pub(super) result: Result,
    pub(super) wave: Option<u64>,
    pub(super) is_retry: bool,
    pub(super) is_held: bool,
    pub(super) now: u64,
}

impl Call {
    /// Two wordings ask the same.
    pub(super) const fn identity(&self) -> u64 {
        self.arguments / 2 + 1
    }

    /// The fingerprint holds the tool, the state and the signal.
    pub(super) const fn fingerprint(&self) -> Option<u64> {
        match self.result {
            Result::Empty => Some(self.tool * 100),
            Result::Error(text) => Some(self.tool * 100 + 10 + text),
            Result::Down(text) => Some(self.tool * 100 + 20 + text),
            Result::Usable(_) | Result::Context | Result::Written | Result::Note | Result::Ours => None,
        }
    }

    pub(super) const fn observation(&self) -> Observation {
        match self.result {
            Result::Empty => Observation::Empty,
            Result::Error(_) | Result::Ours => Observation::Error,
            Result::Down(_) => Observation::Unavailable,
            Result::Usable(_) | Result::Written => Observation::Observed,
            Result::Context | Result::Note => Observation::Context,
        }
    }

    pub(super) const fn poll(&self) -> Option<Poll> {
        if self.tool == 4 { Some(Poll { every_ms: 1_000, up_to_ms: 20_000 }) } else { None }
    }

    pub(super) fn report<'a>(&self, name: &'a SafeText) -> Report<'a> {
        let at = usize::try_from(self.tool).unwrap_or_default() % NAMES.len();
        Report {
            tool: ToolName { id: self.tool, name: NAMES[at] },
            target_name: name,
            target: self.target,
            arguments: self.arguments + 1,
            identity: self.identity(),
            purpose: self.purpose,
            wave: self.wave.map(|id| Wave { lane: 0, id, turn: 0 }),
            task: 0,
            place: 0,
            idempotency_key: 0,
            observation: self.observation(),
            fingerprint: self.fingerprint(),
            result: if let Result::Usable(text) = self.result { Some(text + 1) } else { None },
            kind: matches!(self.result, Result::Down(_)).then_some(CircuitKind::ErrorRate),
            effect: if matches!(self.result, Result::Written | Result::Note) { Effect::Mutate } else { Effect::Read },
            is_success: !matches!(self.result, Result::Error(_) | Result::Down(_) | Result::Ours),
            is_note: self.result == Result::Note,
            is_silent_retry: self.is_retry,
            is_ours: self.result == Result::Ours,
            refused_by: None,
            is_held_by_circuit: self.is_held,
            is_reply_lost: false,
            poll: self.poll(),
            read_tool: None,
            alternatives: &[],
            sent_at: Timestamp(self.now),
            now: Timestamp(self.now),
        }
    }
}

pub(super) fn any_result() -> impl Strategy<Value = Result> {
    prop_oneof![
        8 => Just(Result::Empty),
        6 => (0..3_u64).prop_map(Result::Error),
        6 => (0..3_u64).prop_map(Result::Down),
        4 => (0..2_u64).prop_map(Result::Usable),
        1 => Just(Result::Context),
        1 => Just(Result::Written),
        1 => Just(Result::Note),
        1 => Just(Result::Ours),
    ]
}

pub(super) fn any_call() -> impl Strategy<Value = Call> {
    let names = (TOOLS, 0..6_u64, prop_oneof![6 => Just(0_u64), 1 => Just(1_u64)], 1..=2_u64);
    (names, any_result(), proptest::bool::weighted(0.1), proptest::bool::weighted(0.1)).prop_map(
        |((tool, arguments, purpose, target), result, is_retry, is_held)| Call {
            tool,
            arguments,
            purpose,
            target,
            result,
            wave: None,
            is_retry,
            is_held: is_held && matches!(result, Result::Down(_)),
            now: 0,
        },
    )
}

/// One thing that happens to a ledger.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Report(Call),
    Admit { tool: u64, may_probe: bool },
    Recovered(u64),
    Epoch,
    Task,
}

/// A history whose waves follow one another, with time going on.
pub(super) fn any_history(len: usize) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        20 => (any_call(), prop_oneof![2 => Just(None), 3 => (0..3_u64).prop_map(Some)]).prop_map(|(call, back)| {
            Op::Report(Call { wave: back, ..call })
        }),
        3 => (TOOLS, any::<bool>()).prop_map(|(tool, may_probe)| Op::Admit { tool, may_probe }),
        2 => (1..=2_u64).prop_map(Op::Recovered),
        1 => Just(Op::Epoch),
    ];
    let op = prop_oneof![60 => op, 1 => Just(Op::Task)];
    proptest::collection::vec(op, 1..len).prop_map(|mut ops| {
        for (at, op) in ops.iter_mut().enumerate() {
            if let Op::Report(call) = op {
                let at = at as u64;
                call.now = at * 1_500;
                // A wave takes six steps or so, and the calls of the last ones come late.
                call.wave = call.wave.map(|back| (at / 6 + 3) - u64::from(back == 2));
            }
        }
        ops
    })
}

/// The target of a failure that carries a target signal, else 0.
pub(super) fn signalled(call: &Call) -> u64 {
    if matches!(call.result, Result::Down(_)) { call.target } else { 0 }
}

pub(super) fn is_failure(call: &Call) -> bool {
    matches!(call.result, Result::Error(_) | Result::Down(_))
}

/// A history, a line a step.
pub(super) fn listed(history: &[Op]) -> String {
    history.iter().enumerate().map(|(at, op)| format!("\n{at}: {op:?}")).collect()
}
