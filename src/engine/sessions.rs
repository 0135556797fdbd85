//! The agent runs of one process, behind short locks; bounded, and forgotten when nothing was heard of them.
//!
//! Expiry is lazy: who looks for a session that is over finds none, and who makes one takes the place of the longest
//! idle. There is no timer per session.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::keep::{Mark, Marks};
use super::registry::ByHash;
use super::sync::{AtomicUsize, Mutex, Ordering};
use crate::domain::behaviour::{Fact, SessionOutcome};
use crate::domain::session::run::{AgentRun, RunSnapshot};
use crate::domain::time::Timestamp;

const SHARDS: usize = 16;
/// Sessions that are looked at for one that is over, when a new one is made.
const LOOKS_MAX: usize = 64;

type Runs = ByHash<Box<AgentRun>>;
type Shard = Mutex<Runs>;

/// All runs, by the hash of their caller and name.
#[derive(Debug)]
pub(crate) struct Sessions {
    // Held for the gates of one call; taken before any breaker's shard and let go of before it, never both.
    shards: Box<[Shard]>,
    per_shard_max: AtomicUsize,
    idle_for_ms: std::sync::atomic::AtomicU64,
    begun: std::sync::atomic::AtomicU64,
    marks: Arc<Marks>,
}

impl Sessions {
    /// Parts that are settled one by one.
    pub(crate) const SHARDS: usize = SHARDS;

    pub(crate) fn new(limit: usize, idle_for_ms: u64, marks: Arc<Marks>) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::new(Runs::default())).collect();
        let (per_shard_max, idle, begun) = (AtomicUsize::new(1), 0.into(), 0.into());
        let sessions = Self { shards, per_shard_max, idle_for_ms: idle, begun, marks };
        sessions.set_limits(limit, idle_for_ms);
        sessions
    }

    pub(crate) fn set_limits(&self, limit: usize, idle_for_ms: u64) {
        self.per_shard_max.store((limit / SHARDS).max(1), Ordering::SeqCst);
        self.idle_for_ms.store(idle_for_ms, Ordering::SeqCst);
    }

    /// With the same bounds, and without a run.
    pub(crate) fn emptied(&self) -> Self {
        let (limit, idle_for_ms) = (&self.per_shard_max, &self.idle_for_ms);
        let limit = limit.load(Ordering::SeqCst) * SHARDS;
        Self::new(limit, idle_for_ms.load(Ordering::SeqCst), Arc::clone(&self.marks))
    }

    fn shard(&self, key: u64) -> Option<&Shard> {
        self.shards.get(usize::try_from(key >> 60).unwrap_or(0) % SHARDS)
    }

    fn is_over(&self, run: &AgentRun, now: Timestamp) -> bool {
        now.since_ms(run.last_seen) > self.idle_for_ms.load(Ordering::SeqCst)
    }

    /// Works on a run that is there.
    pub(crate) fn with<R>(&self, key: u64, now: Timestamp, work: impl FnOnce(&mut AgentRun) -> R) -> Option<R> {
        let worked = {
            let mut shard = self.shard(key)?.lock();
            shard.get_mut(&key).filter(|run| !self.is_over(run, now)).map(|run| work(run))
        };
        if worked.is_some() {
            self.marks.note(Mark::Session(key));
        }
        worked
    }

    /// Looks at a run that is there.
    pub(crate) fn look<R>(&self, key: u64, now: Timestamp, look: impl FnOnce(&AgentRun) -> R) -> Option<R> {
        let shard = self.shard(key)?.lock();
        shard.get(&key).filter(|run| !self.is_over(run, now)).map(|run| look(run))
    }

    /// A run as it is kept over a restart, whether it is over or not; none where there is none.
    pub(crate) fn snapshot(&self, key: u64) -> Option<RunSnapshot> {
        self.shard(key)?.lock().get(&key).map(|run| run.snapshot())
    }

    /// Puts a run back. False where there is no room.
    pub(crate) fn put_back(&self, key: u64, run: AgentRun) -> bool {
        let Some(shard) = self.shard(key) else { return false };
        let mut shard = shard.lock();
        let has_room = shard.len() < self.per_shard_max.load(Ordering::SeqCst);
        if has_room {
            shard.insert(key, Box::new(run));
        }
        has_room
    }

    /// Works on a run, made by `make` where there is none. What becomes known of a run that ends for it, and of this
    /// one, goes into `facts`.
    pub(crate) fn with_made<R>(
        &self,
        key: u64,
        now: Timestamp,
        (facts, make): (&mut Vec<Fact>, impl FnOnce() -> AgentRun),
        work: impl FnOnce(&mut AgentRun, &mut Vec<Fact>) -> R,
    ) -> Option<R> {
        let mut changed = BTreeSet::from([Mark::Session(key)]);
        let mut shard = self.shard(key)?.lock();
        let is_known = shard.get(&key).is_some_and(|run| !self.is_over(run, now));
        if !is_known {
            let is_full = |shard: &Runs| shard.len() >= self.per_shard_max.load(Ordering::SeqCst);
            let over = shard.remove(&key);
            let idlest = if is_full(&shard) { make_room(&mut shard) } else { None };
            changed.extend(idlest.iter().map(|(key, _)| Mark::Session(*key)));
            for mut run in [over, idlest.map(|(_, run)| run)].into_iter().flatten() {
                run.end(SessionOutcome::Abandoned, None, facts);
            }
            shard.insert(key, Box::new(make()));
            self.begun.fetch_add(1, Ordering::Relaxed);
        }
        let worked = shard.get_mut(&key).map(|run| work(run, facts));
        drop(shard);
        if self.marks.is_kept() {
            self.marks.note_all(changed);
        }
        worked
    }

    /// Takes a run out.
    pub(crate) fn remove(&self, key: u64, now: Timestamp) -> Option<Box<AgentRun>> {
        let removed = {
            let mut shard = self.shard(key)?.lock();
            let is_there = shard.get(&key).is_some_and(|run| !self.is_over(run, now));
            if is_there { shard.remove(&key) } else { None }
        };
        self.marks.note(Mark::Session(key));
        removed
    }

    /// Ends what has been idle too long, and concludes what is due in the rest, of one shard.
    pub(crate) fn settle(&self, nth: usize, now: Timestamp, facts: &mut Vec<Fact>) {
        let Some(shard) = self.shards.get(nth % SHARDS) else { return };
        let mut changed = BTreeSet::new();
        shard.lock().retain(|key, run| {
            let (is_over, known) = (self.is_over(run, now), facts.len());
            if is_over {
                run.end(SessionOutcome::Abandoned, None, facts);
            } else {
                run.settle(now, facts);
            }
            if facts.len() > known {
                changed.insert(Mark::Session(*key));
            }
            !is_over
        });
        if self.marks.is_kept() && !changed.is_empty() {
            self.marks.note_all(changed);
        }
    }

    /// Runs that began.
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Runs that are kept.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }
}

/// Takes the longest idle out, of as many as are looked at.
fn make_room(shard: &mut Runs) -> Option<(u64, Box<AgentRun>)> {
    let oldest = shard.iter().take(LOOKS_MAX).min_by_key(|(_, run)| run.last_seen).map(|(key, _)| *key);
    oldest.and_then(|oldest| shard.remove(&oldest).map(|run| (oldest, run)))
}
