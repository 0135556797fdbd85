//! A server that ends, is started again, or says more than can be kept.

use serde_json::json;
use tripnote::mcp::{LINE_BYTES_MAX, Settings};

use super::stage::{Stage, call, result, seen, settings};
use crate::support::TestServer;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":"h","method":"initialize","params":{"clientInfo":{"name":"editor"}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const WELCOME: &str = r#"{"jsonrpc":"2.0","id":"h","result":{"capabilities":{"tools":{}}}}"#;
const TRIPS_AT_SECOND: &str = "defaults.error_rate = { rules = [{ consecutive = 2 }], jitter = \"0%\" }\n";

async fn begun(settings: Settings) -> Stage {
    let mut stage = Stage::set(settings).await;
    stage.client.say(HELLO).await;
    assert_eq!(stage.server.hear().await, HELLO);
    assert_eq!(stage.answer(WELCOME).await, WELCOME);
    stage.client.say(READY).await;
    assert_eq!(stage.server.hear().await, READY);
    stage
}

#[tokio::test]
async fn whoever_waits_for_a_server_that_ended_gets_one_clear_error() {
    let service = TestServer::start("").await;
    let mut stage = begun(settings(&service.endpoint).await).await;
    stage.call(1, "slow", "{}").await;
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"resources/list"}"#;
    stage.client.say(list).await;
    assert_eq!(stage.server.hear().await, list);
    stage.server.close().await;
    let mut errors = vec![stage.client.hear_json().await, stage.client.hear_json().await];
    errors.sort_by_key(|error| error["id"].as_u64());
    let message = "the MCP server ended (its output ended) before it answered";
    let of = |id: u32| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": message}});
    assert_eq!(errors, [of(1), of(2)]);
    assert_eq!(stage.client.hear().await, "", "and then the proxy ends");
}

#[tokio::test]
async fn a_server_that_ended_is_started_again_and_the_client_need_not_know() {
    let service = TestServer::start(TRIPS_AT_SECOND).await;
    let mut stage = begun(Settings { restarts: true, ..settings(&service.endpoint).await }).await;
    for id in [1, 2] {
        stage.call(id, "crash", "{}").await;
        stage.server.close().await;
        assert_eq!(stage.client.hear_json().await["error"]["code"], -32000);
        stage.next_server().await;
        assert_eq!(stage.server.hear().await, HELLO);
        let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"back"}}"#;
        assert_eq!(stage.answer(log).await, log, "all but the welcome passes");
        stage.server.say(WELCOME).await;
        assert_eq!(stage.server.hear().await, READY);
        stage.call(10 + id, "look", "{\"n\":1}").await;
        let done = result(10 + id, &format!("done {id}"), false);
        assert_eq!(stage.answer(&done).await, done);
    }
    stage.client.say(&call(3, "crash", "{}")).await;
    let refused = stage.client.hear_json().await;
    assert!(seen(&refused).contains("2 consecutive failures"), "what was lost was reported as failed: {refused}");
}

#[tokio::test]
async fn a_server_that_is_told_to_end_ends_and_calls_are_given_up() {
    let service = TestServer::start(TRIPS_AT_SECOND).await;
    for _ in 0..2 {
        let mut stage = begun(settings(&service.endpoint).await).await;
        stage.call(1, "slow", "{}").await;
        stage.stop().await;
    }
    let mut stage = begun(settings(&service.endpoint).await).await;
    stage.call(1, "slow", "{}").await; // neither was a failure
}

#[tokio::test]
async fn a_message_that_is_too_long_is_one_clear_error() {
    let service = TestServer::start("").await;
    let mut stage = begun(settings(&service.endpoint).await).await;
    let long = "x".repeat(LINE_BYTES_MAX);
    stage.client.say(&call(1, "a", &format!("[\"{long}\"]"))).await;
    let refused = stage.client.hear_json().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)));
    stage.call(2, "a", "{}").await;
    stage.server.say(&result(2, &long, false)).await;
    let lost = stage.client.hear_json().await;
    let message = format!("the answer is longer than {LINE_BYTES_MAX} bytes, which is the most that passes");
    assert_eq!(lost, json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32000, "message": message}}));
    stage.call(3, "a", "{}").await;
}
