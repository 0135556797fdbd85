//! `tripnote report`: how a call went, by the caller's own judgement or by what was seen on the wire.

use std::process::ExitCode;

use clap::ArgGroup;

use super::connect::Service;
use super::source::Source;
use super::text::{parse_span, span};
use super::words::{Word as _, carriers, circuit_kinds, effects, error_kinds};
use super::{Manner, TRIPPED, json, output, token, trip};
use crate::wire::pb;
use crate::wire::pb::classification::Kind;
use crate::wire::pb::outcome::{Call, Result as Judged};
use crate::wire::pb::report_result;

/// What can be told of a call; one of these is due.
const WHAT: [&str; 8] = ["ok", "ignored", "failed", "status", "grpc_code", "exit_code", "error_kind", "payload"];

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
    #[command(flatten)]
    told_again: ToldAgainArgs,
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
    /// How the process ended
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    exit_code: Option<i32>,
    /// What carried the call, where an answer must have a shape
    #[arg(long, value_parser = carriers(), requires = "what")]
    transport: Option<pb::Carrier>,
    /// What the tool answered: JSON or text, @FILE, or - for standard input; the service types it and forgets it
    #[arg(long, value_name = "TEXT|@FILE|-")]
    payload: Option<Source>,
    /// The media type of the payload
    #[arg(long, value_name = "TYPE", requires = "payload")]
    content_type: Option<String>,
    /// The payload was cut
    #[arg(long, requires = "payload")]
    truncated: bool,
    /// What went wrong without or beside a status
    #[arg(long, value_name = "KIND", value_parser = error_kinds())]
    error_kind: Option<pb::ErrorKind>,
}

/// What the call was asked as, where the service does not remember it.
#[derive(Debug, clap::Args)]
struct ToldAgainArgs {
    /// The tool as the model knows it
    #[arg(long)]
    tool: Option<String>,
    /// What the call does to the world
    #[arg(long, value_parser = effects())]
    effect: Option<pb::Effect>,
    /// The call had an idempotency key
    #[arg(long)]
    idempotent: bool,
}

pub(super) fn parse_header(text: &str) -> Result<pb::Header, String> {
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
    fn outcome(self) -> anyhow::Result<pb::Outcome> {
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
                exit_code: self.seen.exit_code,
                carrier: self.seen.transport.unwrap_or_default().into(),
            }),
        };
        let body = self.seen.payload.map(|source| source.read("the payload")).transpose()?;
        let payload = body.map(|body| pb::Payload {
            body,
            content_type: self.seen.content_type.unwrap_or_default(),
            truncated_by_caller: self.seen.truncated,
        });
        Ok(pb::Outcome {
            call: Some(self.call.call()),
            result: Some(result),
            payload,
            latency_ms: self.latency_ms,
            tool_name: self.told_again.tool.unwrap_or_default(),
            effect: self.told_again.effect.unwrap_or_default().into(),
            idempotent: self.told_again.idempotent,
            ..pb::Outcome::default()
        })
    }
}

/// Reports.
pub(super) async fn run(args: ReportArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let request = pb::ReportRequest { outcomes: vec![args.outcome()?] };
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
        if let Some(typing) = &ack.typing {
            output::print(&typed(typing))?;
        }
        if let Some(handling) = &ack.handling {
            output::print(&handled(handling))?;
        }
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

/// What the result is, and why.
fn typed(typing: &pb::Typing) -> String {
    let mut parts = vec![typing.observation().word(), typing.signal().word(), typing.failure_class().word()];
    parts.retain(|part| !part.is_empty());
    let what = if parts.is_empty() { "not typed".to_owned() } else { parts.join(", ") };
    format!("{what}: {} ({}, {})", typing.reason, typing.format, typing.rule)
}

/// Who acts, and with which words.
fn handled(handling: &pb::Handling) -> String {
    let after = handling.after_ms.map(|ms| format!(" after {}", span(ms))).unwrap_or_default();
    let text = if handling.text.is_empty() { String::new() } else { format!(": {}", handling.text) };
    format!("{}{after}{text}", handling.disposition().word())
}

#[cfg(test)]
mod tests;
