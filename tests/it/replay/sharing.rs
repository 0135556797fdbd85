//! What sessions share: nothing, where they were recorded apart; their breakers and their clock, where they are the
//! events of one service.

use std::fmt::Write as _;

use tripnote::domain::signal::Signal;
use tripnote::replay::Word;

use super::{calls, figures, labels, play_text};

/// A session in which a target fails as often as opens a circuit, with different texts, and one call more.
fn failing(name: &str) -> String {
    let call = |turn: u32| {
        let texts = ["disk", "queue", "cache", "lock"];
        let text = texts[turn as usize % 4];
        format!(
            r#"{{"turn":{turn},"tool":"pay","arguments":"{{\"n\":{turn}}}","result":"Error: 503 Service Unavailable ({text})"}}"#
        )
    };
    let all: Vec<String> = (1..=4).map(call).collect();
    format!("{{\"session\":\"{name}\",\"success\":false,\"calls\":[{}]}}\n", all.join(","))
}

#[test]
fn sessions_that_were_recorded_apart_share_nothing() {
    let alone = play_text(&failing("a"));
    let alone = figures(&alone);
    let (tripped, refused) =
        (calls(alone, Signal::ErrorRate, Word::Tripped), calls(alone, Signal::ErrorRate, Word::Refused));
    assert_eq!((tripped, refused), (1, 1), "the circuit opens at the third and refuses the fourth: {:?}", alone.guards);
    let ten = play_text(&failing("a").repeat(10));
    let ten = figures(&ten);
    assert_eq!(ten.told.at(Word::Tripped), &labels(0, 10));
    assert_eq!(calls(ten, Signal::ErrorRate, Word::Refused), 10, "each begins anew, or the first calls were refused");
}

#[test]
fn the_sessions_of_one_service_share_its_breakers() {
    let mut events = String::new();
    for at in 0..4_u32 {
        let (session, at_ms) = (if at < 3 { "first" } else { "second" }, 1_000 * u64::from(at));
        let _ = writeln!(
            events,
            r#"{{"at_ms":{at_ms},"admit":{{"session_id":"{session}","call_id":"{at}","toolName":"pay"}}}}"#
        );
        let report = format!(r#"{{"session_id":"{session}","call_id":"{at}","transport":{{"http_status":503}}}}"#);
        let _ = writeln!(events, r#"{{"at_ms":{},"report":{report}}}"#, at_ms + 100);
    }
    events.push_str("{\"at_ms\":9000,\"close\":{\"session_id\":\"second\",\"success\":true}}\n");
    let replayed = play_text(&events);
    let all = figures(&replayed);
    assert_eq!(all.told.at(Word::Refused), &labels(1, 0), "the circuit that the first session opened");
    assert_eq!(all.told.at(Word::Tripped).unlabelled, 1, "nobody said how the first one ended");
    let later = events.replace("\"at_ms\":3000", "\"at_ms\":903000").replace("\"at_ms\":3100", "\"at_ms\":903100");
    let replayed = play_text(&later);
    assert_eq!(figures(&replayed).told.at(Word::Refused).all(), 0, "by then the circuit lets a probe through");
}

#[test]
fn a_report_may_name_the_permit_that_was_written_down() {
    let events = r#"{"at_ms":5,"admit":{"target":"POST /pay"},"permit":"p1"}
{"at_ms":6,"report":{"permit":"p1","classification":{"result":"failed","kind":"error_rate"}}}
{"at_ms":7,"admit":{"target":"POST /pay"},"permit":"p2"}
{"at_ms":8,"report":{"permit":"p2","classification":{"result":"KIND_OK"}}}
"#;
    let replayed = play_text(events);
    let all = figures(&replayed);
    assert_eq!((all.calls, all.calls_without_session, all.sessions.all()), (2, 2, 0));
}

#[test]
fn a_call_that_is_asked_for_again_counts_once() {
    let ask = r#"{"at_ms":1,"admit":{"session_id":"s","call_id":"c","tool_name":"x"}}"#;
    let report = r#"{"at_ms":2,"report":{"session_id":"s","call_id":"c","payload":"[1]"}}"#;
    let replayed = play_text(&format!("{ask}\n{ask}\n{report}\n{ask}\n"));
    assert_eq!(figures(&replayed).calls, 2, "the third ask is a new call, as the first was reported");
}
