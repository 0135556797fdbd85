//! Problem details (RFC 9457): the media type and the inner status betray a 200.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::{codes, phrases, status};
use super::PayloadFormat;
use crate::domain::document::{Kind, Value};

/// `application/problem+json`.
pub(super) struct ProblemJson;

impl PayloadFormat for ProblemJson {
    fn format(&self) -> Format {
        Format::ProblemJson
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let is_typed = look.layer.media_type() == "application/problem+json" && look.object().is_some();
        let has = |name: &str, kind: Kind| look.get(name).is_some_and(|value| value.kind() == kind);
        let is_shaped = has("title", Kind::String)
            && (has("status", Kind::Number) || has("detail", Kind::String))
            && has("type", Kind::String);
        is_typed || (is_shaped && look.root().and_then(status::status_of).is_some())
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let kind = root.get("type").and_then(Value::head).unwrap_or_default();
        let text = ["detail", "title"]
            .iter()
            .filter_map(|name| root.get(name)?.head())
            .collect::<Vec<_>>()
            .join(" ")
            .to_ascii_lowercase();
        let by_type = match kind.rsplit(['#', '/']).next().unwrap_or_default() {
            "quota-exceeded" => Some(Cause::Throttled),
            "temporary-reduced-capacity" => Some(Cause::Down),
            "abnormal-usage-detected" => Some(Cause::Forbidden),
            _ => None,
        };
        let code = status::status_of(root).or_else(|| look.layer.http_status().filter(|code| *code >= 400));
        Some(match (by_type, code) {
            (Some(cause), _) => cause.because("its problem type says so"),
            (None, Some(code)) => status::of_code(code, &text),
            (None, None) => codes::finding(kind.rsplit(['#', '/', ':']).next().unwrap_or_default())
                .or_else(|| phrases::finding(&text))
                .unwrap_or_else(|| Cause::Unexplained.because("a problem without a status")),
        })
    }
}
