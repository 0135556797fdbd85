//! What the tests share: a real server on loopback with a clock that stands still.

pub(crate) mod asks;
pub(crate) mod raw;
pub(crate) mod web;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tonic::transport::{Channel, Endpoint};
use tripnote::config::Config;
use tripnote::domain::breaker::routes::Routes;
use tripnote::domain::ids::HashKey;
use tripnote::engine::clock::{Clock, ManualClock};
use tripnote::engine::{Engine, EngineSettings, Identity, Reading};
use tripnote::service::audit::Audit;
use tripnote::service::keeping::StoreSettings;
use tripnote::service::server::{Address, Bound, HttpSettings, ServiceSettings, serve};
use tripnote::service::{ConfigFault, Reload, Reloaded, ServiceLimits, rpc_methods};
use tripnote::telemetry::recorder::{Names, Recorder};
use tripnote::wire::pb;
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
    /// Where its HTTP face listens.
    pub(crate) http: String,
    pub(crate) recorder: Arc<Recorder>,
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

/// A recorder for the breakers of a configuration text.
pub(crate) fn recorder(toml: &str) -> Arc<Recorder> {
    Arc::new(Recorder::new(&Names::of(&engine_settings(toml, 1)), &rpc_methods()))
}

/// A reload that takes its text from the test.
struct TextReload {
    engine: Arc<Engine>,
    clock: Arc<ManualClock>,
    recorder: Arc<Recorder>,
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
                let settings = engine_settings(&text.0, text.1);
                self.recorder.learn(&Names::of(&settings));
                self.engine.reload(settings, self.clock.now());
                Reloaded { faults: vec![], changes: vec!["reloaded".to_owned()], version: text.1 }
            }
        }
    }
}

fn any_port() -> Address {
    Address::Tcp("127.0.0.1:0".parse().unwrap())
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
        Self::start_as(toml, [address, &any_port()], unix_ms, None).await
    }

    /// Starts a server whose HTTP face is a socket file.
    pub(crate) async fn start_with_http(toml: &str, http: &str) -> Self {
        let http = Address::Unix(http.strip_prefix("unix:").unwrap().into());
        Self::start_as(toml, [&any_port(), &http], NOON_UNIX_MS, None).await.0
    }

    /// Starts a server that writes its events to a file.
    pub(crate) async fn start_audited(toml: &str, audit: Audit) -> Self {
        Self::start_as(toml, [&any_port(), &any_port()], NOON_UNIX_MS, Some(audit)).await.0
    }

    async fn start_as(
        toml: &str,
        [address, http]: [&Address; 2],
        unix_ms: i64,
        audit: Option<Audit>,
    ) -> (Self, Arc<parking_lot::Mutex<(String, u64)>>) {
        let clock = Arc::new(ManualClock::at_unix_ms(unix_ms));
        Self::start_over(toml, [address, http], (engine(toml, &clock), clock), (audit, None)).await
    }

    /// Starts a server over an engine that is there, with what it is to write.
    pub(crate) async fn start_over(
        toml: &str,
        [address, http]: [&Address; 2],
        (engine, clock): (Arc<Engine>, Arc<ManualClock>),
        (audit, store): (Option<Audit>, Option<StoreSettings>),
    ) -> (Self, Arc<parking_lot::Mutex<(String, u64)>>) {
        let config = Config::parse(toml).unwrap();
        let bound = Bound::bind(address).await.unwrap();
        let endpoint = bound.endpoint().unwrap();
        let text = Arc::new(parking_lot::Mutex::new((toml.to_owned(), 1)));
        let recorder = recorder(toml);
        let reload = TextReload {
            engine: Arc::clone(&engine),
            clock: Arc::clone(&clock),
            recorder: Arc::clone(&recorder),
            text: Arc::clone(&text),
        };
        let http = Bound::bind(http).await.unwrap();
        let http_endpoint = http.endpoint().unwrap();
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
            recorder: Arc::clone(&recorder),
            audit,
            http: Some(HttpSettings { bound: http, hosts: config.settings.http_hosts }),
            store,
        };
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(serve(bound, settings, async {
            let _ = stopped.await;
        }));
        let channel = channel(&endpoint).await;
        let breakers = BreakerServiceClient::new(channel.clone());
        let sessions = SessionServiceClient::new(channel.clone());
        let operators = OperatorServiceClient::new(channel);
        let http = http_endpoint;
        (Self { engine, clock, endpoint, http, recorder, breakers, sessions, operators, stop, serving }, text)
    }

    /// An RPC that does not end until it is dropped, so that a drain waits for it.
    pub(crate) async fn hold_up(&self) -> tokio::task::JoinHandle<()> {
        let mut never = tonic::client::Grpc::new(channel(&self.endpoint).await);
        never.ready().await.unwrap();
        tokio::spawn(async move {
            let message = tonic::Request::new(tokio_stream::pending::<pb::AdmitRequest>());
            let path = tonic::codegen::http::uri::PathAndQuery::from_static("/tripnote.v1.BreakerService/Admit");
            let codec = tonic_prost::ProstCodec::<pb::AdmitRequest, pb::AdmitResponse>::default();
            let _ = never.client_streaming(message, path, codec).await;
        })
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
