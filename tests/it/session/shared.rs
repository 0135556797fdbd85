//! What several sessions share, and what several agents of one session do not.

use tripnote::wire::pb;

use super::agent::{Agent, Word};
use crate::support::TestServer;

#[tokio::test]
async fn calls_against_one_backend_are_capped_over_all_sessions() {
    let server = TestServer::start(
        "[session]\nfan_out_per_backend = 3\n[[breaker]]\ncode = \"search_api\"\ntargets = [\"search\", \"fetch\"]",
    )
    .await;
    let (mut first, mut second) = (Agent::new(&server, "first").await, Agent::new(&server, "second").await);
    let running = first.ask("search", r#"{"page":1}"#).await.unwrap();
    assert!(first.ask("fetch", r#"{"page":1}"#).await.is_ok());
    assert!(second.ask("search", r#"{"page":1}"#).await.is_ok());
    let full = second.ask("fetch", r#"{"page":2}"#).await.unwrap_err();
    assert_eq!((full.signal(), full.action()), (pb::Signal::FanOut, pb::Action::CallInNextWave));
    assert_eq!((full.breaker.as_str(), full.observed.as_str()), ("search_api", "3 of 3 running"));
    assert_eq!(full.retry_after_ms, Some(1_000));
    // Another backend has places of its own, and a call that has returned makes room for anybody.
    assert_eq!(second.call("calendar", "{}", r#"{"items":[1]}"#).await, Word::Permit);
    first.refuse(&running, pb::RefusedBy::Host).await;
    assert!(second.ask("fetch", r#"{"page":2}"#).await.is_ok());
    let told: Vec<String> = second.session().await.calls.into_iter().map(|call| call.told).collect();
    assert_eq!(told, ["permit", "trip fan_out", "permit", "permit"]);
}

#[tokio::test]
async fn sub_agents_of_one_session_are_numbered_and_their_turns_never_collide() {
    let server = TestServer::start("").await;
    let ask = |lane: &str, page: u32| pb::AdmitRequest {
        tool_name: "search".to_owned(),
        session_id: "team".to_owned(),
        turn: Some(1),
        lane: lane.to_owned(),
        arguments: format!("{{\"page\":{page}}}").into_bytes(),
        ..Default::default()
    };
    let mut told = Vec::new();
    for (lane, page) in [("writer", 1), ("checker", 1), ("", 1), ("writer", 1), ("checker", 2), ("writer", 3)] {
        told.push(match server.admit(ask(lane, page)).await.decision.unwrap() {
            pb::admit_response::Decision::Permit(_) => "permit".to_owned(),
            pb::admit_response::Decision::Trip(trip) => trip.observed,
        });
    }
    let twin = "same call already running";
    assert_eq!(told, ["permit", "permit", "permit", twin, "permit", "4 of 4 running"]);
    let shown = Agent::new(&server, "team").await.session().await;
    assert_eq!(shown.calls.iter().map(|call| call.lane).collect::<Vec<_>>(), [1, 2, 0, 1, 2, 1]);
}
