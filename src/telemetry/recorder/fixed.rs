//! The handles whose labels are closed words: registered once, so that they stand at zero and counting looks nothing up.

use super::count_word;
use super::handles::{Counter, Gauge, Handles, Histogram};
use crate::domain::behaviour::SessionOutcome;
use crate::domain::breaker::Acknowledgement;
use crate::domain::observation::{Disposition, Observation};
use crate::domain::session::review::{ReviewRule, ReviewWord};
use crate::domain::signal::Signal;
use crate::engine::tally::Settlement;
use crate::telemetry::catalogue as row;
use crate::telemetry::catalogue::{Decision, EventReader, Metric, NONE, NotClosed, OperatorAction, ReloadWord};

/// The handles.
pub(super) struct Fixed {
    pub(super) admitted: Counter,
    pub(super) probes: Counter,
    refused: Vec<Counter>,
    steered: Vec<Counter>,
    halted: Vec<Counter>,
    shadow_refusals: Vec<Counter>,
    pub(super) permits: Counter,
    pub(super) settled: Vec<Counter>,
    pub(super) in_flight: Gauge,
    pub(super) oldest_age: Gauge,
    pub(super) reports: Vec<Counter>,
    pub(super) results: Vec<Counter>,
    pub(super) dispositions: Vec<Counter>,
    pub(super) overruns: Counter,
    /// In the order of [`NotClosed::ALL`].
    pub(super) circuits: Vec<Gauge>,
    pub(super) probes_lost: Counter,
    operator_actions: Vec<Counter>,
    pub(super) targets: Gauge,
    pub(super) breakers: Gauge,
    pub(super) evictions: Counter,
    pub(super) overflows: Counter,
    pub(super) sessions_open: Gauge,
    pub(super) sessions_started: Counter,
    sessions_ended: Vec<Counter>,
    pub(super) session_steers: Histogram,
    pub(super) session_halts: Histogram,
    pub(super) session_steer_then_halts: Histogram,
    pub(super) steer_then_halts: Counter,
    pub(super) steer_then_halt_alerts: Counter,
    pub(super) alert_steer_then_halt: Gauge,
    pub(super) false_halts: Counter,
    reviews: Vec<Counter>,
    review_faults: Vec<Counter>,
    pub(super) events: Counter,
    pub(super) audited: Counter,
    events_lost: Vec<Counter>,
    pub(super) event_watchers: Gauge,
    reloads: Vec<Counter>,
    pub(super) config_last_reload: Gauge,
    pub(super) config_last_success: Gauge,
    pub(super) config_version: Gauge,
    pub(super) clock_distrusted: Gauge,
    pub(super) process: OfProcess,
}

/// What the system tells of the process.
pub(super) struct OfProcess {
    pub(super) cpu: Counter,
    pub(super) memory: Gauge,
    pub(super) virtual_memory: Gauge,
    pub(super) virtual_memory_max: Gauge,
    pub(super) files: Gauge,
    pub(super) files_max: Gauge,
    pub(super) threads: Gauge,
    pub(super) start: Gauge,
}

/// One counter for each word of a closed list, in its order.
macro_rules! by_word {
    ($handles:expr, $metric:expr, $words:ty) => {
        <$words>::ALL.iter().map(|word| $handles.counter(&$metric, &[word.word()])).collect()
    };
}

impl Fixed {
    #[expect(clippy::too_many_lines, reason = "one table of handles")]
    pub(super) fn new(handles: &Handles) -> Self {
        let counter = |metric: &Metric| handles.counter(metric, &[]);
        let gauge = |metric: &Metric| handles.gauge(metric, &[]);
        let histogram = |metric: &Metric| handles.histogram(metric, &[]);
        let decided = |what: Decision, signal: &str| handles.counter(&row::DECISIONS, &[what.word(), signal]);
        let by_signal = |what: Decision, signals: &[Signal]| -> Vec<Counter> {
            // A signal that never comes with a decision has no series.
            let of = |signal: &Signal| match signals.contains(signal) {
                true => decided(what, signal.word()),
                false => Counter::noop(),
            };
            Signal::ALL.iter().map(of).collect()
        };
        handles.gauge(&row::BUILD_INFO, &[env!("CARGO_PKG_VERSION")]).set(1.0);
        Self {
            admitted: decided(Decision::Admit, NONE),
            probes: decided(Decision::Probe, NONE),
            refused: by_signal(Decision::Trip, Signal::ALL),
            steered: by_signal(Decision::Steer, &STEERS),
            halted: by_signal(Decision::Halt, &HALTS),
            shadow_refusals: by_word!(handles, row::SHADOW_REFUSALS, Signal),
            permits: counter(&row::PERMITS_ISSUED),
            settled: by_word!(handles, row::PERMITS_SETTLED, Settlement),
            in_flight: gauge(&row::PERMITS_IN_FLIGHT),
            oldest_age: gauge(&row::PERMIT_OLDEST_AGE),
            reports: by_word!(handles, row::REPORTS, Acknowledgement),
            results: by_word!(handles, row::RESULTS, Observation),
            dispositions: by_word!(handles, row::DISPOSITIONS, Disposition),
            overruns: counter(&row::CONTRACT_OVERRUNS),
            circuits: NotClosed::ALL.iter().map(|phase| handles.gauge(&row::CIRCUITS, &[phase.word()])).collect(),
            probes_lost: counter(&row::PROBES_LOST),
            operator_actions: by_word!(handles, row::OPERATOR_ACTIONS, OperatorAction),
            targets: gauge(&row::TARGETS),
            breakers: gauge(&row::BREAKERS),
            evictions: counter(&row::EVICTIONS),
            overflows: counter(&row::OVERFLOWS),
            sessions_open: gauge(&row::SESSIONS_OPEN),
            sessions_started: counter(&row::SESSIONS_STARTED),
            sessions_ended: by_word!(handles, row::SESSIONS_ENDED, SessionOutcome),
            session_steers: histogram(&row::SESSION_STEERS),
            session_halts: histogram(&row::SESSION_HALTS),
            session_steer_then_halts: histogram(&row::SESSION_STEER_THEN_HALTS),
            steer_then_halts: counter(&row::STEER_THEN_HALTS),
            steer_then_halt_alerts: counter(&row::STEER_THEN_HALT_ALERTS),
            alert_steer_then_halt: gauge(&row::ALERT_STEER_THEN_HALT),
            false_halts: counter(&row::FALSE_HALTS),
            reviews: by_word!(handles, row::REVIEWS, ReviewWord),
            review_faults: by_word!(handles, row::REVIEW_FAULTS, ReviewRule),
            events: counter(&row::EVENTS),
            audited: counter(&row::AUDITED),
            events_lost: by_word!(handles, row::EVENTS_LOST, EventReader),
            event_watchers: gauge(&row::EVENT_WATCHERS),
            reloads: by_word!(handles, row::CONFIG_RELOADS, ReloadWord),
            config_last_reload: gauge(&row::CONFIG_LAST_RELOAD),
            config_last_success: gauge(&row::CONFIG_LAST_SUCCESS),
            config_version: gauge(&row::CONFIG_VERSION),
            clock_distrusted: gauge(&row::CLOCK_DISTRUSTED),
            process: OfProcess {
                cpu: counter(&row::PROCESS_CPU),
                memory: gauge(&row::PROCESS_MEMORY),
                virtual_memory: gauge(&row::PROCESS_VIRTUAL),
                virtual_memory_max: gauge(&row::PROCESS_VIRTUAL_MAX),
                files: gauge(&row::PROCESS_FILES),
                files_max: gauge(&row::PROCESS_FILES_MAX),
                threads: gauge(&row::PROCESS_THREADS),
                start: gauge(&row::PROCESS_START),
            },
        }
    }

    /// A call was refused, or its result came with a contract.
    pub(super) fn decided(&self, what: Decision, signal: Signal) {
        debug_assert!(what != Decision::Steer || STEERS.contains(&signal), "{signal}");
        debug_assert!(what != Decision::Halt || HALTS.contains(&signal), "{signal}");
        let counters = match what {
            Decision::Trip => &self.refused,
            Decision::Steer => &self.steered,
            Decision::Halt => &self.halted,
            Decision::Admit | Decision::Probe => return, // the engine counts those
        };
        count_word(counters, signal as usize, Signal::ALL.len());
    }

    pub(super) fn refused_in_shadow(&self, signal: Signal) {
        count_word(&self.shadow_refusals, signal as usize, Signal::ALL.len());
    }

    pub(super) fn operated(&self, action: OperatorAction) {
        count_word(&self.operator_actions, action as usize, OperatorAction::ALL.len());
    }

    pub(super) fn ended(&self, outcome: SessionOutcome) {
        count_word(&self.sessions_ended, outcome as usize, SessionOutcome::ALL.len());
    }

    pub(super) fn reviewed(&self, verdict: ReviewWord, rule: Option<ReviewRule>) {
        count_word(&self.reviews, verdict as usize, ReviewWord::ALL.len());
        if let Some(rule) = rule {
            count_word(&self.review_faults, rule as usize, ReviewRule::ALL.len());
        }
    }

    pub(super) fn reloaded(&self, result: ReloadWord) {
        count_word(&self.reloads, result as usize, ReloadWord::ALL.len());
    }

    pub(super) fn lost(&self, reader: EventReader, events: u64) {
        if let Some(counter) = self.events_lost.get(reader as usize) {
            counter.increment(events);
        }
    }
}

/// What a guard steers for.
const STEERS: [Signal; 1] = [Signal::NoProgress];
/// What a guard halts for.
const HALTS: [Signal; 2] = [Signal::NoProgress, Signal::AmbiguousEffect];
