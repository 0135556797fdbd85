//! What operators and housekeeping ask of the engine: lists, overrides, resets, reloads, memory given back.

use std::sync::Arc;

use super::listener::Listener;
use super::registry::{Current, Shard, code_id};
use super::{Engine, EngineSettings, Refusal};
use crate::domain::breaker::overrides::{Cover, Hold, OverrideMode};
use crate::domain::breaker::routes::{PreparedPolicy, Route};
use crate::domain::breaker::scope::ScopeKey;
use crate::domain::breaker::{Breaker, CircuitView};
use crate::domain::event::{Event, Happening};
use crate::domain::ids::{Code, HashTag, SafeText};
use crate::domain::signal::{CircuitKind, Phase};
use crate::domain::time::Timestamp;

/// How an operator names circuits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitName {
    /// The breaker.
    pub breaker: Code,
    /// A scope as lists show it (`target:POST /v2/charge`); none for all.
    pub scope: Option<String>,
    /// What the circuit watches; none for all.
    pub kind: Option<CircuitKind>,
}

/// Why an operator's wish cannot be met.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchCircuit {
    /// Neither configured nor seen.
    #[error("no breaker has the code `{0}`: see `tripnote circuits` for those that are there")]
    Breaker(Code),
    /// Not a scope of this breaker.
    #[error("breaker `{breaker}` has no scope `{scope}`: see `tripnote circuits` for those that are there")]
    Scope {
        /// The breaker.
        breaker: Code,
        /// The scope as given, made safe.
        scope: String,
    },
    /// Too many holds.
    #[error("breaker `{0}` has 64 overrides already: clear one first")]
    TooManyHolds(Code),
}

/// A circuit in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The breaker.
    pub breaker: Code,
    /// The circuit.
    pub view: CircuitView,
    /// What it hands out now.
    pub contract: Option<Refusal>,
}

/// Where a list goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The shard.
    pub shard: usize,
    /// The place of the breaker in it.
    pub place: usize,
    /// Circuits of that breaker that were listed.
    pub skip: usize,
}

/// Where the sweep goes on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SweepCursor {
    shard: usize,
    place: usize,
    scope: u64,
}

/// Scopes that one step of the sweep looks at: the lock is held for microseconds.
const SWEEP_STEP: usize = 128;

impl Engine {
    /// How many circuits a list has in all.
    #[must_use]
    pub fn count_circuits(&self, breaker: Option<&Code>, only_not_closed: bool) -> usize {
        let wanted = |b: &Breaker| breaker.is_none_or(|code| *code == b.code);
        let count = |shard: &mut Shard| {
            shard.from(0).filter(|(_, b)| wanted(b)).map(|(_, b)| b.listed(only_not_closed)).sum::<usize>()
        };
        (0..self.registry.shards()).filter_map(|nth| self.registry.with_nth(nth, count)).sum()
    }

    /// Ends the holds whose time is over, so that nobody sees them any more.
    fn expire_holds(&self, now: Timestamp) {
        for nth in 0..self.registry.shards() {
            let mut events = Vec::new();
            self.registry.with_nth(nth, |shard| {
                shard.breakers_mut().for_each(|breaker| breaker.expire_holds(now, &mut events));
                self.number(&mut events);
            });
            self.hand_in(events);
        }
    }

    /// At most `limit` circuits from a cursor on, and where the rest begins.
    #[must_use]
    pub fn list_circuits(
        &self,
        breaker: Option<&Code>,
        only_not_closed: bool,
        from: Cursor,
        limit: usize,
        now: Timestamp,
    ) -> (Vec<Listed>, Option<Cursor>) {
        self.expire_holds(now);
        let mut found = Vec::new();
        for nth in from.shard..self.registry.shards() {
            let start = if nth == from.shard { from } else { Cursor::default() };
            let next = self.registry.with_nth(nth, |shard| {
                for (place, b) in shard.from(start.place) {
                    let skip = if place == start.place { start.skip } else { 0 };
                    let mut at = Cursor { shard: nth, place, skip };
                    if breaker.is_some_and(|code| *code != b.code) {
                        continue;
                    }
                    for view in b.views(now, only_not_closed).skip(skip) {
                        if found.len() >= limit {
                            return Some(at);
                        }
                        let trip = self.trip_of(b, &shard.current, &view, now);
                        found.push((b.code.clone(), view, trip));
                        at.skip += 1;
                    }
                }
                None
            });
            if let Some(Some(next)) = next {
                return (self.worded(found, now), Some(next));
            }
        }
        (self.worded(found, now), None)
    }

    fn worded(
        &self,
        found: Vec<(Code, CircuitView, Option<Arc<crate::domain::contract::Trip>>)>,
        now: Timestamp,
    ) -> Vec<Listed> {
        let word = |(breaker, view, trip): (_, _, Option<Arc<_>>)| Listed {
            breaker,
            view,
            contract: trip.map(|trip| self.told(trip, Listener::Anybody, now)),
        };
        found.into_iter().map(word).collect()
    }

    fn trip_of(
        &self,
        breaker: &Breaker,
        current: &Current,
        view: &CircuitView,
        now: Timestamp,
    ) -> Option<Arc<crate::domain::contract::Trip>> {
        if view.phase == Phase::Closed && view.mask.is_none() {
            return None;
        }
        let is_admissible = |watch| current.is_admissible(watch, now);
        let moment = self.moment(current, now, &is_admissible);
        breaker.trip_of(view.scope_id, view.kind?, &moment).map(Arc::new)
    }

    /// Lays an owner's hold over circuits. Answers how many exist under it now.
    ///
    /// # Errors
    /// Where the name names nothing, or 64 holds lie there already.
    pub fn set_override(
        &self,
        name: &CircuitName,
        mode: OverrideMode,
        owner: SafeText,
        reason: SafeText,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<usize, NoSuchCircuit> {
        self.operate(name, now, |breaker, cover, scope, events| {
            let hold = Hold { cover, mode, owner, reason, expires_at };
            if breaker.hold(hold, scope, now, events) {
                Ok(covered(breaker, cover, now))
            } else {
                Err(NoSuchCircuit::TooManyHolds(breaker.code.clone()))
            }
        })?
    }

    /// Lets an owner's holds go. Answers how many went and how many of other owners are left.
    ///
    /// # Errors
    /// Where the name names nothing.
    pub fn clear_override(
        &self,
        name: &CircuitName,
        owner: &str,
        now: Timestamp,
    ) -> Result<(usize, usize), NoSuchCircuit> {
        self.operate(name, now, |breaker, cover, scope, events| breaker.release(cover, owner, scope, now, events))
    }

    /// Closes circuits and forgets their past. Answers how many there were.
    ///
    /// # Errors
    /// Where the name names nothing.
    pub fn reset(&self, name: &CircuitName, now: Timestamp) -> Result<usize, NoSuchCircuit> {
        self.operate(name, now, |breaker, cover, _, events| breaker.reset(cover, now, events))
    }

    fn operate<R>(
        &self,
        name: &CircuitName,
        now: Timestamp,
        work: impl FnOnce(&mut Breaker, Cover, &str, &mut Vec<Event>) -> R,
    ) -> Result<R, NoSuchCircuit> {
        let id = code_id(&name.breaker, &self.identity.names);
        let mut events = Vec::new();
        let answer = self.registry.with(id, |shard| {
            let is_named = |b: &&Arc<PreparedPolicy>| b.policy.code.as_ref() == Some(&name.breaker);
            let configured = shard.current.routes.breakers().find(is_named).cloned();
            if let Some(policy) = configured {
                shard.make(id, &Route { code: name.breaker.clone(), policy });
            }
            let Some((breaker, current, _)) = shard.enter(id, now, &mut events) else {
                return Err(NoSuchCircuit::Breaker(name.breaker.clone()));
            };
            breaker.expire_holds(now, &mut events);
            self.number(&mut events); // also where the name turns out to name nothing
            let scope = name.scope.as_deref().map(|scope| self.scope_id(breaker, scope)).transpose()?;
            let cover = Cover { scope, kind: name.kind };
            let scope = name.scope.as_deref().unwrap_or("");
            let answer =
                self.work_on(breaker, current, now, &mut events, |breaker, _, out| work(breaker, cover, scope, out));
            shard.drop_if_empty(id);
            Ok(answer)
        });
        self.hand_in(events);
        answer
    }

    /// The id of a scope by its name; a target's scope need not exist yet.
    fn scope_id(&self, breaker: &Breaker, name: &str) -> Result<u64, NoSuchCircuit> {
        if name == "breaker" {
            return Ok(ScopeKey::Breaker.id());
        }
        if let Some(target) = name.strip_prefix("target:") {
            return Ok(self.identity.names.hash(HashTag::Target, target.as_bytes()));
        }
        let known = breaker.scope_names().find(|(_, own)| own == name).map(|(id, _)| id);
        let scope = SafeText::cut(name, 96).as_str().to_owned();
        known.ok_or_else(|| NoSuchCircuit::Scope { breaker: breaker.code.clone(), scope })
    }

    /// Puts another configuration in force. Phases, windows and deadlines stay; breakers that it names no more end.
    pub fn reload(&self, settings: EngineSettings, now: Timestamp) {
        let limits = settings.limits;
        self.sessions.set_limits(limits.sessions, settings.session.idle_for_ms);
        let next = Arc::new(Current::new(settings, &self.identity.names));
        let before = std::mem::replace(&mut *self.current.lock(), Arc::clone(&next));
        self.places.set_limits(limits.targets, limits.targets_per_caller);
        self.registry.install(&next);
        let is_kept = |code: &&Code| next.routes.codes().any(|kept| kept == *code);
        for code in before.routes.codes().filter(|code| !is_kept(code)) {
            self.end_breaker(code, now);
        }
        // Configured breakers adopt at once, so that watchers see the change; those made from targets at their next entry.
        let configured = next.routes.codes().map(|code| code_id(code, &self.identity.names));
        for id in configured.chain(next.watched.iter().map(|watched| watched.tenant.breaker)) {
            let mut events = Vec::new();
            self.enter(id, now, &mut events, |_, _, _| {});
            self.hand_in(events);
        }
    }

    fn end_breaker(&self, code: &Code, now: Timestamp) {
        let id = code_id(code, &self.identity.names);
        let overflow = self.identity.names.hash(HashTag::Target, self.overflow.as_str().as_bytes());
        let mut events = Vec::new();
        let ended = self.registry.with(id, |shard| {
            let ended = shard.remove(id, overflow)?;
            let (open, half_open) = (ended.count_in(Phase::Open), ended.count_in(Phase::HalfOpen));
            let what = Happening::Removed { open, half_open };
            let breaker = code.clone();
            events.push(Event {
                seq: 0,
                at: now,
                breaker,
                scope: "".into(),
                scope_id: 0,
                kind: None,
                generation: 0,
                what,
            });
            self.number(&mut events);
            Some(ended)
        });
        for maker in ended.iter().flat_map(|breaker| breaker.makers(overflow)) {
            self.places.give_back(maker);
        }
        if let Some(breaker) = ended {
            self.others.fetch_sub(breaker.others_len(), super::Ordering::Relaxed);
        }
        self.hand_in(events);
    }

    /// One step of giving back the memory of what time has made meaningless. Nothing depends on it but memory. True
    /// where a whole round is done.
    pub fn sweep(&self, cursor: &mut SweepCursor, now: Timestamp) -> bool {
        self.settle_shard(cursor.shard, now);
        let next = self.registry.with_nth(cursor.shard, |shard| {
            let mut left = SWEEP_STEP;
            let (mut place, mut scope) = (cursor.place, cursor.scope);
            while left > 0 {
                let current = Arc::clone(&shard.current);
                let (at, breaker) = shard.at_mut(place)?;
                if at != place {
                    scope = 0;
                }
                let is_admissible = |watch| current.is_admissible(watch, now);
                let moment = self.moment(&current, now, &is_admissible);
                let others = breaker.others_len();
                let next = breaker.compact(scope, left, &moment);
                self.others.fetch_sub(others - breaker.others_len(), super::Ordering::Relaxed);
                left = left.saturating_sub(if next.is_some() { left } else { 1 });
                (place, scope) = next.map_or((at + 1, 0), |id| (at, id));
            }
            Some((place, scope))
        });
        match next {
            Some(Some((place, scope))) => (cursor.place, cursor.scope) = (place, scope),
            Some(None) => *cursor = SweepCursor { shard: cursor.shard + 1, ..SweepCursor::default() },
            None => *cursor = SweepCursor::default(),
        }
        next.is_none()
    }

    /// Whether an operator holds a circuit of a breaker open now.
    #[must_use]
    pub fn is_held_open(&self, code: &Code, now: Timestamp) -> bool {
        let id = code_id(code, &self.identity.names);
        let holds_open =
            |hold: &Hold| hold.mode == OverrideMode::ForceOpen && hold.expires_at.is_none_or(|at| now < at);
        self.registry.with(id, |shard| shard.breaker(id).is_some_and(|breaker| breaker.holds().any(holds_open)))
    }

    /// Breakers that live.
    #[must_use]
    pub fn breakers(&self) -> usize {
        (0..self.registry.shards()).filter_map(|nth| self.registry.with_nth(nth, |shard| shard.len())).sum()
    }
}

fn covered(breaker: &Breaker, cover: Cover, now: Timestamp) -> usize {
    let is_covered = |view: &CircuitView| {
        cover.scope.is_none_or(|id| id == view.scope_id) && (cover.kind.is_none() || cover.kind == view.kind)
    };
    breaker.views(now, false).filter(|view| !view.scope.is_empty()).filter(is_covered).count()
}
