//! Prometheus, and Thanos in front of it: its HTTP API, and the wrappers that pass `resultType` on.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::super::{containers, phrases, status};
use super::PayloadFormat;
use crate::domain::document::{Kind, Value};

/// The query API.
pub(super) struct Prometheus;

/// Members of an answer of the API.
const MEMBERS: &[&str] = &["status", "data", "errorType", "error", "warnings", "infos"];

impl PayloadFormat for Prometheus {
    fn format(&self) -> Format {
        Format::Prometheus
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let Some(root) = look.object() else { return false };
        let says = |word: &str| root.get("status").and_then(Value::head).is_some_and(|status| status == word);
        let only_known = || root.entries().all(|(name, _)| MEMBERS.iter().any(|known| name.is(known)));
        let is_typed = root.path(&["data", "resultType"]).is_some();
        (says("success") && (is_typed || only_known()))
            || (says("error") && root.get("errorType").is_some())
            || (root.get("resultType").is_some_and(Value::is_string)
                && (root.get("result").is_some() || root.get("value").is_some()))
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        if root.get("status").and_then(Value::head).is_none_or(|status| status != "error") {
            return None;
        }
        let kind = root.get("errorType").and_then(Value::head).unwrap_or_default();
        let text = root.get("error").and_then(Value::head).unwrap_or_default().to_ascii_lowercase();
        let cause = match &*kind {
            "bad_data" | "not_found" | "not_acceptable" => Cause::BadInput,
            // A query that fails as its store does is not the caller's fault.
            "execution" if text.contains("rpc error: code = unavailable") || text.contains("connection refused") => {
                Cause::Down
            }
            "execution" => Cause::BadInput,
            "canceled" => Cause::Cancelled,
            "timeout" => Cause::TimedOut,
            "unavailable" => Cause::Down,
            "internal" => Cause::Broken,
            "too_many_requests" => Cause::Throttled,
            _ => {
                let by_status =
                    look.layer.http_status().filter(|code| *code >= 400).map(|code| status::of_code(code, &text));
                return Some(
                    by_status
                        .or_else(|| phrases::finding(&text))
                        .unwrap_or_else(|| Cause::Unexplained.because("`status` is error, without a known type")),
                );
            }
        };
        Some(cause.because("its `errorType` says so"))
    }

    fn contract_check(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let answer = answer(root);
        let wrong = match (answer.get("resultType"), answer.get("result")) {
            (Some(_), Some(result)) => !result.is_array(),
            (Some(_), None) => answer.get("value").is_none(),
            (None, _) => {
                root.get("status").is_some()
                    && root
                        .get("data")
                        .is_none_or(|data| !matches!(data.kind(), Kind::Array | Kind::Object | Kind::Null))
            }
        };
        wrong.then(|| Cause::Malformed.because("a success without `data`, or a `result` that is no list"))
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let answer = answer(root);
        if answer.get("resultType").is_none() {
            return catalogue(root).or_else(|| warned(root, None));
        }
        let Some(result) = answer.get("result") else {
            let value = answer.get("value")?;
            return Some(if value.is_null() { Finding::empty("no value") } else { Finding::observed("a value") });
        };
        let kind = answer.get("resultType").and_then(Value::head).unwrap_or_default();
        let has_data = match &*kind {
            "scalar" => result.items().nth(1).is_some_and(|value| !value.is_null()),
            "string" => result.items().nth(1).and_then(Value::head).is_some_and(|text| !text.is_empty()),
            _ => result.items().any(has_sample),
        };
        warned(root, Some(has_data)).or_else(|| {
            let more = More::of(look, root);
            Some(if has_data { more.of_data() } else { more.of_empty() })
        })
    }
}

/// What holds `resultType`: the `data` of the API, or the whole of a wrapper.
fn answer(root: Value<'_>) -> Value<'_> {
    root.get("data").filter(|data| data.is_object() && root.get("resultType").is_none()).unwrap_or(root)
}

/// Whether a series has at least one sample, of any kind.
pub(super) fn has_sample(series: Value<'_>) -> bool {
    if !series.is_object() {
        return !series.is_null();
    }
    series.entries().any(|(name, value)| match &*name.text() {
        "value" | "histogram" => !value.is_null(),
        "values" | "histograms" => !value.is_empty(),
        "points" => value.as_i64() != Some(0) && !(value.is_array() && value.is_empty()),
        _ => false,
    })
}

/// Names, label sets and metadata: what could be asked, not what was measured.
fn catalogue(root: Value<'_>) -> Option<Finding> {
    let data = root.get("data")?;
    let is_label_set =
        |item: Value<'_>| item.is_object() && !item.is_empty() && item.entries().all(|(_, value)| value.is_string());
    let is_metadata = |item: Value<'_>| {
        item.is_array()
            && item.items().next().is_some_and(|first| first.get("help").is_some() && first.get("type").is_some())
    };
    let is_catalogue = match data.kind() {
        Kind::Array => !data.is_empty() && data.items().take(8).all(|item| item.is_string() || is_label_set(item)),
        Kind::Object => !data.is_empty() && data.entries().take(8).all(|(_, item)| is_metadata(item)),
        Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Opaque => false,
    };
    is_catalogue.then(|| Finding::context("a catalogue of names: nothing was measured"))
}

/// What warnings say beyond advice on the expression (research D12); `has_data` none: to be found out.
pub(super) fn warned(root: Value<'_>, has_data: Option<bool>) -> Option<Finding> {
    let warnings = root.get("warnings").filter(|warnings| warnings.is_array())?;
    let mut is_cut = false;
    let mut is_partial = false;
    let mut has_no_store = false;
    for warning in warnings.items().take(64) {
        let text = warning.head().unwrap_or_default();
        if text.starts_with("PromQL warning") || text.starts_with("PromQL info") {
            continue;
        }
        is_cut |=
            ["truncated due to limit", "partial results", "maximum number of"].iter().any(|word| text.contains(word));
        has_no_store |= text.contains("No StoreAPIs matched");
        is_partial = true;
    }
    let has_data = has_data
        .unwrap_or_else(|| root.get("data").is_some_and(|data| containers::shape(data, 0) == containers::Shape::Data));
    match (is_partial, has_data) {
        (false, _) => None,
        (true, true) if is_cut => Some(Finding::truncated("cut at a limit, as a warning says")),
        (true, true) => Some(Finding::truncated("a warning says that part of it is missing")),
        (true, false) if is_cut => Some(Cause::Withheld.because("cut at a limit, and nothing was delivered")),
        (true, false) if has_no_store => Some(Cause::Withheld.because("no store stood behind the query")),
        (true, false) => Some(Cause::Down.because("nothing came, and a warning says that a store did not answer")),
    }
}
