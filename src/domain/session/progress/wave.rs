//! The calls that the model decided on together, and what waits until all of them are told of.
//!
//! Inside a wave counts only grow, and what shrinks them (a write, a usable result, a target's recovery) waits for the
//! wave's end: so no order of its reports changes what is decided.

use std::collections::{BTreeSet, VecDeque};

use super::counts::Mark;
use crate::domain::session::call::Wave;

/// Waves whose calls are remembered, so that a late twin does not count; the oldest goes first.
const WAVES_MAX: usize = 4;
/// Calls that are remembered of one wave; a twin of a later one counts again.
const CALLS_MAX: usize = 256;
/// Tools, and targets, of one wave that are remembered until its end; a later one waits for its next result.
const PENDING_MAX: usize = 64;

/// One decision of the model: a wave, or a call that is of none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Batch {
    Wave(Wave),
    Alone(u64),
}

/// What waits for the end of the open batch.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Open {
    pub(super) batch: Batch,
    /// Something was changed.
    pub(super) wrote: bool,
    /// Tools that gave something usable.
    answered: BTreeSet<u64>,
    /// Targets that answered well.
    recovered: BTreeSet<u64>,
    /// Tools of which a steer was told.
    steered: BTreeSet<u64>,
}

impl Open {
    pub(super) const fn new(batch: Batch) -> Self {
        Self { batch, wrote: false, answered: BTreeSet::new(), recovered: BTreeSet::new(), steered: BTreeSet::new() }
    }

    pub(super) fn add_answered(&mut self, tool: u64) {
        insert(&mut self.answered, tool, PENDING_MAX);
    }

    pub(super) fn add_recovered(&mut self, target: u64) {
        insert(&mut self.recovered, target, PENDING_MAX);
    }

    /// False where a steer of this tool was told in this batch.
    pub(super) fn may_steer(&mut self, tool: u64) -> bool {
        let is_first = !self.steered.contains(&tool);
        insert(&mut self.steered, tool, PENDING_MAX);
        is_first
    }

    pub(super) fn answered(&self) -> impl Iterator<Item = u64> {
        self.answered.iter().copied()
    }

    pub(super) fn recovered(&self) -> impl Iterator<Item = u64> {
        self.recovered.iter().copied()
    }

    pub(super) fn has_recovered(&self, target: u64) -> bool {
        self.recovered.contains(&target)
    }
}

/// Whether it was new and there was room.
fn insert<T: Ord>(set: &mut BTreeSet<T>, item: T, max: usize) -> bool {
    (set.len() < max || set.contains(&item)) && set.insert(item)
}

/// One identical call, whatever it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(super) struct Made {
    pub(super) tool: u64,
    pub(super) arguments: u64,
    pub(super) purpose: u64,
}

/// One identical call and what it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(super) struct Twin {
    pub(super) made: Made,
    pub(super) mark: Mark,
    pub(super) target: u64,
}

/// One wave's calls.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Calls {
    wave: Wave,
    told: BTreeSet<Twin>,
    /// Those that were counted as one more failure in a row.
    failed: BTreeSet<Made>,
}

/// The calls of the last waves.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Waves {
    last: VecDeque<Calls>,
}

impl Waves {
    /// Whether this call with this result is the first in its wave.
    pub(super) fn is_first(&mut self, batch: Batch, twin: Twin) -> bool {
        self.of(batch).is_none_or(|calls| insert_or_pass(&mut calls.told, twin))
    }

    /// Whether this call is the first in its wave that failed.
    pub(super) fn is_first_failure(&mut self, batch: Batch, made: Made) -> bool {
        self.of(batch).is_none_or(|calls| insert_or_pass(&mut calls.failed, made))
    }

    fn of(&mut self, batch: Batch) -> Option<&mut Calls> {
        let Batch::Wave(wave) = batch else { return None };
        if !self.last.iter().any(|calls| calls.wave == wave) {
            if self.last.len() >= WAVES_MAX {
                self.last.pop_front();
            }
            self.last.push_back(Calls { wave, told: BTreeSet::new(), failed: BTreeSet::new() });
        }
        self.last.iter_mut().find(|calls| calls.wave == wave)
    }

    pub(super) fn clear(&mut self) {
        self.last.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.last.iter().map(|calls| calls.told.len() + calls.failed.len()).sum()
    }
}

/// Whether it is new; where there is no room it passes for new each time.
fn insert_or_pass<T: Ord>(set: &mut BTreeSet<T>, item: T) -> bool {
    !set.contains(&item) && {
        insert(set, item, CALLS_MAX);
        true
    }
}
