//! The oracle's questions: each looks through the whole history again.

use tripnote::domain::breaker::policy::{Policy, Rule};
use tripnote::domain::signal::{CircuitKind, Phase};

use super::oracle::{CIRCUITS_MAX, Fact, Meaning, Oracle, Why, Word};

/// "Recent" for the longest call: this span and the one before it.
const RECENT_SPAN_MS: u64 = 300_000;
/// The present phase of a circuit, as the history tells it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spell {
    /// The place in the history where it begins.
    pub(crate) from: usize,
    pub(crate) phase: Phase,
    pub(crate) until: Option<u64>,
}

/// One result that a circuit counted.
#[derive(Clone, Copy)]
struct Result {
    at: u64,
    is_bad: bool,
}

impl Oracle {
    pub(crate) fn policy(&self, circuit: usize) -> &Policy {
        &self.circuits[circuit].1
    }

    pub(crate) fn is_shadow(&self, circuit: usize) -> bool {
        self.policy(circuit).shadow_percent == 100
    }

    pub(crate) fn follows(&self, circuit: usize) -> bool {
        self.circuits[circuit].0 == CircuitKind::Latency && self.policy(circuit).in_flight
    }

    pub(crate) fn spell(&self, circuit: usize) -> Spell {
        let turned = self.history.iter().enumerate().rev().find_map(|(place, fact)| match *fact {
            Fact::Turned { circuit: own, to, until, .. } if own == circuit => {
                Some(Spell { from: place + 1, phase: to, until: until.map(|(first, _)| first) })
            }
            _ => None,
        });
        turned.unwrap_or(Spell { from: 0, phase: Phase::Closed, until: None })
    }

    pub(crate) fn phase(&self, circuit: usize) -> Phase {
        self.spell(circuit).phase
    }

    /// The number of the phase: how often it turned.
    pub(crate) fn generation(&self, circuit: usize) -> usize {
        self.history.iter().filter(|fact| matches!(fact, Fact::Turned { circuit: own, .. } if *own == circuit)).count()
    }

    /// Why the circuit last opened.
    pub(crate) fn why_open(&self, circuit: usize) -> Option<Why> {
        self.history.iter().rev().find_map(|fact| match *fact {
            Fact::Turned { circuit: own, to: Phase::Open, why, .. } if own == circuit => Some(why),
            _ => None,
        })
    }

    /// When and where a permit was issued, and until when it is leased.
    pub(crate) fn asked(&self, seq: u64) -> Option<(u64, usize, [Option<u64>; CIRCUITS_MAX])> {
        self.history.iter().enumerate().find_map(|(place, fact)| match *fact {
            Fact::Asked { at, seq: own, lease_ends } if own == seq => Some((at, place, lease_ends)),
            _ => None,
        })
    }

    pub(crate) fn is_reported(&self, seq: u64) -> bool {
        self.history.iter().any(|fact| matches!(*fact, Fact::Reported { seq: own, .. } if own == seq))
    }

    /// Leases that the present half-open phase gave out: number and end.
    fn leases(&self, circuit: usize) -> Vec<(u64, u64)> {
        let from = self.spell(circuit).from;
        let given = self.history[from..].iter().filter_map(|fact| match *fact {
            Fact::Asked { seq, lease_ends, .. } => lease_ends[circuit].map(|end| (seq, end)),
            Fact::Reported { .. } | Fact::Turned { .. } => None,
        });
        given.collect()
    }

    /// When a permit's report came, if it did.
    fn reported_at(&self, wanted: u64) -> Option<u64> {
        self.history.iter().find_map(|fact| match *fact {
            Fact::Reported { at, seq, .. } if seq == wanted => Some(at),
            _ => None,
        })
    }

    /// Leases that run: not ended, not reported.
    pub(crate) fn running(&self, circuit: usize, now: u64) -> Vec<(u64, u64)> {
        if self.phase(circuit) != Phase::HalfOpen {
            return Vec::new();
        }
        let leases = self.leases(circuit).into_iter();
        leases.filter(|(seq, end)| now < *end && self.reported_at(*seq).is_none()).collect()
    }

    pub(crate) fn holds_lease(&self, circuit: usize, seq: u64, now: u64) -> bool {
        self.running(circuit, now).iter().any(|(own, _)| *own == seq)
    }

    /// Whether a report made now would count at this circuit: its permit is of the present phase, and if it was leased
    /// there, the lease still runs.
    pub(crate) fn is_live(&self, circuit: usize, seq: u64, now: u64) -> bool {
        let Some((_, place, lease_ends)) = self.asked(seq) else { return false };
        let is_of_this_phase = place >= self.spell(circuit).from;
        is_of_this_phase && (lease_ends[circuit].is_none() || self.holds_lease(circuit, seq, now))
    }

    /// Leases that ended unreported since the last good probe.
    pub(crate) fn lost_in_a_row(&self, circuit: usize, now: u64) -> usize {
        let leases = self.leases(circuit);
        let from = self.spell(circuit).from;
        let last_good = self.history[from..].iter().rev().find_map(|fact| match *fact {
            Fact::Reported { at, seq, meaning, counts, .. }
                if counts[circuit]
                    && meaning[circuit] == Meaning::Good
                    && leases.iter().any(|(own, _)| *own == seq) =>
            {
                Some(at)
            }
            _ => None,
        });
        let is_lost = |seq: u64, end: u64| end <= now && self.reported_at(seq).is_none_or(|at| at >= end);
        let since_good = |end: u64| last_good.is_none_or(|good| end > good);
        leases.iter().filter(|(seq, end)| is_lost(*seq, *end) && since_good(*end)).count()
    }

    /// When the last of the lost leases ended.
    pub(crate) fn last_lost(&self, circuit: usize, now: u64) -> Option<u64> {
        let lost =
            |(seq, end): (u64, u64)| (end <= now && self.reported_at(seq).is_none_or(|at| at >= end)).then_some(end);
        self.leases(circuit).into_iter().filter_map(lost).max()
    }

    /// Good probes of the present half-open phase.
    pub(crate) fn good_probes(&self, circuit: usize) -> usize {
        let leases = self.leases(circuit);
        let is_good = |fact: &&Fact| match **fact {
            Fact::Reported { seq, meaning, counts, .. } => {
                counts[circuit] && meaning[circuit] == Meaning::Good && leases.iter().any(|(own, _)| *own == seq)
            }
            Fact::Asked { .. } | Fact::Turned { .. } => false,
        };
        self.history[self.spell(circuit).from..].iter().filter(is_good).count()
    }

    /// One circuit's word on a call that is asked for now.
    pub(crate) fn word(&self, circuit: usize, now: u64) -> Word {
        let spell = self.spell(circuit);
        match spell.phase {
            Phase::Closed => Word::Pass,
            Phase::Open if spell.until.is_some_and(|until| now >= until) => Word::Probe,
            Phase::Open => Word::Refuse { phase: Phase::Open, retry_at: spell.until },
            Phase::HalfOpen => {
                let policy = self.policy(circuit);
                let running = self.running(circuit, now);
                if running.len() < usize::from(policy.probes) {
                    return Word::Probe;
                }
                Word::Refuse { phase: Phase::HalfOpen, retry_at: running.iter().map(|(_, end)| *end).min() }
            }
        }
    }

    /// The larger of the configured lease and twice the longest recent call, at most a permit's time.
    pub(crate) fn lease_ms(&self, circuit: usize, now: u64) -> u64 {
        let span = now / RECENT_SPAN_MS;
        let recent = self.history.iter().filter_map(|fact| match *fact {
            Fact::Reported { at, took_ms, is_result: true, .. } => (at / RECENT_SPAN_MS + 1 >= span).then_some(took_ms),
            _ => None,
        });
        let longest = recent.max().unwrap_or(0);
        self.policy(circuit).lease_ms.max(2 * longest).min(self.permit_for_ms)
    }

    /// Results counted by a circuit from a place in the history on, oldest first.
    fn results(&self, circuit: usize, from: usize) -> Vec<Result> {
        let counted = self.history[from..].iter().filter_map(|fact| match *fact {
            Fact::Reported { at, meaning, counts, .. } if counts[circuit] && meaning[circuit] != Meaning::Neutral => {
                Some(Result { at, is_bad: meaning[circuit] == Meaning::Bad })
            }
            _ => None,
        });
        counted.collect()
    }

    /// Failures and results of a window.
    fn in_window(&self, results: &[Result], now: u64, window_ms: u64) -> (u32, u32) {
        let slices = (window_ms / self.slice_ms).max(1);
        let is_inside = |result: &&Result| result.at / self.slice_ms + slices > now / self.slice_ms;
        let inside: Vec<&Result> = results.iter().filter(is_inside).collect();
        let bad = inside.iter().filter(|result| result.is_bad).count();
        (bad.try_into().unwrap_or(u32::MAX), inside.len().try_into().unwrap_or(u32::MAX))
    }

    /// Calls admitted in this phase that have been in flight for as long as slow is.
    fn hanging(&self, circuit: usize, now: u64, told: Option<u64>) -> u32 {
        let Some(slow_ms) = self.policy(circuit).slow_ms.filter(|_| self.follows(circuit)) else { return 0 };
        let from = self.spell(circuit).from;
        let hangs = |fact: &&Fact| match **fact {
            Fact::Asked { at, seq, .. } => {
                let is_long = now - at >= slow_ms && now - at < self.permit_for_ms;
                is_long && !self.is_reported(seq) && told != Some(seq)
            }
            Fact::Reported { .. } | Fact::Turned { .. } => false,
        };
        self.history[from..].iter().filter(hangs).count().try_into().unwrap_or(u32::MAX)
    }

    /// The first rule that fires on the results of this closed phase, in the order failures, ratio, consecutive.
    pub(crate) fn fired(&self, circuit: usize, now: u64, told: Option<u64>) -> Option<Why> {
        let spell = self.spell(circuit);
        let results = self.results(circuit, spell.from);
        let hung = self.hanging(circuit, now, told);
        let run = results.iter().rev().take_while(|result| result.is_bad).count().try_into().unwrap_or(u32::MAX);
        let policy = self.policy(circuit);
        policy.rules.iter().find_map(|rule| {
            let (failed, of, window_ms) = match *rule {
                Rule::Failures { within_ms, .. } | Rule::Ratio { within_ms, .. } => {
                    let (failed, of) = self.in_window(&results, now, within_ms);
                    (failed + hung, of + hung, within_ms)
                }
                Rule::Consecutive { .. } => (run, run, 0),
            };
            let fires = match *rule {
                Rule::Failures { failures, .. } | Rule::Consecutive { failures } => failed >= failures,
                Rule::Ratio { ratio, min_calls, .. } => {
                    of >= min_calls && u128::from(failed) * 10_000 >= u128::from(ratio.0) * u128::from(of)
                }
            };
            let seen = self.in_window(&self.results(circuit, 0), now, policy.observe_ms.max(window_ms));
            let seen = (seen.0 + hung, seen.1 + hung);
            fires.then_some(Why::Fired { rule: *rule, failed, results: of, seen, hung })
        })
    }

    /// The backoff level: one up per failed probe, one down per healthy window after a closing.
    pub(crate) fn level(&self, circuit: usize, now: u64) -> u32 {
        let healthy_ms = self.policy(circuit).healthy_window_ms;
        let fallen = |level: u32, ms: u64| level.saturating_sub((ms / healthy_ms).try_into().unwrap_or(u32::MAX));
        let mut level = 0;
        let mut closed_since = Some(0);
        for fact in &self.history {
            let Fact::Turned { circuit: own, at, to, why, .. } = *fact else { continue };
            if own != circuit {
                continue;
            }
            if let Some(since) = closed_since {
                level = fallen(level, at - since);
            }
            level += u32::from(why == Why::FailedProbe);
            closed_since = (to == Phase::Closed).then_some(at);
        }
        closed_since.map_or(level, |since| fallen(level, now - since))
    }

    /// clamp(max(base · factor^level · (1 + jitter), hint), base, max): the shortest and the longest it may come to.
    pub(crate) fn open_range(&self, circuit: usize, level: u32, hint_ms: Option<i64>) -> (u64, u64) {
        let (kind, policy) = &self.circuits[circuit];
        let open_for = policy.open_for;
        let hint = hint_ms.filter(|ms| *ms > 0 && *kind != CircuitKind::QuotaBilling).map_or(0, i64::unsigned_abs);
        let growth = f64::from(open_for.factor.0) / 10_000.0;
        let grown =
            (open_for.base_ms as f64 * growth.powi(level.try_into().unwrap_or(i32::MAX))).min(open_for.max_ms as f64);
        let jittered = grown * (1.0 + f64::from(open_for.jitter.0) / 10_000.0);
        let clamp = |ms: u64| ms.max(hint).clamp(open_for.base_ms, open_for.max_ms);
        (clamp(grown as u64), clamp(jittered as u64))
    }
}
