//! The error envelope of Google's APIs, new and old, and its empty lists, which are empty objects.

use super::super::RetryHint;
use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::{PayloadFormat, common};
use crate::domain::document::{Kind, Value};

/// `error.status` and `error.details`.
pub(super) struct Google;

impl PayloadFormat for Google {
    fn format(&self) -> Format {
        Format::Google
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        look.get("error").is_some_and(|error| {
            let is_coded = error.get("code").is_some_and(|code| code.kind() == Kind::Number);
            let is_worded = error
                .get("status")
                .and_then(Value::head)
                .is_some_and(|word| word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'));
            let is_old =
                error.get("errors").is_some_and(|errors| errors.items().take(1).any(|one| one.get("domain").is_some()));
            is_coded && (is_worded || is_old)
        })
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let error = root.get("error")?;
        let old = error
            .get("errors")
            .and_then(|errors| errors.items().next())
            .filter(|_| error.get("status").is_none_or(|_| true));
        let reason = old.and_then(|old| old.get("reason")).and_then(Value::head).unwrap_or_default();
        let is_limit =
            old.and_then(|old| old.get("domain")).and_then(Value::head).is_some_and(|domain| domain == "usageLimits");
        let finding = match &*reason {
            "accessNotConfigured" => Cause::Forbidden.because("the API is switched off for this project"),
            "dailyLimitExceededUnreg" | "keyInvalid" | "keyExpired" => {
                Cause::Unauthenticated.because("its reason says so")
            }
            _ if is_limit => Cause::Throttled.because("a usage limit"),
            _ => common::of_error(look, root, error),
        };
        Some(finding.with_hint(RetryHint::of_body(root)))
    }
}
