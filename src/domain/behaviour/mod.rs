//! Whether the message works: what a model did with the contract that it was told, and the figures of many (spec 06).
//!
//! Pure: no clock, no lock, no I/O. Knows hashes, closed words and times; never arguments, payloads or sessions' names.
//! [`follow`] watches one session's trips until each is concluded and resolved; [`figures`] adds up what came of them.

pub mod figures;
pub mod follow;
mod matching;
pub mod statistics;
pub mod steps;
pub mod telling;

use super::ids::Code;
use super::signal::{Signal, closed_words};
use crate::domain::contract::Action;

closed_words! {
    /// What the first tool call of a later model step made of a contract.
    FirstAction {
        /// What the contract's action asked for.
        Match = "match",
        /// The same call again, before the contract's time.
        Repeat = "repeat",
        /// Neither.
        Other = "other",
        /// No further call: the task or the session ended first.
        None = "none",
    }
}

closed_words! {
    /// How it ended with what had been refused.
    Resolution {
        /// A usable result came from the same breaker, or from the alternative that was named.
        Recovered = "recovered",
        /// The session ended before: halted or escalated, or answered after it had been told to stop.
        Halted = "halted",
        /// The session ended before, in any other way.
        Abandoned = "abandoned",
        /// A new trip of the same breaker and signal took its place.
        Superseded = "superseded",
    }
}

closed_words! {
    /// How a session ended.
    SessionOutcome {
        /// With an answer.
        Answered = "answered",
        /// It was handed to a person.
        Escalated = "escalated",
        /// A guard halted it.
        Halted = "halted",
        /// It was given up, or nothing was heard of it any more.
        Abandoned = "abandoned",
    }
}

/// Of which contracts a figure is.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Label {
    /// The breaker, or the fixed code of a session guard.
    pub breaker: Code,
    /// The class of trouble.
    pub signal: Signal,
    /// The wording that the session was told, by name.
    pub variant: Code,
}

/// What a session had come to under one label before a fact was added: its share of what hangs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cluster {
    /// Concluded trips.
    pub trips: u32,
    /// Of these, with a repeat.
    pub repeated: u32,
    /// Of these, with a first action that matched.
    pub matched: u32,
}

/// What a model did with one contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// Of which contract.
    pub label: Label,
    /// What it asked for.
    pub action: Action,
    /// What the next step made of it.
    pub first_action: FirstAction,
    /// How often the same call was made again before its time.
    pub repeats: u32,
    /// How often its target was called with other arguments before its time, against the action.
    pub ignored: u32,
    /// What the session had come to before, under this signal.
    pub of_signal: Cluster,
    /// The same over all signals of the breaker.
    pub of_breaker: Cluster,
}

/// One thing that became known of a session's trips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A contract was told.
    Told(
        /// Which.
        Label,
        /// What it asked for.
        Action,
    ),
    /// It is known what the model did with it.
    Concluded(
        /// What.
        Box<Conclusion>,
    ),
    /// It is known how it ended with what had been refused.
    Resolved {
        /// Of which contract.
        label: Label,
        /// How.
        resolution: Resolution,
        /// Model steps to the recovery; none unless it recovered.
        turns: Option<u32>,
    },
    /// A session ended.
    Ended(
        /// How.
        Box<SessionEnd>,
    ),
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEnd {
    /// How.
    pub outcome: SessionOutcome,
    /// Whether the task was achieved, where the caller said so.
    pub success: Option<bool>,
    /// Halts that were told in place of results.
    pub halts: u32,
    /// Steers that were told.
    pub steers: u32,
    /// Steers that ended in a halt, whether it was told in place of a result or not.
    pub steer_then_halts: u32,
    /// The labels under which it was told to halt.
    pub halted_by: Vec<Label>,
}
