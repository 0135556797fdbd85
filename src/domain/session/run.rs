//! One agent run whole: its gates, its evidence, its calls in flight and what was told of them, turn by turn.
//!
//! Pure: no clock, no lock, no I/O. A call is known from its admission to its report by the number of its permit.

mod marks;
mod notices;
mod snapshot;
mod timeline;
mod tools;
mod trips;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::call::Ask;
use super::evidence::{EvidenceLedger, ReportedCall};
use super::flight::{Came, FollowedCall, InFlight};
use super::policy::SessionPolicy;
use super::review::keywords::Keywords;
use super::review::{ReviewInput, ReviewRule, SendBacks, Verdict as Reviewed, review};
use super::{Session, Told};
use crate::domain::behaviour::Fact;
use crate::domain::behaviour::follow::FollowUps;
use crate::domain::behaviour::steps::Steps;
use crate::domain::contract::{SessionWording, Trip};
use crate::domain::event::SteerThenHalt;
use crate::domain::ids::{HashKey, SafeText};
use crate::domain::time::Timestamp;
use crate::domain::tool::Tool;
use crate::domain::verdict::Verdict;
use marks::Marks;
pub use notices::{TOLD_SHUT_MAX, ToldShut, speaks_of_circuits};
pub use snapshot::RunSnapshot;
use timeline::Timeline;
pub use timeline::{LANES_MAX, LINES_MAX, Line, LineWord};
pub use tools::{TOOL_TARGETS_MAX, ToolTarget};

/// Calls in flight that are followed; the oldest is let go, and its report then counts for no guard.
pub const IN_FLIGHT_MAX: usize = 256;
/// Tasks whose names are remembered, so that an answer to an earlier one can be reviewed.
const TASKS_MAX: usize = 32;
/// Targets whose last failure is remembered.
const BAD_TARGETS_MAX: usize = 64;
/// The longest tool name in bytes.
const TOOL_BYTES_MAX: usize = 128;

/// What a session is held to beside its gates.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct RunPolicy {
    /// Its gates.
    pub gates: Arc<SessionPolicy>,
    /// What the caller declared of tools, by name.
    pub tools: BTreeMap<Box<str>, DeclaredTool>,
    /// Hypotheses that were ruled out.
    pub excluded_hypotheses: Vec<Box<str>>,
    /// Ids that the user gave.
    pub known_ids: Vec<Box<str>>,
    /// Cautions of a review send back too.
    pub is_strict: bool,
}

/// What the caller of a session says of one tool.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct DeclaredTool {
    /// What is known of it.
    pub tool: Tool,
    /// Its target.
    pub target: Box<str>,
}

/// What a run came to so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RunCounts {
    /// Calls that were admitted.
    pub admitted: u64,
    /// Calls that were refused.
    pub refused: u64,
    /// Steers that were told.
    pub steered: u64,
    /// Halts that were told in place of a result.
    pub halted: u64,
}

/// What a report is answered with, and the call that it was of.
#[derive(Debug)]
pub struct Heard {
    /// The word of the gates.
    pub told: Told,
    /// Set where it is a halt that a steer came before.
    pub steered: Option<SteerThenHalt>,
    /// The call, to follow what is told of it.
    pub call: FollowedCall,
}

/// One agent run.
#[derive(Debug)]
pub struct AgentRun {
    /// What it is held to.
    pub policy: RunPolicy,
    /// What it is told in, from its first call to its end: no reload changes it.
    pub wording: SessionWording,
    gates: Session,
    evidence: EvidenceLedger,
    send_backs: SendBacks,
    tasks: VecDeque<(u64, u32)>,
    task: u32,
    epoch: u32,
    counts: RunCounts,
    in_flight: BTreeMap<u64, Box<InFlight>>,
    timeline: Timeline,
    /// When targets failed last, the latest failure last.
    last_bad: VecDeque<(u64, Timestamp)>,
    /// What it was told is shut.
    told_shut: Vec<ToldShut>,
    /// Where the tools led that it used, the latest last.
    tool_targets: Vec<ToolTarget>,
    steps: Steps,
    marks: Marks,
    /// None until a contract is told.
    follow_ups: Option<Box<FollowUps>>,
    /// When it was last heard of.
    pub last_seen: Timestamp,
}

impl AgentRun {
    /// A run that has seen nothing; the ids of its payloads are hashed under `key`.
    #[must_use]
    pub fn new(policy: RunPolicy, key: HashKey, now: Timestamp) -> Self {
        let mut gates = Session::new(Arc::clone(&policy.gates));
        gates.new_task(1);
        Self {
            policy,
            wording: SessionWording::default(),
            gates,
            evidence: EvidenceLedger::new(key),
            send_backs: SendBacks::default(),
            tasks: VecDeque::from([(0, 1)]),
            task: 1,
            epoch: 0,
            counts: RunCounts::default(),
            in_flight: BTreeMap::new(),
            timeline: Timeline::default(),
            last_bad: VecDeque::new(),
            told_shut: Vec::new(),
            tool_targets: Vec::new(),
            steps: Steps::default(),
            marks: Marks::default(),
            follow_ups: None,
            last_seen: now,
        }
    }

    /// The same run, told in a wording of its own.
    #[must_use]
    pub fn told_in(self, wording: SessionWording) -> Self {
        Self { wording, ..self }
    }

    /// Another policy; counts, halts and evidence stay.
    pub fn adopt(&mut self, policy: RunPolicy) {
        self.gates.adopt(Arc::clone(&policy.gates));
        self.policy = policy;
    }

    /// The task of a call: as before where it names none, else a new one where it names another.
    pub fn turn_to_task(&mut self, task: u64, out: &mut Vec<Fact>) -> u32 {
        let current = self.tasks.back().map_or(0, |(name, _)| *name);
        if task != 0 && task != current {
            if current == 0 && self.counts.admitted + self.counts.refused == 0 {
                self.tasks.clear(); // the first call names the first task
            } else {
                self.task = self.task.saturating_add(1);
                self.gates.new_task(self.task.into());
                self.end_task(out);
            }
            if self.tasks.len() >= TASKS_MAX {
                self.tasks.pop_front();
            }
            self.tasks.push_back((task, self.task));
        }
        self.task
    }

    /// Whether a route of this tool is exhausted, so that the state of its target has a say.
    #[must_use]
    pub fn is_exhausted(&self, tool: u64) -> bool {
        self.gates.progress().is_exhausted(tool) || self.gates.is_halted()
    }

    /// Asks the gates.
    pub fn admit(&mut self, ask: &Ask<'_>) -> Verdict<()> {
        self.last_seen = self.last_seen.max(ask.now);
        self.gates.admit(ask)
    }

    /// A call was let through by everybody.
    pub fn admitted(&mut self, place: u64, call: InFlight) {
        self.counts.admitted += 1;
        self.timeline.admitted(place, &call);
        while self.in_flight.len() >= IN_FLIGHT_MAX {
            self.in_flight.pop_first();
        }
        self.in_flight.insert(place, Box::new(call));
    }

    /// A call was refused, by a gate or by a breaker; a place that it took is free again.
    pub fn refused(&mut self, place: u64, call: &InFlight, trip: &Trip, now: Timestamp) {
        self.gates.give_back(place);
        self.counts.refused += 1;
        self.timeline.refused(call, trip, now);
    }

    /// What a call in flight said of itself.
    #[must_use]
    pub fn in_flight(&self, place: u64) -> Option<&InFlight> {
        self.in_flight.get(&place).map(AsRef::as_ref)
    }

    /// A target's circuit has seen a good result.
    pub fn target_recovered(&mut self, target: u64) {
        self.gates.target_recovered(target);
    }

    /// When a target failed this session last.
    #[must_use]
    pub fn last_bad(&self, target: u64) -> Option<Timestamp> {
        self.last_bad.iter().find(|(bad, _)| *bad == target).map(|(_, at)| *at)
    }

    fn note_bad(&mut self, target: u64, at: Timestamp) {
        self.last_bad.retain(|(bad, _)| *bad != target);
        if self.last_bad.len() >= BAD_TARGETS_MAX {
            self.last_bad.pop_front();
        }
        self.last_bad.push_back((target, at));
    }

    /// Notes what a call came to. None where the call is not known: it was reported before, or let go.
    pub fn report(&mut self, place: u64, came: &Came<'_>, out: &mut Vec<Fact>) -> Option<Heard> {
        let call = self.in_flight.remove(&place)?;
        self.last_seen = self.last_seen.max(came.now);
        let typing = came.typing;
        self.came_back(&call, came, out);
        let (halted_before, _) = self.gates.steers_that_halted();
        let told = self.gates.report(&call.report(place, came));
        let (count, alert_at) = self.gates.steers_that_halted();
        let steered = (count > halted_before).then_some(SteerThenHalt { count, alert_at });
        if came.is_success {
            self.gates.target_recovered(call.target);
        } else if typing.is_some_and(|typing| typing.kind.is_some()) {
            self.note_bad(call.target, came.now);
        }
        if came.refused_by.is_none()
            && !came.is_retried
            && let Some(typing) = typing.filter(|typing| !typing.is_ours)
        {
            self.evidence.record(&ReportedCall {
                tool_name: &call.tool_name,
                tool: came.tool,
                typing,
                task: call.task.into(),
                turn: call.turn.unwrap_or(0),
                payload: came.payload,
                is_cut_by_caller: came.is_cut_by_caller,
            });
        }
        let word = self.timeline.came(place, came, &told);
        self.counts.steered += u64::from(word == LineWord::Steer);
        self.counts.halted += u64::from(word == LineWord::Trip);
        Some(Heard { told, steered, call: call.followed() })
    }

    /// The model's context was compacted; answers the epoch in force.
    pub fn advance_epoch(&mut self, to: u32) -> u32 {
        let next = if to == 0 { self.epoch.saturating_add(1) } else { to };
        if next > self.epoch {
            self.epoch = next;
            self.gates.advance_epoch();
        }
        self.epoch
    }

    /// Frees the unverified writes of a tool, and counts them.
    pub fn release_effects(&mut self, tool: u64) -> usize {
        self.gates.release_effects(tool)
    }

    /// Holds an answer against the evidence of its task: the one in force, or one that is named.
    pub fn review(&mut self, task: u64, answer: &str, keywords: &Keywords) -> Reviewed {
        let named = self.tasks.iter().find(|(name, _)| task != 0 && *name == task).map(|(_, number)| *number);
        let task: u64 = named.unwrap_or(self.task).into();
        let cut = |name: &str| SafeText::cut(name, TOOL_BYTES_MAX);
        let required: Vec<SafeText> = self.policy.gates.required_tools.iter().map(|tool| cut(tool)).collect();
        let exhausted: Vec<SafeText> = self.gates.exhausted().cloned().collect();
        let verdict = review(&ReviewInput {
            task: self.evidence.of_task(task),
            answer,
            required_tools: &required,
            exhausted_tools: &exhausted,
            excluded_hypotheses: &self.policy.excluded_hypotheses,
            known_ids: &self.policy.known_ids,
            seen_ids: self.evidence.ids(),
            keywords,
            is_strict: self.policy.is_strict,
            was_sent_back: self.send_backs.was_sent_back(task, self.epoch),
        });
        self.send_backs.note(task, self.epoch, &verdict);
        verdict
    }

    /// The rules of a verdict: the one that decided, then those that caution.
    #[must_use]
    pub fn rules_of(verdict: &Reviewed) -> (Option<ReviewRule>, Vec<ReviewRule>) {
        match verdict {
            Reviewed::Allow { cautions } => (None, cautions.clone()),
            Reviewed::SendBack { rule, also, cautions, .. } | Reviewed::AllowUnsupported { rule, also, cautions } => {
                (Some(*rule), also.iter().chain(cautions).copied().collect())
            }
        }
    }

    /// Its gates, to be looked at.
    #[must_use]
    pub const fn gates(&self) -> &Session {
        &self.gates
    }

    /// Its evidence.
    #[must_use]
    pub const fn evidence(&self) -> &EvidenceLedger {
        &self.evidence
    }

    /// Its lines, oldest first, and how many were dropped before them.
    pub fn lines(&self) -> (impl Iterator<Item = &Line>, u64) {
        self.timeline.lines()
    }

    /// What it came to so far.
    #[must_use]
    pub const fn counts(&self) -> RunCounts {
        self.counts
    }

    /// The task in force, from 1.
    #[must_use]
    pub const fn task(&self) -> u32 {
        self.task
    }

    /// The context epoch.
    #[must_use]
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }
}
