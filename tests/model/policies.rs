//! The small policies under which every short history is tried.

use std::sync::Arc;

use tripnote::domain::breaker::policy::{BasisPoints, BreakerPolicy, OpenFor, Policy, Rule, ScopeKind};
use tripnote::domain::signal::{CircuitKind, PerKind};

pub(crate) const SECOND: u64 = 1_000;

/// One breaker of one target, and how its callers report.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) name: String,
    pub(crate) circuits: Arc<[(CircuitKind, Policy)]>,
    pub(crate) permit_for_ms: u64,
    /// What callers say a call took; none leaves it to the clock.
    pub(crate) latency_ms: Option<u64>,
    /// What the target says in each failure.
    pub(crate) hint_ms: Option<i64>,
}

impl Setup {
    pub(crate) fn breaker_policy(&self) -> BreakerPolicy {
        let of = |kind| self.circuits.iter().find(|(own, _)| *own == kind).map(|(_, policy)| policy.clone());
        BreakerPolicy { policies: PerKind::from_fn(of), ..BreakerPolicy::default() }
    }

    /// Whether the oracle knows these policies.
    pub(crate) fn is_covered(&self) -> bool {
        self.circuits.iter().all(|(_, policy)| policy.min_reporters <= 1 && matches!(policy.shadow_percent, 0 | 100))
    }
}

pub(crate) const fn failures(failures: u32) -> Rule {
    Rule::Failures { failures, within_ms: 10 * SECOND }
}

pub(crate) const fn half_of(min_calls: u32) -> Rule {
    Rule::Ratio { ratio: BasisPoints(5_000), within_ms: 10 * SECOND, min_calls }
}

/// Opens for 10, 20, 40 s; one probe of 3 s, one success; 15 healthy seconds take a level down.
pub(crate) fn small(kind: CircuitKind, rules: &[Rule]) -> Policy {
    Policy {
        rules: rules.to_vec(),
        observe_ms: 20 * SECOND,
        scope: ScopeKind::default_of(kind),
        open_for: OpenFor {
            base_ms: 10 * SECOND,
            max_ms: 40 * SECOND,
            factor: BasisPoints(20_000),
            jitter: BasisPoints(0),
        },
        probes: 1,
        successes: 1,
        lease_ms: 3 * SECOND,
        healthy_window_ms: 15 * SECOND,
        min_reporters: 1,
        latch: false,
        shadow_percent: 0,
        slow_ms: None,
        in_flight: false,
    }
}

fn setup(name: &str, circuits: Vec<(CircuitKind, Policy)>) -> Setup {
    let permit_for_ms = 30 * SECOND;
    Setup { name: name.to_owned(), circuits: circuits.into(), permit_for_ms, latency_ms: Some(0), hint_ms: None }
}

/// Every small setup.
pub(crate) fn setups() -> Vec<Setup> {
    use CircuitKind::{Authentication, ErrorRate, Latency, MalformedResponse, QuotaRate};
    let error_rate = |rules: &[Rule]| small(ErrorRate, rules);
    let one = |name: &str, policy: Policy| setup(name, vec![(ErrorRate, policy)]);
    let first = || error_rate(&[failures(1)]);
    let probed = |probes, successes| Policy { probes, successes, ..first() };
    let quota = small(QuotaRate, &[failures(1)]);
    let malformed = small(MalformedResponse, &[failures(2)]);
    let slow = Policy { slow_ms: Some(2 * SECOND), in_flight: true, ..small(Latency, &[half_of(2)]) };
    let all_rules = [failures(3), half_of(3), Rule::Consecutive { failures: 2 }];
    vec![
        one("2 failures", error_rate(&[failures(2)])),
        one("2 in a row", error_rate(&[Rule::Consecutive { failures: 2 }])),
        one("half of 2", error_rate(&[half_of(2)])),
        one("any of three rules", error_rate(&all_rules)),
        one("2 probes, 1 success", probed(2, 1)),
        one("2 probes, 2 successes", probed(2, 2)),
        one("1 probe, 2 successes", probed(1, 2)),
        one("3 probes, 3 successes", probed(3, 3)),
        Setup { latency_ms: None, ..one("leases as long as calls", first()) },
        Setup { hint_ms: Some(15_000), ..setup("quota beside errors", vec![(ErrorRate, first()), (QuotaRate, quota)]) },
        setup("errors beside form", vec![(ErrorRate, error_rate(&[half_of(2)])), (MalformedResponse, malformed)]),
        Setup { latency_ms: None, ..setup("hanging calls", vec![(Latency, slow)]) },
        one("shadow", Policy { shadow_percent: 100, ..first() }),
        setup("latch", vec![(Authentication, Policy { latch: true, ..small(Authentication, &[failures(1)]) })]),
    ]
}
