//! A disk that does not answer, or has no room: calls are decided as ever, and everybody can see it.

use base64::Engine as _;
use tonic::transport::Channel;
use tripnote::wire::pb;
use tripnote::wire::pb::breaker_service_client::BreakerServiceClient;

use super::faulty::Disk;
use super::lives::{Life, MINUTE, served};
use crate::support::asks::{Kind, bad, by_permit, call, permit_of};
use crate::support::web::{ask, post};
use crate::support::{NOON_UNIX_MS, TestServer};

async fn server(disk: &Disk, is_strict: bool) -> TestServer {
    served(MINUTE, Life::unrung(MINUTE, Box::new(disk.journal()), NOON_UNIX_MS), is_strict).await
}

/// Asks until it is so. What is waited for is another thread.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..5_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    panic!("in vain: {what}");
}

async fn readyz(server: &TestServer) -> String {
    let answer = ask(&server.http, "GET", "/readyz").await;
    assert_eq!(answer.status, 200, "a store that is down refuses nobody");
    answer.body
}

async fn metric(server: &TestServer, name: &str) -> f64 {
    let text = ask(&server.http, "GET", "/metrics").await.body;
    let line = text.lines().find(|line| line.starts_with(name) && line[name.len()..].starts_with(' ')).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn while_the_disk_blocks_calls_are_decided_and_what_they_led_to_is_written_afterwards() {
    let disk = Disk::default();
    let server = server(&disk, false).await;
    assert_eq!(readyz(&server).await, "serving\n");
    disk.set_blocking(true);
    server.open("first", Kind::ErrorRate).await;
    until("the writer waits for the disk", async || disk.waiting() > 0).await;
    for n in 0..200 {
        let target = format!("t{n}");
        server.open(&target, Kind::ErrorRate).await;
        assert!(
            server
                .admit(call(&target))
                .await
                .decision
                .is_some_and(|d| matches!(d, pb::admit_response::Decision::Trip(_)))
        );
    }
    assert!(disk.waiting() > 0, "the disk has not answered yet");
    server.clock.advance_ms(3_000);
    assert_eq!(readyz(&server).await, "serving, degraded: in memory only: a write to the store does not end\n");
    assert_eq!(metric(&server, "tripnote_store_up").await, 0.0);
    assert!(metric(&server, "tripnote_store_unwritten").await >= 200.0);
    disk.set_blocking(false);
    until("all is written", async || server.engine.unwritten() == 0 && readyz(&server).await == "serving\n").await;
    server.stop().await;
    let life = Life::begin(MINUTE, Box::new(disk.journal()), NOON_UNIX_MS);
    assert_eq!(life.restored.circuits.len(), 201);
}

#[tokio::test]
async fn a_full_disk_is_degraded_and_not_refused_calls_and_nothing_is_missing_when_there_is_room_again() {
    let disk = Disk::default();
    let server = server(&disk, false).await;
    disk.set_failing(true);
    server.open("a", Kind::ErrorRate).await;
    until("it is degraded", async || readyz(&server).await.starts_with("serving, degraded: in memory only: ")).await;
    assert_eq!(metric(&server, "tripnote_store_up").await, 0.0);
    let before = metric(&server, "tripnote_degraded_decisions_total").await;
    for n in 0..10 {
        server.admit(call(&format!("t{n}"))).await;
    }
    assert_eq!(metric(&server, "tripnote_degraded_decisions_total").await - before, 10.0);
    disk.set_failing(false);
    until("it is written again", async || readyz(&server).await == "serving\n").await;
    assert_eq!(metric(&server, "tripnote_store_up").await, 1.0);
    server.stop().await;
    assert_eq!(Life::begin(MINUTE, Box::new(disk.journal()), NOON_UNIX_MS).restored.circuits.len(), 1);
}

/// Reports a failure, which opens the circuit, by one of the ways in; done when it is answered.
async fn fail_by(way: &str, mut breakers: BreakerServiceClient<Channel>, http: String, token: Vec<u8>) {
    let outcomes = vec![bad(by_permit(&token), Kind::ErrorRate)];
    let report = pb::ReportRequest { outcomes };
    match way {
        "report" => drop(breakers.report(report).await.unwrap()),
        "guard" => {
            let ask = pb::GuardRequest { tag: 1, ask: Some(pb::guard_request::Ask::Report(report)) };
            let mut answers = breakers.guard(tokio_stream::iter([ask])).await.unwrap().into_inner();
            assert_eq!(answers.message().await.unwrap().unwrap().tag, 1);
        }
        _ => {
            let permit = base64::engine::general_purpose::STANDARD.encode(token);
            let classification = r#"{"result": "KIND_FAILED", "kind": "CIRCUIT_KIND_ERROR_RATE"}"#;
            let json = format!(r#"{{"outcomes": [{{"permit": "{permit}", "classification": {classification}}}]}}"#);
            let answer = post(&http, "/v1/report", &json).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
    }
}

#[tokio::test]
async fn under_strict_an_opening_is_durable_before_it_is_answered_and_a_call_that_opens_nothing_does_not_wait() {
    for way in ["report", "guard", "http"] {
        let disk = Disk::default();
        let server = server(&disk, true).await;
        let token = permit_of(server.admit(call("a")).await).token;
        disk.set_blocking(true);
        let reporting = tokio::spawn(fail_by(way, server.breakers(), server.http.clone(), token));
        until("the writer waits for the disk", async || disk.waiting() > 0).await;
        permit_of(server.admit(call("b")).await);
        assert!(!reporting.is_finished(), "{way}: its opening is not durable yet");
        disk.set_blocking(false);
        reporting.await.unwrap();
        let as_it_stands = Disk::of(disk.bytes());
        let life = Life::begin(MINUTE, Box::new(as_it_stands.journal()), NOON_UNIX_MS);
        assert_eq!(life.restored.circuits.len(), 1, "{way}");
        server.stop().await;
    }
}

#[tokio::test]
async fn under_strict_a_disk_that_fails_delays_nobody_for_long() {
    let disk = Disk::default();
    let server = server(&disk, true).await;
    disk.set_failing(true);
    server.open("a", Kind::ErrorRate).await; // answered: the store is down, and a tool call is not to be
    assert!(readyz(&server).await.starts_with("serving, degraded"));
    server.stop().await;
}
