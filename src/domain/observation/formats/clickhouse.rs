//! ClickHouse: an exception may be the whole body, or stand behind rows that were sent before it.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::tally::Tally;
use super::PayloadFormat;
use crate::domain::document::Value;

/// The HTTP interface.
pub(super) struct Clickhouse;

const EXCEPTION: &str = "DB::Exception";

impl PayloadFormat for Clickhouse {
    fn format(&self) -> Format {
        Format::Clickhouse
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let names_code = look.layer.header("x-clickhouse-exception-code").is_some();
        let is_summary =
            look.layer.header("x-clickhouse-summary").is_some() || look.layer.header("x-clickhouse-format").is_some();
        let is_json = look
            .object()
            .is_some_and(|root| root.get("meta").is_some_and(Value::is_array) && root.get("statistics").is_some());
        names_code
            || is_summary
            || is_json
            || look.plain().is_some_and(|text| text.contains(EXCEPTION) && exception(text).is_some())
            || look.get("exception").and_then(Value::head).is_some_and(|text| text.contains(EXCEPTION))
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let thrown = look.get("exception").and_then(Value::head);
        if let Some(thrown) = thrown.filter(|thrown| thrown.contains(EXCEPTION)) {
            let rows = look.get("data").map_or(0, Value::len);
            return exception(&thrown).map(|(_, cause)| after_rows(cause, rows > 0));
        }
        let text = look.plain()?;
        if let Some((at, cause)) = exception(text) {
            return Some(after_rows(cause, !text.get(..at).unwrap_or_default().trim().is_empty()));
        }
        let code = look.layer.header("x-clickhouse-exception-code")?.parse().ok()?;
        Some(cause_of(code).because("the header names an exception"))
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object().filter(|root| root.get("meta").is_some())?;
        let rows = root.get("data")?.len() as u64;
        let total = root.get("rows_before_limit_at_least").and_then(Value::as_i64).and_then(|n| u64::try_from(n).ok());
        let mut tally = Tally::default();
        tally.add(match (rows, total) {
            (0, _) => Finding::empty("no row"),
            (_, Some(total)) if total > rows => Finding::truncated("fewer rows are here than there are"),
            _ => Finding::observed("rows"),
        });
        tally.finding()
    }
}

fn after_rows(cause: Cause, has_rows: bool) -> Finding {
    match (has_rows, cause.outputs().1) {
        (false, _) => cause.because("an exception is the whole answer"),
        (true, Some(kind)) => Finding::truncated("rows, and then an exception").counting_against(kind),
        (true, None) => Finding::truncated("rows, and then an exception"),
    }
}

/// The last `Code: N. DB::Exception` that begins a line, and where.
fn exception(text: &str) -> Option<(usize, Cause)> {
    let at = text.rfind(EXCEPTION)?;
    let line = text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
    let head = text.get(line..at)?;
    let code = head.strip_prefix("Code: ").filter(|code| code.len() <= 8)?;
    let digits = code.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((line, cause_of(digits.parse().ok()?)))
}

/// What an exception's number means; most are the caller's.
fn cause_of(code: u32) -> Cause {
    match code {
        159 | 160 | 209 => Cause::TimedOut, // TIMEOUT_EXCEEDED, TOO_SLOW, SOCKET_TIMEOUT
        192..=195 | 516 => Cause::Unauthenticated,
        291 | 497 => Cause::Forbidden,
        164 | 452 => Cause::AgainstPolicy, // READONLY, SETTING_CONSTRAINT_VIOLATION
        201 => Cause::Throttled,           // QUOTA_EXCEEDED
        202 | 203 | 210 | 241 | 242 | 243 | 252 | 279 | 439 | 745 => Cause::Down, // overload, memory, disk, network, replicas
        236 | 394 => Cause::Cancelled,
        49 | 74..=76 | 1000..=1003 | 225 | 999 => Cause::Broken,
        _ => Cause::BadInput,
    }
}
