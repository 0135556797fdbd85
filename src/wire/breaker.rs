//! `breaker.proto`: calls and outcomes on their way in, decisions and acknowledgements on their way out.

use super::invalid::{InvalidField, name};
use super::pb;
use crate::domain::ids::{InvalidTarget, TargetName};
use crate::domain::observation::transport::TransportFacts;
use crate::domain::observation::{CallResult, Classification, RetryHint};
use crate::domain::signal::{CircuitKind, Phase};
use crate::engine::{Arguments, Call, CallId, Decision, Granted, Peeked, ReportAnswer, Reported};

const ATTEMPT_MAX: u32 = 1_000_000;
const DIGEST_BYTES_MAX: usize = 64;
const HEADERS_MAX: usize = 64;
const HEADER_NAME_BYTES_MAX: usize = 128;
const HEADER_VALUE_BYTES_MAX: usize = 1_024;
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
        if request.attempt > ATTEMPT_MAX {
            return Err(InvalidField::new(
                "attempt",
                format!("is {}, at most {ATTEMPT_MAX} is taken", request.attempt),
            ));
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
        }
    }
}

/// A well-formed outcome.
pub struct ReportedOutcome<'a> {
    /// Of which call.
    pub reported: Reported<'a>,
    /// How it went.
    pub result: CallResult,
}

impl<'a> ReportedOutcome<'a> {
    /// Reads an outcome; `now_unix_ms` stands in for the date that an answer did not carry.
    ///
    /// # Errors
    /// The first field that is not as the manual says.
    pub fn parse(outcome: &'a pb::Outcome, now_unix_ms: u64) -> Result<Self, InvalidField> {
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
        let (classification, hint) = match &outcome.result {
            None => return Err(InvalidField::new("classification", "is missing: give it, or transport facts")),
            Some(pb::outcome::Result::Classification(own)) => {
                own_judgement(own).map_err(|invalid| invalid.inside("classification"))?
            }
            Some(pb::outcome::Result::Transport(facts)) => {
                of_transport(facts, now_unix_ms).map_err(|invalid| invalid.inside("transport"))?
            }
        };
        Ok(Self { reported, result: CallResult { classification, latency_ms: outcome.latency_ms, hint } })
    }
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

fn of_transport(facts: &pb::TransportFacts, now_unix_ms: u64) -> Result<Judged, InvalidField> {
    let http_status = match facts.http_status {
        None => None,
        Some(status) => match u16::try_from(status) {
            Ok(status @ 100..=599) => Some(status),
            Ok(_) | Err(_) => {
                return Err(InvalidField::new("http_status", format!("is {status}, 100 to 599 are taken")));
            }
        },
    };
    let grpc_code = match facts.grpc_code {
        None => None,
        Some(code) => match u8::try_from(code) {
            Ok(code @ 0..=16) => Some(code),
            Ok(_) | Err(_) => return Err(InvalidField::new("grpc_code", format!("is {code}, 0 to 16 are taken"))),
        },
    };
    let read =
        TransportFacts { http_status, grpc_code, error_kind: facts.error_kind().into(), headers: headers(facts)? };
    let rule = "says nothing: give http_status, grpc_code or error_kind";
    let classification = read.classification().ok_or_else(|| InvalidField::new("http_status", rule))?;
    Ok((classification, read.hint(now_unix_ms)))
}

fn headers(facts: &pb::TransportFacts) -> Result<Vec<(String, String)>, InvalidField> {
    if facts.headers.len() > HEADERS_MAX {
        let rule = format!("has {} entries, at most {HEADERS_MAX} are taken", facts.headers.len());
        return Err(InvalidField::new("headers", rule));
    }
    let pair = |(at, header): (usize, &pb::Header)| {
        let fits =
            (1..=HEADER_NAME_BYTES_MAX).contains(&header.name.len()) && header.value.len() <= HEADER_VALUE_BYTES_MAX;
        let rule = format!("a name has 1 to {HEADER_NAME_BYTES_MAX} bytes, a value at most {HEADER_VALUE_BYTES_MAX}");
        if fits {
            Ok((header.name.clone(), header.value.clone()))
        } else {
            Err(InvalidField::new(format!("headers[{at}]"), rule))
        }
    };
    facts.headers.iter().enumerate().map(pair).collect()
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
                let Granted { token, is_probe, breaker, .. } = granted;
                let permit = pb::Permit {
                    token: token.to_vec(),
                    probe: is_probe,
                    expires_in_ms,
                    breaker: breaker.as_str().to_owned(),
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

impl From<ReportAnswer> for pb::ReportAck {
    fn from(answer: ReportAnswer) -> Self {
        use crate::domain::breaker::Acknowledgement;
        let is_known = answer.acknowledgement != Acknowledgement::Unknown;
        let phase = |phase: Phase| if is_known { pb::Phase::from(phase) } else { pb::Phase::Unspecified };
        Self {
            acknowledgement: pb::Acknowledgement::from(answer.acknowledgement).into(),
            phase_after: phase(answer.phase_after).into(),
            trip: answer.trip.map(|refusal| (*refusal).into()),
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
