//! What the transport's own verdicts mean: no answer, a gRPC code, an HTTP status (section 4 of the research).

use super::cause::Cause;
use super::finding::Finding;
use super::look::{Body, Look};
use super::transport::ErrorKind;
use super::{RetryHint, phrases};
use crate::domain::document::Value;
use crate::domain::tool::Effect;

/// There was no answer, or none that could be used.
pub(super) fn absent(look: &Look<'_>) -> Option<Finding> {
    let facts = look.layer.result.transport;
    let kind = facts.error_kind.filter(|_| look.layer.is_outermost())?;
    Some(match kind {
        ErrorKind::ConnectRefused => Cause::Down.because("the connection was refused"),
        ErrorKind::Dns => Cause::Down.because("the name did not resolve"),
        ErrorKind::Tls => Cause::Down.because("the secure channel failed"),
        ErrorKind::Reset => Cause::Down.because("the connection broke"),
        ErrorKind::Timeout => Cause::TimedOut.because("no answer within the caller's deadline"),
        ErrorKind::CancelledByCaller => Cause::Cancelled.because("the caller gave it up"),
        ErrorKind::RefusedByHost => Cause::Denied.because("the host refused to make the call"),
        ErrorKind::NotSent => Cause::Cancelled.because("it failed before it left the caller"),
        // An unreadable body beside a failing status is the failure's own page, not a broken promise.
        ErrorKind::MalformedBody => {
            let status = facts.grpc_code.map(|code| code > 0).or(facts.http_status.map(|code| code >= 300));
            if status == Some(true) {
                return None;
            }
            Cause::Malformed.because("the caller could not read the body")
        }
    })
}

/// A gRPC status other than OK.
pub(super) fn grpc(look: &Look<'_>) -> Option<Finding> {
    let code = look.layer.result.transport.grpc_code.filter(|code| *code > 0 && look.layer.is_outermost())?;
    let text = look.text().to_ascii_lowercase();
    Some(match code {
        1 => Cause::Cancelled.because("CANCELLED"),
        3 | 6 | 9 | 11 | 12 => Cause::BadInput.because("the gRPC status rejects the request"),
        4 => Cause::TimedOut.because("DEADLINE_EXCEEDED"),
        5 => Finding::empty("NOT_FOUND: it was looked for and is not there"),
        7 => Cause::Forbidden.because("PERMISSION_DENIED"),
        8 if text.contains("larger than max") => {
            Cause::BadInput.because("the message is too large: waiting does not help")
        }
        8 => Cause::Throttled.because("RESOURCE_EXHAUSTED"),
        10 => Cause::Broken.because("ABORTED: a conflict that may pass"),
        13 if text.contains("parsing response") => {
            Cause::Malformed.because("INTERNAL, as the answer could not be parsed")
        }
        13 => Cause::Broken.because("INTERNAL"),
        14 => Cause::Down.because("UNAVAILABLE"),
        16 => Cause::Unauthenticated.because("UNAUTHENTICATED"),
        _ => Cause::Unexplained.because("the gRPC status gives no cause"), // UNKNOWN, DATA_LOSS, and what is new
    })
}

/// An HTTP status that decides, the body having said nothing better.
pub(super) fn http(look: &Look<'_>) -> Option<Finding> {
    let code = look.layer.http_status()?;
    match code {
        300..=399 => Some(redirect(look, code)),
        403 if look.layer.result.transport.tells_of_a_limit() => {
            Some(Cause::Throttled.because("403 with the headers of a limit"))
        }
        404 => Some(not_found(look)),
        400.. => Some(of_code(code, &message(look))),
        202 => Some(Cause::Pending.because("202: accepted, not done")),
        _ if !matches!(look.body, Body::Nothing) || look.layer.result.payload.is_none() => None,
        _ => Some(bodiless(look, code)),
    }
}

/// A success without a body.
fn bodiless(look: &Look<'_>, code: u16) -> Finding {
    if look.layer.result.effect == Effect::Mutate || code == 201 {
        Finding::observed("a write that was acknowledged without a body")
    } else if code == 200 && look.layer.promises_json() {
        Cause::Malformed.because("JSON was promised and nothing came")
    } else {
        Finding::empty("a success without a body")
    }
}

fn redirect(look: &Look<'_>, code: u16) -> Finding {
    let location = look.layer.header("location").unwrap_or_default().to_ascii_lowercase();
    if ["login", "signin", "sign-in", "sso", "oauth", "auth/"].iter().any(|word| location.contains(word)) {
        Cause::Unauthenticated.because("a redirect to a login")
    } else if code == 304 {
        Finding::empty("304: nothing new")
    } else {
        Cause::BadInput.because("a redirect that was not followed: the address is another one")
    }
}

/// What a status means, with the words beside it; the text is in lower case.
pub(super) fn of_code(code: u16, text: &str) -> Finding {
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let cause = match code {
        402 => Cause::Unpaid,
        401 | 407 | 511 => Cause::Unauthenticated,
        403 if says(&["denied the request", "read-only", "allowlist", "blocked by policy", "by policy"]) => {
            Cause::AgainstPolicy
        }
        403 if says(&["rate limit", "ratelimit", "quota", "throttl"]) => Cause::Throttled,
        403 => Cause::Forbidden,
        404 if is_entity(text) => return Finding::empty("404 names what is not there"),
        408 | 504 | 522 | 524 | 598 | 599 => Cause::TimedOut,
        429 if says(&["insufficient_quota", "exceeded your current quota", "billing", "spend", "credit balance"]) => {
            Cause::Unpaid
        }
        429 | 430 => Cause::Throttled,
        451 => Cause::AgainstPolicy,
        499 => Cause::Cancelled,
        400..=499 => Cause::BadInput,
        503 if says(&[
            "slow down",
            "slowdown",
            "throttl",
            "rate exceeded",
            "reduce your request rate",
            "requestlimitexceeded",
        ]) =>
        {
            Cause::Throttled
        }
        502 | 503 | 521 | 523 | 525 | 526 | 529 | 530 => Cause::Down,
        _ => Cause::Broken,
    };
    cause.because("its status says so")
}

/// Words before "not found" that tell of a wrong address, or of a container that is missing: nothing was looked up.
#[rustfmt::skip] // a list of words reads as a paragraph
const NO_ENTITY: &[&str] = &[
    "page", "route", "endpoint", "path", "url", "uri", "method", "404", "resource", "handler", "file", "index",
    "table", "database", "bucket", "log group", "dataset", "namespace", "collection", "tenant", "datasource",
    "data source",
    "operation", "object", "tool", "model", "function", "command", "repository",
];

/// Whether a 404's words name a thing that was looked up: `trace not found`, `no order 17`.
fn is_entity(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['.', '!']);
    if text.len() > 300 || text.contains('<') || text.contains("cannot get") || text.contains("cannot post") {
        return false;
    }
    let named = ["not found", "does not exist", "doesn't exist", "could not be found", "was not found"];
    let Some(at) = named.iter().find_map(|words| text.find(words)) else {
        return ["no such ", "no trace", "unknown trace"]
            .iter()
            .any(|words| text.contains(words) && !names_no_entity(text));
    };
    let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', ':', '"', '\'', '`']);
    let before = before.strip_suffix("was").or_else(|| before.strip_suffix("is")).unwrap_or(before).trim();
    !before.is_empty() && before != "error" && !names_no_entity(before)
}

fn names_no_entity(text: &str) -> bool {
    let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    NO_ENTITY
        .iter()
        .any(|none| if none.contains(' ') { text.contains(none) } else { words().any(|word| word == *none) })
}

/// 404: the thing is not there, or the address is wrong.
fn not_found(look: &Look<'_>) -> Finding {
    let said = message(look);
    let names = look.object().is_some_and(|root| {
        ["id", "_id", "name", "key", "resource_id", "resourceId"]
            .iter()
            .any(|name| root.get(name).is_some_and(|id| !id.is_null()))
    });
    if names || is_entity(&said) {
        Finding::empty("404 names what is not there")
    } else {
        Cause::BadInput.because("404 without anything that was looked up: the address is wrong")
    }
}

/// What the body says in words, in lower case: its text, or the message among its members.
fn message(look: &Look<'_>) -> String {
    let root = match look.body {
        Body::Nothing => return String::new(),
        Body::Text(_) => return cut(look.text()).to_ascii_lowercase(),
        Body::Json(root) => root,
    };
    said(root).map(|text| text.to_ascii_lowercase()).unwrap_or_default()
}

/// The message of a failure, wherever it usually stands.
pub(super) fn said(root: Value<'_>) -> Option<String> {
    let places: &[&[&str]] = &[
        &["error", "message"],
        &["error", "detail"],
        &["error", "reason"],
        &["error"],
        &["message"],
        &["Message"],
        &["detail"],
        &["details"],
        &["error_description"],
        &["error_message"],
        &["errorMessage"],
        &["msg"],
        &["reason"],
        &["title"],
        &["description"],
        &["fault", "faultstring"],
    ];
    let text = |value: Value<'_>| value.head().filter(|text| !text.is_empty()).map(|text| cut(&text).to_owned());
    let listed = |name: &str| {
        let first = root.get(name)?.items().next()?;
        text(first)
            .or_else(|| ["message", "msg", "detail", "title", "reason"].iter().find_map(|key| text(first.get(key)?)))
    };
    text(root).or_else(|| places.iter().find_map(|place| text(root.path(place)?))).or_else(|| listed("errors"))
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(2_048);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// What a failure that carries a status, a code or words of its own means; none where it says nothing.
pub(super) fn of_failure(root: Value<'_>) -> Option<Finding> {
    let words = said(root);
    let lower = words.as_deref().map(str::to_ascii_lowercase).unwrap_or_default();
    let hint = RetryHint::of_body(root);
    status_of(root)
        .map(|code| of_code(code, &lower))
        .or_else(|| words.as_deref().and_then(phrases::finding))
        .map(|finding| finding.with_hint(hint))
}

/// The failing HTTP status that a failure carries of itself.
pub(super) fn status_of(root: Value<'_>) -> Option<u16> {
    ["status", "statusCode", "status_code", "code", "http_status", "httpStatus"]
        .iter()
        .find_map(|name| {
            let value = root.get(name)?;
            value.as_i64().or_else(|| value.head()?.parse().ok())
        })
        .and_then(|code| u16::try_from(code).ok())
        .filter(|code| (400..600).contains(code))
}
