//! Which breakers and wordings have a name in the metrics, and the handles of each.
//!
//! Both are those of the configuration, and of earlier ones of this life: a series that is there does not go. What there
//! is no name or place for is counted as `other`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use super::Names;
use super::handles::{Counter, Gauge, Handles, Histogram};
use crate::domain::behaviour::{FirstAction, Label, Resolution};
use crate::domain::contract::session::GUARDS;
use crate::domain::ids::Code;
use crate::domain::signal::{CircuitKind, Phase, Signal};
use crate::domain::time::{Timestamp, WallClock};
use crate::telemetry::catalogue as row;
use crate::telemetry::catalogue::{BreakerState, MOVES, NotClosed, OTHER};

/// Breakers with a name in one life: as many as two configurations can hold.
const BREAKERS_MAX: usize = 2_000;
/// Wordings with a name in one life.
const VARIANTS_MAX: usize = 64;
/// Series that all that has a name may have, beside what every configuration has: what keeps a replica below 2,500.
const SERIES_MAX: usize = 1_840;
/// Series of a part, without those of its signal and wording.
const OF_PART: usize = 3 + FirstAction::ALL.len() + Resolution::ALL.len();
/// Series of a breaker.
const OF_BREAKER: usize = 2 + BreakerState::ALL.len() + MOVES.len();
/// Series of a wording: the parts of guards and of all other breakers, and the steps to a recovery of each signal.
const OF_VARIANT: usize = 284;
/// Parts that always have a place, however many breakers there are.
const PARTS_MIN: usize = 40;

/// A breaker, a signal and a wording.
type Part = (Code, Signal, Code);

/// What is counted of one part.
pub(super) struct OfPart {
    pub(super) trips: Counter,
    pub(super) first_actions: Vec<Counter>,
    pub(super) resolutions: Vec<Counter>,
    pub(super) recovery_turns: Histogram,
    pub(super) repeated: Counter,
    pub(super) repeats: Counter,
    pub(super) sessions: Counter,
}

impl OfPart {
    fn new(handles: &Handles, (breaker, signal, variant): &Part) -> Self {
        let part = [breaker.as_str(), signal.word(), variant.as_str()];
        let with = |word: &'static str| [part[0], part[1], part[2], word];
        let first_action = |word: &FirstAction| handles.counter(&row::FOLLOW_UPS, &with(word.word()));
        let resolution = |word: &Resolution| handles.counter(&row::RESOLUTIONS, &with(word.word()));
        Self {
            trips: handles.counter(&row::TRIPS, &part),
            first_actions: FirstAction::ALL.iter().map(first_action).collect(),
            resolutions: Resolution::ALL.iter().map(resolution).collect(),
            recovery_turns: handles.histogram(&row::RECOVERY_TURNS, &[part[1], part[2]]),
            repeated: handles.counter(&row::REPEATED_TRIPS, &part),
            repeats: handles.counter(&row::REPEATS, &[part[1], part[2]]),
            sessions: handles.counter(&row::TRIP_SESSIONS, &part),
        }
    }
}

/// What is counted of one breaker.
pub(super) struct OfBreaker {
    pub(super) refusals: Counter,
    /// None for a session guard, which has no circuit.
    pub(super) circuits: Option<OfCircuits>,
}

/// What is counted of the circuits of one breaker.
pub(super) struct OfCircuits {
    moves: [Counter; MOVES.len()],
    /// By events, which may come out of order: below 0 for a moment.
    open: AtomicI64,
    half_open: AtomicI64,
    /// One more than the timestamp; 0 for never.
    opened: AtomicU64,
    /// None for `other`, which is many breakers.
    state: Option<OfState>,
}

struct OfState {
    states: [(BreakerState, Gauge); BreakerState::ALL.len()],
    opened: Gauge,
}

/// How a breaker is to be shown.
pub(super) struct Stand {
    pub(super) is_held_open: bool,
    pub(super) wall: WallClock,
}

impl OfCircuits {
    fn new(handles: &Handles, breaker: &str) -> Self {
        let state = |state: BreakerState| (state, handles.gauge(&row::BREAKER_STATE, &[breaker, state.word()]));
        let has_state = breaker != OTHER;
        Self {
            moves: MOVES.map(|(from, to)| handles.counter(&row::TRANSITIONS, &[breaker, from.word(), to.word()])),
            open: AtomicI64::new(0),
            half_open: AtomicI64::new(0),
            opened: AtomicU64::new(0),
            state: has_state.then(|| OfState {
                states: [BreakerState::Closed, BreakerState::HalfOpen, BreakerState::Open, BreakerState::ForcedOpen]
                    .map(state),
                opened: handles.gauge(&row::BREAKER_OPENED, &[breaker]),
            }),
        }
    }

    /// A circuit changed its phase; a reset of a closed one changes none.
    pub(super) fn moved(&self, from: Phase, to: Phase, at: Timestamp) {
        let of = MOVES.iter().position(|known| *known == (from, to));
        if let Some(counter) = of.and_then(|of| self.moves.get(of)) {
            counter.increment(1);
        }
        self.add(from, -1);
        self.add(to, 1);
        if to == Phase::Open {
            self.opened.fetch_max(at.0.saturating_add(1), Ordering::Relaxed);
        }
    }

    /// A circuit is open since before this life.
    pub(super) fn restored(&self, opened_at: Timestamp) {
        self.add(Phase::Open, 1);
        self.opened.fetch_max(opened_at.0.saturating_add(1), Ordering::Relaxed);
    }

    /// Circuits went as they stood.
    pub(super) fn removed(&self, open: u32, half_open: u32) {
        self.add(Phase::Open, -i64::from(open));
        self.add(Phase::HalfOpen, -i64::from(half_open));
    }

    fn add(&self, phase: Phase, more: i64) {
        match phase {
            Phase::Closed => {}
            Phase::Open => _ = self.open.fetch_add(more, Ordering::Relaxed),
            Phase::HalfOpen => _ = self.half_open.fetch_add(more, Ordering::Relaxed),
        }
    }

    /// Sets the gauges; answers how many circuits are open and half-open.
    pub(super) fn show(&self, stand: &Stand) -> [i64; NotClosed::ALL.len()] {
        let (open, half_open) = (self.open.load(Ordering::Relaxed), self.half_open.load(Ordering::Relaxed));
        let counts = [open.max(0), half_open.max(0)];
        let Some(OfState { states, opened }) = &self.state else { return counts };
        let stands = match (stand.is_held_open, open > 0, half_open > 0) {
            (true, ..) => BreakerState::ForcedOpen,
            (false, true, _) => BreakerState::Open,
            (false, false, true) => BreakerState::HalfOpen,
            (false, false, false) => BreakerState::Closed,
        };
        for (state, gauge) in states {
            gauge.set(f64::from(u8::from(*state == stands)));
        }
        let at = self.opened.load(Ordering::Relaxed).checked_sub(1).filter(|_| open > 0);
        opened.set(at.map_or(0.0, |at| stand.wall.unix_ms(Timestamp(at)) as f64 / 1e3));
        counts
    }
}

/// Everything that has a name.
pub(super) struct Known {
    pub(super) breakers: BTreeMap<Code, Arc<OfBreaker>>,
    variants: BTreeSet<Code>,
    parts: BTreeMap<Part, Arc<OfPart>>,
    /// Parts of breakers that are neither guards nor `other`.
    own_parts: usize,
    other: Arc<OfBreaker>,
    other_code: Code,
}

impl Known {
    pub(super) fn new(handles: &Handles) -> Self {
        let other_code = Code::from_target(OTHER);
        let other = of_breaker(handles, OTHER);
        let guard = |(code, _): &(&'static str, Signal)| {
            let refusals = handles.counter(&row::REFUSALS, &[code]);
            (Code::from_target(code), Arc::new(OfBreaker { refusals, circuits: None }))
        };
        Self {
            breakers: GUARDS.iter().map(guard).collect(),
            variants: BTreeSet::from([other_code.clone()]),
            parts: BTreeMap::new(),
            own_parts: 0,
            other,
            other_code,
        }
    }

    /// Gives the breakers and wordings of a configuration their names, and what can be counted of them its zeros.
    pub(super) fn learn(&mut self, handles: &Handles, names: &Names) {
        for variant in &names.variants {
            if self.variants.len() < VARIANTS_MAX {
                self.variants.insert(variant.clone());
            }
        }
        for code in &names.breakers {
            if self.breakers.len() < BREAKERS_MAX && !self.breakers.contains_key(code) && *code != self.other_code {
                self.breakers.insert(code.clone(), of_breaker(handles, code.as_str()));
            }
        }
        for variant in &names.variants {
            for (guard, signal) in GUARDS {
                self.make(handles, (Code::from_target(guard), signal, variant.clone()));
            }
            for signal in target_signals() {
                self.make(handles, (self.other_code.clone(), signal, variant.clone()));
            }
        }
        let parts = names.breakers.len() * target_signals().count() * names.variants.len();
        if parts > self.parts_max().saturating_sub(self.own_parts) {
            return; // there is no place for all: who trips first has it
        }
        for code in &names.breakers {
            for (signal, variant) in target_signals().flat_map(|signal| names.variants.iter().map(move |v| (signal, v)))
            {
                self.make(handles, (code.clone(), signal, variant.clone()));
            }
        }
    }

    /// Parts of configured breakers with series of their own. A breaker times a signal times a wording can be too many; few
    /// of them ever trip.
    pub(super) fn parts_max(&self) -> usize {
        let taken = self.breakers.len() * OF_BREAKER + self.variants.len().saturating_sub(1) * OF_VARIANT; // `other` is one
        (SERIES_MAX.saturating_sub(taken) / OF_PART).max(PARTS_MIN)
    }

    /// The handles of a breaker, or of all that have no name.
    pub(super) fn breaker(&self, code: &Code) -> &Arc<OfBreaker> {
        self.breakers.get(code).unwrap_or(&self.other)
    }

    pub(super) fn other(&self) -> &Arc<OfBreaker> {
        &self.other
    }

    /// The handles of what was told, where they are there.
    pub(super) fn part(&self, label: &Label) -> Option<Arc<OfPart>> {
        self.parts.get(&self.named(label)).cloned()
    }

    /// The same, made where there are none; without a place, those of all other breakers.
    pub(super) fn part_made(&mut self, handles: &Handles, label: &Label) -> Arc<OfPart> {
        let part = self.named(label);
        self.make(handles, part)
    }

    fn named(&self, label: &Label) -> Part {
        let known = |code: &Code, is_known: bool| if is_known { code.clone() } else { self.other_code.clone() };
        let breaker = known(&label.breaker, self.breakers.contains_key(&label.breaker));
        (breaker, label.signal, known(&label.variant, self.variants.contains(&label.variant)))
    }

    fn make(&mut self, handles: &Handles, part: Part) -> Arc<OfPart> {
        if let Some(known) = self.parts.get(&part) {
            return Arc::clone(known);
        }
        let is_own = part.0 != self.other_code && !GUARDS.iter().any(|(guard, _)| part.0.as_str() == *guard);
        if is_own && self.own_parts >= self.parts_max() {
            return self.make(handles, (self.other_code.clone(), part.1, part.2));
        }
        self.own_parts += usize::from(is_own);
        let made = Arc::new(OfPart::new(handles, &part));
        self.parts.insert(part, Arc::clone(&made));
        made
    }
}

fn of_breaker(handles: &Handles, code: &str) -> Arc<OfBreaker> {
    let refusals = handles.counter(&row::REFUSALS, &[code]);
    Arc::new(OfBreaker { refusals, circuits: Some(OfCircuits::new(handles, code)) })
}

/// The signals that a breaker's circuits and holds give.
fn target_signals() -> impl Iterator<Item = Signal> {
    let of_circuits: BTreeSet<Signal> = CircuitKind::ALL.iter().map(|kind| kind.signal()).collect();
    of_circuits.into_iter().chain([Signal::OperatorOverride])
}
