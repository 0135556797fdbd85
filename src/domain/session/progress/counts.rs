//! How often each observation came back: one bounded map for failed, empty and usable ones.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::targets::Targets;
use super::wave::Batch;
use crate::domain::time::Timestamp;
use crate::domain::tool::Poll;

/// Observations that a session remembers; at the bound the eighth that was seen longest ago is forgotten.
pub const OBSERVATIONS_MAX: usize = 512;

/// What came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(super) enum Mark {
    /// A failed or empty result, by its fingerprint, which tells the tool too.
    Terminal(u64),
    /// A usable result of a tool.
    Held { tool: u64, result: u64 },
}

/// What came back, to which question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(super) struct Key {
    pub(super) purpose: u64,
    pub(super) mark: Mark,
    /// The query identity; for usable results the arguments.
    pub(super) identity: u64,
    /// The target of a failure that carries a target signal, else 0: a failure of another target is another matter.
    pub(super) target: u64,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Seen {
    times: u32,
    first_at: Timestamp,
    /// The epoch whose one repeat was forgiven, or in which it was first seen.
    epoch: u64,
    /// When it last counted for a sweep, in the ledger's own steps.
    swept: u64,
    /// When it was last seen, in the ledger's own steps.
    seen: u64,
    /// Where its steer was told.
    told: Option<Batch>,
}

/// The moment of a count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tick {
    pub(super) step: u64,
    pub(super) epoch: u64,
    pub(super) now: Timestamp,
}

/// How the same observation to other questions stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// Questions.
    pub(super) questions: u32,
    /// The targets of those that carried a signal.
    pub(super) targets: Targets,
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Counts {
    #[serde(with = "crate::domain::written::pairs")]
    seen: BTreeMap<Key, Seen>,
    /// Those that carry a target signal.
    signalled: usize,
}

impl Counts {
    /// Counts one observation and answers how often it was there; none where it is forgiven or a declared poll.
    pub(super) fn count(&mut self, key: Key, poll: Option<Poll>, tick: Tick) -> Option<u32> {
        let Some(seen) = self.seen.get_mut(&key) else {
            self.make_room();
            let Tick { step, epoch, now } = tick;
            let first = Seen { times: 1, first_at: now, epoch, swept: step, seen: step, told: None };
            self.seen.insert(key, first);
            self.signalled += usize::from(key.target != 0);
            return Some(1);
        };
        seen.seen = tick.step;
        if poll.is_some_and(|poll| tick.now.since_ms(seen.first_at) <= poll.up_to_ms) {
            return None;
        }
        if seen.epoch < tick.epoch {
            seen.epoch = tick.epoch;
            return None;
        }
        seen.times = seen.times.saturating_add(1);
        seen.swept = tick.step;
        Some(seen.times)
    }

    /// The same observation to all questions that counted after `since`.
    pub(super) fn sweep(&self, key: Key, since: u64) -> Sweep {
        let mut sweep = Sweep::default();
        let mut last = None;
        for (key, _) in self.seen.range(questions(key)).filter(|(_, seen)| seen.swept > since) {
            sweep.targets.add(key.target);
            if last != Some(key.identity) {
                last = Some(key.identity);
                sweep.questions = sweep.questions.saturating_add(1);
            }
        }
        sweep
    }

    /// Where a steer was told of the same observation; of a usable one, to the same call.
    pub(super) fn told(&self, key: Key) -> Option<Batch> {
        self.seen.range(span(key)).find_map(|(_, seen)| seen.told)
    }

    pub(super) fn set_told(&mut self, key: Key, batch: Batch) {
        for (_, seen) in self.seen.range_mut(span(key)) {
            seen.told = Some(batch);
        }
    }

    pub(super) fn clear(&mut self) {
        self.seen.clear();
        self.signalled = 0;
    }

    /// Forgets the failures of a target that answers well again.
    pub(super) fn forget(&mut self, target: u64) {
        if self.signalled > 0 {
            self.seen.retain(|key, _| key.target != target);
            self.recount();
        }
    }

    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    fn make_room(&mut self) {
        if self.seen.len() < OBSERVATIONS_MAX {
            return;
        }
        let mut steps: Vec<u64> = self.seen.values().map(|seen| seen.seen).collect();
        let (_, limit, _) = steps.select_nth_unstable(OBSERVATIONS_MAX / 8 - 1);
        let limit = *limit;
        self.seen.retain(|_, seen| seen.seen > limit);
        self.recount();
    }

    fn recount(&mut self) {
        self.signalled = self.seen.keys().filter(|key| key.target != 0).count();
    }
}

/// The same observation, whatever was asked.
fn questions(key: Key) -> RangeInclusive<Key> {
    Key { identity: 0, target: 0, ..key }..=Key { identity: u64::MAX, target: u64::MAX, ..key }
}

/// What one steer speaks of: a failed or empty observation whatever was asked, or one call with its usable result.
fn span(key: Key) -> RangeInclusive<Key> {
    match key.mark {
        Mark::Terminal(_) => questions(key),
        Mark::Held { .. } => key..=key,
    }
}
