//! `observation.proto`: results on their way in, typings and dispositions on their way out.

use super::invalid::InvalidField;
use super::pb;
use crate::domain::observation::transport::TransportFacts;
use crate::domain::observation::{Format, Handling, Observation, Rule, Typing};

const HEADERS_MAX: usize = 64;
const HEADER_NAME_BYTES_MAX: usize = 128;
const HEADER_VALUE_BYTES_MAX: usize = 1_024;
const CONTENT_TYPE_BYTES_MAX: usize = 256;

/// A payload within its bounds.
pub(super) fn payload(payload: &pb::Payload, bytes_max: usize) -> Result<&pb::Payload, InvalidField> {
    let (got, media) = (payload.body.len(), payload.content_type.len());
    if got > bytes_max {
        let rule = format!("has {got} bytes, at most {bytes_max} are taken: cut it and set truncated_by_caller");
        return Err(InvalidField::new("body", rule));
    }
    if media > CONTENT_TYPE_BYTES_MAX {
        let rule = format!("has {media} bytes, at most {CONTENT_TYPE_BYTES_MAX} are taken");
        return Err(InvalidField::new("content_type", rule));
    }
    Ok(payload)
}

impl TryFrom<&pb::TransportFacts> for TransportFacts {
    type Error = InvalidField;

    fn try_from(facts: &pb::TransportFacts) -> Result<Self, InvalidField> {
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
                Ok(_) | Err(_) => {
                    return Err(InvalidField::new("grpc_code", format!("is {code}, 0 to 16 are taken")));
                }
            },
        };
        Ok(Self {
            carrier: facts.carrier().into(),
            http_status,
            grpc_code,
            exit_code: facts.exit_code,
            error_kind: facts.error_kind().into(),
            headers: headers(facts)?,
        })
    }
}

/// Whether transport facts say anything by themselves.
pub(super) const fn says_something(facts: &TransportFacts) -> bool {
    facts.http_status.is_some() || facts.grpc_code.is_some() || facts.exit_code.is_some() || facts.error_kind.is_some()
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

impl From<&Typing> for pb::Typing {
    fn from(typing: &Typing) -> Self {
        // Nothing was sent along to type, and nothing failed: that it is usable would be a guess. Where something empty
        // was sent along, the status says that it is all there is.
        let is_bare = typing.format == Format::Bare && typing.rule == Rule::Containers;
        let is_untyped = is_bare && typing.observation == Observation::Observed;
        let observation = if is_untyped { pb::Observation::Unspecified } else { typing.observation.into() };
        let signal = typing.kind.map_or(pb::Signal::Unspecified, |kind| kind.signal().into());
        Self {
            observation: observation.into(),
            usable: typing.observation.is_usable() && !is_untyped,
            signal: signal.into(),
            kind: typing.kind.map_or(pb::CircuitKind::Unspecified, Into::into).into(),
            failure_class: typing.failure_class.map_or(pb::FailureClass::Unspecified, Into::into).into(),
            retry_after_ms: typing.hint.map(|hint| u64::try_from(hint.raw_ms).unwrap_or(0)),
            format: typing.format.word().to_owned(),
            rule: typing.rule.word().to_owned(),
            reason: typing.reason.to_owned(),
            total_known: typing.total_known,
            values_degraded: typing.values_degraded,
            digest: typing.digest.clone(),
        }
    }
}

impl From<Handling> for pb::Handling {
    fn from(handling: Handling) -> Self {
        Self {
            disposition: pb::Disposition::from(handling.disposition).into(),
            after_ms: handling.after_ms,
            text: handling.text.unwrap_or_default(),
        }
    }
}
