//! Grafana: what a data source answers by `refId`, and what its MCP server answers for several panels. The outer status
//! is 400 for any query's error, so that only the inner ones count.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::tally::Tally;
use super::super::{Observation, containers, phrases, status};
use super::PayloadFormat;
use super::common;
use crate::domain::document::{Kind, Value};

/// `/api/ds/query`.
pub(super) struct Datasource;

/// Members of one query's answer.
#[rustfmt::skip] // a list of words reads as a paragraph
const ANSWER: &[&str] = &[
    "frames", "error", "status", "series", "tables", "refId", "errorSource", "meta", "dataframes",
];

impl PayloadFormat for Datasource {
    fn format(&self) -> Format {
        Format::GrafanaDatasource
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let results = look.get("results").filter(|results| results.is_object() && !results.is_empty());
        let is_answer = |answer: Value<'_>| {
            answer.is_object()
                && !answer.is_empty()
                && ["frames", "error", "status", "series", "tables"].iter().any(|name| answer.get(name).is_some())
                && answer.entries().all(|(name, _)| ANSWER.iter().any(|known| name.is(known)))
        };
        results.is_some_and(|results| results.entries().take(8).all(|(_, answer)| is_answer(answer)))
            && look.get("errors").is_none()
    }

    fn element_outcomes(&self, look: &Look<'_>) -> Option<Finding> {
        let mut tally = Tally::default();
        for (_, answer) in look.get("results")?.entries() {
            tally.add(outcome(answer));
        }
        tally.finding()
    }
}

/// One query's outcome. An error outranks its status.
fn outcome(answer: Value<'_>) -> Finding {
    let error = answer.get("error").filter(|error| common::is_something(*error));
    let code = answer.get("status").and_then(Value::as_i64).and_then(|code| u16::try_from(code).ok());
    if let Some(error) = error {
        let text = error.head().map(std::borrow::Cow::into_owned).or_else(|| status::said(error)).unwrap_or_default();
        let worded = phrases::finding(&text);
        return match code {
            // 400 is what Grafana says of any error: a text that knows better is believed.
            Some(400) => worded
                .filter(|finding| {
                    matches!(
                        finding.cause,
                        Some(
                            Cause::Down
                                | Cause::TimedOut
                                | Cause::Broken
                                | Cause::Throttled
                                | Cause::Unauthenticated
                                | Cause::Forbidden
                        )
                    )
                })
                .unwrap_or_else(|| status::of_code(400, &text.to_ascii_lowercase())),
            Some(code @ 401..) => failing(status::of_code(code, &text.to_ascii_lowercase())),
            _ => worded
                .filter(Finding::is_failure)
                .unwrap_or_else(|| Cause::Unexplained.because("an error without a cause")),
        };
    }
    if let Some(code) = code.filter(|code| *code >= 400) {
        return failing(status::of_code(code, ""));
    }
    let frames = answer.get("frames").or_else(|| answer.get("dataframes"));
    let has_rows = frames.is_some_and(|frames| frames.items().any(has_rows))
        || ["series", "tables"].iter().any(|name| answer.get(name).is_some_and(|list| list.items().any(has_points)));
    match (has_rows, frames.is_some_and(|frames| frames.items().any(is_cut))) {
        (true, true) => Finding::truncated("a notice says that it is cut"),
        (true, false) => Finding::observed("rows"),
        (false, true) => Cause::Withheld.because("a notice says that it is cut, and no row was delivered"),
        (false, false) => Finding::empty("no frame with a row"),
    }
}

/// A query's error is a failure, whatever its status would mean elsewhere.
fn failing(finding: Finding) -> Finding {
    if finding.observation == Observation::Empty { Cause::BadInput.because("its status says so") } else { finding }
}

/// The rows of a frame live in its columns.
fn has_rows(frame: Value<'_>) -> bool {
    frame.path(&["data", "values"]).is_some_and(|columns| columns.items().any(|column| !column.is_empty()))
}

fn has_points(series: Value<'_>) -> bool {
    ["points", "rows", "datapoints"].iter().any(|name| series.get(name).is_some_and(|list| !list.is_empty()))
}

fn is_cut(frame: Value<'_>) -> bool {
    let notices = frame.path(&["schema", "meta", "notices"]).into_iter().flat_map(Value::items);
    notices.take(16).any(|notice| {
        let text = notice.get("text").and_then(Value::head).unwrap_or_default().to_ascii_lowercase();
        ["truncated", "partial", "limit"].iter().any(|word| text.contains(word))
    })
}

/// The panels of the MCP server: what answered in `results`, what failed in `errors`.
pub(super) struct Panels;

impl PayloadFormat for Panels {
    fn format(&self) -> Format {
        Format::GrafanaMcp
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let is_map = |name: &str| look.get(name).is_some_and(Value::is_object);
        is_map("results") && is_map("errors")
    }

    fn element_outcomes(&self, look: &Look<'_>) -> Option<Finding> {
        let mut tally = Tally::default();
        for (_, answer) in look.get("results")?.entries() {
            tally.add(panel(answer));
        }
        for (_, error) in look.get("errors")?.entries() {
            let text =
                error.head().map(std::borrow::Cow::into_owned).or_else(|| status::said(error)).unwrap_or_default();
            let worded = phrases::finding(&text).filter(Finding::is_failure);
            tally.add(worded.unwrap_or_else(|| Cause::Unexplained.because("an error without a known cause")));
        }
        Some(tally.finding().unwrap_or_else(|| Finding::empty("no panel answered, and none failed")))
    }
}

/// A panel wraps the answers of its queries once more, or holds them itself.
fn panel(answer: Value<'_>) -> Finding {
    let frames = ["frames", "results"].iter().find_map(|name| answer.get(name));
    match frames.map(|frames| (frames, frames.kind())) {
        Some((frames, Kind::Array))
            if frames.items().any(|frame| frame.get("data").is_some() || frame.get("schema").is_some()) =>
        {
            if frames.items().any(has_rows) { Finding::observed("rows") } else { Finding::empty("no row") }
        }
        Some((results, Kind::Object)) => {
            let mut tally = Tally::default();
            results.entries().for_each(|(_, answer)| tally.add(outcome(answer)));
            tally.finding().unwrap_or_else(|| Finding::empty("no query answered"))
        }
        _ if containers::shape(answer, 0) == containers::Shape::Empty => Finding::empty("nothing in it"),
        _ => Finding::observed("an answer"),
    }
}
