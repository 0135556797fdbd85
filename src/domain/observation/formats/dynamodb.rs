//! DynamoDB: a filter may empty a page while more pages remain, and a batch may be left half done.

use super::super::cause::Cause;
use super::super::containers::{Shape, shape};
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::{PayloadFormat, common};
use crate::domain::document::Value;

/// Scans, queries and batches.
pub(super) struct Dynamodb;

impl PayloadFormat for Dynamodb {
    fn format(&self) -> Format {
        Format::Dynamodb
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let has = |name: &str| look.get(name).is_some();
        (has("Items") && (has("Count") || has("ScannedCount")))
            || has("LastEvaluatedKey")
            || has("UnprocessedKeys")
            || has("UnprocessedItems")
            || (has("Item") && has("ConsumedCapacity"))
            || (has("Count") && has("ScannedCount"))
    }

    fn contract_check(&self, look: &Look<'_>) -> Option<Finding> {
        let wrong = look.get("Items").is_some_and(|items| !items.is_array() && !items.is_null());
        wrong.then(|| Cause::Malformed.because("`Items` is no list"))
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let left =
            ["UnprocessedKeys", "UnprocessedItems"].iter().any(|name| root.get(name).is_some_and(common::is_something));
        let has_data = match ["Items", "Item", "Responses"].iter().find_map(|name| root.get(name)) {
            Some(items) if items.is_array() => !items.is_empty(),
            Some(items) => items.entries().any(|(_, table)| shape(table, 0) == Shape::Data),
            None => {
                root.get("Count").and_then(Value::as_i64).unwrap_or(0) > 0 || root.get("UnprocessedItems").is_some()
            }
        };
        Some(match (has_data, left) {
            (true, true) => Finding::truncated("part of the batch was not processed"),
            (false, true) => Cause::Pending.because("the batch was not processed"),
            (true, false) => More::of(look, root).of_data(),
            (false, false) => More::of(look, root).of_empty(),
        })
    }
}
