//! What is kept of a run over a restart: all that its gates, its evidence and its follow-ups hold. Its timeline is for
//! people who look on, and is not kept.
//!
//! Pure, and names no format. Calls in flight are kept although their permits die: what they came to is still evidence.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::marks::Marks;
use super::timeline::Timeline;
use super::{AgentRun, RunCounts, RunPolicy, ToldShut, ToolTarget};
use crate::domain::behaviour::follow::FollowUps;
use crate::domain::behaviour::steps::Steps;
use crate::domain::contract::{SessionWording, WordingSnapshot, Wordings};
use crate::domain::ids::HashKey;
use crate::domain::session::Session;
use crate::domain::session::evidence::EvidenceLedger;
use crate::domain::session::flight::InFlight;
use crate::domain::session::review::SendBacks;
use crate::domain::time::Timestamp;

/// A run as it is kept.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct RunSnapshot {
    policy: RunPolicy,
    wording: WordingSnapshot,
    gates: Session,
    evidence: EvidenceLedger,
    send_backs: SendBacks,
    tasks: VecDeque<(u64, u32)>,
    task: u32,
    epoch: u32,
    counts: RunCounts,
    in_flight: BTreeMap<u64, Box<InFlight>>,
    last_bad: VecDeque<(u64, Timestamp)>,
    told_shut: Vec<ToldShut>,
    tool_targets: Vec<ToolTarget>,
    steps: Steps,
    #[serde(default)]
    marks: Marks,
    follow_ups: Option<Box<FollowUps>>,
    last_seen: Timestamp,
}

impl AgentRun {
    /// What is kept of it.
    #[must_use]
    pub fn snapshot(&self) -> RunSnapshot {
        let told = self.follow_ups().map(FollowUps::told_in).unwrap_or_default();
        RunSnapshot {
            policy: self.policy.clone(),
            wording: self.wording.snapshot(told),
            gates: self.gates.clone(),
            evidence: self.evidence.clone(),
            send_backs: self.send_backs.clone(),
            tasks: self.tasks.clone(),
            task: self.task,
            epoch: self.epoch,
            counts: self.counts,
            in_flight: self.in_flight.clone(),
            last_bad: self.last_bad.clone(),
            told_shut: self.told_shut.clone(),
            tool_targets: self.tool_targets.clone(),
            steps: self.steps.clone(),
            marks: self.marks.clone(),
            follow_ups: self.follow_ups.clone(),
            last_seen: self.last_seen,
        }
    }

    /// The run of a snapshot. The ids of its payloads are hashed under `key`; it is told in the variants that it was told
    /// in, as far as `wordings` has them.
    #[must_use]
    pub fn restore(snapshot: RunSnapshot, key: HashKey, wordings: &Arc<Wordings>) -> Self {
        let RunSnapshot { policy, wording, mut gates, evidence, send_backs, tasks, task, epoch, counts, .. } = snapshot;
        gates.adopt(Arc::clone(&policy.gates));
        Self {
            policy,
            wording: SessionWording::restore(wording, Arc::clone(wordings)),
            gates,
            evidence: evidence.keyed(key),
            send_backs,
            tasks,
            task,
            epoch,
            counts,
            in_flight: snapshot.in_flight,
            timeline: Timeline::default(),
            last_bad: snapshot.last_bad,
            told_shut: snapshot.told_shut,
            tool_targets: snapshot.tool_targets,
            steps: snapshot.steps,
            marks: snapshot.marks,
            follow_ups: snapshot.follow_ups,
            last_seen: snapshot.last_seen,
        }
    }
}
