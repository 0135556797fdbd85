//! What was told to be shut and is shut no more: said with the next permit, once.

use tripnote::wire::pb;

use super::agent::{Agent, Word};
use crate::support::TestServer;
use crate::support::asks::{Kind, bad, by_permit, call, call_named, good, name, permit_of, trip_of};

const CONFIG: &str = r#"
[[breaker]]
code = "payments_api_v2"
targets = ["pay", "refund"]
[defaults.error_rate]
rules = [{ failures = 1, within = "30s" }]
open_for = "30s"
jitter = "0%"
"#;

fn ask(session: &str, target: &str) -> pb::AdmitRequest {
    pb::AdmitRequest { session_id: session.to_owned(), ..call(target) }
}

async fn notices(server: &TestServer, session: &str, target: &str) -> Vec<String> {
    permit_of(server.admit(ask(session, target)).await).notices
}

/// Somebody's probe closes the circuit of a target.
async fn mend(server: &TestServer, target: &str) {
    let probe = server.permit(target).await;
    assert!(probe.probe);
    server.report(good(by_permit(&probe.token))).await;
}

#[tokio::test]
async fn a_circuit_that_a_session_was_told_of_and_that_has_closed_is_told_once_with_any_permit() {
    let server = TestServer::start(CONFIG).await;
    server.open("pay", Kind::ErrorRate).await;
    trip_of(server.admit(ask("told", "pay")).await);
    server.clock.advance_ms(31_500);
    assert_eq!(notices(&server, "told", "search").await, Vec::<String>::new(), "it is still open");
    mend(&server, "pay").await;
    server.clock.advance_ms(5_000);
    // 14:01:30 and 31.5 s; the call is for something else.
    let named = pb::AdmitRequest { target: "mail".to_owned(), ..call_named("told", "c1", "mail") };
    let first = permit_of(server.admit(named.clone()).await);
    assert_eq!(first.notices, ["payments_api_v2 closed at 14:02:01Z"]);
    assert_eq!(permit_of(server.admit(named).await).notices, first.notices, "the same answer again");
    assert_eq!(notices(&server, "told", "pay").await, Vec::<String>::new(), "said once");
    assert_eq!(notices(&server, "never told", "pay").await, Vec::<String>::new());
    assert_eq!(server.permit("pay").await.notices, Vec::<String>::new(), "of no session");
}

#[tokio::test]
async fn a_session_whose_own_call_opened_the_circuit_was_told_of_it() {
    let server = TestServer::start(CONFIG).await;
    let permit = permit_of(server.admit(ask("own", "pay")).await);
    assert!(server.report(bad(by_permit(&permit.token), Kind::ErrorRate)).await.trip.is_some());
    server.open("refund", Kind::ErrorRate).await;
    trip_of(server.admit(ask("own", "refund")).await);
    server.clock.advance_ms(30_000);
    mend(&server, "pay").await;
    mend(&server, "refund").await;
    assert_eq!(
        notices(&server, "own", "search").await,
        ["payments_api_v2 closed at 14:02:00Z"],
        "one breaker, one line"
    );
}

#[tokio::test]
async fn without_a_trusted_clock_or_a_known_moment_no_time_is_told() {
    let server = TestServer::start(CONFIG).await;
    server.open("pay", Kind::ErrorRate).await;
    trip_of(server.admit(ask("stepped", "pay")).await);
    server.clock.advance_ms(30_000);
    mend(&server, "pay").await;
    server.clock.step_wall_ms(60_000);
    assert_eq!(notices(&server, "stepped", "search").await, ["payments_api_v2 closed"]);

    let held = pb::SetOverrideRequest {
        name: Some(name("payments_api_v2", "", Kind::Unspecified)),
        mode: pb::OverrideMode::ForceOpen.into(),
        owner: "ops".to_owned(),
        reason: "vendor is down".to_owned(),
        expires_in_ms: None,
    };
    server.operators().set_override(held).await.unwrap();
    trip_of(server.admit(ask("held", "pay")).await);
    assert_eq!(notices(&server, "held", "search").await, Vec::<String>::new());
    let name = Some(name("payments_api_v2", "", Kind::Unspecified));
    server.operators().clear_override(pb::ClearOverrideRequest { name, owner: "ops".to_owned() }).await.unwrap();
    assert_eq!(notices(&server, "held", "search").await, ["payments_api_v2 closed"]);
}

#[tokio::test]
async fn a_halt_that_ends_with_its_targets_recovery_is_told() {
    let server = TestServer::start("[defaults.error_rate]\nenabled = false").await;
    let mut agent = Agent::new(&server, "halted").await;
    let mut words = Vec::new();
    for _ in 0..3 {
        words.push(agent.answered("query_loki_logs", r#"{"logql":"{app=\"x\"}"}"#, 503, "down").await);
        server.clock.advance_ms(60_000);
    }
    assert_eq!(words, [Word::Permit, Word::Steer, Word::Halt]);
    assert!(agent.ask("query_loki_logs", "{}").await.is_err());
    let well = server.permit("query_loki_logs").await;
    server.report(good(by_permit(&well.token))).await;
    let resumed = agent.ask("query_loki_logs", "{}").await.unwrap();
    assert_eq!(resumed.notices, ["query_loki_logs is no longer halted: its target answers well"]);
    assert_eq!(agent.ask("search", "{}").await.unwrap().notices, Vec::<String>::new());
}
