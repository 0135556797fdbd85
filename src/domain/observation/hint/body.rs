//! A wait that stands in the body of an answer: in a member made for it, or in a sentence.

use super::{RetryHint, scaled};
use crate::domain::document::{Kind, Value};

/// How deep a wait is looked for: `error.details[0].retryDelay`.
const DEPTH_MAX: u8 = 4;
/// Members that hold a sentence.
const TEXTS: &[&str] = &["message", "detail", "title", "error", "reason", "msg"];
/// Of a list of details, so many are looked at.
const DETAILS_MAX: usize = 16;
/// Members that name a wait, and what one of their units is in milliseconds.
const NAMES: &[(&str, i64)] = &[
    ("retry_after_ms", 1),
    ("retryAfterMs", 1),
    ("retryDelay", 1_000),
    ("retryAfterSeconds", 1_000),
    ("retry_after_seconds", 1_000),
    ("retry_after", 1_000),
    ("retryAfter", 1_000),
];
/// Members in which details of a failure stand.
const AROUND: &[&str] = &["error", "details", "errors", "extensions", "data", "parameters", "metadata"];

pub(super) fn of_value(value: Value<'_>, depth: u8) -> Option<RetryHint> {
    if depth > DEPTH_MAX {
        return None;
    }
    if value.is_array() {
        return value.items().take(DETAILS_MAX).find_map(|item| of_value(item, depth + 1));
    }
    let named = NAMES.iter().find_map(|(name, unit_ms)| wait_ms(value.get(name)?, *unit_ms));
    let said = || TEXTS.iter().find_map(|name| of_text(&value.get(name)?.head()?));
    let around = || AROUND.iter().find_map(|name| of_value(value.get(name)?, depth + 1));
    named.map(|raw_ms| RetryHint { raw_ms }).or_else(around).or_else(said)
}

/// 27, "27", "27s" or "1.5s".
fn wait_ms(value: Value<'_>, unit_ms: i64) -> Option<i64> {
    match value.kind() {
        Kind::Number => in_ms(value.raw(), unit_ms),
        Kind::String => {
            let text = value.head()?;
            match text.strip_suffix("ms") {
                Some(ms) => in_ms(ms, 1),
                None => in_ms(text.strip_suffix('s').unwrap_or(&text), unit_ms),
            }
        }
        Kind::Null | Kind::Bool | Kind::Array | Kind::Object | Kind::Opaque => None,
    }
}

fn in_ms(number: &str, unit_ms: i64) -> Option<i64> {
    match unit_ms {
        1 => scaled(number.trim(), 0),
        1_000 => scaled(number.trim(), 3),
        _ => scaled(number.trim(), 3).map(|thousandths| thousandths.saturating_mul(unit_ms) / 1_000),
    }
}

/// What stands before a wait in a sentence.
const LEADS: &[&str] = &["retry after", "retry in", "try again in", "try again after", "retry-after:", "wait"];

pub(super) fn of_text(text: &str) -> Option<RetryHint> {
    let text = text.to_ascii_lowercase();
    LEADS.iter().find_map(|lead| {
        let (_, behind) = text.split_once(lead)?;
        let behind = behind.trim_start_matches([' ', ':']);
        let number = behind
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .map_or(behind, |end| behind.get(..end).unwrap_or_default());
        let unit = behind.get(number.len()..).unwrap_or_default().trim_start();
        let unit_ms = if unit.starts_with("ms") || unit.starts_with("millisecond") {
            1
        } else if unit.starts_with('m') {
            60_000
        } else if unit.starts_with('h') {
            3_600_000
        } else if unit.starts_with('s') {
            1_000
        } else {
            return None; // a number of nobody knows what
        };
        in_ms(number.trim_end_matches('.'), unit_ms).map(|raw_ms| RetryHint { raw_ms })
    })
}
