//! `breaker.proto`: calls and outcomes on their way in, decisions and acknowledgements on their way out.

use super::failure::next;
use super::invalid::{InvalidField, name};
use super::observation::{payload, says_something};
use super::pb;
use crate::domain::ids::{InvalidTarget, TargetName};
use crate::domain::observation::transport::TransportFacts;
use crate::domain::observation::{Classification, RetryHint};
use crate::domain::signal::CircuitKind;
use crate::engine::{
    Arguments, AskedAs, Call, CallId, Decision, Granted, Handed, Peeked, Report, ReportAnswer, Reported, Said, Seen,
    StepOfCall,
};

const ATTEMPT_MAX: u32 = 1_000_000;
const DIGEST_BYTES_MAX: usize = 64;
const TOOL_BYTES_MAX: usize = 512;
const TOKEN_BYTES_MAX: usize = 512;

/// The target of a message that names a target or a tool.
struct NamedTarget {
    target: TargetName,
    is_tool: bool,
}

fn named_target(target: &str, tool: &str) -> Result<NamedTarget, InvalidField> {
    let is_tool = target.is_empty();
    let (path, text) = if is_tool { ("tool_name", tool) } else { ("target", target) };
    let target = TargetName::parse(text).map_err(|invalid| match invalid {
        InvalidTarget::Empty if is_tool => {
            InvalidField::new("target", "target and tool_name are both empty: give one, e.g. `POST /v2/charge`")
        }
        InvalidTarget::Empty | InvalidTarget::TooLong { .. } => InvalidField::new(path, invalid.to_string()),
    })?;
    Ok(NamedTarget { target, is_tool })
}

/// A well-formed call, borrowing from the message.
pub struct AskedCall<'a> {
    named: NamedTarget,
    request: &'a pb::AdmitRequest,
}

impl<'a> TryFrom<&'a pb::AdmitRequest> for AskedCall<'a> {
    type Error = InvalidField;

    fn try_from(request: &'a pb::AdmitRequest) -> Result<Self, InvalidField> {
        let named = named_target(&request.target, &request.tool_name)?;
        name("session_id", &request.session_id)?;
        name("call_id", &request.call_id)?;
        name("credential", &request.credential)?;
        name("caller", &request.caller)?;
        name("idempotency_key", &request.idempotency_key)?;
        name("wave_id", &request.wave_id)?;
        name("task_id", &request.task_id)?;
        name("purpose", &request.purpose)?;
        name("lane", &request.lane)?;
        attempt(request.attempt)?;
        let tool = request.tool_name.len();
        if tool > TOOL_BYTES_MAX {
            let rule = format!("has {tool} bytes, at most {TOOL_BYTES_MAX} are taken");
            return Err(InvalidField::new("tool_name", rule));
        }
        let digest = request.arguments_digest.len();
        if digest > DIGEST_BYTES_MAX {
            let rule = format!("has {digest} bytes, at most {DIGEST_BYTES_MAX} are taken");
            return Err(InvalidField::new("arguments_digest", rule));
        }
        if digest > 0 && !request.arguments.is_empty() {
            return Err(InvalidField::new("arguments_digest", "stands beside arguments: send one of the two"));
        }
        Ok(Self { named, request })
    }
}

impl AskedCall<'_> {
    /// As the engine takes it.
    #[must_use]
    pub fn call(&self) -> Call<'_> {
        let request = self.request;
        let sent = u32::try_from(request.arguments.len()).unwrap_or(u32::MAX);
        let arguments = if !request.arguments.is_empty() {
            Arguments::Bytes(&request.arguments)
        } else if !request.arguments_digest.is_empty() {
            Arguments::Digest(&request.arguments_digest)
        } else {
            Arguments::Unknown
        };
        Call {
            target: &self.named.target,
            target_is_tool: self.named.is_tool,
            id: CallId {
                caller: &request.caller,
                session: &request.session_id,
                call: &request.call_id,
                attempt: request.attempt.max(1),
            },
            arguments,
            arguments_bytes: request.arguments_bytes.or((sent > 0).then_some(sent)),
            credential: &request.credential,
            asked_as: AskedAs {
                tool_name: &request.tool_name,
                effect: request.effect().into(),
                is_idempotent: !request.idempotency_key.is_empty(),
                idempotency_key: &request.idempotency_key,
                wave: &request.wave_id,
                lane: &request.lane,
                turn: request.turn,
                task: &request.task_id,
                purpose: &request.purpose,
                is_approved: request.user_approved,
            },
        }
    }
}

/// A well-formed target of a peek.
pub struct PeekedTarget<'a> {
    named: NamedTarget,
    request: &'a pb::PeekTarget,
}

impl<'a> TryFrom<&'a pb::PeekTarget> for PeekedTarget<'a> {
    type Error = InvalidField;

    fn try_from(request: &'a pb::PeekTarget) -> Result<Self, InvalidField> {
        let named = named_target(&request.target, &request.tool_name)?;
        name("session_id", &request.session_id)?;
        name("credential", &request.credential)?;
        name("caller", &request.caller)?;
        Ok(Self { named, request })
    }
}

impl PeekedTarget<'_> {
    /// As the engine takes it.
    #[must_use]
    pub fn call(&self) -> Call<'_> {
        Call {
            target: &self.named.target,
            target_is_tool: self.named.is_tool,
            id: CallId { caller: &self.request.caller, session: &self.request.session_id, call: "", attempt: 1 },
            arguments: Arguments::Unknown,
            arguments_bytes: None,
            credential: &self.request.credential,
            asked_as: AskedAs::default(),
        }
    }
}

/// A well-formed outcome.
pub struct ReportedOutcome<'a> {
    /// What is reported of which call.
    pub report: Report<'a>,
}

impl<'a> ReportedOutcome<'a> {
    /// Reads an outcome; a payload or arguments may have `payload_bytes_max`.
    ///
    /// # Errors
    /// The first field that is not as the manual says.
    pub fn parse(outcome: &'a pb::Outcome, payload_bytes_max: usize) -> Result<Self, InvalidField> {
        let reported = match &outcome.call {
            None => return Err(InvalidField::new("permit", "is missing: give the permit, or call_ref")),
            Some(pb::outcome::Call::Permit(token)) if token.is_empty() || token.len() > TOKEN_BYTES_MAX => {
                let rule = format!("has {} bytes, 1 to {TOKEN_BYTES_MAX} are taken", token.len());
                return Err(InvalidField::new("permit", rule));
            }
            Some(pb::outcome::Call::Permit(token)) => Reported::Permit(token),
            Some(pb::outcome::Call::CallRef(call)) => {
                Reported::Call(call_id(call).map_err(|invalid| invalid.inside("call_ref"))?)
            }
        };
        let said = said(outcome, payload_bytes_max)?;
        let (tool, arguments) = (outcome.tool_name.len(), outcome.arguments.len());
        if tool > TOOL_BYTES_MAX {
            let rule = format!("has {tool} bytes, at most {TOOL_BYTES_MAX} are taken");
            return Err(InvalidField::new("tool_name", rule));
        }
        if arguments > payload_bytes_max {
            let rule = format!("has {arguments} bytes, at most {payload_bytes_max} are taken");
            return Err(InvalidField::new("arguments", rule));
        }
        let asked_as = AskedAs {
            tool_name: &outcome.tool_name,
            effect: outcome.effect().into(),
            is_idempotent: outcome.idempotent,
            ..AskedAs::default()
        };
        let attempt = attempt(outcome.attempt)?;
        let refused_by = outcome.refused_by().into();
        let step = outcome.binding.as_ref().map(StepOfCall::try_from).transpose();
        let step = step.map_err(|invalid| invalid.inside("binding"))?.map(Box::new);
        let latency_ms = outcome.latency_ms;
        Ok(Self { report: Report { reported, said, latency_ms, asked_as, attempt, refused_by, step } })
    }
}

/// What came of it: the caller's own judgement, or what was seen.
fn said(outcome: &pb::Outcome, payload_bytes_max: usize) -> Result<Said<'_>, InvalidField> {
    use pb::outcome::Result as Judged;
    let sent = match &outcome.payload {
        None => None,
        Some(sent) => Some(payload(sent, payload_bytes_max).map_err(|invalid| invalid.inside("payload"))?),
    };
    let transport = match (&outcome.result, sent) {
        (None, None) if outcome.refused_by() != pb::RefusedBy::Unspecified => {
            return Ok(Said::Judged(Classification::Ignored, None));
        }
        (None, None) => {
            return Err(InvalidField::new("classification", "is missing: give it, or transport facts, or a payload"));
        }
        (Some(Judged::Classification(_)), Some(_)) => {
            return Err(InvalidField::new("payload", "stands beside a classification: send one of the two"));
        }
        (Some(Judged::Classification(own)), None) => {
            let (classification, hint) = own_judgement(own).map_err(|invalid| invalid.inside("classification"))?;
            return Ok(Said::Judged(classification, hint));
        }
        (Some(Judged::Transport(facts)), _) => {
            TransportFacts::try_from(facts).map_err(|invalid| invalid.inside("transport"))?
        }
        (None, Some(_)) => TransportFacts::default(),
    };
    if sent.is_none() && !says_something(&transport) {
        let rule = "says nothing: give http_status, grpc_code, exit_code or error_kind, or a payload";
        return Err(InvalidField::new("http_status", rule).inside("transport"));
    }
    Ok(Said::Seen(Seen {
        transport,
        payload: sent.map(|sent| sent.body.as_slice()),
        content_type: sent.map(|sent| sent.content_type.as_str()).filter(|media| !media.is_empty()),
        arguments: Some(outcome.arguments.as_slice()).filter(|arguments| !arguments.is_empty()),
        is_cut_by_caller: sent.is_some_and(|sent| sent.truncated_by_caller),
    }))
}

fn attempt(attempt: u32) -> Result<Option<u32>, InvalidField> {
    if attempt > ATTEMPT_MAX {
        return Err(InvalidField::new("attempt", format!("is {attempt}, at most {ATTEMPT_MAX} is taken")));
    }
    Ok(Some(attempt).filter(|attempt| *attempt > 0))
}

fn call_id(call: &pb::CallRef) -> Result<CallId<'_>, InvalidField> {
    let required = |path: &str, text: &str| {
        if text.is_empty() {
            Err(InvalidField::new(path, "is empty: give what the call was asked with"))
        } else {
            Ok(())
        }
    };
    required("session_id", &call.session_id)?;
    required("call_id", &call.call_id)?;
    Ok(CallId {
        caller: name("caller", &call.caller)?,
        session: name("session_id", &call.session_id)?,
        call: name("call_id", &call.call_id)?,
        attempt: call.attempt.max(1),
    })
}

type Judged = (Classification, Option<RetryHint>);

fn own_judgement(own: &pb::Classification) -> Result<Judged, InvalidField> {
    use pb::classification::Kind;
    let kind = Option::<CircuitKind>::from(own.kind());
    let hint = own.retry_after_ms.map(|ms| RetryHint { raw_ms: i64::try_from(ms).unwrap_or(i64::MAX) });
    match (own.result(), kind) {
        (Kind::Unspecified, _) => {
            Err(InvalidField::new("result", "is missing: one of KIND_OK, KIND_IGNORED, KIND_FAILED"))
        }
        (Kind::Failed, None) => {
            Err(InvalidField::new("kind", "is missing: a failure says which circuit it counts against"))
        }
        (Kind::Failed, Some(kind)) => Ok((Classification::Failed(kind), hint)),
        (Kind::Ok | Kind::Ignored, Some(_)) => {
            Err(InvalidField::new("kind", "stands beside a result that is no failure: leave it out"))
        }
        (Kind::Ok, None) => Ok((Classification::Ok, None)),
        (Kind::Ignored, None) => Ok((Classification::Ignored, None)),
    }
}

impl From<InvalidField> for pb::ItemError {
    fn from(invalid: InvalidField) -> Self {
        Self { field: invalid.path, message: invalid.rule }
    }
}

impl From<Decision> for pb::AdmitResponse {
    fn from(decision: Decision) -> Self {
        use pb::admit_response::Decision as Answer;
        match decision {
            Decision::Trip(refusal) => {
                Self { decision: Some(Answer::Trip((*refusal).into())), shadow_trip: None, reports: vec![] }
            }
            Decision::Permit { granted, expires_in_ms, shadow } => {
                let Granted { token, is_probe, breaker, notices, .. } = granted;
                let permit = pb::Permit {
                    token: token.to_vec(),
                    probe: is_probe,
                    expires_in_ms,
                    breaker: breaker.as_str().to_owned(),
                    notices: notices
                        .iter()
                        .flat_map(|texts| texts.iter())
                        .map(|text| text.as_str().to_owned())
                        .collect(),
                };
                Self {
                    decision: Some(Answer::Permit(permit)),
                    shadow_trip: shadow.map(|refusal| (*refusal).into()),
                    reports: vec![],
                }
            }
        }
    }
}

impl From<Handed> for pb::ReportAck {
    fn from(handed: Handed) -> Self {
        let Handed { answer, typing, handling, guard, decided } = handed;
        let mut ack = Self::from(answer);
        ack.trip = ack.trip.or_else(|| guard.map(|refusal| (*refusal).into()));
        ack.typing = typing.as_deref().map(Into::into);
        ack.handling = Some(handling.into());
        if let Some(attempt) = decided {
            (ack.next_binding, ack.next_attempt) = next(attempt.decision.next.as_ref());
            ack.set_leaf(attempt.decision.leaf.into());
            ack.set_leaf_reason(attempt.decision.reason.into());
            ack.attempt_id = attempt.id;
        }
        ack
    }
}

impl From<ReportAnswer> for pb::ReportAck {
    fn from(answer: ReportAnswer) -> Self {
        use crate::domain::breaker::Acknowledgement;
        let ReportAnswer { acknowledgement, phase_after, trip } = answer;
        let is_known = acknowledgement != Acknowledgement::Unknown;
        let phase = if is_known { pb::Phase::from(phase_after) } else { pb::Phase::Unspecified };
        Self {
            acknowledgement: pb::Acknowledgement::from(acknowledgement).into(),
            phase_after: phase.into(),
            trip: trip.map(|refusal| (*refusal).into()),
            ..Self::default()
        }
    }
}

impl From<Peeked> for pb::peek_result::Result {
    fn from(peeked: Peeked) -> Self {
        match peeked {
            Peeked::Callable { breaker, is_probe } => {
                Self::Callable(pb::Callable { breaker: breaker.as_str().to_owned(), probe: is_probe })
            }
            Peeked::Trip(refusal) => Self::Trip((*refusal).into()),
        }
    }
}

#[cfg(test)]
mod tests;
