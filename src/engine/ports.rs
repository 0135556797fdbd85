//! What the engine wants of a store, and nothing of how one does it: keyed records, written in groups, all of a group or
//! none of it. An adapter holds bytes; it must not know what they mean.

use std::collections::BTreeMap;

use crate::domain::signal::closed_words;
use crate::domain::time::Timestamp;

closed_words! {
    /// What a record holds.
    RecordKind {
        /// The circuits of one scope that are not closed.
        Circuits = "circuits",
        /// The overrides of one breaker.
        Holds = "holds",
        /// One session.
        Session = "session",
        /// One failed attempt of a step.
        Attempt = "attempt",
        /// What became of the trips of one breaker in one wording.
        Figures = "figures",
        /// What became of sessions.
        Sessions = "sessions",
    }
}

/// The name of a record: what it holds, and of which thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordKey {
    /// What it holds.
    pub kind: RecordKind,
    /// Of which breaker, session or attempt; 0 where there is only one.
    pub of: u64,
    /// Of which scope; 0 elsewhere.
    pub part: u64,
}

/// Bytes of one record that are taken back; a larger one was not written by this program.
pub const RECORD_BYTES_MAX: usize = 4 << 20;

/// How the scale of [`Timestamp`] stood to the wall clock when a group was written. The scale goes on from life to life,
/// so that no deadline of a record has to be translated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anchor {
    /// The moment, not before any that the records of the group name.
    pub at: Timestamp,
    /// The same as Unix time in milliseconds.
    pub unix_ms: u64,
}

impl Anchor {
    /// Where the scale stands when a life begins: as much later as the wall clock says, and never earlier.
    #[must_use]
    pub fn resumed(self, unix_ms: u64) -> Timestamp {
        self.at.plus_ms(unix_ms.saturating_sub(self.unix_ms))
    }
}

/// What a store answers when a life begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The number of this life: one more than that of the last, and durable already.
    pub incarnation: u64,
    /// That of the last group; none in a store that was never written.
    pub anchor: Option<Anchor>,
}

/// Changes that are written together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The moment of writing.
    pub anchor: Anchor,
    /// The latest content of each record; none takes it away.
    pub records: BTreeMap<RecordKey, Option<Vec<u8>>>,
}

/// What went wrong at a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// It cannot be written or read now; it may be later.
    Unavailable,
    /// What it holds is not what was written.
    Damaged,
    /// Another process has it.
    Held,
}

/// Why a store did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    /// What went wrong.
    pub kind: StoreErrorKind,
    /// In one line, with what would be right.
    pub message: String,
}

/// Called with each record of a store.
pub type EachRecord<'a> = &'a mut dyn FnMut(RecordKey, &[u8]);

/// Keeps records over a restart. Every call may wait for a disk: none is made on the way of a request.
pub trait Journal: Send {
    /// Begins a life: raises its number, and returns when that is durable.
    ///
    /// # Errors
    /// Where the number could not be made durable.
    fn begin(&mut self) -> Result<Begun, StoreError>;

    /// Hands out every record once, in the order of keys.
    ///
    /// # Errors
    /// Where a part cannot be read; what was handed out until then is as it was written.
    fn load(&mut self, each: EachRecord<'_>) -> Result<(), StoreError>;

    /// Writes a group. When it returns, all of it is durable; where it fails, all of it or nothing is.
    ///
    /// # Errors
    /// Where it could not be made durable. A later call with the same records is right, whatever became of this one.
    fn commit(&mut self, group: &Group) -> Result<(), StoreError>;
}
