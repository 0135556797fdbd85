//! `tripnote report`: how a call went, by the caller's own judgement or by what was seen on the wire.

use std::process::ExitCode;

use clap::ArgGroup;

use super::connect::Service;
use super::text::parse_span;
use super::words::{Word as _, circuit_kinds, error_kinds};
use super::{Manner, TRIPPED, json, output, token, trip};
use crate::wire::pb;
use crate::wire::pb::classification::Kind;
use crate::wire::pb::outcome::{Call, Result as Judged};
use crate::wire::pb::report_result;

/// What can be told of a call; one of these is due.
const WHAT: [&str; 6] = ["ok", "ignored", "failed", "status", "grpc_code", "error_kind"];

/// Which call, and what came of it.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("what").required(true).multiple(true).args(WHAT))]
pub(super) struct ReportArgs {
    #[command(flatten)]
    call: CallArgs,
    #[command(flatten)]
    judgement: JudgementArgs,
    #[command(flatten)]
    seen: SeenArgs,
    /// How long the target asked to be left alone, such as 30s
    #[arg(long, value_name = "SPAN", value_parser = parse_span, requires = "failed", conflicts_with_all = ["ok", "ignored", "seen"])]
    retry_after: Option<u64>,
    /// How long the call took, in milliseconds
    #[arg(long, value_name = "N")]
    latency_ms: Option<u64>,
}

/// Which call.
#[derive(Debug, clap::Args)]
struct CallArgs {
    /// The permit as `tripnote admit` printed it; without it, --session and --call-id name the call
    #[arg(value_parser = |text: &str| token::decode(text).map(Permit), required_unless_present_all = ["session", "call_id"])]
    permit: Option<Permit>,
    /// The agent run that the call was admitted for
    #[arg(long, conflicts_with = "permit", requires = "call_id")]
    session: Option<String>,
    /// The call within the session
    #[arg(long, conflicts_with = "permit", requires = "session")]
    call_id: Option<String>,
    /// Which try of the call it was, from 1
    #[arg(long, value_name = "N", requires = "call_id")]
    attempt: Option<u32>,
    /// Who asked, if that was said
    #[arg(long, requires = "call_id")]
    caller: Option<String>,
}

/// Opaque bytes.
#[derive(Clone, Debug)]
struct Permit(Vec<u8>);

/// The caller's own judgement.
#[derive(Debug, clap::Args)]
#[group(id = "judgement", multiple = false, conflicts_with = "seen")]
struct JudgementArgs {
    /// A well-formed answer, whatever it says
    #[arg(long)]
    ok: bool,
    /// It says nothing about the target: cancelled, never sent, still pending
    #[arg(long)]
    ignored: bool,
    /// It counts against the target, in circuits of this kind
    #[arg(long, value_name = "KIND", value_parser = circuit_kinds())]
    failed: Option<pb::CircuitKind>,
}

/// What was seen on the wire.
#[derive(Debug, clap::Args)]
#[group(id = "seen", multiple = true)]
struct SeenArgs {
    /// The status of the HTTP response
    #[arg(long, value_name = "N")]
    status: Option<u32>,
    /// A header of the response, such as 'retry-after: 30'; may be given more than once
    #[arg(long, value_name = "NAME: VALUE", value_parser = parse_header)]
    header: Vec<pb::Header>,
    /// The status code of the gRPC response
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    grpc_code: Option<i32>,
    /// What went wrong without or beside a status
    #[arg(long, value_name = "KIND", value_parser = error_kinds())]
    error_kind: Option<pb::ErrorKind>,
}

fn parse_header(text: &str) -> Result<pb::Header, String> {
    let (name, value) = text.split_once(':').ok_or("a name, a colon and a value are due, such as `retry-after: 30`")?;
    Ok(pb::Header { name: name.trim().to_owned(), value: value.trim().to_owned() })
}

impl CallArgs {
    fn call(self) -> Call {
        match self.permit {
            Some(Permit(token)) => Call::Permit(token),
            None => Call::CallRef(pb::CallRef {
                session_id: self.session.unwrap_or_default(),
                call_id: self.call_id.unwrap_or_default(),
                attempt: self.attempt.unwrap_or_default(),
                caller: self.caller.unwrap_or_default(),
            }),
        }
    }
}

impl ReportArgs {
    fn outcome(self) -> pb::Outcome {
        let judged = |result: Kind, kind: pb::CircuitKind| {
            let retry_after_ms = self.retry_after;
            Judged::Classification(pb::Classification { result: result.into(), kind: kind.into(), retry_after_ms })
        };
        let result = match self.judgement {
            JudgementArgs { ok: true, .. } => judged(Kind::Ok, pb::CircuitKind::Unspecified),
            JudgementArgs { ignored: true, .. } => judged(Kind::Ignored, pb::CircuitKind::Unspecified),
            JudgementArgs { failed: Some(kind), .. } => judged(Kind::Failed, kind),
            JudgementArgs { failed: None, .. } => Judged::Transport(pb::TransportFacts {
                http_status: self.seen.status,
                headers: self.seen.header,
                grpc_code: self.seen.grpc_code,
                error_kind: self.seen.error_kind.unwrap_or_default().into(),
            }),
        };
        pb::Outcome { call: Some(self.call.call()), result: Some(result), latency_ms: self.latency_ms }
    }
}

/// Reports.
pub(super) async fn run(args: ReportArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let request = pb::ReportRequest { outcomes: vec![args.outcome()] };
    let answer = service.breakers().report(request).await.map_err(|status| service.explain(&status))?.into_inner();
    let result = answer.results.into_iter().next().and_then(|result| result.result);
    match result.ok_or_else(|| service.speechless())? {
        report_result::Result::Ack(ack) => acknowledge(&ack, manner),
        report_result::Result::Error(pb::ItemError { field, message }) => anyhow::bail!("{field}: {message}"),
    }
}

fn acknowledge(ack: &pb::ReportAck, manner: Manner) -> anyhow::Result<ExitCode> {
    if manner.is_json {
        output::print(&json::ack(ack).line()?)?;
    } else {
        output::print(&words(ack))?;
    }
    match &ack.trip {
        None => Ok(ExitCode::SUCCESS),
        Some(opened) => {
            if !manner.is_json {
                output::print(trip::block(opened))?;
                output::remark(&trip::hint(opened));
            }
            Ok(ExitCode::from(TRIPPED))
        }
    }
}

/// How it was taken and, where the call is known, the phase after it.
fn words(ack: &pb::ReportAck) -> String {
    let (taken, phase) = (ack.acknowledgement().word(), ack.phase_after().word());
    if phase.is_empty() { taken } else { format!("{taken}, {phase} now") }
}

#[cfg(test)]
mod tests;
