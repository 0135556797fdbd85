//! What one agent run may do next: progress, fan-out, scope and effects, asked in turn; the stricter answer is told.
//!
//! Pure: no clock, no lock, no I/O. Knows hashes, closed words and tool names; never arguments, payloads or breakers.
//! What it keeps is bounded whatever comes: see [`Session::entries`].

pub mod call;
pub mod effects;
pub mod evidence;
pub mod fan_out;
pub mod flight;
pub mod identity;
pub mod policy;
pub mod progress;
pub mod refusal;
pub mod review;
pub mod run;
pub mod scope;

use std::sync::Arc;

use self::call::{Ask, Report, ToolName};
use self::effects::{Ambiguity, EffectGuard};
use self::fan_out::FanOutCap;
use self::policy::SessionPolicy;
use self::progress::{Progress, ProgressLedger, Resumed};
use self::refusal::{Refusal, shown};
use self::scope::ScopeGuard;
use crate::domain::contract::session::SessionFigures;
use crate::domain::contract::{Condition, Trip};
use crate::domain::ids::SafeText;
use crate::domain::signal::Signal;
use crate::domain::verdict::Verdict;

/// Entries of all maps of one session together: some 2,900 of the ledger, 256 places, 320 pins and 64 writes, at most
/// about 120 bytes each: 400 KiB in the worst case, and nothing for a session that does nothing.
pub const ENTRIES_MAX: usize = 512 + 128 + 128 + 64 + 4 * 512 + 256 + 256 + 64 + 64;

/// What a report is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// No session guard has anything to say.
    Nothing,
    /// The result, and this under it.
    Steer(Box<Trip>),
    /// This instead of the result.
    Trip(Box<Trip>),
}

/// A measurement that the job must make, and whether its route is exhausted: it is required either way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Required {
    /// The tool.
    pub tool: Arc<str>,
    /// It can no longer be made in this task: the answer must give it as Unknown, naming the tool.
    pub is_exhausted: bool,
}

/// The gates of one session.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Session {
    /// Kept apart: with the run that it is of.
    #[serde(skip)]
    policy: Arc<SessionPolicy>,
    task: u64,
    progress: ProgressLedger,
    fan_out: FanOutCap,
    scope: ScopeGuard,
    effects: EffectGuard,
}

impl Session {
    /// A session that has seen nothing.
    #[must_use]
    pub fn new(policy: Arc<SessionPolicy>) -> Self {
        Self {
            policy,
            task: 0,
            progress: ProgressLedger::default(),
            fan_out: FanOutCap::default(),
            scope: ScopeGuard::default(),
            effects: EffectGuard::default(),
        }
    }

    /// Whether a call may be made. It takes a place only where nothing refuses; who asks a breaker next gives the place
    /// back with [`Session::give_back`] where that refuses.
    pub fn admit(&mut self, ask: &Ask<'_>) -> Verdict<()> {
        let tool = ask.tool;
        if ask.is_approved {
            self.scope.approved(tool.id, ask.arguments);
        }
        let halted = self.progress.judge_admit(&self.policy.progress, tool.id, ask.wave, ask.may_probe);
        let refusals = [
            self.scope.judge(&self.policy.scope, tool.id, tool.name, ask.arguments).map(|f| self.out_of_scope(f)),
            self.effects.judge(ask).map(|ambiguity| self.ambiguous(ambiguity)),
            // Who is to stop is told of no other tool.
            halted.map(|(figures, row)| Refusal { row, figures, fallback: None }),
            self.fan_out.judge(&self.policy.fan_out, ask).map(full),
        ];
        match refusals.into_iter().flatten().reduce(Refusal::stricter) {
            Some(refusal) => Verdict::Refuse(Box::new(refusal.trip(ask.target, ask.now))),
            None => {
                self.fan_out.take(ask);
                Verdict::Proceed(())
            }
        }
    }

    /// Notes what a call came to. A report of an earlier task frees its place and tells of writes; it is nothing to the
    /// present task.
    pub fn report(&mut self, report: &Report<'_>) -> Told {
        self.fan_out.give_back(report.place);
        if report.is_ours {
            return Told::Nothing;
        }
        let is_present = report.task == 0 || report.task == self.task;
        if let Some(by) = report.refused_by {
            if is_present {
                self.scope.refused(report.tool.id, report.arguments, by);
            }
            return Told::Nothing;
        }
        let ambiguity = self.effects.observe(report);
        let progress =
            if is_present { self.progress.observe(&self.policy.progress, report) } else { Progress::Nothing };
        let told = |refusal: Refusal| Box::new(refusal.trip(report.target_name, report.now));
        match (ambiguity, progress) {
            (Some(ambiguity), _) => Told::Trip(told(self.ambiguous(ambiguity))),
            (None, Progress::Halt(halt)) => {
                let condition = if halt.is_on_target { Condition::HaltedOnTarget } else { Condition::Halted };
                Told::Trip(told(Refusal::new(Signal::NoProgress, condition, halt.figures)))
            }
            (None, Progress::Steer(figures)) => {
                let refusal = Refusal::new(Signal::NoProgress, Condition::Steer, figures);
                Told::Steer(told(refusal.or_call(self.alternative(report.tool, report.alternatives))))
            }
            (None, Progress::Nothing) => Told::Nothing,
        }
    }

    /// Gives the place of an admitted call back: a breaker refused it, so that it is never made.
    pub fn give_back(&mut self, place: u64) {
        self.fan_out.give_back(place);
    }

    /// A target's circuit has seen a good result.
    pub fn target_recovered(&mut self, target: u64) {
        self.progress.target_recovered(target);
    }

    /// The halts that ended since this was last asked: notices, each told once.
    pub fn take_resumed(&mut self) -> Vec<Resumed> {
        self.progress.take_resumed()
    }

    /// A new task: counts, halts and pins are forgotten. Running calls run on, and unverified writes stay so.
    pub fn new_task(&mut self, task: u64) {
        if task != self.task {
            self.task = task;
            self.progress.new_task();
            self.scope.new_task();
        }
    }

    /// The caller compacted the model's context.
    pub fn advance_epoch(&mut self) {
        self.progress.advance_epoch();
    }

    /// Somebody knows what became of a write. True where it was unverified.
    pub fn release_effect(&mut self, tool: u64, arguments: u64) -> bool {
        self.effects.release(tool, arguments)
    }

    /// Somebody knows what became of every write of a tool. How many there were.
    pub fn release_effects(&mut self, tool: u64) -> usize {
        self.effects.release_tool(tool)
    }

    /// A reload, or the caller's own thresholds: counts stay.
    pub fn adopt(&mut self, policy: Arc<SessionPolicy>) {
        self.policy = policy;
    }

    /// The tools that are exhausted now.
    pub fn exhausted(&self) -> impl Iterator<Item = &SafeText> {
        self.progress.exhausted()
    }

    /// The required measurements, all of them whatever is exhausted. `id` hashes a tool's name.
    pub fn required(&self, id: impl Fn(&str) -> u64) -> impl Iterator<Item = Required> {
        let is_exhausted = move |tool: &str| self.progress.is_exhausted(id(tool));
        let tools = self.policy.required_tools.iter();
        tools.map(move |tool| Required { tool: tool.clone(), is_exhausted: is_exhausted(tool) })
    }

    /// Whether every admit is refused.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.progress.is_session_halted(&self.policy.progress)
    }

    /// Steers that ended in a halt, beside the count at which the operator is to be alerted.
    #[must_use]
    pub fn steers_that_halted(&self) -> (u32, u32) {
        (self.progress.steers_that_halted(), self.policy.progress.alert_steer_then_halt)
    }

    /// The ledger, to be looked at.
    #[must_use]
    pub const fn progress(&self) -> &ProgressLedger {
        &self.progress
    }

    /// Entries that are kept, at most [`ENTRIES_MAX`].
    #[must_use]
    pub fn entries(&self) -> usize {
        self.progress.entries() + self.fan_out.len() + self.scope.entries() + self.effects.len()
    }

    fn out_of_scope(&self, figures: SessionFigures) -> Refusal {
        let refusal = Refusal::new(Signal::ScopeCreep, Condition::Always, figures);
        refusal.or_call(self.policy.escalation_tool.clone())
    }

    /// The read tool tells; where there is none, a person must.
    fn ambiguous(&self, ambiguity: Ambiguity) -> Refusal {
        let (condition, fallback) = match ambiguity.read_tool {
            Some(read_tool) => (Condition::FallbackAdmissible, Some(read_tool)),
            None => (Condition::NoFallback, self.policy.escalation_tool.clone()),
        };
        Refusal::new(Signal::AmbiguousEffect, condition, ambiguity.figures).or_call(fallback)
    }

    /// The first tool to turn to that is another, allowed and not exhausted.
    fn alternative(&self, from: ToolName<'_>, tools: &[ToolName<'_>]) -> Option<SafeText> {
        let is_open = |tool: &&ToolName<'_>| {
            tool.id != from.id
                && !self.progress.is_exhausted(tool.id)
                && scope::is_allowed(&self.policy.scope, tool.name)
        };
        tools.iter().find(is_open).map(shown)
    }
}

fn full(figures: SessionFigures) -> Refusal {
    Refusal::new(Signal::FanOut, Condition::Full, figures)
}

#[cfg(test)]
mod tests;
