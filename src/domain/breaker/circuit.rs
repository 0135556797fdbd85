//! One state machine: closed, open, half-open, and the four automatic transitions between them.
//!
//! Pure: the caller passes `now`, the policy and the results counted for its scope. It never lies about time: deadlines
//! are judged on entry, there are no timers. Overrides are not its business; they mask it from outside.

mod exchange;
mod rules;
mod snapshot;

use std::collections::VecDeque;

use super::backoff::Duration;
use super::policy::{Policy, SliceGrid};
use super::window::{Mark, Ring};
use crate::domain::observation::Outcome;
use crate::domain::signal::{CircuitKind, Phase};
use crate::domain::time::Timestamp;

pub use exchange::{Answer, Lapsed, Lease, Sample, Settled, TripCause, View};
pub use snapshot::CircuitSnapshot;

/// Probes lost in a row that reopen a half-open circuit.
pub const LOST_PROBES_MAX: u8 = 3;
/// The highest backoff level; the longest open time is reached long before.
const LEVEL_MAX: u8 = 32;
/// Calls in flight that one latency circuit follows; beyond, the oldest are no longer followed.
const IN_FLIGHT_MAX: usize = 1_024;
/// Distinct callers that are remembered for `min_reporters`.
const REPORTERS_MAX: usize = 64;
/// Sizes of slow calls that are remembered for `reduce_payload`.
const SIZES_MAX: usize = 32;

const FAILED: usize = 0;
const IGNORED: usize = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Closed(Closed),
    Open(Box<Open>),
    HalfOpen(Box<HalfOpen>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Closed {
    /// Failures in a row, and when the first of them was reported.
    run: u32,
    run_since: Timestamp,
    /// What the windows held when it closed: a rule never counts what led to an earlier trip.
    marks: Option<Box<Marks>>,
    /// Calls in flight, oldest first (latency only).
    in_flight: VecDeque<(Timestamp, u64)>,
    /// Callers that saw failures, with the last one's time (only where `min_reporters` asks).
    reporters: Vec<(u64, Timestamp)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Marks {
    own: Mark<2>,
    results: Mark<1>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    /// None until an operator releases it.
    until: Option<Timestamp>,
    cause: TripCause,
    /// The size of arguments that may pass one at a time, and the pass that runs.
    max_argument_bytes: Option<u32>,
    small_pass: Option<Lease>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct HalfOpen {
    leases: Vec<Lease>,
    passed: u16,
    lost: u8,
    cause: TripCause,
}

/// One circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// What it watches.
    pub kind: CircuitKind,
    /// The number of its current phase.
    pub generation: u32,
    /// When the current phase began.
    pub since: Timestamp,
    level: u8,
    state: State,
    /// Failures (slow calls) and results that say nothing about this kind.
    window: Ring<2>,
    slow_sizes: VecDeque<u32>,
}

impl Circuit {
    /// A closed circuit that has seen nothing.
    #[must_use]
    pub fn new(kind: CircuitKind) -> Self {
        Self {
            kind,
            generation: 0,
            since: Timestamp(0),
            level: 0,
            state: State::Closed(Closed::default()),
            window: Ring::default(),
            slow_sizes: VecDeque::new(),
        }
    }

    /// The phase.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        match self.state {
            State::Closed(_) => Phase::Closed,
            State::Open(_) => Phase::Open,
            State::HalfOpen(_) => Phase::HalfOpen,
        }
    }

    /// The deadline of an open circuit; none for a latch and outside of open.
    #[must_use]
    pub fn open_until(&self) -> Option<Timestamp> {
        match &self.state {
            State::Open(open) => open.until,
            State::Closed(_) | State::HalfOpen(_) => None,
        }
    }

    /// Why it is not closed.
    #[must_use]
    pub fn cause(&self) -> Option<&TripCause> {
        match &self.state {
            State::Closed(_) => None,
            State::Open(open) => Some(&open.cause),
            State::HalfOpen(half) => Some(&half.cause),
        }
    }

    /// Running leases.
    #[must_use]
    pub fn leases(&self) -> &[Lease] {
        match &self.state {
            State::HalfOpen(half) => &half.leases,
            State::Closed(_) | State::Open(_) => &[],
        }
    }

    /// The size of arguments that may pass while open.
    #[must_use]
    pub fn max_argument_bytes(&self) -> Option<u32> {
        match &self.state {
            State::Open(open) => open.max_argument_bytes,
            State::Closed(_) | State::HalfOpen(_) => None,
        }
    }

    /// The backoff level now: one step less per healthy window since closing.
    #[must_use]
    pub fn level(&self, now: Timestamp, policy: &Policy) -> u8 {
        match self.state {
            State::Closed(_) => {
                let steps = now.since_ms(self.since) / policy.healthy_window_ms.max(1);
                self.level.saturating_sub(u8::try_from(steps).unwrap_or(u8::MAX))
            }
            State::Open(_) | State::HalfOpen(_) => self.level,
        }
    }

    /// Nothing in its window, and no run.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.window.totals() == [0, 0] && matches!(&self.state, State::Closed(closed) if closed.run == 0)
    }

    /// Failures kept in its window.
    #[must_use]
    pub const fn failures_kept(&self) -> u32 {
        let [failed, _] = self.window.totals();
        failed
    }

    /// Writes off leases that have ended. `reopens_from` where that was the third lost probe in a row.
    pub fn advance(&mut self, now: Timestamp) -> Lapsed {
        match &mut self.state {
            State::HalfOpen(half) => {
                let ended = half.leases.iter().map(|lease| lease.ends_at).filter(|ends_at| now >= *ends_at);
                let (lost, last) = (ended.clone().count(), ended.max());
                half.leases.retain(|lease| now < lease.ends_at);
                half.lost = half.lost.saturating_add(u8::try_from(lost).unwrap_or(u8::MAX));
                Lapsed { lost, reopens_from: last.filter(|_| half.lost >= LOST_PROBES_MAX) }
            }
            State::Open(open) => {
                open.small_pass = open.small_pass.filter(|pass| now < pass.ends_at);
                Lapsed::default()
            }
            State::Closed(_) => Lapsed::default(),
        }
    }

    /// Whether a call of `arguments_bytes` may pass now. Changes nothing; [`Circuit::advance`] comes first.
    #[must_use]
    pub fn answer(&self, now: Timestamp, policy: &Policy, arguments_bytes: Option<u32>) -> Answer {
        match &self.state {
            State::Closed(_) => Answer::Pass,
            State::Open(open) => {
                if open.until.is_some_and(|until| now >= until) {
                    return Answer::MayProbe;
                }
                let is_small = open.max_argument_bytes.zip(arguments_bytes).is_some_and(|(max, size)| size <= max);
                if is_small && open.small_pass.is_none() {
                    return Answer::MayPassSmall;
                }
                Answer::Refuse { phase: Phase::Open, retry_at: open.until }
            }
            State::HalfOpen(half) => {
                if half.leases.len() < usize::from(policy.probes.max(1)) {
                    return Answer::MayProbe;
                }
                let retry_at = half.leases.iter().map(|lease| lease.ends_at).min();
                Answer::Refuse { phase: Phase::HalfOpen, retry_at: Some(retry_at.unwrap_or(now.plus_ms(1))) }
            }
        }
    }

    /// Takes a probe's lease. True where this made the circuit half-open.
    pub fn lease(&mut self, now: Timestamp, lease: Lease) -> bool {
        let cause = match &mut self.state {
            State::HalfOpen(half) => {
                half.leases.push(lease);
                return false;
            }
            State::Open(open) => open.cause.clone(),
            State::Closed(_) => return false, // INVARIANT: a closed circuit never answers `MayProbe`
        };
        self.enter(now, State::HalfOpen(Box::new(HalfOpen { leases: vec![lease], passed: 0, lost: 0, cause })));
        true
    }

    /// Takes the one place of a small call while open.
    pub fn pass_small(&mut self, pass: Lease) {
        if let State::Open(open) = &mut self.state {
            open.small_pass = Some(pass);
        }
    }

    /// Follows a call in flight, for `in_flight` latency.
    pub fn follow(&mut self, now: Timestamp, seq: u64) {
        if let State::Closed(closed) = &mut self.state {
            if closed.in_flight.len() >= IN_FLIGHT_MAX {
                closed.in_flight.pop_front();
            }
            closed.in_flight.push_back((now, seq));
        }
    }

    /// Follows a call no longer.
    pub fn unfollow(&mut self, seq: u64) {
        if let State::Closed(closed) = &mut self.state {
            closed.in_flight.retain(|(_, own)| *own != seq);
        }
    }

    /// Settles one report. The caller carries out what `Fires`, `Reopens` and `Closes` ask for.
    pub fn settle(&mut self, sample: &Sample, view: View<'_>) -> Settled {
        let is_current = sample.generation == self.generation && sample.issued_at >= self.since;
        let settled = match &mut self.state {
            State::HalfOpen(half) => match half.leases.iter().position(|lease| lease.probe == sample.seq) {
                None if is_current && !sample.is_probe => Settled::Counted, // let through in shadow or by an override
                None => Settled::Stale,
                Some(at) => half.settle_probe(at, sample.outcome, view.policy),
            },
            State::Open(open) if is_current => {
                // Let through by an override, in shadow, or for its small arguments: only time leaves `open`.
                open.small_pass = open.small_pass.filter(|pass| pass.probe != sample.seq);
                Settled::Counted
            }
            State::Closed(closed) if is_current => {
                closed.note(sample, view);
                Settled::Counted
            }
            State::Open(_) | State::Closed(_) => Settled::Stale,
        };
        let counts_here = settled != Settled::Stale && sample.outcome != Outcome::Ignored;
        self.book(sample, view, counts_here);
        if counts_here
            && matches!(self.state, State::Closed(_))
            && (sample.outcome.is_bad() || self.failures_kept() > 0 || view.policy.follows_calls())
        {
            return self.fired(view, sample.outcome.is_bad()).map_or(settled, |cause| Settled::Fires(Box::new(cause)));
        }
        settled
    }

    /// Opens the circuit for a cause, from closed or half-open.
    pub fn open(&mut self, now: Timestamp, policy: &Policy, cause: TripCause, duration: Duration, is_reducible: bool) {
        self.level = self.level(now, policy);
        let max_argument_bytes = if is_reducible { self.half_of_slow_median() } else { None };
        let until = duration.open_for_ms.map(|ms| duration.from.plus_ms(ms));
        self.enter(now, State::Open(Box::new(Open { until, cause, max_argument_bytes, small_pass: None })));
    }

    /// Raises the backoff level by one, before a failed probe reopens.
    pub fn raise_level(&mut self) {
        self.level = self.level.saturating_add(1).min(LEVEL_MAX);
    }

    /// Closes the circuit, remembering what led here so that it is not counted again.
    pub fn close(&mut self, view: View<'_>) {
        let own = self.window.mark(view.now, view.grid);
        let results = view.results.mark(view.now, view.grid);
        let marks = Some(Box::new(Marks { own, results }));
        self.enter(view.now, State::Closed(Closed { marks, ..Closed::default() }));
    }

    /// Closes the circuit at an operator's word and forgets its past.
    pub fn reset(&mut self, view: View<'_>) {
        self.level = 0;
        self.window = Ring::default();
        self.slow_sizes = VecDeque::new();
        self.close(view);
    }

    /// The one place that changes the phase.
    fn enter(&mut self, now: Timestamp, next: State) {
        debug_assert!(
            matches!(
                (&self.state, &next),
                (State::Closed(_), State::Open(_) | State::Closed(_)) // closed to closed: an operator's reset
                    | (State::Open(_), State::HalfOpen(_) | State::Closed(_)) // open to closed: only by reset
                    | (State::HalfOpen(_), State::Closed(_) | State::Open(_))
            ),
            "no such transition"
        );
        self.generation = self.generation.wrapping_add(1);
        self.since = now;
        self.state = next;
    }

    fn half_of_slow_median(&self) -> Option<u32> {
        let mut sizes: Vec<u32> = self.slow_sizes.iter().copied().collect();
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).map(|median| median / 2).filter(|half| *half > 0)
    }

    /// Drops what time has made meaningless.
    pub fn forget_old(&mut self, now: Timestamp, grid: SliceGrid, permit_for_ms: u64) {
        self.window.evict(now, grid);
        if let State::Closed(closed) = &mut self.state {
            while closed.in_flight.front().is_some_and(|(at, _)| now.since_ms(*at) >= permit_for_ms) {
                closed.in_flight.pop_front();
            }
        }
    }

    /// Closed, nothing held against it, nothing in flight that it follows.
    #[must_use]
    pub fn is_clean(&self, now: Timestamp, policy: Option<&Policy>) -> bool {
        const RUN_FORGOTTEN_MS: u64 = 3_600_000;
        let State::Closed(closed) = &self.state else { return false };
        let is_level_zero = policy.is_none_or(|policy| self.level(now, policy) == 0);
        let is_run_over = closed.run == 0 || now.since_ms(closed.run_since) >= RUN_FORGOTTEN_MS;
        is_level_zero && is_run_over && self.failures_kept() == 0 && closed.in_flight.is_empty()
    }

    /// Moves its window to another grid after a reload; what came before its closing stays left out.
    pub fn regrid(&mut self, now: Timestamp, grids: (SliceGrid, SliceGrid), results: (&Ring<1>, &Ring<1>)) {
        let ((from, to), (before, after)) = (grids, results);
        let since = self.since;
        let own_before = self.window.clone();
        self.window.regrid(now, from, to);
        if let State::Closed(closed) = &mut self.state
            && let Some(marks) = &mut closed.marks
        {
            let own = own_before.count(now, from, from.span_ms, Some(&marks.own));
            let results = before.count(now, from, from.span_ms, Some(&marks.results));
            marks.own = self.window.mark_leaving(since, now, to, own);
            marks.results = after.mark_leaving(since, now, to, results);
        }
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.window.heap_bytes() + self.slow_sizes.capacity() * size_of::<u32>()
    }
}
