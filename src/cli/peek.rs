//! `tripnote peek`: which of these targets can be called now. Takes no probe and promises nothing.

use std::process::ExitCode;

use super::connect::Service;
use super::json::{self, Object};
use super::text::{Cell, Table, Tone};
use super::words::Word as _;
use super::{Manner, TRIPPED, output};
use crate::wire::pb;
use crate::wire::pb::peek_result::Result as Seen;

/// Which targets.
#[derive(Debug, clap::Args)]
pub(super) struct PeekArgs {
    /// The targets, such as 'POST /v2/charge'
    #[arg(required = true, num_args = 1..=256)]
    targets: Vec<String>,
    /// The agent run
    #[arg(long)]
    session: Option<String>,
    /// A name for the credential that the calls would use, never the secret
    #[arg(long)]
    credential: Option<String>,
    /// Who would call
    #[arg(long)]
    caller: Option<String>,
}

/// Looks.
pub(super) async fn run(args: PeekArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let target_of = |target: &String| pb::PeekTarget {
        target: target.clone(),
        session_id: args.session.clone().unwrap_or_default(),
        credential: args.credential.clone().unwrap_or_default(),
        caller: args.caller.clone().unwrap_or_default(),
        ..pb::PeekTarget::default()
    };
    let request = pb::PeekRequest { targets: args.targets.iter().map(target_of).collect() };
    let answer = service.breakers().peek(request).await.map_err(|status| service.explain(&status))?.into_inner();
    let results: Option<Vec<Seen>> = answer.results.into_iter().map(|result| result.result).collect();
    let results = results.filter(|results| results.len() == args.targets.len());
    let results = results.ok_or_else(|| service.speechless())?;
    if manner.is_json {
        for (target, seen) in args.targets.iter().zip(&results) {
            output::print(&object(target, seen).line()?)?;
        }
    } else {
        output::print(&table(&args.targets, &results).draw(manner.paint))?;
    }
    Ok(status(&results))
}

fn status(results: &[Seen]) -> ExitCode {
    if results.iter().any(|seen| matches!(seen, Seen::Error(_))) {
        return ExitCode::FAILURE;
    }
    let is_refused = results.iter().any(|seen| matches!(seen, Seen::Trip(_)));
    if is_refused { ExitCode::from(TRIPPED) } else { ExitCode::SUCCESS }
}

fn object(target: &str, seen: &Seen) -> Object {
    let asked = Object::default().with("target", target);
    match seen {
        Seen::Callable(callable) => {
            let answer = Object::default().with("breaker", callable.breaker.as_str()).with("probe", callable.probe);
            asked.with_object("callable", Some(answer))
        }
        Seen::Trip(trip) => asked.with_object("trip", Some(json::trip(trip))),
        Seen::Error(error) => asked.with_object("error", Some(json::item_error(error))),
    }
}

fn table(targets: &[String], results: &[Seen]) -> Table<5> {
    let mut table = Table::of(["ANSWER", "TARGET", "BREAKER", "STATE", "FALLBACK"]);
    for (target, seen) in targets.iter().zip(results) {
        let target = Cell::from(target);
        table.push(match seen {
            Seen::Callable(pb::Callable { breaker, probe: false }) => {
                [Cell::in_tone(Tone::Good, "callable"), target, breaker.into(), "".into(), "".into()]
            }
            Seen::Callable(pb::Callable { breaker, probe: true }) => [
                Cell::in_tone(Tone::Warn, "probe"),
                target,
                breaker.into(),
                "the next call is a probe".into(),
                "".into(),
            ],
            Seen::Trip(trip) => [
                Cell::in_tone(Tone::Bad, &trip.action().word()),
                target,
                (&trip.breaker).into(),
                (&trip.state).into(),
                (&trip.fallback).into(),
            ],
            Seen::Error(error) => {
                let fault = format!("{}: {}", error.field, error.message);
                [Cell::in_tone(Tone::Bad, "error"), target, "".into(), fault.into(), "".into()]
            }
        });
    }
    table
}

#[cfg(test)]
mod tests;
