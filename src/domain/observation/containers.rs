//! JSON of any shape: does it hold a datum? Arrays are asked before counters, and counters before everything else.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::cause::Cause;
use super::finding::Finding;
use super::look::{Body, Look};
use super::more::{self, More};
use super::text;
use crate::domain::document::{Kind, Value};

/// How deep containers within containers are looked for.
const DEPTH_MAX: u8 = 4;

/// Members that wrap the answer proper.
#[rustfmt::skip] // a list of words reads as a paragraph
const WRAPPERS: &[&str] = &[
    "data", "result", "results", "response", "payload", "body", "output", "value", "values", "content",
];
/// Members that hold the rows of an answer wherever they appear: a list, an object or `null`, and nothing else.
const ROWS: &[&str] = &["items", "rows", "records", "hits", "entries", "documents"];
/// Members that advise, measure the work or repeat the question: they are no finding.
#[rustfmt::skip] // a list of words reads as a paragraph
const ASIDE: &[&str] = &[
    "hint", "hints", "note", "suggestion", "suggestions", "suggestedActions", "tip", "tips", "advice", "warning",
    "warnings", "infos", "message", "msg", "documentation_url", "stats", "statistics", "meta", "metadata", "_meta",
    "pagination", "paging", "page", "pageInfo", "pageable", "page_info", "links", "_links", "response_metadata",
    "ResponseMetadata", "headers", "request", "query", "params", "parameters", "filters", "filter", "args",
    "arguments", "errors", "error", "debug",
    "took", "elapsed", "elapsed_ms", "duration_ms", "took_ms", "timing", "schema", "columns", "fields", "from_date",
    "to_date", "from_ts", "to_ts", "limit", "offset", "per_page", "pageSize", "page_size", "start", "from", "to",
    "end", "timestamp", "time", "ts", "version", "id", "request_id", "requestId", "status", "code", "ok", "success",
    "kind", "object", "url",
];
/// Lists that are what was asked for, wherever they appear.
#[rustfmt::skip] // a list of words reads as a paragraph
const LISTS: &[&str] = &[
    "events", "pods", "traces", "spans", "logs", "series", "streams", "messages", "issues", "commits", "alerts",
    "incidents", "list", "matches", "nodes", "edges", "users", "orders", "files", "objects", "Items", "Contents",
    "Datapoints", "datapoints", "samples", "metrics", "dashboards", "deployments", "services", "jobs", "tasks",
    "tickets",
    "repositories", "branches", "pull_requests", "check_runs", "workflow_runs", "span_names", "points", "timestamps",
    "lines", "annotations", "buckets", "groups", "rules", "targets", "resources", "articles", "products",
    "customers", "transactions", "charges", "invoices", "children", "chunks", "Reservations", "Instances", "tools",
    "channels", "members",
];
/// Texts that are the answer itself.
const TEXTS: &[&str] = &["content", "text", "output", "result", "answer", "body", "stdout"];
/// Texts that repeat the question, or say what sort of answer it is.
#[rustfmt::skip] // a list of words reads as a paragraph
const ECHOES: &[&str] = &[
    "reason", "detail", "details", "original_query", "expr", "sql", "index", "label", "refId", "service",
    "namespace", "cluster", "region", "type", "resultType", "res_type", "path", "env", "environment", "tool",
    "source", "database", "table", "command", "apiVersion", "search", "q", "unit", "interval", "step", "window",
    "range", "date", "timezone",
    "outcome", "job", "tenant", "project", "datasource", "datasourceUid", "pattern", "selector", "next", "cursor",
    "self", "href", "scope", "summary", "since", "until", "start_time", "end_time", "startTime", "endTime",
];
/// Numbers that count what a container holds.
#[rustfmt::skip] // a list of words reads as a paragraph
const COUNTERS: &[&str] = &[
    "count", "total", "n", "length", "size", "matched", "matches", "found", "returned", "hits", "records", "results",
    "rows", "num_results", "numFound", "totalResults", "items", "entries",
];

/// What a name says of the member that bears it.
#[derive(Clone, Copy, Debug, Default)]
struct Says {
    is_aside: bool,
    is_wrapper: bool,
    holds_rows: bool,
    is_text: bool,
    is_echo: bool,
    is_counter: bool,
}

/// What every known name says; a payload has many members, each of which is asked about.
static NAMES: LazyLock<BTreeMap<&str, Says>> = LazyLock::new(|| {
    let mut names = BTreeMap::<&str, Says>::new();
    let mut add = |list: &[&'static str], say: fn(&mut Says)| {
        list.iter().for_each(|name| say(names.entry(name).or_default()));
    };
    add(ASIDE, |says| says.is_aside = true);
    add(WRAPPERS, |says| says.is_wrapper = true);
    [WRAPPERS, ROWS, LISTS].iter().for_each(|list| add(list, |says| says.holds_rows = true));
    add(TEXTS, |says| says.is_text = true);
    add(ECHOES, |says| says.is_echo = true);
    add(COUNTERS, |says| says.is_counter = true);
    names
});

/// What a value holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// At least one datum.
    Data,
    /// A container, and nothing in it.
    Empty,
    /// Nothing that says one or the other.
    Silent,
}

/// The last step: containers and signs of more.
pub(super) fn finding(look: &Look<'_>) -> Option<Finding> {
    let root = match look.body {
        Body::Nothing if look.layer.result.payload.is_none() && look.layer.is_outermost() => {
            return Some(Finding::observed("no payload was sent along to look into"));
        }
        Body::Nothing => return Some(Finding::empty("nothing but blanks")),
        Body::Text(_) => return None,
        Body::Json(root) => root,
    };
    match root.kind() {
        Kind::String => return Some(text::worded(root.as_str().unwrap_or_default().trim())).map(emptied(root)),
        Kind::Object => {
            if ROWS.iter().any(|name| root.get(name).is_some_and(|value| is_no_list(name, root, value))) {
                return Some(Cause::Malformed.because("a list of rows that is no list"));
            }
        }
        Kind::Null | Kind::Bool | Kind::Number | Kind::Array | Kind::Opaque => {}
    }
    let more = More::of(look, root);
    Some(match shape(root, 0) {
        Shape::Silent if more.is_any() && root.is_object() => more.of_empty(), // a sign of more, and nothing else
        Shape::Data | Shape::Silent => more.of_data(),
        Shape::Empty => more.of_empty(),
    })
}

/// A text of no length is an empty answer.
fn emptied(root: Value<'_>) -> impl Fn(Finding) -> Finding {
    let is_blank = root.as_str().is_some_and(|text| text.trim().is_empty());
    move |finding| if is_blank { Finding::empty("a text of no length") } else { finding }
}

/// A list that holds text or a number is none, but for a counter of that name.
fn is_no_list(name: &str, root: Value<'_>, value: Value<'_>) -> bool {
    if value.is_object() {
        return name == "items" && root.get("type").is_none(); // beside a type it is a schema
    }
    value.is_string() && value.head().is_some_and(|text| text.parse::<f64>().is_err())
}

/// What a value holds.
pub(super) fn shape(value: Value<'_>, depth: u8) -> Shape {
    match value.kind() {
        Kind::Null => Shape::Empty,
        Kind::Bool | Kind::Number | Kind::String | Kind::Opaque => Shape::Data,
        Kind::Array if value.items().any(|item| !is_nothing(item, 0)) => Shape::Data,
        Kind::Array => Shape::Empty,
        Kind::Object if depth >= DEPTH_MAX => Shape::Data,
        Kind::Object => of_object(value, depth),
    }
}

/// `null`, or a row of nothing but `null`: what an aggregate over nothing gives.
fn is_nothing(item: Value<'_>, depth: u8) -> bool {
    match item.kind() {
        Kind::Null => true,
        Kind::Array | Kind::Object if depth >= DEPTH_MAX => false,
        Kind::Array => !item.is_empty() && item.items().all(|item| is_nothing(item, depth + 1)),
        Kind::Object => !item.is_empty() && item.entries().all(|(_, value)| is_nothing(value, depth + 1)),
        Kind::Bool | Kind::Number | Kind::String | Kind::Opaque => false,
    }
}

/// What the members of an object say, taken together.
#[derive(Default)]
struct Members {
    has_data: bool,
    has_rows: bool,
    has_empty: bool,
    has_zero: bool,
    has_count: bool,
    has_measure: bool,
    has_text: bool,
    has_flag: bool,
    has_identity: bool,
    says_absent: bool,
}

fn of_object(object: Value<'_>, depth: u8) -> Shape {
    let mut members = Members::default();
    for (name, value) in object.entries() {
        members.add(&name.text(), value, depth);
    }
    members.shape(object)
}

impl Members {
    /// An empty list is the answer where it is the list that was asked for: one of a name that says so, one that a
    /// counter at zero stands beside, or one beside which nothing else is told.
    fn shape(&self, object: Value<'_>) -> Shape {
        if self.has_data {
            return Shape::Data;
        }
        let is_asked_for = self.has_rows || self.has_zero || !self.has_text;
        let is_void = !object.is_empty() && object.entries().all(|(_, value)| value.is_null());
        if self.says_absent || object.is_empty() || is_void {
            return Shape::Empty;
        }
        let measures = self.has_measure || (self.has_flag && !(self.has_rows && self.has_empty));
        if self.has_empty && is_asked_for && !measures && (self.has_rows || !self.has_identity) {
            return Shape::Empty;
        }
        if measures || self.has_count || (self.has_empty && self.has_text) {
            return Shape::Data;
        }
        if self.has_zero { Shape::Empty } else { Shape::Silent }
    }

    fn add(&mut self, name: &str, value: Value<'_>, depth: u8) {
        let says = NAMES.get(name).copied().unwrap_or_default();
        self.has_identity |= matches!(name, "name" | "title") && value.is_string();
        match value.kind() {
            Kind::Array | Kind::Object => self.add_container(name, value, depth, says),
            Kind::Null => {
                self.has_empty |= says.holds_rows;
                self.has_rows |= says.holds_rows;
            }
            Kind::Number if says.is_counter || counts_by_its_end(name) => {
                let is_zero = value.as_f64() == Some(0.0);
                self.has_zero |= is_zero;
                self.has_count |= !is_zero;
            }
            Kind::Number | Kind::Opaque => self.has_measure |= !says.is_aside && !is_telemetry(name),
            Kind::Bool if matches!(name, "found" | "exists") => {
                self.says_absent |= value.as_bool() == Some(false);
                self.has_measure |= value.as_bool() == Some(true);
            }
            Kind::Bool => self.has_flag |= !says.is_aside && !more::is_sign(name),
            Kind::String if says.is_text => {
                let is_blank = value.as_str().is_none_or(|text| text.trim().is_empty());
                self.has_empty |= is_blank;
                self.has_rows |= is_blank;
                self.has_data |= !is_blank;
            }
            Kind::String if name == "value" => self.has_data = true, // an empty text may be the value that was asked for
            Kind::String => self.has_text |= !says.is_aside && !says.is_echo && !more::is_sign(name),
        }
    }

    fn add_container(&mut self, name: &str, value: Value<'_>, depth: u8, says: Says) {
        if says.is_aside || (value.is_object() && (name == "metrics" || is_telemetry(name))) {
            return;
        }
        match shape(value, depth + 1) {
            Shape::Data => self.has_data = true,
            Shape::Empty if value.is_object() && value.is_empty() && !says.holds_rows => {}
            Shape::Empty => {
                self.has_empty = true;
                self.has_rows |= says.holds_rows;
            }
            Shape::Silent => self.has_data |= !says.is_wrapper,
        }
    }
}

/// Whether a number measures the work and not the world: how long, how much, which page.
fn is_telemetry(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let parts = [
        "time",
        "took",
        "elapsed",
        "duration",
        "cost",
        "page",
        "latency",
        "limit",
        "offset",
        "searched",
        "scanned",
        "processed",
        "bytes",
        "jsonapi",
        "version",
    ];
    parts.iter().any(|part| lower.contains(part)) || lower.ends_with("ms") || lower.starts_with("nb")
}

/// Whether a number of that name counts what a container holds, though the name is in no list.
fn counts_by_its_end(name: &str) -> bool {
    ["_count", "Count", "_total", "Total"].iter().any(|end| name.ends_with(end))
        || name.starts_with("total")
        || name.starts_with("num_")
}
