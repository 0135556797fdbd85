//! How a call went: settles one permit at every circuit whose question the result answers.
//!
//! A report is idempotent on its permit. Stale, duplicate, expired and unknown reports never move a circuit; staleness
//! is judged per circuit.

use std::sync::Arc;

use super::advance::Grounds;
use super::circuit::{Sample, Settled as Outcomes, TripCause};
use super::permit::{CircuitRef, Permit};
use super::policy::Policy;
use super::routes::PreparedPolicy;
use super::scope::{CallNames, Scope, ScopeKey};
use super::{Ask, Breaker, Moment, names_of};
use crate::domain::contract::{Facts, Observed, Threshold, Trip};
use crate::domain::event::{Event, Events, Happening};
use crate::domain::observation::{CallResult, Classification, Outcome, RetryHint};
use crate::domain::signal::{CircuitKind, PerKind, Phase, closed_words};

closed_words! {
    /// What became of a report.
    Acknowledgement {
        /// Counted.
        Counted = "counted",
        /// Made under a generation that is gone, by a written-off probe, or with a permit of before a restart.
        Stale = "stale",
        /// The permit had been reported.
        Duplicate = "duplicate",
        /// The permit's time was over.
        Expired = "expired",
        /// No such permit: forged, of another deployment, or of a breaker or target that is gone.
        Unknown = "unknown",
    }
}

/// The answer to a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// What became of it.
    pub acknowledgement: Acknowledgement,
    /// The strictest phase over the circuits of the call, after it.
    pub phase_after: Phase,
    /// The contract, where this report opened a circuit: the model gets it instead of the raw result.
    pub trip: Option<Box<Trip>>,
}

impl Receipt {
    /// An answer that moved nothing.
    #[must_use]
    pub const fn of(acknowledgement: Acknowledgement, phase_after: Phase) -> Self {
        Self { acknowledgement, phase_after, trip: None }
    }
}

/// One report on its way through the scopes of its call.
struct Report<'a> {
    permit: &'a Permit,
    names: CallNames,
    outcomes: PerKind<Outcome>,
    hint: Option<RetryHint>,
    is_counted: bool,
    moment: &'a Moment<'a>,
    prepared: Arc<PreparedPolicy>,
}

impl Report<'_> {
    fn grounds(&self, cause: TripCause) -> Grounds {
        Grounds { cause, hint: self.hint, from: self.moment.now }
    }
}

/// What one circuit made of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtCircuit {
    Counted,
    Moved,
    Stale,
}

/// What all circuits made of it.
#[derive(Default)]
struct Heard {
    stale: bool,
    /// A phase moved, or a failure was counted.
    spoke: bool,
}

impl Heard {
    fn add(&mut self, at: AtCircuit, outcome: Outcome) {
        match at {
            AtCircuit::Stale => self.stale = true,
            AtCircuit::Moved => self.spoke = true,
            AtCircuit::Counted => self.spoke |= outcome.is_bad(),
        }
    }
}

impl Breaker {
    /// Settles a permit.
    pub fn report(&mut self, permit: &Permit, result: &CallResult, moment: &Moment<'_>, out: &mut Events) -> Receipt {
        let moment = &self.onward(moment);
        let now = moment.now;
        let names = names_of(permit);
        if permit.incarnation == moment.incarnation {
            self.running.give_back(permit.seq); // however the report is taken, the call has returned
        }
        if let Some((acknowledgement, what)) = self.refuse_report(permit, moment) {
            out.push(self.event(now, what));
            return Receipt::of(acknowledgement, self.strictest_phase(&names));
        }
        self.settled.insert(permit.seq);
        if self.is_all_well(permit, result, moment) {
            return Receipt::of(Acknowledgement::Counted, Phase::Closed);
        }
        self.unfollow(permit);
        self.advance(&names, moment, out);
        let prepared = Arc::clone(&self.prepared);
        let took_ms = result.latency_ms.unwrap_or_else(|| now.since_ms(permit.issued_at));
        let is_counted = result.classification != Classification::Ignored;
        if let Some(scope) = self.targets.get_mut(permit.target) {
            scope.last_seen = scope.last_seen.max(now);
            if result.classification == Classification::Ok {
                scope.last_good = now;
            }
            if is_counted {
                scope.results.add(now, prepared.grid, [1]);
                scope.longest.note(now, took_ms);
            }
        }
        let outcomes = result.outcomes(prepared.slow_ms(), took_ms);
        let report = Report { permit, names, outcomes, hint: result.hint, is_counted, moment, prepared };
        self.count_beyond_target(&report);
        let before = out.len();
        let acknowledgement = self.settle_all(&report, out);
        if acknowledgement == Acknowledgement::Stale {
            out.push(self.event(now, Happening::Stale));
        } else if moment.tells_calls {
            out.push(self.event(now, Happening::Recorded));
        }
        let opened_at = out.iter().skip(before).position(|event| matches!(event.what, Happening::Tripped(_)));
        let trip = opened_at.and_then(|at| self.trip_of_report(&report, before + at));
        Receipt { acknowledgement, phase_after: self.strictest_phase(&names), trip }
    }

    /// The usual case, counted at once: a good result at a target where nothing ever went wrong, so that no circuit, no
    /// override and no scope beside it has to hear of it. False where somebody has, and nothing was counted.
    fn is_all_well(&mut self, permit: &Permit, result: &CallResult, moment: &Moment<'_>) -> bool {
        let prepared = &self.prepared;
        let has_listeners = !self.others.is_empty()
            || !self.overrides.is_empty()
            || prepared.counts_beyond_target
            || moment.tells_calls
            || result.classification != Classification::Ok;
        if has_listeners {
            return false;
        }
        let now = moment.now;
        let took_ms = result.latency_ms.unwrap_or_else(|| now.since_ms(permit.issued_at));
        let is_slow = prepared.slow_ms().is_some_and(|slow_ms| took_ms >= slow_ms);
        let grid = prepared.grid;
        let quiet = self.targets.get_mut(permit.target).filter(|scope| scope.circuits.is_empty() && !is_slow);
        let Some(scope) = quiet else { return false };
        scope.last_seen = scope.last_seen.max(now);
        scope.last_good = now;
        scope.results.add(now, grid, [1]);
        scope.longest.note(now, took_ms);
        true
    }

    /// A call whose result is here is no longer in flight.
    fn unfollow(&mut self, permit: &Permit) {
        let policy = self.prepared.of(CircuitKind::Latency).filter(|policy| policy.in_flight);
        let Some(scope) = policy.map(|policy| policy.scope) else { return };
        let id = ScopeKey::of(CircuitKind::Latency, scope, &names_of(permit)).id();
        let circuits = self.scope_mut(id).into_iter().flat_map(|scope| &mut scope.circuits);
        circuits
            .filter(|circuit| circuit.kind == CircuitKind::Latency)
            .for_each(|circuit| circuit.unfollow(permit.seq));
    }

    fn refuse_report(&self, permit: &Permit, moment: &Moment<'_>) -> Option<(Acknowledgement, Happening)> {
        if permit.incarnation < moment.incarnation {
            Some((Acknowledgement::Stale, Happening::Stale)) // of before a restart: all that it was issued under is gone
        } else if permit.incarnation != moment.incarnation || !self.has_target(permit.target) {
            Some((Acknowledgement::Unknown, Happening::Unknown))
        } else if moment.now.since_ms(permit.issued_at) > moment.permit_for_ms {
            Some((Acknowledgement::Expired, Happening::Expired))
        } else if self.settled.contains(permit.seq) {
            Some((Acknowledgement::Duplicate, Happening::Duplicate))
        } else {
            None
        }
    }

    /// Counts the result at the scopes beside the target whose rules look at results over time.
    fn count_beyond_target(&mut self, report: &Report<'_>) {
        if !report.is_counted {
            return;
        }
        if report.prepared.has_reporters {
            let own = ScopeKey::TargetCaller(report.names.target, report.names.caller);
            if let Some(scope) = self.others.get_mut(own.id()) {
                scope.results.add(report.moment.now, report.prepared.grid, [1]);
            }
        }
        if !report.prepared.counts_beyond_target {
            return;
        }
        let mut done: Vec<u64> = vec![report.names.target];
        for (kind, policy) in report.prepared.policy.policies.iter() {
            let Some(policy) = policy.as_ref().filter(|policy| policy.is_windowed()) else { continue };
            let key = ScopeKey::of(kind, policy.scope, &report.names);
            if done.contains(&key.id()) {
                continue;
            }
            done.push(key.id());
            let id = self.scope_for(key, &report.names, report.moment);
            if let Some(scope) = self.scope_mut(id) {
                scope.results.add(report.moment.now, report.prepared.grid, [1]);
            }
        }
    }

    /// Settles the report at every kind, and at the caller's own circuits. Stale where it was so for one of them and
    /// moved nothing, and counted against nobody, elsewhere.
    fn settle_all(&mut self, report: &Report<'_>, out: &mut Events) -> Acknowledgement {
        let mut heard = Heard::default();
        let target = self.targets.get(report.names.target);
        let has_circuits = !self.others.is_empty() || target.is_some_and(|scope| !scope.circuits.is_empty());
        for (kind, policy) in report.prepared.policy.policies.iter() {
            let Some(policy) = policy else { continue };
            let outcome = *report.outcomes.at(kind);
            let key = ScopeKey::of(kind, policy.scope, &report.names);
            let remembers =
                outcome.is_bad() || (outcome == Outcome::Ignored && report.is_counted && policy.is_windowed());
            if !has_circuits && !remembers {
                continue; // the usual case: all is well and nothing was ever wrong
            }
            let has_circuit = self.scope(key.id()).is_some_and(|scope| scope.circuit(kind).is_some());
            let own = ScopeKey::TargetCaller(report.names.target, report.names.caller).id();
            let has_own = self.scope(own).is_some_and(|scope| scope.circuit(kind).is_some());
            if has_circuit || remembers {
                let id = if has_circuit { key.id() } else { self.scope_for(key, &report.names, report.moment) };
                heard.add(self.settle(id, CircuitRef { kind, is_personal: false }, policy, report, out), outcome);
            }
            if policy.min_reporters > 1 && has_own {
                heard.add(self.settle(own, CircuitRef { kind, is_personal: true }, policy, report, out), outcome);
            }
        }
        if heard.stale && !heard.spoke { Acknowledgement::Stale } else { Acknowledgement::Counted }
    }

    fn settle(
        &mut self,
        scope_id: u64,
        circuit_ref: CircuitRef,
        policy: &Policy,
        report: &Report<'_>,
        out: &mut Events,
    ) -> AtCircuit {
        let CircuitRef { kind, is_personal } = circuit_ref;
        let now = report.moment.now;
        let listed = report.permit.of(circuit_ref);
        let sample = Sample {
            outcome: *report.outcomes.at(kind),
            is_counted: report.is_counted,
            is_probe: listed.is_probe,
            seq: report.permit.seq,
            generation: listed.generation,
            issued_at: report.permit.issued_at,
            caller: report.names.caller,
            arguments_bytes: report.permit.arguments_bytes,
        };
        let Some(scope) = self.scope_mut(scope_id) else { return AtCircuit::Counted };
        let Some((circuit, view)) = scope.circuit_with_view(kind, now, policy, report.prepared.grid) else {
            return AtCircuit::Counted;
        };
        match circuit.settle(&sample, view) {
            Outcomes::Counted => AtCircuit::Counted,
            Outcomes::Stale => AtCircuit::Stale,
            Outcomes::Closes => {
                circuit.close(view);
                let generation = circuit.generation;
                let name: Box<str> = scope.name().text();
                let event = self.event(now, Happening::Recovered);
                out.push(Event { scope: name, scope_id, kind: Some(kind), generation, ..event });
                AtCircuit::Moved
            }
            Outcomes::Reopens => {
                circuit.raise_level();
                let facts = Facts { failed: 1, results: 1, window_ms: 0 };
                let cause = TripCause { observed: Observed::ProbeFailed, threshold: Threshold::FailedProbe, facts };
                self.open(scope_id, kind, report.grounds(cause), report.moment, out);
                AtCircuit::Moved
            }
            Outcomes::Fires(cause) => {
                if is_personal || circuit.has_quorum(now, policy) {
                    self.open(scope_id, kind, report.grounds(*cause), report.moment, out);
                } else if sample.outcome.is_bad() {
                    self.open_for_caller(kind, *cause, report, out);
                }
                AtCircuit::Moved
            }
        }
    }

    /// One sick caller is refused alone.
    fn open_for_caller(&mut self, kind: CircuitKind, cause: TripCause, report: &Report<'_>, out: &mut Events) {
        let key = ScopeKey::TargetCaller(report.names.target, report.names.caller);
        if self.scope(key.id()).is_some_and(|scope| scope.circuit(kind).is_some()) {
            return; // its own circuit, once there is one, judges by what it has seen itself
        }
        let id = self.scope_for(key, &report.names, report.moment);
        if id == key.id() {
            self.open(id, kind, report.grounds(cause), report.moment, out);
        }
    }

    /// The id of the scope of a key, made where there is none; where there is no room, that of calls without names.
    pub(super) fn scope_for(&mut self, key: ScopeKey, names: &CallNames, moment: &Moment<'_>) -> u64 {
        let id = key.id();
        if self.scope(id).is_some() || matches!(key, ScopeKey::Target(_)) {
            return id;
        }
        let now = moment.now;
        let has_room = moment.may_grow || self.evict_other(now);
        let key = if has_room || self.others.is_empty() { key } else { ScopeKey::Credential(0) };
        if self.scope(key.id()).is_none() {
            let target = self.targets.get(names.target).and_then(|scope| scope.target.clone());
            let target = target.filter(|_| key.holds_target());
            self.others.insert(Scope::new(key, target, names.caller, now));
        }
        key.id()
    }

    fn trip_of_report(&self, report: &Report<'_>, event_at: usize) -> Option<Box<Trip>> {
        let target = self.targets.get(report.names.target)?.target.clone()?;
        let ask = Ask {
            names: report.names,
            target: &target,
            arguments_bytes: report.permit.arguments_bytes,
            session: report.permit.session,
            call: 0,
            seq: 0,
        };
        let mut refusals = self.refusals(&ask, report.moment.now);
        refusals.retain(|refusal| !refusal.is_shadow);
        (!refusals.is_empty()).then(|| Box::new(self.trip(&ask, &refusals, report.moment, event_at)))
    }

    /// The strictest phase over the circuits of a call.
    pub(super) fn strictest_phase(&self, names: &CallNames) -> Phase {
        let mut strictest = Phase::Closed;
        for id in self.in_play(names) {
            let phases = self.scope(id).into_iter().flat_map(|scope| &scope.circuits).map(super::Circuit::phase);
            for phase in phases {
                strictest = match (strictest, phase) {
                    (Phase::Open, _) | (_, Phase::Open) => Phase::Open,
                    (Phase::HalfOpen, _) | (_, Phase::HalfOpen) => Phase::HalfOpen,
                    (Phase::Closed, Phase::Closed) => Phase::Closed,
                };
            }
        }
        strictest
    }
}
