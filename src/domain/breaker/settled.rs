//! The permits that were reported, so that a repeated report counts once.

use std::collections::{HashSet, VecDeque};

/// Settled permits that one breaker remembers (spec 2.4).
pub(super) const SETTLED_MAX: usize = 1_024;
/// Up to here a look through the list is faster than a set.
const LIST_MAX: usize = 32;

/// The last settled permits, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    order: VecDeque<u64>,
    /// The same numbers, kept only past `LIST_MAX`.
    known: Option<HashSet<u64>>,
}

impl Settled {
    /// Whether a permit's number is remembered.
    #[must_use]
    pub(super) fn contains(&self, seq: u64) -> bool {
        match &self.known {
            Some(known) => known.contains(&seq),
            None => self.order.contains(&seq),
        }
    }

    /// Remembers a permit's number, forgetting the oldest past [`SETTLED_MAX`].
    pub(super) fn insert(&mut self, seq: u64) {
        if self.order.len() >= SETTLED_MAX
            && let Some(oldest) = self.order.pop_front()
            && let Some(known) = &mut self.known
        {
            known.remove(&oldest);
        }
        self.order.push_back(seq);
        match &mut self.known {
            Some(known) => {
                known.insert(seq);
            }
            None if self.order.len() > LIST_MAX => self.known = Some(self.order.iter().copied().collect()),
            None => {}
        }
    }

    /// Forgets everything: all permits are past their time.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes on the heap, about.
    #[must_use]
    pub(super) fn heap_bytes(&self) -> usize {
        self.order.capacity() * size_of::<u64>() + self.known.as_ref().map_or(0, |known| known.capacity() * 9)
    }
}
