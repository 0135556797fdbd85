use super::*;

fn asked(request: &pb::AdmitRequest) -> Result<(), InvalidField> {
    AskedCall::try_from(request).map(|_| ())
}

fn of(target: &str) -> pb::AdmitRequest {
    pb::AdmitRequest { target: target.to_owned(), ..Default::default() }
}

#[test]
fn a_call_without_a_target_is_its_tool() {
    let request = pb::AdmitRequest { tool_name: "search".to_owned(), arguments: b"{}".to_vec(), ..of("") };
    let asked = AskedCall::try_from(&request).unwrap();
    let call = asked.call();
    assert_eq!((call.target.as_str(), call.target_is_tool, call.id.attempt), ("search", true, 1));
    assert_eq!((call.arguments, call.arguments_bytes), (Arguments::Bytes(b"{}"), Some(2)));
    let request = pb::AdmitRequest { tool_name: "x".repeat(512), ..of("POST /v2/charge?key=1") };
    let asked = AskedCall::try_from(&request).unwrap();
    let call = asked.call();
    assert_eq!((call.target.as_str(), call.target_is_tool), ("POST /v2/charge", false));
    assert_eq!((call.arguments, call.arguments_bytes), (Arguments::Unknown, None));
}

#[test]
fn a_size_that_was_sent_outranks_the_length_of_the_arguments() {
    let request = pb::AdmitRequest { arguments_digest: vec![1], arguments_bytes: Some(0), ..of("a") };
    let asked = AskedCall::try_from(&request).unwrap();
    assert_eq!((asked.call().arguments, asked.call().arguments_bytes), (Arguments::Digest(&[1]), Some(0)));
    let request = pb::AdmitRequest { arguments: vec![1; 9], arguments_bytes: Some(3), ..of("a") };
    assert_eq!(AskedCall::try_from(&request).unwrap().call().arguments_bytes, Some(3));
}

#[test]
fn a_fault_of_a_call_is_told_with_its_path_and_what_would_be_right() {
    let long = || "x".repeat(257);
    let faulty = [
        (of(""), "target: target and tool_name are both empty: give one, e.g. `POST /v2/charge`"),
        (of("\n"), "target: is empty: give the name of what is called, e.g. `POST /v2/charge`"),
        (of(&"x".repeat(513)), "target: has 513 bytes, at most 512 are taken"),
        (pb::AdmitRequest { tool_name: "x".repeat(513), ..of("") }, "tool_name: has 513 bytes, at most 512 are taken"),
        (pb::AdmitRequest { session_id: long(), ..of("a") }, "session_id: has 257 bytes, at most 256 are taken"),
        (pb::AdmitRequest { call_id: long(), ..of("a") }, "call_id: has 257 bytes, at most 256 are taken"),
        (pb::AdmitRequest { credential: long(), ..of("a") }, "credential: has 257 bytes, at most 256 are taken"),
        (pb::AdmitRequest { caller: long(), ..of("a") }, "caller: has 257 bytes, at most 256 are taken"),
        (pb::AdmitRequest { attempt: 1_000_001, ..of("a") }, "attempt: is 1000001, at most 1000000 is taken"),
        (
            pb::AdmitRequest { arguments_digest: vec![0; 65], ..of("a") },
            "arguments_digest: has 65 bytes, at most 64 are taken",
        ),
        (
            pb::AdmitRequest { arguments_digest: vec![0], arguments: vec![0], ..of("a") },
            "arguments_digest: stands beside arguments: send one of the two",
        ),
    ];
    for (request, told) in faulty {
        assert_eq!(asked(&request).unwrap_err().to_string(), told);
    }
}

#[test]
fn a_fault_of_a_peeked_target_is_told_with_its_path() {
    let of = |target: &str| pb::PeekTarget { target: target.to_owned(), ..Default::default() };
    let long = || "x".repeat(257);
    let faulty = [
        (of(""), "target"),
        (pb::PeekTarget { session_id: long(), ..of("a") }, "session_id"),
        (pb::PeekTarget { credential: long(), ..of("a") }, "credential"),
        (pb::PeekTarget { caller: long(), ..of("a") }, "caller"),
    ];
    for (request, path) in faulty {
        assert_eq!(PeekedTarget::try_from(&request).map(|_| ()).unwrap_err().path, path);
    }
    let request = of("a");
    let peeked = PeekedTarget::try_from(&request).unwrap();
    assert_eq!((peeked.call().id.call, peeked.call().arguments), ("", Arguments::Unknown));
}

fn permit() -> Option<pb::outcome::Call> {
    Some(pb::outcome::Call::Permit(vec![1]))
}

fn own(result: pb::classification::Kind, kind: pb::CircuitKind) -> pb::Outcome {
    let own = pb::Classification { result: result.into(), kind: kind.into(), retry_after_ms: None };
    pb::Outcome { call: permit(), result: Some(pb::outcome::Result::Classification(own)), ..pb::Outcome::default() }
}

fn seen(facts: pb::TransportFacts) -> pb::Outcome {
    pb::Outcome { call: permit(), result: Some(pb::outcome::Result::Transport(facts)), ..pb::Outcome::default() }
}

fn status(http_status: u32) -> pb::TransportFacts {
    pb::TransportFacts { http_status: Some(http_status), ..Default::default() }
}

fn with_header(name: usize, value: usize) -> pb::Outcome {
    let header = pb::Header { name: "n".repeat(name), value: "v".repeat(value) };
    seen(pb::TransportFacts { headers: vec![header], ..status(200) })
}

fn of_call(session: &str, call: &str, caller: &str) -> pb::Outcome {
    let named =
        pb::CallRef { session_id: session.to_owned(), call_id: call.to_owned(), caller: caller.to_owned(), attempt: 0 };
    pb::Outcome { call: Some(pb::outcome::Call::CallRef(named)), ..own(Judgement::Ok, pb::CircuitKind::Unspecified) }
}

use pb::classification::Kind as Judgement;

/// The longest payload that these tests take.
const MAX: usize = 64;

#[test]
fn a_fault_of_an_outcome_is_told_with_its_path_and_what_would_be_right() {
    let good = own(Judgement::Ok, pb::CircuitKind::Unspecified);
    let long = "x".repeat(257);
    let by = |token: Vec<u8>| pb::Outcome { call: Some(pb::outcome::Call::Permit(token)), ..good.clone() };
    let code = |code: i32| seen(pb::TransportFacts { grpc_code: Some(code), ..Default::default() });
    let many = pb::TransportFacts { headers: vec![pb::Header::default(); 65], ..status(200) };
    let empty = "is empty: give what the call was asked with";
    let header = "a name has 1 to 128 bytes, a value at most 1024";
    let faulty = [
        (pb::Outcome { call: None, ..good.clone() }, "permit: is missing: give the permit, or call_ref".to_owned()),
        (by(vec![]), "permit: has 0 bytes, 1 to 512 are taken".to_owned()),
        (by(vec![0; 513]), "permit: has 513 bytes, 1 to 512 are taken".to_owned()),
        (of_call("", "c", ""), format!("call_ref.session_id: {empty}")),
        (of_call("s", "", ""), format!("call_ref.call_id: {empty}")),
        (of_call(&long, "c", ""), "call_ref.session_id: has 257 bytes, at most 256 are taken".to_owned()),
        (of_call("s", &long, ""), "call_ref.call_id: has 257 bytes, at most 256 are taken".to_owned()),
        (of_call("s", "c", &long), "call_ref.caller: has 257 bytes, at most 256 are taken".to_owned()),
        (
            pb::Outcome { result: None, ..good.clone() },
            "classification: is missing: give it, or transport facts, or a payload".to_owned(),
        ),
        (
            own(Judgement::Unspecified, pb::CircuitKind::ErrorRate),
            "classification.result: is missing: one of KIND_OK, KIND_IGNORED, KIND_FAILED".to_owned(),
        ),
        (
            own(Judgement::Failed, pb::CircuitKind::Unspecified),
            "classification.kind: is missing: a failure says which circuit it counts against".to_owned(),
        ),
        (
            own(Judgement::Ok, pb::CircuitKind::ErrorRate),
            "classification.kind: stands beside a result that is no failure: leave it out".to_owned(),
        ),
        (
            own(Judgement::Ignored, pb::CircuitKind::Latency),
            "classification.kind: stands beside a result that is no failure: leave it out".to_owned(),
        ),
        (seen(status(99)), "transport.http_status: is 99, 100 to 599 are taken".to_owned()),
        (seen(status(600)), "transport.http_status: is 600, 100 to 599 are taken".to_owned()),
        (seen(status(65_736)), "transport.http_status: is 65736, 100 to 599 are taken".to_owned()),
        (code(17), "transport.grpc_code: is 17, 0 to 16 are taken".to_owned()),
        (code(-1), "transport.grpc_code: is -1, 0 to 16 are taken".to_owned()),
        (
            seen(pb::TransportFacts::default()),
            "transport.http_status: says nothing: give http_status, grpc_code, exit_code or error_kind, or a payload"
                .to_owned(),
        ),
        (seen(many), "transport.headers: has 65 entries, at most 64 are taken".to_owned()),
        (with_header(0, 1), format!("transport.headers[0]: {header}")),
        (with_header(129, 1), format!("transport.headers[0]: {header}")),
        (with_header(1, 1_025), format!("transport.headers[0]: {header}")),
    ];
    for (outcome, told) in faulty {
        let invalid = ReportedOutcome::parse(&outcome, MAX).map(|_| ()).unwrap_err();
        assert_eq!(invalid.to_string(), told);
    }
}

#[test]
fn what_just_fits_is_read() {
    let name = "x".repeat(256);
    let headers = vec![pb::Header { name: "n".repeat(128), value: "v".repeat(1_024) }; 64];
    let fitting = [
        of_call(&name, &name, &name),
        seen(pb::TransportFacts { headers, ..status(100) }),
        seen(status(599)),
        seen(pb::TransportFacts { grpc_code: Some(16), ..Default::default() }),
    ];
    for outcome in fitting {
        ReportedOutcome::parse(&outcome, MAX).map(|_| ()).unwrap();
    }
}

#[test]
fn a_hint_is_read_beside_a_failure_only() {
    let hinted = |result: Judgement, kind: pb::CircuitKind, ms: u64| {
        let own = pb::Classification { result: result.into(), kind: kind.into(), retry_after_ms: Some(ms) };
        let outcome = pb::Outcome {
            call: permit(),
            result: Some(pb::outcome::Result::Classification(own)),
            latency_ms: Some(7),
            ..pb::Outcome::default()
        };
        let read = ReportedOutcome::parse(&outcome, MAX).map(|read| read.report).unwrap();
        assert_eq!(read.latency_ms, Some(7));
        let Said::Judged(_, hint) = read.said else { panic!("a judgement is read as one") };
        hint.map(|hint| hint.raw_ms)
    };
    assert_eq!(hinted(Judgement::Failed, pb::CircuitKind::QuotaExhaustedRate, 5_000), Some(5_000));
    assert_eq!(hinted(Judgement::Failed, pb::CircuitKind::ErrorRate, u64::MAX), Some(i64::MAX));
    assert_eq!(hinted(Judgement::Ok, pb::CircuitKind::Unspecified, 5_000), None);
}

#[test]
fn a_word_that_is_not_known_is_read_as_none() {
    let outcome = own(Judgement::Ok, pb::CircuitKind::Unspecified);
    let unknown = pb::Classification { result: 1, kind: 99, retry_after_ms: None };
    let outcome = pb::Outcome { result: Some(pb::outcome::Result::Classification(unknown)), ..outcome };
    assert!(ReportedOutcome::parse(&outcome, MAX).is_ok());
    let unknown = pb::TransportFacts { error_kind: 99, ..status(200) };
    let read = ReportedOutcome::parse(&seen(unknown.clone()), MAX).map(|_| ());
    assert_eq!(read, Ok(()));
    let alone = seen(pb::TransportFacts { http_status: None, ..unknown });
    assert_eq!(ReportedOutcome::parse(&alone, MAX).map(|_| ()).unwrap_err().path, "transport.http_status");
}
