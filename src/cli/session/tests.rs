use super::*;
use crate::cli::text::Paint;

fn manner() -> Manner {
    Manner { is_json: false, paint: Paint::default() }
}

#[test]
fn a_session_is_told_turn_by_turn() {
    let call = |turn, tool: &str, observation: pb::Observation, told: &str| pb::SessionCall {
        turn: Some(turn),
        tool: tool.to_owned(),
        observation: observation.into(),
        told: told.to_owned(),
        ago_ms: 61_000,
        ..pb::SessionCall::default()
    };
    let shown = pb::GetSessionResponse {
        counts: Some(pb::SessionCounts {
            admitted: 2,
            refused: 1,
            steered: 1,
            session_halted: true,
            ..Default::default()
        }),
        calls: vec![
            call(1, "query_prometheus", pb::Observation::Empty, "permit"),
            call(2, "query_prometheus", pb::Observation::Empty, "steer no_progress"),
        ],
        dropped_calls: 3,
        exhausted_tools: vec!["query_prometheus".to_owned()],
        required_tools: vec!["query_loki_logs".to_owned()],
    };
    let text = told(&shown, manner());
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(
        lines,
        [
            "2 admitted, 1 refused, 1 steered, 0 halted (0 after a steer); task 0, context epoch 0; every call is refused until the next task",
            "exhausted in this task: query_prometheus",
            "required: query_loki_logs",
            "3 calls before these are dropped",
            "TURN  AGO    TOOL              RESULT  TOLD",
            "1     1m 1s  query_prometheus  empty   permit",
            "2     1m 1s  query_prometheus  empty   steer no_progress",
        ]
    );
}

#[test]
fn a_session_without_a_call_says_so() {
    let text = told(&pb::GetSessionResponse::default(), manner());
    assert!(text.ends_with("no calls yet"), "{text}");
}

#[test]
fn the_numbers_of_sub_agents_are_shown_where_there_are_any() {
    let call =
        |lane| pb::SessionCall { lane, tool: "search".to_owned(), told: "permit".to_owned(), ..Default::default() };
    let text = table(&[call(0), call(2)]).draw(Paint::default());
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(lines, ["LANE  AGO  TOOL    TOLD", "      0ms  search  permit", "2     0ms  search  permit"]);
    assert!(call_object(&call(2)).line().unwrap().starts_with(r#"{"lane":2,"#));
    assert!(!call_object(&call(0)).line().unwrap().contains("lane"));
}
