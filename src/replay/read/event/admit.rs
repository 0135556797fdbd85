//! `AdmitRequest` as JSON. What rides on it, `reports`, is written as events of its own.

use super::{Wrong, members, number, text, truth, unknown, word};
use crate::domain::document::Value;
use crate::replay::read::members::text_or_raw;
use crate::wire::pb;

/// Reads one.
pub(super) fn read(value: Value<'_>) -> Result<pb::AdmitRequest, Wrong> {
    let mut request = pb::AdmitRequest::default();
    for (name, member) in members(value)? {
        let name = name.as_ref();
        match name {
            "target" => request.target = text(name, member)?,
            "tool_name" => request.tool_name = text(name, member)?,
            "session_id" => request.session_id = text(name, member)?,
            "turn" => request.turn = Some(number(name, member)?),
            "call_id" => request.call_id = text(name, member)?,
            "attempt" => request.attempt = number(name, member)?,
            "wave_id" => request.wave_id = text(name, member)?,
            "task_id" => request.task_id = text(name, member)?,
            "purpose" => request.purpose = text(name, member)?,
            "arguments" => request.arguments = bytes(member),
            "arguments_digest" => request.arguments_digest = bytes(member),
            "arguments_bytes" => request.arguments_bytes = Some(number(name, member)?),
            "credential" => request.credential = text(name, member)?,
            "caller" => request.caller = text(name, member)?,
            "effect" => request.effect = word(name, member, "EFFECT_", pb::Effect::from_str_name)?.into(),
            "user_approved" => request.user_approved = truth(name, member)?,
            "lane" => request.lane = text(name, member)?,
            "idempotency_key" => request.idempotency_key = text(name, member)?,
            "agent_name" => {}
            "reports" => return Err(Wrong::at(name, "stand in an admit", "write an event for each of them")),
            _ => return Err(unknown(name)),
        }
    }
    Ok(request)
}

/// JSON as a text that holds it, or as it stands there.
pub(super) fn bytes(value: Value<'_>) -> Vec<u8> {
    text_or_raw(value).unwrap_or_default().into_owned().into_bytes()
}
