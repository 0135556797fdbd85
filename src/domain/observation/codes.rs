//! What machine-readable error codes mean, whoever writes them.
//!
//! The same words mean the same things in all formats, so they stand in one table; a format states only where it
//! departs. Words are compared without case and separators: `ThrottlingException`, `rate_limit_exceeded` and
//! `TooManyRequests` need no rows of their own spelling.

use std::sync::LazyLock;

use super::cause::Cause;
use super::finding::Finding;
use super::words::Words;

/// Words that are looked for in a code, in this order: what is special before what is general.
const PARTS: &[(&str, Cause)] = &[
    ("insufficientquota", Cause::Unpaid),
    ("spendlimit", Cause::Unpaid),
    ("creditbalance", Cause::Unpaid),
    ("billing", Cause::Unpaid),
    ("paymentrequired", Cause::Unpaid),
    ("accountoverdue", Cause::Unpaid),
    ("maxuses", Cause::Unpaid),
    ("timeout", Cause::TimedOut),
    ("timedout", Cause::TimedOut),
    ("timeexceeded", Cause::TimedOut),
    ("deadlineexceeded", Cause::TimedOut),
    ("timelimit", Cause::TimedOut),
    ("throttl", Cause::Throttled),
    ("ratelimit", Cause::Throttled),
    ("ratelimited", Cause::Throttled),
    ("toomanyrequests", Cause::Throttled),
    ("requestlimitexceeded", Cause::Throttled),
    ("slowdown", Cause::Throttled),
    ("quotaexceeded", Cause::Throttled),
    ("limitexceeded", Cause::Throttled),
    ("resourceexhausted", Cause::Throttled),
    ("throughputexceeded", Cause::Throttled),
    ("bandwidthexceeded", Cause::Throttled),
    ("prioritylimit", Cause::Throttled),
    ("readonly", Cause::AgainstPolicy),
    ("notallowlisted", Cause::AgainstPolicy),
    ("urlnotallowed", Cause::AgainstPolicy),
    ("policyviolation", Cause::AgainstPolicy),
    ("accessdenied", Cause::Forbidden),
    ("permission", Cause::Forbidden),
    ("forbidden", Cause::Forbidden),
    ("missingscope", Cause::Forbidden),
    ("insufficientscope", Cause::Forbidden),
    ("notauthorized", Cause::Forbidden),
    ("authorizationerror", Cause::Forbidden),
    ("servicedisabled", Cause::Forbidden),
    ("unauthorizedoperation", Cause::Forbidden),
    ("accessnotconfigured", Cause::Forbidden),
    ("unauthorized", Cause::Unauthenticated),
    ("unauthenticated", Cause::Unauthenticated),
    ("authentication", Cause::Unauthenticated),
    ("invalidauth", Cause::Unauthenticated),
    ("notauthed", Cause::Unauthenticated),
    ("apikey", Cause::Unauthenticated),
    ("expiredtoken", Cause::Unauthenticated),
    ("tokenexpired", Cause::Unauthenticated),
    ("tokenrevoked", Cause::Unauthenticated),
    ("invalidtoken", Cause::Unauthenticated),
    ("invalidclienttoken", Cause::Unauthenticated),
    ("accountinactive", Cause::Unauthenticated),
    ("unrecognizedclient", Cause::Unauthenticated),
    ("invalidaccesskey", Cause::Unauthenticated),
    ("invalidsignature", Cause::Unauthenticated),
    ("signaturedoesnotmatch", Cause::Unauthenticated),
    ("incompletesignature", Cause::Unauthenticated),
    ("missingauth", Cause::Unauthenticated),
    ("requestexpired", Cause::Unauthenticated),
    ("credential", Cause::Unauthenticated),
    ("invalidgrant", Cause::Unauthenticated),
    ("invalidclient", Cause::Unauthenticated),
    ("securityexception", Cause::Unauthenticated),
    ("loginrequired", Cause::Unauthenticated),
    ("overload", Cause::Down),
    ("unavailable", Cause::Down),
    ("badgateway", Cause::Down),
    ("connectionrefused", Cause::Down),
    ("connectionreset", Cause::Down),
    ("connectionclosed", Cause::Down),
    ("connectionerror", Cause::Down),
    ("econnrefused", Cause::Down),
    ("econnreset", Cause::Down),
    ("networkerror", Cause::Down),
    ("capacity", Cause::Down),
    ("circuitbreaking", Cause::Down),
    ("rejectedexecution", Cause::Down),
    ("noshardavailable", Cause::Down),
    ("clusterblock", Cause::Down),
    ("nodedisconnected", Cause::Down),
    ("nodenotconnected", Cause::Down),
    ("masternotdiscovered", Cause::Down),
    ("cancel", Cause::Cancelled),
    ("malformed", Cause::BadInput),
    ("invalid", Cause::BadInput),
    ("notfound", Cause::BadInput),
    ("doesnotexist", Cause::BadInput),
    ("nosuch", Cause::BadInput),
    ("badrequest", Cause::BadInput),
    ("baddata", Cause::BadInput),
    ("badinput", Cause::BadInput),
    ("baduserinput", Cause::BadInput),
    ("validation", Cause::BadInput),
    ("validating", Cause::BadInput),
    ("parsing", Cause::BadInput),
    ("parse", Cause::BadInput),
    ("syntax", Cause::BadInput),
    ("argument", Cause::BadInput),
    ("parameter", Cause::BadInput),
    ("missing", Cause::BadInput),
    ("required", Cause::BadInput),
    ("unsupported", Cause::BadInput),
    ("toolarge", Cause::BadInput),
    ("toolong", Cause::BadInput),
    ("lengthexceeded", Cause::BadInput),
    ("outofrange", Cause::BadInput),
    ("alreadyexists", Cause::BadInput),
    ("conflict", Cause::BadInput),
    ("conditionalcheck", Cause::BadInput),
    ("precondition", Cause::BadInput),
    ("unprocessable", Cause::BadInput),
    ("methodnotallowed", Cause::BadInput),
    ("unimplemented", Cause::BadInput),
    ("internal", Cause::Broken),
    ("servererror", Cause::Broken),
    ("fatalerror", Cause::Broken),
    ("servicefailure", Cause::Broken),
];

/// Codes that are only meant where they stand alone.
const WHOLE: &[(&str, Cause)] = &[
    ("timeout", Cause::TimedOut),
    ("enotfound", Cause::Down),
    ("apierror", Cause::Broken),
    ("authfailure", Cause::Unauthenticated),
    ("aborted", Cause::Broken),
    ("internal", Cause::Broken),
    ("requests", Cause::Throttled),
    ("tokens", Cause::Throttled),
    ("unknown", Cause::Unexplained),
    ("dataloss", Cause::Unexplained),
    ("expired", Cause::BadInput),
    ("gone", Cause::BadInput),
];

static PART_WORDS: LazyLock<Words> =
    LazyLock::new(|| Words::new(PARTS.iter().map(|(word, _)| std::slice::from_ref(word))));

/// The longest code that is looked at; what is longer is a sentence.
const CODE_BYTES_MAX: usize = 96;

/// What a code means; none for a word that says nothing.
pub(super) fn cause(code: &str) -> Option<Cause> {
    let code = code.rsplit(['#', '/']).next().unwrap_or(code);
    if code.len() > CODE_BYTES_MAX {
        return None;
    }
    let bare: String = code.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let whole = WHOLE.iter().find(|(word, _)| bare == *word);
    whole.or_else(|| PART_WORDS.first_in(&bare, |_, _| true).and_then(|row| PARTS.get(row))).map(|(_, cause)| *cause)
}

/// What a code means, as a finding.
pub(super) fn finding(code: &str) -> Option<Finding> {
    cause(code).map(|cause| cause.because("its error code says so"))
}

/// What an SQLSTATE means, by its class; none for what is no SQLSTATE.
pub(super) fn sqlstate(state: &str) -> Option<Finding> {
    let is_state = state.len() == 5
        && state.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        && state.bytes().any(|b| b.is_ascii_digit());
    if !is_state {
        return None;
    }
    let cause = match (state, state.get(..2).unwrap_or_default()) {
        ("57014", _) => Cause::TimedOut, // statement_timeout cancels
        ("25006", _) => Cause::AgainstPolicy,
        ("42501", _) => Cause::Forbidden,
        ("57P01" | "57P02" | "57P03" | "57P05", _) => Cause::Down,
        ("40001" | "40P01", _) => Cause::Broken, // to be tried again as it was
        ("53400", _) => Cause::Down,
        ("00000", _) => return None,
        (_, "28") => Cause::Unauthenticated,
        (_, "08" | "53") => Cause::Down,
        (_, "57" | "58" | "XX" | "F0") => Cause::Broken,
        (_, "01" | "02") => return None,
        (_, "40") => Cause::Broken,
        (_, "55") => Cause::Broken,
        _ => Cause::BadInput, // 21, 22, 23, 42 and their kin: the statement
    };
    Some(cause.because("its SQLSTATE says so"))
}
