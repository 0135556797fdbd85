//! `contract.proto`: refusals on their way out.

use prost_types::Timestamp as PbTimestamp;

use super::pb;
use crate::domain::contract::Trip;
use crate::domain::time::{Timestamp, WallClock};
use crate::engine::Refusal;

/// A moment as UTC; none where the wall clock is not trusted.
#[must_use]
pub fn utc(at: Timestamp, wall: WallClock) -> Option<PbTimestamp> {
    if !wall.trusted {
        return None;
    }
    let unix_ms = wall.unix_ms(at);
    let seconds = i64::try_from(unix_ms / 1_000).ok()?;
    let nanos = i32::try_from(unix_ms % 1_000 * 1_000_000).ok()?;
    Some(PbTimestamp { seconds, nanos })
}

impl From<Refusal> for pb::Trip {
    fn from(refusal: Refusal) -> Self {
        let Refusal { trip, fields, rendered, wording, now, wall, withdraw } = refusal;
        let Trip { contract, retry_at, also_open, generation, event_seq, facts } = &*trip;
        let breaker = fields.breaker.clone();
        let target_of_fallback = contract.fallback.as_ref().and_then(|fallback| fallback.target.as_ref());
        Self {
            action: pb::Action::from(contract.row.action).into(),
            breaker: fields.breaker,
            target: fields.target,
            signal: pb::Signal::from(contract.row.signal).into(),
            observed: fields.observed,
            threshold: fields.threshold,
            state: fields.state,
            do_not: fields.do_not,
            fallback: fields.fallback,
            text: rendered.text,
            variant: pb::Variant::from(&wording).into(),
            urgency: pb::Urgency::from(contract.row.urgency).into(),
            retry_at: retry_at.and_then(|at| utc(at, wall)),
            retry_after_ms: retry_at.map(|at| at.since_ms(now).max(1)),
            also_open: also_open
                .iter()
                .map(|also| pb::AlsoOpen {
                    kind: pb::CircuitKind::from(also.kind).into(),
                    phase: pb::Phase::from(also.phase).into(),
                    breaker: breaker.clone(),
                    scope: also.scope.to_string(),
                    retry_after_ms: also.retry_at.map(|at| at.since_ms(now).max(1)),
                })
                .collect(),
            generation: u64::from(*generation),
            event_seq: *event_seq,
            facts: Some(pb::Facts {
                failed: facts.failed,
                results: facts.results,
                window_ms: facts.window_ms,
                max_argument_bytes: contract.max_argument_bytes,
            }),
            withdraw: withdraw.iter().map(|tool| tool.as_str().to_owned()).collect(),
            variant_name: wording.name().to_owned(),
            fallback_target: target_of_fallback.map_or_else(String::new, |target| target.as_str().to_owned()),
        }
    }
}
