//! How figures are shown, from none to very many.

use std::collections::BTreeSet;

use prost::Message as _;
use serde_json::Value;

use super::*;
use crate::cli::tests::samples;
use crate::cli::text::Paint;
use crate::domain::behaviour::statistics::{Counted, Measure, Sample, compare, sentence};

fn plain() -> Manner {
    Manner { is_json: false, paint: Paint::default() }
}

fn sample(hits: u64, trips: u64) -> Sample {
    let mut sample = Sample::default();
    for at in 0..trips {
        sample.recount(Counted::default(), Counted { trips: 1, hits: u64::from(at < hits) });
    }
    sample
}

fn share(hits: u64, trips: u64) -> Option<pb::Share> {
    let share = sample(hits, trips).share();
    Some(pb::Share { value: share.value, low: share.low, high: share.high, effective_trips: share.effective_trips })
}

fn variant(name: &str, signal: pb::Signal, [concluded, repeated, matched]: [u64; 3]) -> pb::VariantBehaviour {
    let other = (concluded - repeated - matched) / 2;
    let none = concluded - repeated - matched - other;
    pb::VariantBehaviour {
        variant: name.to_owned(),
        signal: signal.into(),
        trips: concluded + 2,
        concluded,
        sessions: concluded,
        first_actions: Some(pb::FirstActions { r#match: matched, repeat: repeated, other, none }),
        repeated_trips: repeated,
        repeats: repeated * 2,
        ignored_trips: other,
        ignored: other + 1,
        repeat_rate: share(repeated, concluded),
        first_action_match: share(matched, concluded),
        resolutions: Some(pb::Resolutions { recovered: matched, halted: 3, abandoned: other, superseded: repeated }),
        turns_to_recovery: Some(pb::Turns {
            trips: vec![0, matched],
            first_quartile: Some(1),
            median: Some(2),
            third_quartile: Some(4),
        }),
        halted_sessions: 3,
        false_halts: 1,
    }
}

const FIGURES: [(&str, [u64; 3]); 4] =
    [("contract", [118, 9, 96]), ("contract_lines", [110, 12, 88]), ("silent", [9, 6, 1]), ("weak", [121, 70, 20])];

fn breaker(code: &str, variants: &[(&str, [u64; 3])]) -> pb::BreakerBehaviour {
    let of = |signal: pb::Signal| variants.iter().map(move |(name, figures)| variant(name, signal, *figures)).collect();
    let mut comparisons = vec![];
    for (at, one) in variants.iter().enumerate() {
        for other in variants.iter().skip(at + 1) {
            for measure in Measure::ALL {
                let place = 1 + *measure as usize;
                let [first, second] = [one, other].map(|(_, figures)| sample(figures[place], figures[0]));
                let compared = compare(&first, &second);
                let verdicts = [pb::comparison::Verdict::TooFew, pb::comparison::Verdict::Different];
                let verdict = verdicts.get(compared.verdict as usize);
                comparisons.push(pb::Comparison {
                    measure: measure.word().to_owned(),
                    variant: one.0.to_owned(),
                    other_variant: other.0.to_owned(),
                    difference: compared.difference,
                    p_value: compared.p_value,
                    verdict: verdict.copied().unwrap_or(pb::comparison::Verdict::NoDifference).into(),
                    more_trips: compared.more_trips,
                    text: sentence(*measure, [one.0, other.0], &compared),
                });
            }
        }
    }
    pb::BreakerBehaviour {
        breaker: code.to_owned(),
        variants: of(pb::Signal::Unspecified),
        by_signal: of(pb::Signal::ErrorRate),
        comparisons,
    }
}

fn totals() -> Option<pb::SessionTotals> {
    Some(pb::SessionTotals {
        open: 3,
        answered: 310,
        escalated: 20,
        halted: 12,
        abandoned: 16,
        with_halts: 25,
        with_steers: 40,
        successful: 290,
        false_halts: 4,
    })
}

fn of(breakers: Vec<pb::BreakerBehaviour>) -> pb::GetBehaviourResponse {
    pb::GetBehaviourResponse { breakers, sessions: totals() }
}

#[test]
fn one_breaker_is_told_in_full() {
    let mut one = breaker("payments_api_v2", &FIGURES);
    one.by_signal.push(variant("contract", pb::Signal::Latency, [4, 0, 4]));
    samples::assert_golden("behaviour.txt", &told(&of(vec![one]), "", plain()));
}

#[test]
fn of_several_each_variant_is_a_row() {
    let breakers = vec![
        breaker("ledger", &FIGURES[..1]),
        breaker("payments_api_v2", &[FIGURES[0], FIGURES[3]]),
        breaker("session_progress", &[("contract", [0, 0, 0]), ("weak", [1, 1, 0])]),
    ];
    samples::assert_golden("behaviours.txt", &told(&of(breakers), "", plain()));
}

#[test]
fn where_nothing_was_told_that_is_said() {
    let nothing = pb::GetBehaviourResponse { breakers: vec![], sessions: Some(pb::SessionTotals::default()) };
    let due = "nothing was told yet: figures begin with the first refusal of a call that names\nits session\n\n\
               sessions: 0 open; ended: 0 answered, 0 escalated, 0 halted, 0 abandoned";
    assert_eq!(told(&nothing, "", plain()), due);
    assert!(told(&nothing, "ledger", plain()).starts_with("nothing of `ledger` was told yet"));
}

#[test]
fn the_fullest_fits_eighty_columns() {
    let names: Vec<String> = (0..9).map(|at| format!("a_template_with_a_very_long_name_{at}")).collect();
    let many: Vec<(&str, [u64; 3])> =
        names.iter().map(|name| (name.as_str(), [4_000_000, 1_000_000, 900_000])).collect();
    let sparse = |name| pb::BreakerBehaviour { comparisons: vec![], ..breaker_of_large(name, &many) };
    let breakers: Vec<_> = (0..40).map(|at| breaker(&format!("breaker_{at}"), &FIGURES)).collect();
    let long = "b".repeat(48);
    for text in [
        told(&of(breakers), "", plain()),
        told(&of(vec![breaker("payments_api_v2", &FIGURES)]), "", plain()),
        told(&of(vec![sparse(&long)]), "", plain()),
        told(&of(vec![sparse("a"), sparse(&long)]), "", plain()),
    ] {
        for line in text.lines() {
            assert!(columns(line) <= WIDTH, "{} columns: {line}", columns(line));
            assert_eq!(line.trim_end(), line, "blanks at the end");
        }
    }
}

fn breaker_of_large(code: &str, variants: &[(&str, [u64; 3])]) -> pb::BreakerBehaviour {
    let large = |(name, figures): &(&str, [u64; 3])| {
        let small = variant(name, pb::Signal::Unspecified, [100, 100, 0]);
        pb::VariantBehaviour { trips: figures[0], concluded: figures[0], ..small }
    };
    let variants: Vec<pb::VariantBehaviour> = variants.iter().map(large).collect();
    pb::BreakerBehaviour { breaker: code.to_owned(), variants, ..pb::BreakerBehaviour::default() }
}

/// The names of all fields of a message, as its proto has them.
fn fields_of(message: &str) -> BTreeSet<String> {
    let files = prost_types::FileDescriptorSet::decode(pb::DESCRIPTORS).unwrap().file;
    let found = files.iter().flat_map(|file| &file.message_type).find(|known| known.name() == message).unwrap();
    found.field.iter().map(|field| field.name().to_owned()).collect()
}

fn names_of(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().filter(|name| *name != "type").cloned().collect()
}

#[test]
fn programs_are_told_every_field_under_its_name() {
    let figures = of(vec![breaker("payments_api_v2", &[FIGURES[0], FIGURES[2], FIGURES[3]])]);
    let objects: Vec<Value> =
        objects(&figures).iter().map(|object| serde_json::from_str(&object.line().unwrap()).unwrap()).collect();
    let [breaker, sessions] = objects.as_slice() else { panic!("{objects:?}") };
    assert_eq!((&breaker["type"], &sessions["type"]), (&Value::from("breaker"), &Value::from("sessions")));
    assert_eq!(names_of(breaker), fields_of("BreakerBehaviour"));
    assert_eq!(names_of(sessions), fields_of("SessionTotals"));
    let of_signal = &breaker["by_signal"][0];
    assert_eq!(names_of(of_signal), fields_of("VariantBehaviour"));
    let parts = [("first_actions", "FirstActions"), ("resolutions", "Resolutions"), ("turns_to_recovery", "Turns")];
    for (name, message) in parts.into_iter().chain([("repeat_rate", "Share"), ("first_action_match", "Share")]) {
        assert_eq!(names_of(&of_signal[name]), fields_of(message));
    }
    let told: BTreeSet<String> = breaker["comparisons"].as_array().unwrap().iter().flat_map(names_of).collect();
    assert_eq!(told, fields_of("Comparison"));
}
