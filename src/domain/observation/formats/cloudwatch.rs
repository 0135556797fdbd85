//! CloudWatch metrics: every result has a status of its own.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::super::tally::Tally;
use super::{PayloadFormat, common};
use crate::domain::document::Value;

/// `GetMetricData`.
pub(super) struct Cloudwatch;

impl PayloadFormat for Cloudwatch {
    fn format(&self) -> Format {
        Format::Cloudwatch
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        look.get("MetricDataResults").is_some()
    }

    fn element_outcomes(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let results = root.get("MetricDataResults")?;
        let lengths = |result: Value<'_>| ["Timestamps", "Values"].map(|name| result.get(name).map_or(0, Value::len));
        if !results.is_array()
            || results.items().any(|result| {
                let [times, values] = lengths(result);
                times != values
            })
        {
            return Some(Cause::Malformed.because("one time for every value is due"));
        }
        let mut tally = Tally::default();
        results.items().for_each(|result| tally.add(outcome(result)));
        let more = More::of(look, root);
        let Some(finding) = tally.finding() else { return Some(more.of_empty()) };
        let is_partial = root.get("Messages").is_some_and(common::is_something) || more.has_token();
        match finding.is_usable() && is_partial {
            true => Some(Finding::truncated("a message or a token says that there is more")),
            false if !finding.is_failure() && more.has_token() => Some(more.of_empty()),
            false => Some(finding),
        }
    }
}

fn outcome(result: Value<'_>) -> Finding {
    let has_values = result.get("Values").is_some_and(|values| !values.is_empty());
    let status = result.get("StatusCode").and_then(Value::head).unwrap_or_default();
    match (&*status, has_values) {
        ("PartialData", true) => Finding::truncated("partial data"),
        ("PartialData", false) => Cause::Withheld.because("partial data, and none of it here"),
        ("InternalError", true) => Finding::truncated("an inner error beside values"),
        ("InternalError", false) => Cause::Broken.because("an inner error"),
        ("Forbidden", _) => Cause::Forbidden.because("this metric may not be read"),
        (_, true) => Finding::observed("values"),
        (_, false) => Finding::empty("complete, and no value"),
    }
}
