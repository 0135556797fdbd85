//! What a report that carries a step's binding is told.

use tripnote::wire::pb;

use super::{STEPS, at, decide, everywhere, listed};
use crate::support::TestServer;
use crate::support::asks::{Kind, bad, by_permit, call, call_by, call_named, call_ref, good, permit_of};

fn step(host: &str) -> pb::Binding {
    pb::Binding {
        step: "4".to_owned(),
        host: host.to_owned(),
        route: "large".to_owned(),
        snapshot: "sha256:1f".to_owned(),
        published_at: everywhere(),
        writes: Some(false),
        tools_enabled: Some(false),
        snapshot_same: Some(true),
        ..pb::Binding::default()
    }
}

async fn token(server: &TestServer, request: pb::AdmitRequest) -> Vec<u8> {
    permit_of(server.admit(request).await).token
}

/// Reports how an attempt of a step went; each on a target of its own, so that no circuit opens.
async fn reported(server: &TestServer, target: &str, facts: pb::TransportFacts, outcome: pb::Outcome) -> pb::ReportAck {
    let permit = token(server, call(target)).await;
    let result = Some(pb::outcome::Result::Transport(facts));
    server.report(pb::Outcome { call: Some(by_permit(&permit)), result, ..outcome }).await
}

fn of_kind(kind: pb::ErrorKind) -> pb::TransportFacts {
    pb::TransportFacts { error_kind: kind.into(), ..pb::TransportFacts::default() }
}

fn of_status(status: u32) -> pb::TransportFacts {
    pb::TransportFacts { http_status: Some(status), ..pb::TransportFacts::default() }
}

/// The nth try of a call that only looks.
fn nth(attempt: u32, binding: pb::Binding) -> pb::Outcome {
    pb::Outcome { attempt, effect: pb::Effect::Read.into(), binding: Some(binding), ..pb::Outcome::default() }
}

fn disposition(ack: &pb::ReportAck) -> pb::Disposition {
    ack.handling.as_ref().unwrap().disposition()
}

#[tokio::test]
async fn a_fault_is_retried_then_moved_then_the_chain_goes_on_at_the_new_host() {
    let server = TestServer::start(STEPS).await;
    let first = reported(&server, "t1", of_status(503), nth(1, step("a"))).await;
    assert_eq!((disposition(&first), first.leaf()), (pb::Disposition::RetrySilently, pb::Leaf::SameBindingRetry));
    assert_eq!((first.next_binding, first.next_attempt), (Some(at("a", "large")), 2));
    let second = reported(&server, "t2", of_status(503), nth(2, step("a"))).await;
    assert_eq!((disposition(&second), second.leaf()), (pb::Disposition::Move, pb::Leaf::ComputeMove));
    assert_eq!((second.next_binding, second.next_attempt), (Some(at("b", "large")), 1));
    assert_eq!(second.handling.unwrap().text, "");
    let third = reported(&server, "t3", of_status(503), nth(2, step("b"))).await;
    assert_eq!(third.next_binding, Some(at("c", "large")));
    let ids: Vec<_> = listed(&server, "4", "").await.iter().map(|one| (one.id, one.after)).collect();
    assert_eq!(ids, [(1, None), (2, Some(1)), (3, Some(2))]);
    assert_eq!([first.attempt_id, second.attempt_id, third.attempt_id], [1, 2, 3]);
    server.stop().await;
}

#[tokio::test]
async fn a_read_only_miss_is_narrowed_and_one_that_may_act_halts() {
    let server = TestServer::start(STEPS).await;
    let miss = || of_kind(pb::ErrorKind::MalformedBody);
    let narrowed = reported(&server, "t1", miss(), nth(1, step("a"))).await;
    assert_eq!((disposition(&narrowed), narrowed.leaf()), (pb::Disposition::Narrow, pb::Leaf::RouteNarrowing));
    assert_eq!(narrowed.next_binding, Some(at("a", "small")));
    let acting = pb::Binding { tools_enabled: Some(true), step: "5".to_owned(), ..step("a") };
    let halted = reported(&server, "t2", miss(), nth(1, acting)).await;
    assert_eq!((disposition(&halted), halted.leaf()), (pb::Disposition::DeliverFailure, pb::Leaf::Halt));
    assert_eq!((halted.leaf_reason(), halted.next_binding), (pb::LeafReason::WritesOrTools, None));
    assert!(halted.handling.unwrap().text.contains("class contract_miss"));
    server.stop().await;
}

#[tokio::test]
async fn a_halt_is_never_retried_in_silence_though_a_call_without_a_step_would_be() {
    let server = TestServer::start(STEPS).await;
    let alone = pb::Outcome { binding: None, ..nth(1, step("a")) };
    let alone = reported(&server, "t1", of_status(503), alone).await;
    assert_eq!((disposition(&alone), alone.leaf()), (pb::Disposition::RetrySilently, pb::Leaf::Unspecified));
    let changed = pb::Binding { snapshot_same: Some(false), ..step("a") };
    let denied = pb::Binding { policy_denied: true, step: "5".to_owned(), ..step("a") };
    for (binding, reason) in [(changed, pb::LeafReason::SnapshotChanged), (denied, pb::LeafReason::PolicyDenied)] {
        let ack = reported(&server, "t2", of_status(503), nth(1, binding)).await;
        assert_eq!((disposition(&ack), ack.leaf_reason()), (pb::Disposition::DeliverFailure, reason));
    }
    server.stop().await;
}

#[tokio::test]
async fn a_write_whose_reply_was_lost_is_not_sent_twice() {
    let server = TestServer::start(STEPS).await;
    let mutate = |step_name: &str, idempotent| pb::Outcome {
        effect: pb::Effect::Mutate.into(),
        idempotent,
        // the call is known to write, whatever the step says of itself
        ..nth(1, pb::Binding { step: step_name.to_owned(), ..step("a") })
    };
    let lost = [of_kind(pb::ErrorKind::Timeout), of_kind(pb::ErrorKind::Reset), of_status(504)];
    for (n, facts) in lost.into_iter().enumerate() {
        let ack = reported(&server, &format!("t{n}"), facts.clone(), mutate(&format!("s{n}"), false)).await;
        assert_eq!((ack.leaf(), ack.leaf_reason()), (pb::Leaf::Halt, pb::LeafReason::AmbiguousEffect));
        assert_eq!(disposition(&ack), pb::Disposition::DeliverFailure);
        let kept = listed(&server, &format!("s{n}"), "").await[0].record.clone().unwrap();
        assert_eq!((kept.writes, kept.effect_unknown), (Some(true), true));
        let ack = reported(&server, &format!("k{n}"), facts, mutate(&format!("k{n}"), true)).await;
        assert_eq!(disposition(&ack), pb::Disposition::RetrySilently);
    }
    let ack = reported(&server, "refused", of_kind(pb::ErrorKind::ConnectRefused), mutate("refused", false)).await;
    assert_eq!(disposition(&ack), pb::Disposition::RetrySilently, "it never went out");
    server.stop().await;
}

#[tokio::test]
async fn a_success_and_a_trip_ask_no_tree() {
    let server = TestServer::start(STEPS).await;
    let ack = reported(&server, "t1", of_status(200), nth(1, step("a"))).await;
    assert_eq!((disposition(&ack), ack.leaf(), ack.attempt_id), (pb::Disposition::Deliver, pb::Leaf::Unspecified, 0));
    let permit = token(&server, call("t1")).await;
    let well = pb::Outcome { binding: Some(step("a")), ..good(by_permit(&permit)) };
    assert_eq!(disposition(&server.report(well).await), pb::Disposition::Deliver);
    for _ in 0..2 {
        server.fail("t2", Kind::ErrorRate).await;
    }
    let ack = reported(&server, "t2", of_status(503), nth(2, step("a"))).await;
    assert_eq!((disposition(&ack), ack.leaf()), (pb::Disposition::Trip, pb::Leaf::Unspecified));
    assert_eq!(listed(&server, "4", "").await, [], "nobody decided, so nothing is kept");
    server.stop().await;
}

#[tokio::test]
async fn a_step_is_that_of_the_calls_caller_whichever_way_it_is_asked() {
    let server = TestServer::start(STEPS).await;
    let by_one = token(&server, call_by("one", "t1")).await;
    let failed = bad(by_permit(&by_one), Kind::ErrorRate);
    let ack = server.report(pb::Outcome { attempt: 2, binding: Some(step("a")), ..failed.clone() }).await;
    assert_eq!((disposition(&ack), ack.next_binding.clone()), (pb::Disposition::Move, Some(at("b", "large"))));
    let again = server.report(pb::Outcome { attempt: 2, binding: Some(step("a")), ..failed }).await;
    assert_eq!(again.acknowledgement(), pb::Acknowledgement::Duplicate);
    assert_eq!((again.next_binding, again.attempt_id), (ack.next_binding, ack.attempt_id), "and so is what was told");
    assert_eq!(listed(&server, "4", "").await, []);
    let mut asked = super::asked("a", super::record("transport", 2));
    asked.caller = "one".to_owned();
    let answer = decide(&server, asked).await;
    assert!(answer.duplicate);
    assert_eq!(listed(&server, "4", "one").await, [answer.attempt.unwrap()]);

    server.admit(call_named("s", "c", "t2")).await;
    let ack = server.report(pb::Outcome { binding: Some(step("a")), ..bad(call_ref("s", "c"), Kind::ErrorRate) }).await;
    assert_eq!((ack.leaf(), ack.next_attempt), (pb::Leaf::SameBindingRetry, 2), "the attempt is remembered");
    assert_eq!(listed(&server, "4", "").await.len(), 1);

    let foreign = pb::Outcome { binding: Some(step("a")), ..bad(by_permit(&[7; 60]), Kind::ErrorRate) };
    let ack = server.report(foreign).await;
    assert_eq!((ack.acknowledgement(), ack.attempt_id), (pb::Acknowledgement::Unknown, 0), "whose step is not known");
    server.stop().await;
}

#[tokio::test]
async fn a_binding_without_a_bit_is_refused_and_the_report_with_it() {
    let server = TestServer::start(STEPS).await;
    let permit = token(&server, call("t1")).await;
    for (binding, field) in [
        (pb::Binding { writes: None, ..step("a") }, "outcomes[0].binding.writes"),
        (pb::Binding { tools_enabled: None, ..step("a") }, "outcomes[0].binding.tools_enabled"),
        (pb::Binding { snapshot_same: None, ..step("a") }, "outcomes[0].binding.snapshot_same"),
        (pb::Binding { host: String::new(), ..step("a") }, "outcomes[0].binding.host"),
        (pb::Binding { step: String::new(), ..step("a") }, "outcomes[0].binding.step"),
        (pb::Binding { published_at: vec![String::new()], ..step("a") }, "outcomes[0].binding.published_at[0]"),
    ] {
        let outcomes = vec![pb::Outcome { binding: Some(binding), ..bad(by_permit(&permit), Kind::ErrorRate) }];
        let answer = server.breakers().report(pb::ReportRequest { outcomes }).await.unwrap().into_inner();
        let Some(pb::report_result::Result::Error(error)) = &answer.results[0].result else { panic!("{answer:?}") };
        assert_eq!(error.field, field);
    }
    let ack = server.report(bad(by_permit(&permit), Kind::ErrorRate)).await;
    assert_eq!(ack.acknowledgement(), pb::Acknowledgement::Counted, "it was not looked at before");
    server.stop().await;
}
