//! BigQuery: a job that may still run, and rows whose number is a text.

use super::super::cause::Cause;
use super::super::containers::{Shape, shape};
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::{PayloadFormat, common};
use crate::domain::document::Value;

/// Query responses and jobs.
pub(super) struct Bigquery;

impl PayloadFormat for Bigquery {
    fn format(&self) -> Format {
        Format::Bigquery
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let kind = look.get("kind").and_then(Value::head).unwrap_or_default();
        kind.starts_with("bigquery#") || (look.get("jobComplete").is_some() && look.get("jobReference").is_some())
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let has_rows = root.get("rows").is_some_and(|rows| !rows.is_empty());
        let error = root
            .path(&["status", "errorResult"])
            .or_else(|| root.get("errors").and_then(|errors| errors.items().next()))
            .or_else(|| root.get("error"));
        match error.filter(|error| common::is_something(*error)) {
            Some(_) if has_rows => Some(Finding::truncated("errors beside the rows")),
            Some(error) => Some(common::of_error(look, root, error)),
            None => None,
        }
    }

    fn pending(&self, look: &Look<'_>) -> Option<Finding> {
        let runs = look.get("jobComplete").and_then(Value::as_bool) == Some(false);
        let state = look.root()?.path(&["status", "state"]).and_then(Value::head).unwrap_or_default();
        (runs || matches!(&*state, "RUNNING" | "PENDING")).then(|| Cause::Pending.because("the job still runs"))
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let rows = root.get("rows").filter(|rows| shape(*rows, 0) == Shape::Data).map_or(0, Value::len) as u64;
        let number = |name: &str| {
            root.get(name)
                .and_then(|value| value.as_i64().or_else(|| value.head()?.parse().ok()))
                .and_then(|n| u64::try_from(n).ok())
        };
        let total = number("totalRows");
        let changed = number("numDmlAffectedRows");
        let has_page = root.get("pageToken").is_some_and(common::is_something);
        Some(match (rows, total) {
            (0, _) if changed.is_some_and(|changed| changed > 0) => Finding::observed("rows were changed"),
            (0, Some(1..)) | (0, None) if has_page => Cause::Pending.because("an empty page, and more pages follow"),
            (0, Some(1..)) if root.get("rows").is_none() => {
                Cause::Withheld.because("rows were counted, and none was delivered")
            }
            (0, _) if root.get("jobComplete").is_none() && total.is_none() => return None,
            (0, _) => Finding::empty("the job is done and has no row"),
            (_, Some(total)) if total > rows => {
                Finding::truncated("fewer rows are here than there are").with_total(Some(total))
            }
            _ if has_page => Finding::truncated("more pages follow").with_total(total),
            _ => More::of(look, root).of_data(),
        })
    }
}
