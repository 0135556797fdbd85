//! What the store came to, told by whoever writes it.

use super::handles::{Counter, Gauge, Handles, Histogram};
use super::{Recorder, count_word};
use crate::telemetry::catalogue as row;
use crate::telemetry::catalogue::CommitWord;

/// The handles.
pub(super) struct OfStore {
    up: Gauge,
    commits: Vec<Counter>,
    seconds: Histogram,
    records: Counter,
    bytes: Counter,
    unwritten: Gauge,
    degraded: Counter,
}

impl OfStore {
    pub(super) fn new(handles: &Handles) -> Self {
        let of = Self {
            up: handles.gauge(&row::STORE_UP, &[]),
            commits: CommitWord::ALL.iter().map(|word| handles.counter(&row::STORE_COMMITS, &[word.word()])).collect(),
            seconds: handles.histogram(&row::STORE_COMMIT_SECONDS, &[]),
            records: handles.counter(&row::STORE_RECORDS, &[]),
            bytes: handles.counter(&row::STORE_BYTES, &[]),
            unwritten: handles.gauge(&row::STORE_UNWRITTEN, &[]),
            degraded: handles.counter(&row::DEGRADED_DECISIONS, &[]),
        };
        of.up.set(1.0);
        of
    }
}

impl Recorder {
    /// Counts a write of the store; none where it failed.
    pub fn committed(&self, written: Option<(usize, usize)>, seconds: f64) {
        let of = &self.store;
        let word = if written.is_some() { CommitWord::Ok } else { CommitWord::Failed };
        count_word(&of.commits, word as usize, CommitWord::ALL.len());
        of.seconds.record(seconds);
        let (records, bytes) = written.unwrap_or_default();
        of.records.increment(records as u64);
        of.bytes.increment(bytes as u64);
    }

    /// Shows how the store stands, and how many decisions were taken while it was down.
    pub fn store_stands(&self, is_up: bool, unwritten: usize, degraded_decisions: u64) {
        self.store.up.set(f64::from(u8::from(is_up)));
        self.store.unwritten.set(unwritten as f64);
        self.store.degraded.absolute(degraded_decisions);
    }

    /// Takes over circuits that a restart put back: they are open, and did not open now.
    pub fn restored(&self, circuits: &[(crate::domain::ids::Code, crate::domain::time::Timestamp)]) {
        let known = self.known.read();
        for (breaker, opened_at) in circuits {
            if let Some(circuits) = &known.breaker(breaker).circuits {
                circuits.restored(*opened_at);
            }
        }
    }
}
