//! What was told about failed attempts: asked again, the same is answered; a new binding is chained to the old one.
//!
//! Bounded per step and in all; the oldest go first and are counted. What has gone is decided anew when it is asked
//! again, and a chain that has gone whole no longer knows which hosts it left.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::binding::{self, Binding, Decision, FailureRules, IsOpen, Question};
use super::names::{HostName, SketchRef, StepName};
use super::record::AttemptRecord;
use super::tree::{Leaf, Row};
use crate::domain::ids::SafeText;
use crate::domain::time::Timestamp;

/// How many attempts are kept. Each is at most 2 KiB: five names, and what was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogBounds {
    /// Of one step.
    pub per_step: usize,
    /// Of all steps.
    pub in_all: usize,
}

impl Default for LogBounds {
    fn default() -> Self {
        Self { per_step: 64, in_all: 10_000 } // 20 MiB worst case, a tenth of it with names of a usual length
    }
}

/// Whose step it is: a name belongs to the caller that gave it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct StepKey {
    /// The keyed hash of the caller; 0: the nameless one.
    pub caller: u64,
    /// What the caller calls it.
    pub name: StepName,
}

/// One attempt, as its caller names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptId {
    /// As [`StepKey::caller`].
    pub caller: u64,
    /// The number.
    pub id: u64,
}

/// The reply of a narrowed call: a draft until somebody accepts it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sketch {
    /// Where the caller keeps it, where it said so.
    pub reference: Option<SketchRef>,
    /// When it was accepted.
    pub accepted_at: Option<Timestamp>,
}

/// One failed attempt as it is kept: the old binding and, in the decision, the new one.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Attempt {
    /// Its number, from 1; never used again.
    pub id: u64,
    /// The number of the first attempt of its chain of bindings.
    pub chain: u64,
    /// The attempt before it in its chain: of the same binding, or the one that named this binding.
    pub after: Option<u64>,
    /// When it was decided.
    pub at: Timestamp,
    /// Its step.
    pub step: StepKey,
    /// Where it ran.
    pub binding: Binding,
    /// What failed.
    pub record: AttemptRecord,
    /// What may follow.
    pub decision: Decision,
    /// Why the cap of retries stood above one, where the row that matched reads it.
    pub cap_raised_because: Option<SafeText>,
    /// Of a narrowing: its reply.
    pub sketch: Option<Sketch>,
}

/// An attempt as it is kept over a restart, beside what its step and its chain know.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KeptAttempt {
    /// The attempt.
    pub attempt: Attempt,
    /// The hosts that its chain has left.
    pub left: Vec<HostName>,
    /// Attempts of its step that went before those that are kept.
    pub dropped: u64,
}

impl Attempt {
    fn is_of(&self, binding: &Binding, attempt: u32) -> bool {
        self.binding == *binding && self.record.attempt == attempt
    }

    /// Whether an attempt at `binding` continues this one. A narrowed prompt is shorter: its snapshot may be another.
    fn leads_to(&self, binding: &Binding) -> bool {
        let is_next = self.decision.next.as_ref().is_some_and(|next| match self.decision.leaf {
            Leaf::RouteNarrowing => next.binding.host == binding.host && next.binding.route == binding.route,
            Leaf::SameBindingRetry | Leaf::ComputeMove | Leaf::Halt => next.binding == *binding,
        });
        is_next || self.binding == *binding
    }
}

/// A failed attempt on which a decision is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its step.
    pub step: &'a StepKey,
    /// Where it ran.
    pub binding: &'a Binding,
    /// What failed.
    pub record: &'a AttemptRecord,
    /// The hosts at which its snapshot can be read.
    pub published_at: &'a [HostName],
    /// Where the caller would keep the reply of a narrowed call; kept only where it comes to one.
    pub sketch: Option<&'a SketchRef>,
}

/// What was decided, now or before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The attempt with its decision.
    pub attempt: Arc<Attempt>,
    /// It had been asked before: nothing was decided and nothing moved.
    pub is_duplicate: bool,
}

/// Why a sketch cannot be accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSketch {
    /// The caller has no such attempt, or it is no longer kept.
    #[error("attempt `{id}` is not kept: give the id of one that is listed")]
    NotKept {
        /// The id.
        id: u64,
    },
    /// The attempt was not narrowed, so no reply of it is a sketch.
    #[error("attempt `{id}` is a `{leaf}`, not a sketch: give the id of a `route_narrowing`")]
    NotASketch {
        /// The id.
        id: u64,
        /// What was decided.
        leaf: Leaf,
    },
}

/// The attempts of one step that are kept, oldest first.
#[derive(Debug, Default)]
struct Step {
    ids: VecDeque<u64>,
    dropped: u64,
}

/// What one chain of bindings knows as long as one of its attempts is kept.
#[derive(Debug, Default)]
struct Chain {
    kept: usize,
    left: Vec<HostName>, // at most LEFT_MAX
}

/// Failed attempts with what was decided on them.
#[derive(Debug)]
pub struct AttemptLog {
    bounds: LogBounds,
    last_id: u64,
    dropped: u64,
    attempts: BTreeMap<u64, Arc<Attempt>>, // by id, so the first is the oldest
    steps: BTreeMap<StepKey, Step>,
    chains: BTreeMap<u64, Chain>,
}

impl AttemptLog {
    /// How much it keeps.
    #[must_use]
    pub const fn bounds(&self) -> LogBounds {
        self.bounds
    }

    /// An empty log. It keeps at least the last attempt.
    #[must_use]
    pub const fn new(bounds: LogBounds) -> Self {
        Self {
            bounds,
            last_id: 0,
            dropped: 0,
            attempts: BTreeMap::new(),
            steps: BTreeMap::new(),
            chains: BTreeMap::new(),
        }
    }

    /// Decides on a failed attempt and keeps it; of one that it keeps already it answers what was decided.
    pub fn decide(&mut self, now: Timestamp, asked: &Asked<'_>, rules: &FailureRules, is_open: IsOpen<'_>) -> Answer {
        if let Some(attempt) = self.newest(asked.step, |own| own.is_of(asked.binding, asked.record.attempt)) {
            return Answer { attempt: Arc::clone(attempt), is_duplicate: true };
        }
        let before = self.newest(asked.step, |own| own.leads_to(asked.binding)).map(|own| (own.id, own.chain));
        let id = self.last_id.saturating_add(1);
        let chain = before.map_or(id, |(_, chain)| chain);
        let left = self.chains.get(&chain).map_or(&[][..], |chain| &chain.left);
        let question =
            Question { record: asked.record, binding: asked.binding, published_at: asked.published_at, left };
        let decision = binding::decide(&question, rules, is_open);
        let reads_cap = matches!(decision.row, Row::Retry | Row::Move);
        let is_sketch = decision.leaf == Leaf::RouteNarrowing;
        let attempt = Arc::new(Attempt {
            id,
            chain,
            after: before.map(|(id, _)| id),
            at: now,
            step: asked.step.clone(),
            binding: asked.binding.clone(),
            record: *asked.record,
            decision,
            cap_raised_because: rules.cap.because().filter(|_| reads_cap).cloned(),
            sketch: is_sketch.then(|| Sketch { reference: asked.sketch.cloned(), accepted_at: None }),
        });
        self.keep(Arc::clone(&attempt));
        Answer { attempt, is_duplicate: false }
    }

    /// Marks the sketch of exactly this attempt as accepted. Accepted again, the first time stands.
    ///
    /// # Errors
    /// Where the caller has no such attempt, or it has no sketch.
    pub fn accept_sketch(&mut self, now: Timestamp, attempt: AttemptId) -> Result<Answer, InvalidSketch> {
        let AttemptId { caller, id } = attempt;
        let own = self.attempts.get_mut(&id).filter(|attempt| attempt.step.caller == caller);
        let attempt = own.ok_or(InvalidSketch::NotKept { id })?;
        let leaf = attempt.decision.leaf;
        let sketch = Arc::make_mut(attempt).sketch.as_mut().ok_or(InvalidSketch::NotASketch { id, leaf })?;
        let is_duplicate = sketch.accepted_at.is_some();
        sketch.accepted_at.get_or_insert(now);
        Ok(Answer { attempt: Arc::clone(attempt), is_duplicate })
    }

    /// The kept attempts of a step, oldest first.
    pub fn by_step(&self, step: &StepKey) -> impl DoubleEndedIterator<Item = &Arc<Attempt>> {
        let ids = self.steps.get(step).into_iter().flat_map(|step| &step.ids);
        ids.filter_map(|id| self.attempts.get(id))
    }

    /// One attempt.
    #[must_use]
    pub fn attempt(&self, id: u64) -> Option<&Arc<Attempt>> {
        self.attempts.get(&id)
    }

    /// How many are kept.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.attempts.len()
    }

    /// How many were dropped for want of room, of all steps.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How many attempts of a step went before those that are kept; 0 where none is kept.
    #[must_use]
    pub fn dropped_of(&self, step: &StepKey) -> u64 {
        self.steps.get(step).map_or(0, |step| step.dropped)
    }

    /// An attempt as it is kept over a restart; none where it has gone.
    #[must_use]
    pub fn snapshot(&self, id: u64) -> Option<KeptAttempt> {
        let attempt = self.attempts.get(&id)?;
        let left = self.chains.get(&attempt.chain).map_or_else(Vec::new, |chain| chain.left.clone());
        Some(KeptAttempt { attempt: (**attempt).clone(), left, dropped: self.dropped_of(&attempt.step) })
    }

    /// Puts an attempt back; older ones come first.
    pub fn restore(&mut self, kept: KeptAttempt) {
        let KeptAttempt { attempt, left, dropped } = kept;
        let (chain, step) = (attempt.chain, attempt.step.clone());
        self.keep(Arc::new(attempt));
        if let Some(chain) = self.chains.get_mut(&chain) {
            let more = left.into_iter().filter(|host| !chain.left.contains(host)).collect::<Vec<_>>();
            chain.left.extend(more.into_iter().take(binding::LEFT_MAX));
        }
        if let Some(step) = self.steps.get_mut(&step) {
            step.dropped = step.dropped.max(dropped);
        }
    }

    /// No attempt gets a number before this one.
    pub fn go_on_from(&mut self, first: u64) {
        self.last_id = self.last_id.max(first.saturating_sub(1));
    }

    fn newest(&self, step: &StepKey, is_meant: impl Fn(&Attempt) -> bool) -> Option<&Arc<Attempt>> {
        self.by_step(step).rev().find(|attempt| is_meant(attempt))
    }

    fn keep(&mut self, attempt: Arc<Attempt>) {
        let chain = self.chains.entry(attempt.chain).or_default();
        chain.kept += 1;
        let host = &attempt.binding.host;
        if attempt.decision.leaf == Leaf::ComputeMove && !chain.left.contains(host) {
            chain.left.push(host.clone());
        }
        self.last_id = attempt.id;
        let step = self.steps.entry(attempt.step.clone()).or_default();
        step.ids.push_back(attempt.id);
        let too_old = if step.ids.len() > self.bounds.per_step.max(1) { step.ids.front().copied() } else { None };
        self.attempts.insert(attempt.id, attempt);
        let in_all = self.bounds.in_all.max(1);
        let oldest = || self.attempts.keys().next().copied().filter(|_| self.attempts.len() > in_all);
        if let Some(id) = too_old.or_else(oldest) {
            self.drop_oldest(id); // one came, so one at most has to go
        }
    }

    /// Drops the oldest attempt of a step; the oldest of all is the oldest of its step, too.
    fn drop_oldest(&mut self, id: u64) {
        let Some(attempt) = self.attempts.remove(&id) else { return };
        self.dropped = self.dropped.saturating_add(1);
        if let Some(step) = self.steps.get_mut(&attempt.step) {
            step.ids.pop_front();
            step.dropped = step.dropped.saturating_add(1);
            if step.ids.is_empty() {
                self.steps.remove(&attempt.step);
            }
        }
        if let Some(chain) = self.chains.get_mut(&attempt.chain) {
            chain.kept = chain.kept.saturating_sub(1);
            if chain.kept == 0 {
                self.chains.remove(&attempt.chain);
            }
        }
    }
}

#[cfg(test)]
mod tests;
