//! What a circuit is asked and told, and what it answers.

use crate::domain::breaker::policy::{Policy, SliceGrid};
use crate::domain::breaker::window::Ring;
use crate::domain::contract::{Facts, Observed, Threshold};
use crate::domain::observation::Outcome;
use crate::domain::signal::Phase;
use crate::domain::time::Timestamp;

/// Why a circuit opened, with the figures of that moment.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TripCause {
    /// What a contract shows.
    pub observed: Observed,
    /// The rule that fired.
    pub threshold: Threshold,
    /// What the rule itself counted.
    pub facts: Facts,
}

/// The right of one probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The permit's number.
    pub probe: u64,
    /// When it is written off.
    pub ends_at: Timestamp,
}

/// What a circuit answers to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Closed: the call passes.
    Pass,
    /// The call may pass as a leased probe.
    MayProbe,
    /// The call may pass while open, as its arguments are small.
    MayPassSmall,
    /// The call is refused.
    Refuse {
        /// Open or half-open.
        phase: Phase,
        /// When it can be asked again; none until an operator releases it.
        retry_at: Option<Timestamp>,
    },
}

/// What became of a report at one circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Counted, or neutral.
    Counted,
    /// Made under a generation that is gone, or by a probe that was written off.
    Stale,
    /// Counted, and a rule fired: the breaker decides whom it refuses.
    Fires(Box<TripCause>),
    /// Counted, and a failed probe reopens the circuit.
    Reopens,
    /// Counted, and the last good probe that was needed closes the circuit.
    Closes,
}

/// The phase changes that [`Circuit::advance`](super::Circuit::advance) may find overdue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lapsed {
    /// Leases that ended without a report.
    pub lost: usize,
    /// When the last of them ended, where that was the third in a row: the circuit opens again from then on.
    pub reopens_from: Option<Timestamp>,
}

/// What an evaluation looks at beside the circuit.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The moment.
    pub now: Timestamp,
    /// The policy of the circuit's kind.
    pub policy: &'a Policy,
    /// The grid of the breaker.
    pub grid: SliceGrid,
    /// Results of the scope.
    pub results: &'a Ring<1>,
}

/// One report, as one circuit sees it.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The meaning for this kind.
    pub outcome: Outcome,
    /// Whether the result was counted for the scope.
    pub is_counted: bool,
    /// Whether the permit was given a lease here.
    pub is_probe: bool,
    /// The permit's number.
    pub seq: u64,
    /// The generation under which the permit was issued.
    pub generation: u32,
    /// When the permit was issued.
    pub issued_at: Timestamp,
    /// Who reports.
    pub caller: u64,
    /// The size of the arguments, where known.
    pub arguments_bytes: Option<u32>,
}
