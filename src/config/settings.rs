//! What the process runs under besides its breakers: where it listens, how it logs, how much it may hold.
//!
//! The defaults of this file are the defaults of the configuration; `keys` prints them.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use super::review::ReviewWords;
use crate::domain::contract::ContractSettings;
use crate::domain::ids::SafeText;
use crate::domain::session::policy::{FanOutPolicy, ProgressPolicy, ScopePolicy, SessionPolicy, Thresholds};
use crate::domain::session::review::keywords::Keywords;
use crate::domain::signal::closed_words;
use crate::engine::{Limits, SessionSettings};

/// Everything outside the breakers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where the gRPC service listens.
    pub grpc: Listen,
    /// Where health and metrics are served over HTTP; none: nowhere.
    pub http: Option<Listen>,
    /// Names by which the HTTP port may be asked for, beside `localhost` and addresses.
    pub http_hosts: Vec<Arc<str>>,
    /// Whether listening beyond loopback over TCP is allowed, which nothing protects.
    pub insecure: bool,
    /// What outlives a restart, and how.
    pub store: StoreKeys,
    /// How long a stopping process lets running requests finish, in milliseconds.
    pub drain_for_ms: u64,
    /// How long an ordinary permit lives, in milliseconds.
    pub permit_for_ms: u64,
    /// Whether what exists for measuring only may be chosen.
    pub experimental: bool,
    /// How to log.
    pub log: LogSettings,
    /// Which events are written to a file.
    pub audit: AuditSettings,
    /// How refusals are worded.
    pub contract: ContractSettings,
    /// The wording that the file names, until it is looked up among all that are read.
    pub(super) named_variant: Option<Arc<str>>,
    /// What sessions are held to.
    pub session: SessionKeys,
    /// How much the engine holds.
    pub limits: Limits,
    /// How much the service takes.
    pub wire: WireLimits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            grpc: Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 7171))),
            http: Some(Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 7172)))),
            http_hosts: Vec::new(),
            insecure: false,
            store: StoreKeys::default(),
            drain_for_ms: 10_000,
            permit_for_ms: 900_000,
            experimental: false,
            log: LogSettings { format: LogFormat::Text, level: LogLevel::Info },
            audit: AuditSettings { file: None, calls: false, rotate_bytes: 64 << 20, keep: 8, sync: false },
            contract: ContractSettings::default(),
            named_variant: None,
            session: SessionKeys::default(),
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

/// What outlives a restart, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreKeys {
    /// The directory; none: that of the platform.
    pub data_dir: Option<PathBuf>,
    /// How long changes are gathered before they are written, in milliseconds.
    pub flush_every_ms: u64,
    /// What is written before it is answered.
    pub durability: Durability,
    /// What to do at the start where the directory cannot be used.
    pub on_error: OnStoreError,
}

impl Default for StoreKeys {
    fn default() -> Self {
        let (durability, on_error) = (Durability::WriteBehind, OnStoreError::Refuse);
        Self { data_dir: None, flush_every_ms: 50, durability, on_error }
    }
}

closed_words! {
    /// What is written before it is answered.
    Durability {
        /// Nothing: no request waits for the disk.
        WriteBehind = "write_behind",
        /// What must not be lost.
        Strict = "strict",
    }
}

closed_words! {
    /// What to do at the start where the store cannot be used.
    OnStoreError {
        /// Not to start.
        Refuse = "refuse",
        /// To begin empty, with a damaged file set aside.
        Memory = "memory",
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

/// Which events are written to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditSettings {
    /// The file; none: nowhere.
    pub file: Option<PathBuf>,
    /// Whether it holds an event for every call too.
    pub calls: bool,
    /// At this many bytes another file is begun.
    pub rotate_bytes: u64,
    /// Files that are kept, with the one that is written.
    pub keep: u32,
    /// Whether each write is on the disk before the next.
    pub sync: bool,
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

/// What sessions are held to, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionKeys {
    /// How long a session is remembered of which nothing is heard, in milliseconds.
    pub idle_for_ms: u64,
    /// The same failed or empty result of the same question: steers at.
    pub steer_at: u32,
    /// Halts at.
    pub halt_at: u32,
    /// The same result of other questions: steers at.
    pub sweep_steer_at: u32,
    /// Halts at.
    pub sweep_halt_at: u32,
    /// Failures of one tool in a row: steers at.
    pub broad_steer_at: u32,
    /// Halts at.
    pub broad_halt_at: u32,
    /// Whether usable results are counted.
    pub observed_repeats: bool,
    /// The same usable result of the same call: steers at.
    pub observed_steer_at: u32,
    /// Halts at.
    pub observed_halt_at: u32,
    /// Halted routes that halt the session.
    pub max_halts: u32,
    /// Steers that ended in a halt that the operator wants to hear of.
    pub alert_steer_then_halt: u32,
    /// Calls of one tool at once; 0 for no cap.
    pub fan_out_per_wave: u32,
    /// Calls of one breaker at once over all sessions; 0 for no cap.
    pub fan_out_per_backend: u32,
    /// Refusals that pin a tool; 0 for never.
    pub pin_tool_after: u32,
    /// Words by which answers are read, beside the built-in ones.
    pub review: ReviewWords,
}

impl Default for SessionKeys {
    fn default() -> Self {
        let ProgressPolicy { same, sweep, broad, observed, max_halts, alert_steer_then_halt } =
            ProgressPolicy::default();
        let held = observed.unwrap_or(same);
        Self {
            idle_for_ms: 60 * 60_000,
            steer_at: same.steer_at(),
            halt_at: same.halt_at(),
            sweep_steer_at: sweep.steer_at(),
            sweep_halt_at: sweep.halt_at(),
            broad_steer_at: broad.steer_at(),
            broad_halt_at: broad.halt_at(),
            observed_repeats: observed.is_some(),
            observed_steer_at: held.steer_at(),
            observed_halt_at: held.halt_at(),
            max_halts: max_halts.get(),
            alert_steer_then_halt,
            fan_out_per_wave: FanOutPolicy::default().per_wave.map_or(0, NonZeroU32::get),
            fan_out_per_backend: 0,
            pin_tool_after: 0,
            review: ReviewWords::default(),
        }
    }
}

impl SessionKeys {
    /// The pairs of counts by their keys, each of which halts after it steers.
    #[must_use]
    pub const fn pairs(&self) -> [(&'static str, u32, &'static str, u32); 4] {
        [
            ("steer_at", self.steer_at, "halt_at", self.halt_at),
            ("sweep_steer_at", self.sweep_steer_at, "sweep_halt_at", self.sweep_halt_at),
            ("broad_steer_at", self.broad_steer_at, "broad_halt_at", self.broad_halt_at),
            ("observed_steer_at", self.observed_steer_at, "observed_halt_at", self.observed_halt_at),
        ]
    }

    /// As the engine takes it; counts that are no pair, which the checks report, fall back to the default.
    #[must_use]
    pub fn settings(&self, escalation_tool: Option<SafeText>) -> SessionSettings {
        let default = ProgressPolicy::default();
        let pair = |steer_at, halt_at, otherwise| Thresholds::new(steer_at, halt_at).unwrap_or(otherwise);
        let observed = pair(self.observed_steer_at, self.observed_halt_at, default.observed.unwrap_or(default.same));
        let progress = ProgressPolicy {
            same: pair(self.steer_at, self.halt_at, default.same),
            sweep: pair(self.sweep_steer_at, self.sweep_halt_at, default.sweep),
            broad: pair(self.broad_steer_at, self.broad_halt_at, default.broad),
            observed: self.observed_repeats.then_some(observed),
            max_halts: NonZeroU32::new(self.max_halts).unwrap_or(default.max_halts),
            alert_steer_then_halt: self.alert_steer_then_halt,
        };
        let policy = SessionPolicy {
            progress,
            fan_out: FanOutPolicy { per_wave: NonZeroU32::new(self.fan_out_per_wave) },
            scope: ScopePolicy { allow: Vec::new(), pin_tool_after: NonZeroU32::new(self.pin_tool_after) },
            required_tools: Vec::new(),
            escalation_tool,
        };
        // Phrases that are one too many, which the checks report, leave the built-in words.
        let keywords = self.review.keywords().unwrap_or_else(|_| Keywords::shared());
        SessionSettings { policy: Arc::new(policy), keywords, idle_for_ms: self.idle_for_ms }
    }
}
