//! Failed steps over a real server: the table, moves that respect circuits, records, and what a report says of a step.

mod reported;

use tonic::Code;
use tonic::transport::Channel;
use tripnote::domain::time::Timestamp;
use tripnote::service::server::Address;
use tripnote::wire::pb;
use tripnote::wire::pb::failure_service_client::FailureServiceClient;

use crate::support::asks::{Kind, fields_of};
use crate::support::{TestServer, channel};

/// `b`, `c` and `a` serve `large` and `small`, in that order; `large` is narrowed to `small`.
const STEPS: &str = "
[defaults.error_rate]
rules = [{ consecutive = 3 }]
open_for = '10s'
jitter = '0%'
[[host]]
name = 'b'
routes = ['large', 'small']
[[host]]
name = 'c'
routes = ['large', 'small']
[[host]]
name = 'a'
routes = ['large', 'small']
[[route]]
name = 'large'
narrow = 'small'
";

async fn failures(server: &TestServer) -> FailureServiceClient<Channel> {
    FailureServiceClient::new(channel(&server.endpoint).await)
}

fn record(class: &str, attempt: u32) -> pb::AttemptRecord {
    pb::AttemptRecord {
        failure_class: class.to_owned(),
        attempt,
        writes: Some(false),
        tools_enabled: Some(false),
        snapshot_same: Some(true),
        ..pb::AttemptRecord::default()
    }
}

fn at(host: &str, route: &str) -> pb::StepBinding {
    pb::StepBinding { host: host.to_owned(), route: route.to_owned(), snapshot: "sha256:1f".to_owned() }
}

fn everywhere() -> Vec<String> {
    ["a", "b", "c"].map(str::to_owned).to_vec()
}

/// A failed attempt of the step `4` at `large`; its snapshot is published everywhere.
fn asked(host: &str, record: pb::AttemptRecord) -> pb::DecideRequest {
    pb::DecideRequest {
        step: "4".to_owned(),
        binding: Some(at(host, "large")),
        record: Some(record),
        published_at: everywhere(),
        sketch: "drafts/4.json".to_owned(),
        caller: String::new(),
    }
}

async fn decide(server: &TestServer, request: pb::DecideRequest) -> pb::DecideResponse {
    failures(server).await.decide(request).await.unwrap().into_inner()
}

/// Where a second transport fault at a host leads, or why nowhere.
async fn moved(server: &TestServer, step: &str, host: &str) -> Result<String, pb::LeafReason> {
    let request = pb::DecideRequest { step: step.to_owned(), ..asked(host, record("transport", 2)) };
    let attempt = decide(server, request).await.attempt.unwrap();
    let reason = attempt.reason();
    attempt.next_binding.map(|next| next.host).ok_or(reason)
}

async fn listed(server: &TestServer, step: &str, caller: &str) -> Vec<pb::Attempt> {
    let request = pb::ListAttemptsRequest { step: step.to_owned(), caller: caller.to_owned() };
    failures(server).await.list_attempts(request).await.unwrap().into_inner().attempts
}

#[tokio::test]
async fn the_eight_rows_hold_over_grpc() {
    let server = TestServer::start(STEPS).await;
    let table = include_str!("../fixtures/failure-tree.table");
    let rows: Vec<&str> = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert_eq!(rows.len(), 8);
    for (number, row) in rows.into_iter().enumerate() {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [class, attempt, writes, tools, same, "->", leaf, place, reason] = words[..] else { panic!("{row}") };
        let record = pb::AttemptRecord {
            writes: writes.parse().ok(),
            tools_enabled: tools.parse().ok(),
            snapshot_same: same.parse().ok(),
            ..record(class, attempt.parse().unwrap())
        };
        let request = pb::DecideRequest { step: format!("row {number}"), ..asked("a", record) };
        let attempt = decide(&server, request).await.attempt.unwrap();
        let told = (attempt.leaf().as_str_name(), attempt.row.to_string(), attempt.reason().as_str_name());
        let due = (format!("LEAF_{}", leaf.to_uppercase()), format!("LEAF_REASON_{}", reason.to_uppercase()));
        assert_eq!(told, (due.0.as_str(), place.to_owned(), due.1.as_str()), "{row}");
        assert_eq!((attempt.needs_review, attempt.next_binding.is_none()), (leaf == "halt", leaf == "halt"), "{row}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_duplicate_answers_the_same_leaf_and_moves_nothing() {
    let server = TestServer::start(STEPS).await;
    let first = decide(&server, asked("a", record("transport", 2))).await;
    let again = decide(&server, pb::DecideRequest { published_at: vec![], ..asked("a", record("unknown", 2)) }).await;
    assert_eq!((first.duplicate, again.duplicate), (false, true));
    assert_eq!(first.attempt, again.attempt);
    assert_eq!(listed(&server, "4", "").await, [first.attempt.unwrap()]);
    server.stop().await;
}

#[tokio::test]
async fn a_move_passes_over_a_host_whose_circuit_is_open_until_it_may_be_called_again() {
    let server = TestServer::start(STEPS).await;
    assert_eq!(moved(&server, "closed", "a").await.as_deref(), Ok("b"));
    for _ in 0..3 {
        server.fail("b", Kind::ErrorRate).await;
    }
    server.trip("b").await;
    assert_eq!(moved(&server, "open", "a").await.as_deref(), Ok("c"));
    for _ in 0..3 {
        server.fail("c", Kind::ErrorRate).await;
    }
    assert_eq!(moved(&server, "none left", "a").await, Err(pb::LeafReason::SpareCircuitOpen));
    server.clock.set(Timestamp(10_000));
    assert_eq!(moved(&server, "half-open", "a").await.as_deref(), Ok("b"));
    assert!(server.permit("b").await.probe, "a decision takes no probe");
    assert_eq!(moved(&server, "probed", "a").await.as_deref(), Ok("c"), "the one probe of b is out");
    server.stop().await;
}

#[tokio::test]
async fn a_snapshot_that_is_published_nowhere_else_halts() {
    let server = TestServer::start(STEPS).await;
    for (step, published_at) in [("nowhere", vec![]), ("here", vec!["a".to_owned()]), ("x", vec!["x".to_owned()])] {
        let request = pb::DecideRequest { step: step.to_owned(), published_at, ..asked("a", record("transport", 2)) };
        let attempt = decide(&server, request).await.attempt.unwrap();
        assert_eq!((attempt.leaf(), attempt.row), (pb::Leaf::Halt, 5));
        assert_eq!(attempt.reason(), pb::LeafReason::SnapshotNotPublished);
        assert!(attempt.needs_review && attempt.next_binding.is_none() && attempt.next_attempt == 0);
    }
    server.stop().await;
}

#[tokio::test]
async fn attempts_are_chained_and_listed_with_both_bindings() {
    let server = TestServer::start(STEPS).await;
    for (host, attempt) in [("a", 1), ("a", 2), ("b", 1)] {
        decide(&server, asked(host, record("transport", attempt))).await;
    }
    decide(&server, asked("b", record("contract_miss", 2))).await;
    let attempts = listed(&server, "4", "").await;
    let told: Vec<_> = attempts
        .iter()
        .map(|one| {
            let (old, new) = (one.binding.clone().unwrap(), one.next_binding.clone().unwrap());
            (one.id, one.after, one.chain, old.host, new.host, new.route, one.next_attempt)
        })
        .collect();
    let text = |words: [&str; 3]| words.map(str::to_owned);
    let due = [
        (1, None, ["a", "a", "large"], 2),
        (2, Some(1), ["a", "b", "large"], 1),
        (3, Some(2), ["b", "b", "large"], 2),
        (4, Some(3), ["b", "b", "small"], 1),
    ];
    let due = due.map(|(id, after, words, attempt)| {
        let [old, new, route] = text(words);
        (id, after, 1, old, new, route, attempt)
    });
    assert_eq!(told, due);
    assert!(attempts.iter().all(|one| one.at.is_some() && one.cap_raised_because.is_empty()));
    assert_eq!(listed(&server, "5", "").await, []);
    server.stop().await;
}

#[tokio::test]
async fn a_sketch_is_accepted_once_and_by_its_caller() {
    let server = TestServer::start(STEPS).await;
    let mut failures = failures(&server).await;
    let narrowed = decide(&server, asked("a", record("contract_miss", 1))).await.attempt.unwrap();
    assert_eq!(narrowed.next_binding, Some(at("a", "small")));
    assert_eq!(narrowed.sketch, Some(pb::Sketch { reference: "drafts/4.json".to_owned(), ..pb::Sketch::default() }));
    let retried = decide(&server, asked("b", record("transport", 1))).await.attempt.unwrap();
    let accept = |id, caller: &str| pb::AcceptSketchRequest { id, caller: caller.to_owned() };
    let stolen = failures.accept_sketch(accept(narrowed.id, "other")).await.unwrap_err();
    assert_eq!(stolen.code(), Code::NotFound);
    assert_eq!(
        failures.accept_sketch(accept(99, "")).await.unwrap_err().message(),
        stolen.message().replace('1', "99")
    );
    let none = failures.accept_sketch(accept(retried.id, "")).await.unwrap_err();
    assert_eq!((none.code(), none.message().contains("same_binding_retry")), (Code::FailedPrecondition, true));
    let first = failures.accept_sketch(accept(narrowed.id, "")).await.unwrap().into_inner();
    server.clock.set(Timestamp(5_000));
    let again = failures.accept_sketch(accept(narrowed.id, "")).await.unwrap().into_inner();
    assert_eq!((first.duplicate, again.duplicate), (false, true));
    assert_eq!(first.attempt, again.attempt, "the first time stands");
    assert!(again.attempt.unwrap().sketch.unwrap().accepted_at.is_some());
    server.clock.step_wall_ms(3_600_000);
    let blind = failures.accept_sketch(accept(narrowed.id, "")).await.unwrap().into_inner().attempt.unwrap();
    let sketch = blind.sketch.unwrap();
    assert_eq!(
        (sketch.accepted, sketch.accepted_at, blind.at),
        (true, None, None),
        "a clock that stepped is not shown"
    );
    server.stop().await;
}

#[tokio::test]
async fn two_callers_do_not_see_each_other() {
    let server = TestServer::start(STEPS).await;
    let by = |caller: &str| pb::DecideRequest { caller: caller.to_owned(), ..asked("a", record("transport", 2)) };
    let first = decide(&server, by("one")).await;
    let second = decide(&server, by("two")).await;
    assert!(!first.duplicate && !second.duplicate);
    let (first, second) = (first.attempt.unwrap(), second.attempt.unwrap());
    assert_eq!((second.after, second.chain), (None, second.id));
    assert_eq!(listed(&server, "4", "one").await, [first]);
    assert_eq!(listed(&server, "4", "two").await, [second]);
    assert_eq!(listed(&server, "4", "").await, []);
    server.stop().await;
}

#[tokio::test]
async fn a_bit_that_was_not_given_is_refused_by_its_name() {
    let server = TestServer::start(STEPS).await;
    let mut failures = failures(&server).await;
    let whole = record("transport", 1);
    for (record, field) in [
        (pb::AttemptRecord { writes: None, ..whole.clone() }, "record.writes"),
        (pb::AttemptRecord { tools_enabled: None, ..whole.clone() }, "record.tools_enabled"),
        (pb::AttemptRecord { snapshot_same: None, policy_denied: true, ..whole.clone() }, "record.snapshot_same"),
        (pb::AttemptRecord { attempt: 1_000_001, ..whole.clone() }, "record.attempt"),
        (pb::AttemptRecord { failure_class: "x".repeat(65), ..whole.clone() }, "record.failure_class"),
    ] {
        let status = failures.decide(asked("a", record)).await.unwrap_err();
        assert_eq!(fields_of(&status), [field]);
    }
    let due = asked("a", whole);
    let binding = |host: &str, route: &str| Some(at(host, route));
    for (request, field) in [
        (pb::DecideRequest { step: String::new(), ..due.clone() }, "step"),
        (pb::DecideRequest { binding: None, ..due.clone() }, "binding"),
        (pb::DecideRequest { binding: binding("", "large"), ..due.clone() }, "binding.host"),
        (pb::DecideRequest { binding: binding("a", "la\u{200b}rge"), ..due.clone() }, "binding.route"),
        (pb::DecideRequest { record: None, ..due.clone() }, "record"),
        (pb::DecideRequest { published_at: vec!["a".to_owned(); 65], ..due.clone() }, "published_at"),
        (pb::DecideRequest { published_at: vec!["a".to_owned(), String::new()], ..due.clone() }, "published_at[1]"),
        (pb::DecideRequest { sketch: "x".repeat(257), ..due.clone() }, "sketch"),
        (pb::DecideRequest { caller: "x".repeat(257), ..due.clone() }, "caller"),
    ] {
        assert_eq!(fields_of(&failures.decide(request).await.unwrap_err()), [field]);
    }
    let nameless = pb::ListAttemptsRequest { step: " ".to_owned(), caller: String::new() };
    assert_eq!(fields_of(&failures.list_attempts(nameless).await.unwrap_err()), ["step"]);
    assert_eq!(listed(&server, "4", "").await, [], "nothing of these was kept");
    server.stop().await;
}

#[tokio::test]
async fn a_reload_changes_the_hosts_and_a_raised_cap_is_written_down() {
    let (server, text) = TestServer::start_at(STEPS, &Address::Tcp("127.0.0.1:0".parse().unwrap())).await;
    assert_eq!(moved(&server, "before", "a").await.as_deref(), Ok("b"));
    let raised = "[failure]\nsame_binding_retries = 2\nreason = 'the array fails over'\n";
    text.lock().0 = format!("{raised}{}", STEPS.replace("name = 'b'", "name = 'd'"));
    let answer = server.operators().reload_config(pb::ReloadConfigRequest {}).await.unwrap().into_inner();
    assert_eq!(answer.faults, []);
    assert_eq!(moved(&server, "before", "a").await.as_deref(), Ok("b"), "what was answered stands");
    let again = pb::DecideRequest { step: "after".to_owned(), ..asked("a", record("transport", 2)) };
    let again = decide(&server, again).await.attempt.unwrap();
    assert_eq!((again.leaf(), again.next_attempt), (pb::Leaf::SameBindingRetry, 3));
    assert_eq!(again.cap_raised_because, "the array fails over");
    let mut third = pb::DecideRequest { step: "after".to_owned(), ..asked("a", record("transport", 3)) };
    third.published_at = ["b", "d", "c"].map(str::to_owned).to_vec();
    let third = decide(&server, third).await.attempt.unwrap();
    assert_eq!(third.next_binding, Some(at("d", "large")), "b is confirmed no more");
    server.stop().await;
}

#[tokio::test]
async fn no_more_attempts_are_kept_than_were_allowed() {
    let server = TestServer::start(&format!("limits.attempts = 2\n{STEPS}")).await;
    for attempt in 1..=3 {
        decide(&server, asked("a", record("transport", attempt))).await;
    }
    let request = pb::ListAttemptsRequest { step: "4".to_owned(), caller: String::new() };
    let kept = failures(&server).await.list_attempts(request).await.unwrap().into_inner();
    assert_eq!((kept.attempts.iter().map(|one| one.id).collect::<Vec<_>>(), kept.dropped), (vec![2, 3], 1));
    server.stop().await;
}
