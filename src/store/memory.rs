//! A journal that lives as long as the process: what the port promises, with nothing behind it. For tests, and where others
//! are held against it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::ports::{Anchor, Begun, EachRecord, Group, Journal, RecordKey, StoreError};
use crate::engine::sync::Mutex;

/// What is kept, by whoever opens it: it outlives each of its journals.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    // Guards all; taken by one journal at a time, with no other lock.
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    incarnation: u64,
    anchor: Option<Anchor>,
    records: BTreeMap<RecordKey, Vec<u8>>,
}

impl Memory {
    /// A journal over it.
    #[must_use]
    pub fn journal(&self) -> MemoryJournal {
        MemoryJournal(self.clone())
    }
}

/// One journal.
#[derive(Debug)]
pub struct MemoryJournal(Memory);

impl Journal for MemoryJournal {
    fn begin(&mut self) -> Result<Begun, StoreError> {
        let mut kept = self.0.kept.lock();
        kept.incarnation = kept.incarnation.saturating_add(1);
        Ok(Begun { incarnation: kept.incarnation, anchor: kept.anchor })
    }

    fn load(&mut self, each: EachRecord<'_>) -> Result<(), StoreError> {
        self.0.kept.lock().records.iter().for_each(|(key, value)| each(*key, value));
        Ok(())
    }

    fn commit(&mut self, group: &Group) -> Result<(), StoreError> {
        let mut kept = self.0.kept.lock();
        kept.anchor = Some(group.anchor);
        for (key, value) in &group.records {
            match value {
                Some(value) => _ = kept.records.insert(*key, value.clone()),
                None => _ = kept.records.remove(key),
            }
        }
        Ok(())
    }
}
