//! What is kept of a breaker over a restart: the circuits that are not closed, a scope at a time, and who holds what.

use super::Breaker;
use super::circuit::{Circuit, CircuitSnapshot};
use super::overrides::{Hold, Overrides};
use super::scope::{Scope, ScopeKey};
use crate::domain::ids::TargetName;
use crate::domain::time::Timestamp;

/// The circuits of one scope that are not closed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ScopeSnapshot {
    /// What the scope is of.
    pub key: ScopeKey,
    /// The target's name, where the key holds a target.
    pub target: Option<TargetName>,
    /// Who made it, hashed: for shares of the bound.
    pub made_by: u64,
    /// At least one.
    pub circuits: Vec<CircuitSnapshot>,
}

impl Breaker {
    /// What is kept of a scope; none where all of its circuits are closed.
    #[must_use]
    pub fn scope_snapshot(&self, id: u64) -> Option<ScopeSnapshot> {
        let scope = self.scope(id)?;
        let circuits: Vec<CircuitSnapshot> = scope.circuits.iter().filter_map(Circuit::snapshot).collect();
        let Scope { key, target, made_by, .. } = scope;
        let some = |circuits| ScopeSnapshot { key: *key, target: target.clone(), made_by: *made_by, circuits };
        (!circuits.is_empty()).then(|| some(circuits))
    }

    /// Puts the circuits of a scope back, those that its policy still has. Answers when each opened; none where the scope
    /// has circuits already. The caller has seen to the bounds.
    pub fn restore_scope(&mut self, snapshot: ScopeSnapshot, now: Timestamp) -> Vec<Timestamp> {
        let ScopeSnapshot { key, target, made_by, circuits } = snapshot;
        if key.holds_target() != target.is_some() || self.scope(key.id()).is_some_and(|s| !s.circuits.is_empty()) {
            return Vec::new();
        }
        let now = self.onward_at(now);
        let mut scope = Scope::new(key, target, made_by, now);
        for circuit in circuits {
            let is_new = scope.circuit(circuit.kind).is_none();
            if let Some(policy) = self.prepared.of(circuit.kind).filter(|_| is_new) {
                scope.circuits.push(Circuit::restore(circuit, now, policy));
            }
        }
        let opened: Vec<Timestamp> = scope.circuits.iter().map(|circuit| circuit.since).collect();
        match key {
            _ if opened.is_empty() => {}
            ScopeKey::Target(_) => self.targets.insert(scope),
            ScopeKey::Breaker
            | ScopeKey::Credential(_)
            | ScopeKey::Caller(_)
            | ScopeKey::TargetCredential(..)
            | ScopeKey::TargetArguments(..)
            | ScopeKey::TargetCaller(..) => self.others.insert(scope),
        }
        opened
    }

    /// Puts holds back; those whose time is over end at the next entry.
    pub fn restore_holds(&mut self, holds: Vec<Hold>) {
        let mut overrides = Overrides::default();
        for hold in holds {
            overrides.set(hold); // beyond the bound they are left out
        }
        self.overrides = overrides;
    }
}
