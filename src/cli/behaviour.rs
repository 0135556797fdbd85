//! `tripnote behaviour`: whether the message works: what models did with the contracts of each breaker, by variant.
//!
//! One breaker is told in full; of several each variant is a row. What can be said of a difference comes from the
//! service as a sentence.

mod overview;
mod page;

use std::process::ExitCode;

use super::connect::Service;
use super::json::Object;
use super::text::{Paint, Tone, clean, columns};
use super::words::Word as _;
use super::{Manner, output};
use crate::wire::pb;

/// Columns within which the figures are told, on any terminal.
const WIDTH: usize = 80;

/// Which figures.
#[derive(Debug, clap::Args)]
pub(super) struct BehaviourArgs {
    /// Only those of the breaker with this code, or of the session guard, in full
    #[arg(long, value_name = "CODE")]
    breaker: Option<String>,
}

/// Tells them.
pub(super) async fn run(args: BehaviourArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let breaker = args.breaker.unwrap_or_default();
    let request = pb::GetBehaviourRequest { breaker: breaker.clone() };
    let answer = service.operators().get_behaviour(request).await.map_err(|status| service.explain(&status))?;
    let figures = answer.into_inner();
    if manner.is_json {
        for object in objects(&figures) {
            output::print(&object.line()?)?;
        }
    } else {
        output::print(&told(&figures, &breaker, manner))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The figures in lines of at most [`WIDTH`] columns, but for names that are longer.
fn told(figures: &pb::GetBehaviourResponse, asked: &str, manner: Manner) -> String {
    let text = match figures.breakers.as_slice() {
        [] => nothing(asked),
        [only] => page::draw(only, manner.paint),
        several => overview::draw(several, manner.paint),
    };
    format!("{text}\n\n{}", sessions(&figures.sessions.unwrap_or_default()))
}

/// What the service can say of differences, a line or more for each breaker that has variants.
pub(super) fn differences(breakers: &[pb::BreakerBehaviour], paint: Paint) -> Vec<String> {
    breakers.iter().flat_map(|of| overview::told(of, paint)).collect()
}

fn nothing(asked: &str) -> String {
    let what = if asked.is_empty() { "nothing".to_owned() } else { format!("nothing of `{}`", clean(asked)) };
    let text = format!("{what} was told yet: figures begin with the first refusal of a call that names its session");
    wrapped(&text, 0)
}

fn sessions(totals: &pb::SessionTotals) -> String {
    let pb::SessionTotals { open, answered, escalated, halted, abandoned, with_halts, with_steers, successful, .. } =
        *totals;
    let ended = format!(
        "sessions: {open} open; ended: {answered} answered, {escalated} escalated, {halted} halted, {abandoned} abandoned"
    );
    let of_these = format!(
        "of the ended, {with_steers} were steered and {with_halts} told to halt; {successful} were closed as \
         successful, {} of them told to halt (false halts)",
        totals.false_halts,
    );
    let lines = [ended, of_these].map(|line| wrapped(&line, 2));
    let [ended, of_these] = lines;
    if answered + escalated + halted + abandoned == 0 { ended } else { format!("{ended}\n{of_these}") }
}

/// How much a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    /// That there is a difference.
    Difference,
    /// That none is seen.
    Same,
    /// Nothing yet.
    Nothing,
}

impl Said {
    const fn of(verdict: pb::comparison::Verdict) -> Self {
        match verdict {
            pb::comparison::Verdict::Different => Self::Difference,
            pb::comparison::Verdict::NoDifference => Self::Same,
            pb::comparison::Verdict::TooFew | pb::comparison::Verdict::Unspecified => Self::Nothing,
        }
    }

    const fn tone(self) -> Tone {
        match self {
            Self::Difference => Tone::Good,
            Self::Same => Tone::Strong,
            Self::Nothing => Tone::Quiet,
        }
    }
}

/// `text` broken at blanks into lines of at most [`WIDTH`] columns, all but the first of them indented.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let is_full =
            lines.last().is_some_and(|line| !line.trim().is_empty() && columns(line) + 1 + columns(word) > WIDTH);
        if is_full {
            lines.push(" ".repeat(indent));
        }
        if let Some(line) = lines.last_mut() {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

/// `43.2%`; a dash where there is nothing to share.
fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.1}%", value * 100.0))
}

/// `38.1-48.4%`.
fn interval(share: &pb::Share) -> String {
    format!("{:.1}-{:.1}%", share.low * 100.0, share.high * 100.0)
}

/// `n` of `all`; a dash of none.
#[expect(clippy::cast_precision_loss, reason = "a percentage of counts, rounded to a tenth")]
fn share_of(n: u64, all: u64) -> String {
    percent((all > 0).then(|| n as f64 / all as f64))
}

/// Trips of which it is known how they ended.
const fn resolved(of: &pb::Resolutions) -> u64 {
    of.recovered + of.halted + of.abandoned + of.superseded
}

/// `2 (1-4)`: median and quartiles; a dash where none recovered.
fn turns(turns: &pb::Turns) -> String {
    match (turns.first_quartile, turns.median, turns.third_quartile) {
        (Some(first), Some(median), Some(third)) => format!("{median} ({first}-{third})"),
        _ => "-".to_owned(),
    }
}

fn objects(figures: &pb::GetBehaviourResponse) -> Vec<Object> {
    let breakers = figures.breakers.iter().map(breaker_object);
    breakers.chain(figures.sessions.as_ref().map(sessions_object)).collect()
}

fn breaker_object(of: &pb::BreakerBehaviour) -> Object {
    Object::default()
        .with("type", "breaker")
        .with("breaker", of.breaker.as_str())
        .with_list("variants", of.variants.iter().map(variant_object).collect())
        .with_list("by_signal", of.by_signal.iter().map(variant_object).collect())
        .with_list("comparisons", of.comparisons.iter().map(comparison_object).collect())
}

fn variant_object(of: &pb::VariantBehaviour) -> Object {
    Object::default()
        .with("variant", of.variant.as_str())
        .with_text("signal", &of.signal().word())
        .with("trips", of.trips)
        .with("concluded", of.concluded)
        .with("sessions", of.sessions)
        .with_object("first_actions", of.first_actions.as_ref().map(first_actions_object))
        .with("repeated_trips", of.repeated_trips)
        .with("repeats", of.repeats)
        .with("ignored_trips", of.ignored_trips)
        .with("ignored", of.ignored)
        .with_object("repeat_rate", of.repeat_rate.as_ref().map(share_object))
        .with_object("first_action_match", of.first_action_match.as_ref().map(share_object))
        .with_object("resolutions", of.resolutions.as_ref().map(resolutions_object))
        .with_object("turns_to_recovery", of.turns_to_recovery.as_ref().map(turns_object))
        .with("halted_sessions", of.halted_sessions)
        .with("false_halts", of.false_halts)
}

fn first_actions_object(of: &pb::FirstActions) -> Object {
    let object = Object::default().with("match", of.r#match).with("repeat", of.repeat);
    object.with("other", of.other).with("none", of.none)
}

fn resolutions_object(of: &pb::Resolutions) -> Object {
    let object = Object::default().with("recovered", of.recovered).with("halted", of.halted);
    object.with("abandoned", of.abandoned).with("superseded", of.superseded)
}

fn share_object(of: &pb::Share) -> Object {
    let object = Object::default().with_some("value", of.value).with("low", of.low).with("high", of.high);
    object.with("effective_trips", of.effective_trips)
}

fn turns_object(of: &pb::Turns) -> Object {
    Object::default()
        .with("trips", of.trips.clone())
        .with_some("first_quartile", of.first_quartile)
        .with_some("median", of.median)
        .with_some("third_quartile", of.third_quartile)
}

fn comparison_object(of: &pb::Comparison) -> Object {
    Object::default()
        .with("measure", of.measure.as_str())
        .with("variant", of.variant.as_str())
        .with("other_variant", of.other_variant.as_str())
        .with_some("difference", of.difference)
        .with_some("p_value", of.p_value)
        .with("verdict", of.verdict().word())
        .with_some("more_trips", of.more_trips)
        .with("text", of.text.as_str())
}

fn sessions_object(of: &pb::SessionTotals) -> Object {
    Object::default()
        .with("type", "sessions")
        .with("open", of.open)
        .with("answered", of.answered)
        .with("escalated", of.escalated)
        .with("halted", of.halted)
        .with("abandoned", of.abandoned)
        .with("with_halts", of.with_halts)
        .with("with_steers", of.with_steers)
        .with("successful", of.successful)
        .with("false_halts", of.false_halts)
}

#[cfg(test)]
mod tests;
