//! What a session's calls brought, one numbered row a call, so that an answer can be held against it.
//!
//! A row is typed from the payload, never from the model's account of it, and holds keys and counts, never a value.
//! Trace and span ids are kept beside the rows as keyed hashes. The caller gives the typing; nothing is typed here, and
//! a call that is repeated silently is given once, with its last result.

pub mod identifiers;
mod render;

use std::collections::VecDeque;

use crate::domain::failure::FailureClass;
use crate::domain::ids::{Code, HashKey, SafeText};
use crate::domain::observation::{Observation, Typing};
use crate::domain::signal::CircuitKind;
use crate::domain::tool::Tool;
use identifiers::SeenIds;

/// Rows of a session; the oldest goes first. About 400 bytes each where every name is as long as it may be.
pub const ROWS_MAX: usize = 256;
/// The longest tool name in bytes.
pub const TOOL_BYTES_MAX: usize = 128;
/// The longest digest in bytes.
const DIGEST_BYTES_MAX: usize = 160;
/// Tasks of which is kept what their dropped rows held.
const LOST_TASKS_MAX: usize = 32;

/// A call that was made, with what came of it.
#[derive(Clone, Copy, Debug)]
pub struct ReportedCall<'a> {
    /// The tool as the model knows it.
    pub tool_name: &'a str,
    /// What is known of it.
    pub tool: &'a Tool,
    /// What its result is.
    pub typing: &'a Typing,
    /// The task, as the session numbers or hashes it.
    pub task: u64,
    /// The model step.
    pub turn: u32,
    /// The body, for the ids in it; none where it was not sent along.
    pub payload: Option<&'a [u8]>,
    /// The caller cut the payload, so that the model may hold ids that are not in it.
    pub is_cut_by_caller: bool,
}

/// One call of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EvidenceRow {
    /// Its number in the session, from 1.
    pub number: u32,
    /// The tool.
    pub tool: SafeText,
    /// Which store answered; none: nobody said.
    pub domain: Option<Code>,
    /// What its answers are good for; none: nobody said.
    pub role: Option<Code>,
    /// What the result is.
    pub observation: Observation,
    /// Keys and counts of the payload, never a value.
    pub digest: SafeText,
    /// The task.
    pub task: u64,
    /// The model step.
    pub turn: u32,
    /// Whether it may be cited: it holds a datum, and somebody said what its tool is good for.
    pub is_usable: bool,
    /// What it counted as against the target.
    pub kind: Option<CircuitKind>,
    /// What a retry may do.
    pub failure_class: Option<FailureClass>,
    /// The total that a cut answer states itself: this number may be cited.
    pub total_known: Option<u64>,
    /// Even the values that are there may be wrong.
    pub values_degraded: bool,
}

impl EvidenceRow {
    /// A tool in no row of the tools table: `unknown/context`.
    #[must_use]
    pub const fn is_of_unknown_tool(&self) -> bool {
        self.domain.is_none() && self.role.is_none()
    }

    /// Whether the question was put to the data and answered, be it with nothing.
    #[must_use]
    pub const fn is_measured(&self) -> bool {
        matches!(self.observation, Observation::Observed | Observation::Truncated | Observation::Empty)
    }

    /// Whether the query failed, so that absence was not measured.
    #[must_use]
    pub const fn is_failed(&self) -> bool {
        matches!(self.observation, Observation::Unavailable | Observation::Error)
    }
}

/// What rows of a task held that had to go: a rule that rests on absence must not take their loss for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Lost {
    /// How many.
    pub rows: u64,
    /// At least one was usable.
    pub was_usable: bool,
    /// At least one was usable and whole.
    pub was_whole: bool,
    /// At least one was observed, truncated or empty.
    pub was_measured: bool,
}

impl Lost {
    fn add(&mut self, row: &EvidenceRow) {
        self.rows += 1;
        self.was_usable |= row.is_usable;
        self.was_whole |= row.is_usable && row.observation == Observation::Observed;
        self.was_measured |= row.is_measured();
    }
}

/// The rows of one task.
#[derive(Clone, Debug, Default)]
pub struct TaskEvidence<'a> {
    /// Those that are kept, oldest first.
    pub rows: Vec<&'a EvidenceRow>,
    /// What the others held.
    pub lost: Lost,
}

/// The rows of one session, and the ids that its payloads held.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct EvidenceLedger {
    rows: VecDeque<EvidenceRow>,
    reported: u32,
    lost: VecDeque<(u64, Lost)>,
    ids: SeenIds,
}

impl EvidenceLedger {
    /// The same ledger after a restart: the key is not written down with it.
    #[must_use]
    pub(crate) fn keyed(self, key: HashKey) -> Self {
        Self { ids: self.ids.keyed(key), ..self }
    }

    /// An empty ledger whose ids are hashed with this key.
    #[must_use]
    pub const fn new(key: HashKey) -> Self {
        Self { rows: VecDeque::new(), reported: 0, lost: VecDeque::new(), ids: SeenIds::new(key) }
    }

    /// Adds a call and answers its number.
    pub fn record(&mut self, call: &ReportedCall<'_>) -> u32 {
        self.note_ids(call);
        if self.rows.len() >= ROWS_MAX
            && let Some(oldest) = self.rows.pop_front()
        {
            self.lose(&oldest);
        }
        self.reported = self.reported.saturating_add(1);
        self.rows.push_back(row(call, self.reported));
        self.reported
    }

    /// All rows that are kept, oldest first.
    #[must_use]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &EvidenceRow> + DoubleEndedIterator {
        self.rows.iter()
    }

    /// How many rows had to go.
    #[must_use]
    pub fn dropped(&self) -> u32 {
        self.reported.saturating_sub(u32::try_from(self.rows.len()).unwrap_or(u32::MAX))
    }

    /// The rows of a task, and what its dropped ones held.
    #[must_use]
    pub fn of_task(&self, task: u64) -> TaskEvidence<'_> {
        let lost = self.lost.iter().find(|(of, _)| *of == task).map(|(_, lost)| *lost);
        TaskEvidence { rows: self.rows.iter().filter(|row| row.task == task).collect(), lost: lost.unwrap_or_default() }
    }

    /// The ids that the session's payloads held.
    #[must_use]
    pub const fn ids(&self) -> &SeenIds {
        &self.ids
    }

    /// The ledger as it is read, all rows of the session.
    #[must_use]
    pub fn text(&self) -> String {
        render::ledger(self.rows.iter(), u64::from(self.dropped()))
    }

    fn note_ids(&mut self, call: &ReportedCall<'_>) {
        match call.payload {
            Some(payload) => self.ids.note(&String::from_utf8_lossy(payload)),
            // The model may have read what was not sent along; where nothing answered there was nothing to read.
            None if call.typing.observation != Observation::Unavailable => self.ids.miss_some(),
            None => {}
        }
        if call.is_cut_by_caller {
            self.ids.miss_some();
        }
    }

    fn lose(&mut self, row: &EvidenceRow) {
        if let Some((_, lost)) = self.lost.iter_mut().find(|(of, _)| *of == row.task) {
            return lost.add(row);
        }
        if self.lost.len() >= LOST_TASKS_MAX {
            self.lost.pop_front(); // so many later tasks have rows that had to go: nobody asks for it any more
        }
        let mut lost = Lost::default();
        lost.add(row);
        self.lost.push_back((row.task, lost));
    }
}

impl TaskEvidence<'_> {
    /// The ledger as it is read, the rows of this task.
    #[must_use]
    pub fn text(&self) -> String {
        render::ledger(self.rows.iter().copied(), self.lost.rows)
    }
}

fn row(call: &ReportedCall<'_>, number: u32) -> EvidenceRow {
    let (tool, typing) = (call.tool, call.typing);
    let is_known = tool.domain.is_some() || tool.role.is_some();
    EvidenceRow {
        number,
        tool: SafeText::cut(call.tool_name, TOOL_BYTES_MAX),
        domain: tool.domain.clone(),
        role: tool.role.clone(),
        observation: typing.observation,
        digest: SafeText::cut(&typing.digest, DIGEST_BYTES_MAX),
        task: call.task,
        turn: call.turn,
        is_usable: typing.observation.is_usable() && is_known && !tool.is_context(),
        kind: typing.kind,
        failure_class: typing.failure_class,
        total_known: typing.total_known,
        values_degraded: typing.values_degraded,
    }
}

#[cfg(test)]
pub(crate) mod tests;
