//! What holds after every step, under every policy, numbered.
//!
//! - I1  Probes in flight never exceed `probes`.
//! - I2  Nobody leaves open before its deadline, and a latch never.
//! - I3  A report that is stale, a duplicate, expired, unknown or ignored moves no phase, generation, level, deadline or
//!   counter of the circuits it is none of the business of; ignored may give a lease back and no more.
//! - I4  Generations never decrease; each phase change is one of the four, and has exactly its event.
//! - I5  A refusal's time lies ahead, or there is none: a latch.
//! - I6  Who waits until a refusal's time is not refused for the same reason.
//! - I7  A refused call takes nothing: no circuit goes half-open for it, no lease is given.
//! - I8  An opening lasts from base to max, and ends when its event said.
//! - I9  Leases are bounded: at least what is configured, at most a permit's time.
//! - I10 Who does as it is told gets through after a few waits, from wherever it is.
//! - I11 A look ahead says what the ask then gets, and takes nothing.
//! - I12 With `min_reporters = n` the shared circuit opens only when n callers saw failures in this phase.
//! - I13 A policy in shadow for all never refuses.
//!   A caller's own circuit opens only when that caller saw a failure.
//! - I14 Housekeeping changes no phase.

use std::collections::BTreeSet;

use tripnote::domain::breaker::permit::{CircuitRef, Permit};
use tripnote::domain::breaker::policy::Policy;
use tripnote::domain::breaker::{Acknowledgement, Admission, Ask, Breaker, CircuitView, Moment, Receipt};
use tripnote::domain::contract::{Threshold, Trip};
use tripnote::domain::event::{Event, Happening};
use tripnote::domain::observation::{CallResult, Classification};
use tripnote::domain::signal::{CircuitKind, Phase};
use tripnote::domain::time::Timestamp;
use tripnote::domain::verdict::Verdict;

use super::marks::{Mark, Marks};
use super::oracle::{Meaning, meaning_of};
use super::pair::{Pair, Step};

/// One circuit, as a step left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) scope: String,
    pub(crate) kind: CircuitKind,
    pub(crate) phase: Phase,
    pub(crate) generation: u32,
    pub(crate) until: Option<u64>,
    pub(crate) level: u8,
    pub(crate) probes: usize,
    pub(crate) failed: u32,
}

impl Seen {
    pub(crate) fn of(view: CircuitView) -> Option<Self> {
        Some(Self {
            scope: view.scope,
            kind: view.kind?,
            phase: view.phase,
            generation: view.generation,
            until: view.open_until.map(|at| at.0),
            level: view.level,
            probes: view.probes_in_flight,
            failed: view.failed,
        })
    }

    pub(crate) fn is_personal(&self) -> bool {
        self.scope.starts_with("target+caller:")
    }

    pub(crate) fn circuit_ref(&self) -> CircuitRef {
        CircuitRef { kind: self.kind, is_personal: self.is_personal() }
    }
}

pub(crate) fn look(breaker: &Breaker, now: u64) -> Vec<Seen> {
    breaker.views(Timestamp(now), false).filter_map(Seen::of).collect()
}

fn policy(pair: &Pair, kind: CircuitKind) -> &Policy {
    pair.setup.circuits.iter().find(|(own, _)| *own == kind).map(|(_, policy)| policy).expect("only its own kinds")
}

fn same_circuit<'a>(all: &'a [Seen], one: &Seen) -> Option<&'a Seen> {
    all.iter().find(|seen| seen.kind == one.kind && seen.scope == one.scope)
}

fn holds(pair: &Pair, number: u8, claim: bool, what: impl FnOnce() -> String) {
    assert!(claim, "I{number}: {}{}", what(), pair.story());
}

/// I11, from a copy: the look ahead, to be held against the ask.
pub(crate) fn before_ask(pair: &mut Pair, ask: &Ask<'_>) {
    let mut copy = pair.breaker.clone();
    let ahead = copy.peek(ask, &pair.moment(), &mut Vec::new());
    let after = look(&copy, pair.now);
    let again = copy.peek(ask, &pair.moment(), &mut Vec::new());
    holds(pair, 11, ahead == again && look(&copy, pair.now) == after, || "a second look ahead differs".into());
    let got = copy.admit(ask, &pair.moment(), &mut Vec::new()).verdict;
    let agrees = match (&ahead, &got) {
        (Verdict::Proceed(is_probe), Verdict::Proceed(permit)) => *is_probe == permit.is_probe,
        (Verdict::Refuse(ahead), Verdict::Refuse(got)) => {
            (&ahead.contract, ahead.retry_at, &ahead.also_open) == (&got.contract, got.retry_at, &got.also_open)
        }
        (Verdict::Proceed(_), Verdict::Refuse(_)) | (Verdict::Refuse(_), Verdict::Proceed(_)) => false,
    };
    holds(pair, 11, agrees, || format!("ahead {ahead:?}, got {got:?}"));
}

/// I5 to I7, I9, I10 and I13.
pub(crate) fn after_ask(pair: &Pair, ask: &Ask<'_>, admission: &Admission) {
    let permit_for_ms = pair.setup.permit_for_ms;
    match &admission.verdict {
        Verdict::Proceed(permit) => {
            let ms = admission.expires_in_ms;
            let shortest =
                pair.setup.circuits.iter().map(|(_, policy)| policy.lease_ms).min().unwrap_or(0).min(permit_for_ms);
            let is_bounded =
                if permit.is_probe { (shortest..=permit_for_ms).contains(&ms) } else { ms == permit_for_ms };
            holds(pair, 9, is_bounded, || format!("a permit for {ms} ms"));
        }
        Verdict::Refuse(trip) => {
            refused(pair, trip);
            waits(pair, ask, trip);
            gets_through(pair, ask);
        }
    }
}

fn refused(pair: &Pair, trip: &Trip) {
    let has_latch = pair.setup.circuits.iter().any(|(_, policy)| policy.latch);
    let also = trip.also_open.iter().map(|also| also.retry_at);
    for retry_at in also.chain([trip.retry_at]) {
        let is_ahead = retry_at.map_or(has_latch, |at| at.0 > pair.now);
        holds(pair, 5, is_ahead, || format!("ask again at {retry_at:?}"));
    }
    let took = pair.events.iter().any(|event| matches!(event.what, Happening::Probing));
    holds(pair, 7, !took, || "half-open for a refused call".into());
    let after = look(&pair.breaker, pair.now);
    let grew = after.iter().any(|now| now.probes > same_circuit(&pair.seen, now).map_or(0, |before| before.probes));
    holds(pair, 7, !grew, || "a lease for a refused call".into());
    let is_all_shadow = pair.setup.circuits.iter().all(|(_, policy)| policy.shadow_percent >= 100);
    holds(pair, 13, !is_all_shadow, || "refused in shadow".into());
}

/// I6.
fn waits(pair: &Pair, ask: &Ask<'_>, trip: &Trip) {
    let Some(retry_at) = trip.retry_at else { return };
    let mut copy = pair.breaker.clone();
    let before = look(&copy, pair.now);
    let ask = Ask { seq: ask.seq + 1_000_000, ..*ask };
    let moment = Moment { now: retry_at, ..pair.moment() };
    let mut events = Vec::new();
    let Verdict::Refuse(again) = copy.admit(&ask, &moment, &mut events).verdict else { return };
    let primary = events.iter().filter(|event| matches!(event.what, Happening::Refused(_)));
    let primary = primary.map(|event| (event.scope.clone(), event.kind));
    let refusing: Vec<_> =
        again.also_open.iter().map(|also| (also.scope.clone(), Some(also.kind))).chain(primary).collect();
    for now in look(&copy, retry_at.0) {
        let refuses = refusing.contains(&(now.scope.as_str().into(), Some(now.kind)));
        let is_same = same_circuit(&before, &now).is_some_and(|was| was.generation == now.generation);
        holds(pair, 6, !refuses || !is_same, || format!("waited until {retry_at:?}, then {again:?}"));
    }
}

/// I10.
fn gets_through(pair: &Pair, ask: &Ask<'_>) {
    let mut copy = pair.breaker.clone();
    let mut moment = pair.moment();
    for turn in 0..=2 * pair.setup.circuits.len() + 2 {
        let ask = Ask { seq: ask.seq + 2_000_000 + turn as u64, ..*ask };
        match copy.admit(&ask, &moment, &mut Vec::new()).verdict {
            Verdict::Proceed(_) => return,
            Verdict::Refuse(trip) => match trip.retry_at {
                Some(at) => moment.now = at,
                None => return, // a latch: I5
            },
        }
    }
    holds(pair, 10, false, || "never let through".into());
}

/// I3.
pub(crate) fn after_report(
    pair: &mut Pair,
    mut before: Breaker,
    permit: &Permit,
    result: &CallResult,
    receipt: &Receipt,
) {
    let after = look(&pair.breaker, pair.now);
    if matches!(
        receipt.acknowledgement,
        Acknowledgement::Duplicate | Acknowledgement::Expired | Acknowledgement::Unknown
    ) {
        let untouched = look(&before, pair.now);
        holds(pair, 3, after == untouched && receipt.trip.is_none(), || {
            format!("{receipt:?} moved {untouched:?} to {after:?}")
        });
        return;
    }
    // What time alone had decided before the report is carried out on the copy first.
    let names = tripnote::domain::breaker::names_of(permit);
    let ask = Ask { names, target: &pair.target, arguments_bytes: None, session: 0, call: 0, seq: 0 };
    let _verdict = before.peek(&ask, &pair.moment(), &mut Vec::new());
    let before = look(&before, pair.now);
    let is_ignored = result.classification == Classification::Ignored;
    for was in &before {
        let now = same_circuit(&after, was);
        if policy(pair, was.kind).in_flight {
            continue; // the copy cannot tell which call is no longer in flight
        }
        let is_past = permit.of(was.circuit_ref()).generation != was.generation;
        let is_stale = receipt.acknowledgement == Acknowledgement::Stale && before.len() == 1;
        if is_past || is_stale {
            holds(pair, 3, now == Some(was), || format!("a stale report moved {was:?} to {now:?}"));
        } else if is_ignored {
            let gave_back = usize::from(permit.is_probe && now.is_some_and(|now| now.probes + 1 == was.probes));
            let expected = Seen { probes: was.probes - gave_back, ..was.clone() };
            holds(pair, 3, now == Some(&expected), || format!("an ignored report moved {was:?} to {now:?}"));
        }
    }
    note_reporter(pair, &before, permit, result);
    quorum(pair, &before, &after);
    let opens_own =
        |now: &&Seen| now.is_personal() && now.phase == Phase::Open && same_circuit(&before, now) != Some(*now);
    for own in after.iter().filter(opens_own) {
        let is_sick = pair.reporters.iter().any(|(kind, _, caller)| *kind == own.kind && *caller == permit.caller);
        holds(pair, 12, is_sick, || format!("{own:?} opened for a good caller"));
    }
}

/// Notes who saw a failure, and in which phase of the shared circuit.
fn note_reporter(pair: &mut Pair, before: &[Seen], permit: &Permit, result: &CallResult) {
    let took_ms = result.latency_ms.unwrap_or(pair.now - permit.issued_at.0);
    for (kind, policy) in pair.setup.circuits.iter() {
        let generation =
            before.iter().find(|was| was.kind == *kind && !was.is_personal()).map_or(0, |was| was.generation);
        let is_bad = meaning_of(result.classification, *kind, policy.slow_ms, took_ms) == Meaning::Bad;
        let shared = CircuitRef { kind: *kind, is_personal: false };
        if is_bad && permit.of(shared).generation == generation {
            pair.reporters.push((*kind, generation, permit.caller));
        }
    }
}

/// I12.
fn quorum(pair: &Pair, before: &[Seen], after: &[Seen]) {
    for now in after.iter().filter(|now| now.phase == Phase::Open && !now.is_personal()) {
        let policy = policy(pair, now.kind);
        let was = same_circuit(before, now);
        let generation = was.map_or(0, |was| was.generation);
        let opened = was.is_none_or(|was| was.phase == Phase::Closed);
        let saw = |(kind, own, caller): &(CircuitKind, u32, u64)| {
            (*kind == now.kind && *own == generation).then_some(*caller)
        };
        let callers: BTreeSet<u64> = pair.reporters.iter().filter_map(saw).collect();
        let is_enough = callers.len() >= usize::from(policy.min_reporters);
        let is_excused = policy.in_flight && policy.min_reporters <= 1; // hanging calls have no reporter
        holds(pair, 12, !opened || is_enough || is_excused, || format!("{now:?} opened for all by {callers:?}"));
    }
}

/// I1, I2, I4, I8, I14, and the marks of what changed.
pub(crate) fn after_step(pair: &Pair, step: Step, before: &[Seen], marks: &mut Marks) {
    for now in &pair.seen {
        let policy = policy(pair, now.kind);
        holds(pair, 1, now.probes <= usize::from(policy.probes), || format!("{} probes", now.probes));
        marks.note_if(now.probes > 1, Mark::TwoRunning);
        let was = same_circuit(before, now);
        let (was_phase, was_generation) = was.map_or((Phase::Closed, 0), |was| (was.phase, was.generation));
        if let Some(was) = was {
            let has_left = was.phase == Phase::Open && now.generation != was.generation;
            let may_leave = was.until.is_some_and(|until| pair.now >= until);
            holds(pair, 2, !has_left || may_leave, || format!("left open at {} of {:?}", pair.now, was.until));
            holds(
                pair,
                14,
                step != Step::Compact || (was.phase, was.generation) == (now.phase, now.generation),
                || "housekeeping moved a circuit".into(),
            );
            marks.note_if(now.level > was.level, Mark::LevelUp);
            marks.note_if(now.level < was.level, Mark::LevelDown);
        }
        let (phase, generation) = follow_events(pair, now, (was_phase, was_generation), marks);
        holds(pair, 4, (phase, generation) == (now.phase, now.generation), || {
            format!("{was:?} became {now:?} without its events: {:?}", pair.events)
        });
    }
    for was in before.iter().filter(|was| same_circuit(&pair.seen, was).is_none()) {
        let is_spent = was.phase == Phase::Closed && step == Step::Compact;
        holds(pair, 14, is_spent, || format!("{was:?} is gone"));
    }
}

/// Walks the events of one circuit from a phase on.
fn follow_events(pair: &Pair, circuit: &Seen, from: (Phase, u32), marks: &mut Marks) -> (Phase, u32) {
    let own = |event: &&Event| event.kind == Some(circuit.kind) && *event.scope == *circuit.scope;
    let (mut phase, mut generation) = from;
    for event in pair.events.iter().filter(own) {
        let (to, is_edge) = match &event.what {
            Happening::Tripped(opening) => {
                let policy = policy(pair, circuit.kind);
                let (base, max) = (policy.open_for.base_ms, policy.open_for.max_ms);
                let is_bounded = opening.open_for_ms.map_or(policy.latch, |ms| (base..=max).contains(&ms));
                holds(pair, 8, is_bounded, || format!("{opening:?}"));
                let until = opening.open_for_ms.map(|ms| pair.now + ms);
                // Lost probes are found late, and dated back to when they were lost.
                let is_late = opening.threshold == Threshold::LostProbes(3) && circuit.until <= until;
                let is_told = event.generation != circuit.generation || circuit.until == until || is_late;
                holds(pair, 8, is_told, || format!("{opening:?} ends at {:?}", circuit.until));
                holds(pair, 4, opening.from == phase, || format!("{opening:?} from {phase:?}"));
                note_opening(phase, &opening.threshold, opening.hint_ms, marks);
                (Phase::Open, phase != Phase::Open)
            }
            Happening::Probing => {
                marks.note(Mark::OpenToHalfOpen);
                (Phase::HalfOpen, phase == Phase::Open)
            }
            Happening::Recovered => {
                marks.note(Mark::HalfOpenToClosed);
                (Phase::Closed, phase == Phase::HalfOpen)
            }
            _ => continue,
        };
        generation += 1;
        let is_next = is_edge && event.generation == generation;
        holds(pair, 4, is_next, || format!("{event:?} from {phase:?} at generation {generation}"));
        phase = to;
    }
    (phase, generation)
}

fn note_opening(from: Phase, threshold: &tripnote::domain::contract::Threshold, hint: Option<i64>, marks: &mut Marks) {
    use tripnote::domain::breaker::policy::Rule;
    use tripnote::domain::contract::Threshold;
    marks.note_if(from == Phase::Closed, Mark::ClosedToOpen);
    marks.note_if(hint.is_some(), Mark::HintFollowed);
    match threshold {
        Threshold::Rule { rule: Rule::Failures { .. }, .. } => marks.note(Mark::FailuresFired),
        Threshold::Rule { rule: Rule::Ratio { .. }, .. } => marks.note(Mark::RatioFired),
        Threshold::Rule { rule: Rule::Consecutive { .. }, .. } => marks.note(Mark::ConsecutiveFired),
        Threshold::FailedProbe => marks.note(Mark::HalfOpenToOpen),
        Threshold::LostProbes(_) => marks.note(Mark::HalfOpenToOpenLost),
        Threshold::OperatorOverride | Threshold::Latch | Threshold::Session(_) => {}
    }
}
