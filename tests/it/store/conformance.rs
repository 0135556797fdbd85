//! What the port promises, for every adapter: the suite is generic over how one is opened again, so that a shared store can
//! join it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tripnote::domain::time::Timestamp;
use tripnote::engine::ports::{Anchor, Group, Journal, RecordKey, RecordKind};
use tripnote::store::memory::Memory;
use tripnote::store::redb::RedbJournal;

/// Opens what one adapter keeps, as a process that starts does.
type Open<'a> = &'a dyn Fn() -> Box<dyn Journal>;
/// The same, by whoever makes one for each promise.
type Opener = Box<dyn Fn() -> Box<dyn Journal>>;
/// A promise and its name.
type Promise = (&'static str, fn(Open<'_>));

fn key(kind: RecordKind, of: u64, part: u64) -> RecordKey {
    RecordKey { kind, of, part }
}

fn group(at: u64, records: &[(RecordKey, Option<&[u8]>)]) -> Group {
    let anchor = Anchor { at: Timestamp(at), unix_ms: 1_000_000 + at };
    Group { anchor, records: records.iter().map(|(key, value)| (*key, value.map(<[u8]>::to_vec))).collect() }
}

fn all(journal: &mut dyn Journal) -> BTreeMap<RecordKey, Vec<u8>> {
    let (mut found, mut order) = (BTreeMap::new(), Vec::new());
    journal
        .load(&mut |key, value| {
            order.push(key);
            assert!(found.insert(key, value.to_vec()).is_none(), "{key:?} twice");
        })
        .unwrap();
    assert!(order.is_sorted(), "in the order of keys");
    found
}

fn lives_are_numbered_from_one_and_a_number_never_comes_again(open: Open<'_>) {
    for life in 1..=3 {
        let mut journal = open();
        assert_eq!(journal.begin().unwrap().incarnation, life);
    }
    let mut journal = open();
    assert_eq!([journal.begin().unwrap().incarnation, journal.begin().unwrap().incarnation], [4, 5]);
}

fn a_new_store_holds_nothing(open: Open<'_>) {
    let mut journal = open();
    assert_eq!(journal.begin().unwrap().anchor, None);
    assert_eq!(all(&mut *journal), BTreeMap::new());
}

fn what_a_group_wrote_is_there_after_a_restart_and_nothing_else(open: Open<'_>) {
    let [a, b] = [key(RecordKind::Circuits, 1, 2), key(RecordKind::Session, u64::MAX, 0)];
    let mut journal = open();
    journal.begin().unwrap();
    journal.commit(&group(5, &[(a, Some(b"first")), (b, Some(b""))])).unwrap();
    journal.commit(&group(9, &[(a, Some(b"second"))])).unwrap();
    drop(journal);
    let mut journal = open();
    assert_eq!(journal.begin().unwrap().anchor, Some(Anchor { at: Timestamp(9), unix_ms: 1_000_009 }));
    assert_eq!(all(&mut *journal), BTreeMap::from([(a, b"second".to_vec()), (b, Vec::new())]));
}

fn a_record_that_is_taken_away_is_gone_and_may_be_taken_away_twice(open: Open<'_>) {
    let [a, b] = [key(RecordKind::Holds, 7, 0), key(RecordKind::Holds, 8, 0)];
    let mut journal = open();
    journal.begin().unwrap();
    journal.commit(&group(1, &[(a, Some(b"x")), (b, Some(b"y"))])).unwrap();
    for at in 2..4 {
        journal.commit(&group(at, &[(a, None)])).unwrap();
    }
    drop(journal);
    assert_eq!(all(&mut *open()), BTreeMap::from([(b, b"y".to_vec())]));
}

fn the_same_group_twice_is_as_once(open: Open<'_>) {
    let a = key(RecordKind::Attempt, 3, 0);
    let once = group(1, &[(a, Some(b"x"))]);
    let mut journal = open();
    journal.begin().unwrap();
    journal.commit(&once).unwrap();
    journal.commit(&once).unwrap();
    assert_eq!(all(&mut *journal), BTreeMap::from([(a, b"x".to_vec())]));
}

fn every_kind_and_every_number_is_a_name_of_its_own(open: Open<'_>) {
    let numbers = [0, 1, 255, 256, u64::MAX];
    let of = |kind: &RecordKind| {
        let kind = *kind;
        numbers.into_iter().flat_map(move |of| numbers.map(move |part| key(kind, of, part)))
    };
    let keys: Vec<RecordKey> = RecordKind::ALL.iter().flat_map(of).collect();
    let text = |key: &RecordKey| format!("{key:?}").into_bytes();
    let records = keys.iter().map(|key| (*key, Some(text(key)))).collect();
    let mut journal = open();
    journal.begin().unwrap();
    journal.commit(&Group { anchor: Anchor::default(), records }).unwrap();
    drop(journal);
    assert_eq!(all(&mut *open()), keys.iter().map(|key| (*key, text(key))).collect());
}

/// Each promise over a store of its own.
fn conforms(opens: &dyn Fn(&str) -> Opener) {
    let promises: [Promise; 6] = [
        ("numbers", lives_are_numbered_from_one_and_a_number_never_comes_again),
        ("new", a_new_store_holds_nothing),
        ("kept", what_a_group_wrote_is_there_after_a_restart_and_nothing_else),
        ("gone", a_record_that_is_taken_away_is_gone_and_may_be_taken_away_twice),
        ("twice", the_same_group_twice_is_as_once),
        ("names", every_kind_and_every_number_is_a_name_of_its_own),
    ];
    for (name, promise) in promises {
        promise(&*opens(name));
    }
}

#[test]
fn memory_conforms() {
    conforms(&|_| {
        let memory = Memory::default();
        Box::new(move || Box::new(memory.journal()))
    });
}

#[test]
fn redb_conforms() {
    let folder = folder("conformance");
    conforms(&|name| {
        let path = folder.join(name);
        Box::new(move || Box::new(RedbJournal::at(&path, 1)))
    });
    std::fs::remove_dir_all(folder).unwrap();
}

/// A folder of its own.
pub(super) fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("tripnote-store-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir(&path).unwrap();
    path
}
