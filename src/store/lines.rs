//! A store as lines of JSON: one for what there is one of, then one a record. For operators who move or read it; holds
//! neither the key nor anything that a client sent but the names that are kept anyway.

use std::io::{self, BufRead, Write};

use serde_json::value::RawValue;

use super::error;
use super::redb::RedbJournal;
use crate::domain::time::Timestamp;
use crate::engine::keep::FORM_VERSION;
use crate::engine::ports::{
    Anchor, Begun, Group, Journal as _, RECORD_BYTES_MAX, RecordKey, RecordKind, StoreError, StoreErrorKind,
};

/// Bytes of one line: those of a record and its name.
const LINE_BYTES_MAX: u64 = RECORD_BYTES_MAX as u64 + 1_024;
/// Records that are written at once.
const GROUP_RECORDS: usize = 1_000;

/// One line.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Line {
    /// The first: how many lives there were, and when the last one wrote last.
    Store {
        /// [`super::FORMAT_VERSION`].
        format: u64,
        /// The number of the last life.
        incarnation: u64,
        /// The scale of time, and the Unix time in milliseconds at that moment.
        at_ms: u64,
        /// As above.
        unix_ms: u64,
    },
    /// One record.
    Record {
        /// What it holds.
        kind: RecordKind,
        /// Of which thing.
        of: u64,
        /// Of which part.
        part: u64,
        /// The version of its form.
        version: u8,
        /// The content.
        value: Box<RawValue>,
    },
}

/// Why an import ended.
#[derive(Debug, thiserror::Error)]
pub enum InvalidLine {
    /// The text cannot be read.
    #[error("the lines cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// A line is none of ours.
    #[error("line {line} is none of an export: {why}")]
    Odd {
        /// Its number, from 1.
        line: usize,
        /// What would be right.
        why: String,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Writes a store as lines. Answers how many records there are.
///
/// # Errors
/// Where the store cannot be read or the lines cannot be written.
pub fn export(journal: &mut RedbJournal, out: &mut impl Write) -> Result<usize, StoreError> {
    let Begun { incarnation, anchor } = journal.last()?;
    let Anchor { at, unix_ms } = anchor.unwrap_or_default();
    let first = Line::Store { format: super::FORMAT_VERSION, incarnation, at_ms: at.0, unix_ms };
    let (mut records, mut failed) = (0, write_line(&first, out).err());
    journal.load(&mut |key, bytes| {
        if failed.is_none() {
            records += 1;
            failed = line_of(key, bytes).and_then(|line| write_line(&line, out)).err();
        }
    })?;
    match failed {
        None => Ok(records),
        Some(why) => Err(error(StoreErrorKind::Unavailable, format!("the lines cannot be written: {why}"))),
    }
}

fn line_of(key: RecordKey, bytes: &[u8]) -> io::Result<Line> {
    let odd = || io::Error::from(io::ErrorKind::InvalidData);
    let (version, text) = bytes.split_first().ok_or_else(odd)?;
    let value = serde_json::from_slice(text)?;
    Ok(Line::Record { kind: key.kind, of: key.of, part: key.part, version: *version, value })
}

fn write_line(line: &Line, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// Reads lines into an empty store, and begins no life. Answers how many records there are.
///
/// # Errors
/// Where a line is none of an export, or the store has records or cannot be written.
pub fn import(journal: &mut RedbJournal, lines: &mut impl BufRead) -> Result<usize, InvalidLine> {
    if !journal.is_empty()? {
        let message = "the store has records: import into an empty `data_dir`".to_owned();
        return Err(error(StoreErrorKind::Unavailable, message).into());
    }
    let odd = |line, why: &str| InvalidLine::Odd { line, why: why.to_owned() };
    let (mut group, mut records, mut is_begun) = (Group::default(), 0, false);
    for number in 1.. {
        let mut text = String::new();
        if io::Read::take(&mut *lines, LINE_BYTES_MAX).read_line(&mut text)? == 0 {
            break;
        }
        let line =
            serde_json::from_str(&text).map_err(|why| InvalidLine::Odd { line: number, why: why.to_string() })?;
        match line {
            Line::Store { format: super::FORMAT_VERSION, incarnation, at_ms, unix_ms } if number == 1 => {
                group.anchor = Anchor { at: Timestamp(at_ms), unix_ms };
                journal.raise(incarnation)?;
                is_begun = true;
            }
            Line::Store { .. } => {
                return Err(odd(number, "the first line, and no other, is `store` with a format that is known"));
            }
            Line::Record { .. } if !is_begun => return Err(odd(number, "the first line is `store`")),
            Line::Record { version, .. } if version != FORM_VERSION => {
                return Err(odd(number, "its version is not known"));
            }
            Line::Record { kind, of, part, version, value } => {
                let bytes = [&[version], value.get().as_bytes()].concat();
                group.records.insert(RecordKey { kind, of, part }, Some(bytes));
                records += 1;
            }
        }
        if group.records.len() >= GROUP_RECORDS {
            journal.commit(&group)?;
            group.records.clear();
        }
    }
    journal.commit(&group)?;
    Ok(records)
}
