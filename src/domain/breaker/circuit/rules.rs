//! When a closed circuit opens: the rules of spec 2.3 over what its windows and its run of failures hold; and what a
//! probe's result makes of a half-open one.

use super::{
    Circuit, Closed, FAILED, HalfOpen, IGNORED, Marks, REPORTERS_MAX, SIZES_MAX, Sample, Settled, State, TripCause,
    View,
};
use crate::domain::breaker::policy::{Policy, Rule};
use crate::domain::contract::{Facts, Observed, Threshold};
use crate::domain::observation::Outcome;
use crate::domain::time::Timestamp;

impl Circuit {
    /// Books what this kind makes of a result that the scope has counted.
    pub(super) fn book(&mut self, sample: &Sample, view: View<'_>, counts_here: bool) {
        let is_slow = counts_here && sample.outcome == Outcome::Slow;
        if let Some(bytes) = sample.arguments_bytes.filter(|_| is_slow) {
            if self.slow_sizes.len() >= SIZES_MAX {
                self.slow_sizes.pop_front();
            }
            self.slow_sizes.push_back(bytes);
        }
        if !view.policy.is_windowed() || !sample.is_counted {
            return;
        }
        if counts_here && sample.outcome.is_bad() {
            self.window.add(view.now, view.grid, [1, 0]);
        } else if !counts_here {
            self.window.add(view.now, view.grid, [0, 1]);
        }
    }

    /// The first rule that fires on what is known now, if the circuit is closed.
    #[must_use]
    pub fn fired(&self, view: View<'_>, is_new_failure: bool) -> Option<TripCause> {
        let State::Closed(closed) = &self.state else { return None };
        let hanging = closed.hanging(view);
        view.policy.rules.iter().find_map(|rule| {
            let window_ms = rule.window_ms().unwrap_or(view.policy.observe_ms);
            let marks = closed.marks.as_deref();
            let (failed, results) = self.counted(view, window_ms, marks, hanging);
            let fires = match *rule {
                Rule::Failures { failures: 0 | 1, .. } => is_new_failure || hanging > 0,
                Rule::Failures { failures, .. } => failed >= failures,
                Rule::Ratio { ratio, min_calls, .. } => {
                    results >= min_calls && u64::from(failed) * 10_000 >= u64::from(ratio.0) * u64::from(results)
                }
                Rule::Consecutive { failures } => closed.run >= failures,
            };
            fires.then(|| self.cause_of(*rule, view, Facts { failed, results, window_ms }, hanging))
        })
    }

    fn counted(&self, view: View<'_>, window_ms: u64, marks: Option<&Marks>, hanging: u32) -> (u32, u32) {
        let View { now, grid, results, .. } = view;
        let [results] = results.count(now, grid, window_ms, marks.map(|marks| &marks.results));
        let own = self.window.count(now, grid, window_ms, marks.map(|marks| &marks.own));
        let [failed, ignored] = [own[FAILED], own[IGNORED]];
        (failed.saturating_add(hanging), results.saturating_sub(ignored).saturating_add(hanging))
    }

    fn cause_of(&self, rule: Rule, view: View<'_>, facts: Facts, hanging: u32) -> TripCause {
        let slow_ms = view.policy.slow_ms;
        let run = match &self.state {
            State::Closed(closed) => (closed.run, closed.run_since),
            State::Open(_) | State::HalfOpen(_) => (0, view.now),
        };
        let observed = match rule {
            Rule::Failures { failures: 0 | 1, .. } | Rule::Consecutive { failures: 0 | 1 } => {
                Observed::FirstFailure { slow_ms }
            }
            Rule::Consecutive { .. } => {
                Observed::Consecutive { failures: run.0, over_ms: view.now.since_ms(run.1), slow_ms }
            }
            Rule::Failures { .. } | Rule::Ratio { .. } => {
                let window_ms = view.policy.observe_ms.max(facts.window_ms);
                let (failed, results) = self.counted(view, window_ms, None, hanging);
                Observed::Share { failed, results, window_ms, slow_ms }
            }
        };
        let facts = match rule.window_ms() {
            Some(_) => facts,
            None => Facts { failed: run.0.max(1), results: run.0.max(1), window_ms: 0 },
        };
        TripCause { observed, threshold: Threshold::Rule { rule, slow_ms }, facts }
    }

    /// Whether enough callers saw failures for all to be refused.
    #[must_use]
    pub fn has_quorum(&self, now: Timestamp, policy: &Policy) -> bool {
        policy.min_reporters <= 1 || self.reporters(now, policy) >= usize::from(policy.min_reporters)
    }

    /// Distinct callers that saw failures in the longest window of the policy, or in the run where a rule counts that.
    fn reporters(&self, now: Timestamp, policy: &Policy) -> usize {
        let window_ms = policy.rules.iter().filter_map(|rule| rule.window_ms()).max().unwrap_or(policy.observe_ms);
        match &self.state {
            State::Closed(closed) => {
                let counts_runs = policy.rules.iter().any(|rule| matches!(rule, Rule::Consecutive { .. }));
                let is_in_run = |at: Timestamp| counts_runs && closed.run > 0 && at >= closed.run_since;
                let saw = |at: Timestamp| now.since_ms(at) < window_ms || is_in_run(at);
                closed.reporters.iter().filter(|(_, at)| saw(*at)).count()
            }
            State::Open(_) | State::HalfOpen(_) => 0,
        }
    }
}

impl Closed {
    pub(super) fn note(&mut self, sample: &Sample, view: View<'_>) {
        if !self.in_flight.is_empty() {
            self.in_flight.retain(|(_, seq)| *seq != sample.seq);
        }
        match sample.outcome {
            Outcome::Ignored => {}
            Outcome::Ok => self.run = 0,
            Outcome::Failed | Outcome::Slow => {
                if self.run == 0 {
                    self.run_since = view.now;
                }
                self.run = self.run.saturating_add(1);
                if view.policy.min_reporters > 1 {
                    self.note_reporter(sample.caller, view.now);
                }
            }
        }
    }

    fn note_reporter(&mut self, caller: u64, now: Timestamp) {
        self.reporters.retain(|(known, _)| *known != caller);
        if self.reporters.len() >= REPORTERS_MAX {
            self.reporters.remove(0);
        }
        self.reporters.push((caller, now));
    }

    /// Calls in flight longer than what is slow.
    pub(super) fn hanging(&self, view: View<'_>) -> u32 {
        let Some(slow_ms) = view.policy.slow_ms.filter(|_| view.policy.in_flight) else { return 0 };
        let count = self.in_flight.iter().take_while(|(at, _)| view.now.since_ms(*at) >= slow_ms).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

impl HalfOpen {
    pub(super) fn settle_probe(&mut self, at: usize, outcome: Outcome, policy: &Policy) -> Settled {
        self.leases.swap_remove(at);
        match outcome {
            Outcome::Ignored => Settled::Counted, // gives the lease back and is no lost probe
            Outcome::Failed | Outcome::Slow => Settled::Reopens,
            Outcome::Ok => {
                self.lost = 0;
                self.passed += 1;
                if self.passed >= policy.successes { Settled::Closes } else { Settled::Counted }
            }
        }
    }
}
