//! The command: its exit status, what it prints for programs, and where.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::{Written, fixture};

/// Runs the program with nothing of this environment.
pub(super) fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tripnote"));
    command.env_clear().args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn object(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn a_program_is_given_the_figures() {
    let output = run(&["replay", "--json", &fixture("calls.jsonl"), &fixture("openai.jsonl")]);
    assert_eq!(output.status.code(), Some(0));
    let figures = object(&output);
    let named = |name: &str| figures[name].as_u64().unwrap_or_else(|| panic!("{name} is missing: {figures}"));
    let names = [
        "sessions",
        "successful",
        "failed",
        "unlabelled",
        "calls",
        "steered",
        "halted",
        "refused",
        "false_halts",
        "skipped",
    ];
    assert_eq!(names.map(named), [4, 2, 2, 0, 18, 2, 2, 2, 0, 0]);
    let guard = &figures["guards"][0];
    assert_eq!((guard["signal"].as_str(), guard["halted"]["failed"].as_u64()), (Some("no_progress"), Some(2)));
    let after = ["trips", "concluded", "repeated", "repeats"].map(|name| guard[name].as_u64());
    assert_eq!(
        (after, figures["behaviour"][0]["breaker"].as_str()),
        ([6, 6, 4, 4].map(Some), Some("session_progress"))
    );
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_session_that_was_halted_and_succeeded_is_a_false_halt() {
    let text = std::fs::read_to_string(fixture("calls.jsonl")).unwrap().replace("false", "true");
    let figures = object(&run(&["replay", "--json", &Written::new(&text).path()]));
    assert_eq!((figures["halted"].as_u64(), figures["false_halts"].as_u64()), (Some(1), Some(1)));
}

#[test]
fn two_policies_are_shown_side_by_side() {
    let patient = Written::new("[session]\nsteer_at = 5\nhalt_at = 6\n");
    let page = Written::new("");
    let file = fixture("calls.jsonl");
    let compare = ["replay", &file, "--policy", &patient.path(), "--html", &page.path()];
    let text = String::from_utf8(run(&compare).stdout).unwrap();
    assert!(text.contains("1 session differs") && text.contains("left alone"), "{text}");
    let html = std::fs::read_to_string(&page.0).unwrap();
    assert!(html.contains("Where the policies differ") && html.contains("left alone"), "{html}");
    let both = object(&run(&[&["--json"], compare.as_slice()].concat()));
    let halted: Vec<u64> =
        both["policies"].as_array().unwrap().iter().map(|one| one["halted"].as_u64().unwrap()).collect();
    assert_eq!((halted, both["differing"].as_u64()), (vec![1, 0], Some(1)));
    assert_eq!(both["differing_sessions"][0]["session"], "night");
}

#[test]
fn the_exit_status_says_whether_anything_was_replayed() {
    let bad = fixture("bad.jsonl");
    let good = fixture("calls.jsonl");
    let empty = Written::new("");
    let (empty, strict) = (empty.path(), "--strict");
    let table: [(&[&str], i32, &str); 7] = [
        (&["replay", &good], 0, ""),
        (&["replay", &good, &bad], 0, "could not be read"),
        (&["replay", &good, &bad, strict], 1, ":1: the JSON ends before it is closed"),
        (&["replay", &empty], 1, "no session could be read"),
        (&["replay", "missing.jsonl"], 1, "cannot read `missing.jsonl`"),
        (&["replay"], 2, "required"),
        (&["replay", &good, "--pace", "soon"], 2, "a whole number with its unit is due"),
    ];
    for (arguments, status, told) in table {
        let output = run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
        assert!(stderr.contains(told), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_recording_may_come_from_standard_input() {
    let command = format!("'{}' replay --json - < '{}'", env!("CARGO_BIN_EXE_tripnote"), fixture("anthropic.json"));
    let output = Command::new("/bin/sh").args(["-c", &command]).output().unwrap();
    assert_eq!(object(&output)["sessions"].as_u64(), Some(2));
}
