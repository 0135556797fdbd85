//! `Outcome` as JSON. The call is named by `permit`, by `call_ref`, or by the members of that beside the rest.

use super::admit::bytes;
use super::{Wrong, members, number, text, truth, unknown, word};
use crate::domain::document::Value;
use crate::wire::pb;
use crate::wire::pb::outcome::{Call, Result as Judged};

/// Reads one.
pub(super) fn read(value: Value<'_>) -> Result<pb::Outcome, Wrong> {
    let mut outcome = pb::Outcome::default();
    let (mut call, mut permit) = (pb::CallRef::default(), None);
    for (name, member) in members(value)? {
        let name = name.as_ref();
        match name {
            "permit" => permit = Some(bytes(member)),
            "call_ref" => call = call_ref(member).map_err(|wrong| wrong.inside(name))?,
            "session_id" => call.session_id = text(name, member)?,
            "call_id" => call.call_id = text(name, member)?,
            "caller" => call.caller = text(name, member)?,
            "attempt" => {
                call.attempt = number(name, member)?;
                outcome.attempt = call.attempt;
            }
            "classification" => {
                outcome.result = Some(Judged::Classification(judgement(member).map_err(|w| w.inside(name))?));
            }
            "transport" => outcome.result = Some(Judged::Transport(transport(member).map_err(|w| w.inside(name))?)),
            "payload" => outcome.payload = Some(payload(member).map_err(|wrong| wrong.inside(name))?),
            "tool_name" => outcome.tool_name = text(name, member)?,
            "arguments" => outcome.arguments = bytes(member),
            "effect" => outcome.effect = word(name, member, "EFFECT_", pb::Effect::from_str_name)?.into(),
            "idempotent" => outcome.idempotent = truth(name, member)?,
            "refused_by" => {
                outcome.refused_by = word(name, member, "REFUSED_BY_", pb::RefusedBy::from_str_name)?.into();
            }
            "latency_ms" => outcome.latency_ms = Some(number(name, member)?),
            "binding" => outcome.binding = Some(binding(member).map_err(|wrong| wrong.inside(name))?),
            _ => return Err(unknown(name)),
        }
    }
    outcome.call = Some(match permit {
        Some(permit) => Call::Permit(permit),
        None => Call::CallRef(call),
    });
    Ok(outcome)
}

fn call_ref(value: Value<'_>) -> Result<pb::CallRef, Wrong> {
    let mut call = pb::CallRef::default();
    for (name, member) in members(value)? {
        match name.as_ref() {
            "session_id" => call.session_id = text(&name, member)?,
            "call_id" => call.call_id = text(&name, member)?,
            "attempt" => call.attempt = number(&name, member)?,
            "caller" => call.caller = text(&name, member)?,
            _ => return Err(unknown(&name)),
        }
    }
    Ok(call)
}

fn judgement(value: Value<'_>) -> Result<pb::Classification, Wrong> {
    let mut judged = pb::Classification::default();
    for (name, member) in members(value)? {
        match name.as_ref() {
            "result" => {
                judged.result = word(&name, member, "KIND_", pb::classification::Kind::from_str_name)?.into();
            }
            "kind" => judged.kind = word(&name, member, "CIRCUIT_KIND_", pb::CircuitKind::from_str_name)?.into(),
            "retry_after_ms" => judged.retry_after_ms = Some(number(&name, member)?),
            _ => return Err(unknown(&name)),
        }
    }
    Ok(judged)
}

fn transport(value: Value<'_>) -> Result<pb::TransportFacts, Wrong> {
    let mut facts = pb::TransportFacts::default();
    for (name, member) in members(value)? {
        match name.as_ref() {
            "http_status" => facts.http_status = Some(number(&name, member)?),
            "grpc_code" => facts.grpc_code = Some(number(&name, member)?),
            "exit_code" => facts.exit_code = Some(number(&name, member)?),
            "error_kind" => {
                facts.error_kind = word(&name, member, "ERROR_KIND_", pb::ErrorKind::from_str_name)?.into();
            }
            "carrier" => facts.carrier = word(&name, member, "CARRIER_", pb::Carrier::from_str_name)?.into(),
            "headers" => facts.headers = headers(member)?,
            _ => return Err(unknown(&name)),
        }
    }
    Ok(facts)
}

/// A list of names and values, or an object of them.
fn headers(value: Value<'_>) -> Result<Vec<pb::Header>, Wrong> {
    if value.is_object() {
        let header = |(name, value): (crate::domain::document::Name<'_>, Value<'_>)| {
            Ok(pb::Header { name: name.text().into_owned(), value: text("headers", value)? })
        };
        return value.entries().map(header).collect();
    }
    let header = |item: Value<'_>| {
        let mut header = pb::Header::default();
        for (name, member) in members(item)? {
            match name.as_ref() {
                "name" => header.name = text(&name, member)?,
                "value" => header.value = text(&name, member)?,
                _ => return Err(unknown(&name)),
            }
        }
        Ok(header)
    };
    value.items().map(header).collect()
}

/// The body alone, or an object with `body` in which nothing stands but what a payload has.
fn payload(value: Value<'_>) -> Result<pb::Payload, Wrong> {
    const OWN: [&str; 3] = ["body", "content_type", "truncated_by_caller"];
    let is_message = value.get("body").is_some() && members(value)?.all(|(name, _)| OWN.contains(&&*name));
    if !is_message {
        return Ok(pb::Payload { body: bytes(value), ..pb::Payload::default() });
    }
    let mut payload = pb::Payload::default();
    for (name, member) in members(value)? {
        match name.as_ref() {
            "body" => payload.body = bytes(member),
            "content_type" => payload.content_type = text(&name, member)?,
            _ => payload.truncated_by_caller = truth(&name, member)?,
        }
    }
    Ok(payload)
}

fn binding(value: Value<'_>) -> Result<pb::Binding, Wrong> {
    let mut binding = pb::Binding::default();
    for (name, member) in members(value)? {
        match name.as_ref() {
            "step" => binding.step = text(&name, member)?,
            "host" => binding.host = text(&name, member)?,
            "route" => binding.route = text(&name, member)?,
            "snapshot" => binding.snapshot = text(&name, member)?,
            "published_at" => {
                binding.published_at = member.items().map(|host| text(&name, host)).collect::<Result<_, _>>()?;
            }
            "writes" => binding.writes = Some(truth(&name, member)?),
            "tools_enabled" => binding.tools_enabled = Some(truth(&name, member)?),
            "snapshot_same" => binding.snapshot_same = Some(truth(&name, member)?),
            "effect_unknown" => binding.effect_unknown = truth(&name, member)?,
            "policy_denied" => binding.policy_denied = truth(&name, member)?,
            "sketch" => binding.sketch = text(&name, member)?,
            _ => return Err(unknown(&name)),
        }
    }
    Ok(binding)
}
