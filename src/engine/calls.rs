//! What was answered to a call that names itself by session, call id and attempt, so that a repeated `Admit` gets the
//! same answer, and a report without a permit finds one. Bounded; the oldest records go first.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::sync::{Mutex, MutexGuard};
use crate::domain::contract::Trip;
use crate::domain::ids::SafeText;
use crate::domain::time::Timestamp;
use crate::domain::tool::Effect;

/// The answer that a call got.
#[derive(Clone, Debug)]
pub(crate) enum CallRecord {
    /// A permit that can be answered again until it is reported or over.
    Permitted(Granted),
    /// A permit that was reported.
    Reported(Granted),
    /// A refusal that is answered again until its time.
    Refused { trip: Arc<Trip>, until: Timestamp },
}

/// A permit that was handed out.
#[derive(Clone, Debug)]
pub struct Granted {
    /// The sealed bytes.
    pub token: Arc<[u8]>,
    /// Whether it is a probe.
    pub is_probe: bool,
    /// When it is over.
    pub expires_at: Timestamp,
    /// The breaker's code.
    pub breaker: crate::domain::ids::Code,
    /// What a circuit in shadow would have said.
    pub shadow: Option<Arc<Trip>>,
    /// What the call said of itself, where it has a name to be remembered by.
    pub asked: Option<Arc<Asked>>,
    /// What its session is to be told beside: what is shut no more.
    pub notices: Option<Arc<[SafeText]>>,
}

/// What a call said of itself that its result is read by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The tool as the model knows it.
    pub tool_name: Box<str>,
    /// What it does, where it said so.
    pub effect: Option<Effect>,
    /// Whether its target recognises a repeat.
    pub is_idempotent: bool,
    /// Which try it was.
    pub attempt: u32,
}

/// Records by the hash of their names.
#[derive(Debug)]
pub(crate) struct Calls {
    // One lock, held for a look-up; a leaf: no other lock is taken while it is held.
    shards: Box<[Mutex<Shard>]>,
    // Guard no data but the deciding of a call; taken before any other lock, and one at a time.
    turns: Box<[Mutex<()>]>,
    per_shard_max: usize,
}

#[derive(Debug, Default)]
struct Shard {
    records: HashMap<u64, (u64, CallRecord)>,
    /// Keys with the number of their writing, oldest first; a key written again leaves its old entry behind.
    order: VecDeque<(u64, u64)>,
    writes: u64,
}

const SHARDS: usize = 16;
/// Enough that two different calls seldom wait for each other.
const TURNS: usize = 256;

impl Calls {
    pub(crate) fn new(limit: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::new(Shard::default())).collect();
        let turns = (0..TURNS).map(|_| Mutex::new(())).collect();
        Self { shards, turns, per_shard_max: (limit / SHARDS).max(1) }
    }

    /// With the same bound, and nothing written down.
    pub(crate) fn emptied(&self) -> Self {
        Self::new(self.per_shard_max * SHARDS)
    }

    pub(crate) fn get(&self, key: u64) -> Option<CallRecord> {
        self.shard(key)?.lock().records.get(&key).map(|(_, record)| record.clone())
    }

    /// The turn of a call: who holds it decides the call, and nobody else does meanwhile.
    pub(crate) fn turn(&self, key: u64) -> Option<MutexGuard<'_, ()>> {
        Some(self.turns.get(usize::try_from(key % TURNS as u64).unwrap_or(0))?.lock())
    }

    /// Writes a record.
    pub(crate) fn put(&self, key: u64, record: CallRecord) {
        let Some(shard) = self.shard(key) else { return };
        let mut shard = shard.lock();
        shard.writes += 1;
        let write = shard.writes;
        shard.records.insert(key, (write, record));
        shard.order.push_back((write, key));
        while shard.records.len() > self.per_shard_max || shard.order.len() > 2 * self.per_shard_max {
            let Some((write, oldest)) = shard.order.pop_front() else { break };
            if shard.records.get(&oldest).is_some_and(|(own, _)| *own == write) {
                shard.records.remove(&oldest);
            }
        }
    }

    /// Marks a permit as reported; one that was handed out after it stays as it is.
    pub(crate) fn settle(&self, key: u64, token: &[u8]) {
        let Some(shard) = self.shard(key) else { return };
        if let Some((_, record)) = shard.lock().records.get_mut(&key)
            && let CallRecord::Permitted(granted) = record
            && *granted.token == *token
        {
            *record = CallRecord::Reported(granted.clone());
        }
    }

    fn shard(&self, key: u64) -> Option<&Mutex<Shard>> {
        self.shards.get(usize::try_from(key >> 60).unwrap_or(0) % SHARDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted() -> Granted {
        let breaker = crate::domain::ids::Code::from_target("x");
        Granted {
            token: Arc::from([1_u8]),
            is_probe: false,
            expires_at: Timestamp(1),
            breaker,
            shadow: None,
            asked: None,
            notices: None,
        }
    }

    #[test]
    fn records_are_bounded_and_the_oldest_go_first() {
        let calls = Calls::new(SHARDS * 4);
        for key in 0..100 {
            calls.put(key, CallRecord::Permitted(granted()));
        }
        let left: Vec<u64> = (0..100).filter(|key| calls.get(*key).is_some()).collect();
        assert_eq!(left, [96, 97, 98, 99]);
        for _ in 0..1_000 {
            calls.put(99, CallRecord::Permitted(granted()));
        }
        assert!(calls.get(99).is_some());
        assert!(calls.shards[0].lock().order.len() <= 8);
    }

    #[test]
    fn a_report_settles_its_own_permit_only() {
        let calls = Calls::new(64);
        calls.put(1, CallRecord::Permitted(granted()));
        calls.settle(1, &[2]);
        assert!(matches!(calls.get(1), Some(CallRecord::Permitted(_))));
        calls.settle(1, &[1]);
        assert!(matches!(calls.get(1), Some(CallRecord::Reported(_))));
    }
}
