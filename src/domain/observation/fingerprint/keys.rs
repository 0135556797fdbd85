//! Which members of a body say something about the answer, and which about the question, the clock or the weather.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Members that are codes and stay as they are.
#[rustfmt::skip] // a list of words reads as a paragraph
pub(super) const CODES: &[&str] = &[
    "code", "Code", "status", "statusCode", "status_code", "type", "errorType", "error_type", "__type", "reason",
    "exit_code", "exitCode", "outcome", "param", "field", "pointer", "path", "error_code", "errorCode", "sqlState",
    "sqlstate", "kind", "StatusCode", "@type", "domain", "state",
];
/// Members in which an empty answer names its cause.
pub(super) const CAUSES: &[&str] = &["note", "reason", "message", "detail", "error"];
/// Maps whose keys are the caller's own labels.
pub(super) const MAPS: &[&str] = &["results", "errors", "responses", "failures", "queries"];
/// Arguments that say which of several like targets is asked.
#[rustfmt::skip] // a list of words reads as a paragraph
pub(super) const SELECTORS: &[&str] = &[
    "datasourceUid", "datasource_uid", "datasourceUID", "datasource", "datasource_id", "cluster", "cluster_name",
    "region", "endpoint", "base_url", "server",
];

/// Clocks, counters of the work, and names that are new every time.
#[rustfmt::skip] // a list of words reads as a paragraph
const VOLATILE: &[&str] = &[
    "took", "took_ms", "elapsed", "elapsed_ms", "duration", "duration_ms", "durationMs", "latency", "latency_ms",
    "stats", "statistics", "metrics", "usage", "timing", "executionTime", "execution_time", "request_id", "requestId",
    "RequestId", "RequestID", "request-id", "trace_id", "traceId", "traceID", "span_id", "spanId", "query_id",
    "queryId", "job_id", "jobId", "jobReference", "correlation_id", "correlationId", "HostId", "host_id", "ray_id",
    "session_id", "conversation_id", "tool_use_id", "id", "uuid", "timestamp", "timestamps", "@timestamp", "time", "ts",
    "date", "datetime", "created_at", "updated_at", "createdAt", "updatedAt", "from_date", "to_date", "timeRange",
    "time_range", "start", "end", "from", "to", "since", "until", "start_time", "end_time", "startTime", "endTime",
    "window", "step", "retry_after", "retryAfter", "retry_after_ms", "retryAfterSeconds", "retryDelay", "token",
    "tokens", "cursor", "next_cursor", "nextToken", "NextToken", "nextPageToken", "next_page_token", "continue",
    "resourceVersion", "etag", "ETag", "documentation_url", "doc_url", "request_log_url", "version", "limit", "offset",
    "ResponseMetadata", "response_metadata", "instance", "node", "shard", "totalLinesScanned",
];
/// What repeats the question.
#[rustfmt::skip] // a list of words reads as a paragraph
const ECHOES: &[&str] = &[
    "query", "expr", "original_query", "originalQuery", "logql", "promql", "traceql", "sql", "statement", "index",
    "indices", "label", "labels", "Label", "Id", "refId", "ref", "service", "namespace", "name", "metric", "q",
    "search", "parameters", "params", "args", "arguments", "request", "resource", "index_uuid", "resource.id",
    "locations", "position",
];
/// What advises.
#[rustfmt::skip] // a list of words reads as a paragraph
const ADVICE: &[&str] = &[
    "hint", "hints", "suggestion", "suggestions", "suggestedActions", "possibleCauses", "help", "tip", "tips", "advice",
];

/// All of them. A body has many members, each of which is asked about.
static DROPPED: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| [VOLATILE, ECHOES, ADVICE].into_iter().flatten().copied().collect());

/// Whether a member does not count.
pub(super) fn is_dropped(name: &str) -> bool {
    DROPPED.contains(name)
}
