//! When a target may be called, and what to tell the caller when it may not: every circuit of one code, so that one
//! decision sees all signals.
//!
//! Pure: no clock, no lock, no I/O. The caller passes the moment and drains `out`. A call either takes everything it
//! needs (a lease at each half-open circuit) or nothing: no circuit goes half-open for a call that another refuses.

mod advance;
pub mod backoff;
pub mod circuit;
mod closing;
mod decide;
mod operate;
pub mod overrides;
pub mod permit;
pub mod policy;
mod report;
pub mod routes;
pub mod running;
pub mod scope;
pub mod scope_map;
mod settled;
mod snapshot;
pub mod window;

use std::sync::Arc;

use arrayvec::ArrayVec;

use self::circuit::{Answer, Circuit};
pub use self::closing::Closing;
pub use self::operate::CircuitView;
use self::overrides::Overrides;
use self::permit::{CircuitRef, Listed, Permit};
pub use self::report::{Acknowledgement, Receipt};
use self::routes::PreparedPolicy;
use self::running::Running;
use self::scope::{CallNames, Scope, ScopeKey};
use self::scope_map::ScopeMap;
use self::settled::Settled;
pub use self::snapshot::ScopeSnapshot;
use crate::domain::contract::Trip;
use crate::domain::event::{Event, Events, Happening};
use crate::domain::ids::{Code, TargetName};
use crate::domain::signal::Phase;
use crate::domain::time::Timestamp;
use crate::domain::verdict::Verdict;

/// One call that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Its names, hashed.
    pub names: CallNames,
    /// The target as named.
    pub target: &'a TargetName,
    /// The size of its arguments, where known.
    pub arguments_bytes: Option<u32>,
    /// The session, hashed; chooses the sessions in shadow.
    pub session: u64,
    /// The call's own name, hashed; 0 for none.
    pub call: u64,
    /// The permit's number, unique in the incarnation.
    pub seq: u64,
}

/// The moment of an entry, and what lies outside of the breaker.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// Now.
    pub now: Timestamp,
    /// The life of the process.
    pub incarnation: u64,
    /// How long an ordinary permit lives, in milliseconds.
    pub permit_for_ms: u64,
    /// Any evenly spread number, for jitter.
    pub dice: u64,
    /// Whether a scope beside the targets may be made.
    pub may_grow: bool,
    /// Whether somebody wants an event for every call, and not only for every change.
    pub tells_calls: bool,
    /// Whether the target at a place of [`routes::Routes::watched`] can be called now.
    pub admissible: &'a dyn Fn(usize) -> bool,
}

/// What an ask came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Permit or contract.
    pub verdict: Verdict<Permit>,
    /// What a circuit in shadow would have said.
    pub shadow: Option<Box<Trip>>,
    /// How long the permit lives, in milliseconds.
    pub expires_in_ms: u64,
}

impl Admission {
    /// Every contract in it. Their `event_seq` is a place in the event buffer until the engine numbers the events.
    pub fn trips_mut(&mut self) -> impl Iterator<Item = &mut Trip> {
        let refused = match &mut self.verdict {
            Verdict::Refuse(trip) => Some(&mut **trip),
            Verdict::Proceed(_) => None,
        };
        refused.into_iter().chain(self.shadow.as_deref_mut())
    }
}

/// Every circuit of one code.
#[derive(Clone, Debug)]
pub struct Breaker {
    /// Its code, hashed.
    pub id: u64,
    /// Its code.
    pub code: Code,
    prepared: Arc<PreparedPolicy>,
    targets: ScopeMap,
    /// Scopes that are not of one target alone: only those with something to remember.
    others: ScopeMap,
    settled: Settled,
    running: Running,
    overrides: Overrides,
    last_issued: Timestamp,
    /// The latest moment of any entry.
    seen: Timestamp,
}

impl Breaker {
    /// A breaker that has seen nothing.
    #[must_use]
    pub fn new(id: u64, code: Code, prepared: Arc<PreparedPolicy>) -> Self {
        Self {
            id,
            code,
            prepared,
            targets: ScopeMap::default(),
            others: ScopeMap::default(),
            settled: Settled::default(),
            running: Running::default(),
            overrides: Overrides::default(),
            last_issued: Timestamp(0),
            seen: Timestamp(0),
        }
    }

    /// Whether a target has its scope here.
    #[must_use]
    pub fn has_target(&self, target: u64) -> bool {
        self.targets.get(target).is_some()
    }

    /// Gives a target its scope. The caller has seen to the bounds.
    pub fn add_target(&mut self, target: u64, name: TargetName, made_by: u64, now: Timestamp) {
        if !self.has_target(target) {
            self.targets.insert(Scope::new(ScopeKey::Target(target), Some(name), made_by, now));
        }
    }

    /// Scopes beside the targets, for the bound over all breakers.
    #[must_use]
    pub fn others_len(&self) -> usize {
        self.others.len()
    }

    /// May this call be made? The permit that says so, or the contract that says why not; and what a circuit in shadow
    /// would have said. A target without a scope is admitted by its breaker's other circuits alone.
    pub fn admit(&mut self, ask: &Ask<'_>, moment: &Moment<'_>, out: &mut Events) -> Admission {
        let moment = &self.onward(moment);
        self.touch(ask, moment.now);
        let crowded = self.crowded(moment.now);
        if self.is_plain(ask.names.target) {
            return match crowded {
                Some(figures) => self.turn_away(ask, figures, moment, out),
                None => self.proceed(ask, moment, None, out),
            };
        }
        self.advance(&ask.names, moment, out);
        let refusals = self.refusals(ask, moment.now);
        let (shadow, enforced): (Vec<_>, Vec<_>) = refusals.into_iter().partition(|refusal| refusal.is_shadow);
        if !enforced.is_empty() {
            let trip = self.trip(ask, &enforced, moment, out.len());
            out.push(self.told(ask, &enforced, &trip, moment.now, Happening::Refused));
            return Admission { verdict: Verdict::Refuse(Box::new(trip)), shadow: None, expires_in_ms: 0 };
        }
        if let Some(figures) = crowded {
            return self.turn_away(ask, figures, moment, out);
        }
        let shadow = (!shadow.is_empty()).then(|| {
            let trip = self.trip(ask, &shadow, moment, out.len());
            out.push(self.told(ask, &shadow, &trip, moment.now, Happening::ShadowRefused));
            Box::new(trip)
        });
        self.proceed(ask, moment, shadow, out)
    }

    /// What an ask would come to. Takes nothing; only what time has decided anyway is carried out.
    pub fn peek(&mut self, ask: &Ask<'_>, moment: &Moment<'_>, out: &mut Events) -> Verdict<bool> {
        let moment = &self.onward(moment);
        self.advance(&ask.names, moment, out);
        let mut enforced = self.refusals(ask, moment.now);
        enforced.retain(|refusal| !refusal.is_shadow);
        if enforced.is_empty() {
            if let Some(figures) = self.crowded(moment.now) {
                return Verdict::Refuse(Box::new(self.full(ask, figures, moment, 0)));
            }
            let is_probe = self.in_play(&ask.names).into_iter().any(|id| {
                let may_probe = |circuit: &Circuit| {
                    let policy = self.prepared.of(circuit.kind);
                    policy.is_some_and(|p| circuit.answer(moment.now, p, ask.arguments_bytes) == Answer::MayProbe)
                };
                self.scope(id).is_some_and(|scope| scope.circuits.iter().any(may_probe))
            });
            return Verdict::Proceed(is_probe);
        }
        Verdict::Refuse(Box::new(Trip { event_seq: 0, ..self.trip(ask, &enforced, moment, 0) }))
    }

    /// Callers read the clock before they hold the lock; `now` never goes back in here.
    fn onward<'a>(&mut self, moment: &Moment<'a>) -> Moment<'a> {
        Moment { now: self.onward_at(moment.now), ..*moment }
    }

    fn onward_at(&mut self, now: Timestamp) -> Timestamp {
        self.seen = self.seen.max(now);
        self.seen
    }

    fn touch(&mut self, ask: &Ask<'_>, now: Timestamp) {
        if let Some(scope) = self.targets.get_mut(ask.names.target) {
            scope.last_seen = scope.last_seen.max(now);
        }
        self.last_issued = self.last_issued.max(now);
    }

    /// The usual case: nothing but closed circuits, no overrides, no calls followed in flight.
    fn is_plain(&self, target: u64) -> bool {
        self.others.is_empty()
            && self.overrides.is_empty()
            && !self.prepared.follows_calls()
            && self.targets.get(target).is_none_or(|s| s.circuits.iter().all(|c| c.phase() == Phase::Closed))
    }

    /// Takes the leases and makes the permit.
    fn proceed(
        &mut self,
        ask: &Ask<'_>,
        moment: &Moment<'_>,
        shadow: Option<Box<Trip>>,
        out: &mut Events,
    ) -> Admission {
        let lease_until = self.take(ask, moment, out);
        let mut listed = Vec::new();
        for id in self.in_play(&ask.names) {
            let Some(scope) = self.scope(id) else { continue };
            let is_personal = matches!(scope.key, ScopeKey::TargetCaller(..));
            let circuits = scope.circuits.iter().filter(|circuit| circuit.generation != 0);
            listed.extend(circuits.map(|circuit| Listed {
                circuit: CircuitRef { kind: circuit.kind, is_personal },
                generation: circuit.generation,
                is_probe: circuit.leases().iter().any(|lease| lease.probe == ask.seq),
            }));
        }
        let keeps_size = self.prepared.policy.reducible;
        let permit = Permit {
            incarnation: moment.incarnation,
            seq: ask.seq,
            issued_at: moment.now,
            breaker: self.id,
            target: ask.names.target,
            caller: ask.names.caller,
            credential: ask.names.credential,
            arguments: ask.names.arguments,
            session: ask.session,
            call: ask.call,
            arguments_bytes: ask.arguments_bytes.filter(|_| keeps_size),
            is_probe: lease_until.is_some(),
            listed,
        };
        if moment.tells_calls {
            out.push(self.event(moment.now, Happening::Admitted { is_probe: permit.is_probe }));
        }
        let expires_in_ms = lease_until.map_or(moment.permit_for_ms, |until| until.since_ms(moment.now));
        self.note_running(ask.seq, moment.now.plus_ms(expires_in_ms));
        Admission { verdict: Verdict::Proceed(permit), shadow, expires_in_ms }
    }

    /// The scopes whose circuits a call meets.
    fn in_play(&self, names: &CallNames) -> ArrayVec<u64, 7> {
        let mut ids = ArrayVec::new();
        ids.push(names.target);
        if !self.others.is_empty() {
            let all = [
                ScopeKey::Breaker,
                ScopeKey::Credential(names.credential),
                ScopeKey::Caller(names.caller),
                ScopeKey::TargetCredential(names.target, names.credential),
                ScopeKey::TargetArguments(names.target, names.arguments ^ names.credential),
                ScopeKey::TargetCaller(names.target, names.caller),
            ];
            ids.extend(all.into_iter().filter(|key| self.is_met(*key, names)).map(ScopeKey::id));
        }
        ids
    }

    /// Whether a call meets a scope: some kind has it, or it is the caller's own.
    fn is_met(&self, key: ScopeKey, names: &CallNames) -> bool {
        let own = matches!(key, ScopeKey::TargetCaller(..)) && self.prepared.has_reporters;
        own || self
            .prepared
            .policy
            .policies
            .iter()
            .any(|(kind, policy)| policy.as_ref().is_some_and(|policy| ScopeKey::of(kind, policy.scope, names) == key))
    }

    fn scope(&self, id: u64) -> Option<&Scope> {
        self.targets.get(id).or_else(|| self.others.get(id))
    }

    fn scope_mut(&mut self, id: u64) -> Option<&mut Scope> {
        match self.targets.get_mut(id) {
            Some(scope) => Some(scope),
            None => self.others.get_mut(id),
        }
    }

    fn event(&self, at: Timestamp, what: Happening) -> Event {
        Event { seq: 0, at, breaker: self.code.clone(), scope: "".into(), scope_id: 0, kind: None, generation: 0, what }
    }
}

/// The names under which a permit was issued.
#[must_use]
pub fn names_of(permit: &Permit) -> CallNames {
    CallNames {
        target: permit.target,
        caller: permit.caller,
        credential: permit.credential,
        arguments: permit.arguments,
    }
}

#[cfg(test)]
mod tests;
