//! `tripnote circuits`: every circuit that has something to remember, one row each, sorted by name.

use std::process::ExitCode;

use super::connect::Service;
use super::text::{Cell, Table, Tone, deadline, span};
use super::words::Word as _;
use super::{Manner, json, output};
use crate::wire::pb;

/// Circuits in one answer.
const PAGE: u32 = 500;

/// Which circuits.
#[derive(Debug, clap::Args)]
pub(super) struct CircuitsArgs {
    /// Only those of the breaker with this code
    #[arg(long, value_name = "CODE")]
    breaker: Option<String>,
    /// Only those that are open, half-open or held
    #[arg(long)]
    open: bool,
}

/// Lists them.
pub(super) async fn run(args: CircuitsArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let circuits = every(service, args.breaker.unwrap_or_default(), args.open).await?;
    if manner.is_json {
        for circuit in &circuits {
            output::print(&json::circuit(circuit).line()?)?;
        }
    } else if circuits.is_empty() {
        output::print(if args.open { "no circuits are open" } else { "no circuits: nothing has failed yet" })?;
    } else {
        output::print(&table(&circuits).draw(manner.paint))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// All circuits that fit, page after page, in the order of their names; one that came twice only once.
pub(super) async fn every(service: &Service, breaker: String, only_open: bool) -> anyhow::Result<Vec<pb::Circuit>> {
    let mut circuits = Vec::new();
    let mut page_token = String::new();
    loop {
        let request = pb::ListCircuitsRequest {
            breaker: breaker.clone(),
            only_not_closed: only_open,
            page_size: PAGE,
            page_token: page_token.clone(),
        };
        let answer = service.operators().list_circuits(request).await.map_err(|status| service.explain(&status))?;
        let page = answer.into_inner();
        circuits.extend(page.circuits);
        // a page that leads to itself would never end
        if page.next_page_token.is_empty() || page.next_page_token == page_token {
            break;
        }
        page_token = page.next_page_token;
    }
    circuits.sort_by(|a, b| place(a).cmp(&place(b)));
    circuits.dedup_by(|a, b| place(a) == place(b));
    Ok(circuits)
}

fn place(circuit: &pb::Circuit) -> Option<(&str, &str, i32)> {
    circuit.name.as_ref().map(|name| (name.breaker.as_str(), name.scope.as_str(), name.kind))
}

fn table(circuits: &[pb::Circuit]) -> Table<8> {
    let mut table = Table::of(["BREAKER", "SCOPE", "KIND", "PHASE", "UNTIL", "OBSERVED", "THRESHOLD", "OVERRIDE"]);
    for circuit in circuits {
        let name = circuit.name.clone().unwrap_or_default();
        table.push([
            Cell::in_tone(Tone::Strong, &name.breaker),
            (&name.scope).into(),
            name.kind().word().into(),
            Cell::in_tone(phase_tone(circuit.phase()), &circuit.phase().word()),
            until(circuit).into(),
            (&circuit.observed).into(),
            (&circuit.threshold).into(),
            Cell::in_tone(Tone::Held, &hold(circuit)),
        ]);
    }
    table
}

/// The colour of a phase.
pub(super) const fn phase_tone(phase: pb::Phase) -> Tone {
    match phase {
        pb::Phase::Open => Tone::Bad,
        pb::Phase::HalfOpen => Tone::Warn,
        pb::Phase::Closed => Tone::Good,
        pb::Phase::Unspecified => Tone::Quiet,
    }
}

/// Until when calls are refused: `14:02:10Z (40s)`. Empty while they are not.
fn until(circuit: &pb::Circuit) -> String {
    match (circuit.phase(), deadline_words(circuit)) {
        (pb::Phase::Open, _) if circuit.probe_ready => "next call".to_owned(),
        (pb::Phase::Open, None) => "operator".to_owned(),
        (_, deadline) => deadline.unwrap_or_default(),
    }
}

/// The deadline, as far as there is one: `14:02:10Z (40s)`, or `40s` where the time of day is not known.
pub(super) fn deadline_words(circuit: &pb::Circuit) -> Option<String> {
    match (circuit.open_until.as_ref(), circuit.retry_after_ms) {
        (Some(at), Some(wait_ms)) => Some(format!("{} ({})", deadline(at, wait_ms), span(wait_ms))),
        (Some(at), None) => Some(deadline(at, 0)),
        (None, wait_ms) => wait_ms.map(span),
    }
}

/// The mode in force and whose it is: `force_open by ops`. Holds that it outranks are on the page of the circuit.
fn hold(circuit: &pb::Circuit) -> String {
    let in_force = circuit.holds.iter().filter(|hold| hold.mode == circuit.override_mode);
    let owners: Vec<&str> = in_force.map(|hold| hold.owner.as_str()).collect();
    match circuit.override_mode().word() {
        mode if mode.is_empty() => String::new(),
        mode => format!("{mode} by {}", owners.join(", ")),
    }
}

#[cfg(test)]
mod tests;
