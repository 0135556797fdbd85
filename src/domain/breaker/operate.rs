//! What operators and the engine's housekeeping do to a breaker: overrides, resets, reloads, eviction, and looking.

use std::sync::Arc;

use super::circuit::{Answer, Circuit, View};
use super::overrides::{Cover, Hold, Mask, OverrideMode};
use super::policy::Policy;
use super::routes::PreparedPolicy;
use super::scope::Scope;
use super::{Breaker, Moment};
use crate::domain::contract::{Facts, Observed, Threshold};
use crate::domain::event::{Event, Events, Happening};
use crate::domain::ids::TargetName;
use crate::domain::signal::{CircuitKind, Phase};
use crate::domain::time::Timestamp;

/// One circuit, as a lister sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitView {
    /// The scope's name.
    pub scope: String,
    /// The scope's id.
    pub scope_id: u64,
    /// What it watches; none for a hold over circuits that do not exist yet.
    pub kind: Option<CircuitKind>,
    /// The target's name, where the scope has one.
    pub target: Option<TargetName>,
    /// The phase.
    pub phase: Phase,
    /// Open, and its deadline has passed: the next call may probe.
    pub is_probe_ready: bool,
    /// The number of the phase.
    pub generation: u32,
    /// The deadline, while open.
    pub open_until: Option<Timestamp>,
    /// When it can be asked again, while it refuses; none until an operator releases it.
    pub retry_at: Option<Timestamp>,
    /// The backoff level.
    pub level: u8,
    /// Why it is not closed.
    pub cause: Option<(Observed, Threshold, Facts)>,
    /// Failures kept in its window.
    pub failed: u32,
    /// Results kept for its scope.
    pub results: u32,
    /// Running leases.
    pub probes_in_flight: usize,
    /// What lies over it.
    pub mask: Option<Mask>,
    /// Who holds it.
    pub holds: Vec<Hold>,
    /// The share of sessions in shadow, in percent.
    pub shadow_percent: u8,
    /// The last call or report of its scope.
    pub last_seen: Timestamp,
}

impl Breaker {
    /// The prepared policy it works under.
    #[must_use]
    pub fn prepared(&self) -> &Arc<PreparedPolicy> {
        &self.prepared
    }

    /// Whether nothing of it would be missed, so that the engine may drop it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty() && self.others.is_empty() && self.overrides.is_empty()
    }

    /// Takes another policy over; phases, windows and deadlines stay. Circuits of kinds that are off now end.
    pub fn adopt(&mut self, prepared: &Arc<PreparedPolicy>, now: Timestamp, out: &mut Events) {
        if Arc::ptr_eq(&self.prepared, prepared) {
            return;
        }
        let now = self.onward_at(now);
        let (old, new) = (std::mem::replace(&mut self.prepared, Arc::clone(prepared)), prepared);
        if old.policy == new.policy {
            return;
        }
        if new.policy.calls_at_once.is_none() {
            self.running.clear();
        }
        let (from, to) = (old.grid, new.grid);
        let mut removed = Vec::new();
        for scope in self.targets.iter_mut().chain(self.others.iter_mut()) {
            let (name, id): (Box<str>, u64) = (scope.name().to_string().into(), scope.key.id());
            let gone = scope.circuits.extract_if(.., |circuit| new.of(circuit.kind).is_none());
            removed.extend(gone.map(|circuit| (name.clone(), id, circuit.kind, circuit.generation, circuit.phase())));
            if from != to {
                scope.regrid(now, from, to);
            }
        }
        out.push(self.event(now, Happening::ConfigChanged { version: new.version }));
        for (scope, scope_id, kind, generation, phase) in removed {
            let (open, half_open) = (u32::from(phase == Phase::Open), u32::from(phase == Phase::HalfOpen));
            let event = self.event(now, Happening::Removed { open, half_open });
            out.push(Event { scope, scope_id, kind: Some(kind), generation, ..event });
        }
    }

    /// Lays an owner's hold over circuits. False where 64 holds lie there already.
    pub fn hold(&mut self, hold: Hold, scope: &str, now: Timestamp, out: &mut Events) -> bool {
        let what = Happening::Overridden { mode: hold.mode, owner: hold.owner.as_str().into() };
        let kind = hold.cover.kind;
        let is_set = self.overrides.set(hold);
        if is_set {
            out.push(Event { scope: scope.into(), kind, ..self.event(now, what) });
        }
        is_set
    }

    /// Ends the holds whose time is over.
    pub fn expire_holds(&mut self, now: Timestamp, out: &mut Events) {
        if self.overrides.is_empty() {
            return;
        }
        for hold in self.overrides.expire(now) {
            out.push(self.event(now, Happening::Released { owner: hold.owner.as_str().into() }));
        }
    }

    /// Lets an owner's holds inside a cover go. Answers how many went and how many of other owners are left over it.
    pub fn release(
        &mut self,
        cover: Cover,
        owner: &str,
        scope: &str,
        now: Timestamp,
        out: &mut Events,
    ) -> (usize, usize) {
        let gone = self.overrides.clear(cover, owner);
        for hold in &gone {
            let what = Happening::Released { owner: hold.owner.as_str().into() };
            out.push(Event { scope: scope.into(), kind: cover.kind, ..self.event(now, what) });
        }
        (gone.len(), self.overrides.inside(cover))
    }

    /// Closes the circuits of a cover and forgets their past. Answers how many there were.
    pub fn reset(&mut self, cover: Cover, now: Timestamp, out: &mut Events) -> usize {
        let now = self.onward_at(now);
        let prepared = Arc::clone(&self.prepared);
        let mut events = Vec::new();
        for scope in self.targets.iter_mut().chain(self.others.iter_mut()) {
            if cover.scope.is_some_and(|id| id != scope.key.id()) {
                continue;
            }
            let (name, id): (Box<str>, u64) = (scope.name().to_string().into(), scope.key.id());
            let Scope { circuits, results, .. } = scope;
            for circuit in circuits.iter_mut().filter(|c| cover.kind.is_none_or(|kind| kind == c.kind)) {
                let Some(policy) = prepared.of(circuit.kind) else { continue };
                let from = circuit.phase();
                circuit.reset(View { now, policy, grid: prepared.grid, results });
                events.push((name.clone(), id, circuit.kind, circuit.generation, from));
            }
        }
        let count = events.len();
        for (scope, scope_id, kind, generation, from) in events {
            let event = self.event(now, Happening::Reset { from });
            out.push(Event { scope, scope_id, kind: Some(kind), generation, ..event });
        }
        count
    }

    /// How many of its circuits are in a phase.
    #[must_use]
    pub fn count_in(&self, phase: Phase) -> u32 {
        let circuits = self.targets.from(0).chain(self.others.from(0)).flat_map(|scope| &scope.circuits);
        u32::try_from(circuits.filter(|circuit| circuit.phase() == phase).count()).unwrap_or(u32::MAX)
    }

    /// Takes an idle, clean target out. Answers who made it; none where it must stay.
    pub fn evict_target(&mut self, target: u64, now: Timestamp, out: &mut Events) -> Option<u64> {
        let scope = self.targets.get(target)?;
        if !scope.is_clean(now, &self.prepared) || self.overrides.names(target) {
            return None;
        }
        let scope = self.targets.remove(target)?;
        let name: Box<str> = scope.name().to_string().into();
        out.push(Event { scope: name, ..self.event(now, Happening::Evicted) });
        Some(scope.made_by)
    }

    /// The event that tells of a target without a place of its own.
    #[must_use]
    pub fn overflowed(&self, target: &TargetName, now: Timestamp) -> Event {
        Event { scope: format!("target:{}", target.as_str()).into(), ..self.event(now, Happening::Overflowed) }
    }

    /// When a target was last seen.
    #[must_use]
    pub fn last_seen(&self, target: u64) -> Option<Timestamp> {
        self.targets.get(target).map(|scope| scope.last_seen)
    }

    /// When a target answered well last; none where it never did.
    #[must_use]
    pub fn last_good(&self, target: u64) -> Option<Timestamp> {
        self.targets.get(target).map(|scope| scope.last_good).filter(|at| at.0 > 0)
    }

    /// Who made each target, at the end of a breaker; the one without a place of its own was made by nobody.
    pub fn makers(&self, without_place: u64) -> impl Iterator<Item = u64> {
        let has_place = move |scope: &&Scope| scope.key.id() != without_place;
        self.targets.from(0).filter(has_place).map(|scope| scope.made_by)
    }

    /// Takes the longest idle clean scope beside the targets out. False where none may go.
    pub(super) fn evict_other(&mut self, now: Timestamp) -> bool {
        let may_go = |scope: &&Scope| scope.is_clean(now, &self.prepared) && !self.overrides.names(scope.key.id());
        let idlest = self.others.from(0).filter(may_go).min_by_key(|scope| scope.last_seen).map(|scope| scope.key.id());
        idlest.is_some_and(|id| self.others.remove(id).is_some())
    }

    /// Gives back the memory of at most `limit` scopes from an id on; the id to go on from.
    pub fn compact(&mut self, from: u64, limit: usize, moment: &Moment<'_>) -> Option<u64> {
        let Moment { now, permit_for_ms, .. } = self.onward(moment);
        let prepared = Arc::clone(&self.prepared);
        let last_issued = self.last_issued;
        if now.since_ms(self.last_issued) > permit_for_ms {
            self.settled.clear();
        }
        self.running.at(now);
        let spent: Vec<u64> = self
            .others
            .iter_mut()
            .filter_map(|scope| {
                scope.compact(now, &prepared, permit_for_ms, last_issued);
                (scope.circuits.is_empty() && scope.results.totals() == [0]).then(|| scope.key.id())
            })
            .collect();
        for id in spent.into_iter().filter(|id| !self.overrides.names(*id)).collect::<Vec<_>>() {
            self.others.remove(id);
        }
        let (scopes, next) = self.targets.some_mut(from, limit);
        scopes.into_iter().for_each(|scope| scope.compact(now, &prepared, permit_for_ms, last_issued));
        next
    }

    /// When a target can be called, for those of whom it is the fallback: 0 is now, the end of the scale is not before
    /// an operator says so. Looks at the target's own circuits, the breaker's, and those of calls without a credential.
    #[must_use]
    pub fn callable_from(&self, target: u64, now: Timestamp) -> Timestamp {
        let names = super::CallNames { target, ..Default::default() };
        let mut from = self.room_from(now);
        for id in self.in_play(&names) {
            for circuit in self.scope(id).into_iter().flat_map(|scope| &scope.circuits) {
                let is_masked = self.overrides.mask(id, circuit.kind).is_some();
                if let Some(policy) = self.prepared.of(circuit.kind).filter(|p| !is_masked && p.shadow_percent < 100) {
                    from = from.max(when_callable(circuit, now, policy));
                }
            }
        }
        let held = self.overrides.iter().filter(|hold| {
            hold.mode == OverrideMode::ForceOpen && hold.cover.scope.is_none_or(|scope| scope == target)
        });
        held.map(|hold| hold.expires_at.unwrap_or(Timestamp(u64::MAX))).fold(from, Timestamp::max)
    }

    /// Circuits that a list shows: all, or only those that are not closed or are held.
    #[must_use]
    pub fn listed(&self, only_not_closed: bool) -> usize {
        let scopes = || self.targets.from(0).chain(self.others.from(0));
        let shown = |scope: &Scope| scope.circuits.iter().filter(|c| self.is_shown(scope, c, only_not_closed)).count();
        scopes().map(shown).sum::<usize>() + self.bare_holds().count()
    }

    /// The circuits that a list shows, and the holds over circuits that do not exist yet.
    pub fn views(&self, now: Timestamp, only_not_closed: bool) -> impl Iterator<Item = CircuitView> {
        let circuits = self.targets.from(0).chain(self.others.from(0)).flat_map(move |scope| {
            let shown = scope.circuits.iter().filter(move |c| self.is_shown(scope, c, only_not_closed));
            shown.map(move |circuit| self.view(scope, circuit, now))
        });
        circuits.chain(self.bare_holds().map(bare_view))
    }

    fn is_shown(&self, scope: &Scope, circuit: &Circuit, only_not_closed: bool) -> bool {
        !only_not_closed
            || circuit.phase() != Phase::Closed
            || self.overrides.mask(scope.key.id(), circuit.kind).is_some()
    }

    /// Holds that cover no circuit yet.
    fn bare_holds(&self) -> impl Iterator<Item = &Hold> {
        self.overrides.iter().filter(|hold| {
            !self.targets.from(0).chain(self.others.from(0)).any(|scope| {
                hold.cover.scope.is_none_or(|id| id == scope.key.id())
                    && scope.circuits.iter().any(|circuit| hold.cover.kind.is_none_or(|kind| kind == circuit.kind))
            })
        })
    }

    /// Every hold.
    pub fn holds(&self) -> impl Iterator<Item = &Hold> {
        self.overrides.iter()
    }

    /// The scopes, by name.
    pub fn scope_names(&self) -> impl Iterator<Item = (u64, String)> {
        self.targets.from(0).chain(self.others.from(0)).map(|scope| (scope.key.id(), scope.name().to_string()))
    }

    fn view(&self, scope: &Scope, circuit: &Circuit, now: Timestamp) -> CircuitView {
        let policy = self.prepared.of(circuit.kind);
        let id = scope.key.id();
        let [results] = scope.results.totals();
        let covers = |hold: &&Hold| {
            hold.cover.scope.is_none_or(|own| own == id) && hold.cover.kind.is_none_or(|own| own == circuit.kind)
        };
        CircuitView {
            scope: scope.name().to_string(),
            scope_id: id,
            kind: Some(circuit.kind),
            target: scope.target.clone(),
            phase: circuit.phase(),
            is_probe_ready: circuit.open_until().is_some_and(|until| now >= until),
            generation: circuit.generation,
            open_until: circuit.open_until(),
            retry_at: policy.and_then(|policy| match circuit.answer(now, policy, None) {
                Answer::Refuse { retry_at, .. } => retry_at,
                Answer::Pass | Answer::MayProbe | Answer::MayPassSmall => None,
            }),
            level: policy.map_or(0, |policy| circuit.level(now, policy)),
            cause: circuit.cause().map(|cause| (cause.observed.clone(), cause.threshold.clone(), cause.facts)),
            failed: circuit.failures_kept(),
            results,
            probes_in_flight: circuit.leases().len(),
            mask: self.overrides.mask(id, circuit.kind),
            holds: self.overrides.iter().filter(covers).cloned().collect(),
            shadow_percent: policy.map_or(0, |policy| policy.shadow_percent),
            last_seen: scope.last_seen,
        }
    }

    /// Bytes on the heap, about; for the memory bench.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let scopes = self.targets.from(0).chain(self.others.from(0));
        self.settled.heap_bytes()
            + self.running.heap_bytes()
            + scopes.map(|scope| size_of::<Scope>() + scope.heap_bytes()).sum::<usize>()
    }
}

fn bare_view(hold: &Hold) -> CircuitView {
    CircuitView {
        scope: String::new(),
        scope_id: hold.cover.scope.unwrap_or(0),
        kind: hold.cover.kind,
        target: None,
        phase: Phase::Closed,
        is_probe_ready: false,
        generation: 0,
        open_until: None,
        retry_at: None,
        level: 0,
        cause: None,
        failed: 0,
        results: 0,
        probes_in_flight: 0,
        mask: Some(Mask { mode: hold.mode, until: hold.expires_at }),
        holds: vec![hold.clone()],
        shadow_percent: 0,
        last_seen: Timestamp(0),
    }
}

fn when_callable(circuit: &Circuit, now: Timestamp, policy: &Policy) -> Timestamp {
    match circuit.answer(now, policy, None) {
        Answer::Pass | Answer::MayProbe | Answer::MayPassSmall => match circuit.open_until() {
            Some(until) if until > now => until,
            _ => Timestamp(0),
        },
        Answer::Refuse { retry_at, .. } => retry_at.unwrap_or(Timestamp(u64::MAX)),
    }
}
