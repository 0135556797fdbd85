//! What a scrape says, read back, and what has to hold of every one.

use std::collections::{BTreeMap, BTreeSet};

use tripnote::telemetry::catalogue::{Kind, METRICS, Metric, Values};

/// The labels of a series.
pub(crate) type Labels = BTreeMap<String, String>;

/// One scrape.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    /// Series by their names, with those of histograms' parts.
    pub(crate) series: BTreeMap<String, Vec<(Labels, f64)>>,
    types: BTreeMap<String, String>,
}

impl Exposition {
    pub(crate) fn read(text: &str) -> Self {
        let mut exposition = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(of) = line.strip_prefix("# TYPE ") {
                let (name, of) = of.split_once(' ').unwrap();
                exposition.types.insert(name.to_owned(), of.to_owned());
            } else if !line.starts_with('#') {
                let (series, value) = line.rsplit_once(' ').unwrap();
                let (name, labels) = series.strip_suffix('}').map_or((series, ""), |s| s.split_once('{').unwrap());
                let labels = labels.split("\",").filter(|label| !label.is_empty()).map(|label| {
                    let (name, value) = label.split_once("=\"").unwrap();
                    (name.to_owned(), value.trim_end_matches('"').to_owned())
                });
                let sample = (labels.collect(), value.parse().unwrap());
                exposition.series.entry(name.to_owned()).or_default().push(sample);
            }
        }
        exposition
    }

    /// The sum over the series that have these labels.
    pub(crate) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let has = |of: &Labels| labels.iter().all(|(name, value)| of.get(*name).is_some_and(|own| own == value));
        self.series.get(name).into_iter().flatten().filter(|(of, _)| has(of)).map(|(_, value)| value).sum()
    }

    /// The series of a metric, summed by some of its labels.
    fn by(&self, name: &str, labels: &[&str]) -> BTreeMap<Vec<String>, f64> {
        let mut sums = BTreeMap::new();
        for (of, value) in self.series.get(name).into_iter().flatten() {
            let key: Vec<String> = labels.iter().map(|label| of.get(*label).cloned().unwrap_or_default()).collect();
            *sums.entry(key).or_default() += value;
        }
        sums
    }

    pub(crate) fn len(&self) -> usize {
        self.series.values().map(Vec::len).sum()
    }

    /// What does not hold, though it has to at every moment.
    pub(crate) fn faults(&self, breakers: &[&str], variants: &[&str]) -> Vec<String> {
        let mut faults = self.strangers(breakers, variants);
        let part = ["breaker", "signal", "variant"];
        let trips = self.by("tripnote_trips_total", &part);
        for later in
            ["tripnote_trip_followups_total", "tripnote_trip_resolutions_total", "tripnote_repeated_trips_total"]
        {
            for (of, count) in self.by(later, &part) {
                if count > trips.get(&of).copied().unwrap_or(0.0) {
                    faults.push(format!("{later} of {of:?} is {count}, above the trips"));
                }
            }
        }
        let recovered = |(of, value): &(Labels, f64)| (of["outcome"] == "recovered").then_some(*value);
        let recovered: f64 = self.series["tripnote_trip_resolutions_total"].iter().filter_map(recovered).sum();
        let turns = self.sum("tripnote_recovery_turns_count", &[]);
        if recovered.to_bits() != turns.to_bits() {
            faults.push(format!("{recovered} trips recovered, the turns of {turns} are counted"));
        }
        let issued = self.sum("tripnote_permits_issued_total", &[]);
        let known = self.sum("tripnote_permits_settled_total", &[]) + self.sum("tripnote_permits_in_flight", &[]);
        if issued.to_bits() != known.to_bits() {
            faults.push(format!("{issued} permits were issued, of {known} it is known what became of them"));
        }
        for (of, sum) in self.by("tripnote_breaker_state", &["breaker"]) {
            if sum.to_bits() != 1.0_f64.to_bits() {
                faults.push(format!("the states of {of:?} sum up to {sum}"));
            }
        }
        faults
    }

    /// Names, kinds and labels that the catalogue does not have, and metrics of it that are not there.
    fn strangers(&self, breakers: &[&str], variants: &[&str]) -> Vec<String> {
        let mut faults = vec![];
        let mut seen = BTreeSet::new();
        for (name, series) in &self.series {
            let Some(metric) = metric_of(name) else {
                faults.push(format!("{name} is not in the catalogue"));
                continue;
            };
            seen.insert(metric.name);
            let of = match metric.kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram(_) => "histogram",
            };
            if self.types.get(metric.name).is_none_or(|own| own != of) {
                faults.push(format!("{} is {:?}, not {of}", metric.name, self.types.get(metric.name)));
            }
            for (labels, _) in series {
                faults.extend(strange_labels(metric, labels, breakers, variants));
            }
        }
        let is_due = |metric: &&Metric| {
            let of_configured = ["tripnote_breaker_state", "tripnote_breaker_opened_timestamp_seconds"];
            !breakers.is_empty() || !of_configured.contains(&metric.name)
        };
        let missing = METRICS.iter().filter(is_due).filter(|metric| !seen.contains(metric.name));
        faults.extend(missing.map(|metric| format!("{} is not there", metric.name)));
        faults
    }
}

/// The row of a name, with the endings of histograms.
fn metric_of(name: &str) -> Option<&'static Metric> {
    let of_histogram = |metric: &&Metric| {
        let is_histogram = matches!(metric.kind, Kind::Histogram(_));
        let ending = name.strip_prefix(metric.name);
        is_histogram && ending.is_some_and(|ending| ["_bucket", "_sum", "_count"].contains(&ending))
    };
    METRICS.iter().find(|metric| metric.name == name).or_else(|| METRICS.iter().find(of_histogram))
}

fn strange_labels(metric: &Metric, labels: &Labels, breakers: &[&str], variants: &[&str]) -> Vec<String> {
    let name = metric.name;
    let mut faults = vec![];
    let due: BTreeSet<&str> = metric.labels.iter().map(|label| label.name).collect();
    let own: BTreeSet<&str> = labels.keys().map(String::as_str).filter(|label| *label != "le").collect();
    if due != own {
        faults.push(format!("{name} has the labels {own:?}, not {due:?}"));
    }
    let guards = ["session_scope", "session_effects", "session_progress", "session_fan_out"];
    for label in metric.labels {
        let value = labels.get(label.name).map_or("", String::as_str);
        let is_known = match label.values {
            Values::Words(words) => words().contains(&value),
            Values::Breakers => value == "other" || breakers.contains(&value) || guards.contains(&value),
            Values::Variants => value == "other" || variants.contains(&value),
            Values::Methods | Values::Version => !value.is_empty(),
        };
        if !is_known {
            faults.push(format!("{name} has {} `{value}`", label.name));
        }
    }
    faults
}
