//! Failures of one tool in a row, whatever their texts: the slow counter.

use std::collections::BTreeMap;

use super::targets::Targets;
use super::wave::Batch;

/// Runs that are kept; the one that was added to longest ago goes first.
const RUNS_MAX: usize = 128;

/// A tool, for one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(super) struct RunKey {
    pub(super) purpose: u64,
    pub(super) tool: u64,
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Run {
    pub(super) failures: u32,
    /// Where its steer was told.
    pub(super) told: Option<Batch>,
    targets: Targets,
    /// A failure without a target signal is among them.
    is_mixed: bool,
    /// When it was last added to, in the ledger's own steps.
    seen: u64,
}

impl Run {
    /// The targets whose recovery mends it; none where no target's does.
    pub(super) fn targets(&self) -> Option<Targets> {
        (!self.is_mixed && !self.targets.is_empty()).then(|| self.targets.clone())
    }
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Runs {
    #[serde(with = "crate::domain::written::pairs")]
    runs: BTreeMap<RunKey, Run>,
}

/// One failure that may belong to a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    pub(super) target: Option<u64>,
    /// Its twin of the same wave did not count already.
    pub(super) counts: bool,
    pub(super) step: u64,
    /// The step after which a run is still the same.
    pub(super) since: u64,
}

impl Runs {
    /// Adds a failure and gives the run as it now is.
    pub(super) fn add(&mut self, key: RunKey, failure: Failure) -> Run {
        if !self.runs.contains_key(&key) && self.runs.len() >= RUNS_MAX {
            let oldest = self.runs.iter().min_by_key(|(_, run)| run.seen).map(|(key, _)| *key);
            oldest.and_then(|key| self.runs.remove(&key));
        }
        let run = self.runs.entry(key).or_default();
        if run.seen <= failure.since {
            *run = Run::default();
        }
        run.seen = failure.step;
        run.is_mixed |= failure.target.is_none();
        run.targets.add(failure.target.unwrap_or_default());
        run.failures = run.failures.saturating_add(u32::from(failure.counts));
        run.clone()
    }

    pub(super) fn set_told(&mut self, key: RunKey, batch: Batch) {
        if let Some(run) = self.runs.get_mut(&key) {
            run.told = Some(batch);
        }
    }

    /// Forgets the runs of a target that answers well again.
    pub(super) fn forget(&mut self, target: u64) {
        self.runs.retain(|_, run| run.is_mixed || !run.targets.contains(target));
    }

    pub(super) fn clear(&mut self) {
        self.runs.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }
}

/// Tools whose last usable result is remembered; at the bound all runs and sweeps end, which only forgives.
const RESETS_MAX: usize = 128;

/// When each tool last gave something usable, in the ledger's own steps: what counted before is no longer in its row.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Resets {
    at: BTreeMap<u64, u64>,
    /// Holds for every tool.
    all: u64,
}

impl Resets {
    pub(super) fn set(&mut self, tool: u64, step: u64) {
        if self.at.len() >= RESETS_MAX && !self.at.contains_key(&tool) {
            self.at.clear();
            self.all = step;
        }
        self.at.insert(tool, step);
    }

    pub(super) fn of(&self, tool: u64) -> u64 {
        self.at.get(&tool).copied().unwrap_or_default().max(self.all)
    }

    pub(super) fn clear(&mut self) {
        self.at.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.at.len()
    }
}
