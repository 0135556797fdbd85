//! L3: the thin faces, gRPC and HTTP. Reads a message, asks the engine once, writes the answer; decides and words nothing.

pub mod audit;
mod breaker;
mod caller;
mod failure;
mod gate;
mod guard;
pub mod hooks;
mod http;
pub mod keeping;
mod meter;
mod operator;
pub mod pump;
pub mod server;
mod session;
mod settle;
mod status;

pub use meter::rpc_methods;

use std::sync::Arc;

use tokio::sync::watch;
use tonic::metadata::MetadataMap;

use crate::domain::time::Timestamp;
use crate::engine::Engine;
use crate::engine::clock::ManualClock;
use crate::telemetry::recorder::Recorder;

/// Bounds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceLimits {
    /// Items in a batch.
    pub batch: usize,
    /// Bytes of a payload, and of arguments beside it.
    pub payload_bytes: usize,
    /// Bytes of one message.
    pub request_bytes: usize,
    /// Requests in flight over all connections; beyond, they are refused at once.
    pub requests_in_flight: usize,
    /// Streams of one connection.
    pub streams: u32,
    /// Watchers of events at once.
    pub watchers: usize,
}

/// A fault of a configuration file, as a reload tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// The key.
    pub path: String,
    /// The value as written.
    pub value: String,
    /// What would be right.
    pub rule: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
}

/// What a reload came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// All faults; not empty where nothing was changed.
    pub faults: Vec<ConfigFault>,
    /// What is different, a line each.
    pub changes: Vec<String>,
    /// The number of the configuration in force.
    pub version: u64,
}

/// Reads the configuration again and puts it in force: the port by which `cli` hands in what `service` may not know.
pub trait Reload: Send + Sync + 'static {
    /// Reads the file whole; one with faults changes nothing. May block on the disk.
    fn reload(&self) -> Reloaded;
}

/// What the services share.
pub(crate) struct Shared {
    pub(crate) engine: Arc<Engine>,
    pub(crate) limits: ServiceLimits,
    pub(crate) reload: Arc<dyn Reload>,
    pub(crate) pump: pump::Pump,
    /// True from the moment on that the service takes nothing new.
    pub(crate) drains: watch::Receiver<bool>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) keeping: Arc<keeping::Keeping>,
    /// Set under `--test-clock` only: then a request may move the clock.
    pub(crate) test_clock: Option<Arc<ManualClock>>,
}

/// The request header that moves a test clock: milliseconds on the scale of time, which begins at 0 with the first life.
pub const TEST_NOW_HEADER: &str = "tripnote-test-now-ms";

impl Shared {
    /// The one clock read of a request.
    pub(crate) fn now(&self, metadata: &MetadataMap) -> Timestamp {
        if let Some(clock) = &self.test_clock
            && let Some(ms) = metadata.get(TEST_NOW_HEADER).and_then(|v| v.to_str().ok()).and_then(|v| v.parse().ok())
        {
            clock.set(Timestamp(ms));
        }
        self.engine.clock().now()
    }
}
