//! What a contract must print of an opening, from the reasons that the oracle keeps (spec 01).

use tripnote::domain::breaker::policy::Rule;
use tripnote::domain::contract::{Observed, Threshold};
use tripnote::domain::signal::CircuitKind;

use super::oracle::Why;

/// Place of a kind's row in the catalogue of spec 01.
pub(crate) fn precedence(kind: CircuitKind) -> usize {
    use CircuitKind::{Authentication, Authorisation, ErrorRate, Latency, MalformedResponse, QuotaBilling, QuotaRate};
    let rows = [Authentication, Authorisation, ErrorRate, MalformedResponse, QuotaBilling, QuotaRate, Latency];
    rows.iter().position(|row| *row == kind).unwrap_or(rows.len())
}

/// What a contract prints of an opening: observed where it is a share, threshold, and the rule's own count.
pub(crate) fn figures(why: Why, slow_ms: Option<u64>, observe_ms: u64) -> (Option<Observed>, Threshold, (u32, u32)) {
    match why {
        Why::Fired { rule, failed, results, seen, .. } => {
            let threshold = Threshold::Rule { rule, slow_ms };
            let observed = match rule {
                Rule::Failures { failures: 0 | 1, .. } | Rule::Consecutive { failures: 0 | 1 } => {
                    return (Some(Observed::FirstFailure { slow_ms }), threshold, (1, 1));
                }
                Rule::Failures { within_ms, .. } | Rule::Ratio { within_ms, .. } => {
                    let window_ms = observe_ms.max(within_ms);
                    Some(Observed::Share { failed: seen.0, results: seen.1, window_ms, slow_ms })
                }
                Rule::Consecutive { .. } => None,
            };
            (observed, threshold, (failed, results))
        }
        Why::FailedProbe => (Some(Observed::ProbeFailed), Threshold::FailedProbe, (1, 1)),
        Why::LostProbes | Why::Deadline | Why::GoodProbes => {
            (Some(Observed::ProbesLost(3)), Threshold::LostProbes(3), (0, 0))
        }
    }
}
