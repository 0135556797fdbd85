//! Whether an answer rests on what the session's calls brought (spec 4.4).
//!
//! Deterministic and without a model: keywords, numbers and the states of rows, so that each rule can be said aloud to
//! the person on call. It catches numbers from nowhere, not a well-formed query that asked the wrong question.

mod fold;
pub mod keywords;
mod message;
mod reading;
mod rules;
mod words;

use super::evidence::TaskEvidence;
use super::evidence::identifiers::SeenIds;
use crate::domain::ids::SafeText;
use crate::domain::signal::closed_words;
use keywords::Keywords;

closed_words! {
    /// A rule of the review, in the order in which they are judged.
    ReviewRule {
        /// No row of the task is usable, yet a conclusion or a number with a unit is stated.
        NoUsableEvidence = "no_usable_evidence",
        /// A trace or span id that no payload held and the user did not give.
        InventedIdentifier = "invented_identifier",
        /// Absence is stated although every query failed.
        GapAsNegative = "gap_as_negative",
        /// Something is unknown, and none of the tools that failed is named.
        UnnamedGap = "unnamed_gap",
        /// A required tool measured nothing, and the answer does not give it as Unknown.
        RequiredMissing = "required_missing",
        /// A hypothesis that was excluded is restated.
        ExcludedHypothesis = "excluded_hypothesis",
        /// A total or rate, and every usable row is capped.
        CappedTotal = "capped_total",
        /// Something is unknown, and the figures that there are were dropped.
        FiguresDropped = "figures_dropped",
    }
}

closed_words! {
    /// What is to be done with an answer, in a word.
    ReviewWord {
        /// It may stand.
        Allow = "allow",
        /// The model is asked once to write it anew.
        SendBack = "send_back",
        /// It was sent back before: it is shown as unsupported.
        AllowUnsupported = "allow_unsupported",
    }
}

/// What an answer is held against.
#[derive(Clone, Debug)]
pub struct ReviewInput<'a> {
    /// The rows of the current task.
    pub task: TaskEvidence<'a>,
    /// The answer.
    pub answer: &'a str,
    /// Tools whose measurement the job must make. Exhausting one takes nothing off this list.
    pub required_tools: &'a [SafeText],
    /// Tools whose route is halted for the task: they are told to be given as Unknown, not to be called again.
    pub exhausted_tools: &'a [SafeText],
    /// What the caller registered as excluded, in its words.
    pub excluded_hypotheses: &'a [Box<str>],
    /// Texts in which the user gave ids, or the ids themselves.
    pub known_ids: &'a [Box<str>],
    /// The ids of the session's payloads.
    pub seen_ids: &'a SeenIds,
    /// The words by which the answer is read.
    pub keywords: &'a Keywords,
    /// A total from capped rows is sent back.
    pub is_strict: bool,
    /// An answer of this task was sent back in this context epoch.
    pub was_sent_back: bool,
}

/// What is to be done with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may stand.
    Allow {
        /// What is to be shown beside it.
        cautions: Vec<ReviewRule>,
    },
    /// The model is asked once to write it anew.
    SendBack {
        /// The first rule that it breaks.
        rule: ReviewRule,
        /// The others: there is one chance, so that all are told at once.
        also: Vec<ReviewRule>,
        /// What the model is told. Holds nothing of payloads or of the answer. At most [`MESSAGE_BYTES_MAX`].
        message: String,
        /// What is to be shown beside it.
        cautions: Vec<ReviewRule>,
    },
    /// It was sent back before and still breaks a rule: it is shown, and shown as such.
    AllowUnsupported {
        /// The first rule that it breaks.
        rule: ReviewRule,
        /// The others.
        also: Vec<ReviewRule>,
        /// What is to be shown beside it.
        cautions: Vec<ReviewRule>,
    },
}

impl Verdict {
    /// The verdict in a word, and the first rule that the answer breaks.
    #[must_use]
    pub const fn word(&self) -> (ReviewWord, Option<ReviewRule>) {
        match self {
            Self::Allow { .. } => (ReviewWord::Allow, None),
            Self::SendBack { rule, .. } => (ReviewWord::SendBack, Some(*rule)),
            Self::AllowUnsupported { rule, .. } => (ReviewWord::AllowUnsupported, Some(*rule)),
        }
    }
}

pub use message::{MESSAGE_BYTES_MAX, MESSAGE_HEAD};

/// Holds an answer against the rows of its task. The order of the rows does not matter.
#[must_use]
pub fn review(input: &ReviewInput<'_>) -> Verdict {
    let findings = rules::judge(input);
    let (cautions, broken): (Vec<ReviewRule>, Vec<ReviewRule>) =
        findings.broken.iter().partition(|rule| rule.is_caution(input.is_strict));
    let Some((rule, also)) = broken.split_first().map(|(first, rest)| (*first, rest.to_vec())) else {
        return Verdict::Allow { cautions };
    };
    if input.was_sent_back {
        return Verdict::AllowUnsupported { rule, also, cautions };
    }
    let message = message::message(input, &findings, &broken);
    Verdict::SendBack { rule, also, message, cautions }
}

impl ReviewRule {
    /// Whether it is only told, never a reason to send an answer back.
    #[must_use]
    pub const fn is_caution(self, is_strict: bool) -> bool {
        match self {
            Self::FiguresDropped => true,
            Self::CappedTotal => !is_strict,
            Self::NoUsableEvidence
            | Self::InventedIdentifier
            | Self::GapAsNegative
            | Self::UnnamedGap
            | Self::RequiredMissing
            | Self::ExcludedHypothesis => false,
        }
    }
}

/// In which tasks and context epochs an answer was sent back: at most once in each.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct SendBacks {
    /// Task and epoch, oldest first.
    told: std::collections::VecDeque<(u64, u32)>,
}

/// Tasks and epochs that are remembered; with more in one session the oldest may be sent back once more.
const SEND_BACKS_MAX: usize = 64;

impl SendBacks {
    /// Whether an answer of this task was sent back in this epoch.
    #[must_use]
    pub fn was_sent_back(&self, task: u64, epoch: u32) -> bool {
        self.told.contains(&(task, epoch))
    }

    /// Keeps what came of a review.
    pub fn note(&mut self, task: u64, epoch: u32, verdict: &Verdict) {
        let is_new = matches!(verdict, Verdict::SendBack { .. }) && !self.was_sent_back(task, epoch);
        if is_new {
            if self.told.len() >= SEND_BACKS_MAX {
                self.told.pop_front();
            }
            self.told.push_back((task, epoch));
        }
    }
}

#[cfg(test)]
mod tests;
