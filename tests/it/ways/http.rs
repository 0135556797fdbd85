//! The script over HTTP, as JSON.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::{Line, Way, play, service};
use crate::support::TestServer;
use crate::support::web::post;

struct Http(TestServer);

impl Http {
    async fn ask(&self, path: &str, body: Value) -> Value {
        let answer = post(&self.0.http, path, &body.to_string()).await;
        assert_eq!((answer.status, answer.header("content-type").as_str()), (200, "application/json"), "{answer:?}");
        serde_json::from_str(&answer.body).unwrap()
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

impl Way for Http {
    async fn admit(&mut self, line: &Line) -> Option<String> {
        let arguments = BASE64_STANDARD.encode(&line.arguments);
        let call = json!({
            "toolName": line.tool, "sessionId": "run", "callId": line.call_id, "arguments": arguments,
        });
        let answer = self.ask("/v1/admit", call).await;
        assert!(answer["permit"].is_object() != answer["trip"].is_object(), "{answer}");
        text(&answer["trip"]["text"])
    }

    async fn report(&mut self, line: &Line) -> Option<String> {
        let body = BASE64_STANDARD.encode(&line.payload);
        let outcome = json!({"callRef": {"sessionId": "run", "callId": line.call_id}, "payload": {"body": body}});
        let answer = self.ask("/v1/report", json!({"outcomes": [outcome]})).await;
        let ack = &answer["results"][0]["ack"];
        assert_eq!(ack["acknowledgement"], "ACKNOWLEDGEMENT_COUNTED", "{answer}");
        text(&ack["trip"]["text"]).or_else(|| text(&ack["handling"]["text"]))
    }
}

#[tokio::test]
async fn the_script_over_http() {
    let mut way = Http(service().await);
    play(&mut way).await;
    way.0.stop().await;
}
