//! The calls of a run turn by turn, and what was told of each: for people who look at it. Decides nothing.

use std::collections::VecDeque;

use super::{Came, InFlight, Told};
use crate::domain::contract::Trip;
use crate::domain::ids::SafeText;
use crate::domain::observation::Observation;
use crate::domain::signal::{CircuitKind, Signal};
use crate::domain::time::Timestamp;

/// Lines that are kept.
pub const LINES_MAX: usize = 512;
/// Sub-agents that are told apart; the last number stands for all further ones.
pub const LANES_MAX: u8 = 64;
/// The longest tool name in bytes.
const TOOL_BYTES_MAX: usize = 128;

/// One line.
#[derive(Clone, Debug)]
pub struct Line {
    /// The permit that it got; 0 for a refused call.
    place: u64,
    /// The model step.
    pub turn: Option<u32>,
    /// The sub-agent, numbered from 1 as they were first heard of, at most [`LANES_MAX`]; 0 is the main one.
    pub lane: u8,
    /// The tool.
    pub tool: SafeText,
    /// What the result was; none: refused, or not yet reported.
    pub observation: Option<Observation>,
    /// The circuit that it counted against.
    pub kind: Option<CircuitKind>,
    /// The signal of what was told; none: nothing was.
    pub signal: Option<Signal>,
    /// How it was told.
    pub word: LineWord,
    /// When.
    pub at: Timestamp,
}

/// How a line was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineWord {
    /// A permit.
    Permit,
    /// A refusal, before the call or in place of its result.
    Trip,
    /// A contract under the result.
    Steer,
}

/// The lines of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    lines: VecDeque<Line>,
    dropped: u64,
    /// Sub-agents by their hashes, in the order of their numbers.
    lanes: Vec<u64>,
}

impl Timeline {
    /// A call that was let through.
    pub(super) fn admitted(&mut self, place: u64, call: &InFlight) {
        self.push(place, call, (LineWord::Permit, None), call.sent_at);
    }

    /// A call that was refused.
    pub(super) fn refused(&mut self, call: &InFlight, trip: &Trip, now: Timestamp) {
        self.push(0, call, (LineWord::Trip, Some(trip.contract.row.signal)), now);
    }

    fn push(&mut self, place: u64, call: &InFlight, (word, signal): (LineWord, Option<Signal>), at: Timestamp) {
        if self.lines.len() >= LINES_MAX {
            self.lines.pop_front();
            self.dropped += 1;
        }
        let (turn, lane) = (call.turn, self.lane(call.lane));
        let tool = SafeText::cut(&call.tool_name, TOOL_BYTES_MAX);
        self.lines.push_back(Line { place, turn, lane, tool, observation: None, kind: None, signal, word, at });
    }

    /// The number of a sub-agent.
    fn lane(&mut self, lane: u64) -> u8 {
        if lane == 0 {
            return 0;
        }
        let known = self.lanes.iter().position(|known| *known == lane);
        let place = known.unwrap_or(self.lanes.len());
        if known.is_none() && place + 1 < usize::from(LANES_MAX) {
            self.lanes.push(lane);
        }
        u8::try_from(place + 1).unwrap_or(LANES_MAX)
    }

    /// What a call came to, on its line, where that is still kept. Answers how it was told.
    pub(super) fn came(&mut self, place: u64, came: &Came<'_>, told: &Told) -> LineWord {
        let (word, trip) = match told {
            Told::Nothing => (LineWord::Permit, None),
            Told::Steer(trip) => (LineWord::Steer, Some(trip)),
            Told::Trip(trip) => (LineWord::Trip, Some(trip)),
        };
        if let Some(line) = self.lines.iter_mut().rev().find(|line| line.place == place) {
            line.observation = came.typing.map(|typing| typing.observation);
            line.kind = came.typing.and_then(|typing| typing.kind);
            line.signal = trip.map(|trip| trip.contract.row.signal);
            line.word = word;
        }
        word
    }

    /// The lines, oldest first, and how many were dropped before them.
    pub(super) fn lines(&self) -> (impl Iterator<Item = &Line>, u64) {
        (self.lines.iter(), self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_agents_are_numbered_as_they_are_first_heard_of_and_the_last_number_is_shared() {
        let mut timeline = Timeline::default();
        assert_eq!([0, 7, 9, 7, 0].map(|lane| timeline.lane(lane)), [0, 1, 2, 1, 0]);
        let numbers: Vec<u8> = (100..1_000).map(|lane| timeline.lane(lane)).collect();
        assert_eq!(numbers[..3], [3, 4, 5]);
        assert_eq!(numbers[61..].iter().collect::<std::collections::BTreeSet<_>>().len(), 1);
        assert_eq!((numbers.last(), timeline.lanes.len()), (Some(&LANES_MAX), 63));
    }
}
