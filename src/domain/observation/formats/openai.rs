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
        let is_response = root.get("object").and_then(Value::head).is_some_and(|object| object == "response");
        is_error || is_completion || is_response
    }

    fn pending(&self, look: &Look<'_>) -> Option<Finding> {
        let status = look.get("status").and_then(Value::head)?;
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
                .and_then(Value::head)
                .is_some_and(|reason| matches!(&*reason, "length" | "content_filter"))
        };
        if root.get("choices").is_some_and(|choices| choices.items().any(is_cut)) {
            let says = |choice: Value<'_>| {
                let content = ["message", "delta"].iter().find_map(|name| choice.get(name)?.get("content"));
                let has_calls = choice.path(&["message", "tool_calls"]).is_some_and(common::is_something);
                has_calls || content.or_else(|| choice.get("text")).is_some_and(common::is_something)
            };
            let has_words = root.get("choices").is_some_and(|choices| choices.items().any(says));
            return Some(if has_words { Finding::truncated("the answer was cut") } else { nothing_said() });
        }
        let is_incomplete = root.get("status").and_then(Value::head).is_some_and(|status| status == "incomplete");
        let has_output = root.get("output").is_none_or(common::is_something);
        match (is_incomplete, has_output) {
            (false, _) => None,
            (true, true) => Some(Finding::truncated("the response is incomplete")),
            (true, false) => Some(nothing_said()),
        }
    }
}

fn nothing_said() -> Finding {
    Cause::Withheld.because("it was cut before anything was said")
}
