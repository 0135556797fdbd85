//! What Prometheus' own checker says of a scrape: Debian's package `prometheus`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::PAYMENTS;
use crate::support::TestServer;
use crate::support::asks::Kind;
use crate::support::web::ask;

#[tokio::test]
async fn promtool_finds_nothing_to_say() {
    let server = TestServer::start(PAYMENTS).await;
    server.open("charge", Kind::ErrorRate).await;
    server.trip("charge").await;
    let scrape = ask(&server.http, "GET", "/metrics").await.body;
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Debian's package `prometheus` is installed");
    promtool.stdin.take().unwrap().write_all(scrape.as_bytes()).unwrap();
    let said = promtool.wait_with_output().unwrap();
    let words = [said.stdout, said.stderr].concat();
    assert!(said.status.success() && words.is_empty(), "{}", String::from_utf8_lossy(&words));
    server.stop().await;
}
