//! Web searches: a direct answer without a hit is an answer, and engines that are down have not looked.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::{PayloadFormat, common};
use crate::domain::document::Value;

/// SearXNG, and search APIs that nest their hits.
pub(super) struct WebSearch;

/// Lists of hits by the member that wraps them.
const NESTED: &[(&str, &str)] = &[("web", "results"), ("webPages", "value"), ("news", "results")];
#[rustfmt::skip] // a list of words reads as a paragraph
const ANSWERS: &[&str] = &[
    "results", "answers", "infoboxes", "organic", "organic_results", "items", "answer", "answerBox", "answer_box",
    "knowledgeGraph", "knowledge_graph",
];

impl PayloadFormat for WebSearch {
    fn format(&self) -> Format {
        Format::WebSearch
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let has = |name: &str| look.get(name).is_some();
        let is_searx = has("results") && (has("unresponsive_engines") || has("answers") || has("infoboxes"));
        let is_nested = NESTED.iter().any(|(outer, inner)| {
            look.root().is_some_and(|root| root.path(&[outer, inner]).is_some_and(Value::is_array))
        });
        is_searx
            || is_nested
            || has("organic_results")
            || has("organic")
            || has("searchInformation")
            || (has("webPages") && has("queryContext"))
            || (has("results") && has("answer") && has("query"))
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let is_full = |value: Option<Value<'_>>| value.is_some_and(common::is_something);
        let has_data = ANSWERS.iter().any(|name| is_full(root.get(name)))
            || NESTED.iter().any(|(outer, inner)| is_full(root.path(&[outer, inner])));
        let are_down = is_full(root.get("unresponsive_engines"));
        Some(match (has_data, are_down) {
            (true, true) => Finding::truncated("some engines did not answer"),
            (false, true) => Cause::Down.because("no hit, and engines did not answer"),
            // A search's total is a guess over the whole web, so that no page of it is ever whole: pages are not cuts.
            (true, false) if More::of(look, root).has_token() => Finding::truncated("more pages follow"),
            (true, false) => Finding::observed("hits or an answer"),
            (false, false) => Finding::empty("every engine answered, none had a hit"),
        })
    }
}
