//! What the transport said of a call, before anybody looks at the payload.

use super::RetryHint;
use crate::domain::signal::closed_words;

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

closed_words! {
    /// What carried the call. It matters where an answer must have a shape: a JSON-RPC result over MCP, say.
    Carrier {
        /// HTTP.
        Http = "http",
        /// gRPC.
        Grpc = "grpc",
        /// The Model Context Protocol.
        Mcp = "mcp",
        /// A process and its exit code.
        Process = "process",
    }
}

/// What the transport said. A fault without an answer outranks a gRPC code, which outranks an HTTP status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransportFacts {
    /// What carried it, where that was said.
    pub carrier: Option<Carrier>,
    /// 100 to 599.
    pub http_status: Option<u16>,
    /// 0 to 16.
    pub grpc_code: Option<u8>,
    /// How a process ended.
    pub exit_code: Option<i32>,
    /// Where there was no answer, or no usable one.
    pub error_kind: Option<ErrorKind>,
    /// Headers of the answer; only those that tell of limits, dates, logins and media types are read.
    pub headers: Vec<(String, String)>,
}

impl TransportFacts {
    /// A header by its name in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// How long the target asked to be left alone: its headers, and between them what the body says.
    #[must_use]
    pub fn hint(&self, body: Option<RetryHint>, now_unix_ms: u64) -> Option<RetryHint> {
        let headers = || self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        RetryHint::asked(headers(), now_unix_ms).or(body).or_else(|| RetryHint::of_limits(headers(), now_unix_ms))
    }
}

impl TransportFacts {
    /// A 403 that is a rate limit in disguise says so in its headers.
    #[must_use]
    pub fn tells_of_a_limit(&self) -> bool {
        let is_spent = |name| self.header(name).is_some_and(|left| left == "0");
        self.header("retry-after").is_some() || is_spent("x-ratelimit-remaining") || is_spent("ratelimit-remaining")
    }

    /// Whether the call may have gone out and no reply of its target came back, so that nobody knows what it did.
    #[must_use]
    pub const fn lost_the_reply(&self) -> bool {
        const CANCELLED: u8 = 1;
        const DEADLINE_EXCEEDED: u8 = 4;
        const UNAVAILABLE: u8 = 14; // also what clients say when a connection breaks with a call on it
        matches!(self.error_kind, Some(ErrorKind::Reset | ErrorKind::Timeout | ErrorKind::CancelledByCaller))
            || matches!(self.grpc_code, Some(CANCELLED | DEADLINE_EXCEEDED | UNAVAILABLE))
            // what servers and gateways say of a reply that never came, or broke off
            || matches!(self.http_status, Some(408 | 499 | 502 | 504 | 520 | 522 | 524 | 598 | 599))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_lost_where_the_call_may_have_gone_out() {
        let of_kind = |kind| TransportFacts { error_kind: Some(kind), ..TransportFacts::default() };
        let lost: Vec<ErrorKind> =
            ErrorKind::ALL.iter().copied().filter(|kind| of_kind(*kind).lost_the_reply()).collect();
        assert_eq!(lost, [ErrorKind::Reset, ErrorKind::Timeout, ErrorKind::CancelledByCaller]);
        let of_code = |code| TransportFacts { grpc_code: Some(code), ..TransportFacts::default() };
        assert_eq!((0..=16).filter(|code| of_code(*code).lost_the_reply()).collect::<Vec<_>>(), [1, 4, 14]);
        let of_status = |status| TransportFacts { http_status: Some(status), ..TransportFacts::default() };
        let lost: Vec<u16> = (100..600).filter(|status| of_status(*status).lost_the_reply()).collect();
        assert_eq!(lost, [408, 499, 502, 504, 520, 522, 524, 598, 599], "an answer of the server is a reply: 500, 503");
        assert!(!TransportFacts::default().lost_the_reply());
    }
}
