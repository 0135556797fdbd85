//! `behaviour.proto`: what models did with what they were told, on its way out.

use std::collections::BTreeMap;

use super::pb;
use crate::domain::behaviour::figures::{Figures, TURNS_PLACES};
use crate::domain::behaviour::statistics::{self, Measure, Sample, Share, Verdict};
use crate::domain::behaviour::{Fact, FirstAction, Label, Resolution, SessionOutcome};
use crate::domain::ids::Code;
use crate::domain::signal::Signal;
use crate::engine::behaviour::{Behaviour, Part};

/// A fact as a watcher sees it.
#[must_use]
pub fn event(base: pb::Event, fact: &Fact) -> pb::Event {
    use pb::EventKind as E;
    let of = |kind: E| pb::Event { event_kind: kind.into(), ..base.clone() };
    match fact {
        Fact::Told(label, action) => {
            pb::Event { action: pb::Action::from(*action).into(), ..labelled(of(E::Told), label) }
        }
        Fact::Concluded(conclusion) => pb::Event {
            action: pb::Action::from(conclusion.action).into(),
            first_action: pb::FirstAction::from(conclusion.first_action).into(),
            repeats: conclusion.repeats,
            ignored: conclusion.ignored,
            ..labelled(of(E::Concluded), &conclusion.label)
        },
        Fact::Resolved { label, resolution, turns } => pb::Event {
            resolution: pb::Resolution::from(*resolution).into(),
            turns: *turns,
            ..labelled(of(E::Resolved), label)
        },
        Fact::Ended(end) => pb::Event {
            outcome: pb::SessionOutcome::from(end.outcome).into(),
            success: end.success,
            halts: end.halts,
            steer_then_halts: end.steer_then_halts,
            ..of(E::SessionEnded)
        },
    }
}

fn labelled(event: pb::Event, label: &Label) -> pb::Event {
    let variant = label.variant.as_str().to_owned();
    pb::Event { signal: pb::Signal::from(label.signal).into(), variant, ..event }
}

/// All figures, by breaker; `open` sessions are there now.
#[must_use]
pub fn figures(behaviour: &Behaviour, open: usize) -> pb::GetBehaviourResponse {
    let mut breakers: BTreeMap<&Code, pb::BreakerBehaviour> = BTreeMap::new();
    let mut wordings: BTreeMap<&Code, Vec<OfWording<'_>>> = BTreeMap::new();
    for (part, figures) in &behaviour.parts {
        let Part { breaker: code, signal, variant } = part;
        let breaker = breakers
            .entry(code)
            .or_insert_with(|| pb::BreakerBehaviour { breaker: code.as_str().to_owned(), ..Default::default() });
        if signal.is_none() {
            wordings.entry(code).or_default().push((variant, figures));
        }
        let list = if signal.is_some() { &mut breaker.by_signal } else { &mut breaker.variants };
        list.push(of_variant(variant, *signal, figures));
    }
    for (code, breaker) in &mut breakers {
        breaker.comparisons = comparisons(wordings.get(code).map_or(&[][..], Vec::as_slice));
    }
    let sessions = &behaviour.sessions;
    pb::GetBehaviourResponse {
        breakers: breakers.into_values().collect(),
        sessions: Some(pb::SessionTotals {
            open: u64::try_from(open).unwrap_or(u64::MAX),
            answered: sessions.outcome(SessionOutcome::Answered),
            escalated: sessions.outcome(SessionOutcome::Escalated),
            halted: sessions.outcome(SessionOutcome::Halted),
            abandoned: sessions.outcome(SessionOutcome::Abandoned),
            with_halts: sessions.with_halts,
            with_steers: sessions.with_steers,
            successful: sessions.successful,
            false_halts: sessions.false_halts,
        }),
    }
}

fn of_variant(variant: &Code, signal: Option<Signal>, figures: &Figures) -> pb::VariantBehaviour {
    pb::VariantBehaviour {
        variant: variant.as_str().to_owned(),
        signal: signal.map_or(pb::Signal::Unspecified, Into::into).into(),
        trips: figures.told,
        concluded: figures.concluded(),
        sessions: figures.repeated.clusters.sessions,
        first_actions: Some(pb::FirstActions {
            r#match: figures.first_action(FirstAction::Match),
            repeat: figures.first_action(FirstAction::Repeat),
            other: figures.first_action(FirstAction::Other),
            none: figures.first_action(FirstAction::None),
        }),
        repeated_trips: figures.repeated.counted.hits,
        repeats: figures.repeats,
        ignored_trips: figures.ignored_trips,
        ignored: figures.ignored,
        repeat_rate: Some(share(&figures.repeated)),
        first_action_match: Some(share(&figures.matched)),
        resolutions: Some(pb::Resolutions {
            recovered: figures.resolution(Resolution::Recovered),
            halted: figures.resolution(Resolution::Halted),
            abandoned: figures.resolution(Resolution::Abandoned),
            superseded: figures.resolution(Resolution::Superseded),
        }),
        turns_to_recovery: Some(turns(&figures.turns)),
        halted_sessions: figures.halted_sessions,
        false_halts: figures.false_halts,
    }
}

fn turns(trips: &[u64; TURNS_PLACES]) -> pb::Turns {
    let used = trips.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    let quartiles = statistics::quartiles(trips);
    pb::Turns {
        trips: trips.iter().take(used).copied().collect(),
        first_quartile: quartiles.map(|of| of.first),
        median: quartiles.map(|of| of.median),
        third_quartile: quartiles.map(|of| of.third),
    }
}

fn share(sample: &Sample) -> pb::Share {
    let Share { value, low, high, effective_trips } = sample.share();
    pb::Share { value, low, high, effective_trips }
}

/// One wording's figures.
type OfWording<'a> = (&'a Code, &'a Figures);

/// Every two variants of a breaker, by each measure.
fn comparisons(variants: &[OfWording<'_>]) -> Vec<pb::Comparison> {
    let mut all = vec![];
    for (at, one) in variants.iter().enumerate() {
        for other in variants.iter().skip(at + 1) {
            all.extend(Measure::ALL.iter().map(|measure| compared(*measure, *one, *other)));
        }
    }
    all
}

fn compared(measure: Measure, (variant, one): OfWording<'_>, (other_variant, other): OfWording<'_>) -> pb::Comparison {
    let of = |figures: &Figures| match measure {
        Measure::RepeatRate => figures.repeated,
        Measure::FirstActionMatch => figures.matched,
    };
    let compared = statistics::compare(&of(one), &of(other));
    pb::Comparison {
        measure: measure.word().to_owned(),
        variant: variant.as_str().to_owned(),
        other_variant: other_variant.as_str().to_owned(),
        difference: compared.difference,
        p_value: compared.p_value,
        verdict: verdict(compared.verdict).into(),
        more_trips: compared.more_trips,
        text: statistics::sentence(measure, [variant.as_str(), other_variant.as_str()], &compared),
    }
}

const fn verdict(word: Verdict) -> pb::comparison::Verdict {
    match word {
        Verdict::TooFew => pb::comparison::Verdict::TooFew,
        Verdict::Different => pb::comparison::Verdict::Different,
        Verdict::NoDifference => pb::comparison::Verdict::NoDifference,
    }
}
