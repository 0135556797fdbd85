//! Answers as JSON for programs: one object a line, with the names of the protos and the closed words.
//!
//! What the protos call absent is left out. Members keep their order, which for a trip is that of the contract. Permits
//! are base64url, times RFC 3339, durations whole milliseconds.

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::text::full_time;
use super::token;
use super::words::Word;
use crate::wire::pb;

/// An object whose members keep their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Object(Vec<(&'static str, Member)>);

#[derive(Clone, Debug)]
enum Member {
    Plain(Value),
    Object(Object),
    List(Vec<Object>),
}

impl Object {
    /// With one more member.
    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.0.push((name, Member::Plain(value.into())));
        self
    }

    /// With one more member, where there is one.
    #[must_use]
    pub(super) fn with_some(self, name: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With the text, unless it is empty.
    #[must_use]
    pub(super) fn with_text(self, name: &'static str, text: &str) -> Self {
        self.with_some(name, Some(text).filter(|text| !text.is_empty()))
    }

    /// With the number, unless it is 0.
    #[must_use]
    pub(super) fn with_count(self, name: &'static str, n: u64) -> Self {
        self.with_some(name, Some(n).filter(|n| *n > 0))
    }

    /// With the time, where there is one.
    #[must_use]
    pub(super) fn with_time(self, name: &'static str, at: Option<&prost_types::Timestamp>) -> Self {
        self.with_some(name, at.map(full_time))
    }

    /// With an object as a member, where there is one.
    #[must_use]
    pub(super) fn with_object(mut self, name: &'static str, object: Option<Self>) -> Self {
        self.0.extend(object.map(|object| (name, Member::Object(object))));
        self
    }

    /// With a list of objects, unless it is empty.
    #[must_use]
    pub(super) fn with_list(mut self, name: &'static str, list: Vec<Self>) -> Self {
        if !list.is_empty() {
            self.0.push((name, Member::List(list)));
        }
        self
    }

    /// The object in one line.
    pub(super) fn line(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(self)?)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, member)| (name, member)))
    }
}

impl Serialize for Member {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plain(value) => value.serialize(serializer),
            Self::Object(object) => object.serialize(serializer),
            Self::List(list) => list.serialize(serializer),
        }
    }
}

/// A permit.
pub(super) fn permit(permit: &pb::Permit) -> Object {
    Object::default()
        .with("token", token::encode(&permit.token))
        .with("probe", permit.probe)
        .with("expires_in_ms", permit.expires_in_ms)
        .with("breaker", permit.breaker.as_str())
        .with("notices", permit.notices.clone())
}

/// A trip: the nine fields in contract order, then what programs need.
pub(super) fn trip(trip: &pb::Trip) -> Object {
    Object::default()
        .with("action", trip.action().word())
        .with("breaker", trip.breaker.as_str())
        .with("target", trip.target.as_str())
        .with("signal", trip.signal().word())
        .with("observed", trip.observed.as_str())
        .with("threshold", trip.threshold.as_str())
        .with("state", trip.state.as_str())
        .with("do_not", trip.do_not.as_str())
        .with("fallback", trip.fallback.as_str())
        .with("text", trip.text.as_str())
        .with("variant", trip.variant().word())
        .with("variant_name", trip.variant_name.as_str())
        .with("urgency", trip.urgency().word())
        .with_time("retry_at", trip.retry_at.as_ref())
        .with_some("retry_after_ms", trip.retry_after_ms)
        .with_list("also_open", trip.also_open.iter().map(also_open).collect())
        .with_count("generation", trip.generation)
        .with_count("event_seq", trip.event_seq)
        .with_object("facts", trip.facts.as_ref().map(facts))
        .with_text("fallback_target", &trip.fallback_target)
        .with_some("withdraw", Some(trip.withdraw.clone()).filter(|tools| !tools.is_empty()))
}

fn also_open(other: &pb::AlsoOpen) -> Object {
    Object::default()
        .with("kind", other.kind().word())
        .with("phase", other.phase().word())
        .with("breaker", other.breaker.as_str())
        .with("scope", other.scope.as_str())
        .with_some("retry_after_ms", other.retry_after_ms)
}

fn facts(facts: &pb::Facts) -> Object {
    Object::default()
        .with("failed", facts.failed)
        .with("results", facts.results)
        .with("window_ms", facts.window_ms)
        .with_some("max_argument_bytes", facts.max_argument_bytes)
}

/// What became of a report.
pub(super) fn ack(ack: &pb::ReportAck) -> Object {
    Object::default()
        .with("acknowledgement", ack.acknowledgement().word())
        .with_text("phase_after", &ack.phase_after().word())
        .with_object("trip", ack.trip.as_ref().map(trip))
        .with_object("typing", ack.typing.as_ref().map(typing))
        .with_object("handling", ack.handling.as_ref().map(handling))
        .with_object("next_binding", ack.next_binding.as_ref().map(step_binding))
        .with_count("next_attempt", u64::from(ack.next_attempt))
        .with_text("leaf", &ack.leaf().word())
        .with_text("leaf_reason", &ack.leaf_reason().word())
        .with_count("attempt_id", ack.attempt_id)
}

/// A failed attempt as it is kept.
pub(super) fn attempt(attempt: &pb::Attempt) -> Object {
    Object::default()
        .with("id", attempt.id)
        .with("chain", attempt.chain)
        .with_some("after", attempt.after)
        .with_time("at", attempt.at.as_ref())
        .with("step", attempt.step.as_str())
        .with_object("binding", attempt.binding.as_ref().map(step_binding))
        .with_object("record", attempt.record.as_ref().map(attempt_record))
        .with("leaf", attempt.leaf().word())
        .with("row", attempt.row)
        .with("reason", attempt.reason().word())
        .with_object("next_binding", attempt.next_binding.as_ref().map(step_binding))
        .with_count("next_attempt", u64::from(attempt.next_attempt))
        .with("needs_review", attempt.needs_review)
        .with_text("cap_raised_because", &attempt.cap_raised_because)
        .with_object("sketch", attempt.sketch.as_ref().map(sketch))
}

fn step_binding(at: &pb::StepBinding) -> Object {
    Object::default()
        .with("host", at.host.as_str())
        .with("route", at.route.as_str())
        .with("snapshot", at.snapshot.as_str())
}

fn attempt_record(record: &pb::AttemptRecord) -> Object {
    Object::default()
        .with_text("failure_class", &record.failure_class)
        .with("attempt", record.attempt)
        .with_some("writes", record.writes)
        .with_some("tools_enabled", record.tools_enabled)
        .with_some("snapshot_same", record.snapshot_same)
        .with("effect_unknown", record.effect_unknown)
        .with("has_idempotency_key", record.has_idempotency_key)
        .with("policy_denied", record.policy_denied)
}

fn sketch(sketch: &pb::Sketch) -> Object {
    Object::default()
        .with_text("reference", &sketch.reference)
        .with("accepted", sketch.accepted)
        .with_time("accepted_at", sketch.accepted_at.as_ref())
}

fn typing(typing: &pb::Typing) -> Object {
    Object::default()
        .with_text("observation", &typing.observation().word())
        .with("usable", typing.usable)
        .with_text("signal", &typing.signal().word())
        .with_text("kind", &typing.kind().word())
        .with_text("failure_class", &typing.failure_class().word())
        .with_some("retry_after_ms", typing.retry_after_ms)
        .with("format", typing.format.as_str())
        .with("rule", typing.rule.as_str())
        .with("reason", typing.reason.as_str())
        .with_some("total_known", typing.total_known)
        .with("values_degraded", typing.values_degraded)
        .with_text("digest", &typing.digest)
}

fn handling(handling: &pb::Handling) -> Object {
    Object::default()
        .with("disposition", handling.disposition().word())
        .with_some("after_ms", handling.after_ms)
        .with_text("text", &handling.text)
}

/// Why one item of a batch was not looked at.
pub(super) fn item_error(error: &pb::ItemError) -> Object {
    Object::default().with("field", error.field.as_str()).with("message", error.message.as_str())
}

/// A circuit.
pub(super) fn circuit(circuit: &pb::Circuit) -> Object {
    Object::default()
        .with_object("name", circuit.name.as_ref().map(circuit_name))
        .with("phase", circuit.phase().word())
        .with("probe_ready", circuit.probe_ready)
        .with("generation", circuit.generation)
        .with_time("open_until", circuit.open_until.as_ref())
        .with_some("retry_after_ms", circuit.retry_after_ms)
        .with("backoff_level", circuit.backoff_level)
        .with_text("observed", &circuit.observed)
        .with_text("threshold", &circuit.threshold)
        .with("failed", circuit.failed)
        .with("results", circuit.results)
        .with("probes_in_flight", circuit.probes_in_flight)
        .with_text("override_mode", &circuit.override_mode().word())
        .with_list("holds", circuit.holds.iter().map(hold).collect())
        .with("shadow_percent", circuit.shadow_percent)
        .with("last_seen_ms_ago", circuit.last_seen_ms_ago)
        .with_object("contract", circuit.contract.as_ref().map(trip))
}

fn circuit_name(name: &pb::CircuitName) -> Object {
    Object::default()
        .with("breaker", name.breaker.as_str())
        .with("scope", name.scope.as_str())
        .with("kind", name.kind().word())
}

fn hold(hold: &pb::OverrideHold) -> Object {
    Object::default()
        .with("owner", hold.owner.as_str())
        .with_text("reason", &hold.reason)
        .with_time("expires_at", hold.expires_at.as_ref())
        .with("mode", hold.mode().word())
}

/// An event as one line.
pub(super) fn event_line(of: &pb::Event) -> String {
    event(of).line().unwrap_or_default() // texts and numbers only: there is nothing that JSON could not hold
}

/// An event, without the fields that do not belong to its kind.
pub(super) fn event(event: &pb::Event) -> Object {
    Object::default()
        .with("seq", event.seq)
        .with("incarnation", event.incarnation)
        .with_time("at", event.at.as_ref())
        .with("event_kind", event.event_kind().word())
        .with_text("breaker", &event.breaker)
        .with_text("scope", &event.scope)
        .with_text("kind", &event.kind().word())
        .with_count("generation", event.generation)
        .with_text("from_phase", &event.from_phase().word())
        .with_text("to_phase", &event.to_phase().word())
        .with_text("observed", &event.observed)
        .with_text("threshold", &event.threshold)
        .with_count("open_for_ms", event.open_for_ms)
        .with_count("level", u64::from(event.level))
        .with_text("action", &event.action().word())
        .with_text("urgency", &event.urgency().word())
        .with_some("hint_ms", event.hint_ms)
        .with_some("hint_clamped", Some(true).filter(|_| event.hint_clamped))
        .with_count("lost", event.lost)
        .with_count("config_version", event.config_version)
        .with_text("owner", &event.owner)
        .with_text("signal", &event.signal().word())
        .with_text("variant", &event.variant)
        .with_text("first_action", &event.first_action().word())
        .with_count("repeats", u64::from(event.repeats))
        .with_count("ignored", u64::from(event.ignored))
        .with_text("resolution", &event.resolution().word())
        .with_some("turns", event.turns)
        .with_text("outcome", &event.outcome().word())
        .with_count("halts", u64::from(event.halts))
        .with_some("success", event.success)
        .with_count("steer_then_halts", u64::from(event.steer_then_halts))
        .with_count("alert_steer_then_halt", u64::from(event.alert_steer_then_halt))
        .with_text("review_verdict", &event.review_verdict().word())
        .with_text("review_rule", &event.review_rule().word())
}

#[cfg(test)]
mod tests;
