//! An oracle that keeps the whole history and works every answer out anew from it, compared on random histories.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::policy::ProgressPolicy;
use super::super::progress::{HaltedRoute, Progress, ProgressLedger};
use super::world::{Call, Op, Result, TOOLS, any_history, is_failure, listed, signalled};
use crate::domain::contract::session::SessionFigures as F;
use crate::domain::ids::SafeText;

/// A wave, or a call alone by its place in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Wave(u64),
    Alone(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is as if it had not been.
    Passed,
    Polled,
    Forgiven,
    Counted,
}

/// One report with what became of it.
#[derive(Clone, Debug)]
struct Past {
    call: Call,
    of: Of,
    /// The stretch of reports between two boundaries.
    batch: usize,
    epoch: u32,
    fate: Fate,
    adds_to_row: bool,
    steers_repeat: bool,
    steers_row: bool,
    answer: Progress,
}

#[derive(Clone, Debug)]
struct Halted {
    tool: u64,
    of: Of,
    figures: F,
    targets: Option<BTreeSet<u64>>,
    is_over: bool,
}

/// One rule: how often, where it was told, and the two counts.
struct Line {
    times: u32,
    told: Option<Of>,
    at: (u32, u32),
    figures: F,
    targets: Option<BTreeSet<u64>>,
    is_row: bool,
}

impl Line {
    fn steers(&self) -> bool {
        self.told.is_none() && self.times >= self.at.0
    }

    fn halts(&self, of: Of) -> bool {
        self.told.is_some_and(|told| told != of) && self.times >= self.at.1
    }
}

#[derive(Default)]
struct Oracle {
    past: Vec<Past>,
    /// A target, and the batch at whose end its recovery takes effect.
    recoveries: Vec<(u64, usize)>,
    halts: Vec<Halted>,
    open: Option<Of>,
    batch: usize,
    epoch: u32,
    reports: usize,
}

impl Oracle {
    fn boundary(&mut self) {
        self.open = None;
        self.batch += 1;
        self.halts.retain(|halt| !halt.is_over);
    }

    fn report(&mut self, call: Call) -> Progress {
        if call.result == Result::Ours {
            return Progress::Nothing;
        }
        self.reports += 1;
        let of = call.wave.map_or(Of::Alone(self.reports), Of::Wave);
        if self.open != Some(of) {
            self.boundary();
            self.open = Some(of);
        }
        let (batch, epoch, fate) = (self.batch, self.epoch, Fate::Passed);
        let (adds_to_row, steers_repeat, steers_row, answer) = (false, false, false, Progress::Nothing);
        let mut new = Past { call, of, batch, epoch, fate, adds_to_row, steers_repeat, steers_row, answer };
        self.judge(&mut new);
        let answer = new.answer;
        self.past.push(new);
        if !matches!(call.result, Result::Error(_) | Result::Down(_)) {
            self.recovered(call.target);
        }
        if matches!(of, Of::Alone(_)) {
            self.boundary();
        }
        answer
    }

    fn judge(&mut self, new: &mut Past) {
        let (call, of) = (new.call, new.of);
        let is_usable = matches!(call.result, Result::Usable(_));
        if call.fingerprint().is_none() && !is_usable {
            return;
        }
        if let Some(halt) = self.halts.iter().find(|halt| halt.tool == call.tool && halt.of != of) {
            if !is_usable {
                let is_on_target = halt.targets.is_some();
                new.answer = Progress::Halt(HaltedRoute { figures: halt.figures, is_on_target, is_new: false });
            }
            return;
        }
        let names = |call: &Call| (call.tool, call.arguments, call.purpose);
        let mut twins = self.past.iter().filter(|past| past.of == of && past.fate != Fate::Passed);
        let is_twin = twins.clone().any(|past| names(&past.call) == names(&call) && is_same_result(&past.call, &call));
        if call.is_retry || call.is_held || is_twin {
            return;
        }
        let has_failed = twins.any(|past| names(&past.call) == names(&call) && past.adds_to_row);
        let before: Vec<&Past> = self.present().filter(|past| is_same_question(&past.call, &call)).collect();
        let is_young = |first: &&Past| call.poll().is_some_and(|poll| call.now - first.call.now <= poll.up_to_ms);
        let epoch = before.iter().filter(|past| past.fate != Fate::Polled).map(|past| past.epoch).max();
        new.fate = match before.first() {
            Some(first) if is_young(first) => Fate::Polled,
            Some(_) if epoch < Some(self.epoch) => Fate::Forgiven,
            Some(_) | None => Fate::Counted,
        };
        if new.fate == Fate::Counted {
            new.adds_to_row = is_failure(&call) && !has_failed;
            self.past.push(new.clone());
            self.decide(new);
            self.past.pop();
        }
    }

    fn decide(&mut self, new: &mut Past) {
        let (call, of) = (new.call, new.of);
        let lines = self.lines(&call);
        new.steers_repeat = lines.iter().any(|line| !line.is_row && line.steers());
        new.steers_row = lines.iter().any(|line| line.is_row && line.steers());
        let made: Vec<&Line> = lines.iter().filter(|line| line.halts(of)).collect();
        if let Some(first) = made.first() {
            new.answer = Progress::Halt(HaltedRoute {
                figures: first.figures,
                is_on_target: made.iter().all(|line| line.targets.is_some()),
                is_new: !self.halts.iter().any(|halt| halt.tool == call.tool),
            });
            for line in made {
                self.halt(call.tool, of, line.figures, line.targets.clone());
            }
            return;
        }
        let mut earlier = self.past.iter().filter(|past| past.batch == self.batch && past.call.tool == call.tool);
        let is_told = earlier.any(|past| matches!(past.answer, Progress::Steer(_)));
        if let Some(line) = lines.iter().find(|line| line.steers()).filter(|_| !is_told) {
            new.answer = Progress::Steer(line.figures);
        }
    }

    /// The rules at a call which is the last of the past.
    fn lines(&self, call: &Call) -> Vec<Line> {
        let times = self.counted().filter(|past| is_same_question(&past.call, call)).count() as u32;
        let told = self.told(call);
        if matches!(call.result, Result::Usable(_)) {
            let figures = F::AlreadyHeld { times, steer_at: 3, halt_at: 6 };
            return vec![Line { times, told, at: (3, 6), figures, targets: None, is_row: false }];
        }
        let observation = call.observation();
        let figures = F::SameResult { observation, times, steer_at: 2, halt_at: 3 };
        let own = some(BTreeSet::from([signalled(call)]));
        let mut lines = vec![Line { times, told, at: (2, 3), figures, targets: own, is_row: false }];

        let since = self.answered(call.tool);
        let swept = || self.counted().filter(|past| past.batch >= since && is_same_observation(&past.call, call));
        let questions: BTreeSet<u64> = swept().map(|past| past.call.identity()).collect();
        let (times, targets) = (questions.len() as u32, some(swept().map(|past| signalled(&past.call)).collect()));
        let figures = F::Sweep { observation, times, steer_at: 4, halt_at: 6 };
        lines.push(Line { times, told, at: (4, 6), figures, targets, is_row: false });

        if is_failure(call) {
            let row = self.row(call);
            let failures = row.iter().filter(|past| past.adds_to_row).count() as u32;
            let all: BTreeSet<u64> = row.iter().map(|past| signalled(&past.call)).collect();
            let targets = if all.contains(&0) { None } else { some(all) };
            let told = row.iter().find(|past| past.steers_row).map(|past| past.of);
            let figures = F::Broad { failures, steer_at: 6, halt_at: 10 };
            lines.push(Line { times: failures, told, at: (6, 10), figures, targets, is_row: true });
        }
        lines
    }

    /// The first batch behind the last one in which something happened.
    fn behind(&self, happened: impl Fn(&Call) -> bool) -> usize {
        let found = self.past.iter().filter(|past| past.batch < self.batch && happened(&past.call));
        found.map(|past| past.batch + 1).max().unwrap_or(0)
    }

    fn written(&self) -> usize {
        self.behind(|call| call.result == Result::Written)
    }

    fn answered(&self, tool: u64) -> usize {
        let is_answer = |result| matches!(result, Result::Usable(_) | Result::Written | Result::Context | Result::Note);
        self.behind(|call| call.tool == tool && is_answer(call.result))
    }

    /// What still stands: since the last write, and not of a target that has recovered since.
    fn present(&self) -> impl Iterator<Item = &Past> {
        let from = self.written();
        let is_over = |past: &Past| {
            let mut recoveries = self.recoveries.iter().filter(|(target, _)| *target == signalled(&past.call));
            recoveries.any(|(_, at)| (past.batch..self.batch).contains(at))
        };
        self.past.iter().filter(move |past| past.batch >= from && past.fate != Fate::Passed && !is_over(past))
    }

    fn counted(&self) -> impl Iterator<Item = &Past> {
        self.present().filter(|past| past.fate == Fate::Counted)
    }

    /// Where a steer was told of what still stands of an observation; of a held result, of this very call.
    fn told(&self, call: &Call) -> Option<Of> {
        let is_usable = matches!(call.result, Result::Usable(_));
        let is_one = |past: &&Past| {
            if is_usable { is_same_question(&past.call, call) } else { is_same_observation(&past.call, call) }
        };
        let first = self.present().find(is_one)?.call.now;
        let mut told = self.past.iter().filter(|past| past.steers_repeat && past.call.now >= first).filter(is_one);
        told.next().map(|past| past.of)
    }

    /// The failures of a tool in a row, to this one.
    fn row(&self, call: &Call) -> Vec<&Past> {
        let from = self.written().max(self.answered(call.tool));
        let mut row: Vec<&Past> = Vec::new();
        let is_one = |past: &&Past| {
            let (other, is_counted) = (&past.call, past.fate == Fate::Counted);
            is_counted && is_failure(other) && other.tool == call.tool && other.purpose == call.purpose
        };
        let mut ended = 0;
        for past in self.past.iter().filter(|past| past.batch >= from).filter(is_one) {
            for (target, _) in self.recoveries.iter().filter(|(_, at)| (ended..past.batch).contains(at)) {
                let is_targets = row.iter().all(|past| signalled(&past.call) != 0);
                if is_targets && row.iter().any(|past| signalled(&past.call) == *target) {
                    row.clear();
                }
            }
            ended = past.batch;
            row.push(past);
        }
        row
    }

    fn halt(&mut self, tool: u64, of: Of, figures: F, targets: Option<BTreeSet<u64>>) {
        let batch = self.batch;
        let is_good = |targets: &Option<BTreeSet<u64>>, recoveries: &[(u64, usize)]| {
            recoveries.iter().any(|(target, at)| *at == batch && targets.as_ref().is_some_and(|t| t.contains(target)))
        };
        let Some(halt) = self.halts.iter_mut().find(|halt| halt.tool == tool) else {
            let is_over = is_good(&targets, &self.recoveries);
            return self.halts.push(Halted { tool, of, figures, targets, is_over });
        };
        halt.targets = halt.targets.take().zip(targets).map(|(a, b)| a.union(&b).copied().collect());
        halt.is_over = is_good(&halt.targets, &self.recoveries);
        if rank(&figures) > rank(&halt.figures) {
            halt.figures = figures;
        }
    }

    fn recovered(&mut self, target: u64) {
        self.recoveries.push((target, self.batch));
        for halt in &mut self.halts {
            halt.is_over |= halt.targets.as_ref().is_some_and(|targets| targets.contains(&target));
        }
    }

    fn admit(&mut self, tool: u64, may_probe: bool) -> Option<(F, bool)> {
        if self.open.is_some() {
            self.boundary();
        }
        let on = |halt: &&Halted| !halt.is_over;
        let routes = self.halts.iter().filter(on).count() as u32;
        let lasting = self.halts.iter().filter(on).filter(|halt| halt.targets.is_none()).count();
        let session = (routes >= 3).then_some((F::SessionHalted { routes, halt_at: 3 }, lasting < 3));
        let route = self.halts.iter().filter(on).find(|halt| halt.tool == tool);
        let route = route.map(|halt| (halt.figures, halt.targets.is_some()));
        let all = [session, route].into_iter().flatten().filter(|(_, on_target)| !(*on_target && may_probe));
        all.min_by_key(|(_, on_target)| *on_target)
    }

    fn new_task(&mut self) {
        *self = Self { epoch: self.epoch, reports: self.reports, batch: self.batch + 1, ..Self::default() };
    }
}

fn some(targets: BTreeSet<u64>) -> Option<BTreeSet<u64>> {
    Some(targets.into_iter().filter(|target| *target != 0).collect())
        .filter(|targets: &BTreeSet<u64>| !targets.is_empty())
}

fn is_same_result(a: &Call, b: &Call) -> bool {
    a.fingerprint() == b.fingerprint() && a.result == b.result && signalled(a) == signalled(b)
}

fn is_same_observation(a: &Call, b: &Call) -> bool {
    a.purpose == b.purpose && a.fingerprint().is_some() && a.fingerprint() == b.fingerprint()
}

fn is_same_question(a: &Call, b: &Call) -> bool {
    if matches!(b.result, Result::Usable(_)) {
        return (a.tool, a.arguments, a.purpose, a.result) == (b.tool, b.arguments, b.purpose, b.result);
    }
    is_same_observation(a, b) && a.identity() == b.identity() && signalled(a) == signalled(b)
}

fn rank(figures: &F) -> (u8, u32) {
    match *figures {
        F::SameResult { times, .. } => (4, times),
        F::Sweep { times, .. } => (3, times),
        F::Broad { failures, .. } => (2, failures),
        F::AlreadyHeld { times, .. } => (1, times),
        F::NotAllowed { .. }
        | F::Refused(_)
        | F::AmbiguousEffect { .. }
        | F::SessionHalted { .. }
        | F::Wave { .. }
        | F::Twin
        | F::Backend { .. } => (0, 0),
    }
}

fn compare(history: &[Op]) -> std::result::Result<(), TestCaseError> {
    let policy = ProgressPolicy::default();
    let name = SafeText::cut("target", 96);
    let (mut ledger, mut oracle) = (ProgressLedger::default(), Oracle::default());
    for (at, op) in history.iter().enumerate() {
        match *op {
            Op::Report(call) => {
                let (got, wanted) = (ledger.observe(&policy, &call.report(&name)), oracle.report(call));
                prop_assert_eq!(got, wanted, "step {}: {:?}", at, call);
            }
            Op::Admit { tool, may_probe } => {
                let got = ledger.judge_admit(&policy, tool, None, may_probe);
                let got = got.map(|(figures, row)| (figures, row.number == 13));
                prop_assert_eq!(got, oracle.admit(tool, may_probe), "step {}: admit {}", at, tool);
            }
            Op::Recovered(target) => {
                ledger.target_recovered(target);
                oracle.recovered(target);
            }
            Op::Epoch => {
                ledger.advance_epoch();
                oracle.boundary();
                oracle.epoch += 1;
            }
            Op::Task => {
                ledger.new_task();
                oracle.new_task();
            }
        }
        let got: Vec<bool> = TOOLS.map(|tool| ledger.is_exhausted(tool)).collect();
        let wanted: Vec<bool> =
            TOOLS.map(|tool| oracle.halts.iter().any(|halt| halt.tool == tool && !halt.is_over)).collect();
        prop_assert_eq!(got, wanted, "step {}: {:?}", at, op);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_ledger_answers_as_one_that_keeps_the_whole_history(history in any_history(90)) {
        compare(&history).map_err(|fault| TestCaseError::fail(format!("{fault} {}", listed(&history))))?;
    }
}
