//! The figures of the script and of the service side by side, and all on which they differ.

use super::figures::{Difference, Figures, OfRow, Row, named_sessions};
use super::{Outcome, SimArgs};
use crate::cli::Manner;
use crate::cli::behaviour;
use crate::cli::json::Object;
use crate::cli::text::{Paint, Tone, clean, count, pad};

/// Columns of a name, which is cut beyond, and of each figure.
const NAME: usize = 18;
const FIGURE: usize = 6;
/// Differences that are told one by one.
const DIFFERENCES_MAX: usize = 40;

/// What a person wants to see at once, of both.
type Main = (&'static str, fn(&OfRow) -> u64);
const MAIN: [Main; 4] = [
    ("TRIPS", |of| of.trips),
    ("REP", |of| of.repeated_trips),
    ("MATCH", |of| of.first_actions.r#match),
    ("RECOV", |of| of.resolutions.recovered),
];

/// The result in lines.
pub(super) fn lines(
    args: &SimArgs,
    outcome: &Outcome,
    differences: &[Difference],
    manner: Manner,
) -> anyhow::Result<Vec<String>> {
    if manner.is_json {
        objects(args, outcome, differences)
    } else {
        Ok(told(args, outcome, differences, manner.paint))
    }
}

fn told(args: &SimArgs, outcome: &Outcome, differences: &[Difference], paint: Paint) -> Vec<String> {
    let mut lines = vec![heading(paint)];
    let rows = all_rows(outcome);
    let mut last = "";
    for row in rows.iter().filter(|row| row.signal.is_empty()) {
        if row.breaker != last {
            lines.push(paint.dye(Tone::Strong, &clean(&row.breaker)));
            last = &row.breaker;
        }
        let both = [&outcome.truth, &outcome.service].map(|figures| figures.rows.get(row).cloned().unwrap_or_default());
        let is_equal = !differences
            .iter()
            .any(|found| found.row.as_ref().is_some_and(|of| of.breaker == row.breaker && of.variant == row.variant));
        let mark = if is_equal { paint.dye(Tone::Good, "equal") } else { paint.dye(Tone::Bad, "differs") };
        let figures: String =
            both.iter().map(|of| format!("{}  ", cells(MAIN.map(|(_, main)| main(of).to_string())))).collect();
        lines.push(format!("{}{figures}{mark}", pad(&format!("  {}", clean(&row.variant)), NAME)));
    }
    lines.push(String::new());
    lines.extend(behaviour::differences(&outcome.answer.breakers, paint));
    lines.extend(conclusion(args, outcome, differences, paint));
    lines
}

fn heading(paint: Paint) -> String {
    let group = FIGURE * MAIN.len();
    let groups = format!("{}{:>group$}  {:>group$}", pad("", NAME), "by the script", "by the service");
    let names = cells(MAIN.map(|(name, _)| name.to_owned()));
    paint.dye(Tone::Quiet, &format!("{groups}\n{}{names}  {names}", pad("BREAKER, VARIANT", NAME)))
}

fn cells(figures: [String; 4]) -> String {
    figures.iter().map(|figure| format!("{figure:>FIGURE$}")).collect()
}

fn conclusion(args: &SimArgs, outcome: &Outcome, differences: &[Difference], paint: Paint) -> Vec<String> {
    let compared = compared(outcome);
    let of =
        format!("{} with {}, seed {}", count(args.sessions.into(), "session"), count(outcome.calls, "call"), args.seed);
    if differences.is_empty() {
        let text = format!("{of}: all {compared} figures are equal");
        return vec![paint.dye(Tone::Good, &text)];
    }
    let n = u64::try_from(differences.len()).unwrap_or(u64::MAX);
    let mut lines = vec![paint.dye(Tone::Bad, &format!("{of}: {n} of {compared} figures differ"))];
    lines.extend(differences.iter().take(DIFFERENCES_MAX).map(|found| {
        let Difference { row, figure, truth, service } = found;
        let of = row.as_ref().map_or_else(|| "sessions".to_owned(), name);
        format!("  {}: {figure} is {truth} by the script and {service} by the service", clean(&of))
    }));
    let more = differences.len().saturating_sub(DIFFERENCES_MAX);
    if more > 0 {
        lines.push(format!("  and {more} more: see --json"));
    }
    lines
}

fn name(row: &Row) -> String {
    let Row { breaker, signal, variant } = row;
    let signal = if signal.is_empty() { "all signals" } else { signal };
    format!("{breaker}, {variant}, {signal}")
}

/// Rows that either side has, in order.
fn all_rows(outcome: &Outcome) -> Vec<Row> {
    let mut rows: Vec<Row> = outcome.truth.rows.keys().chain(outcome.service.rows.keys()).cloned().collect();
    rows.sort();
    rows.dedup();
    rows
}

/// How many figures were held against each other.
fn compared(outcome: &Outcome) -> usize {
    let of_row = |row: &Row| {
        let of = |figures: &Figures| figures.rows.get(row).map_or(0, |of| of.named().len());
        of(&outcome.truth).max(of(&outcome.service))
    };
    all_rows(outcome).iter().map(of_row).sum::<usize>() + named_sessions(&outcome.truth.sessions).len()
}

fn objects(args: &SimArgs, outcome: &Outcome, differences: &[Difference]) -> anyhow::Result<Vec<String>> {
    let mut lines = vec![];
    for row in all_rows(outcome) {
        let of = |figures: &Figures| object(figures.rows.get(&row).cloned().unwrap_or_default().named());
        let object = Object::default()
            .with("type", "figures")
            .with("breaker", row.breaker.as_str())
            .with("variant", row.variant.as_str())
            .with_text("signal", &row.signal)
            .with("truth", of(&outcome.truth))
            .with("service", of(&outcome.service))
            .with("equal", !differences.iter().any(|found| found.row.as_ref() == Some(&row)));
        lines.push(object.line()?);
    }
    let of = |figures: &Figures| object(named_sessions(&figures.sessions));
    let sessions = Object::default()
        .with("type", "sessions")
        .with("truth", of(&outcome.truth))
        .with("service", of(&outcome.service))
        .with("equal", !differences.iter().any(|found| found.row.is_none()));
    lines.push(sessions.line()?);
    let summary = Object::default()
        .with("type", "summary")
        .with("seed", args.seed)
        .with("sessions", args.sessions)
        .with("calls", outcome.calls)
        .with("figures", compared(outcome))
        .with("differences", differences.len())
        .with("equal", differences.is_empty());
    lines.push(summary.line()?);
    Ok(lines)
}

fn object(named: Vec<(String, u64)>) -> serde_json::Value {
    named.into_iter().map(|(name, n)| (name, serde_json::Value::from(n))).collect()
}
