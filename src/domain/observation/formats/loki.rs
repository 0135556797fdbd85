//! Loki: streams beside Prometheus's vectors, and counters of its index. Statistics describe the work, not a finding.

use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::PayloadFormat;
use super::prometheus::{Prometheus, has_sample, warned};
use crate::domain::document::{Kind, Value};

/// The query API.
pub(super) struct Loki;

/// Counters of the index, all of which it gives.
const INDEX: [&str; 4] = ["streams", "chunks", "entries", "bytes"];

impl PayloadFormat for Loki {
    fn format(&self) -> Format {
        Format::Loki
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let Some(root) = look.object() else { return false };
        let is_stream =
            |answer: Value<'_>| answer.get("resultType").and_then(Value::head).is_some_and(|kind| kind == "streams");
        let data = root.get("data");
        is_index(root)
            || is_stream(root)
            || data.is_some_and(|data| {
                is_stream(data) || (data.get("resultType").is_some() && data.get("stats").is_some())
            })
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        Prometheus.body_failure(look)
    }

    fn contract_check(&self, look: &Look<'_>) -> Option<Finding> {
        if look.object().is_some_and(is_index) { None } else { Prometheus.contract_check(look) }
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        if is_index(root) {
            let is_zero = root.entries().all(|(_, value)| value.as_f64() == Some(0.0));
            return Some(if is_zero {
                Finding::empty("every counter is zero")
            } else {
                Finding::observed("counters of the index")
            });
        }
        let answer = if root.get("resultType").is_some() { root } else { root.get("data")? };
        let has_data = answer.get("result").is_some_and(|result| result.items().any(has_sample));
        Some(warned(root, Some(has_data)).unwrap_or_else(|| {
            if has_data { Finding::observed("lines or samples") } else { Finding::empty("no line and no sample") }
        }))
    }
}

/// A counter is no container: here `streams` is a number.
fn is_index(root: Value<'_>) -> bool {
    INDEX.iter().all(|name| root.get(name).is_some_and(|value| value.kind() == Kind::Number))
}
