//! What the services' answer means to the program. Pure; words nothing that a service has words for.

use serde_json::{Value, json};
use tonic::Status;

use super::event::HookEvent;
use super::{HookFault, HookProgram};
use crate::wire::InvalidField;
use crate::wire::pb;

/// Nothing to say: the program goes on as without a hook, permission prompts and all.
pub(super) fn nothing() -> Value {
    json!({})
}

/// A call must not be made: the model gets the reason.
#[must_use]
pub fn denied(reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
    }})
}

/// The user is told something; the program goes on.
#[must_use]
pub fn noted(text: &str) -> Value {
    json!({"systemMessage": text})
}

/// The model is told something beside what it gets anyway.
fn beside(event: &HookEvent<'_>, text: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": event.name.word(), "additionalContext": text}})
}

/// The model gets the reason: in place of the result (Codex), or to go on with instead of stopping.
fn blocked(reason: &str) -> Value {
    json!({"decision": "block", "reason": reason})
}

pub(super) fn admitted(event: &HookEvent<'_>, answer: pb::AdmitResponse) -> Value {
    use pb::admit_response::Decision;
    match answer.decision {
        Some(Decision::Trip(trip)) => denied(&trip.text),
        Some(Decision::Permit(permit)) if !permit.notices.is_empty() => beside(event, &permit.notices.join("\n")),
        Some(Decision::Permit(_)) | None => nothing(),
    }
}

pub(super) fn reported(
    program: HookProgram,
    event: &HookEvent<'_>,
    answer: pb::ReportResponse,
) -> Result<Value, HookFault> {
    use pb::report_result::Result as Came;
    let ack = match answer.results.into_iter().next().and_then(|result| result.result) {
        Some(Came::Ack(ack)) => ack,
        Some(Came::Error(pb::ItemError { field, message })) => {
            let fault = InvalidField::new(field, message);
            return Err(crate::service::status::invalid(&fault).into());
        }
        None => return Err(Status::internal("the service gave no answer to the report: see its log").into()),
    };
    let handling = ack.handling.unwrap_or_default();
    let text = ack.trip.map_or(handling.text.clone(), |trip| trip.text);
    Ok(match (handling.disposition(), program) {
        _ if text.is_empty() => nothing(),
        // The tool's own complaint is the result that the model has already.
        (pb::Disposition::ReturnError, _) => nothing(),
        (pb::Disposition::Trip | pb::Disposition::DeliverFailure, HookProgram::Codex) => blocked(&text),
        (
            pb::Disposition::Unspecified
            | pb::Disposition::Trip
            | pb::Disposition::Steer
            | pb::Disposition::RetrySilently
            | pb::Disposition::Move
            | pb::Disposition::Narrow
            | pb::Disposition::Deliver
            | pb::Disposition::DeliverFailure,
            HookProgram::ClaudeCode | HookProgram::Codex,
        ) => beside(event, &text),
    })
}

/// A model is sent back once: what it answers then stands, and the user is told where it is not borne out.
pub(super) fn reviewed(event: &HookEvent<'_>, review: &pb::ReviewAnswerResponse) -> Value {
    match review.verdict() {
        pb::ReviewVerdict::SendBack if !event.is_sent_back() => blocked(&review.message),
        pb::ReviewVerdict::SendBack | pb::ReviewVerdict::AllowUnsupported => {
            let rule = review.rule().as_str_name().trim_start_matches("REVIEW_RULE_").to_lowercase();
            noted(&format!("tripnote: the answer is not borne out by what was measured in this session ({rule})"))
        }
        pb::ReviewVerdict::Allow | pb::ReviewVerdict::Unspecified => nothing(),
    }
}
