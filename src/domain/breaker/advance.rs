//! What moves phases outside of a report: leases that are taken, deadlines that have passed, and the opening itself.

use std::sync::Arc;

use super::circuit::{self, Answer, Lease, TripCause};
use super::policy::Policy;
use super::scope::{CallNames, ScopeKey};
use super::{Ask, Breaker, Moment};
use crate::domain::contract::{Facts, Observed, Threshold};
use crate::domain::event::{Event, Events, Happening, Opening};
use crate::domain::observation::RetryHint;
use crate::domain::signal::{CircuitKind, PerKind};
use crate::domain::time::Timestamp;

/// Why a circuit opens, and from when on.
pub(super) struct Grounds {
    pub(super) cause: TripCause,
    pub(super) hint: Option<RetryHint>,
    pub(super) from: Timestamp,
}

impl Breaker {
    /// Takes a lease at each circuit that lets the call through as a probe; the earliest end of those taken.
    pub(super) fn take(&mut self, ask: &Ask<'_>, moment: &Moment<'_>, out: &mut Events) -> Option<Timestamp> {
        if self.is_plain(ask.names.target) {
            return None;
        }
        let now = moment.now;
        let prepared = Arc::clone(&self.prepared);
        let longest_ms = self.targets.get_mut(ask.names.target).map_or(0, |scope| scope.longest.longest_ms(now));
        let mut until: Option<Timestamp> = None;
        if let (Some(policy), true) = (prepared.of(CircuitKind::Latency), prepared.follows_calls()) {
            self.follow(ask, policy, moment);
        }
        for id in self.in_play(&ask.names) {
            let Some(scope) = self.scope_mut(id) else { continue };
            let mut opened = Vec::new();
            for circuit in &mut scope.circuits {
                let Some(policy) = prepared.of(circuit.kind) else { continue };
                let lease_ms = policy.lease_ms.max(longest_ms.saturating_mul(2)).min(moment.permit_for_ms);
                let lease = Lease { probe: ask.seq, ends_at: now.plus_ms(lease_ms) };
                match circuit.answer(now, policy, ask.arguments_bytes) {
                    Answer::MayProbe => {
                        until = Some(until.map_or(lease.ends_at, |other| other.min(lease.ends_at)));
                        if circuit.lease(now, lease) {
                            opened.push((circuit.kind, circuit.generation));
                        }
                    }
                    Answer::MayPassSmall => circuit.pass_small(lease),
                    Answer::Pass | Answer::Refuse { .. } => {}
                }
            }
            let name = if opened.is_empty() { Box::default() } else { scope.name().text() };
            for (kind, generation) in opened {
                out.push(Event {
                    scope: name.clone(),
                    scope_id: id,
                    kind: Some(kind),
                    generation,
                    ..self.event(now, Happening::Probing)
                });
            }
        }
        until
    }

    fn follow(&mut self, ask: &Ask<'_>, policy: &Policy, moment: &Moment<'_>) {
        let grid = self.prepared.grid;
        let key = ScopeKey::of(CircuitKind::Latency, policy.scope, &ask.names);
        let id = self.scope_for(key, &ask.names, moment);
        if let Some(scope) = self.scope_mut(id)
            && let Some((circuit, _)) = scope.circuit_with_view(CircuitKind::Latency, moment.now, policy, grid)
        {
            circuit.follow(moment.now, ask.seq);
        }
    }

    /// Carries out what time has decided for the circuits of a call: expired overrides, lost probes, and calls that
    /// have hung for too long.
    pub(super) fn advance(&mut self, names: &CallNames, moment: &Moment<'_>, out: &mut Events) {
        self.expire_holds(moment.now, out);
        for id in self.in_play(names) {
            let Some(scope) = self.scope(id).filter(|scope| !scope.circuits.is_empty()) else { continue };
            let kinds = PerKind::from_fn(|kind| scope.circuit(kind).is_some());
            let prepared = Arc::clone(&self.prepared);
            for (kind, _) in kinds.iter().filter(|(_, is_there)| **is_there) {
                if let Some(policy) = prepared.of(kind) {
                    self.advance_circuit(id, kind, policy, moment, out);
                }
            }
        }
    }

    fn advance_circuit(&mut self, id: u64, kind: CircuitKind, policy: &Policy, moment: &Moment<'_>, out: &mut Events) {
        let grid = self.prepared.grid;
        let Some(scope) = self.scope_mut(id) else { return };
        let Some((circuit, view)) = scope.circuit_with_view(kind, moment.now, policy, grid) else { return };
        circuit.forget_old(moment.now, grid, moment.permit_for_ms);
        let lapsed = circuit.advance(moment.now);
        let follows = policy.follows_calls() && circuit.has_quorum(moment.now, policy);
        let hanging = if follows { circuit.fired(view, false) } else { None };
        let generation = circuit.generation;
        if lapsed.lost > 0 {
            let name: Box<str> = scope.name().text();
            let event =
                Event { scope: name, kind: Some(kind), generation, ..self.event(moment.now, Happening::ProbeLost) };
            out.extend(std::iter::repeat_n(event, lapsed.lost));
        }
        let grounds = match (lapsed.reopens_from, hanging) {
            (Some(from), _) => {
                let (lost, facts) = (circuit::LOST_PROBES_MAX, Facts::default());
                let (observed, threshold) = (Observed::ProbesLost(lost), Threshold::LostProbes(lost));
                // Not from the moment at which somebody comes to see it: as if a timer had been there.
                Grounds { cause: TripCause { observed, threshold, facts }, hint: None, from }
            }
            (None, Some(cause)) => Grounds { cause, hint: None, from: moment.now },
            (None, None) => return,
        };
        self.open(id, kind, grounds, moment, out);
    }

    /// Opens a circuit and tells of it.
    pub(super) fn open(
        &mut self,
        scope_id: u64,
        kind: CircuitKind,
        grounds: Grounds,
        moment: &Moment<'_>,
        out: &mut Events,
    ) {
        let prepared = Arc::clone(&self.prepared);
        let Some(policy) = prepared.of(kind) else { return };
        let is_reducible = prepared.policy.reducible && kind == CircuitKind::Latency;
        let Some(scope) = self.scope_mut(scope_id) else { return };
        let name: Box<str> = scope.name().text();
        let Some((circuit, _)) = scope.circuit_with_view(kind, moment.now, policy, prepared.grid) else { return };
        let from = circuit.phase();
        // A limit that only the account's owner refills does not end when the target says (spec 3.4).
        let cause = grounds.cause;
        let hint = grounds.hint.filter(|_| kind != CircuitKind::QuotaBilling);
        let level = circuit.level(moment.now, policy);
        let dice = moment.dice ^ scope_id.rotate_left(u32::from(kind as u8));
        let mut duration = policy.open_for.duration(grounds.from, level, dice, hint);
        if policy.latch {
            duration.open_for_ms = None;
        }
        circuit.open(moment.now, policy, cause.clone(), duration, is_reducible);
        let generation = circuit.generation;
        let opening = Opening {
            from,
            observed: cause.observed,
            threshold: cause.threshold,
            facts: cause.facts,
            open_for_ms: duration.open_for_ms,
            level,
            hint_ms: hint.map(|hint| hint.raw_ms),
            hint_clamped: duration.hint_clamped,
        };
        let event = self.event(moment.now, Happening::Tripped(Box::new(opening)));
        out.push(Event { scope: name, scope_id, kind: Some(kind), generation, ..event });
    }
}
