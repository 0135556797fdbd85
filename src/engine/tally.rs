//! What calls and their results came to, in counts that only grow, and how many permits are out.
//!
//! Counts of a shard are plain numbers under the lock that every call takes anyway, so that counting costs a decision
//! nothing that another thread would have to wait for. Nothing is decided by them.

use std::collections::VecDeque;

use super::Engine;
use super::sync::{AtomicU64, Ordering};
use crate::domain::breaker::{Acknowledgement, Admission};
use crate::domain::observation::{Classification, Disposition, Observation};
use crate::domain::signal::closed_words;
use crate::domain::time::Timestamp;
use crate::domain::verdict::Verdict;

closed_words! {
    /// What became of a permit.
    Settlement {
        /// Reported: a good answer.
        Ok = "ok",
        /// Reported: the target rejected the caller's own input.
        BadInput = "bad_input",
        /// Reported: a time limit ended the call.
        TimedOut = "timed_out",
        /// Reported: the call failed.
        Failed = "failed",
        /// Reported: it says nothing of its target.
        Ignored = "ignored",
        /// Nobody reported it in its time.
        Expired = "expired",
    }
}

impl From<Classification> for Settlement {
    fn from(classification: Classification) -> Self {
        match classification {
            Classification::Ok => Self::Ok,
            Classification::BadInput => Self::BadInput,
            Classification::TimedOut => Self::TimedOut,
            Classification::Failed(_) => Self::Failed,
            Classification::Ignored => Self::Ignored,
        }
    }
}

/// Slices into which the life of a permit is cut: how sharply the age of one that is out is known.
const SLICES: u64 = 64;

/// Permits that were issued in a span of time and are out.
#[derive(Debug, Default)]
struct Slice {
    from: Timestamp,
    /// The first moment after it.
    to: Timestamp,
    open: u32,
}

/// The counts of one shard.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    permits: u64,
    probes: u64,
    settled: [u64; Settlement::ALL.len()],
    reports: [u64; Acknowledgement::ALL.len()],
    /// The last span of time: nearly every permit is issued and comes back in it.
    latest: Slice,
    /// Those before it, oldest first; at most one more than [`SLICES`].
    slices: VecDeque<Slice>,
}

impl Tally {
    /// Counts what an ask came to.
    pub(crate) fn admitted(&mut self, admission: &Admission, permit_for_ms: u64) {
        let Verdict::Proceed(permit) = &admission.verdict else { return }; // a refusal is an event
        self.permits += 1;
        self.probes += u64::from(permit.is_probe);
        self.issued(permit.issued_at, permit_for_ms);
    }

    fn issued(&mut self, at: Timestamp, permit_for_ms: u64) {
        if self.latest.holds(at) {
            self.latest.open += 1;
        } else {
            self.issued_elsewhen(at, permit_for_ms);
        }
    }

    #[cold]
    fn issued_elsewhen(&mut self, at: Timestamp, permit_for_ms: u64) {
        if at >= self.latest.to {
            self.expire(at, permit_for_ms);
            let to = at.plus_ms((permit_for_ms / SLICES).max(1));
            let before = std::mem::replace(&mut self.latest, Slice { from: at, to, open: 1 });
            self.slices.push_back(before);
        } else {
            // Another thread was faster.
            let slice = self.slices.iter_mut().rev().find(|slice| slice.from <= at).unwrap_or(&mut self.latest);
            slice.from = slice.from.min(at);
            slice.open += 1;
        }
    }

    /// Counts what became of a report of a permit.
    pub(crate) fn reported(&mut self, what: Acknowledgement, issued_at: Timestamp, result: Classification) {
        add(&mut self.reports, what as usize, 1);
        match what {
            Acknowledgement::Counted | Acknowledgement::Stale => {}
            Acknowledgement::Duplicate | Acknowledgement::Expired | Acknowledgement::Unknown => return,
        }
        // Out of its slice, or not at all: more is never settled than was issued, whatever comes back twice.
        let slice = match self.latest.from <= issued_at {
            true => Some(&mut self.latest),
            false => self.slices.iter_mut().rev().find(|slice| slice.from <= issued_at),
        };
        if let Some(slice) = slice.filter(|slice| slice.open > 0) {
            slice.open -= 1;
            add(&mut self.settled, Settlement::from(result) as usize, 1);
        }
    }

    /// Writes off the permits whose time is over.
    fn expire(&mut self, now: Timestamp, permit_for_ms: u64) {
        let is_over = |slice: &mut Slice| now >= slice.to.plus_ms(permit_for_ms);
        let mut expired = 0;
        while let Some(slice) = self.slices.pop_front_if(is_over) {
            expired += slice.open;
        }
        if is_over(&mut self.latest) {
            expired += std::mem::take(&mut self.latest.open);
        }
        add(&mut self.settled, Settlement::Expired as usize, expired.into());
    }

    /// The spans of time, oldest first.
    fn all(&self) -> impl Iterator<Item = &Slice> {
        self.slices.iter().chain([&self.latest])
    }
}

impl Slice {
    fn holds(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}

fn add(counts: &mut [u64], at: usize, more: u64) {
    if let Some(count) = counts.get_mut(at) {
        *count += more;
    }
}

/// Counts of results, which are told without a shard's lock.
#[derive(Debug, Default)]
pub(crate) struct ResultTally {
    /// Calls that were refused.
    pub(crate) refused: AtomicU64,
    observations: [AtomicU64; Observation::ALL.len()],
    dispositions: [AtomicU64; Disposition::ALL.len()],
    /// Reports of permits that are none of ours, or of a breaker that is gone.
    pub(crate) unknown: AtomicU64,
}

impl ResultTally {
    /// Counts a result: what it is, where it was read here, and who acts on it.
    pub(crate) fn result(&self, observation: Option<Observation>, disposition: Disposition) {
        let observation = observation.and_then(|word| self.observations.get(word as usize));
        for count in observation.into_iter().chain(self.dispositions.get(disposition as usize)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What calls and results came to in this life, and what is kept now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Permits that were issued.
    pub permits: u64,
    /// Of these, leased probes.
    pub probes: u64,
    /// Permits that came back or were written off, in the order of [`Settlement::ALL`].
    pub settled: [u64; Settlement::ALL.len()],
    /// Permits that are out.
    pub in_flight: u64,
    /// Since when the oldest of them is, to a sixty-fourth of a permit's life.
    pub oldest: Option<Timestamp>,
    /// Reports, in the order of [`Acknowledgement::ALL`].
    pub reports: [u64; Acknowledgement::ALL.len()],
    /// Results that were read here, in the order of [`Observation::ALL`].
    pub observations: [u64; Observation::ALL.len()],
    /// Reports by who acts on them, in the order of [`Disposition::ALL`].
    pub dispositions: [u64; Disposition::ALL.len()],
    /// Contracts that overran their budget.
    pub overruns: u64,
    /// Sessions that began.
    pub sessions_begun: u64,
    /// Sessions that are kept.
    pub sessions: usize,
    /// Targets that live.
    pub targets: usize,
    /// Breakers that live.
    pub breakers: usize,
}

impl Engine {
    /// Calls that were let through or refused in this life. Takes each shard's lock for a moment.
    #[must_use]
    pub fn decisions(&self) -> u64 {
        let permits =
            (0..self.registry.shards()).filter_map(|nth| self.registry.with_nth(nth, |shard| shard.tally.permits));
        permits.sum::<u64>() + self.results.refused.load(Ordering::Relaxed)
    }

    /// What this life came to so far. Takes each shard's lock for a moment.
    #[must_use]
    pub fn counts(&self, now: Timestamp) -> Counts {
        let permit_for_ms = self.current().permit_for_ms;
        let mut counts = Counts {
            overruns: self.overruns(),
            sessions_begun: self.sessions.begun(),
            sessions: self.sessions.len(),
            targets: self.targets(),
            breakers: self.breakers(),
            ..Counts::default()
        };
        for nth in 0..self.registry.shards() {
            self.registry.with_nth(nth, |shard| {
                shard.tally.expire(now, permit_for_ms);
                counts.add(&shard.tally);
            });
        }
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        add(&mut counts.reports, Acknowledgement::Unknown as usize, load(&self.results.unknown));
        for (sum, count) in counts.observations.iter_mut().zip(&self.results.observations) {
            *sum = load(count);
        }
        for (sum, count) in counts.dispositions.iter_mut().zip(&self.results.dispositions) {
            *sum = load(count);
        }
        counts
    }
}

impl Counts {
    fn add(&mut self, tally: &Tally) {
        self.permits += tally.permits;
        self.probes += tally.probes;
        self.settled.iter_mut().zip(&tally.settled).for_each(|(sum, more)| *sum += more);
        self.reports.iter_mut().zip(&tally.reports).for_each(|(sum, more)| *sum += more);
        self.in_flight += tally.all().map(|slice| u64::from(slice.open)).sum::<u64>();
        let oldest = tally.all().find(|slice| slice.open > 0).map(|slice| slice.from);
        self.oldest = self.oldest.into_iter().chain(oldest).min();
    }

    /// Permits that were settled in a way.
    #[must_use]
    pub fn settled(&self, how: Settlement) -> u64 {
        self.settled.get(how as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERMIT_FOR_MS: u64 = 6_400; // slices of 100 ms

    fn issue(tally: &mut Tally, at: u64) {
        tally.permits += 1;
        tally.issued(Timestamp(at), PERMIT_FOR_MS);
    }

    fn come_back(tally: &mut Tally, issued_at: u64) {
        tally.reported(Acknowledgement::Counted, Timestamp(issued_at), Classification::Ok);
    }

    /// Issued, settled as good, expired, in flight; the first is the sum of the others.
    fn told(tally: &mut Tally, now: u64) -> [u64; 4] {
        tally.expire(Timestamp(now), PERMIT_FOR_MS);
        let mut counts = Counts::default();
        counts.add(tally);
        let all: u64 = counts.settled.iter().sum::<u64>() + counts.in_flight;
        assert_eq!(all, counts.permits);
        [counts.permits, counts.settled(Settlement::Ok), counts.settled(Settlement::Expired), counts.in_flight]
    }

    #[test]
    fn of_every_permit_it_is_known_what_became_of_it() {
        let mut tally = Tally::default();
        for at in [0, 50, 99, 100, 250, 40, 260] {
            issue(&mut tally, at); // one of them by a thread that was slow
        }
        come_back(&mut tally, 50);
        come_back(&mut tally, 250);
        assert_eq!(told(&mut tally, 300), [7, 2, 0, 5]);
        assert_eq!(told(&mut tally, 99 + PERMIT_FOR_MS), [7, 2, 0, 5], "the first slice has not ended");
        assert_eq!(told(&mut tally, 100 + PERMIT_FOR_MS), [7, 2, 3, 2]);
        assert_eq!(told(&mut tally, 100_000), [7, 2, 5, 0]);
    }

    #[test]
    fn more_is_never_settled_than_was_issued() {
        let mut tally = Tally::default();
        issue(&mut tally, 500);
        for _ in 0..3 {
            come_back(&mut tally, 500);
        }
        come_back(&mut tally, 0);
        assert_eq!(told(&mut tally, 600), [1, 1, 0, 0]);
        tally.reported(Acknowledgement::Duplicate, Timestamp(500), Classification::Ok);
        assert_eq!(told(&mut tally, 600), [1, 1, 0, 0]);
    }

    #[test]
    fn slices_are_bounded_whatever_the_pace() {
        let mut tally = Tally::default();
        for at in 0..100_000 {
            issue(&mut tally, at * 7);
        }
        assert!(tally.slices.len() as u64 <= SLICES + 2, "{}", tally.slices.len());
        let mut counts = Counts::default();
        counts.add(&tally);
        assert!(counts.oldest.unwrap() >= Timestamp(99_999 * 7 - PERMIT_FOR_MS - 100));
    }
}
