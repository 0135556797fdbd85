//! A tool call on its way: who is asked, what is reported, and what the model sees.

use serde_json::json;
use tripnote::mcp::WhenDown;
use tripnote::wire::pb;

use super::stage::{Stage, call, result, seen, settings};
use crate::support::TestServer;

const TRIPS_AT_FIRST: &str = "defaults.error_rate = { rules = [{ consecutive = 1 }], jitter = \"0%\" }\n";
const DOWN: &str = "unix:/nowhere/tripnote.sock";
const LIST: &str = r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#;

async fn on(service: &TestServer) -> Stage {
    Stage::set(settings(&service.endpoint).await).await
}

async fn counts(service: &mut TestServer, session: &str, caller: &str) -> Option<pb::SessionCounts> {
    let session = pb::SessionRef { session_id: session.to_owned(), caller: caller.to_owned() };
    let request = pb::GetSessionRequest { session: Some(session) };
    service.sessions.get_session(request).await.ok()?.into_inner().counts
}

/// The server tells of tools; the client has the list as it is.
async fn list(stage: &mut Stage, tools: &str) {
    stage.client.say(LIST).await;
    stage.server.hear().await;
    let list = format!(r#"{{"jsonrpc":"2.0","id":"l","result":{{"tools":[{tools}]}}}}"#);
    assert_eq!(stage.answer(&list).await, list);
}

#[tokio::test]
async fn a_failing_tool_trips_and_is_not_called_again() {
    let service = TestServer::start(TRIPS_AT_FIRST).await;
    let mut stage = on(&service).await;
    stage.call(1, "charge", "{}").await;
    let tripped = stage.answer(&result(1, "503 Service Unavailable", true)).await;
    let tripped: serde_json::Value = serde_json::from_str(&tripped).unwrap();
    stage.client.say(&call(2, "charge", "{}")).await;
    let refused = stage.client.hear_json().await;
    assert_eq!((&tripped["id"], &refused["id"]), (&json!(1), &json!(2)));
    assert!(seen(&tripped).starts_with(r#"{"action":"await_recovery","breaker":"charge""#), "{tripped}");
    assert_eq!(refused["result"]["structuredContent"]["action"], "await_recovery");
    assert_eq!(refused["result"]["_meta"]["io.tripnote/withdraw"], json!(["charge"]));
    stage.call(3, "look", "{}").await; // and it was the next thing that the server heard
}

#[tokio::test]
async fn an_error_of_the_protocol_is_a_failure_of_the_tool() {
    let service = TestServer::start(TRIPS_AT_FIRST).await;
    let mut stage = on(&service).await;
    stage.call(1, "charge", "{}").await;
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"database is gone"}}"#;
    let tripped: serde_json::Value = serde_json::from_str(&stage.answer(error).await).unwrap();
    assert_eq!(tripped["result"]["structuredContent"]["signal"], "error_rate", "{tripped}");
}

#[tokio::test]
async fn an_id_of_any_type_comes_back_as_it_was() {
    let service = TestServer::start(TRIPS_AT_FIRST).await;
    let mut stage = on(&service).await;
    stage.call(1, "a", "{}").await;
    stage.answer(&result(1, "503 Service Unavailable", true)).await;
    for id in ["\"\\u0061\"", "-7", "1.50", "null", "12345678901234567890", r#"{"a": 1}"#] {
        let line = call(1, "a", "{}").replace("\"id\":1", &format!("\"id\":{id}"));
        stage.client.say(&line).await;
        let refused = stage.client.hear().await;
        assert!(refused.contains(&format!("\"id\":{id},\"result\"")), "{refused}");
    }
}

#[tokio::test]
async fn a_tool_that_says_that_it_only_looks_is_known_to_do_so() {
    let service = TestServer::start("").await;
    let mut stage = on(&service).await;
    list(&mut stage, r#"{"name":"look","annotations":{"readOnlyHint":true}}"#).await;
    stage.call(1, "look", "{}").await;
    let failed = stage.answer(&result(1, "503 Service Unavailable", true)).await;
    let want = "look: unavailable, signal error_rate, class transport; nothing was measured";
    assert_eq!(seen(&serde_json::from_str(&failed).unwrap()), want, "a proxy never calls again by itself");
}

#[tokio::test]
async fn a_call_that_is_given_up_is_no_failure_and_the_server_hears_of_it() {
    let service = TestServer::start(TRIPS_AT_FIRST).await;
    let mut stage = on(&service).await;
    stage.call(1, "slow", "{}").await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"bored"}}"#;
    stage.client.say(cancel).await;
    assert_eq!(stage.server.hear().await, cancel);
    let late = result(1, "503 Service Unavailable", true);
    assert_eq!(stage.answer(&late).await, late, "nobody waits for it");
    stage.call(2, "slow", "{}").await;
}

#[tokio::test]
async fn a_call_that_is_given_up_before_it_went_out_never_goes_out() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut stage = Stage::set(settings(&silent.local_addr().unwrap().to_string()).await).await;
    stage.client.say(&call(1, "slow", "{}")).await;
    stage.client.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    stage.client.say(ping).await;
    assert_eq!(stage.server.hear().await, ping);
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused() {
    let service = TestServer::start("").await;
    let mut stage = on(&service).await;
    stage.call(1, "slow", "{}").await;
    stage.client.say(&call(1, "slow", "{}")).await;
    let refused = stage.client.hear_json().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)));
    let done = result(1, "done", false);
    assert_eq!(stage.answer(&done).await, done);
}

#[tokio::test]
async fn a_connection_is_a_session_that_ends_with_it() {
    let mut service = TestServer::start("").await;
    let mut stage = on(&service).await;
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"editor"}}}"#;
    stage.client.say(hello).await;
    stage.server.hear().await;
    stage.call(1, "look", "{}").await;
    assert_eq!(counts(&mut service, "mcp-1", "editor").await.map(|counts| counts.admitted), Some(1));
    let done = result(1, "done", false);
    assert_eq!(stage.answer(&done).await, done);
    stage.client.close().await;
    assert_eq!(stage.server.hear().await, "", "its input ends");
    stage.server.close().await;
    stage.ended().await;
    assert_eq!(counts(&mut service, "mcp-1", "editor").await, None);
}

#[tokio::test]
async fn a_call_names_its_session_and_one_that_is_issued_anew_is_the_same_call() {
    let mut service = TestServer::start("").await;
    let mut stage = on(&service).await;
    for id in [1, 2] {
        let meta = r#","_meta":{"io.tripnote/session":"run 7","io.tripnote/call":"k1"}}}"#;
        let line = call(id, "look", "{}").replace("}}", "}").trim_end_matches('}').to_owned() + "}" + meta;
        stage.client.say(&line).await;
        assert_eq!(stage.server.hear().await, line);
    }
    assert_eq!(counts(&mut service, "run 7", "mcp").await.map(|counts| counts.admitted), Some(1));
    assert_eq!(stage.stop().await.status, 0);
    assert!(counts(&mut service, "run 7", "mcp").await.is_some(), "it is not the proxy's to end");
}

#[tokio::test]
async fn calls_of_one_step_are_one_wave() {
    let mut service = TestServer::start("").await;
    let mut stage = on(&service).await;
    stage.client.say(&[call(1, "look", "{}"), call(2, "look", "{}")].join("\n")).await;
    let refused = stage.client.hear_json().await;
    assert_eq!(refused["result"]["structuredContent"]["breaker"], "session_fan_out", "{refused}");
    stage.server.hear().await;
    let done = result(1, "done", false);
    assert_eq!(stage.answer(&done).await, done);
    stage.call(3, "look", "{}").await;
    assert_eq!(counts(&mut service, "mcp-1", "mcp").await.map(|counts| counts.refused), Some(1));
}

#[tokio::test]
async fn without_a_service_what_changes_something_is_refused_and_the_rest_goes_on() {
    let tools =
        r#"{"name":"look","annotations":{"readOnlyHint":true}},{"name":"write","annotations":{"readOnlyHint":false}}"#;
    let table = [
        (WhenDown::ByEffect, ["goes", "write was not called: it may change something, and ", "goes"]),
        (WhenDown::GoOn, ["goes", "goes", "goes"]),
        (WhenDown::Refuse, ["look was not called: ", "write was not called: ", "other was not called: "]),
    ];
    for (when_down, want) in table {
        let mut stage = Stage::set(tripnote::mcp::Settings { when_down, ..settings(DOWN).await }).await;
        list(&mut stage, tools).await;
        for (id, (tool, want)) in (1..).zip(["look", "write", "other"].into_iter().zip(want)) {
            if want == "goes" {
                stage.call(id, tool, "{}").await;
                let raw = result(id, "503 Service Unavailable", true);
                assert_eq!(stage.answer(&raw).await, raw, "nobody is asked what it means");
            } else {
                stage.client.say(&call(id, tool, "{}")).await;
                let refused = seen(&stage.client.hear_json().await);
                assert_eq!(refused, format!("{want}the circuit breaker service cannot be reached"));
            }
        }
    }
}

#[tokio::test]
async fn a_service_that_takes_less_is_told_less() {
    let mut service = TestServer::start("[limits]\npayload_bytes = 1024\n").await;
    let mut stage = on(&service).await;
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(300_000));
    stage.call(1, "look", &long).await;
    let done = result(1, &"y".repeat(4_000), false);
    assert_eq!(stage.answer(&done).await, done);
    let session = pb::SessionRef { session_id: "mcp-1".to_owned(), caller: "mcp".to_owned() };
    let asked = pb::GetSessionRequest { session: Some(session) };
    let shown = service.sessions.get_session(asked).await.unwrap().into_inner();
    assert_eq!(shown.calls[0].observation(), pb::Observation::Truncated);
}

#[tokio::test]
async fn a_call_that_the_service_cannot_be_asked_about_goes_on() {
    let service = TestServer::start("").await;
    let mut stage = on(&service).await;
    let blank = call(1, " ", "{}"); // a name that no target can have
    stage.client.say(&blank).await;
    assert_eq!(stage.server.hear().await, blank);
    let done = result(1, "503 Service Unavailable", true);
    assert_eq!(stage.answer(&done).await, done);
}
