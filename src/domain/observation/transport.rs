//! From plain transport facts to what a call came to: the status maps for callers that send no payload.

use super::{Classification, RetryHint};
use crate::domain::signal::{CircuitKind, closed_words};

closed_words! {
    /// How a call ended without an answer, or with one that could not be used.
    ErrorKind {
        /// The connection was refused.
        ConnectRefused = "connect_refused",
        /// The name did not resolve.
        Dns = "dns",
        /// The secure channel failed.
        Tls = "tls",
        /// The connection broke.
        Reset = "reset",
        /// A time limit ended the call.
        Timeout = "timeout",
        /// The caller or its user cancelled.
        CancelledByCaller = "cancelled_by_caller",
        /// The host refused to make the call.
        RefusedByHost = "refused_by_host",
        /// It failed before it left the caller.
        NotSent = "not_sent",
        /// The answer could not be read.
        MalformedBody = "malformed_body",
    }
}

/// What the transport said. A fault without an answer outranks a gRPC code, which outranks an HTTP status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransportFacts {
    /// 100 to 599.
    pub http_status: Option<u16>,
    /// 0 to 16.
    pub grpc_code: Option<u8>,
    /// Where there was no answer, or no usable one.
    pub error_kind: Option<ErrorKind>,
    /// Headers of the answer; only those that tell of limits, dates and logins are read.
    pub headers: Vec<(String, String)>,
}

impl TransportFacts {
    /// What the call came to; none where no fact is given.
    #[must_use]
    pub fn classification(&self) -> Option<Classification> {
        let status = self.grpc_code.map(of_grpc_code).or_else(|| self.http_status.map(|s| self.of_http_status(s)));
        match (self.error_kind, status) {
            // An unreadable body beside a failing status is the failure's own page, not a broken promise.
            (Some(ErrorKind::MalformedBody), Some(failed)) if failed != Classification::Ok => Some(failed),
            (Some(kind), _) => Some(of_error_kind(kind)),
            (None, status) => status,
        }
    }

    /// How long the target asked to be left alone.
    #[must_use]
    pub fn hint(&self, now_unix_ms: u64) -> Option<RetryHint> {
        RetryHint::from_headers(self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())), now_unix_ms)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    fn of_http_status(&self, status: u16) -> Classification {
        use Classification::{BadInput, Failed, Ignored, Ok, TimedOut};
        match status {
            202 | 499 => Ignored, // pending; cancelled by the caller
            300..=399 if self.leads_to_login() => Failed(CircuitKind::Authentication),
            100..=399 => Ok,
            401 | 407 => Failed(CircuitKind::Authentication),
            402 => Failed(CircuitKind::QuotaBilling),
            403 if self.tells_of_a_limit() => Failed(CircuitKind::QuotaRate),
            403 => Failed(CircuitKind::Authorisation),
            408 | 504 => TimedOut,
            429 => Failed(CircuitKind::QuotaRate),
            400..=498 => BadInput,
            _ => Failed(CircuitKind::ErrorRate),
        }
    }

    fn leads_to_login(&self) -> bool {
        let location = self.header("location").unwrap_or_default().to_ascii_lowercase();
        ["login", "signin", "sso", "oauth"].iter().any(|word| location.contains(word))
    }

    /// A 403 that is a rate limit in disguise says so in its headers.
    fn tells_of_a_limit(&self) -> bool {
        let is_spent = |name| self.header(name).is_some_and(|left| left == "0");
        self.header("retry-after").is_some() || is_spent("x-ratelimit-remaining") || is_spent("ratelimit-remaining")
    }
}

fn of_error_kind(kind: ErrorKind) -> Classification {
    match kind {
        ErrorKind::ConnectRefused | ErrorKind::Dns | ErrorKind::Tls | ErrorKind::Reset => {
            Classification::Failed(CircuitKind::ErrorRate)
        }
        ErrorKind::Timeout => Classification::TimedOut,
        ErrorKind::CancelledByCaller | ErrorKind::RefusedByHost | ErrorKind::NotSent => Classification::Ignored,
        ErrorKind::MalformedBody => Classification::Failed(CircuitKind::MalformedResponse),
    }
}

fn of_grpc_code(code: u8) -> Classification {
    match code {
        0 => Classification::Ok,
        1 => Classification::Ignored,
        4 => Classification::TimedOut,
        7 => Classification::Failed(CircuitKind::Authorisation),
        8 => Classification::Failed(CircuitKind::QuotaRate),
        16 => Classification::Failed(CircuitKind::Authentication),
        3 | 5 | 6 | 9 | 11 | 12 => Classification::BadInput,
        _ => Classification::Failed(CircuitKind::ErrorRate), // UNKNOWN, ABORTED, INTERNAL, UNAVAILABLE, DATA_LOSS
    }
}

#[cfg(test)]
mod tests;
