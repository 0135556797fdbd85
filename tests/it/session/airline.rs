//! Recorded sessions of a real agent through a real service: who succeeded is not held up.

use serde_json::Value;
use tripnote::wire::pb;

use super::agent::{Agent, Word};
use crate::support::TestServer;

/// Of the sessions that succeeded, so many in a hundred may be steered.
const STEERED_PERCENT_MAX: usize = 2;

/// What became of one sort of sessions.
#[derive(Debug, Default)]
struct Row {
    sessions: usize,
    calls: usize,
    steered: usize,
    halted: usize,
}

fn sessions() -> Vec<Value> {
    let beside = format!("{}/../shared/data", env!("CARGO_MANIFEST_DIR"));
    let folder = std::env::var("TRIPNOTE_REPLAY_DATA").unwrap_or(beside);
    let path = format!("{folder}/airline-sessions.jsonl");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("{path}: {error}; set TRIPNOTE_REPLAY_DATA to the folder with the recorded sessions")
    });
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn no_recorded_session_that_succeeded_is_halted_and_next_to_none_is_steered() {
    let server = TestServer::start("").await;
    let (mut good, mut bad) = (Row::default(), Row::default());
    for session in sessions() {
        let row = if session["success"].as_bool().unwrap() { &mut good } else { &mut bad };
        let mut agent = Agent::new(&server, session["session"].as_str().unwrap()).await;
        let (mut steered, mut halted) = (false, false);
        let mut last_turn = 0;
        for call in session["calls"].as_array().unwrap() {
            let effect = match call["effect"].as_str().unwrap() {
                "read" => pb::Effect::Read,
                "mutate" => pb::Effect::Mutate,
                _ => pb::Effect::Unknown,
            };
            // A call is a message and its result another; where more lie between, the user has spoken: a new request.
            let turn = call["turn"].as_u64().unwrap();
            if turn > last_turn + 2 {
                agent.task = format!("from turn {turn}");
            }
            last_turn = turn;
            let text = |name: &str| call[name].as_str().unwrap_or_default().to_owned();
            let word = agent.came(&text("tool"), &text("arguments"), effect, text("result").as_bytes()).await;
            row.calls += 1;
            steered |= word == Word::Steer;
            halted |= matches!(word, Word::Halt | Word::Refused);
        }
        row.sessions += 1;
        row.steered += usize::from(steered);
        row.halted += usize::from(halted);
    }
    println!("succeeded: {good:?}\nfailed:    {bad:?}");
    assert!(good.sessions > 50 && bad.sessions > 50, "the recording is not whole");
    assert_eq!(good.halted, 0, "a session that succeeded was held up");
    assert!(good.steered * 100 <= good.sessions * STEERED_PERCENT_MAX, "{good:?}");
}
