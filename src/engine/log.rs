//! The events of this incarnation in one gapless order, as many as fit, for watchers that may come late and be slow.
//!
//! Numbers are drawn while the shard is locked, so that the order of numbers is the order of decisions; events are handed
//! in after unlocking and may arrive out of order. A reader is given events up to the first that has not arrived.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use super::sync::{AtomicU64, AtomicUsize, Mutex, Ordering};
use crate::domain::event::Event;

/// What a reader finds after a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Events before these that are kept no more.
    pub lost: u64,
    /// In order.
    pub events: Vec<Arc<Event>>,
}

/// Called after events were handed in.
type Bell = Box<dyn Fn() + Send + Sync>;
/// Called with events before they are handed in.
type Ear = Box<dyn Fn(&[Event]) + Send + Sync>;

/// The log.
pub struct EventLog {
    next_seq: AtomicU64,
    /// Watchers that want an event for every call.
    call_watchers: AtomicUsize,
    // Guards the ring only; taken after every shard lock is released.
    ring: Mutex<Ring>,
    bell: OnceLock<Bell>,
    ear: OnceLock<Ear>,
}

struct Ring {
    /// The number of the first place.
    first: u64,
    places: VecDeque<Option<Arc<Event>>>,
    places_max: usize,
}

/// What an event is reckoned to take, with its texts.
const EVENT_BYTES: usize = 512;

impl std::fmt::Debug for EventLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventLog").field("last_seq", &self.last_seq()).finish_non_exhaustive()
    }
}

impl EventLog {
    pub(crate) fn new(bytes_max: usize) -> Self {
        let ring = Ring { first: 1, places: VecDeque::new(), places_max: (bytes_max / EVENT_BYTES).max(16) };
        Self {
            next_seq: AtomicU64::new(1),
            call_watchers: AtomicUsize::new(0),
            ring: Mutex::new(ring),
            bell: OnceLock::new(),
            ear: OnceLock::new(),
        }
    }

    /// With the same bound, without an event, a watcher or a bell.
    pub(crate) fn emptied(&self) -> Self {
        Self::new(self.ring.lock().places_max * EVENT_BYTES)
    }

    /// Rings after every hand-in; may be set once.
    pub fn on_events(&self, bell: impl Fn() + Send + Sync + 'static) {
        let _ = self.bell.set(Box::new(bell));
    }

    /// Hears every event once, whatever is lost to readers, though not in the order of numbers. Called on the way of a
    /// decision: it has to be quick and must not wait. May be set once.
    pub fn on_every_event(&self, ear: impl Fn(&[Event]) + Send + Sync + 'static) {
        let _ = self.ear.set(Box::new(ear));
    }

    /// Draws numbers for `events`; called while the shard is locked.
    pub(crate) fn number(&self, events: &mut [Event]) -> u64 {
        let count = events.len() as u64;
        let first = self.next_seq.fetch_add(count, Ordering::SeqCst);
        for (seq, event) in (first..).zip(events) {
            event.seq = seq;
        }
        first
    }

    /// Hands numbered events in; called without any lock.
    pub(crate) fn hand_in(&self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        if let Some(ear) = self.ear.get() {
            ear(&events);
        }
        {
            let mut ring = self.ring.lock();
            for event in events {
                ring.place(event);
            }
        }
        if let Some(bell) = self.bell.get() {
            bell();
        }
    }

    /// The number of the last event drawn.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.next_seq.load(Ordering::SeqCst).saturating_sub(1)
    }

    /// At most `limit` events after a number.
    #[must_use]
    pub fn after(&self, seq: u64, limit: usize) -> Reading {
        let ring = self.ring.lock();
        let lost = ring.first.saturating_sub(seq.saturating_add(1));
        let from = seq.saturating_add(1).saturating_sub(ring.first);
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let events = ring.places.iter().skip(from).take(limit).map_while(Clone::clone).collect();
        Reading { lost, events }
    }

    /// Whether somebody wants an event for every call.
    pub(crate) fn wants_calls(&self) -> bool {
        self.call_watchers.load(Ordering::Relaxed) > 0
    }

    /// Asks for an event for every call, until it is dropped.
    #[must_use]
    pub fn watch_calls(self: &Arc<Self>) -> CallWatch {
        self.call_watchers.fetch_add(1, Ordering::SeqCst);
        CallWatch(Arc::clone(self))
    }
}

/// The wish for an event for every call.
#[derive(Debug)]
pub struct CallWatch(Arc<EventLog>);

impl Drop for CallWatch {
    fn drop(&mut self) {
        self.0.call_watchers.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Ring {
    fn place(&mut self, event: Event) {
        let Some(at) = event.seq.checked_sub(self.first) else { return }; // came after its place was given up
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        while self.places.len() <= at {
            self.places.push_back(None);
        }
        if let Some(place) = self.places.get_mut(at) {
            *place = Some(Arc::new(event));
        }
        while self.places.len() > self.places_max {
            self.places.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::Happening;
    use crate::domain::ids::Code;
    use crate::domain::time::Timestamp;

    fn event() -> Event {
        let breaker = Code::from_target("x");
        let what = Happening::Recovered;
        Event { seq: 0, at: Timestamp(0), breaker, scope: "".into(), scope_id: 0, kind: None, generation: 0, what }
    }

    fn seqs(reading: &Reading) -> Vec<u64> {
        reading.events.iter().map(|event| event.seq).collect()
    }

    #[test]
    fn readers_wait_for_the_first_event_that_has_not_arrived() {
        let log = EventLog::new(1 << 20);
        let (mut early, mut late) = (vec![event(), event()], vec![event()]);
        log.number(&mut early);
        log.number(&mut late);
        log.hand_in(late);
        assert_eq!(seqs(&log.after(0, 10)), [0_u64; 0]);
        log.hand_in(early);
        assert_eq!(seqs(&log.after(0, 10)), [1, 2, 3]);
        assert_eq!(seqs(&log.after(1, 1)), [2]);
    }

    #[test]
    fn a_slow_reader_is_told_how_much_it_lost() {
        let log = EventLog::new(0); // 16 places
        for _ in 0..20 {
            let mut one = vec![event()];
            log.number(&mut one);
            log.hand_in(one);
        }
        let reading = log.after(0, 3);
        assert_eq!((reading.lost, seqs(&reading)), (4, vec![5, 6, 7]));
        assert_eq!(log.after(20, 3), Reading { lost: 0, events: vec![] });
    }
}
