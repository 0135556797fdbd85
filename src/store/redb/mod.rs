//! A journal in one file, by redb: a group is a transaction, so that all of it is there after a crash or nothing is.
//!
//! A file that fails is closed and opened again at the next call: what it holds then decides, and not what was believed.

mod key;

use std::fmt::Display;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ::redb::{
    Builder, CommitError, Database, DatabaseError, ReadableDatabase as _, ReadableTable as _,
    ReadableTableMetadata as _, StorageBackend, StorageError, TableDefinition, TableError, TransactionError,
};

use self::key::{KEY_BYTES, key_of, read_key};
use super::{FORMAT_VERSION, error};
use crate::engine::ports::{Anchor, Begun, EachRecord, Group, Journal, StoreError, StoreErrorKind};

/// What there is one of: see the names below.
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
/// The records.
const RECORDS: TableDefinition<'_, &[u8; KEY_BYTES], &[u8]> = TableDefinition::new("records");

const FORMAT: &str = "format";
const INCARNATION: &str = "incarnation";
const ANCHOR_AT: &str = "anchor_at_ms";
const ANCHOR_UNIX: &str = "anchor_unix_ms";
const KEY_CHECK: &str = "key_check";

/// Pages that are kept in memory; the records themselves live in the engine.
const CACHE_BYTES: usize = 8 << 20;

/// Opens the database; called again after a failure.
type Opener = Box<dyn FnMut() -> Result<Database, DatabaseError> + Send>;

/// The journal.
pub struct RedbJournal {
    open: Opener,
    database: Option<Database>,
    /// A hash of the deployment's key: records of another are nothing to this one.
    key_check: u64,
}

impl std::fmt::Debug for RedbJournal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedbJournal").field("is_open", &self.database.is_some()).finish_non_exhaustive()
    }
}

/// How a file is opened: a page that was altered is found then, and not when it is first read.
fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES).set_check_integrity_on_open(true);
    builder
}

impl RedbJournal {
    /// The journal of a file, which is made where there is none. Nothing is read yet.
    #[must_use]
    pub fn at(path: &Path, key_check: u64) -> Self {
        let path = path.to_owned();
        Self { open: Box::new(move || builder().create(&path)), database: None, key_check }
    }

    /// The same over any bytes; `backend` is asked for each opening.
    #[must_use]
    pub fn over<B: StorageBackend>(mut backend: impl FnMut() -> B + Send + 'static, key_check: u64) -> Self {
        Self { open: Box::new(move || builder().create_with_backend(backend())), database: None, key_check }
    }

    /// Works on the database, opened where it is not. After a failure it is closed.
    fn with<R>(&mut self, work: impl FnOnce(&mut Database) -> Result<R, StoreError>) -> Result<R, StoreError> {
        let Self { open, database, .. } = self;
        // A page that was altered behind redb's back may make it panic: that is damage like any other.
        let worked = catch_unwind(AssertUnwindSafe(|| {
            let database = match database {
                Some(database) => database,
                None => database.insert(open()?),
            };
            work(database)
        }));
        let answer = worked.unwrap_or_else(|_| {
            let message = "the file holds what was not written: its reader gave up".to_owned();
            Err(error(StoreErrorKind::Damaged, message))
        });
        if answer.is_err() {
            let database = self.database.take();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(database))); // what fails now has failed before
        }
        answer
    }

    /// Looks at every page, and repairs what a crash left. True where nothing was to be repaired.
    ///
    /// # Errors
    /// Where the file is damaged or cannot be read.
    pub fn check(&mut self) -> Result<bool, StoreError> {
        self.with(|database| Ok(database.check_integrity()?))
    }

    /// Gives back the room that is not used. True where there was some.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn compact(&mut self) -> Result<bool, StoreError> {
        self.with(|database| database.compact().map_err(|why| unavailable(&why)))
    }

    /// How many records there are.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn len(&mut self) -> Result<u64, StoreError> {
        self.with(|database| match database.begin_read()?.open_table(RECORDS) {
            Ok(records) => Ok(records.len()?),
            Err(TableError::TableDoesNotExist(_)) => Ok(0),
            Err(why) => Err(why.into()),
        })
    }

    /// No record at all.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn is_empty(&mut self) -> Result<bool, StoreError> {
        Ok(self.len()? == 0)
    }

    /// The number of the last life and when it wrote last, without beginning another.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn last(&mut self) -> Result<Begun, StoreError> {
        self.with(|database| match database.begin_read()?.open_table(META) {
            Ok(meta) => begun(&meta),
            Err(TableError::TableDoesNotExist(_)) => Ok(Begun { incarnation: 0, anchor: None }),
            Err(why) => Err(why.into()),
        })
    }

    /// Makes a life's number at least this, for an import.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn raise(&mut self, incarnation: u64) -> Result<(), StoreError> {
        let key_check = self.key_check;
        self.with(|database| write_meta(database, key_check, |last| last.max(incarnation)).map(|_| ()))
    }
}

fn begun(meta: &impl ::redb::ReadableTable<&'static str, u64>) -> Result<Begun, StoreError> {
    let of = |name| Ok::<_, StoreError>(meta.get(name)?.map(|value| value.value()));
    let anchor = of(ANCHOR_AT)?
        .zip(of(ANCHOR_UNIX)?)
        .map(|(at, unix_ms)| Anchor { at: crate::domain::time::Timestamp(at), unix_ms });
    Ok(Begun { incarnation: of(INCARNATION)?.unwrap_or(0), anchor })
}

/// Checks that the file is one of ours, and gives it the number of a life.
fn write_meta(database: &Database, key_check: u64, next: impl FnOnce(u64) -> u64) -> Result<Begun, StoreError> {
    let writing = database.begin_write()?;
    let begun = {
        let mut meta = writing.open_table(META)?;
        writing.open_table(RECORDS)?;
        let format = meta.get(FORMAT)?.map_or(FORMAT_VERSION, |format| format.value());
        if format != FORMAT_VERSION {
            let message =
                format!("the file has format {format}, and this program reads {FORMAT_VERSION}: use one that reads it");
            return Err(error(StoreErrorKind::Damaged, message));
        }
        if meta.get(KEY_CHECK)?.is_some_and(|known| known.value() != key_check) {
            let message = "the file was written under another key: put the `key` back that belongs to it".to_owned();
            return Err(error(StoreErrorKind::Damaged, message));
        }
        let last = begun(&meta)?;
        let incarnation = next(last.incarnation);
        for (name, value) in [(FORMAT, format), (KEY_CHECK, key_check), (INCARNATION, incarnation)] {
            meta.insert(name, value)?;
        }
        Begun { incarnation, ..last }
    };
    writing.commit()?;
    Ok(begun)
}

impl Journal for RedbJournal {
    fn begin(&mut self) -> Result<Begun, StoreError> {
        let key_check = self.key_check;
        self.with(|database| write_meta(database, key_check, |last| last.saturating_add(1)))
    }

    fn load(&mut self, each: EachRecord<'_>) -> Result<(), StoreError> {
        self.with(|database| {
            let reading = database.begin_read()?;
            let records = match reading.open_table(RECORDS) {
                Err(TableError::TableDoesNotExist(_)) => return Ok(()),
                records => records?,
            };
            for record in records.iter()? {
                let (key, value) = record?;
                let unknown =
                    || error(StoreErrorKind::Damaged, "the file has a record of no kind that is known here".into());
                each(read_key(key.value()).ok_or_else(unknown)?, value.value());
            }
            Ok(())
        })
    }

    fn commit(&mut self, group: &Group) -> Result<(), StoreError> {
        self.with(|database| {
            let writing = database.begin_write()?;
            {
                let mut meta = writing.open_table(META)?;
                meta.insert(ANCHOR_AT, group.anchor.at.0)?;
                meta.insert(ANCHOR_UNIX, group.anchor.unix_ms)?;
                let mut records = writing.open_table(RECORDS)?;
                for (key, value) in &group.records {
                    match value {
                        Some(value) => _ = records.insert(&key_of(*key), value.as_slice())?,
                        None => _ = records.remove(&key_of(*key))?,
                    }
                }
            }
            Ok(writing.commit()?)
        })
    }
}

fn unavailable(why: &impl Display) -> StoreError {
    error(StoreErrorKind::Unavailable, format!("the file cannot be used now: {why}"))
}

fn damaged(why: &impl Display) -> StoreError {
    error(StoreErrorKind::Damaged, format!("the file is damaged: {why}"))
}

impl From<StorageError> for StoreError {
    fn from(why: StorageError) -> Self {
        // A file that ends too early, or is none of redb's.
        let is_cut = |io: &std::io::Error| matches!(io.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData);
        let is_damaged =
            if let StorageError::Io(io) = &why { is_cut(io) } else { matches!(why, StorageError::Corrupted(_)) };
        if is_damaged { damaged(&why) } else { unavailable(&why) }
    }
}

impl From<DatabaseError> for StoreError {
    fn from(why: DatabaseError) -> Self {
        if let DatabaseError::Storage(why) = why {
            return why.into();
        }
        if matches!(why, DatabaseError::DatabaseAlreadyOpen) {
            return error(StoreErrorKind::Held, "another process has the file".into());
        }
        damaged(&why)
    }
}

impl From<TransactionError> for StoreError {
    fn from(why: TransactionError) -> Self {
        if let TransactionError::Storage(why) = why { why.into() } else { unavailable(&why) }
    }
}

impl From<TableError> for StoreError {
    fn from(why: TableError) -> Self {
        if let TableError::Storage(why) = why { why.into() } else { damaged(&why) }
    }
}

impl From<CommitError> for StoreError {
    fn from(why: CommitError) -> Self {
        if let CommitError::Storage(why) = why { why.into() } else { unavailable(&why) }
    }
}
