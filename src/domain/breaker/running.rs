//! The calls that one breaker has let through and that have not returned, where an operator caps them (spec 4.2).
//!
//! Pure. A place that nobody gives back is free when its lease ends, whenever somebody looks. Without a cap nothing is
//! kept, so that a cap which comes with a reload begins to count with the calls after it.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use super::{Admission, Ask, Breaker, Moment};
use crate::domain::contract::session::SessionFigures;
use crate::domain::contract::{
    CATALOGUE, CatalogueRow, Condition, Facts, LONG_FIELD_BYTES_MAX, Observed, Standing, Threshold, Trip, TripContract,
};
use crate::domain::event::{Event, Events, Happening, Told};
use crate::domain::ids::SafeText;
use crate::domain::signal::{Phase, Signal};
use crate::domain::time::Timestamp;
use crate::domain::verdict::Verdict;

/// The highest cap, and so the most places that one breaker keeps: some 50 bytes each.
pub const CALLS_AT_ONCE_MAX: u32 = 1_000_000;

/// The running calls of one breaker; takes a word while there are none.
#[derive(Clone, Debug, Default)]
pub(super) struct Running(Option<Box<Places>>);

/// By permit, to give one back, and by the end of its lease, to free those that nobody gave back.
#[derive(Clone, Debug, Default)]
struct Places {
    ends: BTreeMap<u64, Timestamp>,
    order: BTreeSet<(Timestamp, u64)>,
}

impl Running {
    /// Frees the places whose lease has ended; how many calls run then.
    pub(super) fn at(&mut self, now: Timestamp) -> u32 {
        let Some(places) = &mut self.0 else { return 0 };
        while let Some((end, seq)) = places.order.first().copied().filter(|(end, _)| *end <= now) {
            places.order.remove(&(end, seq));
            places.ends.remove(&seq);
        }
        let running = places.ends.len();
        if running == 0 {
            self.0 = None;
        }
        u32::try_from(running).unwrap_or(u32::MAX)
    }

    /// Takes the place of a permit until its lease ends. Who asks has seen that there is room.
    fn take(&mut self, seq: u64, lease_ends: Timestamp) {
        let places = self.0.get_or_insert_default();
        if let Some(before) = places.ends.insert(seq, lease_ends) {
            places.order.remove(&(before, seq));
        }
        places.order.insert((lease_ends, seq));
    }

    /// Gives the place of a permit back: its call has returned.
    pub(super) fn give_back(&mut self, seq: u64) {
        if let Some(places) = &mut self.0
            && let Some(end) = places.ends.remove(&seq)
        {
            places.order.remove(&(end, seq));
        }
    }

    /// When a place is free at the latest: 0 is now. Who gives one back sooner is heard of.
    fn free_from(&self, cap: NonZeroU32, now: Timestamp) -> Timestamp {
        let Some(places) = &self.0 else { return Timestamp(0) };
        let cap = usize::try_from(cap.get()).unwrap_or(usize::MAX);
        let over = places.ends.len().saturating_sub(cap);
        let end = places.order.iter().nth(over).map(|(end, _)| *end);
        end.filter(|end| places.ends.len() >= cap && *end > now).unwrap_or(Timestamp(0))
    }

    /// Forgets every call: nobody caps them any more.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// Bytes on the heap, about.
    pub(super) fn heap_bytes(&self) -> usize {
        let entry = size_of::<(u64, Timestamp)>() * 3 / 2; // a node of these trees is two thirds full on average
        self.0.as_ref().map_or(0, |places| size_of::<Places>() + places.ends.len() * 2 * entry)
    }
}

impl Breaker {
    /// The figures of a breaker that has as many calls running as it may; none where there is room.
    pub(super) fn crowded(&mut self, now: Timestamp) -> Option<SessionFigures> {
        let cap = self.prepared.policy.calls_at_once?.get();
        let running = self.running.at(now);
        (running >= cap).then_some(SessionFigures::Backend { running, cap })
    }

    /// Notes a call that was let through, where calls are capped.
    pub(super) fn note_running(&mut self, seq: u64, lease_ends: Timestamp) {
        if self.prepared.policy.calls_at_once.is_some() {
            self.running.take(seq, lease_ends);
        }
    }

    /// When there is room for one more call at the latest: 0 is now.
    pub(super) fn room_from(&self, now: Timestamp) -> Timestamp {
        self.prepared.policy.calls_at_once.map_or(Timestamp(0), |cap| self.running.free_from(cap, now))
    }

    /// The refusal of a call that would be one too many. It takes nothing, no probe either.
    pub(super) fn turn_away(
        &self,
        ask: &Ask<'_>,
        figures: SessionFigures,
        moment: &Moment<'_>,
        out: &mut Events,
    ) -> Admission {
        let trip = self.full(ask, figures, moment, out.len());
        let row = trip.contract.row;
        let told = Told {
            signal: row.signal,
            action: row.action,
            urgency: row.urgency,
            phase: Phase::Closed,
            observed: trip.contract.observed.clone(),
            threshold: trip.contract.threshold.clone(),
        };
        let scope = format!("target:{}", ask.target.as_str()).into();
        out.push(Event { scope, ..self.event(moment.now, Happening::Refused(told)) });
        Admission { verdict: Verdict::Refuse(Box::new(trip)), shadow: None, expires_in_ms: 0 }
    }

    /// The contract of a full breaker.
    pub(super) fn full(&self, ask: &Ask<'_>, figures: SessionFigures, moment: &Moment<'_>, event_at: usize) -> Trip {
        // INVARIANT: the catalogue has this row (a test asks for all of them).
        let row = CatalogueRow::find(Signal::FanOut, Condition::Full).unwrap_or(&CATALOGUE[0]);
        let contract = TripContract {
            row,
            breaker: self.code.clone(),
            target: SafeText::cut(ask.target.as_str(), LONG_FIELD_BYTES_MAX),
            observed: Observed::Session(figures),
            threshold: Threshold::Session(figures),
            state: Standing::Session(figures),
            fallback: self.named_fallback(row, self.fallback(ask, moment)),
            max_argument_bytes: None,
        };
        Trip {
            contract,
            retry_at: figures.retry_hint_ms().map(|hint| moment.now.plus_ms(hint)),
            also_open: vec![],
            generation: 0,
            event_seq: event_at as u64,
            facts: Facts::default(),
        }
    }
}

#[cfg(test)]
mod tests;
