//! Whole runs in this process: the service counts what the script knows, and its intervals hold what was drawn from.

use serde_json::Value;

use super::*;
use crate::cli::text::{Paint, columns};

fn args(seed: u64, sessions: u32, mix: &[&str]) -> SimArgs {
    SimArgs { seed, sessions, mix: mix.iter().map(|mix| mix.parse().unwrap()).collect() }
}

async fn played(args: &SimArgs) -> Outcome {
    here(args, own_config().unwrap()).await.unwrap()
}

fn told(args: &SimArgs, outcome: &Outcome, is_json: bool) -> Vec<String> {
    let differences = outcome.truth.differences(&outcome.service);
    let lines = show::lines(args, outcome, &differences, Manner { is_json, paint: Paint::default() }).unwrap();
    lines.iter().flat_map(|text| text.lines().map(ToOwned::to_owned)).collect()
}

/// The true rates of repeats and matches of a breaker at which every trip but the last is followed by another try.
///
/// A session meets one trip, and a stubborn or rephrasing agent one more with each of its one to four tries, 2.5 on
/// average. A stubborn try is a repeat, unless the context was compacted before (1 of 10). The last trip matches of who
/// is obedient or repents (1 of 2) and, where `stops` is asked for, of who leaves with an answer (1 of 4).
fn drawn_from(weights: mix::Weights, stops: bool) -> [f64; 2] {
    let [obedient, stubborn, rephrasing, _] = weights.map(|percent| f64::from(percent) / 100.0);
    let trips = 1.0 + 2.5 * (stubborn + rephrasing);
    let repents = f64::from(agent::REPENTS) / 100.0;
    let last = repents + if stops { (1.0 - repents) / 4.0 } else { 0.0 };
    [0.9 * 2.5 * stubborn / trips, (obedient + last * (stubborn + rephrasing)) / trips]
}

#[tokio::test]
async fn the_service_counts_what_the_script_knows_and_its_intervals_hold_the_true_rates() {
    let args = args(1, 400, &[]);
    let outcome = played(&args).await;
    assert_eq!(outcome.truth.differences(&outcome.service), []);
    let (mut held, mut missed) = (0, vec![]);
    for (breaker, stops) in [("payments", false), ("customers", true), ("reports", true)] {
        let of = outcome.answer.breakers.iter().find(|of| of.breaker == breaker).unwrap();
        for variant in &of.variants {
            let truths = drawn_from(mix::weights(&[], &variant.variant), stops);
            for (truth, share) in
                truths.into_iter().zip([variant.repeat_rate.unwrap(), variant.first_action_match.unwrap()])
            {
                if share.low <= truth && truth <= share.high {
                    held += 1;
                } else {
                    missed.push(format!("{breaker} {}: {truth:.3} of {share:?}", variant.variant));
                }
            }
        }
    }
    // each of twelve may miss by chance, one in twenty
    println!("{held} of 12 intervals hold the rate that was drawn from; missed: {missed:#?}");
    assert!(held + missed.len() == 12 && missed.len() <= 2, "{missed:#?}");
}

#[tokio::test]
async fn agents_that_go_against_everything_are_counted_as_exactly() {
    let mixes = ["contract=stubborn:50,rephrasing:50", "weak=stubborn:40,rephrasing:30,wandering:20,obedient:10"];
    for seed in 2..5 {
        let outcome = played(&args(seed, 150, &mixes)).await;
        assert_eq!(outcome.truth.differences(&outcome.service), [], "seed {seed}");
    }
}

#[tokio::test]
async fn every_trouble_is_met_and_every_way_out_taken() {
    let outcome = played(&args(5, 250, &[])).await;
    let breakers: Vec<&str> = outcome.answer.breakers.iter().map(|of| of.breaker.as_str()).collect();
    for due in
        ["customers", "inventory", "payments", "prices", "reports", "search", "session_effects", "session_progress"]
    {
        let of = outcome.answer.breakers.iter().find(|of| of.breaker == due).unwrap_or_else(|| panic!("{breakers:?}"));
        assert_eq!(of.variants.iter().map(|of| of.variant.as_str()).collect::<Vec<_>>(), ["contract", "weak"], "{due}");
    }
    let signals = outcome.truth.rows.keys().filter(|row| row.breaker == "prices" && row.variant == "contract");
    let signals: Vec<&str> = signals.map(|row| row.signal.as_str()).collect();
    assert_eq!(signals, ["", "error_rate", "malformed_response"], "one breaker, two troubles");
    let sum = |figure: &str| -> u64 {
        let named = outcome.truth.rows.values().flat_map(figures::OfRow::named);
        named.filter(|(name, _)| name == figure).map(|(_, n)| n).sum()
    };
    for figure in ["match", "repeat", "other", "none"].map(|word| format!("first_actions.{word}")) {
        assert!(sum(&figure) > 0, "{figure}");
    }
    for figure in ["recovered", "halted", "abandoned", "superseded"].map(|word| format!("resolutions.{word}")) {
        assert!(sum(&figure) > 0, "{figure}");
    }
    for figure in ["ignored", "repeats", "halted_sessions", "false_halts", "turns_to_recovery.2"] {
        assert!(sum(figure) > 0, "{figure}");
    }
}

#[tokio::test]
async fn a_seed_means_the_same_figures_and_another_seed_others() {
    let (once, again, other) = (args(7, 40, &[]), args(7, 40, &[]), args(8, 40, &[]));
    let [first, second, third] = [played(&once).await, played(&again).await, played(&other).await];
    assert_eq!(first.truth, second.truth);
    assert_eq!(told(&once, &first, true), told(&again, &second, true));
    assert_ne!(first.truth, third.truth);
}

#[tokio::test]
async fn a_service_that_runs_in_real_time_is_held_to_the_same_and_to_its_own_calls_only() {
    let clock = Arc::new(SystemClock::start());
    let running = wiring::start(own_config().unwrap(), None, clock as _).await.unwrap();
    let address: Address = running.endpoint().parse().unwrap();
    for seed in [1, 2] {
        let outcome = elsewhere(&args(seed, 30, &[]), &address).await.unwrap();
        assert_eq!(outcome.truth.differences(&outcome.service), [], "seed {seed}");
    }
    running.stop().await.unwrap();
}

#[tokio::test]
async fn people_and_programs_are_told_of_each_difference() {
    let args = args(1, 30, &[]);
    let mut outcome = played(&args).await;
    let text = told(&args, &outcome, false);
    assert!(text.last().unwrap().starts_with("30 sessions with "), "{text:#?}");
    assert!(text.last().unwrap().ends_with(" figures are equal"), "{text:#?}");
    for line in &text {
        assert!(columns(line) <= 80, "{} columns: {line}", columns(line));
    }
    let (row, of) = outcome.service.rows.iter_mut().next().unwrap();
    of.repeats += 1;
    outcome.service.sessions.answered += 2;
    let (breaker, due) = (row.breaker.clone(), of.repeats);
    let text = told(&args, &outcome, false).join("\n");
    assert!(text.contains("2 of ") && text.contains(" figures differ"), "{text}");
    assert!(text.contains(&format!("repeats is {} by the script and {due} by the service", due - 1)), "{text}");
    let objects: Vec<Value> =
        told(&args, &outcome, true).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let differing: Vec<&Value> = objects.iter().filter(|object| object["equal"] == false).collect();
    let [of_row, sessions, summary] = differing.as_slice() else { panic!("{differing:#?}") };
    assert_eq!((&of_row["breaker"], &of_row["service"]["repeats"]), (&Value::from(breaker), &Value::from(due)));
    assert_eq!(sessions["type"], "sessions");
    assert_eq!((&summary["differences"], &summary["sessions"]), (&Value::from(2), &Value::from(30)));
}
