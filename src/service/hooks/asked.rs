//! What an event asks of the services. Pure.

use super::event::{EventName, HookEvent, ToolUse};
use crate::wire::pb;
use crate::wire::session::ANSWER_BYTES_MAX;

/// A hook cannot call again: for the service every try is the last, so that a passing fault is told and not retried in
/// silence.
const LAST_TRY: u32 = 2;
/// Bytes of a tool's own words about a failure that are passed on for reading.
const ERROR_BYTES_MAX: usize = 64 << 10;
/// How Claude Code begins the error of a command that ended badly.
const EXIT_CODE: &str = "Exit code ";

/// One question.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Asked {
    /// The event changes nothing here.
    Nothing,
    BeginTask(pb::BeginTaskRequest),
    Admit(Box<pb::AdmitRequest>),
    Report(Box<pb::Outcome>),
    EndWave(pb::EndWaveRequest),
    AdvanceEpoch(pb::AdvanceContextEpochRequest),
    Close(pb::CloseSessionRequest),
    Review(Box<pb::ReviewAnswerRequest>),
}

/// The question of an event; a result is cut to so many bytes.
pub(super) fn of(event: &HookEvent<'_>, payload_bytes_max: usize) -> Asked {
    let session = Some(pb::SessionRef { session_id: event.session().to_owned(), caller: String::new() });
    match event.name {
        EventName::UserPromptSubmit => {
            Asked::BeginTask(pb::BeginTaskRequest { session, task_id: event.task().to_owned() })
        }
        EventName::PreToolUse => Asked::Admit(Box::new(call(event))),
        EventName::PostToolUse => {
            let (body, truncated_by_caller) = cut(&event.response(), payload_bytes_max);
            let payload = pb::Payload { body, content_type: String::new(), truncated_by_caller };
            Asked::Report(Box::new(pb::Outcome { payload: Some(payload), ..outcome(event, payload_bytes_max) }))
        }
        EventName::PostToolUseFailure => Asked::Report(Box::new(failure(event, payload_bytes_max))),
        EventName::PermissionDenied => {
            let refused_by = pb::RefusedBy::Host.into();
            Asked::Report(Box::new(pb::Outcome { refused_by, ..outcome(event, payload_bytes_max) }))
        }
        EventName::PostToolBatch => Asked::EndWave(pb::EndWaveRequest { session, lane: event.lane().to_owned() }),
        EventName::PostCompact => Asked::AdvanceEpoch(pb::AdvanceContextEpochRequest { session, context_epoch: 0 }),
        // Programs without the event above tell of it this way. Where both come, no call lies between them, and the
        // second changes nothing.
        EventName::SessionStart if event.source() == "compact" => {
            Asked::AdvanceEpoch(pb::AdvanceContextEpochRequest { session, context_epoch: 0 })
        }
        EventName::SessionEnd => {
            // The program tells why the user left, not whether the task was done.
            Asked::Close(pb::CloseSessionRequest { session, ..pb::CloseSessionRequest::default() })
        }
        EventName::Stop if event.last_message().trim().is_empty() => Asked::Nothing,
        EventName::Stop => {
            let (text, _) = cut(event.last_message(), ANSWER_BYTES_MAX);
            let text = String::from_utf8(text).unwrap_or_default(); // cut between characters
            Asked::Review(Box::new(pb::ReviewAnswerRequest { session, text, task_id: event.task().to_owned() }))
        }
        EventName::SessionStart
        | EventName::PermissionRequest
        | EventName::StopFailure
        | EventName::SubagentStart
        | EventName::SubagentStop
        | EventName::PreCompact
        | EventName::Notification => Asked::Nothing,
    }
}

fn call(event: &HookEvent<'_>) -> pb::AdmitRequest {
    let ToolUse { name, id, input } = event.tool();
    pb::AdmitRequest {
        tool_name: name.to_owned(),
        session_id: event.session().to_owned(),
        call_id: id.to_owned(),
        task_id: event.task().to_owned(),
        lane: event.lane().to_owned(),
        arguments: input.as_bytes().to_vec(),
        ..pb::AdmitRequest::default()
    }
}

/// An outcome of which nothing is said but whose it is.
fn outcome(event: &HookEvent<'_>, payload_bytes_max: usize) -> pb::Outcome {
    let ToolUse { name, id, input } = event.tool();
    let call_ref =
        pb::CallRef { session_id: event.session().to_owned(), call_id: id.to_owned(), ..pb::CallRef::default() };
    let is_short = input.len() <= payload_bytes_max;
    pb::Outcome {
        call: Some(pb::outcome::Call::CallRef(call_ref)),
        tool_name: name.to_owned(),
        arguments: if is_short { input.as_bytes().to_vec() } else { vec![] },
        attempt: LAST_TRY,
        latency_ms: event.duration_ms(),
        ..pb::Outcome::default()
    }
}

/// A call that the program says has failed. Who interrupts it says nothing about the tool.
fn failure(event: &HookEvent<'_>, payload_bytes_max: usize) -> pb::Outcome {
    let error = event.error();
    let facts = pb::TransportFacts::default();
    let (facts, body) = if event.is_interrupted() {
        (pb::TransportFacts { error_kind: pb::ErrorKind::CancelledByCaller.into(), ..facts }, vec![])
    } else if let Some((exit_code, output)) = exit_code(error) {
        let facts = pb::TransportFacts { exit_code: Some(exit_code), carrier: pb::Carrier::Process.into(), ..facts };
        (facts, cut(output, payload_bytes_max).0)
    } else {
        let (text, _) = cut(error, ERROR_BYTES_MAX.min(payload_bytes_max / 8)); // escapes make it up to six times as long
        let text = String::from_utf8(text).unwrap_or_default(); // cut between characters
        let result = serde_json::json!({"content": [{"type": "text", "text": text}], "isError": true});
        (pb::TransportFacts { carrier: pb::Carrier::Mcp.into(), ..facts }, result.to_string().into_bytes())
    };
    let payload = (!body.is_empty()).then(|| pb::Payload { body, ..pb::Payload::default() });
    let result = Some(pb::outcome::Result::Transport(facts));
    pb::Outcome { result, payload, ..outcome(event, payload_bytes_max) }
}

/// The exit code that an error begins with, and what comes after it.
fn exit_code(error: &str) -> Option<(i32, &str)> {
    let rest = error.strip_prefix(EXIT_CODE)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (code, output) = rest.split_at_checked(end)?;
    Some((code.parse().ok()?, output.trim_start()))
}

/// A text cut between characters, and whether something was cut.
fn cut(text: &str, max: usize) -> (Vec<u8>, bool) {
    let kept = text.get(..text.floor_char_boundary(max)).unwrap_or_default();
    (kept.as_bytes().to_vec(), kept.len() < text.len())
}
