//! A disk that fails, tears and blocks on command, behind redb's own trait.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};
use redb::StorageBackend;
use tripnote::domain::time::Timestamp;
use tripnote::engine::ports::{Anchor, Group, Journal, RecordKey, RecordKind, StoreErrorKind};
use tripnote::store::redb::RedbJournal;

/// What is on the disk, whoever opens it.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk(Arc<State>);

#[derive(Debug, Default)]
struct State {
    bytes: Mutex<Bytes>,
    fails: AtomicBool,
    blocks: Mutex<bool>,
    freed: Condvar,
    waiting: AtomicUsize,
}

#[derive(Clone, Debug, Default)]
struct Bytes {
    /// As a reader sees them.
    live: Vec<u8>,
    /// All that was done to them, where it is recorded.
    history: Option<Vec<Write>>,
}

#[derive(Clone, Debug)]
enum Write {
    At(usize, Vec<u8>),
    Len(usize),
    /// All before is on the disk.
    Sync,
}

impl Write {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Sync => {}
            Self::Len(len) => to.resize(*len, 0),
            Self::At(offset, data) => {
                to.resize(to.len().max(offset + data.len()), 0);
                to[*offset..offset + data.len()].copy_from_slice(data);
            }
        }
    }
}

impl Disk {
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let disk = Self::default();
        disk.0.bytes.lock().live = bytes;
        disk
    }

    /// An empty disk that remembers all that is done to it.
    fn recording() -> Self {
        let disk = Self::default();
        disk.0.bytes.lock().history = Some(Vec::new());
        disk
    }

    /// How much was done to it.
    fn steps(&self) -> usize {
        self.0.bytes.lock().history.as_ref().map_or(0, Vec::len)
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.bytes.lock().live.clone()
    }

    pub(super) fn journal(&self) -> RedbJournal {
        let disk = self.clone();
        RedbJournal::over(move || disk.clone(), 1)
    }

    pub(super) fn set_failing(&self, fails: bool) {
        self.0.fails.store(fails, Ordering::SeqCst);
    }

    pub(super) fn set_blocking(&self, blocks: bool) {
        *self.0.blocks.lock() = blocks;
        self.0.freed.notify_all();
    }

    /// Calls that wait for the disk.
    pub(super) fn waiting(&self) -> usize {
        self.0.waiting.load(Ordering::SeqCst)
    }

    /// What a power cut after so many steps leaves: all before the last sync, and of the rest what `lands` picks, the last
    /// of it torn in half.
    fn cut(&self, steps: usize, lands: &mut dyn FnMut() -> bool) -> Self {
        let history = self.0.bytes.lock().history.clone().unwrap();
        let synced = history[..steps].iter().rposition(|write| matches!(write, Write::Sync)).unwrap_or(0);
        let mut bytes = Vec::new();
        history[..synced].iter().for_each(|write| write.apply(&mut bytes));
        let landed: Vec<&Write> = history[synced..steps].iter().filter(|_| lands()).collect();
        for (at, write) in landed.iter().enumerate() {
            match write {
                Write::At(offset, data) if at + 1 == landed.len() => {
                    Write::At(*offset, data[..data.len() / 2].to_vec()).apply(&mut bytes);
                }
                whole => whole.apply(&mut bytes),
            }
        }
        Self::of(bytes)
    }

    fn pass(&self) -> io::Result<()> {
        let mut blocks = self.0.blocks.lock();
        self.0.waiting.fetch_add(1, Ordering::SeqCst);
        while *blocks {
            self.0.freed.wait(&mut blocks);
        }
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
        if self.0.fails.load(Ordering::SeqCst) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.bytes.lock().live.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).unwrap();
        let bytes = self.0.bytes.lock();
        let read = bytes.live.get(offset..offset + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(read);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.pass()?;
        self.write_down(Write::Len(usize::try_from(len).unwrap()));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.pass()?;
        self.write_down(Write::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.pass()?;
        self.write_down(Write::At(usize::try_from(offset).unwrap(), data.to_vec()));
        Ok(())
    }
}

impl Disk {
    fn write_down(&self, write: Write) {
        let mut bytes = self.0.bytes.lock();
        write.apply(&mut bytes.live);
        if let Some(history) = &mut bytes.history {
            history.push(write);
        }
    }
}

pub(super) fn group(at: u64, records: impl IntoIterator<Item = (u64, Vec<u8>)>) -> Group {
    let key = |of| RecordKey { kind: RecordKind::Session, of, part: 0 };
    let records = records.into_iter().map(|(of, value)| (key(of), Some(value))).collect();
    Group { anchor: Anchor { at: Timestamp(at), unix_ms: at }, records }
}

pub(super) fn loaded(journal: &mut RedbJournal) -> Vec<(u64, Vec<u8>)> {
    let mut found = Vec::new();
    journal.load(&mut |key, value| found.push((key.of, value.to_vec()))).unwrap();
    found
}

/// Numbers that are the same for the same seed.
pub(super) fn dice(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below.max(1)
    }
}

#[test]
fn after_a_power_cut_every_group_that_was_committed_is_there_and_of_the_next_all_or_nothing() {
    let disk = Disk::recording();
    let mut journal = disk.journal();
    // How much had been done when each commit was told to be durable; the first is the beginning of the life.
    let mut done = vec![];
    assert_eq!(journal.begin().unwrap().incarnation, 1);
    done.push(disk.steps());
    for at in 1..=4_u64 {
        let value = |of: u64| (of, at.to_le_bytes().repeat(25));
        journal.commit(&group(at, [value(at), value(1_000), value(2_000)])).unwrap();
        done.push(disk.steps());
    }
    for steps in done[0]..=disk.steps() {
        for seed in 1..=6_u64 {
            let mut roll = dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ steps as u64);
            let mut journal = disk.cut(steps, &mut || roll(2) == 0).journal();
            let begun = journal.begin().unwrap_or_else(|error| panic!("step {steps} seed {seed}: {error}"));
            assert_eq!(begun.incarnation, 2, "step {steps} seed {seed}");
            let committed = done.iter().filter(|at| **at <= steps).count() as u64 - 1;
            let found = loaded(&mut journal);
            let newest = |of: u64| {
                let value = found.iter().find(|(own, _)| *own == of).map(|(_, value)| value[0]);
                u64::from(value.unwrap_or(0))
            };
            let last = newest(1_000);
            assert!(last == committed || last == committed + 1, "step {steps} seed {seed}: {last} of {committed}");
            assert_eq!(newest(2_000), last, "step {steps} seed {seed}: half of a group");
            let singles: Vec<u64> = found.iter().map(|(of, _)| *of).filter(|of| *of < 1_000).collect();
            assert_eq!(singles, (1..=last).collect::<Vec<_>>(), "step {steps} seed {seed}");
        }
    }
}

#[test]
fn a_full_disk_is_an_error_and_when_there_is_room_again_the_same_group_is_written() {
    let disk = Disk::default();
    let mut journal = disk.journal();
    journal.begin().unwrap();
    journal.commit(&group(1, [(1, b"one".to_vec())])).unwrap();
    disk.set_failing(true);
    for _ in 0..3 {
        let error = journal.commit(&group(2, [(2, b"two".to_vec())])).unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::Unavailable, "{error}");
    }
    disk.set_failing(false);
    journal.commit(&group(2, [(2, b"two".to_vec())])).unwrap();
    assert_eq!(loaded(&mut disk.journal()), [(1, b"one".to_vec()), (2, b"two".to_vec())]);
}
