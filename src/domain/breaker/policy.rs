//! What an operator may ask of a breaker. Values of these types are valid by construction of `config`, which checks
//! every range; the machine does not check again.

use std::num::NonZeroU32;

use crate::domain::ids::{Code, SafeText, TargetName};
use crate::domain::signal::{CircuitKind, PerKind, closed_words};

/// Hundredths of a percent; 10,000 is all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct BasisPoints(pub u32);

/// When a closed circuit opens. Every comparison is `>=` on integers (spec 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Rule {
    /// `failures` failures in the last `within_ms`. With one failure it is "trip at first failure" and needs no window.
    Failures {
        /// How many; 1 or more.
        failures: u32,
        /// The window in milliseconds.
        within_ms: u64,
    },
    /// At least `min_calls` results in the last `within_ms`, and at least `ratio` of them failed (latency: slow).
    Ratio {
        /// The share that trips, 1 to 10,000 basis points.
        ratio: BasisPoints,
        /// The window in milliseconds.
        within_ms: u64,
        /// The fewest results that are judged; 1 or more.
        min_calls: u32,
    },
    /// `failures` failures in a row, whatever the time between them.
    Consecutive {
        /// How many; 1 or more.
        failures: u32,
    },
}

impl Rule {
    /// The window that the rule looks at, or nothing where it needs none.
    #[must_use]
    pub const fn window_ms(self) -> Option<u64> {
        match self {
            Self::Failures { failures: 0 | 1, .. } | Self::Consecutive { .. } => None,
            Self::Failures { within_ms, .. } | Self::Ratio { within_ms, .. } => Some(within_ms),
        }
    }

    /// Place in the order in which rules are asked and printed (spec 2.3).
    #[must_use]
    pub const fn order(self) -> u8 {
        match self {
            Self::Failures { .. } => 0,
            Self::Ratio { .. } => 1,
            Self::Consecutive { .. } => 2,
        }
    }
}

closed_words! {
    /// What shares one circuit (spec 2.1).
    ScopeKind {
        /// Each target has its own.
        Target = "target",
        /// All targets of the breaker share one.
        Breaker = "breaker",
        /// Each credential has its own over all targets of the breaker; each caller where no credential is named.
        Credential = "credential",
        /// Each pair of target and credential has its own.
        TargetCredential = "target+credential",
    }
}

impl ScopeKind {
    /// The scope that a kind has where the configuration is silent (spec 2.1).
    #[must_use]
    pub const fn default_of(kind: CircuitKind) -> Self {
        match kind {
            CircuitKind::ErrorRate | CircuitKind::Latency | CircuitKind::MalformedResponse => Self::Target,
            CircuitKind::Authentication | CircuitKind::QuotaRate | CircuitKind::QuotaBilling => Self::Credential,
            CircuitKind::Authorisation => Self::TargetCredential,
        }
    }
}

/// How long a circuit stays open: clamp(max(base × factor^level × (1 + jitter), hint), base, max).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFor {
    /// The first open time in milliseconds, also the shortest.
    pub base_ms: u64,
    /// The longest open time in milliseconds, also of a server hint.
    pub max_ms: u64,
    /// Growth per level; 10,000 keeps it the same.
    pub factor: BasisPoints,
    /// The most that is added at random; never to a server hint.
    pub jitter: BasisPoints,
}

/// The policy of one kind of circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// In the order of [`Rule::order`]; at least one.
    pub rules: Vec<Rule>,
    /// The window that `observed` speaks of; a rule with a longer window speaks of its own.
    pub observe_ms: u64,
    /// What shares one circuit.
    pub scope: ScopeKind,
    /// How long it stays open.
    pub open_for: OpenFor,
    /// Leases at once while half-open; 1 or more.
    pub probes: u16,
    /// Good probes that close; 1 or more.
    pub successes: u16,
    /// How long a probe may take before it is written off, in milliseconds.
    pub lease_ms: u64,
    /// Healthy time after closing that takes the backoff level one step down, in milliseconds.
    pub healthy_window_ms: u64,
    /// Distinct callers that must have seen failures before all are refused; 1 or more.
    pub min_reporters: u16,
    /// Stays open until an operator or a new credential (auth_failure only).
    pub latch: bool,
    /// The share of sessions, in percent, for which it decides, counts and explains but does not refuse.
    pub shadow_percent: u8,
    /// What slow is, in milliseconds (latency only, where it is always given).
    pub slow_ms: Option<u64>,
    /// Calls in flight longer than `slow_ms` count (latency only).
    pub in_flight: bool,
}

impl Policy {
    /// Whether calls in flight are followed.
    #[must_use]
    pub fn follows_calls(&self) -> bool {
        self.in_flight && self.slow_ms.is_some()
    }

    /// Whether results must be counted over time for this policy.
    #[must_use]
    pub fn is_windowed(&self) -> bool {
        self.rules.iter().any(|rule| rule.window_ms().is_some())
    }
}

/// A named alternative (spec 01, field 9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// What the model is told, e.g. a tool's or an API's name.
    pub name: SafeText,
    /// The target whose circuits say whether it is admissible now.
    pub target: TargetName,
    /// A note after the name, e.g. `same request shape`.
    pub note: Option<SafeText>,
}

/// One configured protection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakerPolicy {
    /// The stable code; none where it is made from each target.
    pub code: Option<Code>,
    /// Globs over target names.
    pub targets: Vec<String>,
    /// One policy per kind; none is off.
    pub policies: PerKind<Option<Policy>>,
    /// Tried in order.
    pub fallback: Vec<Fallback>,
    /// Small calls may pass while `latency` is open.
    pub reducible: bool,
    /// Calls that may run at once over all sessions, at most [`CALLS_AT_ONCE_MAX`](super::running::CALLS_AT_ONCE_MAX);
    /// none: as many as there are.
    pub calls_at_once: Option<NonZeroU32>,
}

/// The narrowest and widest slice grid of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceGrid {
    /// Width of a slice in milliseconds: a tenth of the shortest window.
    pub slice_ms: u64,
    /// The longest window in milliseconds; what is older is forgotten.
    pub span_ms: u64,
}

/// Slices in the shortest window (spec 2.3: ten or more).
pub const SLICES_IN_SHORTEST: u64 = 10;
/// The longest window of a breaker is at most this many times its shortest, so that a ring is at most 10,000 slices.
pub const WINDOW_SPREAD_MAX: u64 = 1_000;

impl BreakerPolicy {
    /// The grid on which all windows of this breaker are cut. All kinds share it, so that one count of results serves
    /// every kind of a scope.
    #[must_use]
    pub fn slice_grid(&self) -> SliceGrid {
        let mut shortest = u64::MAX;
        let mut longest = 0;
        for (_, policy) in self.policies.iter() {
            let Some(policy) = policy else { continue };
            for window_ms in policy.rules.iter().filter_map(|rule| rule.window_ms()) {
                shortest = shortest.min(window_ms);
                longest = longest.max(window_ms).max(policy.observe_ms);
            }
        }
        if longest == 0 {
            (shortest, longest) = (60_000, 60_000);
        }
        SliceGrid { slice_ms: (shortest / SLICES_IN_SHORTEST).max(1), span_ms: longest }
    }
}

impl Default for BreakerPolicy {
    /// The defaults of spec 2.7.
    fn default() -> Self {
        Self {
            code: None,
            targets: vec![],
            policies: PerKind::from_fn(default_policy),
            fallback: vec![],
            reducible: false,
            calls_at_once: None,
        }
    }
}

/// The policy of `kind` where the configuration is silent (spec 2.7); `latency` is off until a breaker says what slow is.
#[must_use]
pub fn default_policy(kind: CircuitKind) -> Option<Policy> {
    const SECOND: u64 = 1_000;
    const MINUTE: u64 = 60 * SECOND;
    const HOUR: u64 = 60 * MINUTE;
    let first_failure = || vec![Rule::Failures { failures: 1, within_ms: MINUTE }];
    let half_in_a_minute = Rule::Ratio { ratio: BasisPoints(5_000), within_ms: MINUTE, min_calls: 10 };
    let (rules, base_ms, max_ms) = match kind {
        CircuitKind::ErrorRate => (
            vec![
                Rule::Failures { failures: 3, within_ms: 30 * SECOND },
                half_in_a_minute,
                Rule::Consecutive { failures: 5 },
            ],
            30 * SECOND,
            15 * MINUTE,
        ),
        CircuitKind::Latency => return None,
        CircuitKind::MalformedResponse => {
            (vec![Rule::Failures { failures: 3, within_ms: 5 * MINUTE }], MINUTE, 15 * MINUTE)
        }
        CircuitKind::Authentication | CircuitKind::Authorisation => (first_failure(), 5 * MINUTE, HOUR),
        CircuitKind::QuotaRate => (first_failure(), 30 * SECOND, HOUR),
        CircuitKind::QuotaBilling => (first_failure(), HOUR, 24 * HOUR),
    };
    Some(Policy {
        rules,
        observe_ms: MINUTE,
        scope: ScopeKind::default_of(kind),
        open_for: OpenFor { base_ms, max_ms, factor: BasisPoints(20_000), jitter: BasisPoints(1_000) },
        probes: 1,
        successes: 1,
        lease_ms: 30 * SECOND,
        healthy_window_ms: 5 * MINUTE,
        min_reporters: 1,
        latch: false,
        shadow_percent: 0,
        slow_ms: None,
        in_flight: true,
    })
}

/// What `latency` is where a breaker gives only `slow` (spec 2.7).
#[must_use]
pub fn default_latency_policy(slow_ms: u64) -> Policy {
    Policy {
        rules: vec![Rule::Ratio { ratio: BasisPoints(5_000), within_ms: 60_000, min_calls: 10 }],
        observe_ms: 60_000,
        scope: ScopeKind::Target,
        open_for: OpenFor { base_ms: 30_000, max_ms: 900_000, factor: BasisPoints(20_000), jitter: BasisPoints(1_000) },
        probes: 1,
        successes: 1,
        lease_ms: 30_000,
        healthy_window_ms: 300_000,
        min_reporters: 1,
        latch: false,
        shadow_percent: 0,
        slow_ms: Some(slow_ms),
        in_flight: true,
    }
}
