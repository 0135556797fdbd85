//! Rows about calls: what was decided, what became of permits and results.

use super::{BREAKER, Label, Metric, NONE, SIGNAL, Unit, words};
use crate::domain::breaker::Acknowledgement;
use crate::domain::observation::{Disposition, Observation};
use crate::domain::signal::{Signal, closed_words};
use crate::engine::tally::Settlement;

closed_words! {
    /// What was decided on a call.
    Decision {
        /// An ordinary permit.
        Admit = "admit",
        /// The permit of a leased probe.
        Probe = "probe",
        /// It was refused.
        Trip = "trip",
        /// Its result came with a contract under it.
        Steer = "steer",
        /// A contract came in place of its result.
        Halt = "halt",
    }
}

fn signals_or_none() -> Vec<&'static str> {
    [words!(Signal), vec![NONE]].concat()
}

/// Decisions.
pub const DECISIONS: Metric = Metric::counter(
    "tripnote_decisions_total",
    &[Label::words("decision", || words!(Decision)), Label::words("signal", signals_or_none)],
    "Decisions on calls; a repeated ask that gets its first answer again is not counted",
);
/// Refusals.
pub const REFUSALS: Metric = Metric::counter(
    "tripnote_refusals_total",
    &[BREAKER],
    "Calls that were refused before they were made, by a circuit, an operator or a session guard",
);
/// Refusals in shadow.
pub const SHADOW_REFUSALS: Metric = Metric::counter(
    "tripnote_shadow_refusals_total",
    &[SIGNAL],
    "Calls that went out and that a circuit in shadow would have refused",
);
/// Permits issued.
pub const PERMITS_ISSUED: Metric =
    Metric::counter("tripnote_permits_issued_total", &[], "Permits that were issued, probes among them");
/// Permits settled.
pub const PERMITS_SETTLED: Metric = Metric::counter(
    "tripnote_permits_settled_total",
    &[Label::words("result", || words!(Settlement))],
    "Permits that were reported, by result, or written off as expired; issued = settled + in flight",
);
/// Permits in flight.
pub const PERMITS_IN_FLIGHT: Metric =
    Metric::gauge("tripnote_permits_in_flight", Unit::Count, &[], "Permits that are neither reported nor expired");
/// The age of the oldest permit.
pub const PERMIT_OLDEST_AGE: Metric = Metric::gauge(
    "tripnote_permit_oldest_age_seconds",
    Unit::Second,
    &[],
    "How long the oldest permit in flight has been out, to a sixty-fourth of `permit_for`; 0 where there is none",
);
/// Reports.
pub const REPORTS: Metric = Metric::counter(
    "tripnote_reports_total",
    &[Label::words("acknowledgement", || words!(Acknowledgement))],
    "Reports by what became of them",
);
/// Results.
pub const RESULTS: Metric = Metric::counter(
    "tripnote_results_total",
    &[Label::words("observation", || words!(Observation))],
    "Results whose payload and transport facts were read here, by what they are",
);
/// Dispositions.
pub const DISPOSITIONS: Metric = Metric::counter(
    "tripnote_dispositions_total",
    &[Label::words("disposition", || words!(Disposition))],
    "First reports of calls by who was to act on them",
);
/// Overruns.
pub const CONTRACT_OVERRUNS: Metric = Metric::counter(
    "tripnote_contract_overruns_total",
    &[],
    "Contracts that were longer than their budget, which is proved at load: anything but 0 is a bug",
);
