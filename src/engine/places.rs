//! How many targets may live, in all and for one caller. Taken before a shard is locked for the making of a target, and
//! given back where none was made.

use std::collections::HashMap;

use super::sync::{AtomicUsize, Mutex, Ordering};

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// This caller has its share.
    Caller,
    /// All places are taken.
    All,
}

/// The places.
#[derive(Debug)]
pub(crate) struct Places {
    limit: AtomicUsize,
    share: AtomicUsize,
    // A leaf lock: nothing else is taken while it is held.
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// At most as many entries as there are targets: an entry goes with its last target.
    by_caller: HashMap<u64, usize>,
}

impl Places {
    pub(crate) fn new(limit: usize, share: usize) -> Self {
        Self { limit: AtomicUsize::new(limit), share: AtomicUsize::new(share), taken: Mutex::new(Taken::default()) }
    }

    /// As many places, all of them free.
    pub(crate) fn emptied(&self) -> Self {
        Self::new(self.limit(), self.share.load(Ordering::SeqCst))
    }

    pub(crate) fn set_limits(&self, limit: usize, share: usize) {
        self.limit.store(limit, Ordering::SeqCst);
        self.share.store(share, Ordering::SeqCst);
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit.load(Ordering::SeqCst)
    }

    pub(crate) fn take(&self, caller: u64) -> Result<(), Full> {
        let (limit, share) = (self.limit(), self.share.load(Ordering::SeqCst));
        let mut taken = self.taken.lock();
        if taken.by_caller.get(&caller).copied().unwrap_or(0) >= share {
            return Err(Full::Caller);
        }
        if taken.all >= limit {
            return Err(Full::All);
        }
        taken.all += 1;
        *taken.by_caller.entry(caller).or_insert(0) += 1;
        Ok(())
    }

    pub(crate) fn give_back(&self, caller: u64) {
        let mut taken = self.taken.lock();
        taken.all = taken.all.saturating_sub(1);
        let left = taken.by_caller.get(&caller).copied().unwrap_or(0).saturating_sub(1);
        if left == 0 {
            taken.by_caller.remove(&caller);
        } else {
            taken.by_caller.insert(caller, left);
        }
    }

    pub(crate) fn taken(&self) -> usize {
        self.taken.lock().all
    }
}
