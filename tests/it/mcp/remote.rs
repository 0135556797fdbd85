//! A server behind HTTP, played by the test: what its answers, its streams and its failures become.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex, split};
use tokio::sync::oneshot;
use tripnote::mcp::{InvalidRemote, Remote, run};

use super::stage::{call, result, seen, settings};
use crate::support::TestServer;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
const TRIPS_AT_FIRST: &str = "defaults.error_rate = { rules = [{ consecutive = 1 }], jitter = \"0%\" }\n";

/// What was asked, in the order in which it came.
type Seen = Arc<parking_lot::Mutex<Vec<String>>>;

fn header(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map_or("-", |value| value.to_str().unwrap()).to_owned()
}

/// Answers by what a call names as its tool.
async fn answer(State(asked): State<Seen>, method: Method, headers: HeaderMap, body: String) -> Response {
    let said =
        ["mcp-session-id", "mcp-protocol-version", "authorization", "mcp-name"].map(|name| header(&headers, name));
    asked.lock().push(format!("{method} {}", said.join(" ")));
    let events = |text: String| ([("content-type", "text/event-stream")], text).into_response();
    let json = |text: String| ([("content-type", "application/json; charset=utf-8")], text).into_response();
    let is = |word: &str| body.contains(word);
    match () {
        () if method != Method::POST => 405.status(),
        () if is("\"initialize\"") => {
            let welcome = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}"#.to_owned();
            ([("content-type", "application/json"), ("mcp-session-id", "s1")], welcome).into_response()
        }
        () if is("pretty") => json(result(1, "pretty", false).replace(",\"", ",\n  \"")),
        () if is("stream") => {
            let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#;
            events(format!("id: 1\ndata:\n\ndata: {progress}\n\ndata: {}\n\n", result(1, "streamed", false)))
        }
        () if is("broken") => events("data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n".to_owned()),
        () if is("limited") => {
            (axum::http::StatusCode::TOO_MANY_REQUESTS, [("retry-after", "40")], "slow down").into_response()
        }
        () if is("silent") => 202.status(),
        () if is("forgotten") => 404.status(),
        () => json(r#"{"jsonrpc":"2.0","id":77,"result":{}}"#.to_owned()),
    }
}

trait AsStatus {
    fn status(self) -> Response;
}

impl AsStatus for u16 {
    fn status(self) -> Response {
        axum::http::StatusCode::from_u16(self).unwrap().into_response()
    }
}

/// Says these lines to a proxy in front of such a server, one after the answer to the other; what the client heard.
async fn talk(service: &TestServer, lines: &[String], heard_of_each: usize) -> (Vec<String>, Vec<String>) {
    let asked = Seen::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let app = Router::new().fallback(answer).with_state(Arc::clone(&asked));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let mut remote = Remote::new(&url, Some("Bearer key\n")).unwrap();
    let (near, far) = duplex(1 << 20);
    let (stop, stopped) = oneshot::channel::<()>();
    let settings = settings(&service.endpoint).await;
    let running =
        tokio::spawn(async move { run(settings, split(far), &mut remote, async { _ = stopped.await }).await });
    let (reader, mut writer) = split(near);
    let mut hears = BufReader::new(reader).lines();
    let mut heard = vec![];
    for line in lines {
        writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        for _ in 0..heard_of_each {
            heard.push(hears.next_line().await.unwrap().unwrap_or_default());
        }
    }
    drop(stop);
    running.await.unwrap().unwrap();
    let asked = asked.lock().clone();
    (heard, asked)
}

async fn one(service: &TestServer, tool: &str, heard: usize) -> Vec<String> {
    talk(service, &[call(1, tool, "{}")], heard).await.0
}

#[tokio::test]
async fn one_answer_and_a_stream_of_events_are_lines_to_the_client() {
    let service = TestServer::start("").await;
    assert_eq!(one(&service, "pretty", 1).await, [result(1, "pretty", false).replace(",\"", ",   \"")]);
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#.to_owned();
    assert_eq!(one(&service, "stream", 2).await, [progress, result(1, "streamed", false)]);
}

#[tokio::test]
async fn what_brings_no_answer_is_a_failure_of_the_tool() {
    let service = TestServer::start(TRIPS_AT_FIRST).await;
    for (tool, heard, signal) in [
        ("broken", 2, "error_rate"),
        ("limited", 1, "quota_exhausted"),
        ("silent", 1, "malformed_response"),
        ("stray", 1, "malformed_response"),
    ] {
        let last = one(&service, tool, heard).await.pop().unwrap();
        let last: serde_json::Value = serde_json::from_str(&last).unwrap();
        assert!(last["result"]["isError"] == true && seen(&last).contains(signal), "{tool}: {last}");
    }
}

#[tokio::test]
async fn a_session_and_a_version_are_told_from_the_first_answer_on() {
    let service = TestServer::start("").await;
    let modern = call(2, "pretty é", "{},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}");
    let lines = [HELLO.to_owned(), call(1, "pretty", "{}"), modern.replace("\"id\":2", "\"id\":1")];
    let (_, asked) = talk(&service, &lines, 1).await;
    let want = [
        "POST - - Bearer key -",
        "POST s1 2025-06-18 Bearer key -",
        "POST s1 2026-07-28 Bearer key =?base64?cHJldHR5IMOp?=",
        "DELETE s1 2025-06-18 Bearer key -",
    ];
    assert_eq!(asked, want);
}

#[tokio::test]
async fn a_session_that_the_server_has_forgotten_is_its_end() {
    let service = TestServer::start("").await;
    let (heard, _) = talk(&service, &[HELLO.to_owned(), call(1, "forgotten", "{}")], 1).await;
    assert!(heard[1].contains("the MCP server ended (it has forgotten the session) before it answered"), "{heard:?}");
}

#[test]
fn a_place_that_is_no_url_of_http_is_told_so() {
    for url in ["", "host/mcp", "ftp://host/mcp", "http://user:secret@host/mcp", "http://"] {
        assert_eq!(Remote::new(url, None).unwrap_err(), InvalidRemote::Url(url.to_owned()));
    }
    assert_eq!(Remote::new("http://host/", Some("a\nb")).unwrap_err(), InvalidRemote::Authorization);
}
