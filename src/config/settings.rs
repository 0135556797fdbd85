//! What the process runs under besides its breakers: where it listens, how it logs, how much it may hold.
//!
//! The defaults of this file are the defaults of the configuration; `keys` prints them.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::domain::contract::ContractSettings;
use crate::domain::signal::closed_words;
use crate::engine::Limits;

/// Everything outside the breakers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where the gRPC service listens.
    pub grpc: Listen,
    /// Whether listening beyond loopback over TCP is allowed, which nothing protects.
    pub insecure: bool,
    /// How long a stopping process lets running requests finish, in milliseconds.
    pub drain_for_ms: u64,
    /// How long an ordinary permit lives, in milliseconds.
    pub permit_for_ms: u64,
    /// Whether what exists for measuring only may be chosen.
    pub experimental: bool,
    /// How to log.
    pub log: LogSettings,
    /// How refusals are worded.
    pub contract: ContractSettings,
    /// How much the engine holds.
    pub limits: Limits,
    /// How much the service takes.
    pub wire: WireLimits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            grpc: Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 7171))),
            insecure: false,
            drain_for_ms: 10_000,
            permit_for_ms: 900_000,
            experimental: false,
            log: LogSettings { format: LogFormat::Text, level: LogLevel::Info },
            contract: ContractSettings::default(),
            limits: Limits::default(),
            wire: WireLimits {
                batch: 256,
                payload_bytes: 256 << 10,
                request_bytes: 4 * 1024 * 1024,
                requests_in_flight: 1_024,
                streams: 256,
                watchers: 64,
            },
        }
    }
}

/// An address to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// A socket file.
    Unix(PathBuf),
}

impl Listen {
    /// Whether other machines can reach it.
    #[must_use]
    pub fn is_beyond_loopback(&self) -> bool {
        match self {
            Self::Tcp(address) => !address.ip().to_canonical().is_loopback(),
            Self::Unix(_) => false,
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// How to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// The form of a line.
    pub format: LogFormat,
    /// The least urgent line that is written.
    pub level: LogLevel,
}

closed_words! {
    /// The form of a log line.
    LogFormat {
        /// For people.
        Text = "text",
        /// One object a line.
        Json = "json",
    }
}

closed_words! {
    /// How urgent a log line is, most urgent first.
    LogLevel {
        /// What needs somebody.
        Error = "error",
        /// What may need somebody.
        Warn = "warn",
        /// Phase changes.
        Info = "info",
        /// Every call.
        Debug = "debug",
    }
}

/// How much the service takes before it refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireLimits {
    /// Calls in one batch request.
    pub batch: usize,
    /// Bytes of one payload.
    pub payload_bytes: usize,
    /// Bytes of one request.
    pub request_bytes: usize,
    /// Requests at work at once; one more is refused at once.
    pub requests_in_flight: usize,
    /// Streams at once on one connection.
    pub streams: usize,
    /// Event streams at once over all connections.
    pub watchers: usize,
}
