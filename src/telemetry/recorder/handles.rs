//! Handles by rows of the catalogue: whoever counts names a row and the values of its labels, and nothing else.
//!
//! With its neighbours the only file that names the crates that keep the numbers. A registry is one of many, not the
//! process's own, so that two services in one process do not count for each other.

use metrics::{Key, KeyName, Label, Level, Metadata, Recorder as _};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

pub(super) use metrics::{Counter, Gauge, Histogram};

use crate::telemetry::catalogue::{Kind, METRICS, Metric};

const METADATA: Metadata<'static> = Metadata::new("tripnote", Level::INFO, None);

/// The numbers of one service.
pub(super) struct Handles {
    registry: PrometheusRecorder,
    text: PrometheusHandle,
}

impl Handles {
    /// Nothing counted; every metric described.
    pub(super) fn new() -> Self {
        let mut builder = PrometheusBuilder::new();
        for metric in METRICS {
            if let Kind::Histogram(bounds) = metric.kind {
                let own = Matcher::Full(metric.name.to_owned());
                // Refused only without bounds, which a test of the catalogue excludes.
                builder = builder.set_buckets_for_metric(own, bounds).unwrap_or_default();
            }
        }
        let registry = builder.build_recorder();
        for Metric { name, kind, help, .. } in METRICS {
            let (name, help) = (KeyName::from_const_str(name), (*help).into());
            match kind {
                Kind::Counter => registry.describe_counter(name, None, help),
                Kind::Gauge => registry.describe_gauge(name, None, help),
                Kind::Histogram(_) => registry.describe_histogram(name, None, help),
            }
        }
        let text = registry.handle();
        Self { registry, text }
    }

    /// The counter of a row with its labels' values, in their order; it stands at 0 where it is new.
    pub(super) fn counter(&self, metric: &Metric, values: &[&str]) -> Counter {
        self.registry.register_counter(&key(metric, values), &METADATA)
    }

    /// The gauge of a row.
    pub(super) fn gauge(&self, metric: &Metric, values: &[&str]) -> Gauge {
        self.registry.register_gauge(&key(metric, values), &METADATA)
    }

    /// The histogram of a row.
    pub(super) fn histogram(&self, metric: &Metric, values: &[&str]) -> Histogram {
        self.registry.register_histogram(&key(metric, values), &METADATA)
    }

    /// Everything in Prometheus' text format.
    pub(super) fn text(&self) -> String {
        self.text.render()
    }

    /// Puts the samples of histograms into their buckets; until then each takes a word.
    pub(super) fn fold(&self) {
        self.text.run_upkeep();
    }
}

fn key(metric: &Metric, values: &[&str]) -> Key {
    debug_assert_eq!(metric.labels.len(), values.len(), "{}", metric.name);
    let labels = metric.labels.iter().zip(values);
    let labels: Vec<Label> = labels.map(|(label, value)| Label::new(label.name, (*value).to_owned())).collect();
    Key::from_parts(metric.name, labels)
}
