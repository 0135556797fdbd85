//! What a call asks, apart from how it is worded: the query identity of spec 4.1.
//!
//! A relabelled PromQL query asks for the same metrics again; a `grep` for another word asks something else. Which
//! language an argument is in is known from the tool's row or exact name, never guessed from what it looks like.

mod lexer;
mod logql;
mod promql;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::domain::document::{Document, Value, canonical};
use crate::domain::observation::{Format, FormatChoice};
use crate::domain::tool::Tool;

/// The longest query that is read in bytes; a longer one is known by its canonical arguments.
pub const QUERY_BYTES_MAX: usize = 16 * 1024;
/// Names of one query; beyond them it is known by its canonical arguments.
pub const NAMES_MAX: usize = 64;

/// The tools that take PromQL, by their own names, as their makers document them.
const PROMETHEUS_TOOLS: &[&str] = &["query_prometheus", "query_prometheus_histogram"];
/// The tools that take LogQL.
const LOKI_TOOLS: &[&str] = &["query_loki_logs", "query_loki_patterns", "query_loki_stats"];
/// Where a PromQL query stands; a histogram tool takes the bare metric.
const PROMQL_ARGUMENTS: &[&str] = &["promql", "expr", "query", "metric"];
/// Where a LogQL query stands.
const LOGQL_ARGUMENTS: &[&str] = &["logql", "query", "expr"];

/// What a call asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The metrics that a PromQL query reads.
    Metrics(BTreeSet<String>),
    /// The stream labels by which a LogQL query selects.
    StreamLabels(BTreeSet<String>),
    /// The declared arguments, canonical, in the order of their declaration; none for one that is not there.
    Declared(Vec<Option<Vec<u8>>>),
    /// All arguments: their own hash is the identity.
    Arguments,
}

impl Identity {
    /// The bytes to be hashed; none where it is the arguments' own hash.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        match self {
            Self::Arguments => return None,
            Self::Metrics(names) => push_names(b'm', names, &mut out),
            Self::StreamLabels(names) => push_names(b'l', names, &mut out),
            Self::Declared(values) => {
                out.push(b'd');
                for value in values {
                    out.push(u8::from(value.is_some()));
                    let value = value.as_deref().unwrap_or_default();
                    out.extend((value.len() as u64).to_le_bytes());
                    out.extend(value);
                }
            }
        }
        Some(out)
    }
}

fn push_names(tag: u8, names: &BTreeSet<String>, out: &mut Vec<u8>) {
    out.push(tag);
    for name in names {
        out.extend((name.len() as u64).to_le_bytes());
        out.extend(name.as_bytes());
    }
}

/// The identity of a call. What an operator declared counts before what a language says.
#[must_use]
pub fn of(tool_name: &str, tool: &Tool, arguments: &[u8]) -> Identity {
    let text = std::str::from_utf8(arguments).unwrap_or_default();
    let Ok(document) = Document::read(text) else { return Identity::Arguments };
    let root = document.root();
    if !root.is_object() {
        return Identity::Arguments;
    }
    if !tool.identity.is_empty() {
        let values = tool.identity.iter().map(|pointer| root.pointer(pointer).map(told));
        let values: Vec<Option<Vec<u8>>> = values.collect();
        // A call that has none of the declared arguments says nothing by them.
        return if values.iter().any(Option::is_some) { Identity::Declared(values) } else { Identity::Arguments };
    }
    let found = match language(tool_name, tool) {
        Some(Language::Promql) => query(root, PROMQL_ARGUMENTS, promql::metrics).map(Identity::Metrics),
        Some(Language::Logql) => query(root, LOGQL_ARGUMENTS, logql::stream_labels).map(Identity::StreamLabels),
        None => None,
    };
    found.unwrap_or(Identity::Arguments)
}

fn told(value: Value<'_>) -> Vec<u8> {
    canonical(value.raw().as_bytes()).into_owned()
}

/// The names in the first of several arguments that holds a query.
fn query(root: Value<'_>, arguments: &[&str], read: fn(&str) -> Option<BTreeSet<String>>) -> Option<BTreeSet<String>> {
    let text = arguments.iter().find_map(|name| root.get(name).and_then(Value::as_str))?;
    let names = read(&text).filter(|_| text.len() <= QUERY_BYTES_MAX)?;
    (1..=NAMES_MAX).contains(&names.len()).then_some(names)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Promql,
    Logql,
}

/// The language of a tool's queries.
fn language(name: &str, tool: &Tool) -> Option<Language> {
    match &tool.format {
        Some(FormatChoice::BuiltIn(Format::Prometheus)) => Some(Language::Promql),
        Some(FormatChoice::BuiltIn(Format::Loki)) => Some(Language::Logql),
        Some(FormatChoice::BuiltIn(_) | FormatChoice::Custom(_)) | None => {
            let bare = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map_or(name, |(_, bare)| bare);
            let is_one_of = |tools: &[&str]| tools.contains(&bare);
            match () {
                () if is_one_of(PROMETHEUS_TOOLS) => Some(Language::Promql),
                () if is_one_of(LOKI_TOOLS) => Some(Language::Logql),
                () => None,
            }
        }
    }
}

/// For `explain`: what was taken for the question.
impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut list = String::new();
        match self {
            Self::Metrics(names) | Self::StreamLabels(names) => {
                for name in names {
                    let _ = write!(list, "{}{name}", if list.is_empty() { "" } else { ", " });
                }
                let what = if matches!(self, Self::Metrics(_)) { "metrics" } else { "stream labels" };
                write!(f, "{what} {list}")
            }
            Self::Declared(values) => write!(f, "{} declared arguments", values.len()),
            Self::Arguments => f.write_str("all arguments"),
        }
    }
}

#[cfg(test)]
mod tests;
