//! What one session's host saw: calls in the order in which they were asked for, and what came of them in its own. The truth is worked out from it.

use super::world::Question;
use crate::wire::pb;

/// One tool call that an agent asked for.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The model step.
    pub(super) turn: u32,
    /// When it was asked for, on the clock of the run.
    pub(super) at_ms: u64,
    /// What it asks.
    pub(super) question: Question,
    /// What it calls.
    pub(super) target: String,
    /// The context epoch.
    pub(super) epoch: u32,
    /// The breaker that let it through. Empty: none did.
    pub(super) breaker: String,
}

/// A contract that was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Of which breaker.
    pub(super) breaker: String,
    /// For which trouble.
    pub(super) signal: pb::Signal,
    /// In which wording.
    pub(super) variant: String,
    /// What it asks for.
    pub(super) action: pb::Action,
    /// Where it sends the model: a tool or a target. Empty: nowhere.
    pub(super) fallback: [String; 2],
    /// Until when it holds, on the clock of the run. None: until the session ends.
    pub(super) until_ms: Option<u64>,
    /// It came with a result and not in place of a call.
    pub(super) is_at_report: bool,
}

/// One thing that was seen. A call is named by its place.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    /// A contract.
    Told(usize, Told),
    /// A usable result.
    Usable(usize),
}

/// How a session was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Close {
    /// As what.
    pub(super) outcome: pb::SessionOutcome,
    /// Whether its task was achieved, where that was said.
    pub(super) success: Option<bool>,
}

/// One session.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// Its calls, in the order in which they were asked for.
    pub(super) calls: Vec<Call>,
    /// What was seen of them.
    pub(super) seen: Vec<Seen>,
}
