//! One log line an event: phase changes loud, single calls quiet, nothing of what agents send.

use tracing::{debug, info, warn};

use crate::domain::behaviour::{Conclusion, Fact, SessionEnd};
use crate::domain::event::{Event, Happening, Opening, SteerThenHalt, Told};
use crate::domain::time::Span;

/// Writes an event to the log. A trip is a warning, with what a person at night needs to know; refusals are for
/// debugging, as there may be one for every call.
pub fn event(event: &Event) {
    let (seq, breaker, scope) = (event.seq, event.breaker.as_str(), &*event.scope);
    let kind = event.kind.map_or("", crate::domain::signal::CircuitKind::word);
    let generation = event.generation;
    match &event.what {
        Happening::Tripped(opening) => tripped(event, opening),
        Happening::Refused(told) => refused(event, told, "refused"),
        Happening::Steered(told) => refused(event, told, "steered"),
        Happening::Halted { told, steered } => {
            refused(event, told, "halted");
            if let Some(SteerThenHalt { count, alert_at }) = steered.filter(|steered| steered.count == steered.alert_at)
            {
                warn!(seq, breaker, count, alert_at, "steers of a session keep ending in halts");
            }
        }
        Happening::ShadowRefused(told) => refused(event, told, "would have refused, in shadow"),
        Happening::Reviewed { verdict, rule } => {
            let rule = rule.map_or("", crate::domain::session::review::ReviewRule::word);
            debug!(seq, verdict = verdict.word(), rule, "an answer was reviewed");
        }
        Happening::FollowedUp(fact) => followed_up(event, fact),
        Happening::Probing => info!(seq, breaker, scope, kind, generation, "half_open: a probe is out"),
        Happening::ProbeLost => warn!(seq, breaker, scope, kind, generation, "a probe was not reported in time"),
        Happening::Recovered => info!(seq, breaker, scope, kind, generation, "closed: the target answers well again"),
        Happening::Overridden { mode, owner } => {
            warn!(seq, breaker, scope, kind, mode = mode.word(), owner = &**owner, "an operator set an override");
        }
        Happening::Released { owner } => {
            info!(seq, breaker, scope, kind, owner = &**owner, "an override ended");
        }
        Happening::Reset { from } => {
            warn!(seq, breaker, scope, kind, generation, from = from.word(), "an operator reset the circuit");
        }
        Happening::ConfigChanged { version } => info!(seq, breaker, version, "another policy is in force"),
        Happening::Removed { .. } => info!(seq, breaker, scope, kind, "ended by the configuration"),
        Happening::Overflowed => warn!(seq, breaker, "no room for a new target: it shares the overflow circuit"),
        Happening::Evicted => debug!(seq, breaker, scope, "an idle target made room"),
        Happening::Stale => debug!(seq, breaker, "a report came for a phase that is gone"),
        Happening::Duplicate => debug!(seq, breaker, "a report came again"),
        Happening::Expired => debug!(seq, breaker, "a report came after its permit had ended"),
        Happening::Unknown => debug!(seq, breaker, "a report came for a target that is gone"),
        Happening::Admitted { is_probe } => debug!(seq, breaker, is_probe, "admitted"),
        Happening::Recorded => debug!(seq, breaker, "recorded"),
    }
}

fn tripped(event: &Event, opening: &Opening) {
    let open_for = opening.open_for_ms.map_or_else(|| "until released".to_owned(), |ms| Span(ms).to_string());
    warn!(
        seq = event.seq,
        breaker = event.breaker.as_str(),
        scope = &*event.scope,
        kind = event.kind.map_or("", crate::domain::signal::CircuitKind::word),
        generation = event.generation,
        from = opening.from.word(),
        observed = opening.observed.to_string(),
        threshold = opening.threshold.to_string(),
        open_for,
        level = opening.level,
        hint_ms = opening.hint_ms,
        hint_clamped = opening.hint_clamped,
        "open: calls are refused"
    );
}

fn followed_up(event: &Event, fact: &Fact) {
    let (seq, breaker) = (event.seq, event.breaker.as_str());
    let (signal, variant) = fact.label().map_or(("", ""), |label| (label.signal.word(), label.variant.as_str()));
    match fact {
        Fact::Told(_, action) => debug!(seq, breaker, signal, variant, action = action.word(), "told"),
        Fact::Concluded(conclusion) => {
            let Conclusion { first_action, repeats, ignored, .. } = &**conclusion;
            let first_action = first_action.word();
            debug!(seq, breaker, signal, variant, first_action, repeats, ignored, "concluded: what the model did");
        }
        Fact::Resolved { resolution, turns, .. } => {
            debug!(seq, breaker, signal, variant, resolution = resolution.word(), turns, "resolved: how it ended");
        }
        Fact::Ended(end) => {
            let SessionEnd { outcome, success, halts, steers, steer_then_halts, .. } = &**end;
            debug!(seq, outcome = outcome.word(), success, halts, steers, steer_then_halts, "a session ended");
        }
    }
}

fn refused(event: &Event, told: &Told, what: &str) {
    debug!(
        seq = event.seq,
        breaker = event.breaker.as_str(),
        scope = &*event.scope,
        kind = event.kind.map_or("", crate::domain::signal::CircuitKind::word),
        generation = event.generation,
        signal = told.signal.word(),
        action = told.action.word(),
        urgency = told.urgency.word(),
        phase = told.phase.word(),
        observed = told.observed.to_string(),
        threshold = told.threshold.to_string(),
        "{what}"
    );
}
