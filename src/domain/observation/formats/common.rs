//! What formats have in common: how failures are said, and what JSON, text and nothing are taken for.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::{Body, Look};
use super::super::{RetryHint, codes, containers, phrases, status};
use super::PayloadFormat;
use crate::domain::document::{Kind, Value};

/// JSON, text or nothing, of no known format.
struct Plain(Format);

impl PayloadFormat for Plain {
    fn format(&self) -> Format {
        self.0
    }

    fn recognises(&self, _: &Look<'_>) -> bool {
        true
    }
}

/// The format of what no other recognises.
pub(super) fn of_body(look: &Look<'_>) -> &'static dyn PayloadFormat {
    match look.body {
        Body::Nothing => &Plain(Format::Bare),
        Body::Text(_) => &Plain(Format::Text),
        Body::Json(_) => &Plain(Format::Json),
    }
}

/// Members that may stand in an answer that says nothing but that it failed.
#[rustfmt::skip] // a list of words reads as a paragraph
const SAYS_FAILURE: &[&str] = &[
    "status", "error", "errors", "error_code", "errorCode", "errorType", "error_type", "errorMessage",
    "error_message", "error_description", "message", "msg", "detail", "details", "code", "reason", "data", "result",
    "request_id", "requestId", "trace_id", "traceId", "timestamp", "path", "ok", "success",
    "statusCode", "status_code", "documentation_url", "type", "title", "instance", "hint", "help", "exception", "id",
];
const FAILED_WORDS: &[&str] = &["error", "failed", "failure", "fail", "err"];

/// Whether a body says that the call failed, in any of the usual ways.
pub(super) fn failure(look: &Look<'_>) -> Option<Finding> {
    let root = look.object()?;
    if root.get("unavailable").and_then(Value::as_bool) == Some(true) {
        let worded = status::of_failure(root).filter(Finding::is_failure);
        return Some(worded.unwrap_or_else(|| Cause::Down.because("`unavailable` is true")));
    }
    let is_false = |name: &str| root.get(name).and_then(Value::as_bool) == Some(false);
    let is_set = |name: &str| root.get(name).filter(|value| is_something(*value));
    let error = ["error", "exception", "fault", "Error"]
        .iter()
        .find_map(|name| is_set(name))
        .filter(|error| error.kind() != Kind::Number);
    if let Some(error) = error {
        return Some(of_error(look, root, error));
    }
    let says = ["errorMessage", "error_message", "error_code", "errorCode", "errorType"]
        .iter()
        .any(|name| is_set(name).is_some_and(|value| value.is_string()));
    if is_false("ok") || is_false("success") || (says && !has_data(root)) {
        return Some(of_error(look, root, root));
    }
    if let Some(errors) =
        is_set("errors").filter(|errors| matches!(errors.kind(), Kind::Array | Kind::Object | Kind::String))
    {
        if has_data(root) {
            return Some(Finding::truncated("part of it failed: there are errors beside the data"));
        }
        let first = if errors.is_array() { errors.items().next() } else { Some(errors) };
        return Some(of_error(look, root, first.unwrap_or(errors)));
    }
    mere_status(look, root)
}

/// A status word or number that says that it failed, in an answer that holds nothing else.
fn mere_status(look: &Look<'_>, root: Value<'_>) -> Option<Finding> {
    let is_mere = root.entries().all(|(name, value)| {
        SAYS_FAILURE.iter().any(|known| name.is(known))
            && !(matches!(value.kind(), Kind::Array | Kind::Object) && !name.is("details") && !value.is_empty())
    });
    if !is_mere {
        return None;
    }
    let word = root.get("status").and_then(Value::head).unwrap_or_default().to_ascii_lowercase();
    let is_worded =
        ["message", "msg", "detail", "reason", "code"].iter().any(|name| root.get(name).is_some_and(Value::is_string));
    let names_code = root.get("code").and_then(Value::head).is_some_and(|code| codes::cause(&code).is_some());
    let fails = FAILED_WORDS.contains(&word.as_str()) && (is_worded || root.len() == 1);
    let is_status = status::status_of(root).is_some() && root.len() > 1;
    (fails || is_status || (names_code && is_worded)).then(|| of_error(look, root, root))
}

/// Whether a value says anything.
pub(super) fn is_something(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null => false,
        Kind::Bool => value.as_bool() == Some(true),
        Kind::Number => value.as_f64() != Some(0.0),
        Kind::String => value.head().is_some_and(|text| !text.trim().is_empty()),
        Kind::Array | Kind::Object => !value.is_empty(),
        Kind::Opaque => true,
    }
}

/// Whether an answer delivers something beside its errors.
fn has_data(root: Value<'_>) -> bool {
    ["data", "result", "results", "items", "rows", "records", "hits", "value", "values", "response"].iter().any(
        |name| {
            root.get(name)
                .is_some_and(|value| is_something(value) && containers::shape(value, 0) == containers::Shape::Data)
        },
    )
}

/// Members of an error that hold its machine-readable code, the more exact first.
#[rustfmt::skip] // a list of words reads as a paragraph
const CODE_NAMES: &[&str] = &[
    "code", "error_code", "errorCode", "Code", "status", "type", "errorType", "error_type", "reason", "name", "kind",
    "__type", "error", "cause",
];

/// What an error means: its code where that is exact, then a status that is, then its words, then a code that only
/// says whose fault it was. `root` is what it stands in.
pub(super) fn of_error(look: &Look<'_>, root: Value<'_>, error: Value<'_>) -> Finding {
    let mut words = status::said(error).or_else(|| status::said(root)).unwrap_or_default();
    let hint = RetryHint::of_body(root);
    let coded = if error.is_string() {
        error.head().filter(|text| !text.contains(' ')).and_then(|text| of_code(&text))
    } else {
        codes_of(error)
    };
    let coded = coded.or_else(|| codes_of(root));
    if words.is_empty() {
        words = error.head().map(std::borrow::Cow::into_owned).unwrap_or_default();
    }
    let lower = words.to_ascii_lowercase();
    let finding = resolve(look, root, error, coded, &lower);
    finding.with_hint(hint)
}

fn resolve(look: &Look<'_>, root: Value<'_>, error: Value<'_>, coded: Option<Finding>, lower: &str) -> Finding {
    let is_exact =
        |finding: &Finding| !matches!(finding.cause, Some(Cause::BadInput | Cause::Broken | Cause::Unexplained));
    if let Some(finding) = coded.clone().filter(is_exact) {
        return finding;
    }
    let inner = status::status_of(error).or_else(|| status::status_of(root));
    let code = inner.or_else(|| look.layer.http_status().filter(|code| *code >= 400));
    if let Some(code) = code.filter(|code| !matches!(code, 400 | 404 | 405 | 409..=428 | 500 | 501)) {
        return status::of_code(code, lower);
    }
    let worded = phrases::finding(lower);
    if coded.as_ref().is_some_and(|finding| finding.cause == Some(Cause::BadInput)) {
        let is_telling = |finding: &Finding| {
            matches!(
                finding.cause,
                Some(Cause::Unauthenticated | Cause::Throttled | Cause::Unpaid | Cause::AgainstPolicy)
            )
        };
        if code == Some(404) || lower.contains("not found") {
            let by_status = status::of_code(404, lower);
            if by_status.observation == super::super::Observation::Empty {
                return by_status;
            }
        }
        return worded
            .filter(is_telling)
            .or(coded)
            .unwrap_or_else(|| Cause::BadInput.because("its error code says so"));
    }
    match (code, coded, worded) {
        (Some(code @ (400..=499 | 501)), _, _) => status::of_code(code, lower),
        (Some(code), _, _) => status::of_code(code, lower),
        (None, Some(coded), Some(worded)) if coded.cause == Some(Cause::Unexplained) => worded,
        (None, Some(coded), _) => coded,
        (None, None, Some(worded)) => worded,
        (None, None, None) => Cause::Unexplained.because("it says that it failed, and not why"),
    }
}

fn of_code(code: &str) -> Option<Finding> {
    codes::sqlstate(code).or_else(|| codes::finding(code))
}

/// What the codes of an error say.
fn codes_of(error: Value<'_>) -> Option<Finding> {
    let state = ["sqlState", "sqlstate", "SQLSTATE", "sql_state"].iter().find_map(|name| error.get(name)?.head());
    let state = state.and_then(|state| codes::sqlstate(&state));
    let extension = || {
        let extensions = error.get("extensions")?;
        ["code", "type", "classification"].iter().find_map(|name| of_code(&extensions.get(name)?.head()?))
    };
    state.or_else(extension).or_else(|| {
        CODE_NAMES.iter().find_map(|name| {
            let code = error.get(name)?.head()?;
            if code.contains(' ') { None } else { of_code(&code) }
        })
    })
}

/// Words of a task that still runs.
#[rustfmt::skip] // a list of words reads as a paragraph
const RUNNING: &[&str] = &[
    "queued", "pending", "running", "in_progress", "inprogress", "processing", "scheduled", "accepted", "started",
    "submitted", "working", "in-progress",
];
/// Members of an answer that holds nothing but that a task still runs.
#[rustfmt::skip] // a list of words reads as a paragraph
const SAYS_RUNNING: &[&str] = &[
    "status", "state", "job", "job_id", "jobId", "task", "task_id", "taskId", "operation", "operation_id",
    "operationId", "query_id", "queryId", "execution_id", "executionId", "run_id", "request_id", "requestId",
    "progress", "eta", "message", "percent", "percent_complete", "submitted_at", "created_at", "started_at",
    "poll_url",
    "status_url", "name", "metadata", "done", "retry_after", "retryAfter", "ttl", "pollInterval", "createdAt",
    "lastUpdatedAt", "statusMessage",
];
#[rustfmt::skip] // a list of words reads as a paragraph
const TASK_NAMES: &[&str] = &[
    "job", "job_id", "jobId", "task", "task_id", "taskId", "operation", "operation_id", "operationId", "query_id",
    "queryId", "execution_id", "executionId",
];

/// Whether an answer says no more than that a task still runs.
pub(super) fn pending(look: &Look<'_>) -> Option<Finding> {
    let root = look.object()?;
    let says = Cause::Pending.because("it still runs");
    let is_operation = root.get("done").and_then(Value::as_bool) == Some(false)
        && root.get("name").and_then(Value::head).is_some_and(|name| name.contains("operations/"));
    if is_operation {
        return Some(says);
    }
    let task = root.get("task").filter(|task| task.is_object()).unwrap_or(root);
    let word = ["status", "state"].iter().find_map(|name| task.get(name)?.head())?.to_ascii_lowercase();
    let names_task = TASK_NAMES.iter().any(|name| root.get(name).is_some());
    let is_mere = root.entries().all(|(name, _)| SAYS_RUNNING.iter().any(|known| name.is(known)));
    (RUNNING.contains(&word.as_str()) && names_task && is_mere).then_some(says)
}

/// What an error that stands within an envelope means, by itself.
pub(super) fn of_cause(error: Value<'_>) -> Option<Finding> {
    codes_of(error).or_else(|| status::of_failure(error))
}

/// What a word or a sentence of failure means.
pub(super) fn of_words(text: &str) -> Option<Finding> {
    if text.contains(' ') { None } else { of_code(text) }.or_else(|| phrases::finding(text))
}
