//! What all sessions came to under one policy. Adds courses up; sums do not depend on who played them.

use std::collections::BTreeMap;

use super::course::{Course, PerSignal, PerWord, Word, has};
use super::session::PlayedSession;
use crate::domain::behaviour::figures as behaviour;
use crate::domain::ids::SafeText;
use crate::domain::signal::Signal;
use crate::engine::behaviour::Behaviour;

/// Tools that are counted apart; calls of any others are counted together.
pub const TOOLS_MAX: usize = 1_000;
/// Sessions that are listed because something was said in them.
pub const LISTED_MAX: usize = 200;
/// Parts of a session in which a guard may speak first.
pub const PARTS: usize = 10;
/// Lengths of sessions: 0, 1, 2, 3 to 4, 5 to 8, and so on; the last holds all longer ones.
pub const LENGTHS: usize = 13;
/// Bytes of a tool's name as it is shown.
const TOOL_BYTES_MAX: usize = 128;

/// Sessions by what became of the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByLabel {
    /// Those that succeeded.
    pub successful: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those of which nobody said it.
    pub unlabelled: u64,
}

impl ByLabel {
    /// All of them.
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.successful + self.failed + self.unlabelled
    }

    const fn add(&mut self, success: Option<bool>) {
        match success {
            Some(true) => self.successful += 1,
            Some(false) => self.failed += 1,
            None => self.unlabelled += 1,
        }
    }
}

/// What one guard said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuardFigures {
    /// To how many calls.
    pub calls: PerWord<u64>,
    /// In how many sessions.
    pub sessions: PerWord<ByLabel>,
}

/// What was said to the calls of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolFigures {
    /// Its calls.
    pub calls: u64,
    /// Those that something was said to.
    pub words: PerWord<u64>,
}

/// A session in which something was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Which.
    pub session: PlayedSession,
    /// How it went.
    pub course: Course,
}

/// All sessions under one policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// All.
    pub sessions: ByLabel,
    /// Calls in them, and outside of any.
    pub calls: u64,
    /// Calls that belong to no session.
    pub calls_without_session: u64,
    /// Sessions in which a word was said.
    pub told: PerWord<ByLabel>,
    /// Results that could have been cited, behind the first word of a session.
    pub usable_after: u64,
    /// By guard.
    pub guards: PerSignal<GuardFigures>,
    /// What models did with what they would have been told.
    pub behaviour: Behaviour,
    /// By the length of sessions.
    pub lengths: [ByLabel; LENGTHS],
    /// By the part of its session in which a guard spoke first.
    pub spoke_first: [PerWord<u64>; PARTS],
    /// By tool.
    pub tools: BTreeMap<SafeText, ToolFigures>,
    /// Calls of tools beyond those.
    pub other_tools: u64,
    /// The first sessions in which something was said.
    pub listed: Vec<Listed>,
}

impl Figures {
    /// Sessions that were halted although they succeeded.
    #[must_use]
    pub const fn false_halts(&self) -> u64 {
        self.told.at(Word::Halted).successful
    }

    /// What models did with what a guard would have told them, over all breakers and wordings.
    #[must_use]
    pub fn followed(&self, signal: Signal) -> behaviour::Figures {
        let mut sum = behaviour::Figures::default();
        let parts = self.behaviour.parts.iter().filter(|(part, _)| part.signal == Some(signal));
        parts.for_each(|(_, figures)| sum.merge(figures));
        sum
    }

    /// Adds one session.
    pub(crate) fn add(&mut self, session: &PlayedSession, course: &Course) {
        self.add_calls(course);
        if !session.is_named {
            self.calls_without_session += course.calls;
            return;
        }
        self.sessions.add(session.success);
        for word in Word::ALL.iter().filter(|word| course.has(**word)) {
            self.told.at_mut(*word).add(session.success);
        }
        for (signal, words) in course.guards.iter() {
            let Some(guard) = self.guards.at_mut(signal) else { continue };
            for word in Word::ALL.iter().filter(|word| has(signal, words, **word)) {
                guard.sessions.at_mut(*word).add(session.success);
            }
        }
        if let Some(length) = self.lengths.get_mut(length_of(course.calls)) {
            length.add(session.success);
        }
        if let Some(first) = course.first {
            self.usable_after += course.usable_after;
            if let Some(part) = self.spoke_first.get_mut(part_of(first.call, course.calls)) {
                *part.at_mut(first.word) += 1;
            }
            if self.listed.len() < LISTED_MAX {
                self.listed.push(Listed { session: session.clone(), course: course.clone() });
            }
        }
    }

    fn add_calls(&mut self, course: &Course) {
        self.calls += course.calls;
        self.other_tools += course.uncounted;
        for (signal, words) in course.guards.iter() {
            let Some(guard) = self.guards.at_mut(signal) else { continue };
            for word in Word::ALL {
                *guard.calls.at_mut(*word) += words.at(*word);
            }
        }
        for tool in &course.tools {
            let name = SafeText::cut(&tool.name, TOOL_BYTES_MAX);
            if self.tools.len() >= TOOLS_MAX && !self.tools.contains_key(&name) {
                self.other_tools += tool.calls;
                continue;
            }
            let sum = self.tools.entry(name).or_default();
            sum.calls += tool.calls;
            for word in Word::ALL {
                *sum.words.at_mut(*word) += tool.words.at(*word);
            }
        }
    }
}

/// The place of a length among [`LENGTHS`].
fn length_of(calls: u64) -> usize {
    let doublings = calls.saturating_sub(1).checked_ilog2().map_or(0, |log| log as usize + 1);
    let place = if calls == 0 { 0 } else { doublings + 1 };
    place.min(LENGTHS - 1)
}

/// The lengths at a place among [`LENGTHS`], by the longest of them.
#[must_use]
pub fn length_text(place: usize) -> String {
    let most = |place: usize| 1_u64 << place.saturating_sub(1).min(63);
    match place {
        0..=2 => place.to_string(),
        place if place + 1 == LENGTHS => format!("> {}", most(place - 1)),
        place => format!("≤ {}", most(place)),
    }
}

/// The place among [`PARTS`] of a call, counted from 1, of so many.
fn part_of(call: u64, calls: u64) -> usize {
    let part = call.saturating_sub(1).saturating_mul(PARTS as u64).checked_div(calls).unwrap_or(0);
    usize::try_from(part).unwrap_or(PARTS).min(PARTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_has_the_place_that_its_text_says() {
        let table = [(0, "0"), (1, "1"), (2, "2"), (3, "≤ 4"), (4, "≤ 4"), (5, "≤ 8"), (8, "≤ 8"), (9, "≤ 16")];
        let long = [(1_024, "≤ 1024"), (1_025, "> 1024"), (100_000, "> 1024"), (u64::MAX, "> 1024")];
        for (calls, text) in table.into_iter().chain(long) {
            assert_eq!(length_text(length_of(calls)), text, "{calls}");
        }
    }

    #[test]
    fn a_session_has_ten_parts_whatever_its_length() {
        let table = [(1, 1, 0), (1, 2, 0), (2, 2, 5), (10, 10, 9), (1, 100, 0), (11, 100, 1), (100, 100, 9)];
        for (call, calls, part) in table {
            assert_eq!(part_of(call, calls), part, "call {call} of {calls}");
        }
    }
}
