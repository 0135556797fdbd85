//! Rows about the store: whether what is kept over a restart is written, and what that takes.

use super::{Label, Metric, Unit, words};
use crate::domain::signal::closed_words;

closed_words! {
    /// What a write came to.
    CommitWord {
        /// It is durable.
        Ok = "ok",
        /// It is not: the next one writes the same and more.
        Failed = "failed",
    }
}

/// Whether it is written.
pub const STORE_UP: Metric = Metric::gauge(
    "tripnote_store_up",
    Unit::Truth,
    &[],
    "Whether what is to outlive a restart is written; 0: it is in memory only. Always 1 where no store was asked for",
);
/// Writes.
pub const STORE_COMMITS: Metric = Metric::counter(
    "tripnote_store_commits_total",
    &[Label::words("result", || words!(CommitWord))],
    "Times that all changes so far were written to the store",
);
/// Their length.
pub const STORE_COMMIT_SECONDS: Metric = Metric::histogram(
    "tripnote_store_commit_seconds",
    (Unit::Second, &[0.001, 0.005, 0.025, 0.1, 0.5, 2.5]),
    &[],
    "How long such a write took; no call waits for it, except under `durability = \"strict\"`",
);
/// Records.
pub const STORE_RECORDS: Metric =
    Metric::counter("tripnote_store_records_written_total", &[], "Records that were written or taken away");
/// Bytes.
pub const STORE_BYTES: Metric = Metric {
    unit: Unit::Byte,
    ..Metric::counter("tripnote_store_written_bytes_total", &[], "Bytes of the records that were written")
};
/// What waits.
pub const STORE_UNWRITTEN: Metric = Metric::gauge(
    "tripnote_store_unwritten",
    Unit::Count,
    &[],
    "Circuits, sessions, attempts and figures that changed and are not written yet",
);
/// Decisions.
pub const DEGRADED_DECISIONS: Metric = Metric::counter(
    "tripnote_degraded_decisions_total",
    &[],
    "Calls that were let through or refused while the store was down: a restart may forget what they led to",
);
