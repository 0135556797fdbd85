//! One tool call on its way, what the service is told of its end, and what the model then sees.

use super::answer::{Form, with_texts};
use super::line::Line;
use super::message::{Id, document};
use super::tools::Known;
use super::words;
use crate::domain::document::Value;
use crate::wire::pb;
use crate::wire::pb::classification::Kind;
use crate::wire::pb::outcome::{Call as Named, Result as Judged};

/// Of an answer so much is reported, which is what a service takes unless configured otherwise.
const PAYLOAD_BYTES_MAX: usize = 256 << 10;

/// One call.
#[derive(Debug)]
pub(super) struct Call {
    /// Its number in this connection.
    pub(super) number: u64,
    /// The id of its request.
    pub(super) id: Id,
    /// The tool.
    pub(super) tool: String,
    /// What is known of it.
    pub(super) known: Known,
    /// The session it belongs to.
    pub(super) session: String,
    /// Its arguments, which the report tells again; empty where they are long.
    pub(super) arguments: Vec<u8>,
    /// The protocol version of its client wants complete results to say so.
    pub(super) says_complete: bool,
}

/// How a call ended.
#[derive(Debug)]
pub(super) enum Seen {
    /// The server answered.
    Answer(Line),
    /// It did not; the client gets this error where the service has no other word.
    Lost {
        /// What was seen.
        facts: pb::TransportFacts,
        /// What is told.
        error: Line,
    },
    /// It says nothing about the target: given up by the client, or answered already.
    Nothing {
        /// What was seen, where anything was; else it is neutral.
        facts: Option<pb::TransportFacts>,
    },
}

impl Call {
    /// How its answers are written.
    pub(super) fn form(&self) -> Form<'_> {
        Form { id: &self.id.raw, tool: self.known, says_complete: self.says_complete }
    }

    /// What the service is told.
    pub(super) fn outcome(&self, permit: Vec<u8>, seen: &Seen) -> pb::Outcome {
        let carried = pb::TransportFacts { carrier: pb::Carrier::Mcp.into(), ..pb::TransportFacts::default() };
        let (result, payload) = match seen {
            Seen::Answer(line) => match payload(line) {
                Some(payload) => (Judged::Transport(carried), Some(payload)),
                None => (neutral(), None),
            },
            Seen::Lost { facts, .. } => (Judged::Transport(facts.clone()), None),
            Seen::Nothing { facts } => (facts.clone().map_or_else(neutral, Judged::Transport), None),
        };
        pb::Outcome {
            call: Some(Named::Permit(permit)),
            result: Some(result),
            payload,
            tool_name: self.tool.clone(),
            arguments: self.arguments.clone(),
            ..pb::Outcome::default()
        }
    }

    /// The line for the client, where it is not the server's own.
    pub(super) fn told(&self, seen: &Seen, notices: &[String], ack: &pb::ReportAck) -> Option<Vec<u8>> {
        let raw = match seen {
            Seen::Answer(line) => line.text(),
            Seen::Lost { .. } => None,
            Seen::Nothing { .. } => return None,
        };
        let handling = ack.handling.clone().unwrap_or_default();
        let text = Some(handling.text.as_str()).filter(|text| !text.is_empty());
        let failure = text.map(str::to_owned).or_else(|| words::failure(&self.tool, ack.typing.as_ref()));
        let notices = notices.iter().map(String::as_str);
        let failed = |texts: Vec<&str>, trip| Some(self.form().failed(&texts, trip));
        match (handling.disposition(), &ack.trip) {
            (pb::Disposition::Trip, Some(trip)) => failed(notices.chain([trip.text.as_str()]).collect(), Some(trip)),
            (pb::Disposition::Steer, Some(trip)) if is_failure(ack) || raw.is_none() => {
                failed(notices.chain(failure.as_deref()).chain([trip.text.as_str()]).collect(), Some(trip))
            }
            (pb::Disposition::Steer, Some(trip)) => {
                let texts: Vec<&str> = text.into_iter().chain(notices).chain([trip.text.as_str()]).collect();
                with_texts(raw?, &texts, Some(trip))
            }
            (
                pb::Disposition::ReturnError
                | pb::Disposition::DeliverFailure
                | pb::Disposition::RetrySilently
                | pb::Disposition::Move
                | pb::Disposition::Narrow,
                _,
            ) => failed(failure.as_deref().into_iter().chain(notices).collect(), None).filter(|_| failure.is_some()),
            (pb::Disposition::Deliver, _) => {
                let texts: Vec<&str> = text.into_iter().chain(notices).collect();
                if texts.is_empty() { None } else { with_texts(raw?, &texts, None) }
            }
            (pb::Disposition::Unspecified | pb::Disposition::Trip | pb::Disposition::Steer, _) => None,
        }
    }
}

/// Nobody learns anything of the target.
fn neutral() -> Judged {
    Judged::Classification(pb::Classification { result: Kind::Ignored.into(), ..pb::Classification::default() })
}

fn is_failure(ack: &pb::ReportAck) -> bool {
    let observation = ack.typing.as_ref().map(pb::Typing::observation);
    matches!(observation, Some(pb::Observation::Unavailable | pb::Observation::Error))
}

/// What was answered, as far as it is reported: the result, or the whole message where it is an error. None where the
/// answer comes later: a task was made of the call (2025-11-25).
fn payload(line: &Line) -> Option<pb::Payload> {
    let text = line.text().unwrap_or_default();
    let document = document(text);
    let result = document.as_ref().and_then(|document| document.root().get("result"));
    let is_task =
        |result: Value<'_>| result.get("task").is_some_and(Value::is_object) && result.get("content").is_none();
    if result.is_some_and(is_task) {
        return None;
    }
    let body = result.map_or(text, Value::raw);
    let kept = body.get(..body.floor_char_boundary(PAYLOAD_BYTES_MAX)).unwrap_or(body);
    Some(pb::Payload {
        body: kept.as_bytes().to_vec(),
        content_type: "application/json".to_owned(),
        truncated_by_caller: kept.len() < body.len(),
    })
}

#[cfg(test)]
mod tests;
