//! `tripnote circuit`: all that is known of one breaker's circuits, with the contract that each hands out now, as the
//! model reads it.

use std::process::ExitCode;

use super::circuits::{deadline_words, every, phase_tone};
use super::connect::Service;
use super::text::{Paint, Tone, clean, count, deadline, span};
use super::words::Word as _;
use super::{Manner, json, output};
use crate::wire::pb;

/// Columns of the words before the figures.
const LABEL: usize = 11;

/// Which breaker.
#[derive(Debug, clap::Args)]
pub(super) struct CircuitArgs {
    /// The breaker's code, as `tripnote circuits` lists it
    code: String,
}

/// Shows it.
pub(super) async fn run(args: CircuitArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let circuits = every(service, args.code.clone(), false).await?;
    if manner.is_json {
        for circuit in &circuits {
            output::print(&json::circuit(circuit).line()?)?;
        }
    } else if circuits.is_empty() {
        output::print(&format!("no circuits of `{}`: nothing has failed there yet", clean(&args.code)))?;
    } else {
        let pages: Vec<String> = circuits.iter().map(|circuit| page(circuit, manner.paint)).collect();
        output::print(&pages.join("\n\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Everything about one circuit.
fn page(circuit: &pb::Circuit, paint: Paint) -> String {
    let name = circuit.name.clone().unwrap_or_default();
    let title = paint.dye(Tone::Strong, &clean(&name.breaker));
    let mut lines = vec![format!("{title}  {}  {}", clean(&name.scope), name.kind().word())];
    let mut figure = |label: &str, text: &str| {
        if !text.is_empty() {
            lines.push(format!("  {}{text}", paint.dye(Tone::Quiet, &format!("{label:<LABEL$}"))));
        }
    };
    figure("phase", &phase(circuit, paint));
    figure("observed", &clean(&circuit.observed));
    figure("threshold", &clean(&circuit.threshold));
    figure("window", &format!("{} of {} counted against it", circuit.failed, count(circuit.results.into(), "result")));
    if circuit.probes_in_flight > 0 {
        figure("probes", &format!("{} running", circuit.probes_in_flight));
    }
    for hold in &circuit.holds {
        figure("held", &paint.dye(Tone::Held, &held(hold)));
    }
    if circuit.shadow_percent > 0 {
        figure("shadow", &format!("for {} % of sessions it decides but does not refuse", circuit.shadow_percent));
    }
    figure("last seen", &format!("{} ago", span(circuit.last_seen_ms_ago)));
    match circuit.contract.as_ref() {
        None => figure("contract", "none: it lets calls pass"),
        Some(trip) if trip.text.is_empty() => figure("contract", "silent: the model is given no text"),
        Some(trip) => {
            figure("contract", &paint.dye(Tone::Quiet, "what the model is given instead of a result:"));
            // as it is: this is the place to see what the model sees
            lines.extend(trip.text.lines().map(|line| format!("    {line}")));
        }
    }
    lines.join("\n")
}

fn phase(circuit: &pb::Circuit, paint: Paint) -> String {
    let word = paint.dye(phase_tone(circuit.phase()), &circuit.phase().word());
    let until = match (circuit.phase(), deadline_words(circuit)) {
        (pb::Phase::Open, _) if circuit.probe_ready => ", the next call is a probe".to_owned(),
        (pb::Phase::Open, Some(deadline)) => format!(" until {deadline}"),
        (pb::Phase::Open, None) => " until an operator releases it".to_owned(),
        (_, Some(deadline)) => format!(", ask again in {deadline}"),
        (_, None) => String::new(),
    };
    let level = match circuit.backoff_level {
        0 => String::new(),
        level => format!(", backoff level {level}"),
    };
    format!("{word}{until}, generation {}{level}", circuit.generation)
}

fn held(hold: &pb::OverrideHold) -> String {
    // dated always: holds are long, and how far away the end is cannot be told without a clock
    let until = hold.expires_at.as_ref().map(|at| format!(" until {}", deadline(at, u64::MAX))).unwrap_or_default();
    let reason = if hold.reason.is_empty() { String::new() } else { format!(": {}", clean(&hold.reason)) };
    format!("{} by {}{until}{reason}", hold.mode().word(), clean(&hold.owner))
}

#[cfg(test)]
mod tests;
