//! What a failure's own words mean, where nothing but words is there: an MCP text, a line on stderr, an error message.
//!
//! Only asked about texts that are known to tell of a failure. A log that mentions a time-out is not one.

use super::cause::Cause;
use super::finding::Finding;
use super::{codes, status};

/// A failure's words are looked for in so much of a text.
const TEXT_BYTES_MAX: usize = 2_048;

/// What the words mean. None: it was asked, and is not there.
type Meaning = Option<Cause>;

/// Words in lower case, in the order in which they are looked for: what is special before what is general.
#[rustfmt::skip] // a list of words reads as a paragraph
const PHRASES: &[(Meaning, &[&str])] = &[
    (Some(Cause::Cancelled), &[
        "context canceled", "query was canceled", "request was cancelled", "canceled by", "cancelled by",
        "due to user request",
    ]),
    (Some(Cause::BadInput), &["guardrail"]),
    (
        Some(Cause::AgainstPolicy),
        &[
            "read-only", "read only", "readonly", "allowlist", "allow-list", "allow list", "whitelist",
            "denied the request", "blocked by policy",
            "policy violation", "violates policy", "disallowed by", "forbidden by policy", "not permitted by policy",
            "prohibited by", "outside the allowed", "outside allowed",
            "denied by policy", "url_not_allowed",
        ],
    ),
    (
        Some(Cause::Unpaid),
        &[
            "insufficient_quota", "exceeded your current quota", "credit balance", "spend limit", "spending limit",
            "api usage limits", "payment required",
            "check your plan and billing", "billing hard limit", "out of credits", "quota for this month",
        ],
    ),
    (
        Some(Cause::Throttled),
        &[
            "rate limit", "rate-limit", "ratelimit", "too many requests", "throttl", "quota exceeded",
            "exceeded quota", "exceeded the quota", "exceeded your quota", "slow down", "rate exceeded",
            "too many outstanding requests", "job queue full", "reduce your request rate", "request limit",
            "per user exceeded",
        ],
    ),
    (
        Some(Cause::Unauthenticated),
        &[
            "invalid api key", "incorrect api key", "api key not valid", "unauthorized", "unauthenticated",
            "authentication failed", "authentication required",
            "authentication failure", "bad credentials", "invalid credentials", "missing authentication",
            "missing credentials", "unable to locate credentials", "token expired", "token has expired",
            "token is expired",
            "expired token", "invalid token", "token is invalid", "not logged in", "login required",
            "must be logged in", "(publickey", "password authentication failed", "could not read username",
            "could not read password", "no org id", "invalid username or password", "invalid_grant", "sign in",
            "host key verification failed", "authorizationrequired",
        ],
    ),
    (
        Some(Cause::Forbidden),
        &[
            "forbidden", "permission denied", "permission_denied", "access denied", "accessdenied",
            "access is denied", "not authorized", "unauthorised", "insufficient permission",
            "insufficient privilege", "insufficient scope", "missing scope", "eacces", "eperm",
            "operation not permitted", "does not have permission", "lacks permission", "not have access",
            "cannot list resource", "cannot get resource",
        ],
    ),
    (
        Some(Cause::TimedOut),
        &[
            "timed out", "timeout", "time-out", "time out", "etimedout", "deadline exceeded", "deadline_exceeded",
            "time limit", "took too long",
        ],
    ),
    (
        Some(Cause::Down),
        &[
            "econnrefused", "connection refused", "was refused", "actively refused", "econnreset",
            "connection reset", "enotfound", "getaddrinfo", "no such host", "could not resolve",
            "couldn't resolve", "name or service not known", "name resolution", "network is unreachable",
            "enetunreach", "no route to host", "ehostunreach", "certificate", "tls handshake", "ssl error",
            "ssl:", "ssl connect", "broken pipe", "epipe", "socket hang up", "connection closed",
            "connection was closed", "connection terminated", "connection lost", "server disconnected",
            "unable to connect", "could not connect", "couldn't connect", "failed to connect", "cannot connect",
            "can't connect", "unexpected eof", "fetch failed", "network error", "dial tcp",
            "overloaded", "too many clients", "too many connections", "server is busy", "temporarily unavailable",
            "currently unavailable", "service unavailable", "is unavailable", "not available", "bad gateway",
            "upstream connect error", "no healthy upstream", "no available connection", "maintenance", "not ready",
            "server closed", "no space left", "connection error",
        ],
    ),
    (None, &["enoent", "no such file or directory", "trace not found", "no such key", "nosuchkey"]),
    (
        Some(Cause::BadInput),
        &[
            "invalid", "parse error", "parsing error", "failed to parse", "cannot parse", "could not parse",
            "unable to parse", "syntax error", "bad_data", "bad request", "missing required", "required parameter",
            "required field",
            "is required", "must be", "must not be", "must have", "should be", "validation", "unknown", "not found",
            "does not exist", "doesn't exist", "no such", "unsupported", "not supported", "unrecognized",
            "unrecognised", "malformed", "out of range", "unterminated", "already exists", "not a valid",
            "is not valid", "illegal", "usage:", "too long", "too large", "larger than", "missing", "ambiguous",
            "cannot be empty", "can't be empty", "not allowed", "unclosed", "mismatch", "doesn't have a",
            "does not have a ", "not a git repository",
        ],
    ),
    (Some(Cause::Broken), &[
        "internal server error", "internal error", "server error", "internal_error", "panic:", "fatal_error",
    ]),
];

/// What a failure's text means; none where its words say nothing.
pub(super) fn finding(text: &str) -> Option<Finding> {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text.get(..end).unwrap_or_default().to_ascii_lowercase();
    if let Some(code) = status_in(&text) {
        return Some(status::of_code(code, &text));
    }
    if let Some(cause) = grpc_code_in(&text).or_else(|| json_rpc_code_in(&text)) {
        return Some(cause.because("its text holds an error code"));
    }
    PHRASES.iter().find(|(_, words)| words.iter().any(|word| text.contains(word))).map(|(meaning, _)| match meaning {
        Some(cause) => cause.because("its text says so"),
        None => Finding::empty("its text says that it is not there"),
    })
}

/// What stands before a status in a text.
const STATUS_LEADS: &[&str] = &[
    "status code",
    "statuscode",
    "status_code",
    "http status",
    "http error",
    "http/1.1",
    "http/2",
    "http ",
    "returned error:",
    "error code",
    "status:",
    "status ",
    "response code",
    "code:",
    "server returned",
    "server responded with",
];

/// A failing HTTP status that a text names as one.
fn status_in(text: &str) -> Option<u16> {
    STATUS_LEADS.iter().find_map(|lead| {
        text.match_indices(lead).take(4).find_map(|(at, _)| {
            let behind = text.get(at + lead.len()..).unwrap_or_default();
            three_digits(behind.trim_start_matches([' ', ':', '=', '(', '[', '"', '\'']))
        })
    })
}

/// A number from 400 to 599 at the front, of three digits and no more.
fn three_digits(text: &str) -> Option<u16> {
    let number = text.get(..3)?.parse::<u16>().ok()?;
    let ends = text.as_bytes().get(3).is_none_or(|next| !next.is_ascii_alphanumeric());
    (ends && (400..600).contains(&number)).then_some(number)
}

/// What gRPC libraries print: `rpc error: code = Unavailable desc = ...`.
fn grpc_code_in(text: &str) -> Option<Cause> {
    let (_, behind) = text.split_once("code = ")?;
    let word = behind.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
    codes::cause(word)
}

/// What MCP clients print: `MCP error -32602: ...`.
fn json_rpc_code_in(text: &str) -> Option<Cause> {
    let (_, behind) = text.split_once("mcp error ")?;
    let number = behind.split(|c: char| !c.is_ascii_digit() && c != '-').next()?;
    number.parse().ok().map(super::mcp::cause_of_code)
}

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
/// How a short text begins that is nothing but a failure's name.
#[rustfmt::skip] // a list of words reads as a paragraph
const BARE_FAILURES: &[&str] = &[
    "permission denied", "unauthorized", "forbidden", "access denied", "connection refused", "connection reset",
    "connection timed out", "request timed out", "operation timed out", "timed out", "timeout",
    "rate limit exceeded", "rate limited",
    "too many requests", "service unavailable", "bad gateway", "gateway timeout", "not found", "bad request",
    "invalid api key", "authentication failed", "authentication required", "could not connect", "failed to ",
    "unable to ", "cannot connect",
    "404 ", "500 ", "502 ", "503 ", "504 ", "429 ", "401 ", "403 ", "400 ", "no such host", "econnrefused",
    "etimedout", "enotfound", "econnreset", "deadline exceeded", "context deadline exceeded",
    "upstream connect error", "no healthy upstream",
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
    "found 0 ", "0 matches", "empty set (",
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
    is_phrase(text) && BARE_FAILURES.iter().any(|name| head.starts_with(name))
}

/// Whether a text as a whole says that nothing was found.
pub(super) fn is_absence(text: &str) -> bool {
    if !is_phrase(text) {
        return false;
    }
    let bare = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    BARE_ABSENCES.contains(&bare.as_str())
        || ABSENCE_LEADS.iter().any(|lead| bare.starts_with(lead))
        || ABSENCE_WORDS.iter().any(|words| bare.contains(words))
}

fn is_phrase(text: &str) -> bool {
    text.len() <= PHRASE_BYTES_MAX && text.trim().lines().count() == 1
}
