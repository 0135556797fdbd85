//! What cannot be read: told by file and line, with what would be right; no line costs another.

use std::fs;

use tripnote::replay::{CALLS_MAX, ReplayError, SHOWN_MAX};

use super::{Written, fixture, play, play_text, settings, try_play};

/// What is said of a text, without the file.
fn told(text: &str) -> Vec<String> {
    let file = Written::new(text);
    let faults = play(&file.path()).faults;
    faults.shown.iter().map(|fault| fault.to_string().replace(&file.path(), "FILE")).collect()
}

#[test]
fn every_fault_says_where_it_is_and_what_would_be_right() {
    let lines = fs::read_to_string(fixture("bad.jsonl")).unwrap();
    let mut found = String::new();
    for line in lines.lines() {
        let told = told(line);
        assert_eq!(told.len(), 1, "{line}: {told:?}");
        found.push_str(&format!("{}\n    {}\n", line.get(..100).unwrap_or(line), told[0]));
    }
    let path = fixture("bad.report");
    if std::env::var_os("UPDATE_FIXTURES").is_some_and(|value| value == "1") {
        fs::write(&path, &found).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap(), found, "if this is meant, run with UPDATE_FIXTURES=1");
}

#[test]
fn a_bad_line_costs_no_other() {
    let good = fs::read_to_string(fixture("calls.jsonl")).unwrap();
    let bad = fs::read_to_string(fixture("bad.jsonl")).unwrap();
    let count = bad.lines().count();
    let replayed = play_text(&format!("{bad}{good}"));
    assert_eq!(replayed.first().unwrap().sessions.all(), 2);
    assert_eq!((replayed.faults.count, replayed.faults.shown.len()), (count as u64, SHOWN_MAX));
}

#[test]
fn a_bad_session_of_a_list_costs_no_other() {
    let replayed = play_text(r#"[{"calls":[]},{"calls":7},{"messages":[]}]"#);
    assert_eq!(replayed.first().unwrap().sessions.all(), 2);
    let fault = replayed.faults.shown[0].to_string();
    assert!(fault.contains(":1: item 2: it is no recording — "), "{fault}");
}

#[test]
fn whoever_asks_for_it_is_told_the_first_fault_and_no_more() {
    let strict = tripnote::replay::ReplaySettings { is_strict: true, ..settings(&[""], 2) };
    let file = Written::new("{\"calls\":[]}\nnonsense\n[\n");
    let Err(ReplayError::Strict(fault)) = try_play(&[file.path()], &strict) else { panic!("it went on") };
    assert_eq!(fault.line, 2);
}

#[test]
fn a_recording_that_is_not_there_ends_the_replay() {
    let missing = fixture("missing.jsonl");
    let Err(error) = try_play(std::slice::from_ref(&missing), &settings(&[""], 1)) else { panic!("it was read") };
    assert_eq!(error.to_string(), format!("cannot read `{missing}`"));
}

#[test]
fn a_session_has_no_more_calls_than_are_taken() {
    let session = |calls: usize| {
        let call = r#"{"tool":"x"}"#;
        format!(r#"{{"session":"long","calls":[{}]}}"#, vec![call; calls].join(","))
    };
    let told = told(&session(CALLS_MAX + 1));
    assert_eq!(told, [format!("FILE:1: more than {CALLS_MAX} calls stand in one session — split the session")]);
}

#[test]
fn a_report_of_a_call_that_nobody_asked_for_is_told() {
    let told = told(r#"{"at_ms":1,"report":{"permit":"never","payload":"[]"}}"#);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("FILE:1: report is of no call that waits for one — name a call"), "{told:?}");
}
