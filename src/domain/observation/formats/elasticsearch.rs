//! Elasticsearch and OpenSearch: hits, aggregations, shards that did not answer, several searches in one.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::super::tally::Tally;
use super::super::{codes, status};
use super::{PayloadFormat, common};
use crate::domain::document::{Kind, Value};
use crate::domain::signal::CircuitKind;

/// Searches, counts and bulk writes.
pub(super) struct Elasticsearch;

/// How deep aggregations nest that are looked into.
const DEPTH_MAX: u8 = 6;

impl PayloadFormat for Elasticsearch {
    fn format(&self) -> Format {
        Format::Elasticsearch
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let Some(root) = look.object() else { return false };
        let has = |name: &str| root.get(name).is_some();
        let is_error = root.get("error").is_some_and(|error| {
            error.get("root_cause").is_some() || (error.get("type").is_some() && error.get("message").is_none())
        });
        searched(root).is_some()
            || (root.get("_shards").is_some_and(Value::is_object))
            || (has("took") && (has("hits") || has("timed_out")))
            || (root.get("responses").is_some_and(Value::is_array)
                && (has("took")
                    || answers(root).take(1).any(|one| one.get("hits").is_some() || one.get("error").is_some())))
            || (is_error && root.get("status").is_some_and(|status| status.kind() == Kind::Number))
            || (has("took") && root.get("errors").and_then(Value::as_bool).is_some() && has("items"))
    }

    fn element_outcomes(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let mut tally = Tally::default();
        if root.get("responses").is_some() {
            answers(root).for_each(|answer| tally.add(failed(answer).unwrap_or_else(|| found(answer))));
            return tally.finding();
        }
        if root.get("errors").and_then(Value::as_bool) != Some(true) {
            return None;
        }
        let writes = root.get("items")?.items().filter_map(|item| item.entries().next().map(|(_, write)| write));
        writes.for_each(|write| tally.add(failed(write).unwrap_or_else(|| Finding::observed("a write"))));
        tally.finding()
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        failed(root).or_else(|| common::failure(look).filter(|_| root.get("_shards").is_none()))
    }

    fn contract_check(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let is_search = root.get("took").is_some() && root.get("timed_out").is_some();
        let has = |name: &str| root.get(name).is_some();
        let wrong = root.path(&["hits", "hits"]).is_some_and(|hits| !matches!(hits.kind(), Kind::Array | Kind::Null));
        let lacks = is_search
            && ![
                "hits",
                "aggregations",
                "aggs",
                "count",
                "responses",
                "items",
                "updated",
                "deleted",
                "total",
                "values",
                "rows",
            ]
            .iter()
            .any(|name| has(name));
        (wrong || lacks).then(|| Cause::Malformed.because("a search without hits, or hits that are no list"))
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        if let Some(inner) = searched(root) {
            let finding = found(inner);
            let is_partial = root.get("is_partial").and_then(Value::as_bool) == Some(true);
            return Some(match (is_partial, finding.is_usable()) {
                (true, true) => Finding::truncated("the search still runs, or ended early"),
                (true, false) => Cause::Withheld.because("partial, and nothing was found yet"),
                (false, _) => finding,
            });
        }
        let is_answer = ["hits", "count", "aggregations", "aggs"].iter().any(|name| root.get(name).is_some());
        if !is_answer {
            return None;
        }
        let finding = found(root);
        let more = More::of(look, root);
        Some(if finding.observation == super::super::Observation::Observed && more.has_token() {
            more.of_data()
        } else {
            finding
        })
    }
}

/// What an asynchronous search wraps.
fn searched(root: Value<'_>) -> Option<Value<'_>> {
    let inner = root.get("response").filter(|inner| inner.get("hits").is_some() || inner.get("_shards").is_some());
    inner.filter(|_| root.get("is_partial").is_some() || root.get("is_running").is_some())
}

fn answers(root: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    root.get("responses").into_iter().flat_map(Value::items)
}

/// The failure that one answer carries.
fn failed(answer: Value<'_>) -> Option<Finding> {
    let error = answer.get("error").filter(|error| common::is_something(*error))?;
    let code = status::status_of(answer);
    let text = status::said(answer).unwrap_or_default().to_ascii_lowercase();
    let kind = |at: &[&str]| error.path(at).and_then(Value::head).map(std::borrow::Cow::into_owned);
    let root_cause = error
        .get("root_cause")
        .and_then(|causes| causes.items().next())
        .and_then(|cause| cause.get("type"))
        .and_then(Value::head);
    let kinds = [kind(&["type"]), root_cause.map(std::borrow::Cow::into_owned), kind(&["caused_by", "type"])];
    let mut meant = kinds.iter().flatten().filter_map(|kind| of_type(kind, code));
    Some(match (meant.next(), code) {
        (Some(cause), _) => cause.because("the type of its error says so"),
        (None, Some(404)) => Cause::BadInput.because("an index or document that is not there"),
        (None, Some(code)) => status::of_code(code, &text),
        (None, None) => Cause::Unexplained.because("an error without a known type"),
    })
}

/// What a type of exception means. Overload is no allowance of the caller, though it is answered with 429.
fn of_type(kind: &str, code: Option<u16>) -> Option<Cause> {
    match kind {
        "circuit_breaking_exception"
        | "es_rejected_execution_exception"
        | "rejected_execution_exception"
        | "cluster_block_exception" => Some(Cause::Down),
        "security_exception" if code == Some(403) => Some(Cause::Forbidden),
        "search_phase_execution_exception" | "exception" => None, // its causes say more
        _ => codes::cause(kind),
    }
}

/// What one answer holds.
fn found(answer: Value<'_>) -> Finding {
    let hits = answer.get("hits");
    let listed = hits.and_then(|hits| hits.get("hits")).map_or(0, Value::len);
    let total = hits.and_then(|hits| hits.get("total"));
    let exact = total
        .and_then(|total| total.get("value").unwrap_or(total).as_i64())
        .and_then(|total| u64::try_from(total).ok());
    let is_bound = total.and_then(|total| total.get("relation")?.head()).is_some_and(|relation| relation == "gte");
    let aggregations = ["aggregations", "aggs"].iter().find_map(|name| answer.get(name));
    let counted = answer.get("count").and_then(Value::as_i64).unwrap_or(0) > 0;
    let has_groups = aggregations.is_some_and(|groups| groups.entries().any(|(_, group)| has_value(group, 0)));
    let is_counted = listed == 0 && aggregations.is_none() && exact.unwrap_or(0) > 0;
    let has_data = listed > 0 || has_groups || counted || is_counted;

    let shards = |name: &str| answer.path(&["_shards", name]).and_then(Value::as_i64);
    if answer.get("timed_out").and_then(Value::as_bool) == Some(true) {
        return if has_data {
            Finding::truncated("it timed out with a part of the answer").counting_against(CircuitKind::Latency)
        } else {
            Cause::TimedOut.because("it timed out before it found anything")
        };
    }
    if shards("total") == Some(0) {
        return Cause::NothingBehind.because("no shard was searched: nothing stood behind the question");
    }
    let is_failed = shards("failed").unwrap_or(0) > 0;
    let is_cut = answer.get("terminated_early").and_then(Value::as_bool) == Some(true)
        || aggregations.is_some_and(|groups| is_cut(groups, 0));
    let is_page = listed > 0 && exact.is_some_and(|total| total > listed as u64);
    match has_data {
        false if is_failed => Cause::PartlyAnswered.because("no hit, and some shards did not answer"),
        false => Finding::empty("every shard answered, none had a hit"),
        true if is_failed => Finding::truncated("some shards did not answer"),
        true if is_bound => Finding::truncated("the total is a lower bound"),
        true if is_page => Finding::truncated("fewer hits are here than there are").with_total(exact),
        true if is_cut => Finding::truncated("groups beyond these are counted, not listed"),
        true => Finding::observed("hits or groups"),
    }
}

/// Whether an aggregation holds a number or a group.
fn has_value(group: Value<'_>, depth: u8) -> bool {
    if depth > DEPTH_MAX {
        return true;
    }
    for (name, value) in group.entries() {
        let holds = match (&*name.text(), value.kind()) {
            ("value", _) => !value.is_null(),
            ("buckets", _) => has_group(value),
            ("values", Kind::Object | Kind::Array) => containers_have(value),
            ("doc_count", _) => value.as_i64().unwrap_or(0) > 0 && group.get("buckets").is_none(),
            ("count", Kind::Number) => value.as_i64().unwrap_or(0) > 0,
            ("hits", Kind::Object) => value.get("hits").is_some_and(|hits| !hits.is_empty()),
            (_, Kind::Object) => has_value(value, depth + 1),
            _ => false,
        };
        if holds {
            return true;
        }
    }
    false
}

/// A histogram may list groups with nothing in them.
fn has_group(buckets: Value<'_>) -> bool {
    let counts = |group: Value<'_>| group.get("doc_count").and_then(Value::as_i64) != Some(0);
    buckets.items().any(counts) || buckets.entries().any(|(_, group)| counts(group))
}

fn containers_have(values: Value<'_>) -> bool {
    values.entries().any(|(_, value)| !value.is_null())
        || values.items().any(|value| value.get("value").is_none_or(|value| !value.is_null()))
}

fn is_cut(groups: Value<'_>, depth: u8) -> bool {
    depth <= DEPTH_MAX
        && groups.entries().any(|(name, value)| {
            (name.is("sum_other_doc_count") && value.as_i64().unwrap_or(0) > 0)
                || (value.is_object() && is_cut(value, depth + 1))
        })
}
