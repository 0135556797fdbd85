//! What a tool's answer is: the given cases and our own, each on the pure core and through `Report`.

mod cases;

use std::collections::{BTreeMap, BTreeSet};

use tripnote::domain::observation::fingerprint::text_of;
use tripnote::domain::observation::transport::TransportFacts;
use tripnote::domain::observation::{Format, Observation, RawResult, ToldTexts, Typing, type_result};
use tripnote::domain::signal::Phase;
use tripnote::domain::tool::Tools;
use tripnote::wire::pb;

use self::cases::{Case, Pair, Side, Want, fingerprints, observations, wired};
use crate::support::{NOON_UNIX_MS, TestServer, asks};

/// The files of cases; the first is given, the second is ours.
const OBSERVATIONS: [&str; 2] = ["observations.jsonl", "near_misses.jsonl"];
const FINGERPRINTS: [&str; 2] = ["fingerprints.jsonl", "near_fingerprints.jsonl"];

fn typed(case: &Case, tools: &Tools) -> Typing {
    type_result(&RawResult {
        tool_name: &case.tool,
        tool: tools.of(&case.tool),
        effect: tools.of(&case.tool).effect,
        transport: &case.facts,
        payload: case.payload.as_deref(),
        content_type: None,
        arguments: None,
        is_cut_by_caller: false,
        told: ToldTexts::default(),
        custom: &[],
        now_unix_ms: u64::try_from(NOON_UNIX_MS).unwrap(),
    })
}

fn said_by_the_core(typing: &Typing) -> Want {
    let word = |word: Option<&str>| word.unwrap_or_default().to_owned();
    Want {
        observation: typing.observation.word().to_owned(),
        usable: typing.observation.is_usable(),
        signal: word(typing.kind.map(|kind| kind.signal().word())),
        failure_class: word(typing.failure_class.map(|class| class.word())),
        retry_after_ms: typing.hint.map(|hint| u64::try_from(hint.raw_ms).unwrap_or(0)),
    }
}

fn stripped(name: &str, prefix: &str) -> String {
    let word = name.strip_prefix(prefix).unwrap().to_lowercase();
    if word == "unspecified" { String::new() } else { word }
}

fn said_by_the_service(typing: &pb::Typing) -> Want {
    Want {
        observation: stripped(typing.observation().as_str_name(), "OBSERVATION_"),
        usable: typing.usable,
        signal: stripped(typing.signal().as_str_name(), "SIGNAL_"),
        failure_class: stripped(typing.failure_class().as_str_name(), "FAILURE_CLASS_"),
        retry_after_ms: typing.retry_after_ms,
    }
}

/// All cases that differ, told at once.
fn assert_none(wrong: &[String], of: usize) {
    assert!(wrong.is_empty(), "{} of {of} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_case_is_typed_by_the_core_as_it_says() {
    let tools = Tools::default();
    for file in OBSERVATIONS {
        let cases = observations(file);
        let told = |case: &Case| {
            let typing = typed(case, &tools);
            let got = said_by_the_core(&typing);
            let why = || format!("{} by {} ({})", typing.format, typing.rule, typing.reason);
            (got != case.want).then(|| format!("{}: got {got:?}\n  want {:?}\n  {}", case.id, case.want, why()))
        };
        assert_none(&cases.iter().filter_map(told).collect::<Vec<_>>(), cases.len());
    }
}

#[test]
fn the_given_cases_are_all_there() {
    assert_eq!(observations("observations.jsonl").len(), 313);
    assert_eq!(fingerprints("fingerprints.jsonl").len(), 49);
}

#[tokio::test]
async fn every_case_is_typed_through_report_as_it_says() {
    let server = TestServer::start("").await;
    for file in OBSERVATIONS {
        let cases = observations(file);
        let mut wrong = Vec::new();
        for case in &cases {
            let target = format!("case {}", case.id);
            let call = pb::AdmitRequest { tool_name: case.tool.clone(), ..asks::call(&target) };
            let permit = asks::permit_of(server.breakers().admit(call).await.unwrap().into_inner());
            let payload = case.payload.clone().map(|body| pb::Payload { body, ..pb::Payload::default() });
            let outcome = pb::Outcome {
                call: Some(asks::by_permit(&permit.token)),
                result: Some(pb::outcome::Result::Transport(wired(&case.facts))),
                payload,
                tool_name: case.tool.clone(),
                ..pb::Outcome::default()
            };
            let ack = report(&server, outcome).await;
            let got = said_by_the_service(ack.typing.as_ref().unwrap());
            if got != case.want {
                wrong.push(format!("{}: got {got:?}\n  want {:?}", case.id, case.want));
            }
            assert!(ack.handling.is_some(), "{}: nobody acts on it", case.id);
        }
        assert_none(&wrong, cases.len());
    }
}

async fn report(server: &TestServer, outcome: pb::Outcome) -> pb::ReportAck {
    let request = pb::ReportRequest { outcomes: vec![outcome] };
    let mut answer = server.breakers().report(request).await.unwrap().into_inner();
    match answer.results.pop().unwrap().result.unwrap() {
        pb::report_result::Result::Ack(ack) => ack,
        pb::report_result::Result::Error(error) => panic!("{error:?}"),
    }
}

fn normalised(side: &Side, tools: &Tools) -> Option<String> {
    let raw = RawResult {
        tool_name: &side.tool,
        tool: tools.of(&side.tool),
        effect: tools.of(&side.tool).effect,
        transport: &TransportFacts::default(),
        payload: Some(&side.payload),
        content_type: None,
        arguments: Some(&side.args),
        is_cut_by_caller: false,
        told: ToldTexts::default(),
        custom: &[],
        now_unix_ms: 0,
    };
    text_of(&raw, &type_result(&raw))
}

#[test]
fn the_same_answer_is_known_again_and_another_is_not() {
    let tools = Tools::default();
    for file in FINGERPRINTS {
        let pairs = fingerprints(file);
        let told = |pair: &Pair| {
            let (a, b) = (normalised(&pair.a, &tools), normalised(&pair.b, &tools));
            let same = a.is_some() && a == b;
            (same != pair.same).then(|| format!("{}: same is {same}\n  {a:?}\n  {b:?}", pair.id))
        };
        assert_none(&pairs.iter().filter_map(told).collect::<Vec<_>>(), pairs.len());
    }
}

/// Every format has, in our own cases, one that looks empty or failed and is not, and one that looks fine and is not.
#[test]
fn every_format_has_its_near_misses() {
    let tools = Tools::default();
    let mut seen: BTreeMap<&str, BTreeSet<bool>> = BTreeMap::new();
    for case in OBSERVATIONS.iter().flat_map(|file| observations(file)) {
        let typing = typed(&case, &tools);
        let is_good = matches!(typing.observation, Observation::Observed | Observation::Truncated);
        seen.entry(typing.format.word()).or_default().insert(is_good);
    }
    // A contract of ours is never good and a custom format is taught; pages and bare statuses are told by the transport;
    // what a good JSON-RPC response wraps is of a format of its own; the others are formats of errors alone.
    let one_sided = [
        Format::HostText,
        Format::Custom,
        Format::Bare,
        Format::Html,
        Format::JsonRpc,
        Format::ProblemJson,
        Format::Aws,
        Format::Google,
    ];
    for format in Format::ALL.iter().filter(|format| !one_sided.contains(format)) {
        let sides = seen.get(format.word()).map_or(0, BTreeSet::len);
        assert_eq!(sides, 2, "{format} has cases of {sides} sides");
    }
}

async fn report_payload(server: &TestServer, target: &str, status: u32, body: &str) -> pb::ReportAck {
    let permit = asks::permit_of(server.breakers().admit(asks::call(target)).await.unwrap().into_inner());
    let facts = pb::TransportFacts { http_status: Some(status), ..pb::TransportFacts::default() };
    let payload = pb::Payload { body: body.as_bytes().to_vec(), ..pb::Payload::default() };
    let outcome = pb::Outcome {
        call: Some(asks::by_permit(&permit.token)),
        result: Some(pb::outcome::Result::Transport(facts)),
        payload: Some(payload),
        ..pb::Outcome::default()
    };
    report(server, outcome).await
}

fn phase_of(ack: &pb::ReportAck) -> Option<Phase> {
    ack.phase_after().into()
}

#[tokio::test]
async fn a_broken_query_five_times_leaves_the_shared_breaker_closed() {
    let server = TestServer::start("").await;
    let bad = r#"{"status":"error","errorType":"bad_data","error":"1:5: parse error: unclosed left parenthesis"}"#;
    for _ in 0..5 {
        let ack = report_payload(&server, "prometheus", 400, bad).await;
        assert_eq!(phase_of(&ack), Some(Phase::Closed));
        let handling = ack.handling.unwrap();
        assert_eq!(handling.disposition(), pb::Disposition::ReturnError);
        assert_eq!(handling.text, "the tool rejected the call: 1:5: parse error: unclosed left parenthesis");
    }
}

#[tokio::test]
async fn an_outer_400_that_hides_an_inner_502_counts() {
    let server = TestServer::start("").await;
    let body = r#"{"results":{"A":{"error":"Bad Gateway","errorSource":"downstream","status":502}}}"#;
    let acks = [
        report_payload(&server, "grafana", 400, body).await,
        report_payload(&server, "grafana", 400, body).await,
        report_payload(&server, "grafana", 400, body).await,
    ];
    let phases: Vec<_> = acks.iter().map(phase_of).collect();
    assert_eq!(phases, [Some(Phase::Closed), Some(Phase::Closed), Some(Phase::Open)]);
    assert_eq!(acks[2].handling.as_ref().unwrap().disposition(), pb::Disposition::Trip);
    assert!(acks[2].trip.is_some());
}

#[tokio::test]
async fn a_contract_of_ours_that_comes_back_never_counts() {
    let server = TestServer::start("").await;
    for _ in 0..3 {
        report_payload(&server, "payments", 503, "").await;
    }
    let trip = asks::trip_of(server.breakers().admit(asks::call("payments")).await.unwrap().into_inner());
    for text in [
        trip.text.clone(),
        format!("{{\"content\":[{{\"type\":\"text\",\"text\":{:?}}}],\"isError\":true}}", trip.text),
    ] {
        for _ in 0..10 {
            let ack = report_payload(&server, "an innocent tool", 200, &text).await;
            assert_eq!(phase_of(&ack), Some(Phase::Closed));
            assert_eq!(ack.typing.as_ref().unwrap().format, "host_text");
            assert_eq!(ack.handling.unwrap().disposition(), pb::Disposition::Deliver);
        }
    }
}

#[tokio::test]
async fn what_a_call_said_of_itself_is_remembered_for_its_report() {
    let server = TestServer::start("").await;
    let report_named = async |effect: pb::Effect, attempt: u32, key: &str| {
        let session = format!("{effect:?} {attempt} {key}");
        let call = pb::AdmitRequest {
            tool_name: "charge".to_owned(),
            effect: effect.into(),
            idempotency_key: key.to_owned(),
            attempt,
            ..asks::call_named(&session, "c1", &session)
        };
        asks::permit_of(server.breakers().admit(call).await.unwrap().into_inner());
        let pb::outcome::Call::CallRef(name) = asks::call_ref(&session, "c1") else { panic!("no name") };
        let facts = pb::TransportFacts { http_status: Some(502), ..pb::TransportFacts::default() };
        let outcome = pb::Outcome {
            call: Some(pb::outcome::Call::CallRef(pb::CallRef { attempt, ..name })),
            result: Some(pb::outcome::Result::Transport(facts)),
            ..pb::Outcome::default()
        };
        let handling = report(&server, outcome).await.handling.unwrap();
        (handling.disposition(), handling.text)
    };
    let line = "charge: unavailable, signal error_rate, class transport; nothing was measured".to_owned();
    let silent = (pb::Disposition::RetrySilently, String::new());
    let told = (pb::Disposition::DeliverFailure, line);
    assert_eq!(report_named(pb::Effect::Read, 1, "").await, silent);
    assert_eq!(report_named(pb::Effect::Read, 2, "").await, told);
    assert_eq!(report_named(pb::Effect::Mutate, 1, "").await, told);
    assert_eq!(report_named(pb::Effect::Mutate, 1, "key").await, silent);
    assert_eq!(report_named(pb::Effect::Unspecified, 1, "").await, told);
}

#[tokio::test]
async fn a_taught_format_and_a_tools_row_decide_through_report() {
    let server = TestServer::start(
        r#"
        [[format]]
        name = "job_api"
        failed_when = [{ at = "/state", is = ["failed", "aborted"] }]
        empty_when = [{ at = "/out", empty = true }]
        [[tool]]
        match = "run_*"
        format = "job_api"
        [[tool]]
        match = "notes_*"
        role = "notes"
        "#,
    )
    .await;
    let typing = async |tool: &str, body: &str| {
        let permit = asks::permit_of(server.breakers().admit(asks::call(tool)).await.unwrap().into_inner());
        let outcome = pb::Outcome {
            call: Some(asks::by_permit(&permit.token)),
            payload: Some(pb::Payload { body: body.as_bytes().to_vec(), ..pb::Payload::default() }),
            tool_name: tool.to_owned(),
            ..pb::Outcome::default()
        };
        let typing = report(&server, outcome).await.typing.unwrap();
        (typing.observation(), typing.signal(), typing.format)
    };
    let custom = "custom".to_owned();
    let none = pb::Signal::Unspecified;
    let failed = (pb::Observation::Error, pb::Signal::ErrorRate, custom.clone());
    assert_eq!(typing("run_job", r#"{"state":"ABORTED","out":[1]}"#).await, failed);
    assert_eq!(typing("run_job", r#"{"state":"done","out":[]}"#).await, (pb::Observation::Empty, none, custom.clone()));
    assert_eq!(typing("run_job", r#"{"state":"done","out":[1]}"#).await, (pb::Observation::Observed, none, custom));
    assert_eq!(typing("other", r#"{"state":"ABORTED","out":[1]}"#).await.0, pb::Observation::Observed);
    assert_eq!(typing("notes_read", r#"{"items":[1]}"#).await.0, pb::Observation::Context);
}

#[tokio::test]
async fn a_payload_beyond_the_bound_is_told_so_and_one_at_it_is_read() {
    let server = TestServer::start("limits.payload_bytes = 1024").await;
    let send = async |bytes: usize, truncated_by_caller: bool| {
        let permit = asks::permit_of(server.breakers().admit(asks::call("big")).await.unwrap().into_inner());
        let body = format!("[{}]", "1,".repeat(1_024)).into_bytes()[..bytes].to_vec();
        let outcome = pb::Outcome {
            call: Some(asks::by_permit(&permit.token)),
            payload: Some(pb::Payload { body, truncated_by_caller, ..pb::Payload::default() }),
            ..pb::Outcome::default()
        };
        let request = pb::ReportRequest { outcomes: vec![outcome] };
        let mut answer = server.breakers().report(request).await.unwrap().into_inner();
        answer.results.pop().unwrap().result.unwrap()
    };
    let pb::report_result::Result::Error(error) = send(1_025, true).await else { panic!("it was taken") };
    assert_eq!(error.field, "outcomes[0].payload.body");
    assert_eq!(error.message, "has 1025 bytes, at most 1024 are taken: cut it and set truncated_by_caller");
    let pb::report_result::Result::Ack(ack) = send(1_024, true).await else { panic!("it was refused") };
    assert_eq!(ack.typing.unwrap().observation(), pb::Observation::Truncated);
    let pb::report_result::Result::Ack(ack) = send(1_024, false).await else { panic!("it was refused") };
    assert_eq!(ack.typing.unwrap().observation(), pb::Observation::Error);
}
