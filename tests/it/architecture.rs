//! The walls of the house: who may name whom, how large a file may be, and that one word means one thing everywhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tripnote::domain::contract::{Action, Urgency, Variant};
use tripnote::domain::failure::FailureClass;
use tripnote::domain::failure::tree::{Leaf, Reason};
use tripnote::domain::observation::transport::{Carrier, ErrorKind};
use tripnote::domain::observation::{Disposition, Format, Observation, Rule};
use tripnote::domain::session::review::ReviewRule;
use tripnote::domain::signal::{CircuitKind, Phase, Signal};
use tripnote::domain::tool::Effect;

const SRC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
const FILE_LINES_MAX: usize = 400;

/// A room, and what it may not name.
const WALLS: &[(&str, &[&str])] = &[
    (
        "domain",
        &[
            "tokio",
            "tonic",
            "prost",
            "metrics::",
            "parking_lot",
            "chrono",
            "rand::",
            "tracing",
            "clap",
            "anyhow",
            "toml",
            "Instant",
            "SystemTime",
            "std::fs",
            "std::net",
            "std::thread",
            "std::sync::Mutex",
            "std::sync::RwLock",
            "std::sync::atomic",
            "crate::engine",
            "crate::wire",
            "crate::config",
            "crate::store",
            "crate::telemetry",
            "crate::service",
            "crate::replay",
            "crate::mcp",
            "crate::cli",
        ],
    ),
    (
        "engine",
        &[
            "tokio",
            "tonic",
            "prost",
            "redb",
            "redis",
            "metrics::",
            "chrono",
            "tracing",
            "clap",
            "anyhow",
            "toml",
            "crate::wire",
            "crate::config",
            "crate::store",
            "crate::telemetry",
            "crate::service",
            "crate::replay",
            "crate::mcp",
            "crate::cli",
        ],
    ),
    (
        "wire",
        &[
            "tokio",
            "crate::config",
            "crate::store",
            "crate::telemetry",
            "crate::service",
            "crate::replay",
            "crate::mcp",
            "crate::cli",
            "parking_lot",
            "clap",
        ],
    ),
    (
        "config",
        &[
            "tokio",
            "tonic",
            "prost",
            "crate::wire",
            "crate::store",
            "crate::telemetry",
            "crate::service",
            "crate::replay",
            "crate::mcp",
            "crate::cli",
            "clap",
        ],
    ),
    (
        "telemetry",
        &[
            "tokio",
            "tonic",
            "prost",
            "crate::wire",
            "crate::config",
            "crate::store",
            "crate::service",
            "crate::replay",
            "crate::mcp",
            "crate::cli",
        ],
    ),
    (
        "replay",
        &[
            "tokio",
            "tonic",
            "clap",
            "anyhow",
            "toml",
            "crate::config",
            "crate::store",
            "crate::telemetry",
            "crate::service",
            "crate::mcp",
            "crate::cli",
        ],
    ),
    (
        "store",
        &[
            "tokio",
            "tonic",
            "prost",
            "metrics::",
            "chrono",
            "clap",
            "anyhow",
            "toml",
            "crate::wire",
            "crate::config",
            "crate::telemetry",
            "crate::service",
            "crate::replay",
            "crate::mcp",
            "crate::cli",
        ],
    ),
    (
        "mcp",
        &[
            "crate::store",
            "crate::config",
            "crate::telemetry",
            "crate::service",
            "crate::replay",
            "crate::cli",
            "clap",
            "anyhow",
            "toml",
        ],
    ),
    (
        "service",
        &[
            "crate::config",
            "crate::store",
            "crate::replay",
            "crate::mcp",
            "crate::cli",
            "clap",
            "redb",
            "redis",
            "toml",
        ],
    ),
];

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|ext| ext == "rs"))
        .collect();
    files.sort();
    files
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
}

/// The code of a file: without comments and without an inline `mod tests`.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

fn offences(room: &str, path: &Path, code: &str, banned: &[&str]) -> Vec<String> {
    let name = path.strip_prefix(SRC).unwrap().display().to_string();
    banned
        .iter()
        .filter(|word| code.contains(**word))
        .map(|word| format!("{room} may not name `{word}`: {name}"))
        .collect()
}

#[test]
fn nobody_names_what_lies_above() {
    let mut found = vec![];
    for (room, banned) in WALLS {
        for path in rust_files(&Path::new(SRC).join(room)).iter().filter(|path| !is_test(path)) {
            found.extend(offences(room, path, &code(&fs::read_to_string(path).unwrap()), banned));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_wall_test_catches_a_planted_offence() {
    let planted = code("use tokio::time; // fine here\nfn f() {}\n");
    let path = Path::new(SRC).join("domain/planted.rs");
    assert_eq!(offences("domain", &path, &planted, &["tokio"]).len(), 1);
    assert_eq!(offences("domain", &path, &code("// tokio\n"), &["tokio"]), [""; 0]);
}

#[test]
fn only_the_edge_reads_clocks_and_names_locks() {
    for path in rust_files(Path::new(SRC)).iter().filter(|path| !is_test(path)) {
        let name = path.strip_prefix(SRC).unwrap().display().to_string();
        let text = code(&fs::read_to_string(path).unwrap());
        let reads_clock = text.contains("Instant::now") || text.contains("SystemTime::now");
        assert!(!reads_clock || name == "engine/clock.rs", "{name} reads a clock");
        let names_lock = text.contains("parking_lot");
        assert!(!names_lock || ["engine/sync.rs", "cli/wiring.rs"].contains(&name.as_str()), "{name} names a lock");
    }
}

#[test]
fn the_domain_walks_over_no_hash_map() {
    // Its order is another in every process; what is decided or shown must not depend on it.
    for path in rust_files(&Path::new(SRC).join("domain")).iter().filter(|path| !is_test(path)) {
        let text = code(&fs::read_to_string(path).unwrap());
        let uses_map = text.contains("HashMap") || text.contains("HashSet");
        let is_lookup_only = path.ends_with("domain/breaker/settled.rs");
        assert!(!uses_map || is_lookup_only, "{} holds a hash map", path.display());
    }
}

#[test]
fn a_file_holds_one_noun() {
    let long: Vec<String> = rust_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"))).join("src").as_path())
        .into_iter()
        .chain(rust_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))))
        .map(|path| (fs::read_to_string(&path).unwrap().lines().count(), path))
        .filter(|(lines, _)| *lines > FILE_LINES_MAX)
        .map(|(lines, path)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "over {FILE_LINES_MAX} lines:\n{}", long.join("\n"));
}

#[test]
fn every_file_opens_with_what_it_decides() {
    for path in rust_files(Path::new(SRC)).iter().filter(|path| !is_test(path)) {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with("//!") || text.starts_with("#!["), "{} opens without a word", path.display());
    }
}

fn readme() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap()
}

#[test]
fn the_readme_shows_the_configuration_as_it_is() {
    let table = tripnote::config::readme_table();
    assert!(readme().contains(table.trim()), "replace the README's table of keys with this:\n{table}");
}

#[test]
fn the_readme_shows_every_metric() {
    let table = tripnote::telemetry::catalogue::readme_table();
    assert!(readme().contains(table.trim()), "replace the README's table of metrics with this:\n{table}");
}

#[test]
fn only_the_recorder_names_the_crates_that_keep_numbers() {
    for path in rust_files(Path::new(SRC)).iter().filter(|path| !is_test(path)) {
        let name = path.strip_prefix(SRC).unwrap().display().to_string();
        let text = code(&fs::read_to_string(path).unwrap());
        let is_named =
            ["metrics::{", "metrics::Key", "metrics_exporter", "metrics_process", "counter!", "gauge!", "histogram!"]
                .iter()
                .any(|word| text.contains(word));
        assert!(!is_named || name.starts_with("telemetry/recorder/"), "{name} names the crates of the metrics");
    }
}

/// Words in backticks in the first column of the README's glossary.
fn glossary() -> BTreeSet<String> {
    let readme = readme();
    let section = readme.split("## Glossary").nth(1).expect("a glossary");
    let section = section.split("\n## ").next().unwrap();
    section
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .filter_map(|line| line.split(" |").next())
        .flat_map(|cell| cell.split(',').map(|word| word.trim().trim_matches('`').to_owned()).collect::<Vec<_>>())
        .collect()
}

#[test]
fn every_closed_word_is_in_the_glossary() {
    let words = glossary();
    let all = Action::ALL.iter().map(|w| w.word()).chain(Signal::ALL.iter().map(|w| w.word()));
    let all = all.chain(Urgency::ALL.iter().map(|w| w.word())).chain(Phase::ALL.iter().map(|w| w.word()));
    let all = all.chain(Variant::ALL.iter().map(|w| w.word())).chain(CircuitKind::ALL.iter().map(|w| w.word()));
    let all = all.chain(tripnote::domain::breaker::Acknowledgement::ALL.iter().map(|w| w.word()));
    let all = all.chain(tripnote::domain::breaker::overrides::OverrideMode::ALL.iter().map(|w| w.word()));
    let all = all.chain(Observation::ALL.iter().map(|w| w.word())).chain(FailureClass::ALL.iter().map(|w| w.word()));
    let all = all.chain(Disposition::ALL.iter().map(|w| w.word())).chain(Effect::ALL.iter().map(|w| w.word()));
    let all = all.chain(Rule::ALL.iter().map(|w| w.word())).chain(Format::ALL.iter().map(|w| w.word()));
    let all = all.chain(Carrier::ALL.iter().map(|w| w.word())).chain(ErrorKind::ALL.iter().map(|w| w.word()));
    let all = all.chain(Leaf::ALL.iter().map(|w| w.word())).chain(Reason::ALL.iter().map(|w| w.word()));
    let all = all.chain(ReviewRule::ALL.iter().map(|w| w.word()));
    let missing: Vec<&str> = all.filter(|word| !words.contains(*word)).collect();
    assert!(missing.is_empty(), "not in the README's glossary: {missing:?}");
}

#[test]
fn every_type_that_the_glossary_names_exists() {
    let sources: String =
        rust_files(Path::new(SRC)).iter().map(|path| fs::read_to_string(path).unwrap()).collect::<Vec<_>>().join("\n");
    let readme = readme();
    let section = readme.split("## Glossary").nth(1).unwrap().split("\n## ").next().unwrap().to_owned();
    let types: Vec<&str> =
        section.split('`').filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase())).collect();
    assert!(types.len() > 5, "the glossary names the types behind its words");
    for name in types {
        let is_declared = |kind: &&str| {
            sources
                .split(&format!("{kind} {name}"))
                .skip(1)
                .any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        };
        let is_there =
            ["struct", "enum", "trait"].iter().any(is_declared) || sources.contains(&format!("    {name} {{\n"));
        assert!(is_there, "the glossary names `{name}`, which is not in the code");
    }
}
