//! Whether what a caller was told is shut has closed since.

use super::overrides::OverrideMode;
use super::policy::ScopeKind;
use super::scope::{CallNames, ScopeKey};
use super::{Breaker, Moment};
use crate::domain::event::Events;
use crate::domain::signal::{CircuitKind, Phase};
use crate::domain::time::Timestamp;

/// What became of the circuits of a call that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// One of them is open or half-open, or an operator holds it open.
    NotYet,
    /// All are closed; the last of them closed then.
    At(Timestamp),
    /// All are closed, and when is not known: an operator let go, or they were forgotten.
    AtSomeTime,
}

impl Breaker {
    /// What became of the circuits of a call, of which it was told at `told_at`.
    pub fn closing(&mut self, names: &CallNames, told_at: Timestamp, moment: &Moment<'_>, out: &mut Events) -> Closing {
        let moment = self.onward(moment);
        self.expire_holds(moment.now, out);
        let mut last = None;
        for id in self.in_play(names) {
            for circuit in self.scope(id).into_iter().flat_map(|scope| &scope.circuits) {
                if self.is_in_shadow(id, circuit.kind) {
                    continue; // it refuses nobody, so that nobody was told of it
                }
                if circuit.phase() != Phase::Closed {
                    return Closing::NotYet;
                }
                last = last.max(Some(circuit.since).filter(|since| circuit.generation > 0 && *since >= told_at));
            }
        }
        match last {
            _ if self.is_held_open(names) => Closing::NotYet,
            Some(at) => Closing::At(at),
            None => Closing::AtSomeTime,
        }
    }

    fn is_in_shadow(&self, scope_id: u64, kind: CircuitKind) -> bool {
        let is_laid = self.overrides.mask(scope_id, kind).is_some_and(|mask| mask.mode == OverrideMode::Shadow);
        is_laid || self.prepared.of(kind).is_some_and(|policy| policy.shadow_percent >= 100)
    }

    fn is_held_open(&self, names: &CallNames) -> bool {
        CircuitKind::ALL.iter().any(|kind| {
            let scope = self.prepared.of(*kind).map_or(ScopeKind::default_of(*kind), |policy| policy.scope);
            self.held_by(ScopeKey::of(*kind, scope, names).id(), *kind).is_some()
        })
    }
}
