//! The agent runs of one process, behind short locks; bounded, and forgotten when nothing was heard of them.
//!
//! Expiry is lazy: who looks for a session that is over finds none, and who makes one takes the place of the longest
//! idle. There is no timer per session.

use std::collections::HashMap;

use super::sync::{AtomicUsize, Mutex, Ordering};
use crate::domain::session::run::AgentRun;
use crate::domain::time::Timestamp;

const SHARDS: usize = 16;
/// Sessions that are looked at for one that is over, when a new one is made.
const LOOKS_MAX: usize = 64;

type Shard = Mutex<HashMap<u64, Box<AgentRun>>>;

/// All runs, by the hash of their caller and name.
#[derive(Debug)]
pub(crate) struct Sessions {
    // Held for the gates of one call; taken before any breaker's shard and let go of before it, never both.
    shards: Box<[Shard]>,
    per_shard_max: AtomicUsize,
    idle_for_ms: std::sync::atomic::AtomicU64,
}

impl Sessions {
    pub(crate) fn new(limit: usize, idle_for_ms: u64) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::new(HashMap::new())).collect();
        let sessions = Self { shards, per_shard_max: AtomicUsize::new(1), idle_for_ms: 0.into() };
        sessions.set_limits(limit, idle_for_ms);
        sessions
    }

    pub(crate) fn set_limits(&self, limit: usize, idle_for_ms: u64) {
        self.per_shard_max.store((limit / SHARDS).max(1), Ordering::SeqCst);
        self.idle_for_ms.store(idle_for_ms, Ordering::SeqCst);
    }

    fn shard(&self, key: u64) -> Option<&Shard> {
        self.shards.get(usize::try_from(key >> 60).unwrap_or(0) % SHARDS)
    }

    fn is_over(&self, run: &AgentRun, now: Timestamp) -> bool {
        now.since_ms(run.last_seen) > self.idle_for_ms.load(Ordering::SeqCst)
    }

    /// Works on a run that is there.
    pub(crate) fn with<R>(&self, key: u64, now: Timestamp, work: impl FnOnce(&mut AgentRun) -> R) -> Option<R> {
        let mut shard = self.shard(key)?.lock();
        if shard.get(&key).is_some_and(|run| self.is_over(run, now)) {
            shard.remove(&key);
        }
        shard.get_mut(&key).map(|run| work(run))
    }

    /// Works on a run, made by `make` where there is none. True where it is new.
    pub(crate) fn with_made<R>(
        &self,
        key: u64,
        now: Timestamp,
        make: impl FnOnce() -> AgentRun,
        work: impl FnOnce(&mut AgentRun, bool) -> R,
    ) -> Option<R> {
        let mut shard = self.shard(key)?.lock();
        let is_known = shard.get(&key).is_some_and(|run| !self.is_over(run, now));
        if !is_known {
            shard.remove(&key);
            if shard.len() >= self.per_shard_max.load(Ordering::SeqCst) {
                make_room(&mut shard);
            }
            shard.insert(key, Box::new(make()));
        }
        shard.get_mut(&key).map(|run| work(run, !is_known))
    }

    /// Ends a run.
    pub(crate) fn remove(&self, key: u64) -> Option<Box<AgentRun>> {
        self.shard(key)?.lock().remove(&key)
    }

    /// Ends what has been idle too long, of one shard.
    pub(crate) fn sweep(&self, nth: usize, now: Timestamp) {
        if let Some(shard) = self.shards.get(nth % SHARDS) {
            shard.lock().retain(|_, run| !self.is_over(run, now));
        }
    }

    /// Runs that are kept.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }
}

/// Lets the longest idle go, of as many as are looked at.
fn make_room(shard: &mut HashMap<u64, Box<AgentRun>>) {
    let oldest = shard.iter().take(LOOKS_MAX).min_by_key(|(_, run)| run.last_seen).map(|(key, _)| *key);
    if let Some(oldest) = oldest {
        shard.remove(&oldest);
    }
}
