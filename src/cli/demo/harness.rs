//! What stands between the agent and the world, as in any agent: ask the breaker, call the tool, report, hand the model
//! one text. It talks to the service over the public API like everybody else.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::agent::ToolCall;
use crate::cli::connect::Service;
use crate::cli::text::{fit, one_line};
use crate::wire::pb;
use crate::wire::pb::admit_response::Decision;
use crate::wire::pb::outcome::{Call, Result as Judged};
use crate::wire::pb::report_result;

/// Characters of an upstream body that the model is shown.
const BODY_CHARACTERS_MAX: usize = 120;
/// Bytes of a body that are read.
const BODY_BYTES_MAX: usize = 64 << 10;
/// How long a call may take before it counts as timed out.
const CALL_FOR: Duration = Duration::from_secs(10);

/// The tools that the agent has, each with its method and path.
pub(super) const TOOLS: [(&str, &str, &str); 4] = [
    ("ledger", "GET", "/ledger"),
    ("payments_api_v2", "POST", "/v2/charge"),
    ("payments_api_v1", "POST", "/v1/charge"),
    ("warehouse", "POST", "/warehouse"),
];

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The breaker refused it: nothing was sent.
    Refused,
    /// It was sent and failed; without a status where no answer came.
    Failed(Option<u16>),
    /// It was sent and answered well.
    Done(u16),
}

/// What came of a call.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// How it went, for the counts.
    pub(super) fate: Fate,
    /// What was to be called.
    pub(super) target: String,
    /// All that the agent gets to read.
    pub(super) text: String,
    /// Whether `text` is a refusal of the service in place of a result.
    pub(super) is_trip: bool,
}

/// What came back over the wire.
struct Reply {
    status: StatusCode,
    headers: Vec<pb::Header>,
    body: String,
}

/// The agent's hands.
#[derive(Debug)]
pub(super) struct Harness {
    service: Service,
    api: SocketAddr,
    session: String,
}

impl Harness {
    /// Hands for one run.
    pub(super) const fn new(service: Service, api: SocketAddr, session: String) -> Self {
        Self { service, api, session }
    }

    /// Makes one tool call, if the service allows it.
    pub(super) async fn call(&self, turn: u32, call: &ToolCall) -> anyhow::Result<Seen> {
        let (_, method, path) =
            TOOLS.iter().find(|(name, ..)| *name == call.tool).with_context(|| format!("no tool `{}`", call.tool))?;
        let target = format!("{method} {path}");
        let request = pb::AdmitRequest {
            target: target.clone(),
            tool_name: call.tool.clone(),
            session_id: self.session.clone(),
            turn: Some(turn),
            call_id: format!("call-{turn}"),
            attempt: 1,
            arguments: call.arguments.to_string().into_bytes(),
            caller: "demo".to_owned(),
            ..pb::AdmitRequest::default()
        };
        let answer = self.service.breakers().admit(request).await.map_err(|status| self.service.explain(&status))?;
        let permit = match answer.into_inner().decision.ok_or_else(|| self.service.speechless())? {
            Decision::Trip(trip) => return Ok(Seen { fate: Fate::Refused, target, text: trip.text, is_trip: true }),
            Decision::Permit(permit) => permit.token,
        };
        let reply = tokio::time::timeout(CALL_FOR, send(self.api, method, path, call)).await;
        let (fate, facts, text) = judged(reply.ok());
        let trip = self.report(permit, facts).await?;
        let is_trip = trip.is_some();
        Ok(Seen { fate, target, text: trip.map_or(text, |trip| trip.text), is_trip })
    }

    /// Reports what was seen; where that opened the circuit, the model is given the trip in place of the raw error.
    async fn report(&self, permit: Vec<u8>, facts: pb::TransportFacts) -> anyhow::Result<Option<pb::Trip>> {
        let outcome = pb::Outcome {
            call: Some(Call::Permit(permit)),
            result: Some(Judged::Transport(facts)),
            ..pb::Outcome::default()
        };
        let request = pb::ReportRequest { outcomes: vec![outcome] };
        let answer = self.service.breakers().report(request).await.map_err(|status| self.service.explain(&status))?;
        match answer.into_inner().results.into_iter().next().and_then(|result| result.result) {
            Some(report_result::Result::Ack(ack)) => Ok(ack.trip),
            Some(report_result::Result::Error(error)) => anyhow::bail!("{}: {}", error.field, error.message),
            None => Err(self.service.speechless()),
        }
    }
}

/// The fate, the facts for the service and the raw text for the model. No reply: it took too long.
fn judged(reply: Option<anyhow::Result<Reply>>) -> (Fate, pb::TransportFacts, String) {
    let lost = |kind: pb::ErrorKind, text: String| {
        let facts = pb::TransportFacts { error_kind: kind.into(), ..pb::TransportFacts::default() };
        (Fate::Failed(None), facts, text)
    };
    match reply {
        None => lost(pb::ErrorKind::Timeout, "timed out".to_owned()),
        Some(Err(error)) => lost(pb::ErrorKind::Reset, one_line(&format!("{error:#}"))),
        Some(Ok(Reply { status, headers, body })) => {
            let code = status.as_u16();
            let facts =
                pb::TransportFacts { http_status: Some(u32::from(code)), headers, ..pb::TransportFacts::default() };
            if status.is_success() {
                (Fate::Done(code), facts, body)
            } else {
                (Fate::Failed(Some(code)), facts, format!("HTTP {code}: {}", fit(&body, BODY_CHARACTERS_MAX)))
            }
        }
    }
}

/// One HTTP request on a connection of its own.
async fn send(api: SocketAddr, method: &str, path: &str, call: &ToolCall) -> anyhow::Result<Reply> {
    let stream = TcpStream::connect(api).await.context("cannot connect")?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection); // ends with `sender`
    let request = Request::builder().method(method).header("host", api.to_string());
    let request = if method == "GET" {
        let invoice = call.arguments.get("invoice").and_then(serde_json::Value::as_str).unwrap_or_default();
        request.uri(format!("{path}?invoice={invoice}")).body(Full::default())?
    } else {
        let body = Full::new(Bytes::from(call.arguments.to_string()));
        request.uri(path).header("content-type", "application/json").body(body)?
    };
    let (head, body) = sender.send_request(request).await?.into_parts();
    let header_of = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
        let value = value.to_str().ok()?.to_owned();
        Some(pb::Header { name: name.as_str().to_owned(), value })
    };
    let headers = head.headers.iter().filter_map(header_of).take(64).collect();
    let read = Limited::new(body, BODY_BYTES_MAX).collect().await.map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(Reply { status: head.status, headers, body: String::from_utf8_lossy(&read.to_bytes()).into_owned() })
}
