//! A breaker and its oracle, taken through the same steps; every answer of the one is held against the other's.

use std::sync::Arc;

use tripnote::domain::breaker::permit::Permit;
use tripnote::domain::breaker::policy::Rule;
use tripnote::domain::breaker::routes::Routes;
use tripnote::domain::breaker::scope::CallNames;
use tripnote::domain::breaker::{Acknowledgement, Admission, Ask, Breaker, Moment, Receipt};
use tripnote::domain::contract::Trip;
use tripnote::domain::event::Event;
use tripnote::domain::ids::TargetName;
use tripnote::domain::observation::{CallResult, Classification, RetryHint};
use tripnote::domain::signal::{CircuitKind, Phase};
use tripnote::domain::time::Timestamp;
use tripnote::domain::verdict::Verdict;

use super::figures::{figures, precedence};
use super::invariants::{self, Seen};
use super::marks::{Mark, Marks};
use super::oracle::{Asked, CIRCUITS_MAX, Oracle, Settled, Told, Why};
use super::policies::Setup;

/// The target's hash.
pub(crate) const TARGET: u64 = 7;
static ALWAYS: fn(usize) -> bool = |_| true;

/// Whose permit is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The oldest that was issued under the present phases.
    Current,
    /// The oldest that was issued under an earlier phase.
    Earlier,
    /// The one that was reported last.
    Again,
    /// Any that is held, by place.
    Any(usize),
}

/// What the caller says of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Say {
    Ok,
    BadInput,
    TimedOut,
    Ignored,
    /// The failure of the setup's n-th kind.
    Bad(usize),
}

/// One step of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A caller asks.
    Ask(u64),
    Report(Whose, Say),
    /// The oldest permit held is never reported.
    Lose,
    /// The newest permit held was never handed out.
    Wait(u64),
    /// Housekeeping.
    Compact,
}

#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) setup: Arc<Setup>,
    pub(crate) breaker: Breaker,
    /// None where the setup is beyond it: then only the invariants are held up.
    pub(crate) oracle: Option<Oracle>,
    pub(crate) now: u64,
    pub(crate) dice: u64,
    pub(crate) seq: u64,
    /// Permits in the callers' hands, oldest first.
    pub(crate) held: Vec<Permit>,
    last: Option<Permit>,
    pub(crate) trace: Vec<Step>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) target: Arc<TargetName>,
    pub(crate) events: Vec<Event>,
    /// Callers that saw failures, with the kind and the shared circuit's generation.
    pub(crate) reporters: Vec<(CircuitKind, u32, u64)>,
    /// Phases of each circuit that housekeeping has forgotten.
    forgotten: [usize; CIRCUITS_MAX],
}

impl Pair {
    pub(crate) fn new(setup: &Arc<Setup>) -> Self {
        let target = TargetName::parse("POST /v2/charge").expect("a target");
        let routes = Routes::new(1, &setup.breaker_policy(), &[], None).expect("no globs");
        let route = routes.route(target.as_str());
        let mut breaker = Breaker::new(1, route.code, route.policy);
        breaker.add_target(TARGET, target.clone(), 0, Timestamp(0));
        let oracle = setup.is_covered().then(|| Oracle::new(Arc::clone(&setup.circuits), setup.permit_for_ms));
        Self {
            setup: Arc::clone(setup),
            breaker,
            oracle,
            now: 0,
            dice: 0,
            seq: 0,
            held: Vec::new(),
            last: None,
            trace: Vec::new(),
            seen: Vec::new(),
            target: Arc::new(target),
            events: Vec::new(),
            reporters: Vec::new(),
            forgotten: [0; CIRCUITS_MAX],
        }
    }

    pub(crate) fn moment(&self) -> Moment<'static> {
        Moment {
            now: Timestamp(self.now),
            incarnation: 1,
            permit_for_ms: self.setup.permit_for_ms,
            dice: self.dice,
            may_grow: true,
            tells_calls: true,
            admissible: &ALWAYS,
        }
    }

    /// An ask of a caller, with the next number.
    pub(crate) fn ask<'a>(target: &'a TargetName, caller: u64, seq: u64) -> Ask<'a> {
        let hash = caller << 40; // scope names show the upper half
        let names = CallNames { target: TARGET, caller: hash, credential: 5 << 40, arguments: 0 };
        Ask { names, target, arguments_bytes: None, session: caller, call: 0, seq }
    }

    /// Takes a step. False where there is nothing to do, so that the history equals a shorter one.
    pub(crate) fn step(&mut self, step: Step, marks: &mut Marks) -> bool {
        self.trace.push(step);
        self.events.clear();
        let is_step = match step {
            Step::Wait(ms) => {
                self.now += ms;
                true
            }
            Step::Ask(caller) => {
                self.admit(caller, marks);
                true
            }
            Step::Report(whose, say) => self.take(whose).is_some_and(|permit| {
                self.report(permit, say, whose, marks);
                true
            }),
            Step::Lose => {
                !self.held.is_empty() && {
                    self.held.remove(0);
                    true
                }
            }
            Step::Compact => {
                self.breaker.compact(0, usize::MAX, &self.moment());
                true
            }
        };
        if is_step {
            marks.note(Mark::Steps);
            self.look(step, marks);
        }
        is_step
    }

    /// Whether a permit was issued under the present phase of every circuit.
    fn is_current(&self, permit: &Permit) -> bool {
        self.seen.iter().all(|seen| seen.generation == permit.of(seen.circuit_ref()).generation)
    }

    fn take(&mut self, whose: Whose) -> Option<Permit> {
        let place = match whose {
            Whose::Current => self.held.iter().position(|permit| self.is_current(permit)),
            Whose::Earlier => self.held.iter().position(|permit| !self.is_current(permit)),
            Whose::Any(place) => (!self.held.is_empty()).then(|| place % self.held.len()),
            Whose::Again => return self.last.clone(),
        };
        place.map(|place| self.held.remove(place))
    }

    fn admit(&mut self, caller: u64, marks: &mut Marks) {
        self.seq += 1;
        let target = Arc::clone(&self.target);
        let ask = Self::ask(&target, caller, self.seq);
        invariants::before_ask(self, &ask);
        let admission = self.breaker.admit(&ask, &self.moment(), &mut self.events);
        self.settle_deadlines(true);
        let expected = self.oracle.as_mut().map(|oracle| oracle.ask(self.now, ask.seq));
        self.settle_deadlines(false);
        if let Some(expected) = expected {
            self.same_admission(&admission, &expected, marks);
        }
        invariants::after_ask(self, &ask, &admission);
        if let Verdict::Proceed(permit) = admission.verdict {
            self.held.push(permit);
        }
    }

    fn same_admission(&self, admission: &Admission, expected: &Asked, marks: &mut Marks) {
        match (&admission.verdict, expected) {
            (Verdict::Proceed(permit), Asked::Permit { is_probe, expires_in_ms, shadow, leases }) => {
                let expires_in_ms = *expires_in_ms;
                self.same("probe", &permit.is_probe, is_probe);
                self.same("expires in", &admission.expires_in_ms, &expires_in_ms);
                self.same("shadow refusal", &admission.shadow.is_some(), shadow);
                marks.note(if *is_probe { Mark::Probe } else { Mark::Permit });
                marks.note_if(*leases > 1, Mark::ProbeOfTwo);
                marks.note_if(*shadow, Mark::ShadowRefused);
                let longest = self.setup.circuits.iter().map(|(_, policy)| policy.lease_ms).max();
                marks.note_if(*is_probe && Some(expires_in_ms) > longest, Mark::LongerLease);
            }
            (Verdict::Refuse(trip), Asked::Refused(refusals)) => self.same_refusal(trip, refusals, marks),
            (got, _) => self.same("verdict", &format!("{got:?}"), &format!("{expected:?}")),
        }
    }

    fn same_refusal(&self, trip: &Trip, refusals: &[(usize, Phase, Option<u64>)], marks: &mut Marks) {
        let Some(oracle) = &self.oracle else { return };
        let kind_of = |circuit: usize| self.setup.circuits[circuit].0;
        let mut ordered = refusals.to_vec();
        ordered.sort_by_key(|(circuit, ..)| precedence(kind_of(*circuit)));
        let primary = ordered[0];
        let (kind, policy) = &self.setup.circuits[primary.0];
        self.same("signal", &trip.contract.row.signal, &kind.signal());
        let also: Vec<_> =
            trip.also_open.iter().map(|also| (also.kind, also.phase, also.retry_at.map(|at| at.0))).collect();
        let others: Vec<_> = ordered.iter().skip(1).map(|(at, phase, retry)| (kind_of(*at), *phase, *retry)).collect();
        self.same("also open", &also, &others);
        let latest = refusals.iter().map(|(.., retry)| retry.unwrap_or(u64::MAX)).max().unwrap_or(0);
        self.same("retry at", &trip.retry_at.map_or(u64::MAX, |at| at.0), &latest);
        let is_latched = primary.1 == Phase::Open && primary.2.is_none();
        if let (Some(why), false) = (oracle.why_open(primary.0), is_latched) {
            let (observed, threshold, facts) = figures(why, policy.slow_ms, policy.observe_ms);
            self.same("threshold", &trip.contract.threshold, &threshold);
            self.same("facts", &Some((trip.facts.failed, trip.facts.results)), &Some(facts));
            if let Some(observed) = observed {
                self.same("observed", &trip.contract.observed, &observed);
            }
        }
        marks.note(if primary.1 == Phase::Open { Mark::RefusedOpen } else { Mark::RefusedHalfOpen });
        marks.note_if(is_latched, Mark::ForLatch);
        marks.note_if(refusals.len() > 1, Mark::RefusedByTwo);
        let waits = |seen: &Seen| seen.phase == Phase::Open && seen.until.is_some_and(|until| until <= self.now);
        marks.note_if(self.seen.iter().any(waits), Mark::HeldBack);
    }

    /// Reports a permit, and holds the answer against the oracle and the invariants.
    fn report(&mut self, permit: Permit, say: Say, whose: Whose, marks: &mut Marks) {
        let class = match say {
            Say::Ok => Classification::Ok,
            Say::BadInput => Classification::BadInput,
            Say::TimedOut => Classification::TimedOut,
            Say::Ignored => Classification::Ignored,
            Say::Bad(at) => Classification::Failed(self.setup.circuits[at % self.setup.circuits.len()].0),
        };
        let hint_ms = self.setup.hint_ms.filter(|_| matches!(class, Classification::Failed(_)));
        let hint = hint_ms.map(|raw_ms| RetryHint { raw_ms });
        let result = CallResult { classification: class, latency_ms: self.setup.latency_ms, hint };
        let before = self.breaker.clone();
        let receipt = self.breaker.report(&permit, &result, &self.moment(), &mut self.events);
        if self.oracle.is_some() {
            let told = Told { seq: permit.seq, class, latency_ms: self.setup.latency_ms, hint_ms };
            self.same_receipt(&told, &receipt, marks);
        }
        invariants::after_report(self, before, &permit, &result, &receipt);
        if whose != Whose::Again {
            self.last = Some(permit);
        }
    }

    fn same_receipt(&mut self, told: &Told, receipt: &Receipt, marks: &mut Marks) {
        let now = self.now;
        let Some(oracle) = self.oracle.as_mut() else { return };
        let Settled { ack, is_stale_somewhere, opens, opens_for_all } = oracle.tell(now, told);
        let leases = oracle.asked(told.seq).map(|(_, _, lease_ends)| lease_ends).unwrap_or_default();
        let phases = (0..self.setup.circuits.len()).map(|circuit| oracle.phase(circuit));
        let strictest = phases.max_by_key(|phase| match phase {
            Phase::Closed => 0,
            Phase::HalfOpen => 1,
            Phase::Open => 2,
        });
        self.settle_deadlines(false);
        self.same("acknowledgement", &receipt.acknowledgement, &ack);
        self.same("phase after", &Some(receipt.phase_after), &strictest);
        if opens_for_all || !opens {
            self.same("contract in the receipt", &receipt.trip.is_some(), &opens);
        }
        marks.note(match ack {
            Acknowledgement::Counted => Mark::Counted,
            Acknowledgement::Stale => Mark::Stale,
            Acknowledgement::Duplicate => Mark::Duplicate,
            Acknowledgement::Expired | Acknowledgement::Unknown => Mark::Expired,
        });
        let why = self
            .oracle
            .iter()
            .flat_map(|oracle| (0..self.setup.circuits.len()).map(|circuit| oracle.why_open(circuit)));
        let by_ratio = |why: Option<Why>| matches!(why, Some(Why::Fired { rule: Rule::Ratio { .. }, .. }));
        let is_good = told.class == Classification::Ok;
        marks.note_if(opens && is_good && why.into_iter().any(by_ratio), Mark::RatioFiredByGood);
        let is_written_off = leases.iter().flatten().any(|end| *end <= now);
        marks.note_if(ack == Acknowledgement::Stale && is_written_off, Mark::WrittenOffReported);
        marks.note_if(ack == Acknowledgement::Counted && opens && is_stale_somewhere, Mark::CountedDespiteStale);
        let is_leased = leases.iter().flatten().next().is_some();
        let is_counted_probe = ack == Acknowledgement::Counted && is_leased;
        let is_half_open = receipt.phase_after == Phase::HalfOpen;
        marks.note_if(is_counted_probe && is_half_open && is_good, Mark::GoodNotEnough);
        marks.note_if(is_counted_probe && told.class == Classification::Ignored, Mark::ProbeIgnored);
    }

    /// Where jitter chose a deadline, the oracle takes it over within its bounds; `early` is before it has decided.
    fn settle_deadlines(&mut self, early: bool) {
        let has_jitter = self.setup.circuits.iter().any(|(_, policy)| policy.open_for.jitter.0 > 0);
        let Some(oracle) = self.oracle.as_mut().filter(|_| has_jitter) else { return };
        if early {
            oracle.lapse(self.now, None);
        }
        for (circuit, (kind, _)) in self.setup.circuits.iter().enumerate() {
            let seen = invariants::look(&self.breaker, self.now).into_iter().find(|seen| seen.kind == *kind);
            oracle.settle_deadline(circuit, seen.and_then(|seen| seen.until));
        }
    }

    /// Looks at every circuit after a step.
    fn look(&mut self, step: Step, marks: &mut Marks) {
        let seen = invariants::look(&self.breaker, self.now);
        let before = std::mem::replace(&mut self.seen, seen);
        invariants::after_step(self, step, &before, marks);
        let Some(oracle) = &self.oracle else { return };
        let mut forgotten = self.forgotten;
        for (circuit, (kind, _)) in self.setup.circuits.iter().enumerate() {
            let (phase, generation) = (oracle.phase(circuit), oracle.generation(circuit));
            let level = oracle.level(circuit, self.now);
            let Some(seen) = self.seen.iter().find(|seen| seen.kind == *kind) else {
                self.same("circuit that is not kept", &(Phase::Closed, 0), &(phase, level));
                forgotten[circuit] = generation;
                continue;
            };
            let own = (seen.phase, seen.generation as usize + forgotten[circuit], seen.until);
            self.same("circuit", &own, &(phase, generation, oracle.spell(circuit).until));
            self.same("level", &u32::from(seen.level), &level);
            if matches!(step, Step::Ask(_)) {
                self.same("probes in flight", &seen.probes, &oracle.running(circuit, self.now).len());
            }
            let hung = matches!(oracle.why_open(circuit), Some(Why::Fired { hung: 1.., .. }));
            let was_closed = before.iter().any(|was| was.kind == *kind && was.phase == Phase::Closed);
            marks.note_if(hung && was_closed && phase == Phase::Open, Mark::HungFired);
        }
        self.forgotten = forgotten;
    }

    /// Two answers must be the same.
    pub(crate) fn same<T: PartialEq + std::fmt::Debug>(&self, what: &str, got: &T, expected: &T) {
        assert!(got == expected, "{what}: got {got:?}, expected {expected:?}{}", self.story());
    }

    /// The trace that led here, for a failure's message.
    pub(crate) fn story(&self) -> String {
        format!("\n  at {} ms under `{}`\n  after {:?}", self.now, self.setup.name, self.trace)
    }
}
