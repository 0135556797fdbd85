//! The five Grafana boards, as values: what each panel asks, in which unit, and from where a number is bad.
//!
//! Classic dashboard JSON follows from them, and the tables of `dashboards/README.md`. Knows the catalogue of metrics and
//! nothing of how a board is brought to a Grafana. Expressions are PromQL with one shorthand: `@` in braces stands for the
//! matchers of the board's variables.

mod breakers;
mod grafana;
mod messages;
mod overview;
mod panel;
mod service;
mod sessions;

pub use self::panel::{Board, Column, Kind, Panel, Query, Row, Variable};

use super::catalogue::METRICS;

/// Sessions of each wording below which no difference between them is told.
pub const SESSIONS_FOR_A_VERDICT: u32 = 100;

/// Metrics that stand on no board, each with the reason.
pub const NOT_ON_A_BOARD: &[(&str, &str)] = &[
    ("process_virtual_memory_bytes", "address space says little of a Rust program: resident memory is shown"),
    ("process_virtual_memory_max_bytes", "as above; usually without a limit"),
];

/// All boards, from the symptom to the cause.
#[must_use]
pub fn boards() -> Vec<Board> {
    vec![overview::board(), messages::board(), breakers::board(), sessions::board(), service::board()]
}

/// The tables of `dashboards/README.md`: each panel of each board with the question that it answers.
#[must_use]
pub fn readme_tables() -> String {
    let mut text = String::new();
    for board in boards() {
        text += &format!("### {}\n\n{}\n\n| panel | question |\n|---|---|\n", board.title, board.asks);
        for panel in board.panels() {
            text += &format!("| {} | {} |\n", panel.title, panel.asks.replace('|', "or"));
        }
        text += "\n";
    }
    text += "Not on a board: ";
    let reasons: Vec<String> = NOT_ON_A_BOARD.iter().map(|(name, reason)| format!("`{name}` ({reason})")).collect();
    text += &reasons.join(", ");
    text + ".\n"
}

/// What the catalogue says of the metrics that some expressions name, in its order.
fn said_of(queries: &[Query]) -> String {
    let names = |name: &str| queries.iter().any(|query| names_metric(&query.expr, name));
    let lines: Vec<String> = METRICS
        .iter()
        .filter(|metric| names(metric.name))
        .map(|metric| format!("`{}`: {}.", metric.name, metric.help))
        .collect();
    lines.join("\n\n")
}

/// Whether an expression names a metric, or a series of a histogram.
#[must_use]
pub fn names_metric(expr: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    expr.split(|c: char| !is_word(c)).any(|word| {
        let suffixes = ["_bucket", "_sum", "_count"];
        word == name || suffixes.iter().any(|suffix| word.strip_suffix(suffix) == Some(name))
    })
}
