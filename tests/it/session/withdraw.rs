//! Which tools a trip tells to take out of the model's list.

use tripnote::wire::pb;

use super::agent::{Agent, Word};
use crate::support::TestServer;
use crate::support::asks::{Kind, by_permit, call, call_named, good, name, permit_of, trip_of};

const CONFIG: &str = r#"
[[breaker]]
code = "payments_api_v2"
targets = ["charge", "refund", "POST /v2/*"]
[defaults.error_rate]
rules = [{ failures = 1, within = "30s" }]
open_for = "30s"
jitter = "0%"
"#;

/// A call of a tool that leads to a target.
fn ask(session: &str, tool: &str, target: &str) -> pb::AdmitRequest {
    pb::AdmitRequest { session_id: session.to_owned(), tool_name: tool.to_owned(), ..call(target) }
}

/// Everything behind the payments is shut until an operator lets go of it.
async fn hold(server: &TestServer, mode: pb::OverrideMode) {
    let held = pb::SetOverrideRequest {
        name: Some(name("payments_api_v2", "", Kind::Unspecified)),
        mode: mode.into(),
        owner: "ops".to_owned(),
        reason: "vendor is down".to_owned(),
        expires_in_ms: None,
    };
    server.operators().set_override(held).await.unwrap();
}

#[tokio::test]
async fn a_trip_names_the_tools_of_its_session_whose_targets_are_shut_and_no_others() {
    let server = TestServer::start(CONFIG).await;
    for tool in ["search", "charge", "mail", "refund"] {
        permit_of(server.admit(ask("job", tool, "")).await);
    }
    permit_of(server.admit(ask("other", "refund", "")).await);
    server.open("refund", Kind::ErrorRate).await;
    assert_eq!(trip_of(server.admit(ask("job", "refund", "")).await).withdraw, ["refund"]);
    server.open("charge", Kind::ErrorRate).await;
    server.open("mail", Kind::ErrorRate).await;
    let named = pb::AdmitRequest { tool_name: "mail".to_owned(), ..call_named("job", "c1", "") };
    assert_eq!(trip_of(server.admit(named.clone()).await).withdraw, ["mail", "refund", "charge"]);
    assert_eq!(trip_of(server.admit(ask("other", "refund", "")).await).withdraw, ["refund"]);
    assert_eq!(trip_of(server.admit(call("refund")).await).withdraw, Vec::<String>::new(), "of no session");
    server.clock.advance_ms(29_000);
    server.clock.advance_ms(1_500);
    server.open("refund", Kind::ErrorRate).await;
    let refused = trip_of(server.admit(ask("job", "refund", "")).await);
    assert_eq!(refused.withdraw, ["refund"], "the others can be probed");
}

#[tokio::test]
async fn a_tool_that_still_leads_somewhere_is_kept_and_a_declared_one_is_known_before_its_first_call() {
    let server = TestServer::start(CONFIG).await;
    let mut agent = Agent::new(&server, "declared").await;
    let tool = |name: &str, target: &str| pb::DeclaredTool {
        name: name.to_owned(),
        target: target.to_owned(),
        ..pb::DeclaredTool::default()
    };
    let tools = vec![tool("pay_invoice", "POST /v2/charge"), tool("charge", ""), tool("notes", "")];
    agent.open(pb::SessionPolicy { tools, ..pb::SessionPolicy::default() }).await.unwrap();
    for target in ["POST /v2/charge", "files.test"] {
        permit_of(server.admit(ask("declared", "http", target)).await);
    }
    for target in ["POST /v2/charge", "charge", "refund"] {
        server.open(target, Kind::ErrorRate).await;
    }
    let refused = trip_of(server.admit(ask("declared", "refund", "")).await);
    assert_eq!(refused.withdraw, ["refund", "charge", "pay_invoice"], "http still reaches files.test");
    server.open("files.test", Kind::ErrorRate).await;
    let refused = trip_of(server.admit(ask("declared", "refund", "")).await);
    assert_eq!(refused.withdraw, ["refund", "http", "charge", "pay_invoice"]);
}

#[tokio::test]
async fn what_an_operator_holds_is_withdrawn_until_it_is_let_go_of_and_what_is_only_watched_is_not() {
    let server = TestServer::start(CONFIG).await;
    for tool in ["refund", "charge"] {
        permit_of(server.admit(ask("held", tool, "")).await);
    }
    hold(&server, pb::OverrideMode::ForceOpen).await;
    assert_eq!(trip_of(server.admit(ask("held", "charge", "")).await).withdraw, ["charge", "refund"]);
    hold(&server, pb::OverrideMode::Shadow).await;
    permit_of(server.admit(ask("held", "charge", "")).await);
}

#[tokio::test]
async fn a_trip_that_comes_with_a_result_names_them_too_and_a_session_guards_own_refusal() {
    let server = TestServer::start(&format!("{CONFIG}[defaults.malformed_response]\nenabled = false")).await;
    let mut agent = Agent::new(&server, "results").await;
    assert_eq!(agent.call("search", r#"{"q":"a"}"#, r#"{"items":[1]}"#).await, Word::Permit);
    assert_eq!(agent.answered("charge", "{}", 503, "down").await, Word::Halt);
    assert_eq!(agent.last_trip().withdraw, ["charge"]);
    for nth in 0..3 {
        agent.call("search", &format!(r#"{{"q":"{nth}"}}"#), r#"{"items":[]}"#).await;
        agent.call("search", r#"{"q":"a"}"#, r#"{"items":[]}"#).await;
    }
    let guard = agent.last_trip();
    assert_eq!((guard.signal(), guard.withdraw.clone()), (pb::Signal::NoProgress, vec!["charge".to_owned()]));
}

#[tokio::test]
async fn a_tool_whose_places_are_taken_is_kept() {
    let server = TestServer::start("[session]\nfan_out_per_backend = 1").await;
    permit_of(server.admit(ask("busy", "search", "")).await);
    let full = trip_of(server.admit(ask("busy", "search", "")).await);
    assert_eq!((full.signal(), full.withdraw.len()), (pb::Signal::FanOut, 0));
}

#[tokio::test]
async fn a_tool_is_kept_whose_small_calls_pass() {
    let server = TestServer::start(
        "[[breaker]]\ncode = \"one\"\ntargets = [\"*\"]\nreducible = true\n[breaker.latency]\nslow = \"2s\"\n\
         in_flight = false\nrules = [{ failures = 1, within = \"10s\" }]",
    )
    .await;
    let sized = |bytes| pb::AdmitRequest { arguments_bytes: Some(bytes), ..ask("sized", "search", "") };
    let slow = permit_of(server.admit(sized(3_000)).await);
    let took = pb::Outcome { latency_ms: Some(2_000), ..good(by_permit(&slow.token)) };
    assert!(server.report(took).await.trip.is_some());
    let refused = trip_of(server.admit(sized(3_000)).await);
    assert_eq!((refused.action(), refused.withdraw.len()), (pb::Action::ReducePayload, 0));
    permit_of(server.admit(sized(10)).await);
    assert_eq!(trip_of(server.admit(sized(10)).await).withdraw, ["search"], "one at a time, and that one is out");
}
