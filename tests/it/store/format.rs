//! The file of this version, as it was written when the version began: it loads for ever.

use std::path::{Path, PathBuf};

use tripnote::engine::ports::RecordKind;
use tripnote::store::memory::Memory;
use tripnote::store::redb::RedbJournal;

use super::conformance::folder;
use super::lives::{Life, MINUTE, all_of, safe};
use crate::support::NOON_UNIX_MS;

/// The file, and its lines as an export writes them.
const FILE: &str = "tests/fixtures/journal/v1/journal.redb";
const LINES: &str = "tests/fixtures/journal/v1/journal.jsonl";

/// What stands in the fixture: an open circuit, one that is open for its whole breaker, a hold, a session, a figure and an
/// attempt.
fn lived() -> Memory {
    let memory = Memory::default();
    let toml = format!("{MINUTE}\n[[breaker]]\ncode = \"held\"\ntargets = [\"h*\"]\n");
    let mut life = Life::begin(&toml, Box::new(memory.journal()), NOON_UNIX_MS);
    life.fail("a");
    let (mode, now) = (tripnote::domain::breaker::overrides::OverrideMode::ForceOpen, life.now());
    life.engine.set_override(&all_of("held"), mode, safe("ada"), safe("maintenance"), None, now).unwrap();
    super::sessions::run_with_everything(&life);
    life.flush();
    memory
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn write_fixtures() {
    std::fs::create_dir_all(fixture(FILE).parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(fixture(FILE));
    let mut journal = RedbJournal::at(&fixture(FILE), 1);
    super::lives::copied(&lived(), &mut journal);
    let mut lines = Vec::new();
    tripnote::store::export(&mut journal, &mut lines).unwrap();
    std::fs::write(fixture(LINES), lines).unwrap();
}

/// All that is in the fixture is there.
fn goes_on(journal: RedbJournal) {
    let toml = format!("{MINUTE}\n[[breaker]]\ncode = \"held\"\ntargets = [\"h*\"]\n");
    let life = Life::begin(&toml, Box::new(journal), NOON_UNIX_MS);
    assert_eq!((life.engine.incarnation(), life.restored.out_of_place), (2, 0));
    assert!(life.admit("a").is_err() && life.admit("h1").is_err());
    assert_eq!(life.engine.session_count(), 1);
}

#[test]
fn a_store_of_version_1_loads_and_imports() {
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        write_fixtures();
    }
    let folder = folder("format");
    let copy = folder.join("copy.redb");
    std::fs::copy(fixture(FILE), &copy).unwrap(); // a life that begins writes its number
    goes_on(RedbJournal::at(&copy, 1));
    let lines = std::fs::read(fixture(LINES)).unwrap();
    let mut journal = RedbJournal::at(&folder.join("imported.redb"), 1);
    let records = tripnote::store::import(&mut journal, &mut lines.as_slice()).unwrap();
    let text = String::from_utf8(lines).unwrap();
    assert_eq!(records, text.lines().count() - 1);
    goes_on(journal);
    for kind in RecordKind::ALL {
        assert!(text.contains(&format!("\"kind\":\"{kind}\"")), "the fixture has no {kind}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
