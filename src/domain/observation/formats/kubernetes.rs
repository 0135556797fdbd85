//! The Kubernetes API: lists, tables, and the `Status` that tells of a failure by its reason.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::super::{RetryHint, status};
use super::{PayloadFormat, common};
use crate::domain::document::{Kind, Value};

/// Objects with `kind` and `apiVersion`.
pub(super) struct Kubernetes;

impl PayloadFormat for Kubernetes {
    fn format(&self) -> Format {
        Format::Kubernetes
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let Some(root) = look.object() else { return false };
        let kind = root.get("kind").and_then(Value::head).unwrap_or_default();
        let is_object = root.get("apiVersion").is_some_and(Value::is_string) && !kind.is_empty();
        let is_list = kind.ends_with("List") && root.get("items").is_some();
        is_object || is_list || (kind == "Status" && root.get("status").is_some())
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let is = |name: &str, word: &str| root.get(name).and_then(Value::head).is_some_and(|text| text == word);
        if !is("kind", "Status") || is("status", "Success") {
            return None;
        }
        let reason = root.get("reason").and_then(Value::head).unwrap_or_default();
        let text = root.get("message").and_then(Value::head).unwrap_or_default().to_ascii_lowercase();
        let has_name = root.path(&["details", "name"]).is_some_and(common::is_something);
        let finding = match (&*reason, status::status_of(root).or(look.layer.http_status())) {
            ("", Some(code)) => status::of_code(code, &text),
            (reason, _) => of_reason(reason, has_name, &text),
        };
        Some(finding.with_hint(RetryHint::of_body(root)))
    }

    fn pending(&self, _: &Look<'_>) -> Option<Finding> {
        None
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let list = ["items", "rows"].iter().find_map(|name| root.get(name));
        let Some(list) = list.filter(|list| matches!(list.kind(), Kind::Array | Kind::Null)) else {
            return list.is_none().then(|| Finding::observed("an object"));
        };
        let more = More::of(look, root);
        let left = root
            .path(&["metadata", "remainingItemCount"])
            .and_then(Value::as_i64)
            .and_then(|left| u64::try_from(left).ok());
        Some(match (list.is_empty(), left) {
            (true, _) => more.of_empty(),
            (false, Some(left @ 1..)) => Finding::truncated("more remain than are listed")
                .with_total(Some(left.saturating_add(list.len() as u64))),
            (false, _) => more.of_data(),
        })
    }
}

/// What a reason means, as the API and kubectl say it. The text is in lower case.
pub(in super::super) fn of_reason(reason: &str, has_name: bool, text: &str) -> Finding {
    let is_policy = ["admission webhook", "denied the request", "violates podsecurity", "validatingadmissionpolicy"]
        .iter()
        .any(|words| text.contains(words));
    let cause = match reason.to_ascii_lowercase().as_str() {
        "forbidden" if is_policy => Cause::AgainstPolicy,
        "forbidden" => Cause::Forbidden,
        "unauthorized" => Cause::Unauthenticated,
        "notfound" if has_name => return Finding::empty("it was looked up and is not there"),
        "toomanyrequests" => Cause::Throttled,
        "timeout" | "servertimeout" => Cause::TimedOut,
        "serviceunavailable" => Cause::Down,
        "internalerror" => Cause::Broken,
        "unknown" | "" => Cause::Unexplained,
        _ if is_policy => Cause::AgainstPolicy,
        _ => Cause::BadInput, // NotFound of a kind, Expired, Gone, Invalid, BadRequest, Conflict, AlreadyExists and their kin
    };
    cause.because("its reason says so")
}
