//! What is malformed is named, what is foreign moves nothing, and nothing of it ends the service.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tonic::Code;
use tripnote::domain::ids::HashKey;
use tripnote::engine::clock::Clock;
use tripnote::engine::{Arguments, AskedAs, Call, CallId, Decision, Engine, Identity};
use tripnote::wire::pb;
use tripnote::wire::pb::admit_result::Result as Admitted;
use tripnote::wire::pb::report_result::Result as Reported;

use crate::support::asks::{
    Kind, ack_of, bad, by_permit, call, call_named, call_ref, fields_of, good, name, permit_of,
};
use crate::support::{TestServer, engine_settings, raw};

const TRIPS_AT_FIRST: &str = "defaults.error_rate = { rules = [{ consecutive = 1 }], jitter = \"0%\" }";

fn admits() -> Vec<(&'static str, pb::AdmitRequest)> {
    let long = "x".repeat(257);
    let of = |change: fn(&mut pb::AdmitRequest, String), text: &str| {
        let mut request = call("a");
        change(&mut request, text.to_owned());
        request
    };
    vec![
        ("target", pb::AdmitRequest::default()),
        ("target", call(&"x".repeat(513))),
        ("target", call("\u{200b}\u{202e}\n")),
        ("tool_name", pb::AdmitRequest { tool_name: "x".repeat(513), ..Default::default() }),
        ("session_id", of(|r, text| r.session_id = text, &long)),
        ("call_id", of(|r, text| r.call_id = text, &long)),
        ("credential", of(|r, text| r.credential = text, &long)),
        ("caller", of(|r, text| r.caller = text, &long)),
        ("attempt", pb::AdmitRequest { attempt: 1_000_001, ..call("a") }),
        ("arguments_digest", pb::AdmitRequest { arguments_digest: vec![0; 65], ..call("a") }),
        ("arguments_digest", pb::AdmitRequest { arguments_digest: vec![0; 8], arguments: b"{}".to_vec(), ..call("a") }),
        ("reports", pb::AdmitRequest { reports: vec![pb::Outcome::default(); 257], ..call("a") }),
    ]
}

#[tokio::test]
async fn a_malformed_admit_names_its_field_and_takes_nothing() {
    let server = TestServer::start("").await;
    for (path, request) in admits() {
        let status = server.breakers().admit(request).await.unwrap_err();
        assert_eq!(fields_of(&status), [path], "{status:?}");
        assert!(status.message().starts_with(&format!("{path}: ")), "{}", status.message());
    }
    assert_eq!(server.engine.targets(), 0);
    server.stop().await;
}

#[tokio::test]
async fn what_just_fits_is_taken() {
    let server = TestServer::start("").await;
    let name = "n".repeat(256);
    let request = pb::AdmitRequest {
        session_id: name.clone(),
        call_id: name.clone(),
        credential: name.clone(),
        caller: name,
        attempt: 1_000_000,
        arguments_digest: vec![7; 64],
        arguments_bytes: Some(u32::MAX),
        turn: Some(u32::MAX),
        ..call(&"t".repeat(512))
    };
    assert!(permit_of(server.admit(request).await).token.len() <= 512);
    let with_query = format!("GET https://u:p@host/{}?{}", "t".repeat(400), "q".repeat(400));
    permit_of(server.admit(call(&with_query)).await); // the bound is on what is left after the cut
    server.stop().await;
}

fn outcomes(token: &[u8]) -> Vec<(&'static str, pb::Outcome)> {
    use pb::classification::Kind as Judged;
    let of = by_permit(token);
    let judged = |result: Judged, kind: Kind| pb::Outcome {
        result: Some(pb::outcome::Result::Classification(pb::Classification {
            result: result.into(),
            kind: kind.into(),
            retry_after_ms: None,
        })),
        ..good(of.clone())
    };
    let seen = |facts: pb::TransportFacts| pb::Outcome {
        result: Some(pb::outcome::Result::Transport(facts)),
        ..good(of.clone())
    };
    let status = |status: u32| pb::TransportFacts { http_status: Some(status), ..Default::default() };
    let header = |name: usize, value: usize| pb::Header { name: "n".repeat(name), value: "v".repeat(value) };
    let with_headers = |headers: Vec<pb::Header>| seen(pb::TransportFacts { headers, ..status(200) });
    let grpc = |code: i32| seen(pb::TransportFacts { grpc_code: Some(code), ..Default::default() });
    vec![
        ("permit", pb::Outcome { call: None, ..good(of.clone()) }),
        ("permit", good(by_permit(&[]))),
        ("permit", good(by_permit(&[0; 513]))),
        ("call_ref.session_id", good(call_ref("", "c"))),
        ("call_ref.call_id", good(call_ref("s", ""))),
        ("call_ref.session_id", good(call_ref(&"s".repeat(257), "c"))),
        ("call_ref.call_id", good(call_ref("s", &"c".repeat(257)))),
        ("classification", pb::Outcome { result: None, ..good(of.clone()) }),
        ("classification.result", judged(Judged::Unspecified, Kind::Unspecified)),
        ("classification.kind", judged(Judged::Failed, Kind::Unspecified)),
        ("classification.kind", judged(Judged::Ok, Kind::ErrorRate)),
        ("classification.kind", judged(Judged::Ignored, Kind::Latency)),
        ("transport.http_status", seen(pb::TransportFacts::default())),
        ("transport.http_status", seen(status(99))),
        ("transport.http_status", seen(status(600))),
        ("transport.http_status", seen(status(u32::MAX))),
        ("transport.grpc_code", grpc(17)),
        ("transport.grpc_code", grpc(-1)),
        ("transport.headers", with_headers(vec![header(1, 1); 65])),
        ("transport.headers[1]", with_headers(vec![header(1, 1), header(0, 1)])),
        ("transport.headers[0]", with_headers(vec![header(129, 1)])),
        ("transport.headers[0]", with_headers(vec![header(1, 1_025)])),
    ]
}

#[tokio::test]
async fn a_malformed_outcome_is_answered_in_its_place_and_the_others_count() {
    let server = TestServer::start("").await;
    let first = server.permit("a").await;
    let last = server.permit("a").await;
    let faulty = outcomes(&first.token);
    let mut sent = vec![good(by_permit(&first.token))];
    sent.extend(faulty.iter().map(|(_, outcome)| outcome.clone()));
    sent.push(good(by_permit(&last.token)));
    let answer = server.breakers().report(pb::ReportRequest { outcomes: sent }).await.unwrap().into_inner();
    assert_eq!(answer.results.len(), faulty.len() + 2);
    assert_eq!(ack_of(&answer.results[0]).acknowledgement(), pb::Acknowledgement::Counted);
    assert_eq!(ack_of(&answer.results[faulty.len() + 1]).acknowledgement(), pb::Acknowledgement::Counted);
    for (at, (path, _)) in faulty.iter().enumerate() {
        match &answer.results[at + 1].result {
            Some(Reported::Error(error)) => assert_eq!(error.field, format!("outcomes[{}].{path}", at + 1)),
            other => panic!("outcomes[{}] is malformed at {path}: {other:?}", at + 1),
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_malformed_call_of_a_wave_is_answered_in_its_place_and_the_others_are_decided() {
    let server = TestServer::start("").await;
    let good = |at: usize| call(&format!("target {at}"));
    let faulty = admits();
    let calls = faulty.iter().flat_map(|(_, request)| [request.clone(), good(0)]).collect();
    let answer = server.breakers().admit_wave(pb::AdmitWaveRequest { calls, reports: vec![] }).await;
    let answer = answer.unwrap().into_inner();
    for (at, result) in answer.results.iter().enumerate() {
        match &result.result {
            Some(Admitted::Error(error)) if at % 2 == 0 => {
                assert_eq!(error.field, format!("calls[{at}].{}", faulty[at / 2].0));
            }
            Some(Admitted::Answer(answer)) if at % 2 == 1 => assert_eq!(permit_of(answer.clone()).breaker, "target_0"),
            other => panic!("calls[{at}]: {other:?}"),
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_malformed_target_of_a_peek_is_answered_in_its_place() {
    let server = TestServer::start("").await;
    let of = |target: &str| pb::PeekTarget { target: target.to_owned(), ..Default::default() };
    let long = "x".repeat(257);
    let targets = vec![
        of("a"),
        of(""),
        pb::PeekTarget { session_id: long.clone(), ..of("a") },
        pb::PeekTarget { credential: long.clone(), ..of("a") },
        pb::PeekTarget { caller: long, ..of("a") },
        of("b"),
    ];
    let answer = server.breakers().peek(pb::PeekRequest { targets }).await.unwrap().into_inner();
    let told = answer.results.into_iter().map(|result| match result.result.unwrap() {
        pb::peek_result::Result::Callable(callable) => callable.breaker,
        pb::peek_result::Result::Error(error) => error.field,
        pb::peek_result::Result::Trip(trip) => panic!("{trip:?}"),
    });
    let told: Vec<String> = told.collect();
    assert_eq!(
        told,
        ["a", "targets[1].target", "targets[2].session_id", "targets[3].credential", "targets[4].caller", "b"]
    );
    server.stop().await;
}

#[tokio::test]
async fn a_batch_has_1_to_256_items() {
    let server = TestServer::start("").await;
    let mut breakers = server.breakers();
    for len in [0, 257] {
        let calls = vec![call("a"); len];
        let wave = breakers.admit_wave(pb::AdmitWaveRequest { calls, reports: vec![] }).await.unwrap_err();
        let outcomes = vec![good(by_permit(b"x")); len];
        let report = breakers.report(pb::ReportRequest { outcomes }).await.unwrap_err();
        let targets = vec![pb::PeekTarget { target: "a".to_owned(), ..Default::default() }; len];
        let peek = breakers.peek(pb::PeekRequest { targets }).await.unwrap_err();
        let paths: Vec<_> = [wave, report, peek].iter().flat_map(fields_of).collect();
        assert_eq!(paths, ["calls", "outcomes", "targets"], "{len} items");
    }
    let reports = vec![good(by_permit(b"x")); 257];
    let status = breakers.admit_wave(pb::AdmitWaveRequest { calls: vec![call("a")], reports }).await.unwrap_err();
    assert_eq!(fields_of(&status), ["reports"]);
    let calls = vec![call("a"); 256];
    let answer = breakers.admit_wave(pb::AdmitWaveRequest { calls, reports: vec![] }).await.unwrap().into_inner();
    assert_eq!(answer.results.len(), 256);
    server.stop().await;
}

#[tokio::test]
async fn a_message_above_the_bound_is_refused_and_the_next_is_served() {
    let server = TestServer::start("limits.request_bytes = 65536").await;
    let request = |bytes: usize| pb::AdmitRequest { arguments: vec![b'x'; bytes], ..call("a") };
    let status = server.breakers().admit(request(65_536)).await.unwrap_err();
    assert_eq!(status.code(), Code::OutOfRange, "{status:?}");
    permit_of(server.admit(request(60_000)).await);
    server.stop().await;
}

/// A permit that another life of the service, under the same keys or others, would give.
fn foreign_permit(identity: Identity, server: &TestServer, target: &str) -> Vec<u8> {
    let clock = std::sync::Arc::clone(&server.clock) as std::sync::Arc<dyn Clock>;
    let other = Engine::new(engine_settings(TRIPS_AT_FIRST, 1), identity, clock).unwrap();
    let target = tripnote::domain::ids::TargetName::parse(target).unwrap();
    let asked = Call {
        target: &target,
        target_is_tool: false,
        asked_as: AskedAs::default(),
        id: CallId::default(),
        arguments: Arguments::Unknown,
        arguments_bytes: None,
        credential: "",
    };
    match other.admit(&asked, other.clock().now()) {
        Decision::Permit { granted, .. } => granted.token.to_vec(),
        Decision::Trip(refusal) => panic!("{refusal:?}"),
    }
}

#[tokio::test]
async fn a_permit_that_is_not_ours_is_unknown_and_moves_nothing() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let reported = server.permit("a").await;
    server.report(good(by_permit(&reported.token))).await;
    let permit = server.permit("a").await;
    let mut tokens: Vec<Vec<u8>> = vec![vec![0], vec![0xff; 512], vec![1; permit.token.len()]];
    tokens.extend((1..permit.token.len()).map(|len| permit.token[..len].to_vec()));
    for at in 0..permit.token.len() {
        let mut flipped = permit.token.to_vec();
        flipped[at] ^= 1 << (at % 8);
        tokens.push(flipped);
    }
    tokens.push([&permit.token[..], b"\0"].concat());
    let ours =
        Identity { incarnation: 2, names: HashKey(*b"names for a test"), permits: HashKey(*b"permits for test") };
    tokens.push(foreign_permit(ours, &server, "a"));
    tokens.push(foreign_permit(Identity { incarnation: 1, permits: HashKey([9; 16]), ..ours }, &server, "a"));
    for token in tokens {
        let ack = server.report(bad(by_permit(&token), Kind::ErrorRate)).await;
        assert_eq!(ack.acknowledgement(), pb::Acknowledgement::Unknown, "{token:?}");
        assert_eq!((ack.phase_after(), ack.trip), (pb::Phase::Unspecified, None));
    }
    assert_eq!(server.circuits(false).await, []);
    let ack = server.report(good(by_permit(&permit.token))).await;
    assert_eq!(ack.acknowledgement(), pb::Acknowledgement::Counted, "the true one still counts");
    server.stop().await;
}

#[tokio::test]
async fn a_call_that_was_never_asked_for_is_unknown() {
    let server = TestServer::start("").await;
    server.admit(call_named("s", "c", "a")).await;
    for of in [call_ref("s", "other"), call_ref("other", "c")] {
        assert_eq!(server.report(good(of)).await.acknowledgement(), pb::Acknowledgement::Unknown);
    }
    server.stop().await;
}

#[tokio::test]
async fn targets_that_try_to_break_out_of_the_contract_are_made_safe() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let targets = [
        ("POST \"/v2\"\\charge", "POST \"/v2\"\\charge"),
        ("a\",\"action\":\"await_recovery", "a\",\"action\":\"await_recovery"),
        ("line\r\nbreak\u{2028}here\0", "linebreakhere"),
        ("\u{202e}gpj.exe\u{2066}x", "gpj.exex"),
        ("https://user:secret@host/pay?token=secret#secret", "https://host/pay"),
        ("tag \u{e0041}\u{e0042}", "tag "),
    ];
    for (target, shown) in targets {
        let trip = server.open(target, Kind::ErrorRate).await;
        assert_eq!(trip.target, shown, "{target:?}");
        let text: serde_json::Value = serde_json::from_str(&trip.text).unwrap();
        assert_eq!(text["target"], shown);
        assert_eq!(text["action"], "await_recovery");
        assert_eq!(text.as_object().unwrap().len(), 9);
        assert!(!trip.text.contains("secret"));
    }
    let long = server.open(&"ü\"".repeat(150), Kind::ErrorRate).await;
    assert!(long.target.ends_with('…') && long.target.len() <= 96 && long.text.len() <= 768, "{}", long.text);
    server.stop().await;
}

/// Any text: with controls, marks that reorder, quotes; at times longer than any bound.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::collection::vec(any::<char>(), 0..40).prop_map(String::from_iter),
        1 => prop::collection::vec(any::<char>(), 120..300).prop_map(String::from_iter),
        1 => "[a-zA-Z0-9:/?#@ \"\\\\]{0,80}",
    ]
}

#[test]
fn any_text_is_a_permit_or_an_invalid_argument() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(TestServer::start("limits.targets = 64"));
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases: 256, failure_persistence: None, ..Config::default() };
    let texts = (text(), text(), text(), text(), text(), text());
    let ran = TestRunner::new_with_rng(config, rng).run(
        &texts,
        |(target, tool_name, session_id, call_id, caller, credential)| {
            let request =
                pb::AdmitRequest { target, tool_name, session_id, call_id, caller, credential, ..Default::default() };
            match runtime.block_on(server.breakers().admit(request)) {
                Ok(answer) => {
                    let token = permit_of(answer.into_inner()).token;
                    let ack = runtime.block_on(server.report(good(by_permit(&token))));
                    prop_assert_eq!(ack.acknowledgement(), pb::Acknowledgement::Counted);
                }
                Err(status) => prop_assert_eq!(fields_of(&status).len(), 1),
            }
            Ok(())
        },
    );
    ran.unwrap();
    runtime.block_on(server.stop());
}

#[test]
fn any_name_of_a_circuit_is_found_or_refused_in_words() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(TestServer::start(TRIPS_AT_FIRST));
    runtime.block_on(server.open("a", Kind::ErrorRate));
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases: 128, failure_persistence: None, ..Config::default() };
    let names = (prop_oneof![Just("a".to_owned()), text()], text(), any::<i32>(), text());
    let ran = TestRunner::new_with_rng(config, rng).run(&names, |(breaker, scope, kind, page_token)| {
        let named = pb::CircuitName { kind, ..name(&breaker, &scope, Kind::Unspecified) };
        let mut operators = server.operators();
        let found = runtime.block_on(operators.get_circuit(named.clone())).map(|_| ());
        let reset = runtime.block_on(operators.reset(pb::ResetRequest { name: Some(named) })).map(|_| ());
        let request = pb::ListCircuitsRequest { breaker, page_token, ..Default::default() };
        let listed = runtime.block_on(operators.list_circuits(request)).map(|_| ());
        for status in [found, reset, listed].into_iter().filter_map(Result::err) {
            prop_assert!(matches!(status.code(), Code::InvalidArgument | Code::NotFound), "{:?}", status);
        }
        Ok(())
    });
    ran.unwrap();
    runtime.block_on(server.permit("b"));
    runtime.block_on(server.stop());
}

#[tokio::test]
async fn garbage_on_the_wire_ends_its_own_connection_at_most() {
    let server = TestServer::start("limits.request_bytes = 65536").await;
    let service = "/tripnote.v1.BreakerService";
    let mut dice = raw::Dice(0x7269_7074);
    println!("seed {:#x}", dice.0);
    for method in ["Admit", "AdmitWave", "Report", "Peek", "NoSuchMethod"] {
        for len in [0, 1, 7, 64, 4_096] {
            let message = dice.bytes(len);
            let framed = raw::grpc_message(&message);
            let lies = [&[0, 0xff, 0xff, 0xff, 0xff][..], &message].concat(); // a length of 4 GiB
            let packed = [&[1][..], &framed[1..]].concat(); // said to be compressed
            for body in [framed, lies, packed, message] {
                raw::throw(&server.endpoint, &raw::request(&format!("{service}/{method}"), &body)).await;
            }
        }
    }
    let good = raw::request(&format!("{service}/Admit"), &raw::grpc_message(&[0x0a, 1, b'a']));
    for len in [1, 9, 100, 10_000] {
        let noise = dice.bytes(len);
        let cut = &good[..good.len() - len.min(good.len() / 2)];
        let swapped: Vec<u8> = good.iter().zip(noise.iter().cycle()).map(|(a, b)| a ^ b).collect();
        let broken = [&good[..raw::PREFACE.len()], &noise].concat();
        let late = [&good[..], &noise].concat();
        for bytes in [&noise[..], cut, &swapped, &broken, &late, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"] {
            raw::throw(&server.endpoint, bytes).await;
        }
    }
    assert!(!raw::throw(&server.endpoint, &good).await.is_empty(), "the frames themselves are right");
    assert_eq!(server.permit("a").await.breaker, "a");
    server.stop().await;
}
