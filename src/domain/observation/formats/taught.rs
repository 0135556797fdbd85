//! A format of the configuration at work.

use std::sync::Arc;

use super::super::cause::Cause;
use super::super::custom::{Condition, CustomFormat};
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::PayloadFormat;

/// An operator's own envelope.
pub(in super::super) struct Taught<'a> {
    pub(in super::super) custom: &'a Arc<CustomFormat>,
}

impl Taught<'_> {
    fn holds(&self, look: &Look<'_>, list: &[Condition]) -> bool {
        look.root().is_some_and(|root| list.iter().any(|condition| condition.is_met(root)))
    }
}

impl PayloadFormat for Taught<'_> {
    fn format(&self) -> Format {
        Format::Custom
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        look.root().is_some_and(|root| self.custom.recognises(root))
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let custom = self.custom;
        if self.holds(look, &custom.failed_when) {
            let worded = look.root().and_then(super::super::status::of_failure).filter(Finding::is_failure);
            return Some(worded.unwrap_or_else(|| Cause::Unexplained.because("a condition of `failed_when` holds")));
        }
        self.holds(look, &custom.unavailable_when)
            .then(|| Cause::Down.because("a condition of `unavailable_when` holds"))
    }

    fn pending(&self, _: &Look<'_>) -> Option<Finding> {
        None
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        if self.holds(look, &self.custom.truncated_when) {
            return Some(Finding::truncated("a condition of `truncated_when` holds"));
        }
        self.holds(look, &self.custom.empty_when).then(|| Finding::empty("a condition of `empty_when` holds"))
    }
}
