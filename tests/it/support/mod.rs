//! What the tests share: a real server on loopback with a clock that stands still.

pub(crate) mod asks;
pub(crate) mod raw;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tonic::transport::{Channel, Endpoint};
use tripnote::config::Config;
use tripnote::domain::breaker::routes::Routes;
use tripnote::domain::ids::HashKey;
use tripnote::engine::clock::{Clock, ManualClock};
use tripnote::engine::{Engine, EngineSettings, Identity, Reading};
use tripnote::service::server::{Address, Bound, ServiceSettings, serve};
use tripnote::service::{ConfigFault, Reload, Reloaded, ServiceLimits};
use tripnote::wire::pb::breaker_service_client::BreakerServiceClient;
use tripnote::wire::pb::operator_service_client::OperatorServiceClient;
use tripnote::wire::pb::session_service_client::SessionServiceClient;

/// 2026-01-01T14:01:30Z, the moment at which every test clock stands: 40 s before 14:02:10Z.
pub(crate) const NOON_UNIX_MS: i64 = 1_767_276_090_000;

/// A server in this process, with real sockets and a manual clock.
pub(crate) struct TestServer {
    pub(crate) engine: Arc<Engine>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) endpoint: String,
    pub(crate) breakers: BreakerServiceClient<Channel>,
    pub(crate) sessions: SessionServiceClient<Channel>,
    pub(crate) operators: OperatorServiceClient<Channel>,
    stop: oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<Result<(), tonic::transport::Error>>,
}

/// Settings of an engine from a configuration text.
pub(crate) fn engine_settings(toml: &str, version: u64) -> EngineSettings {
    let config = Config::parse(toml).unwrap_or_else(|report| panic!("{report}"));
    let contract = config.settings.contract;
    let tool = contract.escalation_tool.clone();
    EngineSettings {
        routes: Routes::new(version, &config.default_policy, &config.breakers, tool.as_ref()).unwrap(),
        contract,
        permit_for_ms: config.settings.permit_for_ms,
        limits: config.settings.limits,
        session: config.settings.session.settings(tool),
        reading: Reading { tools: config.tools, formats: config.formats },
        failure: config.failure,
    }
}

/// An engine without a service.
pub(crate) fn engine(toml: &str, clock: &Arc<ManualClock>) -> Arc<Engine> {
    let identity =
        Identity { incarnation: 1, names: HashKey(*b"names for a test"), permits: HashKey(*b"permits for test") };
    Arc::new(Engine::new(engine_settings(toml, 1), identity, Arc::clone(clock) as Arc<dyn Clock>).unwrap())
}

/// A reload that takes its text from the test.
struct TextReload {
    engine: Arc<Engine>,
    clock: Arc<ManualClock>,
    text: Arc<parking_lot::Mutex<(String, u64)>>,
}

impl Reload for TextReload {
    fn reload(&self) -> Reloaded {
        let mut text = self.text.lock();
        match Config::parse(&text.0) {
            Err(report) => {
                let fault = |f: tripnote::config::Fault| ConfigFault {
                    path: f.path,
                    value: f.value,
                    rule: f.rule,
                    line: f.line.map_or(0, |line| u32::try_from(line).unwrap()),
                };
                Reloaded { faults: report.faults.into_iter().map(fault).collect(), changes: vec![], version: text.1 }
            }
            Ok(_) => {
                text.1 += 1;
                self.engine.reload(engine_settings(&text.0, text.1), self.clock.now());
                Reloaded { faults: vec![], changes: vec!["reloaded".to_owned()], version: text.1 }
            }
        }
    }
}

impl TestServer {
    pub(crate) async fn start(toml: &str) -> Self {
        Self::start_at(toml, &Address::Tcp("127.0.0.1:0".parse().unwrap())).await.0
    }

    /// Starts a server at an address; the text is what its next `ReloadConfig` reads.
    pub(crate) async fn start_at(toml: &str, address: &Address) -> (Self, Arc<parking_lot::Mutex<(String, u64)>>) {
        Self::start_when(toml, address, NOON_UNIX_MS).await
    }

    /// Starts a server at an address and a time.
    pub(crate) async fn start_when(
        toml: &str,
        address: &Address,
        unix_ms: i64,
    ) -> (Self, Arc<parking_lot::Mutex<(String, u64)>>) {
        let clock = Arc::new(ManualClock::at_unix_ms(unix_ms));
        let engine = engine(toml, &clock);
        let config = Config::parse(toml).unwrap();
        let bound = Bound::bind(address).await.unwrap();
        let endpoint = bound.endpoint().unwrap();
        let text = Arc::new(parking_lot::Mutex::new((toml.to_owned(), 1)));
        let reload = TextReload { engine: Arc::clone(&engine), clock: Arc::clone(&clock), text: Arc::clone(&text) };
        let wire = config.settings.wire;
        let settings = ServiceSettings {
            engine: Arc::clone(&engine),
            limits: ServiceLimits {
                batch: wire.batch,
                payload_bytes: wire.payload_bytes,
                request_bytes: wire.request_bytes,
                requests_in_flight: wire.requests_in_flight,
                streams: u32::try_from(wire.streams).unwrap(),
                watchers: wire.watchers,
            },
            drain_for: Duration::from_millis(config.settings.drain_for_ms),
            reload: Arc::new(reload),
            test_clock: Some(Arc::clone(&clock)),
            log: tripnote::telemetry::log::event,
        };
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(serve(bound, settings, async {
            let _ = stopped.await;
        }));
        let channel = channel(&endpoint).await;
        let breakers = BreakerServiceClient::new(channel.clone());
        let sessions = SessionServiceClient::new(channel.clone());
        let operators = OperatorServiceClient::new(channel);
        (Self { engine, clock, endpoint, breakers, sessions, operators, stop, serving }, text)
    }

    pub(crate) async fn stop(self) {
        let _ = self.stop.send(());
        self.serving.await.unwrap().unwrap();
    }
}

/// Connects to `127.0.0.1:port` or `unix:/path`.
pub(crate) async fn channel(endpoint: &str) -> Channel {
    let is_socket = endpoint.starts_with("unix:");
    let uri = if is_socket { endpoint.to_owned() } else { format!("http://{endpoint}") };
    Endpoint::from_shared(uri).unwrap().connect_lazy()
}
