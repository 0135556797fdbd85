//! What a count says at a report, and what the ledger answers.

use super::targets::Targets;
use super::wave::Batch;
use crate::domain::contract::session::SessionFigures;
use crate::domain::ids::SafeText;
use crate::domain::session::policy::Thresholds;

/// What a report came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is to be said.
    Nothing,
    /// The model is to be told once.
    Steer(SessionFigures),
    /// The tool is exhausted for the task.
    Halt(HaltedRoute),
}

/// A halted route, as a report tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HaltedRoute {
    /// The figures.
    pub figures: SessionFigures,
    /// Every result that counted carried a target signal: a good result of the target ends it.
    pub is_on_target: bool,
    /// This report made it; else it stood already.
    pub is_new: bool,
}

/// A halt that ended: its target answers well again.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Resumed {
    /// The tool that may be called again.
    pub tool: SafeText,
    /// The target that answered, hashed.
    pub target: u64,
}

/// One rule's count at one report.
pub(super) struct Line {
    pub(super) times: u32,
    pub(super) at: Thresholds,
    /// Where its steer was told.
    pub(super) told: Option<Batch>,
    pub(super) figures: SessionFigures,
    /// The targets any of whose recoveries would end a halt by it.
    pub(super) targets: Option<Targets>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Nothing,
    Steer,
    Halt,
}

impl Line {
    /// What the count says. A halt needs a steer that was told before this batch: who was not told could not heed it.
    pub(super) fn word(&self, batch: Batch) -> Word {
        match self.told {
            Some(told) if self.times >= self.at.halt_at() && told != batch => Word::Halt,
            None if self.times >= self.at.steer_at() => Word::Steer,
            Some(_) | None => Word::Nothing,
        }
    }
}
