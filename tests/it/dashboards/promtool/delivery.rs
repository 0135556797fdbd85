//! One alert goes the whole way: a real service, Prometheus with the rules as they are, Alertmanager with its
//! configuration but for the address, and somebody who listens.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::Room;
use crate::dashboards::read;
use crate::support::TestServer;
use crate::support::asks::Kind;
use crate::support::web::ask;

const FLAPPING: &str = r#"
[[breaker]]
code = "payments"
targets = ["charge *"]
[breaker.error_rate]
rules = [{ failures = 1, within = "30s" }]
open_for = "10s"
jitter = "0%"
"#;

/// Servers that end with the test.
struct Running(Vec<Child>);

impl Running {
    fn start(&mut self, program: &str, words: &[String]) {
        let mut command = Command::new(program);
        let child = command.args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.0.push(child.unwrap_or_else(|error| panic!("Debian packages `{program}`: {error}")));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.0 {
            _ = child.kill();
            _ = child.wait();
        }
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Asks a page until it holds a word.
async fn wait_for(port: u16, page: &str, word: &str) {
    for _ in 0..300 {
        let address = format!("127.0.0.1:{port}");
        let is_there = tokio::net::TcpStream::connect(&address).await.is_ok();
        if is_there && ask(&address, "GET", page).await.body.contains(word) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{page} does not say `{word}` within 30 s");
}

/// The first message that comes in: its path and its body.
async fn message(sink: TcpListener) -> String {
    let (mut stream, _) = sink.accept().await.unwrap();
    let mut text = String::new();
    let mut bytes = [0; 4096];
    loop {
        let read = stream.read(&mut bytes).await.unwrap();
        text += &String::from_utf8_lossy(&bytes[..read]);
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
        if read == 0 || body.is_some_and(|body| serde_json::from_str::<serde_json::Value>(body).is_ok()) {
            break;
        }
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    text
}

/// Prometheus and Alertmanager with the files as they are, but for addresses and waiting times.
fn start(room: &Room, scraped: &str, sink: u16) -> (Running, u16) {
    let [prometheus, alertmanager] = [free_port(), free_port()];
    let config = read("prometheus/prometheus.yml")
        .replace("127.0.0.1:7172", scraped)
        .replace("127.0.0.1:9093", &format!("127.0.0.1:{alertmanager}"))
        .replace(": 15s", ": 1s");
    fs::write(room.0.join("prometheus.yml"), config).unwrap();
    let config = read("prometheus/alertmanager.yml")
        .replace("127.0.0.1:8080", &format!("127.0.0.1:{sink}"))
        .replace("group_wait: 30s", "group_wait: 0s");
    fs::write(room.0.join("alertmanager.yml"), config).unwrap();
    let at = |name: &str| room.0.join(name).display().to_string();
    let mut running = Running(vec![]);
    running.start(
        "prometheus-alertmanager",
        &[
            format!("--config.file={}", at("alertmanager.yml")),
            format!("--storage.path={}", at("alerts")),
            format!("--web.listen-address=127.0.0.1:{alertmanager}"),
            "--cluster.listen-address=".to_owned(),
        ],
    );
    running.start(
        "prometheus",
        &[
            format!("--config.file={}", at("prometheus.yml")),
            format!("--storage.tsdb.path={}", at("data")),
            format!("--web.listen-address=127.0.0.1:{prometheus}"),
        ],
    );
    (running, prometheus)
}

#[tokio::test]
async fn a_breaker_that_opens_again_and_again_is_told_to_somebody() {
    let server = TestServer::start(FLAPPING).await;
    let sink = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let room = Room::new("delivery");
    let (running, prometheus) = start(&room, &server.http, sink.local_addr().unwrap().port());
    let query = "/api/v1/query?query=count_over_time(tripnote_build_info[1m])%3E1";
    wait_for(prometheus, query, "\"value\"").await;
    wait_for(prometheus, "/api/v1/alertmanagers", "/api/v2/alerts").await;
    for number in 0..8 {
        server.open(&format!("charge {number}"), Kind::ErrorRate).await;
    }
    let told = tokio::time::timeout(Duration::from_secs(60), message(sink)).await.expect("nobody was told in a minute");
    assert!(told.starts_with("POST /team "), "a warning goes to the team: {told}");
    for word in [
        r#""alertname":"TripnoteBreakerFlapping""#,
        r#""breaker":"payments""#,
        r#""status":"firing""#,
        r#""runbook":"dashboards/README.md#tripnotebreakerflapping""#,
    ] {
        assert!(told.contains(word), "{word} is not in {told}");
    }
    drop(running);
    server.stop().await;
}
