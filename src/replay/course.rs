//! What one session would have come to under one policy: what guards said, to which calls, and what followed.
//!
//! Counts answers of the engine and asks it nothing.

use crate::domain::observation::Disposition;
use crate::domain::signal::{Signal, closed_words};
use crate::engine::{Decision, Handed};

closed_words! {
    /// What a guard says to a call.
    Word {
        /// A session guard: another route, under the result.
        Steered = "steered",
        /// A session guard: no further on this route, in place of the result.
        Halted = "halted",
        /// A target's guard: its circuit opened, and the contract stands in place of the result.
        Tripped = "tripped",
        /// Any guard: the call is not let through.
        Refused = "refused",
    }
}

/// How many words there are.
pub const WORDS: usize = Word::ALL.len();
/// How many signals there are.
pub const SIGNALS: usize = Signal::ALL.len();
/// Tools of one session that are counted apart.
const TOOLS_MAX: usize = 64;

/// One value for each word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerWord<T>(pub [T; WORDS]);

impl<T> PerWord<T> {
    /// The value of a word.
    pub const fn at(&self, word: Word) -> &T {
        let Self([steered, halted, tripped, refused]) = self;
        match word {
            Word::Steered => steered,
            Word::Halted => halted,
            Word::Tripped => tripped,
            Word::Refused => refused,
        }
    }

    /// The value of a word, to be changed.
    pub const fn at_mut(&mut self, word: Word) -> &mut T {
        let Self([steered, halted, tripped, refused]) = self;
        match word {
            Word::Steered => steered,
            Word::Halted => halted,
            Word::Tripped => tripped,
            Word::Refused => refused,
        }
    }
}

/// One value for each signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerSignal<T>([T; SIGNALS]);

impl<T> PerSignal<T> {
    /// Every signal with its value, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Signal, &T)> {
        Signal::ALL.iter().copied().zip(&self.0)
    }

    /// The value of a signal, to be changed.
    pub fn at_mut(&mut self, signal: Signal) -> Option<&mut T> {
        self.0.get_mut(signal as usize)
    }
}

/// A tool in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolCount {
    pub(crate) name: Box<str>,
    pub(crate) calls: u64,
    pub(crate) words: PerWord<u64>,
}

/// The first word that was said in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    /// The call that it was said to, from 1.
    pub call: u64,
    /// The word.
    pub word: Word,
    /// By which guard.
    pub signal: Signal,
}

/// One session under one policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// Calls.
    pub calls: u64,
    /// Calls that each guard said something to.
    pub guards: PerSignal<PerWord<u64>>,
    /// What was said first; none: nothing was.
    pub first: Option<First>,
    /// Results behind the first word that could have been cited.
    pub usable_after: u64,
    pub(crate) tools: Vec<ToolCount>,
    /// Calls of tools beyond those that are counted apart.
    pub(crate) uncounted: u64,
}

/// A call of a course: its number, from 1, and its tool's place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallAt {
    number: u64,
    tool: usize,
}

impl Course {
    /// A call was asked for.
    pub(crate) fn asked(&mut self, tool: &str, decision: &Decision) -> CallAt {
        self.calls += 1;
        let at = CallAt { number: self.calls, tool: self.place_of(tool) };
        if let Some(tool) = self.tools.get_mut(at.tool) {
            tool.calls += 1;
        } else {
            self.uncounted += 1;
        }
        if let Decision::Trip(refusal) = decision {
            self.said(at, Word::Refused, refusal.trip.contract.row.signal);
        }
        at
    }

    /// A call that had been let through was reported.
    pub(crate) fn reported(&mut self, at: CallAt, handed: &Handed) {
        let is_usable = handed.typing.as_ref().is_some_and(|typing| typing.observation.is_usable());
        self.usable_after += u64::from(is_usable && self.first.is_some());
        let opened = handed.answer.trip.as_ref().map(|opened| (Word::Tripped, opened));
        let word = if handed.handling.disposition == Disposition::Steer { Word::Steered } else { Word::Halted };
        let guarded = handed.guard.as_ref().map(|guard| (word, guard));
        for (word, refusal) in opened.into_iter().chain(guarded) {
            self.said(at, word, refusal.trip.contract.row.signal);
        }
    }

    fn said(&mut self, at: CallAt, word: Word, signal: Signal) {
        if let Some(words) = self.guards.at_mut(signal) {
            *words.at_mut(word) += 1;
        }
        if let Some(tool) = self.tools.get_mut(at.tool) {
            *tool.words.at_mut(word) += 1;
        }
        self.first.get_or_insert(First { call: at.number, word, signal });
    }

    fn place_of(&mut self, tool: &str) -> usize {
        if let Some(at) = self.tools.iter().position(|known| *known.name == *tool) {
            return at;
        }
        if self.tools.len() < TOOLS_MAX {
            self.tools.push(ToolCount { name: tool.into(), calls: 0, words: PerWord::default() });
            return self.tools.len() - 1;
        }
        TOOLS_MAX
    }

    /// Whether a word was said to any call.
    #[must_use]
    pub fn has(&self, word: Word) -> bool {
        self.guards.iter().any(|(signal, words)| has(signal, words, word))
    }
}

/// Whether a guard said a word. A route that is halted refuses its later calls, so that a refusal of this guard is a halt,
/// too, even where another guard's word stood in its place at the report.
pub(crate) fn has(signal: Signal, words: &PerWord<u64>, word: Word) -> bool {
    let is_halt = word == Word::Halted && signal == Signal::NoProgress && *words.at(Word::Refused) > 0;
    *words.at(word) > 0 || is_halt
}
