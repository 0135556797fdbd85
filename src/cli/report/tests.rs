//! From words to an outcome, and back.

use clap::Parser as _;

use super::*;

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    args: ReportArgs,
}

fn outcome(words: &[&str]) -> pb::Outcome {
    Line::try_parse_from(std::iter::once("report").chain(words.iter().copied())).unwrap().args.outcome().unwrap()
}

fn judged(result: Kind, kind: pb::CircuitKind, retry_after_ms: Option<u64>) -> Option<Judged> {
    Some(Judged::Classification(pb::Classification { result: result.into(), kind: kind.into(), retry_after_ms }))
}

#[test]
fn a_judgement_is_sent_as_one() {
    let unspecified = pb::CircuitKind::Unspecified;
    let sent = outcome(&["Zg", "--ok", "--latency-ms", "20"]);
    assert_eq!(sent.call, Some(Call::Permit(b"f".to_vec())));
    assert_eq!((sent.result, sent.latency_ms), (judged(Kind::Ok, unspecified, None), Some(20)));
    assert_eq!(outcome(&["Zg", "--ignored"]).result, judged(Kind::Ignored, unspecified, None));
    let sent = outcome(&["Zg", "--failed", "quota_exhausted.rate", "--retry-after", "30s"]);
    assert_eq!(sent.result, judged(Kind::Failed, pb::CircuitKind::QuotaExhaustedRate, Some(30_000)));
}

#[test]
fn facts_of_the_wire_are_sent_as_they_were_seen() {
    let sent = outcome(&["--session", "s", "--call-id", "c", "--status", "503", "--header", "Retry-After: 30"]);
    let call = pb::CallRef { session_id: "s".into(), call_id: "c".into(), attempt: 0, caller: String::new() };
    assert_eq!(sent.call, Some(Call::CallRef(call)));
    let header = pb::Header { name: "Retry-After".into(), value: "30".into() };
    let facts = pb::TransportFacts { http_status: Some(503), headers: vec![header], ..pb::TransportFacts::default() };
    assert_eq!(sent.result, Some(Judged::Transport(facts)));
    let sent = outcome(&["Zg", "--grpc-code", "14", "--error-kind", "reset"]);
    let kind = pb::ErrorKind::Reset.into();
    let facts = pb::TransportFacts { grpc_code: Some(14), error_kind: kind, ..pb::TransportFacts::default() };
    assert_eq!(sent.result, Some(Judged::Transport(facts)));
}

#[test]
fn an_acknowledgement_names_the_phase_where_it_is_known() {
    let ack = |acknowledgement, phase_after| {
        words(&pb::ReportAck { acknowledgement, phase_after, ..pb::ReportAck::default() })
    };
    assert_eq!([ack(1, 1), ack(5, 0)], ["counted, closed now", "unknown"]);
}
