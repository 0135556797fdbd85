//! `failure.proto`: failed attempts of steps on their way in, attempts as they are kept on their way out.

use super::contract::utc;
use super::invalid::{InvalidField, name};
use super::pb;
use crate::domain::failure::attempts::{Attempt, Sketch};
use crate::domain::failure::binding::{Binding, Next};
use crate::domain::failure::confirmed::HOSTS_MAX;
use crate::domain::failure::names::{HostName, InvalidName, RouteName, SketchRef, SnapshotId, StepName};
use crate::domain::failure::record::{AttemptRecord, MissingBits, RawRecord};
use crate::domain::ids::SafeText;
use crate::domain::time::WallClock;
use crate::engine::StepOfCall;
use crate::engine::failure::{KeptAttempts, Step};

const ATTEMPT_MAX: u32 = 1_000_000;
const CLASS_BYTES_MAX: usize = 64;

/// A well-formed question about a failed attempt.
pub struct AskedStep<'a> {
    /// Who asks.
    pub caller: &'a str,
    /// The step and its binding.
    pub step: Step,
    /// What failed.
    pub record: AttemptRecord,
}

impl<'a> TryFrom<&'a pb::DecideRequest> for AskedStep<'a> {
    type Error = InvalidField;

    fn try_from(request: &'a pb::DecideRequest) -> Result<Self, InvalidField> {
        let missing = |path: &str, rule: &str| InvalidField::new(path, format!("is missing: give {rule}"));
        let at = request.binding.as_ref().ok_or_else(|| missing("binding", "host, route and snapshot"))?;
        let record = request.record.as_ref().ok_or_else(|| missing("record", "what failed"))?;
        let step = Step {
            name: step_name(&request.step)?,
            binding: Binding::try_from(at).map_err(|invalid| invalid.inside("binding"))?,
            published_at: published_at(&request.published_at)?,
            sketch: sketch_ref(&request.sketch)?,
        };
        let record = AttemptRecord::try_from(record).map_err(|invalid| invalid.inside("record"))?;
        Ok(Self { caller: name("caller", &request.caller)?, step, record })
    }
}

/// Reads the name of a step.
///
/// # Errors
/// Where it is empty, too long, or cannot be seen whole.
pub fn step_name(text: &str) -> Result<StepName, InvalidField> {
    StepName::parse(text).map_err(|invalid| named("step", &invalid))
}

/// Reads who asks.
///
/// # Errors
/// Where the name is too long.
pub fn caller(text: &str) -> Result<&str, InvalidField> {
    name("caller", text)
}

fn named(path: &str, invalid: &InvalidName) -> InvalidField {
    InvalidField::new(path, invalid.to_string())
}

fn published_at(hosts: &[String]) -> Result<Vec<HostName>, InvalidField> {
    if hosts.len() > HOSTS_MAX {
        let rule = format!("has {} hosts, at most {HOSTS_MAX} are taken", hosts.len());
        return Err(InvalidField::new("published_at", rule));
    }
    let host = |(at, host): (usize, &String)| {
        HostName::parse(host).map_err(|invalid| named(&format!("published_at[{at}]"), &invalid))
    };
    hosts.iter().enumerate().map(host).collect()
}

fn sketch_ref(text: &str) -> Result<Option<SketchRef>, InvalidField> {
    if text.is_empty() {
        return Ok(None);
    }
    SketchRef::parse(text).map(Some).map_err(|invalid| named("sketch", &invalid))
}

fn binding([host, route, snapshot]: [&str; 3]) -> Result<Binding, InvalidField> {
    Ok(Binding {
        host: HostName::parse(host).map_err(|invalid| named("host", &invalid))?,
        route: RouteName::parse(route).map_err(|invalid| named("route", &invalid))?,
        snapshot: SnapshotId::parse(snapshot).map_err(|invalid| named("snapshot", &invalid))?,
    })
}

impl TryFrom<&pb::StepBinding> for Binding {
    type Error = InvalidField;

    fn try_from(at: &pb::StepBinding) -> Result<Self, InvalidField> {
        binding([&at.host, &at.route, &at.snapshot])
    }
}

impl TryFrom<&pb::AttemptRecord> for AttemptRecord {
    type Error = InvalidField;

    fn try_from(record: &pb::AttemptRecord) -> Result<Self, InvalidField> {
        let (class, attempt) = (record.failure_class.len(), record.attempt);
        if class > CLASS_BYTES_MAX {
            let rule = format!("has {class} bytes, at most {CLASS_BYTES_MAX} are taken");
            return Err(InvalidField::new("failure_class", rule));
        }
        if attempt > ATTEMPT_MAX {
            return Err(InvalidField::new("attempt", format!("is {attempt}, at most {ATTEMPT_MAX} is taken")));
        }
        let raw = RawRecord {
            failure_class: &record.failure_class,
            attempt,
            writes: record.writes,
            tools_enabled: record.tools_enabled,
            snapshot_same: record.snapshot_same,
            effect_unknown: record.effect_unknown,
            has_idempotency_key: record.has_idempotency_key,
            policy_denied: record.policy_denied,
        };
        raw.parse().map_err(|missing| missing_bits(&missing))
    }
}

/// On the first of them; the words name all.
fn missing_bits(missing: &MissingBits) -> InvalidField {
    InvalidField::new(missing.fields().first().copied().unwrap_or_default(), missing.to_string())
}

impl TryFrom<&pb::Binding> for StepOfCall {
    type Error = InvalidField;

    fn try_from(of: &pb::Binding) -> Result<Self, InvalidField> {
        let bits = RawRecord {
            writes: of.writes,
            tools_enabled: of.tools_enabled,
            snapshot_same: of.snapshot_same,
            ..RawRecord::default()
        };
        let step = Step {
            name: step_name(&of.step)?,
            binding: binding([&of.host, &of.route, &of.snapshot])?,
            published_at: published_at(&of.published_at)?,
            sketch: sketch_ref(&of.sketch)?,
        };
        let bits = bits.parse().map_err(|missing| missing_bits(&missing))?;
        Ok(Self {
            step,
            writes: bits.writes,
            tools_enabled: bits.tools_enabled,
            snapshot_same: bits.snapshot_same,
            effect_unknown: of.effect_unknown,
            policy_denied: of.policy_denied,
        })
    }
}

impl From<&Binding> for pb::StepBinding {
    fn from(binding: &Binding) -> Self {
        Self {
            host: binding.host.as_str().to_owned(),
            route: binding.route.as_str().to_owned(),
            snapshot: binding.snapshot.as_str().to_owned(),
        }
    }
}

impl From<&AttemptRecord> for pb::AttemptRecord {
    fn from(record: &AttemptRecord) -> Self {
        Self {
            failure_class: record.failure_class.map_or_else(String::new, |class| class.word().to_owned()),
            attempt: record.attempt,
            writes: Some(record.writes),
            tools_enabled: Some(record.tools_enabled),
            snapshot_same: Some(record.snapshot_same),
            effect_unknown: record.effect_unknown,
            has_idempotency_key: record.has_idempotency_key,
            policy_denied: record.policy_denied,
        }
    }
}

/// Where the next attempt runs, and which one it is.
pub(super) fn next(next: Option<&Next>) -> (Option<pb::StepBinding>, u32) {
    (next.map(|next| (&next.binding).into()), next.map_or(0, |next| next.attempt))
}

/// An attempt as it is kept; times by the wall clock.
#[must_use]
pub fn attempt(attempt: &Attempt, wall: WallClock) -> pb::Attempt {
    let Attempt { id, chain, after, at, step, binding, record, decision, cap_raised_because, sketch } = attempt;
    let (next_binding, next_attempt) = next(decision.next.as_ref());
    pb::Attempt {
        id: *id,
        chain: *chain,
        after: *after,
        at: utc(*at, wall),
        step: step.name.as_str().to_owned(),
        binding: Some(binding.into()),
        record: Some(record.into()),
        leaf: pb::Leaf::from(decision.leaf).into(),
        row: decision.row.number().map_or(0, u32::from),
        reason: pb::LeafReason::from(decision.reason).into(),
        next_binding,
        next_attempt,
        needs_review: decision.next.is_none(),
        cap_raised_because: cap_raised_because.as_ref().map_or("", SafeText::as_str).to_owned(),
        sketch: sketch.as_ref().map(|Sketch { reference, accepted_at }| pb::Sketch {
            reference: reference.as_ref().map_or("", SketchRef::as_str).to_owned(),
            accepted: accepted_at.is_some(),
            accepted_at: accepted_at.and_then(|at| utc(at, wall)),
        }),
    }
}

/// The attempts of a step; times by the wall clock.
#[must_use]
pub fn kept(kept: &KeptAttempts, wall: WallClock) -> pb::ListAttemptsResponse {
    let attempts = kept.attempts.iter().map(|one| attempt(one, wall)).collect();
    pb::ListAttemptsResponse { attempts, dropped: kept.dropped }
}
