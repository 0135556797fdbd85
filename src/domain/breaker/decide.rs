//! From refusing circuits to one contract: which circuit speaks, until when, and what may be called instead.

use super::circuit::{Answer, Circuit};
use super::overrides::{Hold, OverrideMode};
use super::policy::ScopeKind;
use super::scope::{CallNames, Scope, ScopeKey, ScopeName};
use super::{Ask, Breaker, Moment};
use crate::domain::contract::{
    Action, AlsoOpen, CatalogueRow, Condition, Facts, LONG_FIELD_BYTES_MAX, NamedFallback, Observed, Standing,
    Threshold, Trip, TripContract,
};
use crate::domain::event::{Event, Happening, Told};
use crate::domain::ids::{SafeText, TargetName};
use crate::domain::signal::{CircuitKind, Phase, Signal};
use crate::domain::time::Timestamp;

/// One circuit, or one operator, that refuses a call.
#[derive(Clone, Debug)]
pub(super) struct Refusing {
    /// Decides and explains, but does not refuse.
    pub(super) is_shadow: bool,
    kind: CircuitKind,
    phase: Phase,
    scope: Box<str>,
    generation: u32,
    retry_at: Option<Timestamp>,
    observed: Observed,
    threshold: Threshold,
    facts: Facts,
    is_held: bool,
    max_argument_bytes: Option<u32>,
}

impl Breaker {
    /// Every circuit that refuses this call. [`Breaker::advance`] comes first.
    pub(super) fn refusals(&self, ask: &Ask<'_>, now: Timestamp) -> Vec<Refusing> {
        let mut found: Vec<Refusing> = self.held(ask).into_iter().collect();
        for id in self.in_play(&ask.names) {
            let circuits = self.scope(id).into_iter().flat_map(|scope| scope.circuits.iter().map(move |c| (scope, c)));
            found.extend(circuits.filter_map(|(scope, circuit)| self.refusing(scope, circuit, ask, now)));
        }
        found
    }

    /// The refusal of one circuit, unless it lets the call through or an operator holds it closed.
    fn refusing(&self, scope: &Scope, circuit: &Circuit, ask: &Ask<'_>, now: Timestamp) -> Option<Refusing> {
        let policy = self.prepared.of(circuit.kind)?;
        let Answer::Refuse { phase, retry_at } = circuit.answer(now, policy, ask.arguments_bytes) else { return None };
        let mode = self.overrides.mask(scope.key.id(), circuit.kind).map(|mask| mask.mode);
        if mode == Some(OverrideMode::ForceClosed) {
            return None;
        }
        let cause = circuit.cause()?;
        let is_latched = phase == Phase::Open && retry_at.is_none();
        Some(Refusing {
            is_shadow: mode == Some(OverrideMode::Shadow) || is_in_shadow(ask, policy.shadow_percent),
            kind: circuit.kind,
            phase,
            scope: scope.name().text(),
            generation: circuit.generation,
            retry_at,
            observed: if is_latched { Observed::Latched } else { cause.observed.clone() },
            threshold: if is_latched { Threshold::Latch } else { cause.threshold.clone() },
            facts: cause.facts,
            is_held: false,
            max_argument_bytes: circuit.max_argument_bytes().filter(|_| ask.arguments_bytes.is_some()),
        })
    }

    /// The contract that one circuit hands out now, for operators who look at it.
    #[must_use]
    pub fn trip_of(&self, scope_id: u64, kind: CircuitKind, moment: &Moment<'_>) -> Option<Trip> {
        let scope = self.scope(scope_id)?;
        let circuit = scope.circuit(kind)?;
        let named = TargetName::parse(&scope.name().to_string()).ok()?;
        let target = scope.target.as_ref().unwrap_or(&named);
        let arguments_bytes = circuit.max_argument_bytes().map(|_| u32::MAX);
        let ask = Ask { names: CallNames::default(), target, arguments_bytes, session: 0, call: 0, seq: 0 };
        let refusing = self.held_by(scope_id, kind).or_else(|| self.refusing(scope, circuit, &ask, moment.now))?;
        let is_held_in_shadow =
            self.overrides.mask(scope_id, kind).is_some_and(|mask| mask.mode == OverrideMode::Shadow);
        let refuses_nobody = is_held_in_shadow || self.prepared.of(kind).is_some_and(|p| p.shadow_percent >= 100);
        let refusing = Some(refusing).filter(|refusing| !refusing.is_shadow || !refuses_nobody)?;
        Some(Trip { event_seq: 0, ..self.trip(&ask, &[refusing], moment, 0) })
    }

    /// The operators that hold this call back.
    fn held(&self, ask: &Ask<'_>) -> Option<Refusing> {
        if self.overrides.is_empty() {
            return None;
        }
        CircuitKind::ALL.iter().find_map(|kind| {
            let scope = self.prepared.of(*kind).map_or(ScopeKind::default_of(*kind), |policy| policy.scope);
            let key = ScopeKey::of(*kind, scope, &ask.names);
            let name = ScopeName { key, target: Some(ask.target) }.to_string().into();
            self.held_by(key.id(), *kind).map(|held| Refusing { scope: name, ..held })
        })
    }

    /// The operators that hold one circuit open.
    pub(super) fn held_by(&self, scope_id: u64, kind: CircuitKind) -> Option<Refusing> {
        let mask = self.overrides.mask(scope_id, kind).filter(|mask| mask.mode == OverrideMode::ForceOpen)?;
        let holders: Vec<&Hold> = self.overrides.holders(OverrideMode::ForceOpen, scope_id, kind).collect();
        let owner = holders.first().map(|hold| hold.owner.clone())?;
        Some(Refusing {
            is_shadow: false,
            kind,
            phase: Phase::Open,
            scope: "".into(),
            generation: 0,
            retry_at: mask.until,
            observed: Observed::Held { owner, others: holders.len() - 1 },
            threshold: Threshold::OperatorOverride,
            facts: Facts::default(),
            is_held: true,
            max_argument_bytes: None,
        })
    }

    /// The contract of several refusals: the first row of the catalogue speaks, the latest deadline is told.
    pub(super) fn trip(&self, ask: &Ask<'_>, refusals: &[Refusing], moment: &Moment<'_>, event_at: usize) -> Trip {
        let fallback = self.fallback(ask, moment);
        let mut ordered: Vec<(&'static CatalogueRow, &Refusing)> =
            refusals.iter().map(|refusal| (refusal.row(fallback.is_some()), refusal)).collect();
        ordered.sort_by_key(|(row, _)| row.precedence());
        // INVARIANT: a trip has at least one refusal; the catalogue's first row stands in for none.
        let Some((row, primary)) = ordered.first().copied() else { return self.no_refusal(ask) };
        let latest = refusals.iter().max_by_key(|refusal| refusal.retry_at.map_or(u64::MAX, |at| at.0));
        let latest = latest.unwrap_or(primary);
        let contract = TripContract {
            row,
            breaker: self.code.clone(),
            target: SafeText::cut(ask.target.as_str(), LONG_FIELD_BYTES_MAX),
            observed: primary.observed.clone(),
            threshold: primary.threshold.clone(),
            state: primary.standing(latest),
            fallback: self.named_fallback(row, fallback),
            max_argument_bytes: primary.max_argument_bytes.filter(|_| row.action == Action::ReducePayload),
        };
        let also_open = ordered.iter().skip(1).map(|(_, refusal)| AlsoOpen {
            kind: refusal.kind,
            phase: refusal.phase,
            scope: refusal.scope.clone(),
            retry_at: refusal.retry_at,
        });
        Trip {
            also_open: also_open.collect(),
            retry_at: latest.retry_at,
            generation: primary.generation,
            event_seq: event_at as u64,
            facts: primary.facts,
            contract,
        }
    }

    fn no_refusal(&self, ask: &Ask<'_>) -> Trip {
        debug_assert!(false, "a trip without a refusal");
        let row = &crate::domain::contract::CATALOGUE[0];
        let contract = TripContract {
            row,
            breaker: self.code.clone(),
            target: SafeText::cut(ask.target.as_str(), LONG_FIELD_BYTES_MAX),
            observed: Observed::Latched,
            threshold: Threshold::Latch,
            state: Standing::UntilReleased,
            fallback: None,
            max_argument_bytes: None,
        };
        Trip { contract, retry_at: None, also_open: vec![], generation: 0, event_seq: 0, facts: Facts::default() }
    }

    /// The first alternative that can be called now and is not the refused target itself.
    pub(super) fn fallback(&self, ask: &Ask<'_>, moment: &Moment<'_>) -> Option<NamedFallback> {
        let link = self
            .prepared
            .chain
            .iter()
            .find(|link| link.fallback.target != *ask.target && (moment.admissible)(link.watch))?;
        let fallback = &link.fallback;
        Some(NamedFallback {
            name: fallback.name.clone(),
            note: fallback.note.clone(),
            target: Some(fallback.target.clone()),
        })
    }

    /// What field 9 holds: the escalation tool where the work must stop, nothing where another endpoint does not help.
    pub(super) fn named_fallback(&self, row: &CatalogueRow, fallback: Option<NamedFallback>) -> Option<NamedFallback> {
        match row.action {
            Action::StopAndEscalate => {
                let name = self.prepared.escalation_tool.clone()?;
                Some(NamedFallback { name, note: None, target: None })
            }
            Action::WaitForQuota => None,
            Action::SwitchToFallback
            | Action::AwaitRecovery
            | Action::ReducePayload
            | Action::VerifyEffect
            | Action::HaltWithPartialFindings
            | Action::ChangeRoute
            | Action::CallInNextWave => fallback,
        }
    }

    /// The event that tells of a refusal.
    pub(super) fn told(
        &self,
        ask: &Ask<'_>,
        refusals: &[Refusing],
        trip: &Trip,
        now: Timestamp,
        what: impl FnOnce(Told) -> Happening,
    ) -> Event {
        let primary = refusals
            .iter()
            .find(|refusal| refusal.generation == trip.generation && refusal.observed == trip.contract.observed);
        let row = trip.contract.row;
        let told = Told {
            signal: row.signal,
            action: row.action,
            urgency: row.urgency,
            phase: primary.map_or(Phase::Open, |refusal| refusal.phase),
            observed: trip.contract.observed.clone(),
            threshold: trip.contract.threshold.clone(),
        };
        let scope =
            primary.map_or_else(|| format!("target:{}", ask.target.as_str()).into(), |refusal| refusal.scope.clone());
        let kind = primary.map(|refusal| refusal.kind);
        Event { scope, kind, generation: trip.generation, ..self.event(now, what(told)) }
    }
}

impl Refusing {
    fn row(&self, has_fallback: bool) -> &'static CatalogueRow {
        let by_fallback = if has_fallback { Condition::FallbackAdmissible } else { Condition::NoFallback };
        let (signal, condition) = match self.kind {
            _ if self.is_held => (Signal::OperatorOverride, by_fallback),
            CircuitKind::Authentication => (Signal::AuthFailure, Condition::Authentication),
            CircuitKind::Authorisation => (Signal::AuthFailure, Condition::Authorisation),
            CircuitKind::ErrorRate => (Signal::ErrorRate, by_fallback),
            CircuitKind::MalformedResponse => (Signal::MalformedResponse, by_fallback),
            CircuitKind::QuotaBilling => (Signal::QuotaExhausted, Condition::Billing),
            CircuitKind::QuotaRate => (Signal::QuotaExhausted, Condition::Rate),
            CircuitKind::Latency if self.max_argument_bytes.is_some() => (Signal::Latency, Condition::Reducible),
            CircuitKind::Latency => (Signal::Latency, Condition::Otherwise),
        };
        // INVARIANT: the catalogue has a row for each of these pairs (a test asks for all of them).
        CatalogueRow::find(signal, condition).unwrap_or(&crate::domain::contract::CATALOGUE[0])
    }

    /// What is true until the latest deadline of all, so that who waits for it is not refused for what is known now. It
    /// is a running probe that is waited for only where this circuit speaks of one.
    fn standing(&self, latest: &Self) -> Standing {
        match latest.retry_at {
            None => Standing::UntilReleased,
            Some(until) if latest.is_held => Standing::HeldUntil(until),
            Some(lease_ends) if self.phase == Phase::HalfOpen && latest.phase == Phase::HalfOpen => {
                Standing::ProbeRunning { lease_ends }
            }
            Some(until) => Standing::OpenUntil(until),
        }
    }
}

/// Whether a policy's shadow covers this session: the first `percent` of a hundred places.
fn is_in_shadow(ask: &Ask<'_>, percent: u8) -> bool {
    let place = if ask.session == 0 { ask.names.caller } else { ask.session };
    // A call of nobody is of no session: where a share is in shadow, it is not among them.
    if place == 0 { percent >= 100 } else { place % 100 < u64::from(percent) }
}
