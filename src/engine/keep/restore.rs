//! The beginning of a life: the records of the last one are put back, each where the configuration has a place for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Keeper, KeptFigures, KeptHolds, KeptScope, form};
use crate::domain::behaviour::figures::SessionFigures;
use crate::domain::breaker::routes::Route;
use crate::domain::breaker::scope::ScopeKey;
use crate::domain::failure::attempts::KeptAttempt;
use crate::domain::ids::{Code, HashTag};
use crate::domain::session::run::{AgentRun, RunSnapshot};
use crate::domain::time::Timestamp;
use crate::engine::Engine;
use crate::engine::idle::Tenant;
use crate::engine::ports::{Group, Journal, RECORD_BYTES_MAX, RecordKey, RecordKind, StoreError, StoreErrorKind};
use crate::engine::registry::{Current, code_id};
use crate::engine::sync::Ordering;

/// What was put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Circuits that are open, by their breakers, with the moment at which each opened.
    pub circuits: Vec<(Code, Timestamp)>,
    /// Sessions.
    pub sessions: usize,
    /// Records in all.
    pub records: usize,
    /// Of these, those that the configuration or its limits have no place for: they are taken away.
    pub out_of_place: usize,
}

/// Numbers that one life may give to permits, and to attempts: no later life gives one of them again.
const PERMITS_OF_LIFE_LOG2: u32 = 40;
const ATTEMPTS_OF_LIFE_LOG2: u32 = 32;

/// The first number of a life, of which each has `2^log2`.
const fn first_of_life(incarnation: u64, log2: u32) -> u64 {
    (incarnation.saturating_sub(1) << log2).saturating_add(1)
}

impl Keeper {
    /// Puts back into a new engine what the store holds. The engine bears the number that [`Journal::begin`] gave, its
    /// clock goes on from that anchor, and nobody uses it yet.
    ///
    /// # Errors
    /// Where a record cannot be read.
    pub fn restore(engine: Arc<Engine>, mut journal: Box<dyn Journal>) -> Result<(Self, Restored), StoreError> {
        let now = engine.clock.now();
        let current = engine.current();
        let (mut restored, mut known, mut gone) = (Restored::default(), BTreeSet::new(), Group::default());
        let mut unreadable: Option<RecordKey> = None;
        journal.load(&mut |key, bytes| {
            restored.records += 1;
            known.insert(key);
            match engine.put_back(key, bytes, &current, now, &mut restored) {
                Some(true) => {}
                Some(false) => _ = gone.records.insert(key, None),
                None => _ = unreadable.get_or_insert(key),
            }
        })?;
        if let Some(RecordKey { kind, of, part }) = unreadable {
            let message = format!("record {kind} {of:016x}/{part:016x} of the store is of no form that is known here");
            return Err(StoreError { kind: StoreErrorKind::Damaged, message });
        }
        engine.attempts.go_on_from(first_of_life(engine.identity.incarnation, ATTEMPTS_OF_LIFE_LOG2));
        let first_permit = first_of_life(engine.identity.incarnation, PERMITS_OF_LIFE_LOG2);
        engine.next_permit.fetch_max(first_permit, Ordering::SeqCst);
        restored.out_of_place = gone.records.len();
        let mut keeper = Self { engine, journal, known, attempts_dropped: 0 };
        if restored.out_of_place > 0 {
            keeper.take_away(gone)?;
        }
        Ok((keeper, restored))
    }

    fn take_away(&mut self, mut gone: Group) -> Result<(), StoreError> {
        let (wall, now) = (self.engine.clock.wall(), self.engine.clock.now());
        gone.anchor = super::Anchor { at: now, unix_ms: wall.unix_ms(now) };
        self.journal.commit(&gone)?;
        gone.records.keys().for_each(|key| _ = self.known.remove(key));
        Ok(())
    }
}

impl Engine {
    /// Puts one record back: whether there is a place for it; none where it cannot be read.
    fn put_back(
        &self,
        key: RecordKey,
        bytes: &[u8],
        current: &Current,
        now: Timestamp,
        restored: &mut Restored,
    ) -> Option<bool> {
        if bytes.len() > RECORD_BYTES_MAX {
            return None;
        }
        match key.kind {
            RecordKind::Circuits => Some(self.put_scope(form::read(bytes)?, current, now, restored)),
            RecordKind::Holds => Some(self.put_holds(form::read(bytes)?, current, now)),
            RecordKind::Session => {
                let snapshot: RunSnapshot = form::read(bytes)?;
                let run = AgentRun::restore(snapshot, self.identity.names, &current.contract.wordings);
                let has_room = self.sessions.put_back(key.of, run);
                restored.sessions += usize::from(has_room);
                Some(has_room)
            }
            RecordKind::Attempt => {
                let kept: KeptAttempt = form::read(bytes)?;
                self.attempts.restore(kept);
                Some(true)
            }
            RecordKind::Figures => {
                let kept: KeptFigures = form::read(bytes)?;
                self.sums.restore(|behaviour| behaviour.restore(kept));
                Some(true)
            }
            RecordKind::Sessions => {
                let kept: SessionFigures = form::read(bytes)?;
                self.sums.restore(|behaviour| behaviour.sessions = kept);
                Some(true)
            }
        }
    }

    /// The route of a breaker that is no target's alone: configured, or made from a target once.
    fn route_of_code(code: &Code, current: &Current) -> Route {
        let configured = current.routes.breakers().find(|policy| policy.policy.code.as_ref() == Some(code));
        let policy = configured.unwrap_or(current.routes.default_policy());
        Route { code: code.clone(), policy: Arc::clone(policy) }
    }

    fn put_scope(&self, kept: KeptScope, current: &Current, now: Timestamp, restored: &mut Restored) -> bool {
        let KeptScope { code, scope } = kept;
        let overflow = self.identity.names.hash(HashTag::Target, self.overflow.as_str().as_bytes());
        let has_place = matches!(scope.key, ScopeKey::Target(target) if target != overflow);
        let route = match &scope.target {
            Some(target) if target.as_str() != self.overflow.as_str() => current.routes.route(target.as_str()),
            Some(_) | None => Self::route_of_code(&code, current),
        };
        if route.code != code || (has_place && self.places.take(scope.made_by).is_err()) {
            return false; // another breaker has the target now, or fewer targets are kept
        }
        let (id, made_by, scope_id) = (code_id(&code, &self.identity.names), scope.made_by, scope.key.id());
        let opened = self.registry.with(id, |shard| {
            shard.make(id, &route);
            let mut none = Vec::new(); // a breaker that was just made has nothing to tell
            let (breaker, ..) = shard.enter(id, now, &mut none)?;
            let others = breaker.others_len();
            let opened = breaker.restore_scope(scope, now);
            self.others.fetch_add(breaker.others_len() - others, Ordering::Relaxed);
            current.publish(breaker, now);
            if has_place && !opened.is_empty() {
                shard.moved_in(Tenant { breaker: id, target: scope_id }, made_by, now);
            }
            shard.drop_if_empty(id);
            Some(opened)
        });
        let opened = opened.unwrap_or_default();
        if has_place && opened.is_empty() {
            self.places.give_back(made_by);
        }
        let is_back = !opened.is_empty();
        restored.circuits.extend(opened.into_iter().map(|at| (code.clone(), at)));
        is_back
    }

    fn put_holds(&self, kept: KeptHolds, current: &Current, now: Timestamp) -> bool {
        let KeptHolds { code, holds } = kept;
        let id = code_id(&code, &self.identity.names);
        let route = Self::route_of_code(&code, current);
        self.registry.with(id, |shard| {
            shard.make(id, &route);
            let mut none = Vec::new(); // what has expired ends, and is told, at the next entry
            let Some((breaker, ..)) = shard.enter(id, now, &mut none) else { return false };
            breaker.restore_holds(holds);
            current.publish(breaker, now);
            true
        })
    }
}
