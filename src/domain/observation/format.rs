//! The formats that are known, and those that an operator teaches.

use std::sync::Arc;

use super::custom::CustomFormat;
use crate::domain::signal::closed_words;

closed_words! {
    /// What a payload was read as.
    Format {
        /// A contract, steer or review of our own that came back as a tool result.
        HostText = "host_text",
        /// The result of a Model Context Protocol call.
        Mcp = "mcp",
        /// JSON-RPC 2.0.
        JsonRpc = "json_rpc",
        /// The query results of Grafana's data sources, by `refId`.
        GrafanaDatasource = "grafana_datasource",
        /// The Grafana MCP server.
        GrafanaMcp = "grafana_mcp",
        /// Prometheus, and Thanos, whose warnings tell of stores that did not answer.
        Prometheus = "prometheus",
        /// Loki.
        Loki = "loki",
        /// Tempo.
        Tempo = "tempo",
        /// Jaeger.
        Jaeger = "jaeger",
        /// Elasticsearch and OpenSearch.
        Elasticsearch = "elasticsearch",
        /// The Kubernetes API.
        Kubernetes = "kubernetes",
        /// CloudWatch metrics.
        Cloudwatch = "cloudwatch",
        /// CloudWatch Logs Insights.
        CloudwatchLogs = "cloudwatch_logs",
        /// Datadog.
        Datadog = "datadog",
        /// OpenAI.
        Openai = "openai",
        /// Anthropic.
        Anthropic = "anthropic",
        /// GraphQL over HTTP.
        Graphql = "graphql",
        /// BigQuery.
        Bigquery = "bigquery",
        /// ClickHouse.
        Clickhouse = "clickhouse",
        /// DynamoDB.
        Dynamodb = "dynamodb",
        /// Rows of a database, and SQLSTATE.
        Sql = "sql",
        /// GitHub.
        Github = "github",
        /// Slack.
        Slack = "slack",
        /// Stripe, and OAuth errors.
        Stripe = "stripe",
        /// The error envelopes of AWS.
        Aws = "aws",
        /// The error envelope of Google's APIs.
        Google = "google",
        /// Problem details, RFC 9457.
        ProblemJson = "problem_json",
        /// A web search.
        WebSearch = "web_search",
        /// Scores of an evaluation.
        Evaluation = "evaluation",
        /// What a process printed.
        Process = "process",
        /// A file that was read.
        File = "file",
        /// `n` and `outcome`, of one query or of several.
        Envelope = "envelope",
        /// A format of the configuration.
        Custom = "custom",
        /// JSON of no known format.
        Json = "json",
        /// HTML.
        Html = "html",
        /// Plain text.
        Text = "text",
        /// No payload: the transport alone speaks.
        Bare = "bare",
    }
}

/// What the results of a tool are to be read as.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum FormatChoice {
    /// A format of the list.
    BuiltIn(Format),
    /// A format of the configuration.
    Custom(Arc<CustomFormat>),
}
