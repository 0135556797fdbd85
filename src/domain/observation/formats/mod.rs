//! The formats, one file each. A format recognises itself from the payload's structure and says what only it knows;
//! what all have in common stands in [`common`].

mod anthropic;
mod aws;
mod bigquery;
mod clickhouse;
mod cloudwatch;
mod cloudwatch_logs;
mod common;
mod datadog;
mod dynamodb;
mod elasticsearch;
mod envelope;
mod evaluation;
mod file;
mod github;
mod google;
mod grafana;
mod graphql;
mod jaeger;
mod kubernetes;
mod loki;
mod openai;
mod problem_json;
mod prometheus;
mod slack;
mod sql;
mod stripe;
mod taught;
mod tempo;
mod web_search;

pub(super) use kubernetes::of_reason as of_kubernetes_reason;
pub(super) use taught::Taught;

use super::finding::Finding;
use super::format::Format;
use super::look::{Body, Look};

/// What a format knows of its payloads, step by step of the order of decision. Every step may have nothing to say.
pub(super) trait PayloadFormat: Sync {
    /// Its word.
    fn format(&self) -> Format;

    /// Whether a payload is of this format, by its structure.
    fn recognises(&self, look: &Look<'_>) -> bool;

    /// What the outcomes of the elements of an envelope come to.
    fn element_outcomes(&self, _: &Look<'_>) -> Option<Finding> {
        None
    }

    /// Whether the body says that the query failed.
    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        common::failure(look)
    }

    /// Whether a part that must be there is missing, or of the wrong type.
    fn contract_check(&self, _: &Look<'_>) -> Option<Finding> {
        None
    }

    /// Whether the answer is still to come.
    fn pending(&self, look: &Look<'_>) -> Option<Finding> {
        common::pending(look)
    }

    /// What it holds, and how complete that is.
    fn completeness(&self, _: &Look<'_>) -> Option<Finding> {
        None
    }
}

/// The formats in the order in which they are asked: those with marks of their own first.
static KNOWN: &[&dyn PayloadFormat] = &[
    &grafana::Datasource,
    &grafana::Panels,
    &kubernetes::Kubernetes,
    &elasticsearch::Elasticsearch,
    &cloudwatch::Cloudwatch,
    &cloudwatch_logs::CloudwatchLogs,
    &bigquery::Bigquery,
    &dynamodb::Dynamodb,
    &clickhouse::Clickhouse,
    &loki::Loki,
    &prometheus::Prometheus,
    &tempo::Tempo,
    &jaeger::Jaeger,
    &datadog::Datadog,
    &anthropic::Anthropic,
    &problem_json::ProblemJson,
    &google::Google,
    &aws::Aws,
    &sql::Sql,
    &stripe::Stripe,
    &openai::Openai,
    &graphql::Graphql,
    &github::Github,
    &slack::Slack,
    &web_search::WebSearch,
    &evaluation::Evaluation,
    &envelope::Envelope,
];

/// The format that a payload is of, by its structure.
pub(super) fn recognised(look: &Look<'_>) -> &'static dyn PayloadFormat {
    if look.layer.is_opaque() {
        return if anthropic::carries(look) { &anthropic::Anthropic } else { &file::File };
    }
    KNOWN.iter().copied().find(|format| format.recognises(look)).unwrap_or_else(|| common::of_body(look))
}

/// A format by its word, for a tool that is known to answer in it; where the payload is plainly something else, such
/// as the error page of a proxy, the structure decides.
pub(super) fn named(format: Format, look: &Look<'_>) -> &'static dyn PayloadFormat {
    let known = KNOWN.iter().copied().find(|known| known.format() == format);
    match (known, look.body) {
        (Some(known), Body::Json(_)) => known,
        _ if format == Format::File => &file::File,
        _ => recognised(look),
    }
}
