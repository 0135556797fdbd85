//! The figures of a contract: what was observed, which rule fired, what is true now. Each prints its own bounded text.

use std::fmt::{self, Display, Formatter};

use super::session::SessionFigures;
use crate::domain::breaker::policy::{BasisPoints, Rule};
use crate::domain::ids::SafeText;
use crate::domain::time::{RelativeHint, Span, Timestamp, UtcDeadline, WallClock};

/// Field 5: the figures that the rule compared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Observed {
    /// A share of the results of a window failed, or was slow.
    Share {
        /// How many failed, or were slow.
        failed: u32,
        /// Of how many.
        results: u32,
        /// In how many milliseconds.
        window_ms: u64,
        /// What slow is; none for failures.
        slow_ms: Option<u64>,
    },
    /// A run of failures, whatever the time between them.
    Consecutive {
        /// How many.
        failures: u32,
        /// From the first to the last, in milliseconds.
        over_ms: u64,
        /// What slow is; none for failures.
        slow_ms: Option<u64>,
    },
    /// One failure was enough.
    FirstFailure {
        /// What slow is; none for failures.
        slow_ms: Option<u64>,
    },
    /// A half-open circuit's probe failed.
    ProbeFailed,
    /// A half-open circuit's probes were not reported.
    ProbesLost(
        /// How many in a row.
        u8,
    ),
    /// An operator holds it.
    Held {
        /// The first owner.
        owner: SafeText,
        /// How many others hold it too.
        others: usize,
    },
    /// A latch holds it.
    Latched,
    /// A session guard's figures.
    Session(SessionFigures),
}

impl Display for Observed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share { failed, results, window_ms, slow_ms } => match slow_ms {
                None => write!(f, "{failed}/{results} failed in last {}", Span(*window_ms)),
                Some(slow) => write!(f, "{failed}/{results} slower than {} in last {}", Span(*slow), Span(*window_ms)),
            },
            Self::Consecutive { failures, over_ms, slow_ms } => {
                let over = Span((*over_ms).max(1).div_ceil(1_000).saturating_mul(1_000));
                match slow_ms {
                    None => write!(f, "{failures} consecutive failures in {over}"),
                    Some(slow) => write!(f, "{failures} consecutive slower than {} in {over}", Span(*slow)),
                }
            }
            Self::FirstFailure { slow_ms: None } => f.write_str("1 failure"),
            Self::FirstFailure { slow_ms: Some(slow) } => write!(f, "1 call slower than {}", Span(*slow)),
            Self::ProbeFailed => f.write_str("probe failed"),
            Self::ProbesLost(lost) => write!(f, "{lost} probes lost in a row"),
            Self::Held { owner, others: 0 } => write!(f, "held by {}", owner.as_str()),
            Self::Held { owner, others } => write!(f, "held by {} and {others} more", owner.as_str()),
            Self::Latched => f.write_str("latched"),
            Self::Session(figures) => figures.write_observed(f),
        }
    }
}

/// Field 6: the rule that fired.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Threshold {
    /// A configured rule.
    Rule {
        /// The rule.
        rule: Rule,
        /// What slow is; none for failures.
        slow_ms: Option<u64>,
    },
    /// A failed probe reopens.
    FailedProbe,
    /// Lost probes reopen.
    LostProbes(
        /// How many in a row.
        u8,
    ),
    /// An operator's word.
    OperatorOverride,
    /// The policy says `latch`.
    Latch,
    /// A session guard's rule.
    Session(SessionFigures),
}

impl Display for Threshold {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { rule, slow_ms } => write_rule(*rule, slow_ms.map(Span), f),
            Self::FailedProbe => f.write_str("trip at 1 failed probe"),
            Self::LostProbes(lost) => write!(f, "trip at {lost} lost probes in a row"),
            Self::OperatorOverride => f.write_str("operator override"),
            Self::Latch => f.write_str("latch"),
            Self::Session(figures) => figures.write_threshold(f),
        }
    }
}

fn write_rule(rule: Rule, slow: Option<Span>, f: &mut Formatter<'_>) -> fmt::Result {
    match (rule, slow) {
        (Rule::Failures { failures: 1, .. } | Rule::Consecutive { failures: 1 }, None) => {
            f.write_str("trip at first failure")
        }
        (Rule::Failures { failures: 1, .. } | Rule::Consecutive { failures: 1 }, Some(slow)) => {
            write!(f, "trip at first call slower than {slow}")
        }
        (Rule::Failures { failures, within_ms }, None) => {
            write!(f, "trip at {failures} failures in {}", Span(within_ms))
        }
        (Rule::Failures { failures, within_ms }, Some(slow)) => {
            write!(f, "trip at {failures} slower than {slow} in {}", Span(within_ms))
        }
        (Rule::Ratio { ratio, within_ms, min_calls }, None) => {
            write!(f, "trip at {ratio} of at least {min_calls} in {}", Span(within_ms))
        }
        (Rule::Ratio { ratio, within_ms, .. }, Some(slow)) => {
            write!(f, "trip at {ratio} slower than {slow} in {}", Span(within_ms))
        }
        (Rule::Consecutive { failures }, None) => write!(f, "trip at {failures} consecutive failures"),
        (Rule::Consecutive { failures }, Some(slow)) => write!(f, "trip at {failures} consecutive slower than {slow}"),
    }
}

impl Display for BasisPoints {
    /// Percent with as many decimals as it has: `50%`, `49.5%`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (whole, hundredths) = (self.0 / 100, self.0 % 100);
        match hundredths {
            0 => write!(f, "{whole}%"),
            tenths if tenths % 10 == 0 => write!(f, "{whole}.{}%", tenths / 10),
            _ => write!(f, "{whole}.{hundredths:02}%"),
        }
    }
}

/// Field 7: what is true now and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Open until a deadline.
    OpenUntil(
        /// The deadline.
        Timestamp,
    ),
    /// Held by an operator until a deadline, or sooner.
    HeldUntil(
        /// The expiry.
        Timestamp,
    ),
    /// Held without an end.
    UntilReleased,
    /// Half-open with all probes taken.
    ProbeRunning {
        /// When the first of the running leases ends.
        lease_ends: Timestamp,
    },
    /// A session guard's state.
    Session(SessionFigures),
}

impl Standing {
    /// The text at `now`; without an absolute time where the wall clock is not trusted.
    pub fn write(&self, now: Timestamp, wall: WallClock, out: &mut impl fmt::Write) -> fmt::Result {
        match self {
            Self::OpenUntil(at) => {
                write_until(*at, now, wall, out)?;
                out.write_str(", then half_open")
            }
            Self::HeldUntil(at) => {
                write_until(*at, now, wall, out)?;
                out.write_str(", or until released")
            }
            Self::UntilReleased => out.write_str("open until an operator releases it"),
            Self::ProbeRunning { lease_ends } => {
                let hint = RelativeHint { ms: lease_ends.since_ms(now) };
                write!(out, "half_open, probe running, ask again in {hint}")
            }
            Self::Session(figures) => out.write_str(figures.state()),
        }
    }
}

fn write_until(at: Timestamp, now: Timestamp, wall: WallClock, out: &mut impl fmt::Write) -> fmt::Result {
    let hint = RelativeHint { ms: at.since_ms(now) };
    if wall.trusted {
        write!(out, "open until {} ({hint} from now)", UtcDeadline { at, now, wall })
    } else {
        write!(out, "open for {hint}")
    }
}
