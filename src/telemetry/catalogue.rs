//! Every metric there is, as one table: what it is called, what it counts, and which values its labels can have.
//!
//! Descriptions, buckets, the series that stand at zero from the start, the README's table, and the checks of dashboards
//! and rules all follow from these rows. Knows nothing of how they are kept or sent.
//!
//! A name is API from its first release on. No label holds what a client sends: breakers and wordings are those of the
//! configuration, all else is a closed word.

mod calls;
mod circuits;
mod service;
mod sessions;
mod store;
mod trips;

pub use calls::*;
pub use circuits::*;
pub use service::*;
pub use sessions::*;
pub use store::*;
pub use trips::*;

/// The value of `breaker` for those that the configuration does not name, and those that there is no place for.
pub const OTHER: &str = "other";
/// The value of `signal` where there is none.
pub const NONE: &str = "none";

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its whole name, so that it can be searched for.
    pub name: &'static str,
    /// How it is read.
    pub kind: Kind,
    /// What one of it is.
    pub unit: Unit,
    /// Its labels, in order.
    pub labels: &'static [Label],
    /// What it says, in one line.
    pub help: &'static str,
    /// Whether it may change.
    pub stability: Stability,
}

/// How a metric is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Grows, and starts anew with the process.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts by upper bounds, which can be added up over replicas.
    Histogram(
        /// The bounds, rising; the last is followed by `+Inf`.
        &'static [f64],
    ),
}

/// What one of a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One of what its name says.
    Count,
    /// A second; as a gauge with `timestamp` in its name, since 1970.
    Second,
    /// A byte.
    Byte,
    /// A model step.
    Turn,
    /// 1 where it is so, else 0.
    Truth,
}

/// Whether a metric may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// Name, labels and meaning stay.
    Stable,
    /// They may change with a release that says so.
    Experimental,
}

/// A label of a metric.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// What it can be.
    pub values: Values,
}

/// What a label can be.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// One of these words.
    Words(
        /// All of them.
        fn() -> Vec<&'static str>,
    ),
    /// The code of a breaker of the configuration, the fixed code of a session guard, or [`OTHER`].
    Breakers,
    /// The name of a wording of the configuration, or [`OTHER`].
    Variants,
    /// A method, service or type of a gRPC call that the protos name, or [`OTHER`].
    Methods,
    /// The version of this program: one value a process.
    Version,
}

impl Label {
    const fn words(name: &'static str, words: fn() -> Vec<&'static str>) -> Self {
        Self { name, values: Values::Words(words) }
    }
}

/// The label `breaker`.
const BREAKER: Label = Label { name: "breaker", values: Values::Breakers };
/// The label `variant`.
const VARIANT: Label = Label { name: "variant", values: Values::Variants };
/// The label `signal`.
const SIGNAL: Label = Label::words("signal", || words!(crate::domain::signal::Signal));

/// The words of a closed list.
macro_rules! words {
    ($words:ty) => {
        <$words>::ALL.iter().map(|word| word.word()).collect::<Vec<&'static str>>()
    };
}
use words;

impl Metric {
    const fn counter(name: &'static str, labels: &'static [Label], help: &'static str) -> Self {
        Self { name, kind: Kind::Counter, unit: Unit::Count, labels, help, stability: Stability::Stable }
    }

    const fn gauge(name: &'static str, unit: Unit, labels: &'static [Label], help: &'static str) -> Self {
        Self { name, kind: Kind::Gauge, unit, labels, help, stability: Stability::Stable }
    }

    const fn histogram(
        name: &'static str,
        (unit, bounds): (Unit, &'static [f64]),
        labels: &'static [Label],
        help: &'static str,
    ) -> Self {
        Self { name, kind: Kind::Histogram(bounds), unit, labels, help, stability: Stability::Stable }
    }

    const fn experimental(self) -> Self {
        Self { stability: Stability::Experimental, ..self }
    }
}

/// All of them, in the order of the README.
pub static METRICS: &[Metric] = &[
    DECISIONS,
    REFUSALS,
    SHADOW_REFUSALS,
    PERMITS_ISSUED,
    PERMITS_SETTLED,
    PERMITS_IN_FLIGHT,
    PERMIT_OLDEST_AGE,
    REPORTS,
    RESULTS,
    DISPOSITIONS,
    CONTRACT_OVERRUNS,
    TRIPS,
    FOLLOW_UPS,
    RESOLUTIONS,
    RECOVERY_TURNS,
    REPEATED_TRIPS,
    REPEATS,
    TRIP_SESSIONS,
    TRANSITIONS,
    BREAKER_STATE,
    BREAKER_OPENED,
    CIRCUITS,
    PROBES_LOST,
    OPERATOR_ACTIONS,
    TARGETS,
    BREAKERS,
    EVICTIONS,
    OVERFLOWS,
    SESSIONS_OPEN,
    SESSIONS_STARTED,
    SESSIONS_ENDED,
    SESSION_STEERS,
    SESSION_HALTS,
    SESSION_STEER_THEN_HALTS,
    STEER_THEN_HALTS,
    STEER_THEN_HALT_ALERTS,
    ALERT_STEER_THEN_HALT,
    FALSE_HALTS,
    REVIEWS,
    REVIEW_FAULTS,
    RPC_STARTED,
    RPC_HANDLED,
    RPC_SECONDS,
    HTTP_REQUESTS,
    HTTP_SECONDS,
    STORE_UP,
    STORE_COMMITS,
    STORE_COMMIT_SECONDS,
    STORE_RECORDS,
    STORE_BYTES,
    STORE_UNWRITTEN,
    DEGRADED_DECISIONS,
    EVENTS,
    EVENTS_LOST,
    AUDITED,
    EVENT_WATCHERS,
    CONFIG_RELOADS,
    CONFIG_LAST_RELOAD,
    CONFIG_LAST_SUCCESS,
    CONFIG_VERSION,
    CLOCK_DISTRUSTED,
    BUILD_INFO,
    PROCESS_CPU,
    PROCESS_MEMORY,
    PROCESS_VIRTUAL,
    PROCESS_VIRTUAL_MAX,
    PROCESS_FILES,
    PROCESS_FILES_MAX,
    PROCESS_THREADS,
    PROCESS_START,
];

/// The README's table of metrics.
#[must_use]
pub fn readme_table() -> String {
    let mut table = String::from("| metric | kind | labels | meaning |\n|---|---|---|---|\n");
    for metric in METRICS {
        let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{}`", label.name)).collect();
        let experimental = if metric.stability == Stability::Experimental { " (experimental)" } else { "" };
        let Metric { name, help, .. } = metric;
        table += &format!("| `{name}` | {} | {} | {help}{experimental} |\n", written(metric), labels.join(", "));
    }
    table
}

/// The kind of a metric with its unit or its bounds.
fn written(metric: &Metric) -> String {
    let unit = match metric.unit {
        Unit::Count => "",
        Unit::Second => ", seconds",
        Unit::Byte => ", bytes",
        Unit::Turn => ", model steps",
        Unit::Truth => ", 0 or 1",
    };
    match metric.kind {
        Kind::Counter => format!("counter{unit}"),
        Kind::Gauge => format!("gauge{unit}"),
        Kind::Histogram(bounds) => {
            let bounds: Vec<String> = bounds.iter().map(f64::to_string).collect();
            format!("histogram{unit}: {}", bounds.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_those_that_prometheus_asks_for() {
        let mut names = BTreeSet::new();
        for Metric { name, kind, unit, labels, help, .. } in METRICS {
            assert!(names.insert(name), "{name} twice");
            let is_prefixed = ["tripnote_", "grpc_server_", "process_"].iter().any(|prefix| name.starts_with(prefix));
            assert!(is_prefixed, "{name}");
            assert_eq!(name.ends_with("_total"), *kind == Kind::Counter, "{name}");
            let (says_seconds, says_bytes) = (name.contains("_seconds"), name.contains("_bytes"));
            assert_eq!((says_seconds, says_bytes), (*unit == Unit::Second, *unit == Unit::Byte), "{name}");
            assert!(help.len() > 10 && !help.ends_with('.') && !help.contains('|'), "{name}: {help}");
            let distinct: BTreeSet<&str> = labels.iter().map(|label| label.name).collect();
            assert_eq!(distinct.len(), labels.len(), "{name}");
        }
    }

    #[test]
    fn bounds_rise() {
        for Metric { name, kind, .. } in METRICS {
            if let Kind::Histogram(bounds) = kind {
                assert!(bounds.is_sorted_by(|one, next| one < next) && !bounds.is_empty(), "{name}");
            }
        }
    }

    #[test]
    fn no_label_is_named_after_what_a_client_sends() {
        let labels: BTreeSet<&str> = METRICS.iter().flat_map(|metric| metric.labels).map(|label| label.name).collect();
        for word in ["session", "target", "scope", "tool", "caller", "credential", "arguments", "call", "task", "owner"]
        {
            assert!(!labels.contains(word), "{word}");
        }
    }
}
