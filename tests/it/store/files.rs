//! Files that are torn, cut or altered: read as they were written or refused, and never the end of the process.

use tripnote::engine::ports::{Journal, StoreErrorKind};

use super::faulty::{Disk, group, loaded};

/// A store as a stopped process leaves it.
fn written() -> (Vec<u8>, Vec<(u64, Vec<u8>)>) {
    let disk = Disk::default();
    let mut journal = disk.journal();
    journal.begin().unwrap();
    for at in 0..8 {
        journal.commit(&group(at, (0..20).map(|n| (at * 100 + n, vec![at as u8; 150])))).unwrap();
    }
    let all = loaded(&mut journal);
    drop(journal);
    (disk.bytes(), all)
}

/// Opens bytes as a process that starts does. Altered ones are refused, or hold what one of the commits wrote.
fn opened(bytes: Vec<u8>) -> Option<Vec<(u64, Vec<u8>)>> {
    let mut journal = Disk::of(bytes).journal();
    let mut found = Vec::new();
    let read = journal.begin().and_then(|_| journal.load(&mut |key, value| found.push((key.of, value.to_vec()))));
    match read {
        Ok(()) => Some(found),
        Err(error) => {
            assert_eq!(error.kind, StoreErrorKind::Damaged, "{error}");
            None
        }
    }
}

/// The page in which the last byte lies that was written.
fn last_page(bytes: &[u8]) -> std::ops::Range<usize> {
    let last = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    let from = last / 4_096 * 4_096;
    from..from + 4_096
}

#[test]
fn a_file_that_ends_anywhere_in_its_last_page_is_whole_or_damaged() {
    let (bytes, all) = written();
    for len in last_page(&bytes) {
        let found = opened(bytes[..len].to_vec());
        assert!(found.as_ref().is_none_or(|found| *found == all), "cut at {len}");
    }
}

#[test]
fn a_byte_altered_anywhere_in_the_last_page_or_the_first_is_found_or_of_no_account() {
    let (bytes, all) = written();
    let whole: std::collections::BTreeMap<_, _> = all.iter().cloned().collect();
    for at in (0..4_096).chain(last_page(&bytes)) {
        let mut altered = bytes.clone();
        altered[at] ^= 0x5a;
        // Where the newer of two headers is gone, the older one counts: all that it knows is as it was written.
        let found = opened(altered);
        let is_sound = |found: &Vec<(u64, Vec<u8>)>| found.iter().all(|(of, value)| whole.get(of) == Some(value));
        assert!(found.as_ref().is_none_or(is_sound), "byte {at}");
    }
}

#[test]
fn a_file_of_something_else_is_damaged() {
    for bytes in [b"not a store".to_vec(), vec![0xff; 10_000], vec![0; 100]] {
        assert_eq!(opened(bytes), None);
    }
    assert_eq!(opened(Vec::new()), Some(Vec::new()), "an empty file is a new store");
}

#[test]
fn a_store_of_another_key_is_not_read() {
    let disk = Disk::default();
    disk.journal().begin().unwrap();
    let other = disk.clone();
    let mut journal = tripnote::store::redb::RedbJournal::over(move || other.clone(), 2);
    let error = journal.begin().unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Damaged);
    assert!(error.message.contains("another key"), "{error}");
}

#[test]
fn a_million_transitions_leave_a_file_of_bounded_size() {
    let disk = Disk::default();
    let mut journal = disk.journal();
    journal.begin().unwrap();
    let mut largest = [0; 2];
    // 1,000 circuits that open and close in turn, 1,000 transitions a group.
    for round in 0..1_000_u64 {
        let mut changes = group(round, (0..1_000).map(|of| (of, vec![7; 250])));
        if round % 2 == 1 {
            changes.records.values_mut().for_each(|value| *value = None);
        }
        journal.commit(&changes).unwrap();
        let half = usize::from(round >= 500);
        largest[half] = largest[half].max(disk.bytes().len());
    }
    assert!(largest[1] <= largest[0] && largest[0] < 8 << 20, "{largest:?}");
}
