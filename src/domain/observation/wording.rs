//! Whether a text as a whole is a failure, or says that nothing was found. A text that only mentions one is neither.

/// How a text begins that tells of a failure and of nothing else.
#[rustfmt::skip] // a list of words reads as a paragraph
const FAILURE_MARKS: &[&str] = &[
    "error:", "error[", "error executing", "error calling", "error while", "error running", "error fetching",
    "error querying", "error invoking", "error connecting", "error getting", "error reading", "error parsing",
    "error from ", "error in ", "error processing", "error retrieving", "fatal:", "fatal error", "failed:",
    "failure:", "exception:", "traceback (most recent call last)", "toolexception", "toolerror", "tool error",
    "an error occurred",
    "mcp error", "request failed", "query failed", "internal server error", "runtimeerror", "valueerror", "keyerror",
    "typeerror", "unhandled exception", "uncaught exception", "panic:", "⚠️ error", "❌",
];
/// A short text that is nothing but a failure's name: what follows is punctuation, or says of what.
#[rustfmt::skip] // a list of words reads as a paragraph
const BARE_FAILURES: &[&str] = &[
    "permission denied", "unauthorized", "forbidden", "access denied", "connection refused", "connection reset",
    "connection timed out", "request timed out", "operation timed out", "timed out", "timeout",
    "rate limit exceeded", "rate limited", "too many requests", "service unavailable", "bad gateway",
    "gateway timeout", "bad request", "invalid api key", "authentication failed", "authentication required",
    "404 not found", "404 page not found", "500 internal server error", "502 bad gateway",
    "503 service unavailable", "503 service temporarily unavailable", "504 gateway timeout", "504 gateway time-out",
    "429 too many requests", "401 unauthorized", "403 forbidden", "400 bad request", "no such host", "econnrefused",
    "etimedout", "enotfound", "econnreset", "deadline exceeded", "context deadline exceeded",
    "upstream connect error", "no healthy upstream",
];
/// How a short text begins that says what could not be done.
const FAILED_DEEDS: &[&str] = &["could not connect", "cannot connect", "failed to ", "unable to "];
/// What may follow a failure's name in the same sentence.
#[rustfmt::skip] // a list of words reads as a paragraph
const OF_WHAT: &[&str] = &[
    " to ", " by ", " for ", " from ", " at ", " after ", " on ", " while ", " when ", " waiting ", " (", " - ", " or ",
];
/// A text that is one of these, but for case and a full stop, found nothing.
#[rustfmt::skip] // a list of words reads as a paragraph
const BARE_ABSENCES: &[&str] = &[
    "no results", "no results found", "no result", "no result found", "no matches", "no matches found",
    "no match found", "no data", "no data found", "no data points", "no datapoints", "no records found", "no rows",
    "no rows found", "0 rows", "(0 rows)", "no items found", "nothing found",
    "no entries", "no entries found", "no documents found", "no logs found", "no traces found", "no metrics found",
    "no series found", "no events found", "no files found", "no issues found", "no such metric",
    "no matching results", "no matching records found", "no output", "(no output)", "empty", "none",
    "null", "undefined", "not found", "0 results", "0 results found", "0 matches", "query returned no results",
    "the query returned no results", "query returned no data", "the query returned no data",
    "your search did not match any documents", "empty result", "empty result set", "no content", "-- no entries --",
    "tool ran without output or errors", "(empty)", "n/a", "no tests ran", "no resources found",
];
/// How a short text begins that found nothing.
#[rustfmt::skip] // a list of words reads as a paragraph
const ABSENCE_LEADS: &[&str] = &[
    "no resources found", "no results found", "no matches found", "no data found", "no matching ", "no logs found",
    "no records found", "no entries found", "no files found", "no documents found", "no traces found",
    "no series found", "no events found", "nothing matched", "matched no lines", "no series", "no tests ran",
    "no data returned", "no data returned", "no results for", "no results were found", "no items found", "0 results",
    "found 0 ", "0 matches", "empty set (", "listed 0 items",
];
/// Words within a short text that found nothing.
#[rustfmt::skip] // a list of words reads as a paragraph
const ABSENCE_WORDS: &[&str] = &[
    "matched no lines", "is never emitted", "returned no data", "returned no results", "returned no rows",
    "did not match any", "no series matched", "found nothing",
];
/// A text longer than this is an answer of its own, not a phrase.
const PHRASE_BYTES_MAX: usize = 240;

/// Whether a text is a failure from its first word on.
pub(super) fn is_failure(text: &str) -> bool {
    let head: String = text.chars().take(64).collect::<String>().to_lowercase();
    if FAILURE_MARKS.iter().any(|mark| head.starts_with(mark)) {
        return true;
    }
    let is_bare = |name: &&str| {
        head.strip_prefix(*name).is_some_and(|rest| {
            let rest_is_mark =
                rest.trim_end().is_empty() || (rest.starts_with(['.', ':', '!', ',', ';']) && !is_count(rest));
            rest_is_mark || OF_WHAT.iter().any(|word| rest.starts_with(word))
        })
    };
    is_phrase(text) && (BARE_FAILURES.iter().any(is_bare) || FAILED_DEEDS.iter().any(|deed| head.starts_with(deed)))
}

/// `: 3` counts how often; it is no failure.
fn is_count(rest: &str) -> bool {
    rest.trim_start_matches([':', ' ']).starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a text as a whole says that nothing was found.
pub(super) fn is_absence(text: &str) -> bool {
    if !is_phrase(text) {
        return false;
    }
    let bare = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    if [";", "showing", "instead", "did you mean"].iter().any(|turn| bare.contains(turn)) {
        return false; // nothing of the one, and something of another
    }
    let is_no_match = bare.starts_with("no ") && (bare.contains(" match your") || bare.ends_with(" found"));
    is_no_match
        || BARE_ABSENCES.contains(&bare.as_str())
        || ABSENCE_LEADS.iter().any(|lead| bare.starts_with(lead))
        || ABSENCE_WORDS.iter().any(|words| bare.contains(words))
}

fn is_phrase(text: &str) -> bool {
    text.len() <= PHRASE_BYTES_MAX && text.trim().lines().count() == 1
}
