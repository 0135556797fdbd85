//! GraphQL over HTTP: a part of the root may fail beside the rest, all under a 200.

use super::super::cause::Cause;
use super::super::containers::{Shape, shape};
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::{PayloadFormat, common};
use crate::domain::document::{Kind, Value};

/// How deep connections are looked for.
const DEPTH_MAX: u8 = 6;

/// Responses to a document.
pub(super) struct Graphql;

impl PayloadFormat for Graphql {
    fn format(&self) -> Format {
        Format::Graphql
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let Some(root) = look.object() else { return false };
        let only_known = root.entries().all(|(name, _)| {
            ["data", "errors", "extensions", "hasNext", "label", "path", "incremental"]
                .iter()
                .any(|known| name.is(known))
        });
        if !only_known {
            return false;
        }
        let is_error = |error: Value<'_>| {
            error.get("message").is_some_and(Value::is_string)
                && ["locations", "path", "extensions"].iter().any(|name| error.get(name).is_some())
        };
        let has_errors = root.get("errors").is_some_and(|errors| {
            errors
                .items()
                .take(1)
                .any(|error| is_error(error) || (root.get("data").is_some() && error.get("message").is_some()))
        });
        let has_data = root.get("data").is_some_and(|data| matches!(data.kind(), Kind::Object | Kind::Null));
        let is_connected = root.get("data").is_some_and(|data| data.is_object() && has_next_page(data, 0));
        has_errors
            || is_connected
            || (look.layer.media_type() == "application/graphql-response+json"
                && (has_data || root.get("errors").is_some()))
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let errors = root.get("errors").filter(|errors| !errors.is_empty())?;
        let data = root.get("data");
        if data.is_some_and(|data| data.entries().any(|(_, field)| !field.is_null())) {
            return Some(Finding::truncated("some fields answered, others failed"));
        }
        let mut meant = errors.items().take(16).map(|error| common::of_error(look, error, error));
        let first = meant.next()?;
        let agree = meant.all(|other| other.cause == first.cause);
        Some(match data {
            _ if !agree => Cause::Unexplained.because("every field failed, for causes that differ"),
            // Without `data` the document itself was rejected.
            None if first.cause == Some(Cause::Unexplained) => Cause::BadInput.because("the document was rejected"),
            _ => first,
        })
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let data = root.get("data")?;
        if data.is_null() {
            return Some(Finding::empty("no data"));
        }
        let holds = |field: Value<'_>| match field.kind() {
            Kind::Object => !field.is_empty() && shape(field, 0) != Shape::Empty,
            Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Array | Kind::Opaque => {
                shape(field, 0) == Shape::Data
            }
        };
        let has_data = data.entries().any(|(_, field)| holds(field));
        let has_page = has_next_page(data, 0);
        let more = More::of(look, root);
        Some(match (has_data, has_page) {
            (true, true) => Finding::truncated("more pages follow"),
            (false, true) => Cause::Pending.because("an empty page, and more pages follow"),
            (true, false) => more.of_data(),
            (false, false) => more.of_empty(),
        })
    }
}

/// Whether any connection of the answer has another page.
fn has_next_page(value: Value<'_>, depth: u8) -> bool {
    depth < DEPTH_MAX
        && (value.path(&["pageInfo", "hasNextPage"]).and_then(Value::as_bool) == Some(true)
            || value.entries().any(|(_, inner)| inner.is_object() && has_next_page(inner, depth + 1)))
}
