//! Writes whose reply was lost: they may have happened, and are not to happen twice.

use std::collections::BTreeMap;

use super::call::{Ask, Report};
use crate::domain::contract::NAME_BYTES_MAX;
use crate::domain::contract::session::SessionFigures;
use crate::domain::ids::SafeText;
use crate::domain::observation::Observation;
use crate::domain::observation::transport::{ErrorKind, TransportFacts};
use crate::domain::time::Timestamp;
use crate::domain::tool::Effect;

/// Unverified writes of a session; at the bound the oldest goes, and is counted.
pub const UNVERIFIED_MAX: usize = 64;

/// A write that may have happened.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Unverified {
    /// The key that it carried, hashed; 0 for none.
    key: u64,
    after_ms: u64,
    since: Timestamp,
    read_tool: Option<(u64, SafeText)>,
}

/// A refusal of a write, and who can tell whether it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ambiguity {
    /// The figures.
    pub figures: SessionFigures,
    /// The tool that tells; none: a person must.
    pub read_tool: Option<SafeText>,
}

impl Unverified {
    fn ambiguity(&self) -> Ambiguity {
        let figures = SessionFigures::AmbiguousEffect { after_ms: self.after_ms };
        Ambiguity { figures, read_tool: self.read_tool.as_ref().map(|(_, name)| name.clone()) }
    }
}

/// The unverified writes of a session. A new task does not verify them.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct EffectGuard {
    /// By tool and canonical arguments, hashed.
    #[serde(with = "crate::domain::written::pairs")]
    writes: BTreeMap<(u64, u64), Unverified>,
    dropped: u32,
}

impl EffectGuard {
    /// Why a write may not be made; none where it may: it is verified, or carries the key of the lost one.
    #[must_use]
    pub fn judge(&self, ask: &Ask<'_>) -> Option<Ambiguity> {
        let write = self.writes.get(&(ask.tool.id, ask.arguments))?;
        let is_same = write.key != 0 && write.key == ask.idempotency_key;
        (!is_same).then(|| write.ambiguity())
    }

    /// Notes what a report says of writes; answers where this one may have happened.
    pub fn observe(&mut self, report: &Report<'_>) -> Option<Ambiguity> {
        if matches!(report.observation, Observation::Observed | Observation::Truncated | Observation::Empty) {
            let (tool, sent) = (report.tool.id, report.sent_at);
            let is_read_back = |write: &Unverified| {
                write.read_tool.as_ref().is_some_and(|(read, _)| *read == tool) && sent >= write.since
            };
            self.writes.retain(|_, write| !is_read_back(write));
        }
        if report.effect != Effect::Mutate {
            return None;
        }
        let write = (report.tool.id, report.arguments);
        if report.is_success {
            self.writes.remove(&write); // the reply came after all, under the same key
        }
        if !report.is_reply_lost {
            return None;
        }
        self.make_room(write);
        let unverified = Unverified {
            key: report.idempotency_key,
            after_ms: report.now.since_ms(report.sent_at),
            since: report.now,
            read_tool: report.read_tool.map(|tool| (tool.id, SafeText::cut(tool.name, NAME_BYTES_MAX))),
        };
        let ambiguity = unverified.ambiguity();
        self.writes.insert(write, unverified);
        (report.idempotency_key == 0).then_some(ambiguity)
    }

    /// The caller or an operator knows what became of a write. True where it was unverified.
    pub fn release(&mut self, tool: u64, arguments: u64) -> bool {
        self.writes.remove(&(tool, arguments)).is_some()
    }

    /// The caller or an operator knows what became of every write of a tool. How many there were.
    pub fn release_tool(&mut self, tool: u64) -> usize {
        let before = self.writes.len();
        self.writes.retain(|(write, _), _| *write != tool);
        before - self.writes.len()
    }

    /// Writes that are unverified, at most [`UNVERIFIED_MAX`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Whether every write is verified.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Unverified writes that were forgotten for want of room.
    #[must_use]
    pub const fn dropped(&self) -> u32 {
        self.dropped
    }

    fn make_room(&mut self, write: (u64, u64)) {
        if self.writes.len() >= UNVERIFIED_MAX && !self.writes.contains_key(&write) {
            let oldest = self.writes.iter().min_by_key(|(_, write)| write.since).map(|(key, _)| *key);
            oldest.and_then(|key| self.writes.remove(&key));
            self.dropped = self.dropped.saturating_add(1);
        }
    }
}

/// Whether a call was sent and its reply lost. A refused connection, a name that did not resolve, a channel that was
/// not made: nothing was sent.
#[must_use]
pub fn is_reply_lost(facts: &TransportFacts) -> bool {
    match facts.error_kind {
        Some(ErrorKind::Reset | ErrorKind::Timeout) => true,
        Some(
            ErrorKind::ConnectRefused
            | ErrorKind::Dns
            | ErrorKind::Tls
            | ErrorKind::RefusedByHost
            | ErrorKind::NotSent
            | ErrorKind::CancelledByCaller // who gave it up knows
            | ErrorKind::MalformedBody, // the reply is there, if unreadable
        ) => false,
        // DEADLINE_EXCEEDED; a gateway that waited for the answer in vain (408 is the server's wait for the request).
        None => facts.grpc_code == Some(4) || facts.http_status == Some(504),
    }
}
