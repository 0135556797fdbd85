//! Long random walks under random policies: against the oracle where it knows the policies, under the invariants always.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use tripnote::domain::breaker::policy::{BasisPoints, OpenFor, Policy, Rule};
use tripnote::domain::signal::{CircuitKind, Phase};
use tripnote::domain::verdict::Verdict;

use super::marks::{Mark, Marks};
use super::pair::{Pair, Say, Step, Whose};
use super::policies::{Setup, small};

/// Reproducible: `TRIPNOTE_MODEL_SEED` chooses another seed, `TRIPNOTE_MODEL_CASES` multiplies the cases.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("TRIPNOTE_MODEL_SEED").unwrap_or(2_026);
    println!("seed {seed}");
    let times = number("TRIPNOTE_MODEL_CASES").and_then(|times| u32::try_from(times).ok()).unwrap_or(1);
    ProptestConfig {
        cases: cases * times,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        ..ProptestConfig::default()
    }
}

/// At least one rule, in the order in which they are asked.
fn any_rules() -> impl Strategy<Value = Vec<Rule>> {
    let window = || prop_oneof![Just(5_000_u64), Just(10_000), Just(12_345), Just(30_000)];
    let failures = (1..=4_u32, window()).prop_map(|(failures, within_ms)| Rule::Failures { failures, within_ms });
    let share = prop_oneof![Just(1), Just(3_333), Just(5_000), Just(10_000)].prop_map(BasisPoints);
    let ratio = (share, window(), 1..=5_u32).prop_map(|(ratio, within_ms, min_calls)| Rule::Ratio {
        ratio,
        within_ms,
        min_calls,
    });
    let consecutive = (1..=4_u32).prop_map(|failures| Rule::Consecutive { failures });
    (prop::option::of(failures), prop::option::of(ratio), prop::option::of(consecutive))
        .prop_map(|(failures, ratio, consecutive)| [failures, ratio, consecutive].into_iter().flatten().collect())
        .prop_filter("at least one rule", |rules: &Vec<Rule>| !rules.is_empty())
}

/// Bases are multiples of 1,024 ms, so that every power of 1.5 that fits is a whole number.
fn any_open_for() -> impl Strategy<Value = OpenFor> {
    let factor = prop_oneof![Just(10_000), Just(15_000), Just(20_000), Just(30_000)];
    let jitter = prop_oneof![Just(0), Just(1_000), Just(5_000)];
    (1..=16_u64, 1..=30_u64, factor, jitter).prop_map(|(base, times, factor, jitter)| OpenFor {
        base_ms: base * 1_024,
        max_ms: base * times * 1_024,
        factor: BasisPoints(factor),
        jitter: BasisPoints(jitter),
    })
}

fn any_policy(kind: CircuitKind) -> impl Strategy<Value = Policy> {
    let probing = (1..=3_u16, 1..=3_u16, prop_oneof![Just(500_u64), Just(3_000), Just(10_000)]);
    let healthy = prop_oneof![Just(5_000_u64), Just(30_000), Just(300_000)];
    let shadow = prop_oneof![8 => Just(0_u8), 1 => Just(50), 1 => Just(100)];
    let quorum = prop_oneof![4 => Just(1_u16), 1 => Just(2), 1 => Just(3)];
    let slow = prop_oneof![Just(500_u64), Just(2_000)];
    let odds = (healthy, shadow, quorum, slow, any::<bool>(), prop::bool::weighted(0.3));
    (any_rules(), any_open_for(), probing, odds).prop_map(move |(rules, open_for, probing, odds)| {
        let (probes, successes, lease_ms) = probing;
        let (healthy_window_ms, shadow_percent, min_reporters, slow, in_flight, latch) = odds;
        let is_latency = kind == CircuitKind::Latency;
        let observe_ms = rules.iter().filter_map(|rule| rule.window_ms()).max().unwrap_or(0).max(20_000);
        let latch = latch && kind == CircuitKind::Authentication;
        let slow_ms = is_latency.then_some(slow);
        let own = Policy { rules, observe_ms, open_for, probes, successes, lease_ms, ..small(kind, &[]) };
        let in_flight = is_latency && in_flight;
        Policy { healthy_window_ms, shadow_percent, min_reporters, slow_ms, in_flight, latch, ..own }
    })
}

fn any_setup() -> impl Strategy<Value = Setup> {
    use CircuitKind::{Authentication, ErrorRate, Latency, MalformedResponse, QuotaRate};
    let kinds = prop_oneof![
        3 => Just(vec![ErrorRate]),
        1 => Just(vec![Latency]),
        1 => Just(vec![Authentication, ErrorRate]),
        2 => Just(vec![ErrorRate, QuotaRate]),
        2 => Just(vec![MalformedResponse, ErrorRate, Latency]),
    ];
    let circuits = kinds.prop_flat_map(|kinds| {
        kinds.into_iter().map(|kind| (Just(kind), any_policy(kind)).boxed()).collect::<Vec<_>>()
    });
    let permit_for_ms = prop_oneof![Just(30_000_u64), Just(900_000)];
    let latency_ms = prop_oneof![2 => Just(Some(0_u64)), 1 => Just(Some(1_500)), 2 => Just(None)];
    let hint_ms = prop_oneof![
        4 => Just(None),
        1 => Just(Some(-5_i64)),
        1 => Just(Some(7_000)),
        1 => Just(Some(50_000)),
        1 => Just(Some(i64::MAX)),
    ];
    (circuits, permit_for_ms, latency_ms, hint_ms).prop_map(|(circuits, permit_for_ms, latency_ms, hint_ms)| Setup {
        name: format!("{circuits:?}"),
        circuits: circuits.into(),
        permit_for_ms,
        latency_ms,
        hint_ms,
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    let whose = prop_oneof![
        6 => Just(Whose::Current),
        2 => Just(Whose::Earlier),
        1 => Just(Whose::Again),
        3 => (0..8_usize).prop_map(Whose::Any),
    ];
    let say = prop_oneof![
        5 => Just(Say::Ok),
        7 => (0..3_usize).prop_map(Say::Bad),
        1 => Just(Say::BadInput),
        1 => Just(Say::TimedOut),
        2 => Just(Say::Ignored),
    ];
    let wait = prop_oneof![
        2 => Just(1_u64),
        3 => Just(333),
        4 => Just(1_000),
        4 => Just(3_000),
        4 => Just(10_240),
        1 => Just(61_000),
    ];
    prop_oneof![
        8 => (1..=3_u64).prop_map(Step::Ask),
        10 => (whose, say).prop_map(|(whose, say)| Step::Report(whose, say)),
        1 => Just(Step::Lose),
        1 => Just(Step::Compact),
        5 => wait.prop_map(Step::Wait),
    ]
}

fn walk(setup: Setup, dice: u64, steps: &[Step], marks: &mut Marks) -> Pair {
    let mut pair = Pair::new(&Arc::new(setup));
    for (turn, step) in steps.iter().enumerate() {
        pair.dice = dice.rotate_left(turn as u32);
        pair.step(*step, marks);
    }
    pair
}

#[test]
fn random_walks_agree_with_the_oracle_and_keep_every_invariant() {
    let marks = RefCell::new(Marks::default());
    let walks = (any_setup(), any::<u64>(), prop::collection::vec(any_step(), 1..120));
    let result = TestRunner::new(config(1_000)).run(&walks, |(setup, dice, steps)| {
        let mut marks = marks.borrow_mut();
        marks.note(Mark::Histories);
        walk(setup, dice, &steps, &mut marks);
        Ok(())
    });
    let marks = marks.into_inner();
    println!("random walks:\n{marks}");
    assert!(result.is_ok(), "{}", result.unwrap_err());
    assert!(marks.missing().is_empty(), "never reached: {:?}", marks.missing());
}

/// Scenario 38: traffic that never reports still gets a probe at the first call after the latest deadline.
#[test]
fn whatever_opened_by_itself_gets_a_probe_when_its_time_is_over() {
    let reached = Cell::new(0_u32);
    let walks = (any_setup(), any::<u64>(), prop::collection::vec(any_step(), 1..60), 1..5_000_u64);
    let result = TestRunner::new(config(500)).run(&walks, |(setup, dice, steps, tick_ms)| {
        let pair = walk(setup, dice, &steps, &mut Marks::default());
        reached.set(reached.get() + u32::from(gets_a_probe(pair, tick_ms)));
        Ok(())
    });
    println!("open and left alone: {}", reached.get());
    assert!(result.is_ok(), "{}", result.unwrap_err());
    assert!(reached.get() >= 30, "only {} walks ended in open", reached.get());
}

/// Asks again and again, from a moment at which circuits are open and none is half-open. False at other moments.
fn gets_a_probe(mut pair: Pair, tick_ms: u64) -> bool {
    let refuses =
        |pair: &Pair| pair.setup.circuits.iter().all(|(_, policy)| policy.shadow_percent == 0 && !policy.latch);
    let follows = pair.setup.circuits.iter().any(|(_, policy)| policy.in_flight);
    let is_own = |pair: &Pair| pair.seen.iter().any(super::invariants::Seen::is_personal);
    let has_half_open = pair.seen.iter().any(|seen| seen.phase == Phase::HalfOpen);
    let Some(latest) = pair.seen.iter().filter_map(|seen| seen.until).max() else { return false };
    if !refuses(&pair) || follows || is_own(&pair) || has_half_open {
        return false;
    }
    loop {
        let target = Arc::clone(&pair.target);
        pair.seq += 1;
        let ask = Pair::ask(&target, 1, pair.seq);
        match pair.breaker.admit(&ask, &pair.moment(), &mut Vec::new()).verdict {
            Verdict::Proceed(permit) => {
                assert!(permit.is_probe && pair.now >= latest, "let through early{}", pair.story());
                return true;
            }
            Verdict::Refuse(_) => assert!(pair.now < latest, "no probe at {latest}{}", pair.story()),
        }
        pair.now = (pair.now + tick_ms).max(pair.now + (latest.saturating_sub(pair.now)) / 8);
    }
}
