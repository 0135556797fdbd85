//! Whether a task goes forward: the same failed, empty or held result again is told once, then its tool is halted.
//!
//! Pure: no clock, no lock, no I/O. Knows hashes and closed words, never arguments or payloads. What is refused is
//! neither counted nor progress: a guard that counts its own words never lets go.

mod counts;
mod halts;
mod runs;
mod targets;
mod wave;
mod word;

use super::call::{Report, ToolName, Wave};
use super::policy::ProgressPolicy;
use crate::domain::contract::session::SessionFigures;
use crate::domain::contract::{CATALOGUE, CatalogueRow, Condition};
use crate::domain::ids::SafeText;
use crate::domain::observation::Observation;
use crate::domain::signal::Signal;
use counts::{Counts, Key, Mark, Tick};
use halts::{HALTS_MAX, Halts, NewHalt};
use runs::{Failure, Resets, RunKey, Runs};
use targets::Targets;
use wave::{Batch, Made, Open, Twin, Waves};
use word::{Line, Word};

pub use counts::OBSERVATIONS_MAX;
pub use word::{HaltedRoute, Progress, Resumed};

/// Notices that wait to be handed on; a further one is dropped, as the admit itself tells it.
const NOTICES_MAX: usize = 16;

/// What one task came to so far.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ProgressLedger {
    step: u64,
    epoch: u64,
    counts: Counts,
    runs: Runs,
    resets: Resets,
    halts: Halts,
    waves: Waves,
    open: Option<Open>,
    resumed: Vec<Resumed>,
    steers_that_halted: u32,
}

impl ProgressLedger {
    /// Counts one reported call and says what the model is to be told.
    pub fn observe(&mut self, policy: &ProgressPolicy, report: &Report<'_>) -> Progress {
        if report.is_ours || report.refused_by.is_some() {
            return Progress::Nothing;
        }
        let batch = self.turn_to(report.wave);
        let progress = match (report.fingerprint, report.result) {
            _ if report.is_write() => Progress::Nothing,
            (Some(fingerprint), _) => self.failed(policy, report, fingerprint, batch),
            (None, Some(result)) if report.observation.is_usable() => self.held(policy, report, result, batch),
            (None, _) => Progress::Nothing,
        };
        self.note(report, batch);
        if matches!(batch, Batch::Alone(_)) {
            self.close();
        }
        progress
    }

    /// Why a call may not be made now, with the row that says so. `may_probe`: the target's circuit would give it a
    /// half-open probe, which a halt on that target does not withhold.
    pub fn judge_admit(
        &mut self,
        policy: &ProgressPolicy,
        tool: u64,
        wave: Option<Wave>,
        may_probe: bool,
    ) -> Option<(SessionFigures, &'static CatalogueRow)> {
        self.end_unless(wave);
        let route = self.halts.of(tool).map(|halt| (halt.figures, halt.is_on_target()));
        let found = [self.session_halt(policy), route].into_iter().flatten();
        let refusals = found.filter(|(_, is_on_target)| !(*is_on_target && may_probe));
        let rows = refusals.map(|(figures, is_on_target)| (figures, halted_row(is_on_target)));
        rows.min_by_key(|(_, row)| row.precedence())
    }

    /// The halt of the whole session, and whether a target's recovery ends it.
    fn session_halt(&self, policy: &ProgressPolicy) -> Option<(SessionFigures, bool)> {
        let count = |lasting: bool| {
            let halts = self.halts.in_force().filter(|halt| !lasting || !halt.is_on_target());
            u32::try_from(halts.count()).unwrap_or(u32::MAX)
        };
        let (routes, halt_at) = (count(false), policy.max_halts.get().min(HALTS_MAX));
        (routes >= halt_at).then(|| (SessionFigures::SessionHalted { routes, halt_at }, count(true) < halt_at))
    }

    /// A target's circuit has seen a good result: what was halted and counted on its failures alone is over.
    pub fn target_recovered(&mut self, target: u64) {
        if target == 0 {
            return;
        }
        self.end_halts(target);
        match &mut self.open {
            Some(open) => open.add_recovered(target),
            None => self.forget(target),
        }
    }

    /// A new task: counts and halts are forgotten, the session's own halt among them.
    pub fn new_task(&mut self) {
        self.open = None;
        self.waves.clear();
        self.clear_counts();
        self.halts.clear();
    }

    /// The caller compacted the model's context: one repeat of each observation is forgiven.
    pub fn advance_epoch(&mut self) {
        self.close();
        self.epoch += 1;
    }

    /// The tools that are exhausted now, by the names under which they were called.
    pub fn exhausted(&self) -> impl Iterator<Item = &SafeText> {
        self.halts.in_force().map(|halt| &halt.name)
    }

    /// Whether a tool is exhausted now.
    #[must_use]
    pub fn is_exhausted(&self, tool: u64) -> bool {
        self.halts.of(tool).is_some()
    }

    /// Whether every admit is refused.
    #[must_use]
    pub fn is_session_halted(&self, policy: &ProgressPolicy) -> bool {
        self.session_halt(policy).is_some()
    }

    /// Steers of this session that ended in a halt.
    #[must_use]
    pub const fn steers_that_halted(&self) -> u32 {
        self.steers_that_halted
    }

    /// The halts that ended since this was last asked.
    pub fn take_resumed(&mut self) -> Vec<Resumed> {
        std::mem::take(&mut self.resumed)
    }

    /// Entries of all maps together: at most 512 observations, 128 runs, 128 resets, 64 halts, 4 waves of 512 calls.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.counts.len() + self.runs.len() + self.resets.len() + self.halts.len() + self.waves.len()
    }

    /// A failed or empty result.
    fn failed(&mut self, policy: &ProgressPolicy, report: &Report<'_>, fingerprint: u64, batch: Batch) -> Progress {
        if let Some(halt) = self.halts.before(report.tool.id, batch) {
            let (figures, is_on_target) = (halt.figures, halt.is_on_target());
            return Progress::Halt(HaltedRoute { figures, is_on_target, is_new: false });
        }
        if report.is_silent_retry || report.is_held_by_circuit {
            return Progress::Nothing;
        }
        let mark = Mark::Terminal(fingerprint);
        let target = report.signalled_target();
        let (purpose, identity) = (report.purpose, report.identity);
        let key = Key { purpose, mark, identity, target: target.unwrap_or_default() };
        if !self.waves.is_first(batch, twin(report, key)) {
            return Progress::Nothing;
        }
        let since = self.resets.of(report.tool.id);
        let Some(times) = self.counts.count(key, report.poll, self.tick(report)) else { return Progress::Nothing };
        let mut lines = self.repeats(policy, report, key, times);
        if is_failure(report.observation) {
            let run = RunKey { purpose: report.purpose, tool: report.tool.id };
            let counts = self.waves.is_first_failure(batch, made(report));
            let failure = Failure { target, counts, step: self.step, since };
            lines.push(self.row_of_failures(policy, run, failure));
            if lines.last().is_some_and(|line| line.word(batch) == Word::Steer) {
                self.runs.set_told(run, batch);
            }
        }
        if lines.iter().take(2).any(|line| line.word(batch) == Word::Steer) {
            self.counts.set_told(key, batch);
        }
        self.say(report.tool, lines, batch)
    }

    /// The same result to the same question, and to others.
    fn repeats(&self, policy: &ProgressPolicy, report: &Report<'_>, key: Key, times: u32) -> Vec<Line> {
        let observation = report.observation;
        let sweep = self.counts.sweep(key, self.resets.of(report.tool.id));
        let told = self.counts.told(key);
        let targets = |targets: Targets| (!targets.is_empty()).then_some(targets);
        let mut own = Targets::default();
        own.add(key.target);
        let (same_at, sweep_at) = (policy.same, policy.sweep);
        let (steer_at, halt_at) = (same_at.steer_at(), same_at.halt_at());
        let same = SessionFigures::SameResult { observation, times, steer_at, halt_at };
        let (steer_at, halt_at, questions) = (sweep_at.steer_at(), sweep_at.halt_at(), sweep.questions);
        let swept = SessionFigures::Sweep { observation, times: questions, steer_at, halt_at };
        vec![
            Line { times, at: same_at, told, figures: same, targets: targets(own) },
            Line { times: questions, at: sweep_at, told, figures: swept, targets: targets(sweep.targets) },
        ]
    }

    fn row_of_failures(&mut self, policy: &ProgressPolicy, key: RunKey, failure: Failure) -> Line {
        let run = self.runs.add(key, failure);
        let (steer_at, halt_at) = (policy.broad.steer_at(), policy.broad.halt_at());
        let figures = SessionFigures::Broad { failures: run.failures, steer_at, halt_at };
        Line { times: run.failures, at: policy.broad, told: run.told, figures, targets: run.targets() }
    }

    /// A usable result: news, unless the same call gave it before.
    fn held(&mut self, policy: &ProgressPolicy, report: &Report<'_>, result: u64, batch: Batch) -> Progress {
        let Some(at) = policy.observed else { return Progress::Nothing };
        if report.is_silent_retry || self.halts.before(report.tool.id, batch).is_some() {
            return Progress::Nothing;
        }
        let (tool, identity) = (report.tool.id, report.arguments);
        let mark = Mark::Held { tool, result };
        let key = Key { purpose: report.purpose, mark, identity, target: 0 };
        if !self.waves.is_first(batch, twin(report, key)) {
            return Progress::Nothing;
        }
        let Some(times) = self.counts.count(key, report.poll, self.tick(report)) else { return Progress::Nothing };
        let figures = SessionFigures::AlreadyHeld { times, steer_at: at.steer_at(), halt_at: at.halt_at() };
        let line = Line { times, at, told: self.counts.told(key), figures, targets: None };
        if line.word(batch) == Word::Steer {
            self.counts.set_told(key, batch);
        }
        self.say(report.tool, vec![line], batch)
    }

    /// The strictest word of several rules; of the same word, the narrowest rule's.
    fn say(&mut self, tool: ToolName<'_>, lines: Vec<Line>, batch: Batch) -> Progress {
        let mut answer = Progress::Nothing;
        for line in lines {
            match (line.word(batch), answer) {
                (Word::Halt, Progress::Halt(before)) => {
                    let is_on_target = line.targets.is_some() && before.is_on_target;
                    self.halt(NewHalt { tool, figures: line.figures, targets: line.targets, batch });
                    answer = Progress::Halt(HaltedRoute { is_on_target, ..before });
                }
                (Word::Halt, Progress::Nothing | Progress::Steer(_)) => {
                    let (figures, is_on_target) = (line.figures, line.targets.is_some());
                    let is_new = self.halt(NewHalt { tool, figures, targets: line.targets, batch });
                    answer = Progress::Halt(HaltedRoute { figures, is_on_target, is_new });
                }
                (Word::Steer, Progress::Nothing) => answer = Progress::Steer(line.figures),
                (Word::Steer | Word::Nothing, _) => {}
            }
        }
        let is_told_already = |open: &mut Open| !open.may_steer(tool.id);
        match answer {
            Progress::Steer(_) if self.open.as_mut().is_some_and(is_told_already) => Progress::Nothing,
            Progress::Steer(_) | Progress::Halt(_) | Progress::Nothing => answer,
        }
    }

    fn halt(&mut self, new: NewHalt<'_>) -> bool {
        let targets = new.targets.clone();
        let is_new = self.halts.add(new);
        self.steers_that_halted = self.steers_that_halted.saturating_add(u32::from(is_new));
        // The order of a failure and a good result in one wave says nothing about which was later.
        let open = self.open.as_ref();
        let good = targets.iter().flat_map(Targets::iter).find(|t| open.is_some_and(|open| open.has_recovered(*t)));
        if let Some(target) = good {
            self.end_halts(target);
        }
        is_new
    }

    fn end_halts(&mut self, target: u64) {
        for tool in self.halts.end(target) {
            if self.resumed.len() < NOTICES_MAX {
                self.resumed.push(Resumed { tool, target });
            }
        }
    }

    /// What a report changes at the end of its batch.
    fn note(&mut self, report: &Report<'_>, batch: Batch) {
        let Some(open) = self.open.as_mut().filter(|open| open.batch == batch) else { return };
        open.wrote |= report.is_write();
        if report.observation.is_usable() || (report.is_success && report.observation == Observation::Context) {
            open.add_answered(report.tool.id);
        }
        if report.is_success {
            self.target_recovered(report.target);
        }
    }

    /// The batch of a report; the one before ends where it is another.
    fn turn_to(&mut self, wave: Option<Wave>) -> Batch {
        self.end_unless(wave);
        self.step += 1;
        let batch = wave.map_or(Batch::Alone(self.step), Batch::Wave);
        self.open.get_or_insert_with(|| Open::new(batch));
        batch
    }

    /// Ends the open batch where it is not this wave.
    fn end_unless(&mut self, wave: Option<Wave>) {
        if self.open.as_ref().is_some_and(|open| Some(open.batch) != wave.map(Batch::Wave)) {
            self.close();
        }
    }

    /// Ends the open batch: what shrinks the counts happens now.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.step += 1;
        for target in open.recovered() {
            self.forget(target);
        }
        self.halts.sweep_out();
        for tool in open.answered() {
            self.resets.set(tool, self.step);
        }
        if open.wrote {
            self.clear_counts();
        }
    }

    fn forget(&mut self, target: u64) {
        self.counts.forget(target);
        self.runs.forget(target);
        self.halts.sweep_out();
    }

    fn clear_counts(&mut self) {
        self.counts.clear();
        self.runs.clear();
        self.resets.clear();
    }

    const fn tick(&self, report: &Report<'_>) -> Tick {
        Tick { step: self.step, epoch: self.epoch, now: report.now }
    }
}

/// What makes two calls of a wave the same.
const fn made(report: &Report<'_>) -> Made {
    Made { tool: report.tool.id, arguments: report.arguments, purpose: report.purpose }
}

/// What makes their results the same too.
const fn twin(report: &Report<'_>, key: Key) -> Twin {
    Twin { made: made(report), mark: key.mark, target: key.target }
}

/// An empty answer is no failure: the tool works.
const fn is_failure(observation: Observation) -> bool {
    matches!(observation, Observation::Unavailable | Observation::Error)
}

fn halted_row(is_on_target: bool) -> &'static CatalogueRow {
    let condition = if is_on_target { Condition::HaltedOnTarget } else { Condition::Halted };
    // INVARIANT: the catalogue has both rows (a test asks for all of them).
    CatalogueRow::find(Signal::NoProgress, condition).unwrap_or(&CATALOGUE[0])
}
