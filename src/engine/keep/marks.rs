//! What has changed since it was written last. Bounded by the number of things that can change, whatever the disk does.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use crate::domain::behaviour::Fact;
use crate::domain::event::{Event, Happening};
use crate::domain::ids::{HashKey, HashTag};
use crate::engine::behaviour::Part;
use crate::engine::sync::{AtomicU64, Mutex, Ordering};

/// One thing that has changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// A breaker ended: all that is kept of it goes.
    Breaker(u64),
    /// A circuit of a scope changed its phase.
    Scope { breaker: u64, scope: u64 },
    /// Somebody holds or let go.
    Holds(u64),
    /// A session was heard of, or ended.
    Session(u64),
    /// An attempt was decided on or accepted.
    Attempt(u64),
    /// Trips were told, concluded or resolved.
    Part(Part),
    /// A session ended.
    Sessions,
}

/// Rings when there is something to write.
type Bell = Box<dyn Fn() + Send + Sync>;

/// The marks.
#[derive(Default)]
pub(crate) struct Marks {
    /// Nobody marks anything where nothing is written.
    is_kept: AtomicBool,
    /// Openings, overrides, halts, latches and ends so far: what an operator may ask to be durable before it is answered.
    urgent: AtomicU64,
    // Guards the set only; a leaf lock, taken with no other held.
    changed: Mutex<BTreeSet<Mark>>,
    bell: OnceLock<Bell>,
}

impl std::fmt::Debug for Marks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Marks").field("is_kept", &self.is_kept).finish_non_exhaustive()
    }
}

impl Marks {
    /// From now on changes are marked; `bell` rings when the first one is there, and must not wait.
    pub(crate) fn keep(&self, bell: impl Fn() + Send + Sync + 'static) {
        let _ = self.bell.set(Box::new(bell));
        self.is_kept.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }

    /// Notes a change; called without any lock.
    pub(crate) fn note(&self, mark: Mark) {
        if self.is_kept() {
            self.note_all(BTreeSet::from([mark]));
        }
    }

    /// Notes changes, or notes again what could not be written.
    pub(crate) fn note_all(&self, marks: BTreeSet<Mark>) {
        let was_empty = {
            let mut changed = self.changed.lock();
            let was_empty = changed.is_empty();
            changed.extend(marks); // one by one: `append` would walk over all that waits, and a stalled disk makes that many
            was_empty && !changed.is_empty()
        };
        if let Some(bell) = self.bell.get().filter(|_| was_empty) {
            bell();
        }
    }

    /// Takes what has changed.
    pub(crate) fn take(&self) -> BTreeSet<Mark> {
        std::mem::take(&mut *self.changed.lock())
    }

    pub(crate) fn len(&self) -> usize {
        self.changed.lock().len()
    }

    /// How much has happened that must not be lost.
    pub(crate) fn urgent(&self) -> u64 {
        self.urgent.load(Ordering::SeqCst)
    }

    /// Notes what events changed.
    pub(crate) fn hear(&self, events: &[Event], names: &HashKey) {
        if !self.is_kept() {
            return;
        }
        let breaker = |event: &Event| names.hash(HashTag::Code, event.breaker.as_str().as_bytes());
        let marks: BTreeSet<Mark> = events.iter().filter_map(|event| mark_of(event, breaker)).collect();
        if !marks.is_empty() {
            self.note_all(marks);
        }
        let urgent = events.iter().filter(|event| is_urgent(&event.what)).count() as u64;
        if urgent > 0 {
            self.urgent.fetch_add(urgent, Ordering::SeqCst);
        }
    }
}

fn mark_of(event: &Event, breaker: impl Fn(&Event) -> u64) -> Option<Mark> {
    match &event.what {
        Happening::Tripped(_) | Happening::Probing | Happening::Recovered | Happening::Reset { .. } => {
            Some(Mark::Scope { breaker: breaker(event), scope: event.scope_id })
        }
        Happening::Removed { .. } if event.kind.is_some() => {
            Some(Mark::Scope { breaker: breaker(event), scope: event.scope_id })
        }
        Happening::Removed { .. } => Some(Mark::Breaker(breaker(event))),
        Happening::Overridden { .. } | Happening::Released { .. } => Some(Mark::Holds(breaker(event))),
        // Sessions, attempts and figures are marked where they change; the rest changes nothing that is kept.
        Happening::Admitted { .. }
        | Happening::Recorded
        | Happening::Refused(_)
        | Happening::ShadowRefused(_)
        | Happening::Steered(_)
        | Happening::Halted { .. }
        | Happening::Reviewed { .. }
        | Happening::FollowedUp(_)
        | Happening::ProbeLost
        | Happening::Stale
        | Happening::Duplicate
        | Happening::Expired
        | Happening::Unknown
        | Happening::ConfigChanged { .. }
        | Happening::Evicted
        | Happening::Overflowed => None,
    }
}

/// What must not be lost: an opening, a halt, an override, a latch, the end of a session.
const fn is_urgent(what: &Happening) -> bool {
    match what {
        Happening::Tripped(_)
        | Happening::Halted { .. }
        | Happening::Overridden { .. }
        | Happening::Released { .. }
        | Happening::Reset { .. }
        | Happening::FollowedUp(Fact::Ended(_)) => true,
        Happening::Admitted { .. }
        | Happening::Recorded
        | Happening::Refused(_)
        | Happening::ShadowRefused(_)
        | Happening::Steered(_)
        | Happening::Reviewed { .. }
        | Happening::FollowedUp(Fact::Told(..) | Fact::Concluded(_) | Fact::Resolved { .. })
        | Happening::Probing
        | Happening::ProbeLost
        | Happening::Recovered
        | Happening::Stale
        | Happening::Duplicate
        | Happening::Expired
        | Happening::Unknown
        | Happening::ConfigChanged { .. }
        | Happening::Removed { .. }
        | Happening::Evicted
        | Happening::Overflowed => false,
    }
}
