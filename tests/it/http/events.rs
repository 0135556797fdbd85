//! Events as server-sent ones: the same as over gRPC, and gone on with after a break.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::support::TestServer;
use crate::support::asks::Kind;
use crate::support::web::ask;

const TRIPS: &str =
    "[[breaker]]\ncode = \"b\"\ntargets = [\"a\"]\n[breaker.error_rate]\nrules = [{ failures = 1, within = \"30s\" }]";

/// A reader of a stream.
struct Reader(BufReader<TcpStream>);

impl Reader {
    async fn open(server: &TestServer, path: &str, header: &str) -> Self {
        let mut stream = TcpStream::connect(&server.http).await.unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n{header}\r\n", server.http);
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut reader = Self(BufReader::new(stream));
        let status = reader.line().await.unwrap();
        assert!(status.starts_with("HTTP/1.1 200"), "{status}");
        while reader.line().await.unwrap() != "retry: 2000" {} // the rest of the head, and what is sent first
        reader
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).await.unwrap_or(0); // a connection that was cut has ended, too
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The next event with its id; none where the stream has ended.
    async fn event(&mut self) -> Option<(String, Value)> {
        let mut id = String::new();
        while let Some(line) = self.line().await {
            if let Some(own) = line.strip_prefix("id: ") {
                id = own.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((id, serde_json::from_str(data).unwrap()));
            }
        }
        None
    }
}

#[tokio::test]
async fn what_happens_is_told_and_gone_on_with() {
    let server = TestServer::start(TRIPS).await;
    let mut reader = Reader::open(&server, "/v1/events?breaker=b", "").await;
    server.open("a", Kind::ErrorRate).await;
    let (id, event) = reader.event().await.unwrap();
    assert_eq!(
        (event["eventKind"].as_str(), event["toPhase"].as_str()),
        (Some("EVENT_KIND_TRIPPED"), Some("PHASE_OPEN"))
    );
    let life = server.engine.incarnation();
    assert_eq!(id, format!("{life}-{}", event["seq"].as_str().unwrap()));
    server.trip("a").await;
    let (_, refused) = reader.event().await.unwrap();
    assert_eq!(refused["eventKind"], "EVENT_KIND_REFUSED");
    let header = format!("last-event-id: {id}\r\n");
    let mut again = Reader::open(&server, "/v1/events?breaker=b", &header).await;
    assert_eq!(again.event().await.unwrap().1, refused, "after the one that was seen");
    let mut other_life = Reader::open(&server, "/v1/events?breaker=b", "last-event-id: 7-999\r\n").await;
    assert_eq!(other_life.event().await.unwrap().1, event, "of another life: all that is kept");
    server.stop().await;
    assert!(reader.event().await.is_none(), "a drain ends it");
}

#[tokio::test]
async fn readers_are_bounded_and_what_cannot_be_gone_on_with_is_told() {
    let server = TestServer::start("limits.watchers = 1").await;
    let reader = Reader::open(&server, "/v1/events", "").await;
    let refused = ask(&server.http, "GET", "/v1/events").await;
    assert_eq!((refused.status, refused.header("retry-after").as_str()), (429, "1"));
    drop(reader);
    while ask(&server.http, "GET", "/v1/events?breaker=No!").await.status != 400 {} // a fault comes before the bound
    let head = ["GET /v1/events HTTP/1.1", "host: localhost", "connection: close", "last-event-id: x"];
    let answer = crate::support::web::send(&server.http, &head).await;
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("Last-Event-ID: is no id of an event"), "{answer:?}");
    server.stop().await;
}
