//! One session's trips from their telling until it is known what the model did, and how it ended (spec 06).
//!
//! Times are lazy: whoever looks settles what is due. A trip leaves when it is both concluded and resolved.

use super::matching::Asked;
use super::telling::{CallKey, Moment, NextCall, Telling, UsableResult};
use super::{Cluster, Conclusion, Fact, FirstAction, Label, Resolution, SessionEnd, SessionOutcome};
use crate::domain::contract::Action;
use crate::domain::ids::Code;
use crate::domain::signal::Signal;
use crate::domain::time::Timestamp;

/// Trips of one session that are followed; at the bound the oldest is concluded as it stands.
pub const TRIPS_MAX: usize = 32;
/// Refused calls of one step that one trip stands for; further ones are not known again.
pub const CALLS_MAX: usize = 16;
/// Texts that are known again when they come back as a result; the latest.
const TEXTS_MAX: usize = 16;
/// Labels under which a session's trips are added up; beyond, a trip counts as that of a session by itself.
const LABELS_MAX: usize = 64;

/// A trip that is followed.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Trip {
    label: Label,
    breaker: u64,
    asked: Asked,
    moment: Moment,
    first_action: Option<FirstAction>,
    repeats: u32,
    ignored: u32,
    is_concluded: bool,
    is_resolved: bool,
}

/// What a session's trips under one label came to.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct OfLabel {
    label: Label,
    cluster: Cluster,
    is_halted: bool,
}

/// The trips of one session.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct FollowUps {
    trips: Vec<Trip>,
    labels: Vec<OfLabel>,
    texts: Vec<u64>,
    halts: u32,
    steers: u32,
}

impl FollowUps {
    /// The breakers whose trips were told, with the names of the wordings.
    #[must_use]
    pub fn told_in(&self) -> Vec<(Code, Code)> {
        let mut told: Vec<(Code, Code)> = Vec::new();
        for label in self.labels.iter().map(|of| &of.label).chain(self.trips.iter().map(|trip| &trip.label)) {
            if !told.iter().any(|(breaker, _)| *breaker == label.breaker) {
                told.push((label.breaker.clone(), label.variant.clone()));
            }
        }
        told
    }

    /// A contract is told. Several of one breaker in one step are one trip.
    pub fn told(&mut self, telling: Telling, out: &mut Vec<Fact>) {
        self.settle(telling.moment.at, out);
        let Telling {
            label,
            action,
            breaker,
            call,
            ways,
            max_argument_bytes,
            until,
            epoch,
            moment,
            is_of_result,
            text,
        } = telling;
        self.note_text(text);
        self.note_guard(&label, action, is_of_result);
        let is_same_step = |trip: &&mut Trip| {
            let known = trip.moment;
            !trip.is_concluded
                && trip.label.breaker == label.breaker
                && (known.lane, known.step) == (moment.lane, moment.step)
        };
        if let Some(trip) = self.trips.iter_mut().rev().find(is_same_step) {
            if trip.asked.calls.len() < CALLS_MAX && !trip.asked.calls.contains(&call) {
                trip.asked.calls.push(call);
            }
            trip.asked.until = trip.asked.until.zip(until).map(|(known, new)| known.max(new));
            return;
        }
        for trip in self.trips.iter_mut().filter(|trip| trip.is_of(&label)) {
            trip.resolve(Resolution::Superseded, None, out);
        }
        self.drop_ended();
        if self.trips.len() >= TRIPS_MAX {
            self.give_up_oldest(out);
        }
        out.push(Fact::Told(label.clone(), action));
        let asked = Asked { action, calls: vec![call], ways, max_argument_bytes, until, epoch };
        self.trips.push(Trip {
            label,
            breaker,
            asked,
            moment,
            first_action: None,
            repeats: 0,
            ignored: 0,
            is_concluded: false,
            is_resolved: false,
        });
    }

    fn note_text(&mut self, text: u64) {
        if text == 0 || self.texts.contains(&text) {
            return;
        }
        if self.texts.len() >= TEXTS_MAX {
            self.texts.remove(0);
        }
        self.texts.push(text);
    }

    /// The texts that were told, hashed: what is one of them is no result.
    #[must_use]
    pub fn texts(&self) -> &[u64] {
        &self.texts
    }

    fn note_guard(&mut self, label: &Label, action: Action, is_of_result: bool) {
        if !is_of_result || label.signal != Signal::NoProgress {
            return;
        }
        match action {
            Action::HaltWithPartialFindings => {
                self.halts = self.halts.saturating_add(1);
                if let Some(of_label) = self.of_label(label) {
                    of_label.is_halted = true;
                }
            }
            Action::ChangeRoute => self.steers = self.steers.saturating_add(1),
            Action::StopAndEscalate
            | Action::VerifyEffect
            | Action::SwitchToFallback
            | Action::AwaitRecovery
            | Action::WaitForQuota
            | Action::ReducePayload
            | Action::CallInNextWave => {}
        }
    }

    /// A call is asked for: the first of a later step is the first action. It counts once for each breaker and signal: as
    /// a repeat of the latest trip that it repeats, else against the latest that it ignores.
    pub fn called(&mut self, next: &NextCall, out: &mut Vec<Fact>) {
        for trip in self.trips.iter_mut().filter(|trip| trip.first_action.is_none() && trip.is_followed_by(next)) {
            trip.first_action = Some(match () {
                () if trip.asked.is_repeated_by(next) => FirstAction::Repeat,
                () if trip.asked.is_met_by(next) => FirstAction::Match,
                () => FirstAction::Other,
            });
        }
        let is_repeat = |trip: &Trip| trip.is_followed_by(next) && trip.asked.is_repeated_by(next);
        let is_ignored = |trip: &Trip| trip.is_followed_by(next) && trip.asked.is_ignored_by(next);
        for at in 0..self.trips.len() {
            let Some(trip) = self.trips.get(at) else { break };
            let of_label = || self.trips.iter().filter(|other| other.is_of(&trip.label));
            let later = || self.trips.iter().skip(at + 1).filter(|other| other.is_of(&trip.label));
            let repeats = is_repeat(trip) && !later().any(is_repeat);
            let ignores = is_ignored(trip) && !later().any(is_ignored) && !of_label().any(is_repeat);
            if let Some(trip) = self.trips.get_mut(at) {
                trip.repeats = trip.repeats.saturating_add(u32::from(repeats));
                trip.ignored = trip.ignored.saturating_add(u32::from(ignores));
            }
        }
        self.settle(next.at, out);
    }

    /// A usable result came.
    pub fn returned(&mut self, result: &UsableResult, out: &mut Vec<Fact>) {
        let UsableResult { key, breaker, moment } = *result;
        for trip in &mut self.trips {
            let is_later = trip.moment.lane == moment.lane && trip.moment.step < moment.step;
            if is_later && trip.is_mended_by(&key, breaker) {
                trip.resolve(Resolution::Recovered, Some(moment.step - trip.moment.step), out);
            }
        }
        self.settle(moment.at, out);
    }

    /// The task ends with a new one: what was told in it can be followed no more.
    pub fn end_task(&mut self, out: &mut Vec<Fact>) {
        self.conclude_all(true, out);
        self.drop_ended();
    }

    /// Concludes what is due.
    pub fn settle(&mut self, now: Timestamp, out: &mut Vec<Fact>) {
        for at in 0..self.trips.len() {
            let Some(trip) = self.trips.get(at) else { break };
            if !trip.is_concluded
                && trip.asked.is_over(now)
                && let Some(first_action) = trip.first_action
            {
                self.conclude(at, first_action, out);
            }
        }
        self.drop_ended();
    }

    /// The session ends.
    pub fn end(&mut self, outcome: SessionOutcome, success: Option<bool>, out: &mut Vec<Fact>) {
        let is_stopped = matches!(outcome, SessionOutcome::Answered | SessionOutcome::Escalated);
        self.conclude_all(is_stopped, out);
        for trip in &mut self.trips {
            let resolution = match outcome {
                SessionOutcome::Halted | SessionOutcome::Escalated => Resolution::Halted,
                SessionOutcome::Answered if trip.asked.asks_to_stop() => Resolution::Halted,
                SessionOutcome::Answered | SessionOutcome::Abandoned => Resolution::Abandoned,
            };
            trip.resolve(resolution, None, out);
        }
        self.trips.clear();
        let halted_by = self.labels.iter().filter(|of| of.is_halted).map(|of| of.label.clone()).collect();
        let (halts, steers) = (self.halts, self.steers);
        let steer_then_halts = 0; // its gates count those
        let end = SessionEnd { outcome, success, halts, steers, steer_then_halts, halted_by };
        out.push(Fact::Ended(Box::new(end)));
    }

    /// Trips that are followed, at most [`TRIPS_MAX`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.trips.len()
    }

    /// Whether no trip is followed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.trips.is_empty()
    }

    /// Concludes every trip; one without a first action is met where it asked to stop and that is how it ended.
    fn conclude_all(&mut self, is_stopped: bool, out: &mut Vec<Fact>) {
        for at in 0..self.trips.len() {
            let Some(trip) = self.trips.get(at) else { break };
            let ending = if is_stopped && trip.asked.asks_to_stop() { FirstAction::Match } else { FirstAction::None };
            let first_action = trip.first_action.unwrap_or(ending);
            self.conclude(at, first_action, out);
        }
    }

    fn give_up_oldest(&mut self, out: &mut Vec<Fact>) {
        if let Some(first_action) = self.trips.first().map(|trip| trip.first_action.unwrap_or(FirstAction::None)) {
            self.conclude(0, first_action, out);
        }
        if let Some(trip) = self.trips.first_mut() {
            trip.resolve(Resolution::Abandoned, None, out);
        }
        self.drop_ended();
    }

    fn conclude(&mut self, at: usize, first_action: FirstAction, out: &mut Vec<Fact>) {
        let Some(trip) = self.trips.get_mut(at).filter(|trip| !trip.is_concluded) else { return };
        trip.is_concluded = true;
        let (label, action) = (trip.label.clone(), trip.asked.action);
        let (repeats, ignored) = (trip.repeats, trip.ignored);
        let of_breaker = self.of_breaker(&label);
        let of_signal = self.of_label(&label).map(|of_label| {
            let before = of_label.cluster;
            of_label.cluster.trips += 1;
            of_label.cluster.repeated += u32::from(repeats > 0);
            of_label.cluster.matched += u32::from(first_action == FirstAction::Match);
            before
        });
        let of_breaker = if of_signal.is_some() { of_breaker } else { Cluster::default() };
        let of_signal = of_signal.unwrap_or_default();
        let conclusion = Conclusion { label, action, first_action, repeats, ignored, of_signal, of_breaker };
        out.push(Fact::Concluded(Box::new(conclusion)));
    }

    fn of_label(&mut self, label: &Label) -> Option<&mut OfLabel> {
        let at = self.labels.iter().position(|of| of.label == *label);
        let at = match at {
            None if self.labels.len() >= LABELS_MAX => return None,
            None => {
                let (label, cluster) = (label.clone(), Cluster::default());
                self.labels.push(OfLabel { label, cluster, is_halted: false });
                self.labels.len() - 1
            }
            Some(at) => at,
        };
        self.labels.get_mut(at)
    }

    fn of_breaker(&self, label: &Label) -> Cluster {
        let is_own = |of: &&OfLabel| of.label.breaker == label.breaker && of.label.variant == label.variant;
        self.labels.iter().filter(is_own).fold(Cluster::default(), |sum, of| Cluster {
            trips: sum.trips + of.cluster.trips,
            repeated: sum.repeated + of.cluster.repeated,
            matched: sum.matched + of.cluster.matched,
        })
    }

    fn drop_ended(&mut self) {
        self.trips.retain(|trip| !(trip.is_concluded && trip.is_resolved));
    }
}

impl Trip {
    fn is_of(&self, label: &Label) -> bool {
        self.label.signal == label.signal && self.label.breaker == label.breaker
    }

    fn is_followed_by(&self, next: &NextCall) -> bool {
        !self.is_concluded && self.moment.lane == next.lane && self.moment.step < next.step
    }

    /// Whether a usable result of a call is what the contract was about: its breaker, the way it named, or, where it
    /// asked for another route, that one. A session guard has no breaker of its own: its tool stands for it.
    fn is_mended_by(&self, key: &CallKey, breaker: u64) -> bool {
        let is_own = match self.breaker {
            0 => self.asked.calls.iter().any(|call| call.tool == key.tool),
            own => own == breaker,
        };
        is_own || self.asked.is_way(key) || self.asked.action == Action::ChangeRoute
    }

    fn resolve(&mut self, resolution: Resolution, turns: Option<u32>, out: &mut Vec<Fact>) {
        if !self.is_resolved {
            self.is_resolved = true;
            out.push(Fact::Resolved { label: self.label.clone(), resolution, turns });
        }
    }
}

#[cfg(test)]
mod tests;
