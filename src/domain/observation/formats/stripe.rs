//! Stripe: a declined card is business, not an outage. Its types mislead where status and code decide.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::{PayloadFormat, common};
use crate::domain::document::Value;

/// Lists and errors.
pub(super) struct Stripe;

#[rustfmt::skip] // a list of words reads as a paragraph
const TYPES: &[&str] = &[
    "card_error", "invalid_request_error", "api_error", "idempotency_error", "rate_limit_error",
    "authentication_error",
];

impl PayloadFormat for Stripe {
    fn format(&self) -> Format {
        Format::Stripe
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let is_list = look.get("object").and_then(Value::head).is_some_and(|object| object == "list")
            && look.get("has_more").is_some();
        let is_error = look.get("error").is_some_and(|error| {
            let kind = error.get("type").and_then(Value::head).unwrap_or_default();
            TYPES.contains(&&*kind)
                && error.get("param").is_none_or(|param| !param.is_null())
                && (error.get("doc_url").is_some() || error.get("code").is_none_or(|code| !code.is_null()))
        });
        let is_oauth = look.get("error").is_some_and(Value::is_string) && look.get("error_description").is_some();
        is_list || is_error || is_oauth
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let error = root.get("error").filter(|error| common::is_something(*error))?;
        let says = |name: &str, word: &str| error.get(name).and_then(Value::head).is_some_and(|text| text == word);
        if says("type", "card_error") || says("code", "card_declined") {
            return Some(Cause::Declined.because("the card was declined: the service is healthy"));
        }
        if says("code", "lock_timeout") {
            return Some(Cause::Throttled.because("another request holds the object"));
        }
        if says("type", "api_error") {
            return Some(Cause::Broken.because("an error of the service"));
        }
        Some(common::of_error(look, root, error))
    }
}
