//! Who has been idle longest: a heap that is corrected only when somebody must go.
//!
//! Every entry holds a time not later than the true last use. The earliest entry is looked up; where it was used since,
//! it goes back with its true time. The first one that was not is the longest idle of all, exactly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::domain::time::Timestamp;

/// A target of a breaker, both as hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Tenant {
    pub(crate) breaker: u64,
    pub(crate) target: u64,
}

/// Looks that one search may take, so that a map full of open circuits does not make a flood dear.
const LOOKS_MAX: usize = 128;

/// Tenants by the last time they were known to be used.
#[derive(Debug, Default)]
pub(crate) struct IdleQueue(BinaryHeap<Reverse<(Timestamp, Tenant)>>);

/// What a look at a tenant finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// It is there no more.
    Gone,
    /// It was used then.
    SeenAt(Timestamp),
}

impl IdleQueue {
    pub(crate) fn push(&mut self, at: Timestamp, tenant: Tenant) {
        self.0.push(Reverse((at, tenant)));
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes the longest idle tenant that `evict` lets go; those that must stay get their turn anew from `now` on.
    pub(crate) fn evict_idlest(
        &mut self,
        now: Timestamp,
        mut look: impl FnMut(Tenant) -> Look,
        mut evict: impl FnMut(Tenant) -> bool,
    ) -> Option<Tenant> {
        for _ in 0..LOOKS_MAX {
            let Reverse((known, tenant)) = self.0.pop()?;
            match look(tenant) {
                Look::Gone => {}
                Look::SeenAt(at) if at > known => self.push(at, tenant),
                Look::SeenAt(_) if evict(tenant) => return Some(tenant),
                // Behind everybody of this moment, or those that must stay would be looked at again and again.
                Look::SeenAt(_) => self.push(now.plus_ms(1).max(known), tenant),
            }
        }
        None
    }

    /// Drops entries of tenants that are gone, where they outnumber the living.
    pub(crate) fn tidy(&mut self, living: usize, mut look: impl FnMut(Tenant) -> Look) {
        if self.0.len() > 2 * living + 64 {
            self.0.retain(|Reverse((_, tenant))| look(*tenant) != Look::Gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn tenant(target: u64) -> Tenant {
        Tenant { breaker: 0, target }
    }

    #[test]
    fn the_longest_idle_goes_first_whatever_the_order_of_use() {
        let mut queue = IdleQueue::default();
        let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
        for target in 0..50 {
            queue.push(Timestamp(target), tenant(target));
            seen.insert(target, target);
        }
        for (step, target) in [(100, 0), (101, 7), (102, 3), (103, 0)] {
            seen.insert(target, step);
        }
        while !seen.is_empty() {
            let idlest = seen.iter().min_by_key(|(_, at)| **at).map(|(target, _)| *target).unwrap();
            let look = |t: Tenant| seen.get(&t.target).map_or(Look::Gone, |at| Look::SeenAt(Timestamp(*at)));
            assert_eq!(queue.evict_idlest(Timestamp(200), look, |_| true), Some(tenant(idlest)));
            seen.remove(&idlest);
        }
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn who_must_stay_stays_and_the_next_goes() {
        let mut queue = IdleQueue::default();
        (0..3).for_each(|target| queue.push(Timestamp(target), tenant(target)));
        let gone = queue.evict_idlest(Timestamp(9), |t| Look::SeenAt(Timestamp(t.target)), |t| t.target != 0);
        assert_eq!((gone, queue.len()), (Some(tenant(1)), 2));
    }
}
