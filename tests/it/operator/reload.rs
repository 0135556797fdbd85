//! Another configuration while calls are on their way.

use std::sync::Arc;

use parking_lot::Mutex;
use tonic::Code;
use tripnote::service::server::Address;
use tripnote::wire::pb;

use crate::support::TestServer;
use crate::support::asks::{Kind, bad, by_permit, call_by, good, name, permit_of};

const PAYMENTS: &str = r#"
[defaults.error_rate]
rules = [{ failures = 3, within = "30s" }]
jitter = "0%"
[[breaker]]
code = "payments"
targets = ["POST *"]
[[breaker]]
code = "search"
targets = ["GET *"]
"#;

async fn start(toml: &str) -> (TestServer, Arc<Mutex<(String, u64)>>) {
    TestServer::start_at(toml, &Address::Tcp("127.0.0.1:0".parse().unwrap())).await
}

async fn reload(server: &TestServer, text: &Mutex<(String, u64)>, toml: &str) -> pb::ReloadConfigResponse {
    text.lock().0 = toml.to_owned();
    server.operators().reload_config(pb::ReloadConfigRequest {}).await.unwrap().into_inner()
}

/// The same file with another text at one place.
fn edited(from: &str, to: &str) -> String {
    assert!(PAYMENTS.contains(from));
    PAYMENTS.replace(from, to)
}

#[tokio::test]
async fn a_file_with_faults_changes_nothing_and_tells_them_all() {
    let (server, text) = start(PAYMENTS).await;
    for _ in 0..3 {
        server.fail("POST /a", Kind::ErrorRate).await;
    }
    let before = server.circuits(false).await;
    let faulty = "[defaults.error_rate]\nopen_for = \"5ms\"\nno_such_key = 1\n\n[limits]\ntargets = 0\n";
    let answer = reload(&server, &text, faulty).await;
    assert_eq!((answer.changes.len(), answer.config_version), (0, 1));
    let told: Vec<_> =
        answer.faults.iter().map(|fault| (fault.path.as_str(), fault.value.as_str(), fault.line)).collect();
    assert_eq!(
        told,
        [
            ("defaults.error_rate.open_for", "5ms", 2),
            ("defaults.error_rate.no_such_key", "no_such_key", 3),
            ("limits.targets", "0", 6)
        ]
    );
    assert!(answer.faults.iter().all(|fault| !fault.rule.is_empty()), "{answer:?}");
    assert_eq!(server.circuits(false).await, before);
    assert_eq!(server.trip("POST /a").await.breaker, "payments");
    server.stop().await;
}

#[tokio::test]
async fn phases_windows_and_deadlines_outlive_a_reload() {
    let (server, text) = start(PAYMENTS).await;
    for _ in 0..3 {
        server.fail("POST /open", Kind::ErrorRate).await;
    }
    for _ in 0..2 {
        server.fail("POST /near", Kind::ErrorRate).await;
    }
    let in_flight = server.permit("POST /near").await;
    let before = server.trip("POST /open").await;
    let answer = reload(&server, &text, &edited("jitter", "open_for = \"90s\"\njitter")).await;
    assert_eq!((answer.faults.len(), answer.config_version), (0, 2));
    assert!(!answer.changes.is_empty());
    assert_eq!(server.trip("POST /open").await.text, before.text, "the deadline stays");
    let ack = server.report(bad(by_permit(&in_flight.token), Kind::ErrorRate)).await;
    assert_eq!(ack.acknowledgement(), pb::Acknowledgement::Counted);
    let trip = ack.trip.unwrap();
    assert_eq!(
        (trip.observed.as_str(), trip.retry_after_ms),
        ("3/3 failed in last 60s", Some(90_000)),
        "the window stays"
    );
    server.stop().await;
}

#[tokio::test]
async fn a_half_open_circuit_keeps_its_probe_over_a_reload() {
    let (server, text) = start(PAYMENTS).await;
    for _ in 0..3 {
        server.fail("POST /a", Kind::ErrorRate).await;
    }
    server.clock.advance_ms(30_000);
    let probe = server.permit("POST /a").await;
    assert!(probe.probe);
    reload(&server, &text, &edited("failures = 3", "failures = 5")).await;
    server.trip("POST /a").await;
    let ack = server.report(good(by_permit(&probe.token))).await;
    assert_eq!((ack.acknowledgement(), ack.phase_after()), (pb::Acknowledgement::Counted, pb::Phase::Closed));
    server.stop().await;
}

#[tokio::test]
async fn a_lower_threshold_is_in_force_at_once() {
    let (server, text) = start(PAYMENTS).await;
    server.fail("POST /a", Kind::ErrorRate).await;
    reload(&server, &text, &edited("failures = 3", "failures = 2")).await;
    server.permit("POST /a").await;
    let trip = server.fail("POST /a", Kind::ErrorRate).await.trip.unwrap();
    assert_eq!(
        (trip.observed.as_str(), trip.threshold.as_str()),
        ("2/2 failed in last 60s", "trip at 2 failures in 30s")
    );
    server.stop().await;
}

#[tokio::test]
async fn a_removed_breaker_ends_with_an_event_and_its_permits_are_unknown() {
    let (server, text) = start(PAYMENTS).await;
    let in_flight = server.permit("POST /a").await;
    for _ in 0..3 {
        server.fail("POST /a", Kind::ErrorRate).await;
    }
    let answer =
        reload(&server, &text, &edited("[[breaker]]\ncode = \"payments\"\ntargets = [\"POST *\"]\n", "")).await;
    assert_eq!(answer.faults, []);
    let ack = server.report(bad(by_permit(&in_flight.token), Kind::ErrorRate)).await;
    assert_eq!((ack.acknowledgement(), ack.phase_after()), (pb::Acknowledgement::Unknown, pb::Phase::Unspecified));
    assert_eq!(server.permit("POST /a").await.breaker, "post_a", "its target has another breaker now");
    let events = server.events(2).await;
    assert_eq!((events[0].event_kind(), events[1].event_kind()), (pb::EventKind::Tripped, pb::EventKind::Removed));
    assert_eq!(events[1].breaker, "payments");
    let status =
        server.operators().reset(pb::ResetRequest { name: Some(name("payments", "", Kind::Unspecified)) }).await;
    assert_eq!(status.unwrap_err().code(), Code::NotFound);
    server.stop().await;
}

#[tokio::test]
async fn a_kind_that_is_turned_off_lets_calls_pass_and_says_that_it_went() {
    let (server, text) = start(PAYMENTS).await;
    for _ in 0..3 {
        server.fail("POST /a", Kind::ErrorRate).await;
    }
    let in_flight = permit_of(server.admit(call_by("b", "POST /b")).await);
    let off = edited("targets = [\"POST *\"]\n", "targets = [\"POST *\"]\nerror_rate = { enabled = false }\n");
    assert_eq!(reload(&server, &text, &off).await.faults, []);
    server.permit("POST /a").await;
    let ack = server.report(bad(by_permit(&in_flight.token), Kind::ErrorRate)).await;
    assert_eq!((ack.acknowledgement(), ack.phase_after()), (pb::Acknowledgement::Counted, pb::Phase::Closed));
    let events = server.events(3).await;
    let told: Vec<_> = events.iter().map(|event| (event.event_kind(), event.kind())).collect();
    let due = [
        (pb::EventKind::Tripped, Kind::ErrorRate),
        (pb::EventKind::ConfigChanged, Kind::Unspecified),
        (pb::EventKind::Removed, Kind::ErrorRate),
    ];
    assert_eq!(told, due);
    assert_eq!((events[1].config_version, events[2].scope.as_str()), (2, "target:POST /a"));
    server.stop().await;
}

#[tokio::test]
async fn holds_outlive_a_reload() {
    let (server, text) = start(PAYMENTS).await;
    let hold = pb::SetOverrideRequest {
        name: Some(name("payments", "", Kind::Unspecified)),
        mode: pb::OverrideMode::ForceOpen.into(),
        owner: "ops".to_owned(),
        ..Default::default()
    };
    server.operators().set_override(hold).await.unwrap();
    reload(&server, &text, &edited("failures = 3", "failures = 9")).await;
    assert_eq!(server.trip("POST /a").await.observed, "held by ops");
    server.stop().await;
}

#[tokio::test]
async fn breakers_made_from_targets_take_new_defaults_over_and_tell_of_it_once() {
    let (server, text) = start(PAYMENTS).await;
    for _ in 0..2 {
        server.fail("ping", Kind::ErrorRate).await;
    }
    reload(&server, &text, &edited("failures = 3", "failures = 2")).await;
    let bogus = pb::ResetRequest { name: Some(name("ping", "credential:00000000", Kind::Unspecified)) };
    let status = server.operators().reset(bogus).await.unwrap_err(); // the first that enters the breaker after the reload
    assert_eq!(status.code(), Code::NotFound);
    let trip = server.fail("ping", Kind::ErrorRate).await.trip.unwrap();
    assert_eq!(trip.threshold, "trip at 2 failures in 30s");
    let kinds: Vec<_> =
        server.events(2).await.iter().map(|event| (event.event_kind(), event.breaker.clone())).collect();
    let ping = "ping".to_owned();
    assert_eq!(kinds, [(pb::EventKind::ConfigChanged, ping.clone()), (pb::EventKind::Tripped, ping)]);
    server.stop().await;
}
