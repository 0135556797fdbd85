//! Slack: `ok` decides, whatever the status; errors are words.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::{RetryHint, codes};
use super::PayloadFormat;
use crate::domain::document::Value;

/// The Web API.
pub(super) struct Slack;

impl PayloadFormat for Slack {
    fn format(&self) -> Format {
        Format::Slack
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let ok = look.get("ok").and_then(Value::as_bool);
        let is_word = look.get("error").and_then(Value::head).is_some_and(|word| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        });
        match ok {
            Some(false) => is_word,
            Some(true) => ["messages", "channels", "members", "channel", "response_metadata", "ts"]
                .iter()
                .any(|name| look.get(name).is_some()),
            None => false,
        }
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object().filter(|root| root.get("ok").and_then(Value::as_bool) == Some(false))?;
        let word = root.get("error").and_then(Value::head).unwrap_or_default();
        let cause = match &*word {
            "invalid_auth" | "not_authed" | "account_inactive" | "token_revoked" | "token_expired" | "no_auth" => {
                Cause::Unauthenticated
            }
            "missing_scope"
            | "no_permission"
            | "not_allowed_token_type"
            | "access_denied"
            | "ekm_access_denied"
            | "org_login_required"
            | "enterprise_is_restricted"
            | "team_access_not_granted" => Cause::Forbidden,
            "restricted_action" | "posting_to_channel_denied" => Cause::AgainstPolicy,
            "ratelimited" | "rate_limited" => Cause::Throttled,
            "fatal_error" | "internal_error" => Cause::Broken,
            "service_unavailable" | "team_added_to_org" => Cause::Down,
            "" => Cause::Unexplained,
            word => codes::cause(word).unwrap_or(Cause::BadInput), // most words name an argument
        };
        Some(cause.because("its error word says so").with_hint(RetryHint::of_body(root)))
    }
}
