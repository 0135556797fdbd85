//! Puts a configuration, an engine and a service together, for `serve` and `demo`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tonic::transport::{Channel, Endpoint};

use super::durable::{Durable, Loaded};
use super::json;
use crate::config::{AuditSettings, Config, Fault, Listen, LoadError};
use crate::domain::breaker::routes::Routes;
use crate::domain::ids::HashKey;
use crate::engine::clock::{Clock, ManualClock};
use crate::engine::{Engine, EngineSettings, Identity, Reading};
use crate::service::audit::Audit;
use crate::service::keeping::StoreSettings;
use crate::service::server::{Address, Bound, Doors, HttpSettings, ServiceSettings, serve};
use crate::service::{ConfigFault, Reload, Reloaded, ServiceLimits, rpc_methods};
use crate::store::Directory;
use crate::telemetry;
use crate::telemetry::audit::{AuditFile, AuditFileSettings};
use crate::telemetry::catalogue::ReloadWord;
use crate::telemetry::recorder::{Names, Recorder};

/// What a connection inside this process holds before its reader has to read.
const PIPE_BYTES: usize = 64 << 10;

/// A service that runs in this process.
pub(crate) struct Running {
    endpoint: String,
    http_endpoint: Option<String>,
    reloader: Arc<Reloader>,
    /// Nobody else has it as long as this runs.
    _directory: Option<Directory>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), tonic::transport::Error>>,
}

/// How a service is started, beside its configuration.
#[derive(Default)]
pub(crate) struct StartOptions {
    /// The file that a reload reads.
    pub(crate) path: Option<PathBuf>,
    /// A clock that requests may move, in place of the machine's.
    pub(crate) test_clock: Option<Arc<ManualClock>>,
    /// What it has from its last life; none: all is in memory.
    pub(crate) durable: Option<Durable>,
}

/// Starts a service that keeps nothing, on the given clock; `path` is the file that a reload reads.
pub(crate) async fn start(config: Config, path: Option<PathBuf>, clock: Arc<dyn Clock>) -> anyhow::Result<Running> {
    start_with(config, StartOptions { path, ..StartOptions::default() }, clock).await
}

/// Starts a service.
pub(crate) async fn start_with(
    config: Config,
    options: StartOptions,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<Running> {
    let bound = bind(&config.settings.grpc, "`grpc` or TRIPNOTE_GRPC").await?;
    let endpoint = bound.endpoint()?;
    start_on(bound.into(), endpoint, config, options, clock).await
}

/// Starts a service that only this process can reach, by the channel that comes with it. It has no HTTP face.
pub(crate) async fn start_inside(
    mut config: Config,
    options: StartOptions,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<(Running, Channel)> {
    config.settings.http = None;
    let (connects, connections) = mpsc::channel(1);
    let running = start_on(Doors::Inside(connections), "this process".to_owned(), config, options, clock).await?;
    let connector = tower::service_fn(move |_: tonic::codegen::http::Uri| {
        let connects = connects.clone();
        async move {
            let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
            connects.send(theirs).await.map_err(std::io::Error::other)?;
            std::io::Result::Ok(TokioIo::new(ours))
        }
    });
    let endpoint = Endpoint::from_static("http://inside"); // a name that nothing is looked up by
    Ok((running, endpoint.connect_with_connector_lazy(connector)))
}

async fn start_on(
    doors: Doors,
    endpoint: String,
    config: Config,
    options: StartOptions,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<Running> {
    let recorder = Arc::new(Recorder::new(&Names::of(&engine_settings(&config, 1)?), &rpc_methods()));
    let Beginning { engine, store, directory } = begin(&config, options.durable, &clock, &recorder)?;
    let http = match &config.settings.http {
        Some(listen) => Some(bind(listen, "`http` or TRIPNOTE_HTTP").await?),
        None => None,
    };
    let http_endpoint = http.as_ref().map(Bound::endpoint).transpose()?;
    let http = http.map(|bound| HttpSettings { bound, hosts: config.settings.http_hosts.clone() });
    let audit = config.settings.audit.file.as_deref().map(|file| audit(file, &config.settings.audit)).transpose()?;
    recorder.reloaded(ReloadWord::Unchanged, unix_s(&engine));
    let wire = config.settings.wire;
    let limits = ServiceLimits {
        batch: wire.batch,
        payload_bytes: wire.payload_bytes,
        request_bytes: wire.request_bytes,
        requests_in_flight: wire.requests_in_flight,
        streams: u32::try_from(wire.streams).unwrap_or(u32::MAX),
        watchers: wire.watchers,
    };
    let drain_for = Duration::from_millis(config.settings.drain_for_ms);
    let reloader = Arc::new(Reloader {
        path: options.path,
        engine: Arc::clone(&engine),
        recorder: Arc::clone(&recorder),
        in_force: Mutex::new(InForce { config, version: 1 }),
    });
    let settings = ServiceSettings {
        engine,
        limits,
        drain_for,
        reload: Arc::clone(&reloader) as Arc<dyn Reload>,
        test_clock: options.test_clock,
        log: telemetry::log::event,
        recorder,
        audit,
        http,
        store,
    };
    let (stop, stopped) = oneshot::channel();
    let shutdown = async {
        let _ = stopped.await; // dropped or sent: both mean stop
    };
    let serving = tokio::spawn(serve(doors, settings, shutdown));
    Ok(Running { endpoint, http_endpoint, reloader, _directory: directory, stop, serving })
}

/// An engine, and what it goes on from.
struct Beginning {
    engine: Arc<Engine>,
    store: Option<StoreSettings>,
    directory: Option<Directory>,
}

/// Makes the engine, loaded with what outlived the last life where there is a store.
fn begin(
    config: &Config,
    durable: Option<Durable>,
    clock: &Arc<dyn Clock>,
    recorder: &Recorder,
) -> anyhow::Result<Beginning> {
    let make = |own: Option<Identity>| {
        let own = own.map_or_else(|| identity(clock.as_ref()), Ok)?;
        Ok(Arc::new(Engine::new(engine_settings(config, 1)?, own, Arc::clone(clock))?))
    };
    let Some(durable) = durable else {
        return Ok(Beginning { engine: make(None)?, store: None, directory: None });
    };
    let Loaded { engine, store, restored, directory } = durable.load(&make)?;
    recorder.restored(&restored.circuits);
    let (circuits, sessions) = (restored.circuits.len(), restored.sessions);
    let (records, out_of_place) = (restored.records, restored.out_of_place);
    tracing::info!(incarnation = engine.incarnation(), circuits, sessions, records, out_of_place, "loaded");
    Ok(Beginning { engine, store: Some(store), directory })
}

impl Running {
    /// The address to connect to: `127.0.0.1:41234` or `unix:/path`.
    pub(crate) fn endpoint(&self) -> String {
        self.endpoint.clone()
    }

    /// The address of the HTTP face, where there is one.
    pub(crate) fn http_endpoint(&self) -> Option<&str> {
        self.http_endpoint.as_deref()
    }

    /// What reads the configuration again.
    pub(crate) fn reloader(&self) -> Arc<Reloader> {
        Arc::clone(&self.reloader)
    }

    /// Drains and ends.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        let _ = self.stop.send(()); // it may have ended by itself
        self.serving.await?.context("the service ended badly")
    }

    /// Waits for the service to end by itself, which only a failing socket does.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<()> {
        (&mut self.serving).await?.context("the service ended badly")
    }
}

/// Opens the audit file.
fn audit(file: &Path, settings: &AuditSettings) -> anyhow::Result<Audit> {
    let AuditSettings { rotate_bytes, keep, sync, calls, .. } = *settings;
    let of_file = AuditFileSettings { path: file.to_owned(), rotate_bytes, keep, is_synced: sync };
    let opened = AuditFile::open(of_file);
    let file =
        opened.with_context(|| format!("cannot write {}: give another file with `audit.file`", file.display()))?;
    Ok(Audit { file, line: json::event_line, with_calls: calls })
}

async fn bind(listen: &Listen, key: &str) -> anyhow::Result<Bound> {
    let address = match listen {
        Listen::Tcp(address) => Address::Tcp(*address),
        Listen::Unix(path) => Address::Unix(path.clone()),
    };
    let bound = Bound::bind(&address).await;
    bound.with_context(|| format!("cannot listen at {listen}: give a free address with {key}"))
}

fn unix_s(engine: &Engine) -> f64 {
    engine.clock().wall().unix_ms(engine.clock().now()) as f64 / 1e3
}

/// What a configuration gives an engine.
pub(crate) fn engine_settings(config: &Config, version: u64) -> anyhow::Result<EngineSettings> {
    let contract = config.settings.contract.clone();
    let routes = Routes::new(version, &config.default_policy, &config.breakers, contract.escalation_tool.as_ref())?;
    Ok(EngineSettings {
        routes,
        contract,
        permit_for_ms: config.settings.permit_for_ms,
        limits: config.settings.limits,
        session: config.settings.session.settings(config.settings.contract.escalation_tool.clone()),
        reading: Reading { tools: config.tools.clone(), formats: config.formats.clone() },
        failure: config.failure.clone(),
    })
}

/// Fresh keys, and a number that rises from start to start.
fn identity(clock: &dyn Clock) -> anyhow::Result<Identity> {
    let key = || {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|error| anyhow::anyhow!("the system gives no random numbers: {error}"))?;
        anyhow::Ok(HashKey(key))
    };
    let incarnation = clock.wall().unix_ms(clock.now());
    Ok(Identity { incarnation, names: key()?, permits: key()? })
}

/// The configuration in force and the file that it is from.
pub(crate) struct Reloader {
    path: Option<PathBuf>,
    engine: Arc<Engine>,
    recorder: Arc<Recorder>,
    // Held over a whole reload, so that two never interleave; nobody waits for it but reloads.
    in_force: Mutex<InForce>,
}

struct InForce {
    config: Config,
    version: u64,
}

/// Keys that are read at the start only.
const AT_START_ONLY: [&str; 18] = [
    "data_dir",
    "flush_every",
    "durability",
    "on_store_error",
    "grpc",
    "http",
    "insecure",
    "drain_for",
    "log.",
    "audit.",
    "limits.batch",
    "limits.payload_bytes",
    "limits.request_bytes",
    "limits.requests_in_flight",
    "limits.streams",
    "limits.watchers",
    "limits.calls",
    "limits.attempts",
];

impl Reload for Reloader {
    fn reload(&self) -> Reloaded {
        let reloaded = self.read_again();
        let word = match (reloaded.faults.is_empty(), reloaded.changes.is_empty()) {
            (false, _) => ReloadWord::Failed,
            (true, true) => ReloadWord::Unchanged,
            (true, false) => ReloadWord::Changed,
        };
        self.recorder.reloaded(word, unix_s(&self.engine));
        reloaded
    }
}

impl Reloader {
    fn read_again(&self) -> Reloaded {
        let mut in_force = self.in_force.lock();
        let read = match &self.path {
            Some(path) => Config::load_with_env(path, environment),
            None => {
                let rule = "the service was started without a file: start it with --config to reload one";
                let fault = ConfigFault { path: String::new(), value: String::new(), rule: rule.to_owned(), line: 0 };
                return Reloaded { faults: vec![fault], changes: vec![], version: in_force.version };
            }
        };
        let config = match read {
            Ok(config) => config,
            Err(error) => {
                tracing::error!(%error, "the configuration was not reloaded, the old one stays in force");
                return Reloaded { faults: faults(error), changes: vec![], version: in_force.version };
            }
        };
        let changes: Vec<String> = in_force.config.changes(&config).into_iter().map(with_when).collect();
        if changes.is_empty() {
            return Reloaded { faults: vec![], changes, version: in_force.version };
        }
        let version = in_force.version + 1;
        match engine_settings(&config, version) {
            Ok(settings) => {
                self.recorder.learn(&Names::of(&settings)); // before any event can bear a new name
                self.engine.reload(settings, self.engine.clock().now());
            }
            Err(error) => {
                let fault = ConfigFault { path: String::new(), value: String::new(), rule: error.to_string(), line: 0 };
                return Reloaded { faults: vec![fault], changes: vec![], version: in_force.version };
            }
        }
        *in_force = InForce { config, version };
        tracing::info!(version, changes = changes.join("; "), "the configuration was reloaded");
        Reloaded { faults: vec![], changes, version }
    }

    /// Reloads whenever the file changes. Looks once a second, which works on every file system and through replaced
    /// links.
    pub(crate) async fn watch_file(self: Arc<Self>) {
        let Some(path) = self.path.clone() else { return std::future::pending().await };
        let mut seen = stamp(&path);
        let mut tick = tokio::time::interval(Duration::from_secs(1));
        loop {
            tick.tick().await;
            let now = stamp(&path);
            if now == seen {
                continue;
            }
            seen = now;
            let this = Arc::clone(&self);
            let _ = tokio::task::spawn_blocking(move || this.reload()).await; // what it did is in the log
        }
    }
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The environment, as `config` asks for it.
pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn with_when(change: String) -> String {
    if AT_START_ONLY.iter().any(|key| change.starts_with(key)) {
        format!("{change} (at the next start)")
    } else {
        change
    }
}

fn faults(error: LoadError) -> Vec<ConfigFault> {
    let of_key = |fault: Fault| ConfigFault {
        path: fault.path,
        value: fault.value,
        rule: fault.rule,
        line: fault.line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
    };
    match error {
        LoadError::Faulty { report, .. } => report.faults.into_iter().map(of_key).collect(),
        LoadError::Unreadable { .. } | LoadError::TooLarge { .. } => {
            vec![ConfigFault { path: String::new(), value: String::new(), rule: error.to_string(), line: 0 }]
        }
    }
}
