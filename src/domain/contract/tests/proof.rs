//! The budget is proved when the configuration is read: nothing that a breaker prints later is longer.

use proptest::prelude::*;

use super::super::budget::{BudgetFault, OWNER_BYTES_MAX, prove, session_examples};
use super::examples::{NOW, TRUSTED, examples};
use super::*;
use crate::domain::breaker::policy::{BasisPoints, BreakerPolicy, Fallback, Policy, Rule, default_latency_policy};
use crate::domain::ids::CODE_BYTES_MAX;
use crate::domain::signal::{PerKind, Signal};
use crate::domain::time::WallClock;

const DAY_MS: u64 = 86_400_000;
/// Three years of failures in a row.
const SPAN_MS_MAX: u64 = 99_999_999_000;

fn text(bytes: usize) -> SafeText {
    SafeText::cut(&"m".repeat(bytes), bytes)
}

pub(super) fn settings(budget_bytes: usize) -> ContractSettings {
    ContractSettings { budget_bytes, escalation_tool: Some(text(NAME_BYTES_MAX)), ..ContractSettings::default() }
}

/// A breaker with the longest code and the longest fallback.
pub(super) fn widest_breaker() -> BreakerPolicy {
    let fallback = Fallback {
        name: text(NAME_BYTES_MAX),
        target: TargetName::parse("GET /mirror").unwrap(),
        note: Some(text(NAME_BYTES_MAX)),
    };
    let mut breaker = BreakerPolicy {
        code: Some(Code::parse(&"m".repeat(CODE_BYTES_MAX)).unwrap()),
        targets: vec!["*".to_owned()],
        fallback: vec![fallback],
        reducible: true,
        ..BreakerPolicy::default()
    };
    *breaker.policies.at_mut(CircuitKind::Latency) = Some(default_latency_policy(2_000));
    breaker
}

/// What [`prove`] finds for a breaker's circuits: a budget of nothing is always exceeded.
fn worst_of(breaker: &BreakerPolicy) -> usize {
    let faults = prove(&BreakerPolicy::default(), std::slice::from_ref(breaker), &settings(0));
    faults.iter().find(|fault| fault.breaker == Some(0)).unwrap().bytes
}

#[test]
fn the_defaults_fit_the_default_budget() {
    assert_eq!(prove(&BreakerPolicy::default(), &[], &ContractSettings::default()), []);
}

#[test]
fn the_widest_breaker_fits_the_default_budget() {
    assert_eq!(prove(&BreakerPolicy::default(), &[widest_breaker()], &settings(768)), []);
}

#[test]
fn a_breaker_that_could_exceed_the_floor_is_named_with_field_size_and_limit() {
    let narrow = BreakerPolicy { code: Some(Code::parse("m").unwrap()), ..BreakerPolicy::default() };
    let settings = ContractSettings { budget_bytes: 512, ..ContractSettings::default() };
    let faults = prove(&narrow, &[narrow.clone(), widest_breaker()], &settings);
    let [BudgetFault { breaker: Some(1), field: "fallback", bytes, limit: 512, .. }] = *faults else {
        panic!("one fault in the second breaker's fallback, not {faults:?}");
    };
    assert_eq!(bytes, worst_of(&widest_breaker()));
    assert!((513..=768).contains(&bytes), "{bytes}");
}

#[test]
fn the_longer_of_code_and_fallback_is_to_blame() {
    let without_fallback = BreakerPolicy { fallback: vec![], ..widest_breaker() };
    let settings = ContractSettings { budget_bytes: 256, ..ContractSettings::default() };
    let faults = prove(&BreakerPolicy::default(), &[without_fallback], &settings);
    assert_eq!(
        faults.iter().map(|fault| (fault.breaker, fault.field)).collect::<Vec<_>>(),
        [(None, "fallback"), (Some(0), "breaker")]
    );
}

#[test]
fn the_size_that_is_told_is_the_smallest_budget_that_would_do() {
    let breakers = [widest_breaker()];
    let of_breaker = |budget_bytes| {
        let faults = prove(&BreakerPolicy::default(), &breakers, &settings(budget_bytes));
        faults.iter().filter(|fault| fault.breaker == Some(0)).count()
    };
    let worst = worst_of(&breakers[0]);
    assert_eq!((of_breaker(worst), of_breaker(worst - 1)), (0, 1));
}

#[test]
fn no_example_is_longer_than_the_proved_worst_case() {
    let proved = prove(&widest_breaker(), &[], &settings(0))[0].bytes;
    for example in examples() {
        for variant in Variant::ALL {
            let bytes = example.fields().render(&(*variant).into(), proved).text.len();
            assert!(bytes <= proved, "{} as {variant}: {bytes} of {proved}", example.name());
        }
    }
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let (count, within_ms) = (1..=u32::MAX, 1..=DAY_MS);
    prop_oneof![
        (count.clone(), within_ms.clone()).prop_map(|(failures, within_ms)| Rule::Failures { failures, within_ms }),
        (1..=10_000_u32, within_ms, count.clone()).prop_map(|(ratio, within_ms, min_calls)| Rule::Ratio {
            ratio: BasisPoints(ratio),
            within_ms,
            min_calls
        }),
        count.prop_map(|failures| Rule::Consecutive { failures }),
    ]
}

pub(super) fn any_breaker() -> impl Strategy<Value = BreakerPolicy> {
    let code = prop::option::of("[a-z][a-z0-9_]{0,47}");
    let fallback = prop::option::of(("[ -~]{1,60}", prop::option::of("\\PC{0,60}")));
    let rules = prop::collection::vec(any_rule(), 1..4);
    (code, fallback, rules, 1..=DAY_MS, 1..=3_600_000_u64).prop_map(|(code, fallback, rules, observe_ms, slow_ms)| {
        let policy = |kind| Policy {
            rules: rules.clone(),
            observe_ms,
            slow_ms: Some(slow_ms).filter(|_| kind == CircuitKind::Latency),
            ..default_latency_policy(slow_ms)
        };
        let cut = |text: &str| SafeText::cut(text, NAME_BYTES_MAX);
        let fallback = fallback.map(|(name, note)| Fallback {
            name: cut(&name),
            target: TargetName::parse("GET /mirror").unwrap(),
            note: note.as_deref().map(cut),
        });
        BreakerPolicy {
            code: code.map(|code| Code::parse(&code).unwrap()),
            targets: vec![],
            policies: PerKind::from_fn(|kind| Some(policy(kind))),
            fallback: fallback.into_iter().collect(),
            reducible: true,
            calls_at_once: None,
        }
    })
}

/// What a circuit of a breaker may count and be asked for, apart from its policy.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pick: prop::sample::Index,
    counts: [u32; 3],
    span_ms: u64,
    left_ms: u64,
    state: u8,
    target: String,
    owner: String,
    has_fallback: bool,
    pub(super) wall: WallClock,
}

/// Half of all draws are the longest that can be printed, so that the proof is met from below.
fn or_longest<T: Clone + std::fmt::Debug + 'static>(
    any: impl Strategy<Value = T> + 'static,
    longest: T,
) -> BoxedStrategy<T> {
    prop_oneof![any, Just(longest)].boxed()
}

fn any_text() -> BoxedStrategy<String> {
    or_longest(any::<String>(), "m".repeat(LONG_FIELD_BYTES_MAX))
}

fn any_count() -> BoxedStrategy<u32> {
    or_longest(any::<u32>(), u32::MAX)
}

pub(super) fn any_run() -> impl Strategy<Value = Run> {
    let wall = (or_longest(0..=253_402_300_799_000_i64, 253_402_300_799_000), prop::bool::weighted(0.8));
    let wall = wall.prop_map(|(offset_ms, trusted)| WallClock { offset_ms, trusted });
    let (span_ms, left_ms) = (or_longest(0..=SPAN_MS_MAX, SPAN_MS_MAX), or_longest(0..=99 * DAY_MS, 99 * DAY_MS));
    let counts = [any_count(), any_count(), any_count()];
    (any::<prop::sample::Index>(), counts, (span_ms, left_ms, 0..6_u8), (any_text(), any_text(), any::<bool>()), wall)
        .prop_map(|(pick, counts, (span_ms, left_ms, state), (target, owner, has_fallback), wall)| Run {
            pick,
            counts,
            span_ms,
            left_ms,
            state,
            target,
            owner,
            has_fallback,
            wall,
        })
}

/// The contract that a circuit of `row` makes of a run.
pub(super) fn contract(row: &'static CatalogueRow, breaker: &BreakerPolicy, run: &Run) -> TripContract {
    let [failed, results, bytes] = run.counts;
    let at = NOW.plus_ms(run.left_ms);
    let kind = CircuitKind::ALL.iter().copied().find(|kind| kind.signal() == row.signal);
    let (observed, threshold) = match kind.and_then(|kind| breaker.policies.at(kind).as_ref()) {
        None => {
            let owner = SafeText::cut(&run.owner, OWNER_BYTES_MAX);
            (Observed::Held { owner, others: run.counts.len() }, Threshold::OperatorOverride)
        }
        Some(policy) => {
            let (rule, slow_ms) = (*run.pick.get(&policy.rules), policy.slow_ms);
            let window_ms = policy.observe_ms.max(rule.window_ms().unwrap_or(0));
            let observed = match rule {
                Rule::Failures { failures: 1, .. } | Rule::Consecutive { failures: 1 } => {
                    Observed::FirstFailure { slow_ms }
                }
                Rule::Consecutive { .. } => Observed::Consecutive { failures: failed, over_ms: run.span_ms, slow_ms },
                Rule::Failures { .. } | Rule::Ratio { .. } => Observed::Share { failed, results, window_ms, slow_ms },
            };
            (observed, Threshold::Rule { rule, slow_ms })
        }
    };
    let state = match run.state {
        0 => Standing::UntilReleased,
        1 => Standing::ProbeRunning { lease_ends: at },
        2 | 3 => Standing::HeldUntil(at),
        _ => Standing::OpenUntil(at),
    };
    let fallback = breaker.fallback.first().filter(|_| run.has_fallback);
    TripContract {
        row,
        breaker: breaker.code.clone().unwrap_or_else(|| Code::from_target(&run.target)),
        target: SafeText::cut(&run.target, LONG_FIELD_BYTES_MAX),
        observed,
        threshold,
        state,
        fallback: fallback.map(|f| NamedFallback { name: f.name.clone(), note: f.note.clone(), target: None }),
        max_argument_bytes: Some(bytes),
    }
}

pub(super) fn is_session(signal: Signal) -> bool {
    session_examples(1, 2, 3, 4).iter().any(|(row, _)| row.signal == signal)
}

proptest! {
    #[test]
    fn no_circuit_prints_more_than_was_proved(breaker in any_breaker(), run in any_run()) {
        let proved = worst_of(&breaker);
        for row in CATALOGUE.iter().filter(|row| !is_session(row.signal)) {
            let fields = contract(row, &breaker, &run).fields(NOW, run.wall);
            for variant in COMPLETE {
                let block = fields.render(&variant.into(), proved);
                prop_assert!(!block.overran && block.text.len() <= proved);
            }
        }
    }

    #[test]
    fn no_session_guard_prints_more_than_was_proved(
        counts in [any_count(), any_count(), any_count()],
        after_ms in or_longest(0..=SPAN_MS_MAX, SPAN_MS_MAX),
        target in any_text(),
        name in any_text(),
    ) {
        let off = BreakerPolicy { policies: PerKind::from_fn(|_| None), ..BreakerPolicy::default() };
        let proved = prove(&off, &[], &settings(0))[0].bytes;
        let [count, limit, halt] = counts;
        for (row, figures) in session_examples(count, limit, halt, after_ms) {
            let contract = TripContract {
                row,
                breaker: figures.guard_code().map_or_else(|| Code::from_target(&target), |code| Code::parse(code).unwrap()),
                target: SafeText::cut(&target, LONG_FIELD_BYTES_MAX),
                observed: Observed::Session(figures),
                threshold: Threshold::Session(figures),
                state: Standing::Session(figures),
                fallback: Some(NamedFallback { name: SafeText::cut(&name, NAME_BYTES_MAX), note: None, target: None }),
                max_argument_bytes: None,
            };
            for variant in COMPLETE {
                prop_assert!(contract.fields(NOW, TRUSTED).render(&variant.into(), proved).text.len() <= proved);
            }
        }
    }
}
