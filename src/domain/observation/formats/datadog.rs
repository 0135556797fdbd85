//! Datadog: logs and events with a status in `meta`, and the older metrics query with one at the top.

use super::super::cause::Cause;
use super::super::containers::{Shape, shape};
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::{PayloadFormat, common};
use crate::domain::document::Value;
use crate::domain::signal::CircuitKind;

/// The search APIs and the metrics query.
pub(super) struct Datadog;

impl PayloadFormat for Datadog {
    fn format(&self) -> Format {
        Format::Datadog
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let Some(root) = look.object() else { return false };
        let has = |path: &[&str]| root.path(path).is_some();
        let is_search = root.get("data").is_some_and(|data| data.is_array() || data.is_object())
            && (has(&["meta", "status"])
                || has(&["meta", "elapsed"])
                || has(&["meta", "page", "after"])
                || has(&["meta", "warnings"]));
        let is_query = has(&["res_type"])
            || (has(&["series"]) && has(&["from_date"]))
            || (has(&["status"]) && has(&["error"]) && (has(&["series"]) || has(&["query"]) || has(&["from_date"])));
        let is_charted =
            root.get("series").is_some_and(|series| series.items().take(1).any(|one| one.get("pointlist").is_some()));
        is_search || is_query || is_charted
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let says = root.get("status").and_then(Value::head).is_some_and(|status| status == "error");
        if says {
            return Some(Cause::Unexplained.because("`status` is error"));
        }
        if root.get("meta").is_some() { None } else { common::failure(look) }
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        if let Some(series) = root.get("series").filter(|series| series.is_array()) {
            let has_points = series.items().any(|one| one.get("pointlist").is_none_or(|points| !points.is_empty()));
            return Some(if has_points {
                Finding::observed("points")
            } else {
                Finding::empty("no series with a point")
            });
        }
        let meta = root.get("meta")?;
        let has_rows = root.get("data").is_some_and(|data| shape(data, 0) == Shape::Data);
        let has_warnings = meta.get("warnings").is_some_and(common::is_something);
        let has_page = meta.path(&["page", "after"]).is_some_and(common::is_something);
        let is_late = meta.get("status").and_then(Value::head).is_some_and(|status| status == "timeout");
        Some(match (has_rows, is_late) {
            (true, true) => Finding::truncated("it timed out with rows").counting_against(CircuitKind::Latency),
            (false, true) => Cause::TimedOut.because("it timed out before any row"),
            (true, false) if has_warnings => Finding::truncated("a warning says that part of it is missing"),
            (true, false) if has_page => Finding::truncated("more pages follow"),
            (false, false) if has_warnings => {
                Cause::Withheld.because("no row, and a warning says that part of it is missing")
            }
            (false, false) if has_page => Cause::Pending.because("an empty page, and more pages follow"),
            _ => {
                let more = More::of(look, root);
                if has_rows { more.of_data() } else { more.of_empty() }
            }
        })
    }
}
