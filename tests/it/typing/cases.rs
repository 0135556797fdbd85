//! The cases of the fixtures: what a tool answered, and what is to be made of it.

use serde_json::Value;
use tripnote::domain::observation::transport::{Carrier, ErrorKind, TransportFacts};
use tripnote::wire::pb;

/// gRPC codes by their numbers.
const GRPC_CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// One line of a file of observations.
pub(super) struct Case {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) facts: TransportFacts,
    pub(super) payload: Option<Vec<u8>>,
    pub(super) want: Want,
}

/// What a typing must say.
#[derive(Debug, PartialEq)]
pub(super) struct Want {
    pub(super) observation: String,
    pub(super) usable: bool,
    pub(super) signal: String,
    pub(super) failure_class: String,
    pub(super) retry_after_ms: Option<u64>,
}

/// One line of a file of fingerprints.
pub(super) struct Pair {
    pub(super) id: String,
    pub(super) a: Side,
    pub(super) b: Side,
    pub(super) same: bool,
}

/// A result and the arguments of its call.
pub(super) struct Side {
    pub(super) tool: String,
    pub(super) args: Vec<u8>,
    pub(super) payload: Vec<u8>,
}

/// The cases of a file.
pub(super) fn observations(file: &str) -> Vec<Case> {
    lines(file).iter().map(case).collect()
}

/// The pairs of a file.
pub(super) fn fingerprints(file: &str) -> Vec<Pair> {
    let side = |value: &Value| Side {
        tool: text(&value["tool"]),
        args: serde_json::to_vec(&value["args"]).unwrap(),
        payload: body(&value["payload"]),
    };
    let pair = |line: &Value| Pair {
        id: text(&line["id"]),
        a: side(&line["a"]),
        b: side(&line["b"]),
        same: line["same"].as_bool().unwrap(),
    };
    lines(file).iter().map(pair).collect()
}

fn lines(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/fixtures/typing/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn case(line: &Value) -> Case {
    let facts = facts(&line["transport"]);
    let has_none = line["payload"].is_null() && facts.error_kind.is_some();
    let expect = &line["expect"];
    let want = Want {
        observation: text(&expect["observation"]),
        usable: expect["usable"].as_bool().unwrap(),
        signal: text(&expect["signal"]),
        failure_class: text(&expect["failure_class"]),
        retry_after_ms: expect["retry_after_s"].as_f64().map(|s| (s * 1_000.0) as u64),
    };
    let payload = (!has_none).then(|| body(&line["payload"]));
    Case { id: text(&line["id"]), tool: text(&line["tool"]), facts, payload, want }
}

/// Empty for `null`.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A payload is a JSON value, or a text in quotes.
fn body(payload: &Value) -> Vec<u8> {
    payload.as_str().map_or_else(|| serde_json::to_vec(payload).unwrap(), |text| text.as_bytes().to_vec())
}

fn facts(transport: &Value) -> TransportFacts {
    let headers = transport["headers"].as_object().into_iter().flatten();
    let status = &transport["status"];
    let base = TransportFacts {
        headers: headers.map(|(name, value)| (name.clone(), text(value))).collect(),
        error_kind: status.as_str().and_then(error_kind),
        ..TransportFacts::default()
    };
    match transport["kind"].as_str().unwrap() {
        "http" => {
            let http_status = status.as_u64().map(|code| u16::try_from(code).unwrap());
            TransportFacts { carrier: Some(Carrier::Http), http_status, ..base }
        }
        "grpc" => {
            let named = |name: &str| GRPC_CODES.iter().position(|known| *known == name).unwrap();
            let grpc_code = status.as_str().map(|name| u8::try_from(named(name)).unwrap());
            TransportFacts { carrier: Some(Carrier::Grpc), grpc_code, ..base }
        }
        "mcp" => TransportFacts { carrier: Some(Carrier::Mcp), ..base },
        "process" => {
            let exit_code = status.as_i64().map(|code| i32::try_from(code).unwrap());
            TransportFacts { carrier: Some(Carrier::Process), exit_code, ..base }
        }
        "none" => {
            assert!(status.is_null() || base.error_kind.is_some(), "an unknown status {status}");
            base
        }
        other => panic!("an unknown transport {other}"),
    }
}

fn error_kind(status: &str) -> Option<ErrorKind> {
    match status {
        "connection_refused" => Some(ErrorKind::ConnectRefused),
        "dns_error" => Some(ErrorKind::Dns),
        "tls_error" => Some(ErrorKind::Tls),
        "connection_reset" => Some(ErrorKind::Reset),
        "timeout" => Some(ErrorKind::Timeout),
        "cancelled" | "canceled" => Some(ErrorKind::CancelledByCaller),
        _ => None,
    }
}

/// The same facts on the wire.
pub(super) fn wired(facts: &TransportFacts) -> pb::TransportFacts {
    let header = |(name, value): &(String, String)| pb::Header { name: name.clone(), value: value.clone() };
    pb::TransportFacts {
        http_status: facts.http_status.map(Into::into),
        headers: facts.headers.iter().map(header).collect(),
        grpc_code: facts.grpc_code.map(Into::into),
        error_kind: facts.error_kind.map_or(pb::ErrorKind::Unspecified, Into::into).into(),
        exit_code: facts.exit_code,
        carrier: facts.carrier.map_or(pb::Carrier::Unspecified, Into::into).into(),
    }
}
