//! Jaeger: one envelope for all. `total` is never filled, so that only the array decides.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::status;
use super::PayloadFormat;
use super::common;
use crate::domain::document::Value;

/// The query API.
pub(super) struct Jaeger;

impl PayloadFormat for Jaeger {
    fn format(&self) -> Format {
        Format::Jaeger
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        look.object()
            .is_some_and(|root| ["data", "total", "limit", "offset"].iter().all(|name| root.get(name).is_some()))
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let errors = root.get("errors").filter(|errors| common::is_something(*errors))?;
        if root.get("data").is_some_and(|data| !data.is_empty()) {
            return Some(Finding::truncated("errors beside the data"));
        }
        let first = errors.items().next()?;
        let text = first.get("msg").and_then(Value::head).unwrap_or_default().to_ascii_lowercase();
        let code = first.get("code").and_then(Value::as_i64).and_then(|code| u16::try_from(code).ok());
        Some(match code {
            Some(404) => Finding::empty("404: the trace is not there"),
            Some(code @ 400..) => status::of_code(code, &text),
            _ => Cause::Unexplained.because("an error without a known code"),
        })
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let data = look.get("data")?;
        let are_names = !data.is_empty() && data.items().take(8).all(Value::is_string);
        Some(match (are_names, data.is_empty()) {
            (true, _) => Finding::context("a catalogue of names: nothing was measured"),
            (false, true) => Finding::empty("no trace matched"),
            (false, false) => Finding::observed("traces"),
        })
    }
}
