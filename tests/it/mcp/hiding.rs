//! Tools that cannot be called now are left out of the client's list until they can.

use serde_json::{Value, json};
use tripnote::mcp::Settings;

use super::stage::{Stage, result, settings};
use crate::support::TestServer;

const TRIPS_AT_FIRST: &str =
    "defaults.error_rate = { rules = [{ consecutive = 1 }], jitter = \"0%\", open_for = \"30s\" }\n";
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const TOOLS: &str = r#"[{"name":"charge"},{"name":"look"},{"name":"write"}]"#;

/// The names that the client has in its list.
async fn names(stage: &mut Stage) -> Vec<String> {
    stage.client.say(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#).await;
    stage.server.hear().await;
    let list = stage.answer(&format!(r#"{{"jsonrpc":"2.0","id":"l","result":{{"tools":{TOOLS}}}}}"#)).await;
    let list: Value = serde_json::from_str(&list).unwrap();
    list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

async fn fail(stage: &mut Stage, id: u32, tool: &str) {
    stage.call(id, tool, "{}").await;
    let tripped: Value =
        serde_json::from_str(&stage.answer(&result(id, "503 Service Unavailable", true)).await).unwrap();
    assert_eq!(tripped["result"]["_meta"]["io.tripnote/trip"]["signal"], "error_rate");
}

#[tokio::test]
async fn a_tool_leaves_the_list_when_it_trips_and_comes_back_at_its_time() {
    let service = TestServer::start(TRIPS_AT_FIRST).await;
    let mut stage = Stage::set(Settings { hides_open: true, ..settings(&service.endpoint).await }).await;
    stage.client.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#).await;
    stage.server.hear().await;
    let welcome = stage.answer(r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{}}}}"#).await;
    let welcome: Value = serde_json::from_str(&welcome).unwrap();
    assert_eq!(welcome["result"]["capabilities"]["tools"], json!({"listChanged": true}));

    assert_eq!(names(&mut stage).await, ["charge", "look", "write"]);
    fail(&mut stage, 1, "charge").await;
    assert_eq!(stage.client.hear().await, CHANGED);
    fail(&mut stage, 2, "write").await; // it was told once; until it asks again nobody looks
    assert_eq!(names(&mut stage).await, ["look"]);

    service.clock.advance_ms(31_000);
    fail(&mut stage, 3, "look").await;
    assert_eq!(stage.client.hear().await, CHANGED, "two are back and one has left");
    assert_eq!(names(&mut stage).await, ["charge", "write"]);
}

#[tokio::test]
async fn without_being_asked_to_nothing_is_hidden() {
    let service = TestServer::start(TRIPS_AT_FIRST).await;
    let mut stage = Stage::set(settings(&service.endpoint).await).await;
    fail(&mut stage, 1, "charge").await;
    assert_eq!(names(&mut stage).await, ["charge", "look", "write"]);
}
