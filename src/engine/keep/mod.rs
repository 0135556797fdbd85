//! What outlives a life of the process: which records there are, and when each is written. Coalesces to the latest state of
//! each thing that changed, so that a slow disk costs memory by things and never by calls.
//!
//! Called by a thread of its own: it may wait for the store, and takes one of the engine's locks at a time. Knows no file.

mod form;
mod marks;
mod restore;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use self::form::FORM_VERSION;
pub(crate) use self::marks::{Mark, Marks};
pub use self::restore::Restored;
use super::Engine;
use super::behaviour::{Behaviour, Part};
use super::ports::{Anchor, Group, Journal, RecordKey, RecordKind, StoreError};
use super::sync::Ordering;
use crate::domain::behaviour::figures::Figures;
use crate::domain::breaker::ScopeSnapshot;
use crate::domain::breaker::overrides::Hold;
use crate::domain::event::{Event, Happening};
use crate::domain::ids::{Code, HashTag};

/// Bytes after which a group is written, so that one is never much larger than its largest record.
const GROUP_BYTES: usize = 8 << 20;

/// The circuits of a scope, with the code of their breaker.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct KeptScope {
    code: Code,
    scope: ScopeSnapshot,
}

/// The overrides of a breaker.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct KeptHolds {
    code: Code,
    holds: Vec<Hold>,
}

/// What became of the trips of one part.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct KeptFigures {
    part: Part,
    figures: Figures,
}

/// What one flush came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// Records written or taken away.
    pub records: usize,
    /// Bytes of those written.
    pub bytes: usize,
    /// What [`Engine::urgent`] said before: all of that is durable now.
    pub urgent: u64,
}

/// Writes what changed.
pub struct Keeper {
    engine: Arc<Engine>,
    journal: Box<dyn Journal>,
    /// The records that the store has.
    known: BTreeSet<RecordKey>,
    /// Attempts that the engine had dropped when this was last asked.
    attempts_dropped: u64,
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

impl Engine {
    /// Openings, overrides, halts, latches and ends of sessions so far: what may have to be durable before it is answered.
    #[must_use]
    pub fn urgent(&self) -> u64 {
        self.marks.urgent()
    }

    /// Things that changed and are not written yet.
    #[must_use]
    pub fn unwritten(&self) -> usize {
        self.marks.len()
    }

    /// Hands events in, and marks what they changed; called without any lock.
    pub(super) fn hand_in(&self, events: Vec<Event>) {
        self.marks.hear(&events, &self.identity.names);
        let refused = events.iter().filter(|event| matches!(event.what, Happening::Refused(_))).count();
        if refused > 0 {
            self.results.refused.fetch_add(refused as u64, Ordering::Relaxed);
        }
        self.log.hand_in(events);
    }
}

impl Keeper {
    /// The engine whose state it keeps.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Records that the store has.
    #[must_use]
    pub fn records(&self) -> usize {
        self.known.len()
    }

    /// Marks changes from now on; `bell` rings when there is something to write, and must not wait.
    pub fn ring(&self, bell: impl Fn() + Send + Sync + 'static) {
        self.engine.marks.keep(bell);
    }

    /// Writes all that changed until now, and the moment. Waits for the store.
    ///
    /// # Errors
    /// Where the store fails: what was not written is written by a later call.
    pub fn flush(&mut self) -> Result<Flushed, StoreError> {
        let urgent = self.engine.marks.urgent();
        let mut left = self.engine.marks.take();
        let mut flushed = Flushed { urgent, ..Flushed::default() };
        loop {
            let (group, taken, bytes) = self.gather(&mut left);
            if let Err(error) = self.journal.commit(&group) {
                left.extend(taken);
                self.engine.marks.note_all(left);
                return Err(error);
            }
            flushed.records += group.records.len();
            flushed.bytes += bytes;
            for (key, value) in group.records {
                match value {
                    Some(_) => self.known.insert(key),
                    None => self.known.remove(&key),
                };
            }
            if left.is_empty() {
                return Ok(flushed);
            }
        }
    }

    /// The next group, and the marks that it is of.
    fn gather(&mut self, left: &mut BTreeSet<Mark>) -> (Group, BTreeSet<Mark>, usize) {
        let (mut group, mut taken, mut bytes) = (Group::default(), BTreeSet::new(), 0);
        while bytes < GROUP_BYTES {
            let Some(mark) = left.pop_first() else { break };
            for (key, value) in self.changed(&mark) {
                bytes += value.as_ref().map_or(0, Vec::len);
                if value.is_some() || self.known.contains(&key) {
                    group.records.insert(key, value);
                }
            }
            taken.insert(mark);
        }
        // Read after the records, none of which may name a later moment.
        let (wall, now) = (self.engine.clock.wall(), self.engine.clock.now());
        group.anchor = Anchor { at: now, unix_ms: wall.unix_ms(now) };
        (group, taken, bytes)
    }

    /// The records of a mark as they are now; none takes one away.
    fn changed(&mut self, mark: &Mark) -> Vec<(RecordKey, Option<Vec<u8>>)> {
        let key = |kind, of, part| RecordKey { kind, of, part };
        let engine = &self.engine;
        match mark {
            Mark::Breaker(breaker) => {
                let scopes = key(RecordKind::Circuits, *breaker, 0)..=key(RecordKind::Circuits, *breaker, u64::MAX);
                let scopes = self.known.range(scopes).map(|key| (*key, engine.scope_record(*breaker, key.part)));
                let holds = (key(RecordKind::Holds, *breaker, 0), engine.holds_record(*breaker));
                scopes.chain([holds]).collect()
            }
            Mark::Scope { breaker, scope } => {
                vec![(key(RecordKind::Circuits, *breaker, *scope), engine.scope_record(*breaker, *scope))]
            }
            Mark::Holds(breaker) => vec![(key(RecordKind::Holds, *breaker, 0), engine.holds_record(*breaker))],
            Mark::Session(session) => {
                let run = engine.sessions.snapshot(*session).and_then(|run| form::written(&run));
                vec![(key(RecordKind::Session, *session, 0), run)]
            }
            Mark::Attempt(id) => {
                let gone = self.dropped_attempts();
                let attempt = self.engine.attempts.kept(*id).and_then(|kept| form::written(&kept));
                gone.into_iter().map(|gone| (gone, None)).chain([(key(RecordKind::Attempt, *id, 0), attempt)]).collect()
            }
            Mark::Part(part) => {
                let figures = engine.sums.of_part(part);
                let kept = figures.map(|figures| KeptFigures { part: part.clone(), figures });
                let of = engine.part_id(part);
                vec![(key(RecordKind::Figures, of, 0), kept.and_then(|kept| form::written(&kept)))]
            }
            Mark::Sessions => vec![(key(RecordKind::Sessions, 0, 0), form::written(&engine.sums.of_sessions()))],
        }
    }

    /// The records of attempts that the engine has dropped for want of room since this was last asked.
    fn dropped_attempts(&mut self) -> Vec<RecordKey> {
        let dropped = self.engine.attempts.dropped();
        if std::mem::replace(&mut self.attempts_dropped, dropped) == dropped {
            return Vec::new();
        }
        let attempts = self.known.iter().filter(|key| key.kind == RecordKind::Attempt);
        attempts.filter(|key| self.engine.attempts.kept(key.of).is_none()).copied().collect()
    }
}

impl Engine {
    fn scope_record(&self, breaker: u64, scope: u64) -> Option<Vec<u8>> {
        let kept = self.registry.with(breaker, |shard| {
            let breaker = shard.breaker(breaker)?;
            Some(KeptScope { code: breaker.code.clone(), scope: breaker.scope_snapshot(scope)? })
        });
        form::written(&kept?)
    }

    fn holds_record(&self, breaker: u64) -> Option<Vec<u8>> {
        let kept = self.registry.with(breaker, |shard| {
            let breaker = shard.breaker(breaker)?;
            Some(KeptHolds { code: breaker.code.clone(), holds: breaker.holds().cloned().collect() })
        });
        form::written(&kept.filter(|kept| !kept.holds.is_empty())?)
    }

    /// The name of a part's record.
    fn part_id(&self, part: &Part) -> u64 {
        let signal = part.signal.map_or("", |signal| signal.word());
        let text = [part.breaker.as_str(), signal, part.variant.as_str()].join("\n");
        self.identity.names.hash(HashTag::Code, text.as_bytes())
    }
}

impl Behaviour {
    fn restore(&mut self, kept: KeptFigures) {
        self.parts.insert(kept.part, kept.figures);
    }
}
