//! Recorded sessions of a real agent: who succeeded is not held up.

use tripnote::replay::Word;

use super::{figures, play};

/// Of the sessions that succeeded, so many in a hundred may be steered.
const STEERED_PERCENT_MAX: u64 = 2;

/// Where the recording is: beside the project, or where the variable says.
pub(super) fn path() -> String {
    let beside = format!("{}/../shared/data", env!("CARGO_MANIFEST_DIR"));
    let folder = std::env::var("TRIPNOTE_REPLAY_DATA").unwrap_or(beside);
    let path = format!("{folder}/airline-sessions.jsonl");
    let is_there = std::fs::exists(&path).unwrap();
    assert!(is_there, "{path} is missing: set TRIPNOTE_REPLAY_DATA to the folder with the recorded sessions");
    path
}

#[test]
fn no_recorded_session_that_succeeded_is_held_up_and_next_to_none_is_steered() {
    let replayed = play(&path());
    let all = figures(&replayed);
    assert!(all.sessions.successful > 50 && all.sessions.failed > 50, "the recording is not whole: {:?}", all.sessions);
    assert_eq!(all.sessions.unlabelled, 0);
    for word in [Word::Halted, Word::Tripped, Word::Refused] {
        assert_eq!(all.told.at(word).successful, 0, "a session that succeeded was {word}");
    }
    let steered = all.told.at(Word::Steered);
    assert!(steered.successful * 100 <= all.sessions.successful * STEERED_PERCENT_MAX, "{steered:?}");
    assert!(steered.failed > steered.successful, "those that failed are the ones that loop: {steered:?}");
}

#[test]
fn the_readme_shows_what_is_printed() {
    let output = super::program::run(&["replay", &path()]);
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(readme.contains(printed.trim()), "show this in the README's section about replays:\n{printed}");
}
