//! Overrides: who holds what, for how long, and what the model is told of it.

use tonic::Code;
use tripnote::wire::pb;
use tripnote::wire::pb::OverrideMode as Mode;

use super::TRIPS_AT_FIRST;
use crate::support::TestServer;
use crate::support::asks::{Kind, bad, by_permit, call, call_by, fields_of, good, name, permit_of, trip_of};

const CHARGE: &str = r#"
[defaults.error_rate]
rules = [{ consecutive = 1 }]
jitter = "0%"
[[breaker]]
code = "charge"
targets = ["POST *"]
fallback = { name = "ledger", target = "GET /ledger", note = "read only" }
"#;

fn hold(named: pb::CircuitName, mode: Mode, owner: &str) -> pb::SetOverrideRequest {
    let (name, owner, reason) = (Some(named), owner.to_owned(), "for a test".to_owned());
    pb::SetOverrideRequest { name, mode: mode.into(), owner, reason, expires_in_ms: None }
}

fn whole(breaker: &str) -> pb::CircuitName {
    name(breaker, "", Kind::Unspecified)
}

async fn set(server: &TestServer, request: pb::SetOverrideRequest) -> u32 {
    server.operators().set_override(request).await.unwrap().into_inner().circuits
}

async fn clear(server: &TestServer, named: pb::CircuitName, owner: &str) -> (u32, u32) {
    let request = pb::ClearOverrideRequest { name: Some(named), owner: owner.to_owned() };
    let answer = server.operators().clear_override(request).await.unwrap().into_inner();
    (answer.released, answer.still_held)
}

#[tokio::test]
async fn a_held_circuit_is_released_when_the_last_owner_lets_go() {
    let server = TestServer::start(CHARGE).await;
    assert_eq!(set(&server, hold(whole("charge"), Mode::ForceOpen, "ops")).await, 0, "held before any traffic");
    let trip = server.trip("POST /v2/charge").await;
    assert_eq!((trip.signal(), trip.action()), (pb::Signal::OperatorOverride, pb::Action::SwitchToFallback));
    assert_eq!((trip.observed.as_str(), trip.threshold.as_str()), ("held by ops", "operator override"));
    assert_eq!(
        (trip.state.as_str(), trip.fallback.as_str()),
        ("open until an operator releases it", "ledger, read only")
    );
    set(&server, hold(whole("charge"), Mode::ForceOpen, "oncall@example.org")).await;
    assert_eq!(server.trip("POST /v2/charge").await.observed, "held by ops and 1 more");
    assert_eq!(clear(&server, whole("charge"), "ops").await, (1, 1));
    assert_eq!(server.trip("POST /v2/charge").await.observed, "held by oncall@example.org");
    assert_eq!(clear(&server, whole("charge"), "ops").await, (0, 1), "what is not held is no error");
    assert_eq!(clear(&server, whole("charge"), "oncall@example.org").await, (1, 0));
    server.permit("POST /v2/charge").await;
    server.stop().await;
}

#[tokio::test]
async fn a_hold_ends_by_itself_and_is_not_shown_any_more() {
    let server = TestServer::start(CHARGE).await;
    let request = hold(whole("charge"), Mode::ForceOpen, "ops");
    set(&server, pb::SetOverrideRequest { expires_in_ms: Some(20_000), ..request }).await;
    let trip = server.trip("POST /v2/charge").await;
    assert_eq!(trip.state, "open until 14:01:50Z (about 20 seconds from now), or until released");
    assert_eq!(trip.retry_after_ms, Some(20_000));
    assert_eq!(server.circuits(true).await.len(), 1);
    server.clock.advance_ms(20_000);
    assert_eq!(server.circuits(true).await, [], "its time is over");
    server.permit("POST /v2/charge").await;
    let owners: Vec<_> = server.events(3).await.into_iter().map(|event| (event.event_kind(), event.owner)).collect();
    assert_eq!(owners[0], (pb::EventKind::Overridden, "ops".to_owned()));
    assert_eq!(owners[2], (pb::EventKind::Released, "ops".to_owned()));
    server.stop().await;
}

#[tokio::test]
async fn a_hold_that_is_over_takes_no_room_of_the_64() {
    let server = TestServer::start(CHARGE).await;
    for nth in 0..64 {
        let request = hold(whole("charge"), Mode::ForceClosed, &format!("owner-{nth}"));
        set(&server, pb::SetOverrideRequest { expires_in_ms: Some(1_000), ..request }).await;
    }
    let one_more = hold(whole("charge"), Mode::ForceOpen, "one.more");
    let status = server.operators().set_override(one_more.clone()).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert_eq!(status.message(), "breaker `charge` has 64 overrides already: clear one first");
    let again = hold(whole("charge"), Mode::ForceClosed, "owner-7");
    set(&server, again).await; // its own is replaced
    server.clock.advance_ms(1_000);
    set(&server, one_more).await;
    server.stop().await;
}

#[tokio::test]
async fn a_hold_outlives_what_happens_under_it() {
    let server = TestServer::start(CHARGE).await;
    set(&server, hold(whole("charge"), Mode::ForceClosed, "ops")).await;
    let early = server.permit("POST /a").await;
    let ack = server.fail("POST /a", Kind::ErrorRate).await;
    assert_eq!((ack.phase_after(), ack.trip), (pb::Phase::Open, None), "phases move on underneath");
    server.permit("POST /a").await;
    let shown = server.circuit(name("charge", "target:POST /a", Kind::ErrorRate)).await.unwrap();
    assert_eq!((shown.phase(), shown.override_mode(), shown.contract), (pb::Phase::Open, Mode::ForceClosed, None));
    assert_eq!((shown.holds.len(), shown.holds[0].reason.as_str()), (1, "for a test"));
    server.operators().reset(pb::ResetRequest { name: Some(whole("charge")) }).await.unwrap();
    assert_eq!(server.circuits(true).await[0].holds.len(), 1, "a reset leaves it");
    let ack = server.report(bad(by_permit(&early.token), Kind::ErrorRate)).await;
    assert_eq!(ack.acknowledgement(), pb::Acknowledgement::Stale);
    assert_eq!(clear(&server, whole("charge"), "ops").await, (1, 0));
    server.stop().await;
}

#[tokio::test]
async fn an_open_circuit_refuses_again_when_it_is_no_longer_held_closed() {
    let server = TestServer::start(CHARGE).await;
    server.open("POST /a", Kind::ErrorRate).await;
    set(&server, hold(whole("charge"), Mode::ForceClosed, "ops")).await;
    assert!(!server.permit("POST /a").await.probe);
    let callable = pb::Callable { breaker: "charge".to_owned(), probe: false };
    assert_eq!(server.peek("POST /a").await, pb::peek_result::Result::Callable(callable), "as the admit said");
    clear(&server, whole("charge"), "ops").await;
    assert_eq!(server.trip("POST /a").await.signal(), pb::Signal::ErrorRate);
    server.stop().await;
}

#[tokio::test]
async fn the_strictest_mode_is_in_force() {
    let server = TestServer::start(CHARGE).await;
    server.open("POST /a", Kind::ErrorRate).await;
    let mode =
        async || server.circuit(name("charge", "target:POST /a", Kind::ErrorRate)).await.unwrap().override_mode();
    set(&server, hold(whole("charge"), Mode::Shadow, "c")).await;
    let answer = server.admit(call("POST /a")).await;
    assert_eq!((mode().await, answer.shadow_trip.clone().unwrap().signal()), (Mode::Shadow, pb::Signal::ErrorRate));
    permit_of(answer);
    set(&server, hold(whole("charge"), Mode::ForceClosed, "b")).await;
    let answer = server.admit(call("POST /a")).await;
    assert_eq!((mode().await, answer.shadow_trip), (Mode::ForceClosed, None));
    set(&server, hold(whole("charge"), Mode::ForceOpen, "a")).await;
    assert_eq!(mode().await, Mode::ForceOpen);
    assert_eq!(server.trip("POST /a").await.observed, "held by a");
    server.stop().await;
}

#[tokio::test]
async fn a_hold_is_over_a_scope_or_a_kind_alone() {
    let server = TestServer::start(CHARGE).await;
    set(&server, hold(name("charge", "target:POST /a", Kind::Unspecified), Mode::ForceOpen, "ops")).await;
    server.trip("POST /a").await;
    server.permit("POST /b").await;
    clear(&server, whole("charge"), "ops").await;
    let of_key = |credential: &str| pb::AdmitRequest { credential: credential.to_owned(), ..call("POST /b") };
    let permit = permit_of(server.admit(of_key("k1")).await);
    server.report(bad(by_permit(&permit.token), Kind::QuotaExhaustedRate)).await;
    let scope = server.circuits(true).await[0].name.clone().unwrap().scope;
    set(&server, hold(name("charge", &scope, Kind::QuotaExhaustedRate), Mode::ForceOpen, "ops")).await;
    assert_eq!(trip_of(server.admit(of_key("k1")).await).signal(), pb::Signal::OperatorOverride);
    permit_of(server.admit(of_key("k2")).await);
    server.stop().await;
}

#[tokio::test]
async fn a_hold_of_an_owner_is_replaced_when_it_is_set_again() {
    let server = TestServer::start(CHARGE).await;
    let request = hold(whole("charge"), Mode::ForceOpen, "ops");
    set(&server, request.clone()).await;
    set(&server, pb::SetOverrideRequest { expires_in_ms: Some(5_000), ..request.clone() }).await;
    assert_eq!(server.trip("POST /a").await.retry_after_ms, Some(5_000));
    set(&server, hold(whole("charge"), Mode::Shadow, "ops")).await;
    server.permit("POST /a").await;
    assert_eq!(clear(&server, whole("charge"), "ops").await, (1, 0), "one owner, one hold");
    server.stop().await;
}

#[tokio::test]
async fn a_malformed_hold_is_refused_with_its_field() {
    let server = TestServer::start(CHARGE).await;
    let good_one = hold(whole("charge"), Mode::ForceOpen, "ops");
    let owner = |owner: &str| pb::SetOverrideRequest { owner: owner.to_owned(), ..good_one.clone() };
    let expires = |ms| pb::SetOverrideRequest { expires_in_ms: Some(ms), ..good_one.clone() };
    let month_ms = 30 * 24 * 3_600_000;
    let faulty = [
        ("owner", owner("")),
        ("owner", owner(&"o".repeat(41))),
        ("owner", owner("o p s")),
        ("owner", owner("öps")),
        ("owner", owner("ops\n\"}")),
        ("expires_in_ms", expires(0)),
        ("expires_in_ms", expires(month_ms + 1)),
        ("mode", pb::SetOverrideRequest { mode: 0, ..good_one.clone() }),
        ("mode", pb::SetOverrideRequest { mode: 99, ..good_one.clone() }),
        ("reason", pb::SetOverrideRequest { reason: "r".repeat(201), ..good_one.clone() }),
        ("name", pb::SetOverrideRequest { name: None, ..good_one.clone() }),
        ("name.breaker", hold(whole("Charge"), Mode::ForceOpen, "ops")),
        ("name.scope", hold(name("charge", &"s".repeat(641), Kind::Unspecified), Mode::ForceOpen, "ops")),
    ];
    for (path, request) in faulty {
        assert_eq!(fields_of(&server.operators().set_override(request).await.unwrap_err()), [path]);
    }
    let status = server.operators().set_override(hold(whole("nowhere"), Mode::ForceOpen, "ops")).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
    let nobody = pb::ClearOverrideRequest { name: Some(whole("charge")), owner: String::new() };
    assert_eq!(fields_of(&server.operators().clear_override(nobody).await.unwrap_err()), ["owner"]);
    server.permit("POST /a").await;
    set(&server, owner(&"o".repeat(40))).await;
    set(&server, owner("A-z_0.9@x")).await;
    set(&server, expires(month_ms)).await;
    server.stop().await;
}

#[tokio::test]
async fn a_held_circuit_shows_the_contract_that_callers_get() {
    let server = TestServer::start(CHARGE).await;
    server.open("POST /a", Kind::ErrorRate).await;
    let shown = async || server.circuit(name("charge", "target:POST /a", Kind::ErrorRate)).await.unwrap().contract;
    set(&server, hold(whole("charge"), Mode::Shadow, "ops")).await;
    assert_eq!(shown().await, None, "it lets calls pass");
    set(&server, hold(whole("charge"), Mode::ForceOpen, "ops")).await;
    let handed_out = server.trip("POST /a").await;
    assert_eq!(shown().await.map(|trip| trip.text), Some(handed_out.text));
    server.stop().await;
}

#[tokio::test]
async fn a_closed_circuit_that_is_held_open_shows_its_contract() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    server.open("a", Kind::ErrorRate).await;
    server.clock.advance_ms(30_000);
    let probe = server.permit("a").await;
    server.report(good(by_permit(&probe.token))).await;
    assert_eq!(set(&server, hold(whole("a"), Mode::ForceOpen, "ops")).await, 1);
    let handed_out = trip_of(server.admit(call_by("agent", "a")).await);
    let shown = server.circuit(name("a", "target:a", Kind::ErrorRate)).await.unwrap();
    assert_eq!(shown.phase(), pb::Phase::Closed, "a hold is a mask, never a phase");
    assert_eq!(shown.contract.map(|trip| trip.text), Some(handed_out.text));
    server.stop().await;
}
