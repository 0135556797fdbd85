//! Anthropic: messages, their errors, and the results of tools that run on its side, which fail under a 200.

use super::super::cause::Cause;
use super::super::codes;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::{PayloadFormat, common};
use crate::domain::document::Value;

/// Messages and results of server tools.
pub(super) struct Anthropic;

/// Whether the result of a tool that runs on its side stands around the content of a reading tool.
pub(super) fn carries(look: &Look<'_>) -> bool {
    let is_result = look.get("type").and_then(Value::head).is_some_and(|kind| kind.ends_with("_tool_result"));
    look.layer.is_outermost() && is_result && look.get("tool_use_id").is_some()
}

impl PayloadFormat for Anthropic {
    fn format(&self) -> Format {
        Format::Anthropic
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let Some(root) = look.object() else { return false };
        let kind = root.get("type").and_then(Value::head).unwrap_or_default();
        let is_error = kind == "error" && root.get("error").is_some_and(Value::is_object);
        let is_message = kind == "message" && (root.get("stop_reason").is_some() || root.get("role").is_some());
        is_error || is_message || kind.ends_with("_tool_result") || kind.ends_with("_tool_result_error")
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        if let Some(error) = root.get("error").filter(|error| common::is_something(*error)) {
            return Some(common::of_error(look, root, error));
        }
        let code = [root.get("error_code"), root.path(&["content", "error_code"])].into_iter().flatten().next()?;
        let code = code.head()?;
        let cause = match &*code {
            "url_not_accessible" => Cause::Hidden,
            code => codes::cause(code).unwrap_or(Cause::Unexplained),
        };
        Some(cause.because("its error code says so"))
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        if root
            .get("stop_reason")
            .and_then(Value::head)
            .is_some_and(|reason| matches!(&*reason, "max_tokens" | "model_context_window_exceeded" | "pause_turn"))
        {
            let has_words = root.get("content").is_none_or(common::is_something);
            let nothing = Cause::Withheld.because("it was cut before anything was said");
            return Some(if has_words { Finding::truncated("the answer was cut") } else { nothing });
        }
        let content = root.get("content")?;
        if content.is_array() {
            return Some(if content.is_empty() { Finding::empty("no block") } else { Finding::observed("blocks") });
        }
        let printed =
            ["stdout", "stderr", "content"].iter().any(|name| content.get(name).is_some_and(common::is_something));
        let is_run = content.get("stdout").is_some();
        Some(if printed || !is_run { Finding::observed("a result") } else { Finding::empty("it printed nothing") })
    }
}
