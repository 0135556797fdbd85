//! The operations over HTTP: every route once, what is wrong as gRPC tells it, and who is not answered.

use serde_json::{Value, json};
use tonic_types::StatusExt as _;
use tripnote::wire::pb;

use crate::support::TestServer;
use crate::support::asks::{Kind, call};
use crate::support::web::{Answer, ask, post, post_as, send};

fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

async fn posted(server: &TestServer, path: &str, body: Value) -> Value {
    let answer = post(&server.http, path, &body.to_string()).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    json_of(&answer)
}

async fn got(server: &TestServer, path: &str) -> Value {
    let answer = ask(&server.http, "GET", path).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    json_of(&answer)
}

/// The status, the code of gRPC and the text of a problem.
fn problem(answer: &Answer) -> (u16, String, String) {
    assert_eq!(answer.header("content-type"), "application/problem+json", "{answer:?}");
    let problem = json_of(answer);
    assert_eq!(
        (problem["status"].as_u64(), problem["type"].as_str()),
        (Some(answer.status.into()), Some("about:blank"))
    );
    let text = |name: &str| problem[name].as_str().unwrap().to_owned();
    (answer.status, text("code"), text("detail"))
}

#[tokio::test]
async fn the_operations_of_a_run_are_there() {
    let server = TestServer::start("").await;
    let opened = posted(&server, "/v1/sessions/s%2F1:open", json!({"policy": {"requiredTools": ["a"]}})).await;
    assert_eq!(opened, json!({"opened": true}));
    assert_eq!(posted(&server, "/v1/sessions/s%2F1:beginTask", json!({"taskId": "t"})).await, json!({"task": 1}));
    let admitted = posted(&server, "/v1/admit", json!({"toolName": "a", "sessionId": "s/1", "callId": "c"})).await;
    let permit = admitted["permit"]["token"].as_str().unwrap();
    let payload = json!({"body": "WzFd"}); // [1]
    let reported = posted(&server, "/v1/report", json!({"outcomes": [{"permit": permit, "payload": payload}]})).await;
    assert_eq!(reported["results"][0]["ack"]["typing"]["observation"], "OBSERVATION_OBSERVED");
    assert_eq!(posted(&server, "/v1/sessions/s%2F1:endWave", json!({})).await, json!({}));
    assert_eq!(got(&server, "/v1/sessions/s%2F1").await["counts"]["admitted"], "1");
    let evidence = got(&server, "/v1/sessions/s%2F1/evidence?currentTaskOnly=true").await;
    assert_eq!(evidence["rows"][0]["tool"], "a");
    let epoch = posted(&server, "/v1/sessions/s%2F1:advanceContextEpoch", json!({})).await;
    assert_eq!(epoch, json!({"contextEpoch": 1}));
    let review = posted(&server, "/v1/sessions/s%2F1:review", json!({"text": "There is one."})).await;
    assert_eq!(review["verdict"], "REVIEW_VERDICT_ALLOW");
    let released = posted(&server, "/v1/sessions/s%2F1:releaseEffect", json!({"toolName": "a"})).await;
    assert_eq!(released, json!({}));
    let closed = posted(&server, "/v1/sessions/s%2F1:close", json!({"outcome": "SESSION_OUTCOME_ANSWERED"})).await;
    assert_eq!(closed["counts"]["admitted"], "1");
    server.stop().await;
}

#[tokio::test]
async fn the_operations_of_planners_runners_and_operators_are_there() {
    let server = TestServer::start("[[breaker]]\ncode = \"b\"\ntargets = [\"a\"]").await;
    let wave = posted(&server, "/v1/admit-wave", json!({"calls": [{"target": "a"}, {}]})).await;
    assert!(wave["results"][0]["answer"]["permit"].is_object());
    assert_eq!(wave["results"][1]["error"]["field"], "calls[1].target");
    let name = json!({"breaker": "b", "scope": "target:a", "kind": "CIRCUIT_KIND_ERROR_RATE"});
    let hold = json!({"name": name, "mode": "OVERRIDE_MODE_FORCE_OPEN", "owner": "ops", "reason": "test"});
    assert_eq!(posted(&server, "/v1/circuits:override", hold).await, json!({}), "none has anything to remember yet");
    let peeked = posted(&server, "/v1/peek", json!({"targets": [{"target": "a"}, {"target": "b"}]})).await;
    assert!(peeked["results"][0]["trip"]["text"].as_str().unwrap().contains("held by ops"), "{peeked}");
    assert!(peeked["results"][1]["callable"].is_object());
    let refused = posted(&server, "/v1/admit", json!({"target": "a"})).await;
    assert_eq!(refused["trip"]["signal"], "SIGNAL_OPERATOR_OVERRIDE");
    assert_eq!(got(&server, "/v1/circuits?breaker=b&only_not_closed=true&pageSize=5").await["total"], 1);
    let (status, _, text) = problem(&post(&server.http, "/v1/circuits:get", &name.to_string()).await);
    assert!(status == 404 && text.contains("has anything to remember"), "{text}");
    let release = json!({"name": name, "owner": "ops"});
    assert_eq!(posted(&server, "/v1/circuits:release", release).await, json!({"released": 1}));
    assert_eq!(
        posted(&server, "/v1/circuits:reset", json!({"name": name})).await,
        json!({}),
        "nothing is there to be reset"
    );
    let step = json!({
        "step": "night/1", "binding": {"host": "h", "route": "r", "snapshot": "s"},
        "record": {"failureClass": "transport", "attempt": 1, "writes": false, "toolsEnabled": false, "snapshotSame": true},
    });
    let decided = posted(&server, "/v1/decide", step).await;
    assert_eq!(decided["attempt"]["leaf"], "LEAF_SAME_BINDING_RETRY");
    let id = decided["attempt"]["id"].as_str().unwrap();
    assert_eq!(got(&server, "/v1/attempts?step=night%2F1").await["attempts"].as_array().unwrap().len(), 1);
    let answer = post(&server.http, &format!("/v1/attempts/{id}:acceptSketch"), "").await;
    let (status, code, _) = problem(&answer);
    assert_eq!((status, code.as_str()), (400, "FAILED_PRECONDITION"), "it has no sketch");
    assert!(got(&server, "/v1/behaviour").await.is_object());
    assert!(posted(&server, "/v1/config:reload", json!({})).await["configVersion"].is_string());
    server.stop().await;
}

#[tokio::test]
async fn what_is_wrong_is_told_as_grpc_tells_it() {
    let server = TestServer::start("").await;
    let status = server.breakers.clone().admit(pb::AdmitRequest { session_id: "x".repeat(300), ..call("a") }).await;
    let status = status.unwrap_err();
    let violation = status.get_error_details().bad_request().unwrap().field_violations[0].clone();
    let answer =
        post(&server.http, "/v1/admit", &json!({"target": "a", "sessionId": "x".repeat(300)}).to_string()).await;
    assert_eq!(problem(&answer), (400, "INVALID_ARGUMENT".to_owned(), status.message().to_owned()));
    let errors = json!([{"field": violation.field, "message": violation.description}]);
    assert_eq!(json_of(&answer)["errors"], errors);
    server.stop().await;
}

#[tokio::test]
async fn every_fault_of_a_request_is_a_problem_that_says_what_would_be_right() {
    let server = TestServer::start("").await;
    let no_json = "the body is no JSON object: EOF while parsing an object at line 1 column 1";
    let unknown = "targt: is not known here: AdmitRequest holds target, toolName, ";
    for (path, body, due) in [
        ("/v1/admit", "{", (400, "INVALID_ARGUMENT", no_json)),
        ("/v1/admit", "{\"targt\":\"a\"}", (400, "INVALID_ARGUMENT", unknown)),
        ("/v1/admit", "", (400, "INVALID_ARGUMENT", "target: target and tool_name are both empty")),
        ("/v1/admit?x=1", "{}", (400, "INVALID_ARGUMENT", "x: is no parameter of this request: it takes none")),
        ("/v1/admit-wave", "{}", (400, "INVALID_ARGUMENT", "calls: is empty: 1 to 256 items are taken")),
        ("/v1/report", "{}", (400, "INVALID_ARGUMENT", "outcomes: is empty")),
        ("/v1/peek", "{}", (400, "INVALID_ARGUMENT", "targets: is empty")),
        ("/v1/decide", "{}", (400, "INVALID_ARGUMENT", "binding: is missing")),
        ("/v1/sessions/no:close", "{}", (404, "NOT_FOUND", "no such session")),
        ("/v1/sessions/no:endWave", "{}", (404, "NOT_FOUND", "no such session")),
        ("/v1/sessions/no:advanceContextEpoch", "{}", (404, "NOT_FOUND", "no such session")),
        ("/v1/sessions/no:review", "{}", (404, "NOT_FOUND", "no such session")),
        ("/v1/sessions/no:releaseEffect", "{}", (400, "INVALID_ARGUMENT", "tool_name: has 0 bytes")),
        (
            "/v1/sessions/a:open",
            "{\"session\":{\"sessionId\":\"b\"}}",
            (400, "INVALID_ARGUMENT", "session.session_id: is not what the path of the request says"),
        ),
        ("/v1/attempts/x:acceptSketch", "{}", (400, "INVALID_ARGUMENT", "id: is `x`, a whole number from 0")),
        ("/v1/attempts/9:acceptSketch", "{}", (404, "NOT_FOUND", "")),
        ("/v1/circuits:override", "{}", (400, "INVALID_ARGUMENT", "mode: ")),
        ("/v1/circuits:release", "{}", (400, "INVALID_ARGUMENT", "owner: ")),
        ("/v1/circuits:reset", "{}", (400, "INVALID_ARGUMENT", "name")),
        ("/v1/circuits:get", "{\"breaker\":\"b\"}", (400, "INVALID_ARGUMENT", "scope: is missing")),
        ("/v1/nothing", "{}", (404, "NOT_FOUND", "there are GET /metrics")),
        ("/v1/circuits", "{}", (405, "UNIMPLEMENTED", "this path takes GET")),
        ("/v1/hooks/other", "{}", (404, "NOT_FOUND", "there are GET /metrics")),
    ] {
        let (status, code, text) = problem(&post(&server.http, path, body).await);
        assert_eq!((status, code.as_str()), (due.0, due.1), "{path} {body}: {text}");
        assert!(text.starts_with(due.2), "{path} {body}: {text}");
    }
    for (path, text) in [
        ("/v1/sessions/no", "no such session"),
        ("/v1/sessions/no/evidence", "no such session"),
        ("/v1/circuits?page_size=x", "page_size: is `x`, a whole number from 0 to 4294967295 is taken"),
        ("/v1/circuits?breaker=%ff", "query: is no UTF-8"),
        ("/v1/attempts", "step: "),
        ("/v1/behaviour?breaker=No!", "breaker: "),
        ("/v1/events?breaker=No!", "breaker: "),
        ("/v1/events?after_seq=-1", "after_seq: is `-1`"),
    ] {
        let (status, _, told) = problem(&ask(&server.http, "GET", path).await);
        assert!([400, 404].contains(&status) && told.starts_with(text), "{path}: {told}");
    }
    let other = ask(&server.http, "DELETE", "/v1/admit").await;
    assert_eq!((other.status, other.header("allow").as_str()), (405, "post"));
    server.stop().await;
}

#[tokio::test]
async fn bodies_are_json_and_bounded() {
    let server = TestServer::start("limits.request_bytes = 65536\nlimits.payload_bytes = 65536").await;
    let of = async |headers: &[&str], body: &[u8]| problem(&post_as(&server.http, "/v1/admit", headers, body).await);
    for headers in [&[][..], &["content-type: text/plain"], &["content-type: application/x-www-form-urlencoded"]] {
        assert_eq!(of(headers, b"{}").await.0, 415, "{headers:?}");
    }
    let json = ["content-type: application/json; charset=utf-8"];
    let (status, code, text) = of(&json, &vec![b' '; 65_537]).await;
    assert_eq!((status, code.as_str()), (413, "RESOURCE_EXHAUSTED"));
    assert_eq!(text, "the body has more than 65536 bytes, at most that many are taken");
    assert_eq!(of(&json, b"\xff").await.0, 400);
    let huge = json!({"hook_event_name": "PreToolUse", "tool_input": "x".repeat(70_000)}).to_string();
    assert_eq!(problem(&post(&server.http, "/v1/hooks/codex", &huge).await).0, 413);
    server.stop().await;
}

#[tokio::test]
async fn pages_of_other_sites_and_other_names_get_a_problem() {
    let server = TestServer::start("").await;
    let body = "content-length: 2\r\ncontent-type: application/json\r\n\r\n{}";
    for (header, status) in [
        ("origin: http://evil.example", 403),
        ("sec-fetch-site: cross-site", 403),
        ("x-plain: 1", 400), // the call lacks a target
    ] {
        let host = format!("host: {}", server.http);
        let answer = send(&server.http, &["POST /v1/admit HTTP/1.1", &host, "connection: close", header, body]).await;
        assert_eq!(problem(&answer).0, status, "{header}");
    }
    let head = ["POST /v1/admit HTTP/1.1", "host: evil.example", "connection: close", body];
    assert_eq!(problem(&send(&server.http, &head).await).0, 421);
    server.stop().await;
}

#[tokio::test]
async fn requests_over_http_and_grpc_share_one_bound_and_one_drain() {
    let server = TestServer::start("limits.requests_in_flight = 1\ndrain_for = \"5m\"").await;
    let held = server.hold_up().await;
    let mut answer = post(&server.http, "/v1/admit", "{\"target\":\"a\"}").await;
    while answer.status == 200 {
        answer = post(&server.http, "/v1/admit", "{\"target\":\"a\"}").await; // the other may be on its way still
    }
    let (status, code, _) = problem(&answer);
    assert_eq!((status, code.as_str(), answer.header("retry-after").as_str()), (429, "RESOURCE_EXHAUSTED", "1"));
    assert_eq!(json_of(&answer)["retryAfterMs"], 1_000);
    let http = server.http.clone();
    let stopping = tokio::spawn(server.stop());
    while answer.status != 503 {
        answer = post(&http, "/v1/peek", "{\"targets\":[{\"target\":\"a\"}]}").await;
    }
    assert_eq!((problem(&answer).1.as_str(), answer.header("retry-after").as_str()), ("UNAVAILABLE", "1"));
    held.abort();
    stopping.await.unwrap();
}

#[tokio::test]
async fn the_test_clock_moves_by_the_same_header() {
    let toml = "[[breaker]]\ncode = \"b\"\ntargets = [\"a\"]\n[breaker.error_rate]\nrules = [{ failures = 1, within = \"30s\" }]\nopen_for = \"10s\"\njitter = \"0%\"";
    let server = TestServer::start(toml).await;
    server.open("a", Kind::ErrorRate).await;
    let at = async |ms: &str| {
        let headers = ["content-type: application/json", &format!("tripnote-test-now-ms: {ms}")];
        json_of(&post_as(&server.http, "/v1/admit", &headers, b"{\"target\":\"a\"}").await)
    };
    assert_eq!(at("9000").await["trip"]["retryAfterMs"], "1000");
    assert_eq!(at("10000").await["permit"]["probe"], true);
    server.stop().await;
}

#[tokio::test]
async fn requests_are_counted_by_what_they_were_for() {
    let server = TestServer::start("").await;
    posted(&server, "/v1/admit", json!({"target": "a"})).await;
    post(&server.http, "/v1/admit", "{}").await;
    ask(&server.http, "GET", "/v1/nothing").await;
    let scrape = crate::metrics::scrape(&server).await;
    let count =
        |route: &str, code: &str| scrape.sum("tripnote_http_requests_total", &[("route", route), ("code", code)]);
    assert_eq!([count("breakers", "2xx"), count("breakers", "4xx"), count("other", "4xx")], [1.0, 1.0, 1.0]);
    assert_eq!(scrape.sum("tripnote_http_requests_total", &[]), 3.0);
    assert_eq!(scrape.sum("grpc_server_started_total", &[]), 0.0, "none of them is an RPC");
    server.stop().await;
}

#[tokio::test]
async fn the_document_of_the_face_is_there() {
    let server = TestServer::start("").await;
    let document = got(&server, "/openapi.json").await;
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["paths"]["/v1/sessions/{id}:review"]["post"].is_object());
    server.stop().await;
}
