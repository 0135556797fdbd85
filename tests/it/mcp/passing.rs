//! What is no tool call passes byte for byte, whoever says it.

use super::stage::{Stage, call, result, settings};
use crate::support::TestServer;

/// Lines that a proxy has nothing to do with, or that are not what they should be.
const LINES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"a"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{ "method" : "ping", "id" : "\u00e9\\", "jsonrpc":"2.0", "later": 1E400 }"#,
    r#"{"jsonrpc":"2.0","id":1.50,"method":"resources/read","params":{"uri":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"prompts/get"}"#,
    r#"{"jsonrpc":"2.0","id":{"a":[1]},"method":"a/method/of/tomorrow"}"#,
    r#"{"jsonrpc":"2.0","id":"s-1","result":{"roots":[]}}"#,
    r#"{"jsonrpc":"2.0","id":"s-2","error":{"code":-1,"message":"no"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.10}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never asked"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[]}}"#,
    r#"[{"jsonrpc":"2.0","id":21,"method":"ping"},{"jsonrpc":"2.0","method":"n"}]"#,
    r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"told, not asked"}}"#,
    r#"{"jsonrpc":"2.0","id":31,"method":"tools/call"}"#,
    r#"{"jsonrpc":"2.0","id":32,"method":"tools/call","params":{"name":7}}"#,
    "[]",
    "{\"jsonrpc\":\"2.0\",",
    "{'id': 1, 'method': 'tools/call', 'params': {'name': 'python'}}",
    "plain words\r",
    "",
    "\u{feff}{}",
    "7",
];

#[tokio::test]
async fn lines_from_the_client_reach_the_server_as_they_are() {
    let service = TestServer::start("").await;
    let mut stage = Stage::set(settings(&service.endpoint).await).await;
    for line in LINES {
        stage.client.say(line).await;
        assert_eq!(stage.server.hear().await, *line);
    }
}

#[tokio::test]
async fn lines_from_the_server_reach_the_client_as_they_are() {
    let service = TestServer::start("").await;
    let mut stage = Stage::set(settings(&service.endpoint).await).await;
    for awaits in [false, true] {
        if awaits {
            stage.call(100, "slow", "{}").await; // now lines are looked at
        }
        for line in LINES {
            assert_eq!(stage.answer(line).await, *line);
        }
    }
}

#[tokio::test]
async fn answers_to_other_requests_and_good_results_keep_every_byte() {
    let service = TestServer::start("").await;
    let mut stage = Stage::set(settings(&service.endpoint).await).await;
    let list = r#"{"id":1,"result":{ "tools" : [{"name":"a","x":1.0}] },"jsonrpc":"2.0"}"#;
    stage.client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    stage.server.hear().await;
    assert_eq!(stage.answer(list).await, list);
    let results = [
        r#"{"result":{"content":[ {"type":"text","text":"\u0031 order"} ],"n":1.00},"id":2,"jsonrpc":"2.0"}"#
            .to_owned(),
        r#"{"jsonrpc":"2.0","id":2,"result":{"structuredContent":{"big":12345678901234567890},"content":[]}}"#
            .to_owned(),
        r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","requestState":"s"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":2,"result":{"task":{"taskId":"t","status":"working"}}}"#.to_owned(),
    ];
    for line in results {
        stage.call(2, "a", "{}").await;
        assert_eq!(stage.answer(&line).await, line);
    }
}

#[tokio::test]
async fn what_comes_while_a_call_is_under_way_does_not_wait_for_it() {
    let service = TestServer::start("").await;
    let mut stage = Stage::set(settings(&service.endpoint).await).await;
    stage.call(1, "slow", "{}").await;
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    assert_eq!(stage.answer(progress).await, progress);
    let asked = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}"#;
    assert_eq!(stage.answer(asked).await, asked);
    let answered = r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}"#;
    stage.client.say(answered).await;
    assert_eq!(stage.server.hear().await, answered);
    let done = result(1, "done", false);
    assert_eq!(stage.answer(&done).await, done);
}

#[tokio::test]
async fn calls_reach_the_server_in_the_order_in_which_they_were_asked() {
    let service = TestServer::start("").await;
    let mut stage = Stage::set(settings(&service.endpoint).await).await;
    let calls: Vec<String> = (1..=4).map(|id| call(id, "a", &format!("{{\"n\":{id}}}"))).collect();
    stage.client.say(&calls.join("\n")).await;
    for call in &calls {
        assert_eq!(stage.server.hear().await, *call);
    }
}

#[tokio::test]
async fn a_batch_with_a_call_is_taken_apart_and_one_without_is_not() {
    let service = TestServer::start("").await;
    let mut stage = Stage::set(settings(&service.endpoint).await).await;
    let (ping, call) = (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, call(2, "a", "{}"));
    stage.client.say(&format!("[{ping}, {call}]")).await;
    assert_eq!((stage.server.hear().await, stage.server.hear().await), (ping.to_owned(), call));
    let (pong, done) = (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, result(2, "done", false));
    stage.server.say(&format!("[{pong},{done}]")).await;
    assert_eq!((stage.client.hear().await, stage.client.hear().await), (pong.to_owned(), done));
}
