//! `operator.proto`: circuits and events on their way out, names and holds on their way in.

use super::contract::utc;
use super::invalid::InvalidField;
use super::pb;
use crate::domain::breaker::CircuitView;
use crate::domain::breaker::overrides::{Hold, OverrideMode};
use crate::domain::contract::budget::OWNER_BYTES_MAX;
use crate::domain::event::{Event, Happening, Opening, Told};
use crate::domain::ids::{Code, SafeText};
use crate::domain::signal::Phase;
use crate::domain::time::{Timestamp, WallClock};
use crate::engine::operate::{CircuitName, Cursor, Listed};

const SCOPE_BYTES_MAX: usize = 640;
const REASON_BYTES_MAX: usize = 200;

impl TryFrom<Option<pb::CircuitName>> for CircuitName {
    type Error = InvalidField;

    fn try_from(name: Option<pb::CircuitName>) -> Result<Self, InvalidField> {
        let name = name.ok_or_else(|| InvalidField::new("", "is missing: give at least the breaker's code"))?;
        let breaker =
            Code::parse(&name.breaker).map_err(|invalid| InvalidField::new("breaker", invalid.to_string()))?;
        if name.scope.len() > SCOPE_BYTES_MAX {
            let rule = format!("has {} bytes, at most {SCOPE_BYTES_MAX} are taken", name.scope.len());
            return Err(InvalidField::new("scope", rule));
        }
        let kind = name.kind().into();
        Ok(Self { breaker, scope: Some(name.scope).filter(|scope| !scope.is_empty()), kind })
    }
}

/// Reads who holds a circuit.
///
/// # Errors
/// Where it is empty, too long, or of other characters than may reach a model.
pub fn owner(text: &str) -> Result<SafeText, InvalidField> {
    let is_plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'@' | b'-'));
    if (1..=OWNER_BYTES_MAX).contains(&text.len()) && is_plain {
        Ok(SafeText::cut(text, OWNER_BYTES_MAX))
    } else {
        Err(InvalidField::new("owner", "1 to 40 of A-Z, a-z, 0-9 and the marks . _ @ - are taken"))
    }
}

/// Reads why a circuit is held.
///
/// # Errors
/// Where it is too long.
pub fn reason(text: &str) -> Result<SafeText, InvalidField> {
    if text.len() <= REASON_BYTES_MAX {
        Ok(SafeText::cut(text, REASON_BYTES_MAX))
    } else {
        Err(InvalidField::new("reason", format!("has {} bytes, at most {REASON_BYTES_MAX} are taken", text.len())))
    }
}

/// Reads an override's mode.
///
/// # Errors
/// Where none is given.
pub fn mode(mode: pb::OverrideMode) -> Result<OverrideMode, InvalidField> {
    let rule = "is missing: one of force_open, force_closed, shadow";
    Option::from(mode).ok_or_else(|| InvalidField::new("mode", rule))
}

/// The text of a cursor.
#[must_use]
pub fn page_token(cursor: Cursor) -> String {
    format!("{}.{}.{}", cursor.shard, cursor.place, cursor.skip)
}

/// Reads the text of a cursor; empty is the beginning.
///
/// # Errors
/// Where it is none of ours.
pub fn cursor(token: &str) -> Result<Cursor, InvalidField> {
    if token.is_empty() {
        return Ok(Cursor::default());
    }
    let numbers: Option<Vec<usize>> = token.split('.').map(|part| part.parse().ok()).collect();
    match numbers.as_deref() {
        Some([shard, place, skip]) => Ok(Cursor { shard: *shard, place: *place, skip: *skip }),
        Some(_) | None => Err(InvalidField::new("page_token", "is none of ours: give it as the page before did")),
    }
}

/// A circuit as a list shows it.
#[must_use]
pub fn circuit(listed: Listed, now: Timestamp, wall: WallClock) -> pb::Circuit {
    let Listed { breaker, view, contract } = listed;
    let CircuitView {
        scope, kind, phase, is_probe_ready, generation, open_until, level, cause, failed, results, ..
    } = view;
    let (observed, threshold) = cause.map_or_else(Default::default, |(o, t, _)| (o.to_string(), t.to_string()));
    let mode = view.mask.map_or(pb::OverrideMode::Unspecified, |mask| mask.mode.into());
    let kind = kind.map_or(pb::CircuitKind::Unspecified, Into::into);
    pb::Circuit {
        name: Some(pb::CircuitName { breaker: breaker.as_str().to_owned(), scope, kind: kind.into() }),
        phase: pb::Phase::from(phase).into(),
        probe_ready: is_probe_ready,
        generation: u64::from(generation),
        open_until: open_until.and_then(|at| utc(at, wall)),
        retry_after_ms: view.retry_at.map(|at| at.since_ms(now).max(1)),
        backoff_level: u32::from(level),
        observed,
        threshold,
        failed,
        results,
        probes_in_flight: u32::try_from(view.probes_in_flight).unwrap_or(u32::MAX),
        override_mode: mode.into(),
        holds: view.holds.iter().map(|hold| held(hold, wall)).collect(),
        shadow_percent: u32::from(view.shadow_percent),
        last_seen_ms_ago: now.since_ms(view.last_seen),
        contract: contract.map(Into::into),
    }
}

fn held(hold: &Hold, wall: WallClock) -> pb::OverrideHold {
    pb::OverrideHold {
        owner: hold.owner.as_str().to_owned(),
        reason: hold.reason.as_str().to_owned(),
        expires_at: hold.expires_at.and_then(|at| utc(at, wall)),
        mode: pb::OverrideMode::from(hold.mode).into(),
    }
}

/// Events that a reader lost.
#[must_use]
pub fn gap(lost: u64, next_seq: u64, incarnation: u64) -> pb::Event {
    let event_kind = pb::EventKind::Gap.into();
    pb::Event { seq: next_seq.saturating_sub(1), incarnation, event_kind, lost, ..Default::default() }
}

/// An event as a watcher sees it.
#[must_use]
pub fn event(event: &Event, incarnation: u64, wall: WallClock) -> pb::Event {
    use pb::EventKind as E;
    let base = pb::Event {
        seq: event.seq,
        incarnation,
        at: utc(event.at, WallClock { trusted: true, ..wall }),
        breaker: event.breaker.as_str().to_owned(),
        scope: event.scope.to_string(),
        kind: event.kind.map_or(pb::CircuitKind::Unspecified, Into::into).into(),
        generation: u64::from(event.generation),
        ..Default::default()
    };
    let of = |kind: E| pb::Event { event_kind: kind.into(), ..base.clone() };
    let moved = |kind: E, from: Phase, to: Phase| pb::Event {
        from_phase: pb::Phase::from(from).into(),
        to_phase: pb::Phase::from(to).into(),
        ..of(kind)
    };
    match &event.what {
        Happening::Admitted { .. } => of(E::Admitted),
        Happening::Recorded => of(E::Recorded),
        Happening::Refused(told) => with_told(of(E::Refused), told),
        Happening::Steered(told) => with_told(of(E::Steered), told),
        Happening::Halted { told, steered } => pb::Event {
            steer_then_halts: steered.map_or(0, |steered| steered.count),
            alert_steer_then_halt: steered.map_or(0, |steered| steered.alert_at),
            ..with_told(of(E::Halted), told)
        },
        Happening::Reviewed { verdict, rule } => pb::Event {
            review_verdict: pb::ReviewVerdict::from(*verdict).into(),
            review_rule: rule.map_or(pb::ReviewRule::Unspecified, Into::into).into(),
            ..of(E::Reviewed)
        },
        Happening::ShadowRefused(told) => with_told(of(E::ShadowRefused), told),
        Happening::FollowedUp(fact) => super::behaviour::event(base, fact),
        Happening::Tripped(opening) => with_opening(moved(E::Tripped, opening.from, Phase::Open), opening),
        Happening::Probing => moved(E::Probing, Phase::Open, Phase::HalfOpen),
        Happening::ProbeLost => of(E::ProbeLost),
        Happening::Recovered => moved(E::Recovered, Phase::HalfOpen, Phase::Closed),
        Happening::Stale => of(E::Stale),
        Happening::Duplicate => of(E::Duplicate),
        Happening::Expired => of(E::Expired),
        Happening::Unknown => of(E::Unknown),
        Happening::Overridden { owner, .. } => pb::Event { owner: owner.to_string(), ..of(E::Overridden) },
        Happening::Released { owner } => pb::Event { owner: owner.to_string(), ..of(E::Released) },
        Happening::Reset { from } => moved(E::Reset, *from, Phase::Closed),
        Happening::ConfigChanged { version } => pb::Event { config_version: *version, ..of(E::ConfigChanged) },
        Happening::Removed { .. } => of(E::Removed),
        Happening::Evicted => of(E::Evicted),
        Happening::Overflowed => of(E::Overflowed),
    }
}

fn with_told(event: pb::Event, told: &Told) -> pb::Event {
    pb::Event {
        observed: told.observed.to_string(),
        threshold: told.threshold.to_string(),
        action: pb::Action::from(told.action).into(),
        urgency: pb::Urgency::from(told.urgency).into(),
        ..event
    }
}

fn with_opening(event: pb::Event, opening: &Opening) -> pb::Event {
    pb::Event {
        observed: opening.observed.to_string(),
        threshold: opening.threshold.to_string(),
        open_for_ms: opening.open_for_ms.unwrap_or(0),
        level: u32::from(opening.level),
        hint_ms: opening.hint_ms,
        hint_clamped: opening.hint_clamped,
        ..event
    }
}
