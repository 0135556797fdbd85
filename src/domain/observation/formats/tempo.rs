//! Tempo: traces, metrics of traces, tags. A `PARTIAL` answer is wrong in its values too, not only incomplete.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::PayloadFormat;
use crate::domain::document::Value;

/// The search, trace and metrics APIs.
pub(super) struct Tempo;

/// Telemetry of a search, by which an answer without `traces` is known.
#[rustfmt::skip] // a list of words reads as a paragraph
const SEARCH_METRICS: &[&str] = &[
    "inspectedTraces", "inspectedBytes", "inspectedSpans", "totalBlocks", "completedJobs", "totalJobs",
    "totalBlockBytes",
];
/// What could be asked.
const TAGS: &[&str] = &["tagNames", "tagValues", "scopes"];
/// Where spans stand.
const SPANS: &[&str] = &["batches", "resourceSpans"];

impl PayloadFormat for Tempo {
    fn format(&self) -> Format {
        Format::Tempo
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let Some(root) = look.object() else { return false };
        let metrics = root.get("metrics").filter(|metrics| metrics.is_object());
        let is_search = metrics.is_some_and(|metrics| SEARCH_METRICS.iter().any(|name| metrics.get(name).is_some()));
        let is_sampled =
            root.get("series").is_some_and(|series| series.items().take(1).any(|one| one.get("samples").is_some()));
        let is_tags = TAGS.iter().any(|name| root.get(name).is_some_and(Value::is_array)) && root.len() <= 3;
        is_search
            || is_sampled
            || is_tags
            || root.get("traces").is_some_and(|traces| traces.is_array() || metrics.is_some())
            || says_partial(root).is_some()
            || spans_of(root).is_some()
    }

    fn contract_check(&self, look: &Look<'_>) -> Option<Finding> {
        let wrong = ["traces", "series"]
            .iter()
            .filter_map(|name| look.get(name))
            .any(|list| !list.is_array() && !list.is_null());
        wrong.then(|| Cause::Malformed.because("traces or series that are no list"))
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        if TAGS.iter().any(|name| root.get(name).is_some()) && root.get("traces").is_none() {
            return Some(Finding::context("a catalogue of tags: nothing was measured"));
        }
        let has_data = has_data(root);
        if says_partial(root) == Some(true) {
            return Some(if has_data {
                Finding::truncated("PARTIAL: part of the work was not done").degrading_values()
            } else {
                Cause::Withheld.because("PARTIAL, and nothing in it: not seen is not absent")
            });
        }
        let jobs = |name: &str| root.path(&["metrics", name]).and_then(number).unwrap_or(0);
        let is_short = jobs("completedJobs") < jobs("totalJobs");
        let more = More::of(look, root);
        Some(match (has_data, is_short) {
            (true, true) => Finding::truncated("the search stopped before all jobs had run"),
            (true, false) => more.of_data(),
            (false, true) => {
                Cause::Withheld.because("the search stopped before all jobs had run, and nothing was found yet")
            }
            (false, false) => more.of_empty(),
        })
    }
}

fn says_partial(root: Value<'_>) -> Option<bool> {
    let is_known = root.get("series").is_some() || root.get("trace").is_some() || root.get("traces").is_some();
    let status = root.get("status").and_then(Value::head).filter(|_| is_known)?;
    matches!(&*status, "PARTIAL" | "COMPLETE").then(|| status == "PARTIAL")
}

/// uint64 counters travel as texts.
fn number(value: Value<'_>) -> Option<i64> {
    value.as_i64().or_else(|| value.head()?.parse().ok())
}

fn spans_of(root: Value<'_>) -> Option<Value<'_>> {
    let trace = root.get("trace").filter(|trace| trace.is_object()).unwrap_or(root);
    SPANS.iter().find_map(|name| trace.get(name)).filter(|spans| spans.is_array())
}

fn has_data(root: Value<'_>) -> bool {
    let has_traces = root.get("traces").is_some_and(|traces| !traces.is_empty());
    let has_spans = spans_of(root).is_some_and(|spans| !spans.is_empty());
    let is_sampled = |series: Value<'_>| {
        ["samples", "exemplars"].iter().any(|name| series.get(name).is_some_and(|list| !list.is_empty()))
            || series.get("value").is_some_and(|value| !value.is_null())
    };
    has_traces || has_spans || root.get("series").is_some_and(|series| series.items().any(is_sampled))
}
