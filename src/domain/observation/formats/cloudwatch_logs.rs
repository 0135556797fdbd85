//! CloudWatch Logs Insights: a query that runs in the background and may be looked at while it does.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::PayloadFormat;
use crate::domain::document::Value;
use crate::domain::signal::CircuitKind;

/// `GetQueryResults`.
pub(super) struct CloudwatchLogs;

const STATUSES: &[&str] = &["Scheduled", "Running", "Complete", "Failed", "Cancelled", "Timeout", "Unknown"];

impl PayloadFormat for CloudwatchLogs {
    fn format(&self) -> Format {
        Format::CloudwatchLogs
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let status = look.get("status").and_then(Value::head).unwrap_or_default();
        STATUSES.contains(&&*status)
            && look.get("results").is_some_and(|results| results.is_array() || results.is_null())
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let has_rows = look.get("results").is_some_and(|results| !results.is_empty());
        Some(match &*look.get("status")?.head()? {
            "Failed" => Cause::Unexplained.because("the query failed, and no reason is given"),
            "Cancelled" if !has_rows => Cause::Cancelled.because("the query was cancelled"),
            "Timeout" if !has_rows => Cause::TimedOut.because("the query ran into its time limit"),
            "Timeout" => {
                Finding::truncated("the query ran into its time limit with rows").counting_against(CircuitKind::Latency)
            }
            _ => return None,
        })
    }

    fn pending(&self, look: &Look<'_>) -> Option<Finding> {
        let runs = matches!(&*look.get("status")?.head()?, "Scheduled" | "Running" | "Unknown");
        let has_rows = look.get("results").is_some_and(|results| !results.is_empty());
        match (runs, has_rows) {
            (true, true) => Some(Finding::truncated("it still runs; these rows were found so far")),
            (true, false) => Some(Cause::Pending.because("it still runs")),
            (false, _) => None,
        }
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let rows = look.get("results").map_or(0, Value::len) as u64;
        let matched = look
            .root()?
            .path(&["statistics", "recordsMatched"])
            .and_then(Value::as_i64)
            .and_then(|n| u64::try_from(n).ok());
        let is_cancelled = look.get("status").and_then(Value::head).is_some_and(|status| status == "Cancelled");
        Some(
            match (rows, matched) {
                (0, _) => Finding::empty("complete, and no row"),
                _ if is_cancelled => Finding::truncated("cancelled with rows"),
                _ => Finding::observed("rows"),
            }
            .with_total(matched.filter(|matched| *matched == rows)),
        )
    }
}
