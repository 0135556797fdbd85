//! `tripnote session`: one agent run, turn by turn: the call, what it was typed as, what was told.

use std::process::ExitCode;

use super::connect::Service;
use super::json::Object;
use super::text::{Cell, Table, Tone, clean, count, span};
use super::words::Word as _;
use super::{Manner, output};
use crate::wire::pb;

/// Which session, and what of it.
#[derive(Debug, clap::Args)]
pub(super) struct SessionArgs {
    /// The agent run
    id: String,
    /// Who calls, if that was said
    #[arg(long)]
    caller: Option<String>,
    /// Print the evidence ledger, as the model is to get it
    #[arg(long)]
    evidence: bool,
    /// Of the evidence, only the task in force
    #[arg(long, requires = "evidence")]
    current_task: bool,
}

/// Names a session.
pub(super) fn named(id: String, caller: Option<String>) -> Option<pb::SessionRef> {
    Some(pb::SessionRef { session_id: id, caller: caller.unwrap_or_default() })
}

/// Shows it.
pub(super) async fn run(args: SessionArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let SessionArgs { id, caller, evidence, current_task } = args;
    let session = named(id, caller);
    let text = if evidence {
        let request = pb::GetEvidenceRequest { session, current_task_only: current_task };
        let answer = service.sessions().get_evidence(request).await.map_err(|status| service.explain(&status))?;
        let ledger = answer.into_inner();
        if manner.is_json { evidence_object(&ledger).line()? } else { ledger.text }
    } else {
        let request = pb::GetSessionRequest { session };
        let answer = service.sessions().get_session(request).await.map_err(|status| service.explain(&status))?;
        let shown = answer.into_inner();
        if manner.is_json { object(&shown).line()? } else { told(&shown, manner) }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn told(shown: &pb::GetSessionResponse, manner: Manner) -> String {
    let counts = shown.counts.unwrap_or_default();
    let mut lines = vec![heading(&counts)];
    if !shown.exhausted_tools.is_empty() {
        lines.push(format!("exhausted in this task: {}", names(&shown.exhausted_tools)));
    }
    if !shown.required_tools.is_empty() {
        lines.push(format!("required: {}", names(&shown.required_tools)));
    }
    if shown.dropped_calls > 0 {
        lines.push(format!("{} before these are dropped", count(shown.dropped_calls, "call")));
    }
    if shown.calls.is_empty() {
        lines.push("no calls yet".to_owned());
    } else {
        lines.push(table(&shown.calls).draw(manner.paint));
    }
    lines.join("\n")
}

fn heading(counts: &pb::SessionCounts) -> String {
    let pb::SessionCounts { admitted, refused, steered, halted, steer_then_halt, task, context_epoch, .. } = *counts;
    let mut told = format!(
        "{admitted} admitted, {refused} refused, {steered} steered, {halted} halted ({steer_then_halt} after a steer); \
         task {task}, context epoch {context_epoch}"
    );
    if counts.session_halted {
        told.push_str("; every call is refused until the next task");
    }
    told
}

fn names(tools: &[String]) -> String {
    tools.iter().map(|tool| clean(tool)).collect::<Vec<_>>().join(", ")
}

fn table(calls: &[pb::SessionCall]) -> Table<7> {
    let mut table = Table::of(["TURN", "LANE", "AGO", "TOOL", "RESULT", "SIGNAL", "TOLD"]);
    for call in calls {
        let observation = call.observation();
        let turn = call.turn.map(|turn| turn.to_string()).unwrap_or_default();
        let lane = if call.lane == 0 { String::new() } else { call.lane.to_string() };
        table.push([
            turn.as_str().into(),
            lane.as_str().into(),
            span(call.ago_ms).as_str().into(),
            Cell::in_tone(Tone::Strong, &call.tool),
            Cell::in_tone(tone_of(observation), &observation.word()),
            call.signal().word().as_str().into(),
            Cell::in_tone(if call.told == "permit" { Tone::Quiet } else { Tone::Warn }, &call.told),
        ]);
    }
    table
}

const fn tone_of(observation: pb::Observation) -> Tone {
    match observation {
        pb::Observation::Observed | pb::Observation::Truncated => Tone::Good,
        pb::Observation::Unavailable | pb::Observation::Error => Tone::Bad,
        pb::Observation::Empty => Tone::Warn,
        pb::Observation::Context | pb::Observation::Unspecified => Tone::Quiet,
    }
}

fn object(shown: &pb::GetSessionResponse) -> Object {
    Object::default()
        .with_object("counts", shown.counts.as_ref().map(counts_object))
        .with_list("calls", shown.calls.iter().map(call_object).collect())
        .with("dropped_calls", shown.dropped_calls)
        .with("exhausted_tools", shown.exhausted_tools.clone())
        .with("required_tools", shown.required_tools.clone())
}

fn counts_object(counts: &pb::SessionCounts) -> Object {
    Object::default()
        .with("admitted", counts.admitted)
        .with("refused", counts.refused)
        .with("steered", counts.steered)
        .with("halted", counts.halted)
        .with("steer_then_halt", counts.steer_then_halt)
        .with("alert_steer_then_halt", counts.alert_steer_then_halt)
        .with("session_halted", counts.session_halted)
        .with("task", counts.task)
        .with("context_epoch", counts.context_epoch)
}

fn call_object(call: &pb::SessionCall) -> Object {
    Object::default()
        .with_some("turn", call.turn)
        .with_count("lane", call.lane.into())
        .with("tool", call.tool.as_str())
        .with_text("observation", &call.observation().word())
        .with_text("signal", &call.signal().word())
        .with("told", call.told.as_str())
        .with("ago_ms", call.ago_ms)
}

fn evidence_object(ledger: &pb::GetEvidenceResponse) -> Object {
    let row = |row: &pb::EvidenceRow| {
        Object::default()
            .with("number", row.number)
            .with("usable", row.usable)
            .with("domain", row.domain.as_str())
            .with("role", row.role.as_str())
            .with("tool", row.tool.as_str())
            .with_text("observation", &row.observation().word())
            .with_text("digest", &row.digest)
            .with("task", row.task)
            .with_some("turn", row.turn)
    };
    Object::default()
        .with_list("rows", ledger.rows.iter().map(row).collect())
        .with("text", ledger.text.as_str())
        .with("dropped_rows", ledger.dropped_rows)
}

#[cfg(test)]
mod tests;
