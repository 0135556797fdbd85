//! OpenAI and those that answer as it does: errors with a code, completions that were cut.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::{PayloadFormat, common};
use crate::domain::document::Value;

/// Completions and responses.
pub(super) struct Openai;

impl PayloadFormat for Openai {
    fn format(&self) -> Format {
        Format::Openai
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let Some(root) = look.object() else { return false };
        let is_error = root.get("error").is_some_and(|error| {
            error.get("message").is_some() && error.get("type").is_some() && error.get("code").is_some()
        });
        let is_completion = root.get("choices").is_some_and(|choices| {
            choices
                .items()
                .take(1)
                .any(|choice| choice.get("finish_reason").is_some() || choice.get("message").is_some())
        });
        let is_response = root.get("object").and_then(Value::as_str).is_some_and(|object| object == "response");
        is_error || is_completion || is_response
    }

    fn pending(&self, look: &Look<'_>) -> Option<Finding> {
        let status = look.get("status").and_then(Value::as_str)?;
        matches!(&*status, "queued" | "in_progress").then(|| Cause::Pending.because("it still runs"))
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let error = root.get("error").filter(|error| common::is_something(*error))?;
        Some(common::of_error(look, root, error))
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let is_cut = |choice: Value<'_>| {
            choice
                .get("finish_reason")
                .and_then(Value::as_str)
                .is_some_and(|reason| matches!(&*reason, "length" | "content_filter"))
        };
        if root.get("choices").is_some_and(|choices| choices.items().any(is_cut)) {
            return Some(Finding::truncated("the answer was cut"));
        }
        let is_incomplete = root.get("status").and_then(Value::as_str).is_some_and(|status| status == "incomplete");
        if is_incomplete { Some(Finding::truncated("the response is incomplete")) } else { None }
    }
}
