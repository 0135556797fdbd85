//! The one way in: from a raw result to its typing.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use super::cause::Cause;
use super::custom::CustomFormat;
use super::finding::Finding;
use super::format::Format;
use super::look::Layer;
use super::transport::TransportFacts;
use super::{Classification, Observation, RetryHint, Rule, steps};
use crate::domain::failure::FailureClass;
use crate::domain::ids::HashKey;
use crate::domain::signal::CircuitKind;
use crate::domain::tool::{Effect, Tool};

/// A result as it came back from a tool.
#[derive(Clone, Copy, Debug)]
pub struct RawResult<'a> {
    /// The tool as the model knows it.
    pub tool_name: &'a str,
    /// What is known of it.
    pub tool: &'a Tool,
    /// What this call of it does: what the call said, else what is known of the tool.
    pub effect: Effect,
    /// What the transport said.
    pub transport: &'a TransportFacts,
    /// The body; none where it was not sent along, which is not the same as an empty one.
    pub payload: Option<&'a [u8]>,
    /// The media type that the caller gave; else the one among the headers counts.
    pub content_type: Option<&'a str>,
    /// The call's arguments, as JSON, where they are known.
    pub arguments: Option<&'a [u8]>,
    /// The caller cut the payload at a limit of its own.
    pub is_cut_by_caller: bool,
    /// The texts that the session was told, to be known again whatever their wording.
    pub told: ToldTexts<'a>,
    /// The formats of the configuration.
    pub custom: &'a [Arc<CustomFormat>],
    /// The wall clock in milliseconds since 1970, for retry dates without a date of their own.
    pub now_unix_ms: u64,
}

/// Texts of ours that a session was told, as keyed hashes. The default holds none.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToldTexts<'a> {
    /// The hashes, each of a text without the blanks around it, and the key.
    pub hashes: Option<(&'a [u64], &'a HashKey)>,
}

impl ToldTexts<'_> {
    /// Whether a text is one of them.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        let is_one = |(hashes, key): (&[u64], &HashKey)| hashes.contains(&key.told_text(text));
        self.hashes.is_some_and(is_one)
    }
}

/// What a result is.
#[derive(Clone, Debug, PartialEq)]
pub struct Typing {
    /// May it be cited?
    pub observation: Observation,
    /// The circuit that it counts against; none: it is no strike.
    pub kind: Option<CircuitKind>,
    /// What a retry may do; none: nothing failed.
    pub failure_class: Option<FailureClass>,
    /// How long the target asked to be left alone.
    pub hint: Option<RetryHint>,
    /// What it says to the circuits of the target.
    pub classification: Classification,
    /// What the payload was read as.
    pub format: Format,
    /// The step that decided.
    pub rule: Rule,
    /// Why, in words for an integrator. Holds nothing of the payload.
    pub reason: &'static str,
    /// How many there are in all, where a cut answer says so exactly: this number may be cited.
    pub total_known: Option<u64>,
    /// Even the values that are there may be wrong, not only incomplete.
    pub values_degraded: bool,
    /// Whether the same again is a repeat (spec 3.6): failed or empty, and neither pending nor a text of ours.
    pub is_terminal: bool,
    /// Whether it is a text of ours that came back.
    pub is_ours: bool,
    /// What the tool said of an input that it rejected, for the model that has to mend it. At most 300 bytes.
    pub complaint: Option<String>,
    /// The normalised body of a failed or empty result (spec 3.6): hashed, shown by `explain`, kept nowhere.
    pub core: Option<String>,
    /// Keys and counts of the payload, never a value. At most 160 bytes.
    pub digest: String,
}

impl Typing {
    /// What is to be said beside a result that may be cited with care; none where nothing is.
    #[must_use]
    pub const fn caution(&self) -> Option<&'static str> {
        match (self.observation, self.total_known, self.values_degraded) {
            (Observation::Truncated, _, true) => {
                Some("partial and degraded: cite that it was seen, never a value, total or rate from it")
            }
            (Observation::Truncated, Some(_), false) => {
                Some("partial: cite what is in it and the stated total, never a rate or a total of your own")
            }
            (Observation::Truncated, None, false) => Some("partial: cite what is in it, never a total or a rate"),
            _ => None,
        }
    }
}

/// What a result is. Never fails: what cannot be read is `error` and `malformed_response`.
#[must_use]
pub fn type_result(result: &RawResult<'_>) -> Typing {
    let payload = result.payload.unwrap_or_default();
    let text: Cow<'_, str> = String::from_utf8_lossy(payload);
    let mask = OnceCell::new();
    let layer = Layer::outermost(result, &text, &mask);
    let decision = steps::decide(&layer);
    let mut finding = decision.finding;
    let cut = match result.transport.http_status {
        _ if result.is_cut_by_caller => Some("the caller cut it"),
        Some(206) => Some("206: a part of it, by definition"),
        _ => None,
    };
    if let Some(reason) = cut.filter(|_| finding.observation == Observation::Observed) {
        finding = Finding { observation: Observation::Truncated, reason, ..finding };
    }
    let mut rule = decision.rule;
    let is_data = matches!(finding.observation, Observation::Observed | Observation::Truncated | Observation::Empty);
    if is_data && result.tool.is_context() {
        finding.observation = Observation::Context;
        rule = Rule::CatalogueTool;
    }
    let is_passing = finding.cause.is_some_and(|cause| !cause.is_terminal());
    let is_unusable = matches!(finding.observation, Observation::Empty | Observation::Unavailable | Observation::Error);
    let waits = finding.cause.is_none_or(|cause| cause.heeds_hints());
    Typing {
        observation: finding.observation,
        kind: finding.kind(),
        failure_class: finding.failure_class(),
        hint: layer.hint(finding.hint).filter(|_| waits && finding.is_failure()),
        classification: finding.classification(),
        format: decision.format,
        rule,
        reason: finding.reason,
        total_known: finding.total,
        values_degraded: finding.degrades_values,
        is_terminal: is_unusable && !is_passing,
        is_ours: finding.cause.is_some_and(Cause::is_ours),
        complaint: decision.complaint,
        core: decision.core,
        digest: decision.digest,
    }
}

#[cfg(test)]
mod tests;
