//! Recorded sessions through the replay: every format tells the same, nothing depends on threads, no fault is fatal, and
//! who succeeded is not held up.

mod airline;
mod faults;
mod page;
mod program;
mod sharing;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use tripnote::domain::signal::Signal;
use tripnote::replay::{ByLabel, Figures, Input, PARTS, Policy, ReplayError, ReplaySettings, Replayed, Word, replay};

use crate::support::engine_settings;

/// The same two sessions, in each format.
const STORY: [&str; 4] = ["calls.jsonl", "openai.jsonl", "anthropic.json", "events.jsonl"];

/// The path of a recording among the fixtures.
fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/replay/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A file of its own with a text, which goes when it is dropped.
struct Written(PathBuf);

impl Written {
    fn new(text: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("tripnote-replay-{}-{number}.jsonl", std::process::id()));
        fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0); // a test that failed may have removed it
    }
}

fn settings(tomls: &[&str], threads: usize) -> ReplaySettings {
    let policy =
        |(at, toml): (usize, &&str)| Policy { name: format!("policy {at}"), settings: engine_settings(toml, 1) };
    ReplaySettings {
        policies: tomls.iter().enumerate().map(policy).collect(),
        pace_ms: 5_000,
        threads,
        is_strict: false,
    }
}

fn try_play(files: &[String], settings: &ReplaySettings) -> Result<Replayed, ReplayError> {
    let inputs: Vec<Input> = files.iter().map(|file| Input::File(file.into())).collect();
    replay(&inputs, settings, &mut |_| {})
}

fn play(file: &str) -> Replayed {
    try_play(&[file.to_owned()], &settings(&[""], 2)).unwrap()
}

fn play_text(text: &str) -> Replayed {
    play(&Written::new(text).path())
}

fn figures(replayed: &Replayed) -> &Figures {
    assert_eq!(replayed.faults.count, 0, "{:?}", replayed.faults);
    replayed.first().unwrap()
}

/// So many successful and failed ones.
fn labels(successful: u64, failed: u64) -> ByLabel {
    ByLabel { successful, failed, unlabelled: 0 }
}

/// The calls that a guard said a word to.
fn calls(figures: &Figures, signal: Signal, word: Word) -> u64 {
    figures.guards.iter().find(|(own, _)| *own == signal).map_or(0, |(_, guard)| *guard.calls.at(word))
}

#[test]
fn the_same_story_comes_to_the_same_in_every_format() {
    let behaviour = figures(&play(&fixture(STORY[0]))).behaviour.clone();
    for format in STORY {
        let replayed = play(&fixture(format));
        let all = figures(&replayed);
        assert_eq!((all.sessions, all.calls), (labels(1, 1), 9), "{format}");
        let told = Word::ALL.iter().map(|word| *all.told.at(*word));
        // Three times nothing is steered, then halted; the fourth is refused. Two orders side by side, and the same tool for
        // another request of the user, are honest work.
        let due = [labels(0, 1), labels(0, 1), labels(0, 0), labels(0, 1)];
        assert_eq!(told.collect::<Vec<_>>(), due, "{format}");
        let words = Word::ALL.iter().map(|word| calls(all, Signal::NoProgress, *word)).collect::<Vec<_>>();
        assert_eq!(words, [1, 1, 0, 1], "{format}");
        assert_eq!(all.false_halts(), 0, "{format}");
        let parts: Vec<u64> = (0..PARTS).map(|part| all.spoke_first[part].0.iter().sum()).collect();
        assert_eq!(parts, [0, 0, 1, 0, 0, 0, 0, 0, 0, 0], "{format}: at the third of eight calls");
        assert_eq!(all.usable_after, 3, "{format}");
        let tools: Vec<(&str, u64)> = all.tools.iter().map(|(name, tool)| (name.as_str(), tool.calls)).collect();
        assert_eq!(tools, [("get_order", 3), ("get_user", 1), ("search_orders", 5)], "{format}");
        // Of the three contracts two are followed by the same call; the third, a refusal, by honest work of the task.
        let followed = all.followed(Signal::NoProgress);
        assert_eq!((followed.told, followed.concluded(), followed.repeated.counted.hits), (3, 3, 2), "{format}");
        assert_eq!(all.behaviour, behaviour, "{format}");
        let listed = &all.listed[0];
        assert_eq!((listed.session.name.as_str(), listed.course.calls), ("night", 8), "{format}");
    }
}

#[test]
fn nothing_depends_on_the_number_of_threads() {
    let files: Vec<String> =
        STORY.iter().map(|format| fixture(format)).chain([fixture("bad.jsonl"), airline::path()]).collect();
    let shown = |threads: usize| {
        let replayed = try_play(&files, &settings(&["", "[session]\nsweep_steer_at = 2\n"], threads)).unwrap();
        (format!("{replayed:?}"), tripnote::replay::page::page(&replayed))
    };
    let one = shown(1);
    for threads in [2, 3, 16] {
        assert_eq!(shown(threads), one, "{threads} threads");
    }
}

#[test]
fn two_policies_are_told_apart_on_the_same_sessions() {
    let patient = "[session]\nsteer_at = 5\nhalt_at = 6\n";
    let replayed = try_play(&[fixture("calls.jsonl")], &settings(&["", patient], 1)).unwrap();
    let halted: Vec<u64> = replayed.policies.iter().map(|(_, all)| all.told.at(Word::Halted).all()).collect();
    assert_eq!(halted, [1, 0]);
    let names: Vec<&str> = replayed.differing.listed.iter().map(|played| played.session.name.as_str()).collect();
    assert_eq!((replayed.differing.count, names), (1, vec!["night"]));
    let same = try_play(&[fixture("calls.jsonl")], &settings(&["", ""], 1)).unwrap();
    assert_eq!(same.differing.count, 0);
}

/// The lines of JSON in the first block of that kind behind a mark.
fn example(text: &str, mark: &str) -> String {
    let behind = text.split_once(mark).unwrap_or_else(|| panic!("{mark} is missing")).1;
    behind.split_once("```json\n").unwrap().1.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_events_that_are_shown_can_be_replayed() {
    let source = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/replay/mod.rs")).unwrap();
    let page: String =
        source.lines().map_while(|line| line.strip_prefix("//!")).map(|line| format!("{}\n", line.trim())).collect();
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    for text in [example(&page, "L3: recorded sessions"), example(&readme, "## Replay")] {
        let replayed = play_text(&text);
        let all = figures(&replayed);
        assert_eq!((all.sessions, all.calls), (labels(1, 0), 1), "{text}");
    }
}
