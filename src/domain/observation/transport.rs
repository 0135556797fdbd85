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
}
