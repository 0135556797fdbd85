//! The targets that failures counted against, bounded so that their order of coming decides nothing.

use arrayvec::ArrayVec;

/// Targets that are kept: the lowest hashes, whichever came first.
const TARGETS_MAX: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Targets(#[serde(with = "crate::domain::written::few")] ArrayVec<u64, TARGETS_MAX>);

impl Targets {
    /// Adds a target; 0 is none.
    pub(super) fn add(&mut self, target: u64) {
        let Err(at) = self.0.binary_search(&target) else { return };
        if target == 0 || at >= TARGETS_MAX {
            return;
        }
        if self.0.is_full() {
            self.0.pop();
        }
        self.0.insert(at, target);
    }

    pub(super) fn extend(&mut self, others: &Self) {
        for target in &others.0 {
            self.add(*target);
        }
    }

    pub(super) fn contains(&self, target: u64) -> bool {
        self.0.contains(&target)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }
}
