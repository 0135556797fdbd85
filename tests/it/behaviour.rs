//! Whether a difference is called one as often as it should be, and what the program says of figures.

mod agents;
mod program;

use tripnote::wire::pb;
use tripnote::wire::pb::comparison::Verdict;

use self::agents::{Leanings, run};

/// Sessions of one run; every other one is told in the other wording, as drawn.
const SESSIONS: u32 = 80;
/// Most agents repeat little and some nearly always, whatever they are told: trips of a session hang together.
const ALIKE: Leanings = Leanings { stubborn: [40, 40] };
/// The same agents, of whom fewer are stubborn where the contract is told as JSON.
const DIFFERENT: Leanings = Leanings { stubborn: [10, 90] };

fn of<'a>(breaker: &'a pb::BreakerBehaviour, measure: &str) -> &'a pb::Comparison {
    breaker.comparisons.iter().find(|comparison| comparison.measure == measure).unwrap()
}

/// Whether the plain test of two shares, which takes trips for independent, calls a difference at 1 %.
fn is_naively_different(breaker: &pb::BreakerBehaviour) -> bool {
    let [one, other] = [0, 1].map(|at| &breaker.variants[at]);
    let [n, m] = [one, other].map(|of| f64::from(u32::try_from(of.concluded).unwrap()));
    let [x, y] = [one, other].map(|of| f64::from(u32::try_from(of.repeated_trips).unwrap()));
    let pooled = (x + y) / (n + m);
    (x / n - y / m).abs() / (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt() > 2.576
}

#[test]
fn of_a_hundred_experiments_without_a_difference_about_one_calls_one() {
    let (mut called, mut naively) = ([0, 0], 0);
    for seed in 0..100 {
        let breaker = run(seed, SESSIONS, ALIKE);
        for (called, measure) in called.iter_mut().zip(["repeat_rate", "first_action_match"]) {
            *called += u32::from(of(&breaker, measure).verdict() == Verdict::Different);
        }
        naively += u32::from(is_naively_different(&breaker));
    }
    println!("called different of 100 A/A runs: {called:?}, and {naively} if trips were taken for independent");
    // 0 to 4 of 100 is the interval in which a binomial count of 1 % lies 99 times of 100
    assert!(called.iter().all(|called| *called <= 4), "{called:?}");
    assert!(naively > 4, "{naively}: trips hang together too little for this to show anything");
}

#[test]
fn a_difference_that_is_there_is_found_and_said() {
    for seed in 0..10 {
        let breaker = run(seed, 4 * SESSIONS, DIFFERENT);
        let found = of(&breaker, "repeat_rate");
        assert_eq!(found.verdict(), Verdict::Different, "seed {seed}: {}", found.text);
        assert!(found.text.starts_with("calls are repeated less often after `contract` than after `contract_lines`: "));
        assert!(found.difference.unwrap() < -0.1 && found.p_value.unwrap() < 0.01, "{found:?}");
        assert_eq!(found.more_trips, None);
    }
}

#[test]
fn a_few_sessions_are_too_few_to_say_anything() {
    let breaker = run(0, 6, DIFFERENT);
    let found = of(&breaker, "repeat_rate");
    assert_eq!((found.verdict(), found.p_value), (Verdict::TooFew, None));
    assert!(found.text.starts_with("not enough trips yet to tell `contract` from `contract_lines`"), "{}", found.text);
}
