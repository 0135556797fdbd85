//! What is kept of a circuit over a restart: that it was not closed, and until when. Windows are rebuilt in seconds and
//! leases die with their permits, so that neither is written down.
//!
//! Pure, and names no format.

use super::{Circuit, Open, State, TripCause};
use crate::domain::breaker::policy::Policy;
use crate::domain::signal::CircuitKind;
use crate::domain::time::Timestamp;

/// A circuit that is not closed, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CircuitSnapshot {
    /// What it watches.
    pub kind: CircuitKind,
    /// The number of its phase.
    pub generation: u32,
    /// When that began.
    pub since: Timestamp,
    /// The backoff level.
    pub level: u8,
    /// The deadline; none: until an operator releases it.
    pub until: Option<Timestamp>,
    /// Why it opened.
    pub cause: TripCause,
    /// The size of arguments that may pass one at a time.
    pub max_argument_bytes: Option<u32>,
}

impl Circuit {
    /// What is kept of it; none while it is closed. Half-open is kept as open whose deadline has passed: its probes were
    /// leased to permits that a restart ends.
    #[must_use]
    pub fn snapshot(&self) -> Option<CircuitSnapshot> {
        let (generation, until, cause, max_argument_bytes) = match &self.state {
            State::Closed(_) => return None,
            State::Open(open) => (self.generation, open.until, &open.cause, open.max_argument_bytes),
            State::HalfOpen(half) => (self.generation.wrapping_add(1), Some(self.since), &half.cause, None),
        };
        Some(CircuitSnapshot {
            kind: self.kind,
            generation,
            since: self.since,
            level: self.level,
            until,
            cause: cause.clone(),
            max_argument_bytes,
        })
    }

    /// The circuit of a snapshot, open for what is left of its time and never for longer than its policy allows.
    #[must_use]
    pub fn restore(snapshot: CircuitSnapshot, now: Timestamp, policy: &Policy) -> Self {
        let CircuitSnapshot { kind, generation, since, level, until, cause, max_argument_bytes } = snapshot;
        let latest = now.plus_ms(policy.open_for.max_ms.max(policy.open_for.base_ms));
        let until = until.map(|until| until.min(latest));
        let open = Open { until, cause, max_argument_bytes, small_pass: None };
        let state = State::Open(Box::new(open));
        Self { generation, since: since.min(now), level, state, ..Self::new(kind) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Answer, Lease};
    use super::*;
    use crate::domain::breaker::backoff::Duration;
    use crate::domain::breaker::policy::BreakerPolicy;
    use crate::domain::contract::{Facts, Observed, Threshold};

    fn opened(open_for_ms: Option<u64>, policy: &Policy) -> Circuit {
        let (observed, threshold) = (Observed::ProbeFailed, Threshold::FailedProbe);
        let cause = TripCause { observed, threshold, facts: Facts::default() };
        let mut circuit = Circuit::new(CircuitKind::ErrorRate);
        circuit.raise_level();
        let from = Timestamp(1_000);
        circuit.open(from, policy, cause, Duration { from, open_for_ms, hint_clamped: false }, false);
        circuit
    }

    fn read_again(circuit: &Circuit, at: u64, policy: &Policy) -> Circuit {
        let written = serde_json::to_vec(&circuit.snapshot().unwrap()).unwrap();
        Circuit::restore(serde_json::from_slice(&written).unwrap(), Timestamp(at), policy)
    }

    #[test]
    fn an_open_circuit_that_is_restored_at_any_moment_answers_as_one_that_never_stopped() {
        let defaults = BreakerPolicy::default();
        let policy = defaults.policies.at(CircuitKind::ErrorRate).as_ref().unwrap();
        for open_for_ms in [None, Some(1), Some(policy.open_for.base_ms), Some(policy.open_for.max_ms)] {
            let circuit = opened(open_for_ms, policy);
            let end = open_for_ms.unwrap_or(60_000) + 1_000;
            for at in [1_000, 1_001, end / 2 + 500, end - 1, end, end + 1, end + 3_600_000] {
                let restored = read_again(&circuit, at, policy);
                assert_eq!(restored, circuit, "{open_for_ms:?} at {at}");
                for later in [at, at + 1, end, end + 1] {
                    let later = Timestamp(later);
                    assert_eq!(restored.answer(later, policy, None), circuit.answer(later, policy, None));
                    assert_eq!(restored.level(later, policy), circuit.level(later, policy));
                }
            }
        }
    }

    #[test]
    fn half_open_is_kept_as_open_whose_time_is_over_under_a_generation_of_its_own() {
        let defaults = BreakerPolicy::default();
        let policy = defaults.policies.at(CircuitKind::ErrorRate).as_ref().unwrap();
        let mut circuit = opened(Some(10), policy);
        assert!(circuit.lease(Timestamp(2_000), Lease { probe: 7, ends_at: Timestamp(9_000) }));
        let restored = read_again(&circuit, 2_500, policy);
        assert_eq!(restored.answer(Timestamp(2_500), policy, None), Answer::MayProbe);
        assert_eq!((restored.generation, restored.leases()), (circuit.generation + 1, &[][..]));
    }
}
