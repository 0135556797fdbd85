//! The permits that were reported, so that a repeated report counts once.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// Settled permits that one breaker remembers (spec 2.4).
pub(super) const SETTLED_MAX: usize = 1_024;
/// Up to here a look through the list is faster than a set.
const LIST_MAX: usize = 32;

/// The last settled permits; takes a word while there are none.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled(Option<Box<Kept>>);

#[derive(Clone, Debug, Default)]
struct Kept {
    /// Oldest first.
    order: VecDeque<u64>,
    /// The same numbers, kept only past `LIST_MAX`.
    known: Option<HashSet<u64, BuildHasherDefault<Spread>>>,
}

/// Spreads numbers that follow each other. We drew them ourselves and their seal is proved, so that nobody can aim.
#[derive(Clone, Copy, Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // INVARIANT: keys are u64; anything else still hashes, if not well.
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, seq: u64) {
        self.0 = seq.wrapping_mul(0x9e37_79b9_7f4a_7c15); // odd: low bits stay apart, high bits are mixed
    }
}

impl Settled {
    /// Whether a permit's number is remembered.
    #[must_use]
    pub(super) fn contains(&self, seq: u64) -> bool {
        self.0.as_ref().is_some_and(|kept| match &kept.known {
            Some(known) => known.contains(&seq),
            None => kept.order.contains(&seq),
        })
    }

    /// Remembers a permit's number, forgetting the oldest past [`SETTLED_MAX`].
    pub(super) fn insert(&mut self, seq: u64) {
        let Kept { order, known } = &mut **self.0.get_or_insert_default();
        if order.len() >= SETTLED_MAX
            && let Some(oldest) = order.pop_front()
            && let Some(known) = known
        {
            known.remove(&oldest);
        }
        order.push_back(seq);
        match known {
            Some(known) => {
                known.insert(seq);
            }
            None if order.len() > LIST_MAX => *known = Some(order.iter().copied().collect()),
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
        self.0.as_ref().map_or(0, |kept| {
            let known = kept.known.as_ref().map_or(0, |known| known.capacity() * 9);
            size_of::<Kept>() + kept.order.capacity() * size_of::<u64>() + known
        })
    }
}
