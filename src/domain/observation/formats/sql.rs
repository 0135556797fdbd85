//! Rows of a database, and the SQLSTATE of its errors.

use super::super::cause::Cause;
use super::super::codes;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::{PayloadFormat, common};
use crate::domain::document::{Kind, Value};

/// What database tools answer.
pub(super) struct Sql;

#[rustfmt::skip] // a list of words reads as a paragraph
const BESIDE_ROWS: &[&str] = &[
    "columns", "rowCount", "row_count", "command", "fields", "affectedRows", "affected_rows", "rows_affected",
    "rowsAffected",
];
const STATES: &[&str] = &["sqlState", "sqlstate", "SQLSTATE", "sql_state", "code"];
#[rustfmt::skip] // a list of words reads as a paragraph
const CHANGED: &[&str] = &[
    "rowCount", "row_count", "affectedRows", "affected_rows", "rows_affected", "rowsAffected", "changes",
];

impl PayloadFormat for Sql {
    fn format(&self) -> Format {
        Format::Sql
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let Some(root) = look.object() else { return false };
        let has_rows = root.get("rows").is_some() && BESIDE_ROWS.iter().any(|name| root.get(name).is_some());
        let is_write = CHANGED.iter().any(|name| root.get(name).is_some_and(|n| n.kind() == Kind::Number))
            && (root.get("command").is_some() || root.get("insertId").is_some() || root.get("rows").is_none());
        has_rows || state_of(root).is_some() || (is_write && root.entries().all(|(_, value)| !value.is_object()))
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let Some(finding) = state_of(root) else { return common::failure(look) };
        let is_users = finding.cause == Some(Cause::TimedOut)
            && super::super::status::said(root).is_some_and(|text| text.contains("user request"));
        Some(if is_users { Cause::Cancelled.because("the user cancelled the statement") } else { finding })
    }

    fn contract_check(&self, look: &Look<'_>) -> Option<Finding> {
        let rows = look.get("rows")?;
        let is_list = matches!(rows.kind(), Kind::Array | Kind::Null | Kind::Number);
        (!is_list).then(|| Cause::Malformed.because("`rows` is no list"))
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let rows = root.get("rows").filter(|rows| rows.is_array() && !rows.is_empty());
        if rows.is_some() {
            return None; // rows of nothing but null, and signs of more, are everybody's
        }
        let changed = CHANGED.iter().find_map(|name| root.get(name)?.as_i64());
        let command = root.get("command").and_then(Value::head).unwrap_or_default().to_ascii_uppercase();
        let is_write =
            !command.is_empty() && !matches!(command.as_str(), "SELECT" | "SHOW" | "WITH" | "EXPLAIN" | "FETCH");
        match (changed, is_write) {
            (Some(1..), true) => Some(Finding::observed("rows were changed")),
            (Some(1..), false) if root.get("rows").is_none() => Some(Finding::observed("rows were changed")),
            (None, true) => Some(Finding::observed("a statement that changes no rows")),
            _ => Some(More::of(look, root).of_empty()),
        }
    }
}

/// What the SQLSTATE of an answer says.
fn state_of(root: Value<'_>) -> Option<Finding> {
    let error = root.get("error").filter(|error| error.is_object());
    let places = [error, Some(root).filter(|root| error.is_none() && root.get("rows").is_none())];
    places
        .into_iter()
        .flatten()
        .find_map(|place| STATES.iter().find_map(|name| codes::sqlstate(&place.get(name)?.head()?)))
}
