//! The routes of a task that are halted, and what ends a halt.

use std::collections::BTreeMap;

use super::targets::Targets;
use super::wave::Batch;
use crate::domain::contract::NAME_BYTES_MAX;
use crate::domain::contract::session::SessionFigures;
use crate::domain::ids::SafeText;
use crate::domain::session::call::ToolName;

/// Halted tools that are kept. More come only from calls that were running when the session was halted already.
pub(super) const HALTS_MAX: u32 = 64;

/// One halted route.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Halt {
    pub(super) name: SafeText,
    pub(super) figures: SessionFigures,
    /// Where it was made.
    batch: Batch,
    /// The targets any of whose recoveries ends it; none: nothing does within the task.
    targets: Option<Targets>,
    /// A target has answered well since: it holds nobody back, and goes at the end of the batch.
    is_over: bool,
}

impl Halt {
    pub(super) fn is_on_target(&self) -> bool {
        self.targets.is_some()
    }

    fn is_waiting_for(&self, target: u64) -> bool {
        self.targets.as_ref().is_some_and(|targets| targets.contains(target))
    }
}

/// A halt that is to be made.
#[derive(Clone, Debug)]
pub(super) struct NewHalt<'a> {
    pub(super) tool: ToolName<'a>,
    pub(super) figures: SessionFigures,
    pub(super) targets: Option<Targets>,
    pub(super) batch: Batch,
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Halts {
    by_tool: BTreeMap<u64, Halt>,
}

impl Halts {
    /// The halt of a tool that an earlier batch made.
    pub(super) fn before(&self, tool: u64, batch: Batch) -> Option<&Halt> {
        self.by_tool.get(&tool).filter(|halt| halt.batch != batch)
    }

    /// The halt that holds a tool back.
    pub(super) fn of(&self, tool: u64) -> Option<&Halt> {
        self.by_tool.get(&tool).filter(|halt| !halt.is_over)
    }

    /// Every halt that holds something back.
    pub(super) fn in_force(&self) -> impl Iterator<Item = &Halt> {
        self.by_tool.values().filter(|halt| !halt.is_over)
    }

    /// Makes a halt, or makes the one of the same batch the stricter of the two. True where it is new.
    pub(super) fn add(&mut self, new: NewHalt<'_>) -> bool {
        if let Some(halt) = self.by_tool.get_mut(&new.tool.id) {
            halt.targets = match (halt.targets.take(), new.targets) {
                (Some(mut targets), Some(more)) => {
                    targets.extend(&more);
                    Some(targets)
                }
                (None, _) | (_, None) => None,
            };
            if weight(&new.figures) > weight(&halt.figures) {
                halt.figures = new.figures;
            }
            halt.is_over &= halt.targets.is_some();
            return false;
        }
        if self.by_tool.len() < HALTS_MAX as usize {
            let name = SafeText::cut(new.tool.name, NAME_BYTES_MAX);
            let (figures, batch, targets) = (new.figures, new.batch, new.targets);
            self.by_tool.insert(new.tool.id, Halt { name, figures, batch, targets, is_over: false });
        }
        true
    }

    /// Ends the halts that wait for a target, and names them.
    pub(super) fn end(&mut self, target: u64) -> Vec<SafeText> {
        let waiting = self.by_tool.values_mut().filter(|halt| !halt.is_over && halt.is_waiting_for(target));
        let ended = waiting.map(|halt| {
            halt.is_over = true;
            halt.name.clone()
        });
        let mut names: Vec<SafeText> = ended.collect();
        names.sort(); // by name, not by hash
        names
    }

    /// Forgets those that are over.
    pub(super) fn sweep_out(&mut self) {
        self.by_tool.retain(|_, halt| !halt.is_over);
    }

    pub(super) fn clear(&mut self) {
        self.by_tool.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.by_tool.len()
    }
}

/// Which of two figures of one halt is shown: the narrower rule, then the higher count.
const fn weight(figures: &SessionFigures) -> (u8, u32) {
    match *figures {
        SessionFigures::SameResult { times, .. } => (4, times),
        SessionFigures::Sweep { times, .. } => (3, times),
        SessionFigures::Broad { failures, .. } => (2, failures),
        SessionFigures::AlreadyHeld { times, .. } => (1, times),
        SessionFigures::NotAllowed { .. }
        | SessionFigures::Refused(_)
        | SessionFigures::AmbiguousEffect { .. }
        | SessionFigures::SessionHalted { .. }
        | SessionFigures::Wave { .. }
        | SessionFigures::Twin
        | SessionFigures::Backend { .. } => (0, 0),
    }
}
