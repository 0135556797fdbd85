//! `n` and `outcome`: the envelope in which integrations say themselves how a query went, alone or in a list.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::super::status;
use super::super::tally::Tally;
use super::{PayloadFormat, common};
use crate::domain::document::{Kind, Value};

/// One query's outcome, or those of several.
pub(super) struct Envelope;

#[rustfmt::skip] // a list of words reads as a paragraph
const WORDS: &[&str] = &[
    "ok", "success", "succeeded", "partial", "failed", "failure", "error", "empty", "timeout", "timed_out", "denied",
    "no_data",
];
/// Members in which several outcomes stand.
const LISTS: &[&str] = &["results", "queries", "outcomes", "responses", "parts"];

impl PayloadFormat for Envelope {
    fn format(&self) -> Format {
        Format::Envelope
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        look.root().is_some_and(|root| is_one(root) || list_of(root).is_some())
    }

    fn element_outcomes(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.root()?;
        if is_one(root) {
            return Some(outcome(look, root));
        }
        let mut tally = Tally::default();
        list_of(root)?.items().for_each(|one| tally.add(outcome(look, one)));
        tally.finding()
    }
}

fn is_one(value: Value<'_>) -> bool {
    let word = value.get("outcome").and_then(Value::head).unwrap_or_default().to_ascii_lowercase();
    WORDS.contains(&word.as_str())
}

fn list_of(root: Value<'_>) -> Option<Value<'_>> {
    let is_list = |list: Value<'_>| list.is_array() && !list.is_empty() && list.items().take(64).all(is_one);
    if root.is_array() {
        return Some(root).filter(|list| is_list(*list));
    }
    LISTS.iter().find_map(|name| root.get(name)).filter(|list| is_list(*list))
}

/// How one query went. Where it says both that it failed and that it has rows, the failure wins.
fn outcome(look: &Look<'_>, one: Value<'_>) -> Finding {
    let word = one.get("outcome").and_then(Value::head).unwrap_or_default().to_ascii_lowercase();
    let rows = ["rows", "data", "result", "results", "values", "items", "series"].iter().find_map(|name| one.get(name));
    let n = one.get("n").and_then(Value::as_i64);
    let has_rows = match rows.map(|rows| (rows, rows.kind())) {
        Some((rows, Kind::Array | Kind::Object)) => !rows.is_empty(),
        Some((_, Kind::Null)) | None => {
            n.is_some_and(|n| n > 0) || (n.is_none() && one.get("value").is_some_and(|value| !value.is_null()))
        }
        Some(_) => true,
    };
    let more = More::of(look, one);
    match word.as_str() {
        "timeout" | "timed_out" => Cause::TimedOut.because("its outcome says so"),
        "denied" => Cause::Forbidden.because("its outcome says so"),
        "failed" | "failure" | "error" => failed(one),
        "partial" if has_rows => Finding::truncated("its outcome is partial"),
        "partial" => Cause::Withheld.because("its outcome is partial, and nothing was delivered"),
        _ if has_rows => more.of_data(),
        _ => more.of_empty(),
    }
}

/// Why a query failed: its error's code, its status, its words; else nobody says.
fn failed(one: Value<'_>) -> Finding {
    let error = one.get("error").filter(|error| common::is_something(*error));
    let finding = match error {
        Some(error) if error.is_object() => common::of_cause(error),
        Some(error) => error.head().and_then(|text| common::of_words(&text)),
        None if ["status", "message", "reason"].iter().any(|name| one.get(name).is_some()) => status::of_failure(one),
        None => None,
    };
    finding.filter(Finding::is_failure).unwrap_or_else(|| Cause::Unexplained.because("it failed, and nobody says why"))
}
