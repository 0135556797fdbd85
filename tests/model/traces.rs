//! Short traces that each tell one rule, with the numbers of the scenarios in research/breakers.md; the oracle watches.

use std::sync::Arc;

use tripnote::domain::breaker::policy::{Policy, Rule, ScopeKind};
use tripnote::domain::signal::{CircuitKind, Phase};

use super::marks::{Mark, Marks};
use super::pair::{Pair, Say, Step, Whose};
use super::policies::{SECOND, Setup, failures, half_of, small};

const ASK: Step = Step::Ask(1);
const OK: Step = Step::Report(Whose::Current, Say::Ok);
const FAIL: Step = Step::Report(Whose::Current, Say::Bad(0));
const IGNORED: Step = Step::Report(Whose::Current, Say::Ignored);
const LATE_OK: Step = Step::Report(Whose::Earlier, Say::Ok);
const LATE_FAIL: Step = Step::Report(Whose::Earlier, Say::Bad(0));
const AGAIN: Step = Step::Report(Whose::Again, Say::Bad(0));

const fn after(seconds: u64) -> Step {
    Step::Wait(seconds * SECOND)
}

/// A target with one circuit of errors.
fn errors(policy: Policy) -> Setup {
    beside(vec![(CircuitKind::ErrorRate, policy)])
}

fn beside(circuits: Vec<(CircuitKind, Policy)>) -> Setup {
    let permit_for_ms = 900 * SECOND;
    Setup { name: "trace".to_owned(), circuits: circuits.into(), permit_for_ms, latency_ms: Some(0), hint_ms: None }
}

fn policy(rules: &[Rule]) -> Policy {
    small(CircuitKind::ErrorRate, rules)
}

/// Takes every step; a step with nothing to do is a mistake in the trace.
fn run(setup: Setup, steps: &[Step]) -> (Pair, Marks) {
    let mut pair = Pair::new(&Arc::new(setup));
    let mut marks = Marks::default();
    for step in steps {
        assert!(pair.step(*step, &mut marks), "nothing to do for {step:?}{}", pair.story());
    }
    (pair, marks)
}

fn phases(pair: &Pair) -> Vec<Phase> {
    pair.seen.iter().map(|seen| seen.phase).collect()
}

fn repeated(part: &[Step], times: usize) -> Vec<Step> {
    part.iter().copied().cycle().take(part.len() * times).collect()
}

#[test]
fn of_fifty_callers_one_gets_the_probe() {
    let mut steps = vec![ASK, FAIL, after(10)];
    steps.extend(repeated(&[ASK], 50));
    let (_, marks) = run(errors(policy(&[failures(1)])), &steps);
    assert_eq!((marks.of(Mark::Probe), marks.of(Mark::RefusedHalfOpen)), (1, 49)); // scenario 1
}

#[test]
fn a_success_from_before_the_trip_closes_nothing() {
    let (pair, marks) = run(errors(policy(&[failures(1)])), &[ASK, ASK, FAIL, after(10), ASK, LATE_OK, ASK]);
    assert_eq!((phases(&pair), marks.of(Mark::Stale)), (vec![Phase::HalfOpen], 1)); // scenario 2
}

#[test]
fn a_failure_from_before_the_trip_neither_reopens_nor_extends() {
    let steps = [ASK, ASK, ASK, FAIL, after(5), LATE_FAIL, after(5), ASK, LATE_FAIL];
    let (pair, marks) = run(errors(policy(&[failures(1)])), &steps);
    assert_eq!((phases(&pair), marks.of(Mark::Stale)), (vec![Phase::HalfOpen], 2)); // scenario 3
    assert_eq!(marks.of(Mark::ClosedToOpen), 1);
}

#[test]
fn a_written_off_probe_never_moves_the_state() {
    for say in [OK, FAIL, IGNORED] {
        let (pair, marks) = run(errors(policy(&[failures(1)])), &[ASK, FAIL, after(10), ASK, after(3), ASK, say]);
        assert_eq!((phases(&pair), marks.of(Mark::WrittenOffReported)), (vec![Phase::HalfOpen], 1)); // scenario 5
    }
}

#[test]
fn three_lost_probes_in_a_row_reopen_at_the_same_level_and_a_good_one_breaks_the_row() {
    let lost = [ASK, Step::Lose, after(3)];
    let mut steps = vec![ASK, FAIL, after(10)];
    steps.extend(repeated(&lost, 3));
    steps.push(ASK);
    let (pair, marks) = run(errors(policy(&[failures(1)])), &steps);
    assert_eq!((phases(&pair), pair.seen[0].level, marks.of(Mark::HalfOpenToOpenLost)), (vec![Phase::Open], 0, 1));

    let mut steps = vec![ASK, FAIL, after(10)];
    for _ in 0..2 {
        steps.extend(repeated(&lost, 2));
        steps.extend([ASK, OK]);
    }
    let three = Policy { successes: 3, ..policy(&[failures(1)]) };
    let (pair, _) = run(errors(three), &steps);
    assert_eq!(phases(&pair), [Phase::HalfOpen]);
}

#[test]
fn an_ignored_probe_frees_its_place_and_is_no_lost_one() {
    let mut steps = vec![ASK, FAIL, after(10)];
    steps.extend(repeated(&[ASK, IGNORED], 5));
    steps.extend([ASK, OK]);
    let (pair, marks) = run(errors(policy(&[failures(1)])), &steps);
    assert_eq!((phases(&pair), marks.of(Mark::ProbeIgnored)), (vec![Phase::Closed], 5)); // scenario 6
}

#[test]
fn ignored_results_neither_break_a_run_nor_count_as_calls() {
    let in_a_row = policy(&[Rule::Consecutive { failures: 3 }]);
    let (pair, _) = run(errors(in_a_row), &[ASK, FAIL, ASK, FAIL, ASK, IGNORED, ASK, FAIL]);
    assert_eq!(phases(&pair), [Phase::Open]); // scenario 7
    let mut steps = repeated(&[ASK, IGNORED], 10);
    steps.extend([ASK, FAIL]);
    let (pair, _) = run(errors(policy(&[half_of(2)])), &steps);
    assert_eq!(phases(&pair), [Phase::Closed]);
}

#[test]
fn no_circuit_goes_half_open_for_a_call_that_another_refuses() {
    let first = |kind| (kind, small(kind, &[failures(1)]));
    let both =
        Setup { hint_ms: Some(20_000), ..beside(vec![first(CircuitKind::ErrorRate), first(CircuitKind::QuotaRate)]) };
    let trip = [ASK, ASK, FAIL, Step::Report(Whose::Earlier, Say::Bad(1))];
    let mut longer = both.clone();
    longer.circuits = longer.circuits.iter().cloned().map(with_room_for_hints).collect();
    let steps: Vec<Step> = trip.into_iter().chain([after(12), ASK, after(8), ASK, OK]).collect();
    let (pair, marks) = run(longer, &steps);
    assert_eq!(phases(&pair), [Phase::Closed, Phase::Closed]); // scenario 9
    assert_eq!((marks.of(Mark::HeldBack), marks.of(Mark::ProbeOfTwo)), (1, 1));
}

/// Errors do not follow hints past their base; quota does.
fn with_room_for_hints((kind, mut policy): (CircuitKind, Policy)) -> (CircuitKind, Policy) {
    if kind == CircuitKind::ErrorRate {
        policy.open_for.max_ms = policy.open_for.base_ms;
    }
    (kind, policy)
}

#[test]
fn a_probe_that_fails_for_another_reason_closes_the_one_and_opens_the_other() {
    let slow = Policy { slow_ms: Some(2 * SECOND), ..small(CircuitKind::Latency, &[failures(1)]) };
    let quota = small(CircuitKind::QuotaRate, &[failures(1)]);
    let both = beside(vec![(CircuitKind::Latency, slow), (CircuitKind::QuotaRate, quota)]);
    let limited = Step::Report(Whose::Current, Say::Bad(1));
    let (pair, _) = run(both, &[ASK, FAIL, after(10), ASK, limited, ASK]);
    assert_eq!(phases(&pair), [Phase::Closed, Phase::Open]); // scenario 10
}

#[test]
fn an_idle_gap_ages_every_slice_out() {
    let (pair, _) = run(errors(policy(&[failures(4)])), &[ASK, FAIL, ASK, FAIL, ASK, FAIL, after(301), ASK, FAIL]);
    assert_eq!(phases(&pair), [Phase::Closed]); // scenario 14
}

#[test]
fn a_window_ends_by_whole_slices() {
    for (wait_ms, phase) in [(9_999, Phase::Open), (10_000, Phase::Closed)] {
        let steps = [ASK, ASK, FAIL, Step::Wait(wait_ms), FAIL];
        let (pair, _) = run(errors(policy(&[failures(2)])), &steps);
        assert_eq!(phases(&pair), [phase], "after {wait_ms} ms");
    }
}

#[test]
fn sparse_failures_trip_the_consecutive_rule() {
    let steps = repeated(&[ASK, FAIL, after(60)], 5);
    let (pair, _) = run(errors(policy(&[failures(3), Rule::Consecutive { failures: 5 }])), &steps[..14]);
    assert_eq!(phases(&pair), [Phase::Open]); // scenario 15
}

#[test]
fn a_long_healthy_past_hides_no_outage() {
    let mut steps = repeated(&[ASK, OK], 1_000);
    steps.push(after(10));
    steps.extend(repeated(&[ASK, FAIL], 5));
    let (pair, _) = run(errors(policy(&[half_of(5)])), &steps);
    assert_eq!(phases(&pair), [Phase::Open]); // scenarios 16 and 17
}

#[test]
fn a_repeated_report_counts_once() {
    let (pair, marks) = run(errors(policy(&[failures(2)])), &[ASK, FAIL, AGAIN, AGAIN, AGAIN, AGAIN]);
    assert_eq!((phases(&pair), marks.of(Mark::Duplicate)), (vec![Phase::Closed], 4)); // scenario 24
}

#[test]
fn a_lease_is_twice_the_longest_call_of_this_five_minutes_and_the_last() {
    for (wait, longer) in [(10, 1), (290, 1), (579, 1), (580, 0)] {
        let as_long_as_calls = Setup { latency_ms: None, ..errors(policy(&[failures(1)])) };
        let (_, marks) = run(as_long_as_calls, &[ASK, after(20), FAIL, after(wait), ASK]);
        assert_eq!((marks.of(Mark::Probe), marks.of(Mark::LongerLease)), (1, longer), "after {wait} s");
    }
}

#[test]
fn a_permit_lives_to_the_last_millisecond_of_its_time() {
    for (wait_ms, phase, expired) in [(900_000, Phase::Open, 0), (900_001, Phase::Closed, 1)] {
        let (pair, marks) = run(errors(policy(&[failures(2)])), &[ASK, ASK, Step::Wait(wait_ms), FAIL, FAIL]);
        assert_eq!((marks.of(Mark::Expired), marks.of(Mark::ClosedToOpen)), (2 * expired, 1 - expired));
        assert_eq!(pair.seen.first().map_or(Phase::Closed, |seen| seen.phase), phase);
    }
}

#[test]
fn failures_that_led_to_a_trip_are_not_counted_after_the_closing() {
    let fast = Policy { observe_ms: 60 * SECOND, ..policy(&[Rule::Failures { failures: 2, within_ms: 60 * SECOND }]) };
    let (pair, _) = run(errors(fast.clone()), &[ASK, FAIL, ASK, FAIL, after(10), ASK, OK, ASK, FAIL]);
    assert_eq!(phases(&pair), [Phase::Closed]);
    let (pair, _) = run(errors(fast), &[ASK, FAIL, ASK, FAIL, after(10), ASK, OK, ASK, FAIL, ASK, FAIL]);
    assert_eq!(phases(&pair), [Phase::Open]);
}

#[test]
fn the_backoff_grows_with_failed_probes_and_falls_with_healthy_time_only() {
    let grown = [ASK, FAIL, after(10), ASK, FAIL, after(20), ASK, FAIL, after(40), ASK, OK];
    for (wait, level) in [(14, 2), (15, 1), (29, 1), (30, 0)] {
        let steps: Vec<Step> = grown.into_iter().chain([after(wait), ASK, FAIL]).collect();
        let (pair, _) = run(errors(policy(&[failures(1)])), &steps);
        assert_eq!((phases(&pair), pair.seen[0].level), (vec![Phase::Open], level), "after {wait} s"); // scenario 33
    }
}

#[test]
fn one_callers_failures_open_for_that_caller_alone_until_a_second_sees_them() {
    let quorum = Policy { min_reporters: 2, ..policy(&[failures(2)]) };
    let mut steps = repeated(&[ASK, FAIL], 2);
    steps.push(Step::Ask(2));
    let (mut pair, _) = run(errors(quorum), &steps);
    let marks = &mut Marks::default();
    let own = |pair: &Pair| pair.seen.iter().find(|seen| seen.is_personal()).map(|seen| seen.phase);
    let shared = |pair: &Pair| pair.seen.iter().find(|seen| !seen.is_personal()).map(|seen| seen.phase);
    assert_eq!((own(&pair), shared(&pair)), (Some(Phase::Open), Some(Phase::Closed))); // scenario 47
    assert_eq!(pair.held.len(), 1, "the other caller is let through");
    assert!(pair.step(Step::Report(Whose::Any(0), Say::Bad(0)), marks));
    assert_eq!(shared(&pair), Some(Phase::Open));
}

#[test]
fn a_circuit_of_the_whole_breaker_or_credential_answers_like_one_of_a_target() {
    let steps = [ASK, FAIL, ASK, OK, ASK, FAIL, after(10), ASK, LATE_OK, OK, ASK, FAIL, after(3), ASK, FAIL, ASK];
    for scope in [ScopeKind::Breaker, ScopeKind::Credential, ScopeKind::TargetCredential] {
        for rules in [&[failures(2)][..], &[half_of(3)], &[Rule::Consecutive { failures: 1 }]] {
            let mut pair = Pair::new(&Arc::new(errors(Policy { scope, ..policy(rules) })));
            for step in steps {
                pair.step(step, &mut Marks::default());
            }
            assert_eq!(pair.seen.len(), 1);
        }
    }
}

#[test]
fn a_permit_from_before_housekeeping_is_stale_though_its_number_comes_round_again() {
    let first = |say| Step::Report(Whose::Any(1), say);
    let steps = [ASK, FAIL, after(10), ASK, OK, Step::Wait(900_001), ASK, Step::Compact];
    let round = [ASK, first(Say::Bad(0)), after(10), ASK, first(Say::Ok), Step::Report(Whose::Any(0), Say::Bad(0))];
    let (pair, marks) = run(errors(policy(&[failures(1)])), &[&steps[..], &round].concat());
    assert_eq!((phases(&pair), marks.of(Mark::Stale)), (vec![Phase::Closed], 1));
}
