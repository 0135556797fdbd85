//! What several sessions share: the backends that they call.

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
