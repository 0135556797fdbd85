//! What a failure's own words mean, where nothing but words is there: an MCP text, a line on stderr, an error message.
//!
//! Only asked about texts that are known to tell of a failure. A log that mentions a time-out is not one.

use std::sync::LazyLock;

use super::cause::Cause;
use super::finding::Finding;
use super::words::Words;
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
        Some(Cause::Declined),
        &[
            "not enough", "insufficient funds", "insufficient balance", "does not add up", "cannot be used to",
            "card declined", "was declined", "not eligible", "out of stock", "sold out", "not available on",
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
            "could not read password", "no org id", "invalid username or password", "invalid_grant", "sign in", "auth login", "auth tokens", "reauthentication", "no valid credential",
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
            "time limit", "took too long", "err_timed_out", "err_connection_timed_out",
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
            "currently unavailable", "service unavailable", "is unavailable", "service not available", "bad gateway",
            "upstream connect error", "no healthy upstream", "no available connection", "maintenance", "not ready",
            "server closed", "no space left", "connection error", "err_connection_refused", "err_connection_reset", "err_connection_closed",
            "err_name_not_resolved", "err_internet_disconnected", "err_address_unreachable",
            "database system is starting up", "database system is shutting down",
        ],
    ),
    (None, &["enoent", "no such file or directory", "file not found", "trace not found", "no such key", "nosuchkey"]),
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
            "does not have a ", "not a git repository", "did not match any file", "no rule to make target", "no makefile found",
            "unexpected argument", "could not find `cargo.", "can't read file",
        ],
    ),
    (Some(Cause::Broken), &[
        "internal server error", "internal error", "server error", "internal_error", "panic:", "fatal_error",
    ]),
];

static PHRASE_WORDS: LazyLock<Words> = LazyLock::new(|| Words::new(PHRASES.iter().map(|(_, words)| *words)));

/// What a failure's text means; none where its words say nothing.
pub(super) fn finding(text: &str) -> Option<Finding> {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text.get(..end).unwrap_or_default().to_ascii_lowercase();
    if let Some((cause, _)) = OVER_STATUS.iter().find(|(_, words)| words.iter().any(|word| holds(&text, word))) {
        return Some(cause.because("its text says so"));
    }
    if let Some((code, rest)) = status_in(&text) {
        let is_githubs = text.contains("api.github.com") || text.starts_with("gh:");
        return Some(match code {
            404 if is_githubs => Cause::Hidden.because("not there, or hidden from this credential"),
            code => status::of_code(code, rest.trim_start_matches([':', ' ', ')', ']', '"', '\''])),
        });
    }
    if let Some(cause) = grpc_code_in(&text).or_else(|| json_rpc_code_in(&text)).or_else(|| aws_code_in(&text)) {
        return Some(cause.because("its text holds an error code"));
    }
    let row = PHRASE_WORDS.first_in(&text, |at, end| is_whole(&text, at, end));
    row.and_then(|row| PHRASES.get(row)).map(|(meaning, _)| match meaning {
        Some(cause) => cause.because("its text says so"),
        None => Finding::empty("its text says that it is not there"),
    })
}

/// Whether a text holds words that are no part of a longer name.
fn holds(text: &str, words: &str) -> bool {
    text.match_indices(words).take(16).any(|(at, _)| is_whole(text, at, at + words.len()))
}

/// Whether words that were found are no part of a longer name: `retry_timeout` and `ResourceNotFound` hold neither a
/// time-out nor ENOTFOUND. A word may go on: `throttl` is found in `throttling`.
fn is_whole(text: &str, at: usize, end: usize) -> bool {
    let is_word = text.as_bytes().get(at).is_some_and(u8::is_ascii_alphanumeric);
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    !(is_word && before.is_some_and(is_inside)) && text.as_bytes().get(end) != Some(&b'_')
}

/// What is more exact than the status beside it.
const OVER_STATUS: &[(Cause, &[&str])] = &[
    (Cause::Down, &["circuit_breaking_exception", "es_rejected_execution_exception"]),
    (Cause::BadInput, &["message larger than max"]),
    (Cause::AgainstPolicy, &["robots.txt"]),
];

/// What stands before a status in a text.
#[rustfmt::skip] // a list of words reads as a paragraph
const STATUS_LEADS: &[&str] = &[
    "status code", "statuscode", "status_code", "http status", "http error", "http/1.1", "http/2", "http ",
    "returned error:", "error code", "status:", "status ", "response code", "code:", "code e", "server returned",
    "server responded with",
];

/// A failing HTTP status that a text names as one, and what stands behind it.
fn status_in(text: &str) -> Option<(u16, &str)> {
    let holds_one = |three: &[u8]| matches!(three, [b'4' | b'5', b'0'..=b'9', b'0'..=b'9']);
    if !text.as_bytes().windows(3).any(holds_one) {
        return None; // the usual case, without looking for what would stand before it
    }
    let led = STATUS_LEADS.iter().find_map(|lead| {
        text.match_indices(lead).take(4).find_map(|(at, _)| {
            let behind = text.get(at + lead.len()..).unwrap_or_default();
            three_digits(behind.trim_start_matches([' ', ':', '=', '(', '[', '"', '\'']))
        })
    });
    // `GET https://api.example.com/x: 403 ...`, `(409 Conflict)`, and a status alone.
    let behind_address = || text.split_once("://").and_then(|(_, rest)| rest.split_once(": ")).map(|(_, rest)| rest);
    let in_brackets = || text.match_indices('(').take(8).find_map(|(at, _)| three_digits(text.get(at + 1..)?));
    let alone = || three_digits(text.trim()).filter(|(_, rest)| rest.trim().is_empty());
    led.or_else(|| behind_address().and_then(three_digits)).or_else(in_brackets).or_else(alone)
}

/// A number from 400 to 599 at the front, of three digits and no more, and what stands behind it.
fn three_digits(text: &str) -> Option<(u16, &str)> {
    let number = text.get(..3)?.parse::<u16>().ok()?;
    let ends = text.as_bytes().get(3).is_none_or(|next| !next.is_ascii_alphanumeric());
    (ends && (400..600).contains(&number)).then(|| (number, text.get(3..).unwrap_or_default()))
}

/// What the AWS command line prints, `An error occurred (CODE) when calling`, and an exception's name in front.
fn aws_code_in(text: &str) -> Option<Cause> {
    let in_brackets = || text.split_once("an error occurred (")?.1.split_once(')').map(|(code, _)| code);
    let in_front = || text.split_once(':').map(|(name, _)| name.trim()).filter(|name| name.ends_with("exception"));
    let name = in_brackets().or_else(in_front)?;
    (!name.contains(' ') && name != "nosuchkey").then(|| codes::cause(name)).flatten()
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
