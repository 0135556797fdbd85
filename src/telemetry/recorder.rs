//! What the metrics say, by events: one match over all that happens, and at a scrape what the engine has counted itself.
//!
//! Hears every event once, in whatever order; sums do not mind. Its series stand at zero before the first call, so that
//! the first of anything is seen as an increase.

mod fixed;
mod handles;
mod http;
mod known;
mod rpc;
mod scrape;
mod store;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::fixed::Fixed;
use self::handles::Handles;
pub use self::http::HttpRunning;
use self::http::Requests;
use self::known::Known;
use self::rpc::Methods;
pub use self::rpc::{Method, MethodType, Running};
use self::store::OfStore;
use crate::domain::behaviour::{Conclusion, Fact, FirstAction, Label, Resolution, SessionEnd};
use crate::domain::breaker::overrides::OverrideMode;
use crate::domain::event::{Event, Happening, SteerThenHalt};
use crate::domain::ids::Code;
use crate::domain::signal::Phase;
use crate::engine::EngineSettings;
use crate::engine::sync::RwLock;
use crate::telemetry::catalogue::{Decision, EventReader, OperatorAction, ReloadWord};

/// What a configuration has names for, beside what else of it the metrics show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The codes of its breakers, in the order of the file.
    pub breakers: Vec<Code>,
    /// Its wordings: the one in force by default, and those of its experiments.
    pub variants: Vec<Code>,
    /// Steers of a session that ended in a halt: the count that the operator wants to hear of.
    pub alert_steer_then_halt: u32,
    /// Its number.
    pub version: u64,
}

impl Names {
    /// The names of a configuration.
    #[must_use]
    pub fn of(settings: &EngineSettings) -> Self {
        let wordings = &settings.contract.wordings;
        let arms = wordings.experiments().iter().flat_map(|experiment| experiment.arms());
        let drawn = arms.map(|arm| &arm.wording);
        let variants: BTreeSet<Code> =
            [wordings.default_wording()].into_iter().chain(drawn).map(|wording| wording.code()).collect();
        Self {
            breakers: settings.routes.codes().cloned().collect(),
            variants: variants.into_iter().collect(),
            alert_steer_then_halt: settings.session.policy.progress.alert_steer_then_halt,
            version: settings.routes.version,
        }
    }
}

/// The metrics of one service.
pub struct Recorder {
    handles: Handles,
    fixed: Fixed,
    // Read for a look-up, written when a configuration or a first trip brings a name; no other lock is taken inside.
    known: RwLock<Known>,
    methods: Methods,
    http: Requests,
    store: OfStore,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    /// Nothing has happened; every series that can be named stands at zero.
    #[must_use]
    pub fn new(names: &Names, methods: &[Method]) -> Self {
        let handles = Handles::new();
        let fixed = Fixed::new(&handles);
        let known = RwLock::new(Known::new(&handles));
        let methods = Methods::new(&handles, methods);
        let (http, store) = (Requests::new(&handles), OfStore::new(&handles));
        let recorder = Self { handles, fixed, known, methods, http, store };
        recorder.learn(names);
        recorder
    }

    /// Gives the breakers and wordings of a configuration their names; called before it is in force.
    pub fn learn(&self, names: &Names) {
        self.known.write().learn(&self.handles, names);
        self.fixed.alert_steer_then_halt.set(f64::from(names.alert_steer_then_halt));
        self.fixed.config_version.set(names.version as f64);
    }

    /// Counts events, each once.
    pub fn events(&self, events: &[Event]) {
        events.iter().for_each(|event| self.event(event));
    }

    fn event(&self, event: &Event) {
        let fixed = &self.fixed;
        match &event.what {
            Happening::Refused(told) => {
                fixed.decided(Decision::Trip, told.signal);
                self.known.read().breaker(&event.breaker).refusals.increment(1);
            }
            Happening::ShadowRefused(told) => fixed.refused_in_shadow(told.signal),
            Happening::Steered(told) => fixed.decided(Decision::Steer, told.signal),
            Happening::Halted { told, steered } => {
                fixed.decided(Decision::Halt, told.signal);
                if let Some(SteerThenHalt { count, alert_at }) = steered {
                    fixed.steer_then_halts.increment(1);
                    fixed.steer_then_halt_alerts.increment(u64::from(count == alert_at));
                }
            }
            Happening::FollowedUp(fact) => self.followed_up(fact),
            Happening::Reviewed { verdict, rule } => fixed.reviewed(*verdict, *rule),
            Happening::Tripped(opening) => self.moved(event, opening.from, Phase::Open),
            Happening::Probing => self.moved(event, Phase::Open, Phase::HalfOpen),
            Happening::Recovered => self.moved(event, Phase::HalfOpen, Phase::Closed),
            Happening::Reset { from } => {
                fixed.operated(OperatorAction::Reset);
                self.moved(event, *from, Phase::Closed);
            }
            Happening::ProbeLost => fixed.probes_lost.increment(1),
            Happening::Removed { open, half_open } => {
                if let Some(circuits) = &self.known.read().breaker(&event.breaker).circuits {
                    circuits.removed(*open, *half_open);
                }
            }
            Happening::Overridden { mode, .. } => fixed.operated(match mode {
                OverrideMode::ForceOpen => OperatorAction::ForceOpen,
                OverrideMode::ForceClosed => OperatorAction::ForceClosed,
                OverrideMode::Shadow => OperatorAction::Shadow,
            }),
            Happening::Released { .. } => fixed.operated(OperatorAction::Release),
            Happening::Evicted => fixed.evictions.increment(1),
            Happening::Overflowed => fixed.overflows.increment(1),
            // The engine counts calls and reports itself: these are told only while somebody watches, or not at all.
            Happening::Admitted { .. }
            | Happening::Recorded
            | Happening::Stale
            | Happening::Duplicate
            | Happening::Expired
            | Happening::Unknown => {}
            Happening::ConfigChanged { .. } => {} // one of each breaker that changes; reloads are counted whole
        }
    }

    fn moved(&self, event: &Event, from: Phase, to: Phase) {
        if let Some(circuits) = &self.known.read().breaker(&event.breaker).circuits {
            circuits.moved(from, to, event.at);
        }
    }

    fn followed_up(&self, fact: &Fact) {
        match fact {
            Fact::Told(label, _) => self.part(label).trips.increment(1),
            Fact::Concluded(conclusion) => self.concluded(conclusion),
            Fact::Resolved { label, resolution, turns } => self.resolved(label, *resolution, *turns),
            Fact::Ended(end) => {
                let SessionEnd { outcome, success, halts, steers, steer_then_halts, .. } = &**end;
                self.fixed.ended(*outcome);
                self.fixed.session_steers.record(f64::from(*steers));
                self.fixed.session_halts.record(f64::from(*halts));
                self.fixed.session_steer_then_halts.record(f64::from(*steer_then_halts));
                self.fixed.false_halts.increment(u64::from(*halts > 0 && *success == Some(true)));
            }
        }
    }

    fn concluded(&self, conclusion: &Conclusion) {
        let Conclusion { label, first_action, repeats, of_signal, .. } = conclusion;
        let part = self.part(label);
        count_word(&part.first_actions, *first_action as usize, FirstAction::ALL.len());
        part.repeats.increment(u64::from(*repeats));
        part.repeated.increment(u64::from(*repeats > 0));
        part.sessions.increment(u64::from(of_signal.trips == 0));
    }

    fn resolved(&self, label: &Label, resolution: Resolution, turns: Option<u32>) {
        let part = self.part(label);
        count_word(&part.resolutions, resolution as usize, Resolution::ALL.len());
        if resolution == Resolution::Recovered {
            part.recovery_turns.record(f64::from(turns.unwrap_or(0)));
        }
    }

    fn part(&self, label: &Label) -> Arc<known::OfPart> {
        let known = self.known.read().part(label);
        known.unwrap_or_else(|| self.known.write().part_made(&self.handles, label))
    }

    /// Counts a reload; `unix_s` is now.
    pub fn reloaded(&self, result: ReloadWord, unix_s: f64) {
        self.fixed.reloaded(result);
        let is_good = result != ReloadWord::Failed;
        self.fixed.config_last_reload.set(f64::from(u8::from(is_good)));
        if is_good {
            self.fixed.config_last_success.set(unix_s);
        }
    }

    /// Counts events that a reader lost.
    pub fn lost(&self, reader: EventReader, events: u64) {
        self.fixed.lost(reader, events);
    }

    /// Counts events that are in the audit file.
    pub fn audited(&self, events: u64) {
        self.fixed.audited.increment(events);
    }

    /// Notes how many streams of events are open.
    pub fn watching(&self, watchers: usize) {
        self.fixed.event_watchers.set(watchers as f64);
    }

    /// Puts the samples of histograms into their buckets; called about once a second, as each takes a word until then.
    pub fn fold(&self) {
        self.handles.fold();
    }
}

/// Counts one of the words of a closed list.
fn count_word(counters: &[handles::Counter], at: usize, len: usize) {
    debug_assert_eq!(counters.len(), len);
    if let Some(counter) = counters.get(at) {
        counter.increment(1);
    }
}

#[cfg(test)]
mod tests;
