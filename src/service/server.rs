//! From a socket to a running service and back: bind, serve, drain.

use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream, UnixListenerStream};
use tonic::server::NamedService as _;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic_health::ServingStatus;

use super::audit::{self, Audit};
use super::breaker::Breakers;
use super::failure::Failures;
use super::gate::{Gate, GateLayer};
use super::http::{Face, HttpServing, Inside, Stage};
use super::keeping::{Keeping, StoreSettings, Writer};
use super::meter::MeterLayer;
use super::operator::Operators;
use super::pump::Pump;
use super::session::Runs;
use super::settle::SettleLayer;
use super::{Reload, ServiceLimits, Shared};
use crate::domain::event::Event;
use crate::engine::Engine;
use crate::engine::clock::ManualClock;
use crate::telemetry::recorder::Recorder;
use crate::wire::pb;
use crate::wire::pb::breaker_service_server::BreakerServiceServer;
use crate::wire::pb::failure_service_server::FailureServiceServer;
use crate::wire::pb::operator_service_server::OperatorServiceServer;
use crate::wire::pb::session_service_server::SessionServiceServer;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// TCP.
    Tcp(
        /// Address and port.
        SocketAddr,
    ),
    /// A Unix socket.
    Unix(
        /// Its path.
        PathBuf,
    ),
}

/// A bound socket.
#[derive(Debug)]
pub enum Bound {
    /// TCP.
    Tcp(
        /// The listener.
        TcpListener,
    ),
    /// A Unix socket; its file goes when the service ends.
    Unix(
        /// The listener.
        UnixListener,
        /// Its path.
        PathBuf,
    ),
}

/// Where connections come from.
#[derive(Debug)]
pub enum Doors {
    /// A socket.
    Socket(
        /// Which.
        Bound,
    ),
    /// Inside of this process: from whoever holds the other end.
    Inside(
        /// One end of each connection.
        mpsc::Receiver<DuplexStream>,
    ),
}

impl Doors {
    /// They, and the file that goes with the service.
    fn and_socket_file(self) -> (Self, Option<PathBuf>) {
        let file = match &self {
            Self::Socket(bound) => bound.socket_file(),
            Self::Inside(_) => None,
        };
        (self, file)
    }
}

impl From<Bound> for Doors {
    fn from(bound: Bound) -> Self {
        Self::Socket(bound)
    }
}

impl Bound {
    /// Binds an address. A socket file that nobody answers on any more is replaced.
    ///
    /// # Errors
    /// Where the address is taken or not allowed.
    pub async fn bind(address: &Address) -> std::io::Result<Self> {
        match address {
            Address::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            Address::Unix(path) => {
                if is_dead_socket(path).await {
                    std::fs::remove_file(path)?;
                }
                Ok(Self::Unix(UnixListener::bind(path)?, path.clone()))
            }
        }
    }

    /// The file that goes with the service, whether it drains in time or not.
    pub(super) fn socket_file(&self) -> Option<PathBuf> {
        match self {
            Self::Tcp(_) => None,
            Self::Unix(_, path) => Some(path.clone()),
        }
    }

    /// The address to connect to: `127.0.0.1:7171` or `unix:/path`.
    ///
    /// # Errors
    /// Where the system does not tell.
    pub fn endpoint(&self) -> std::io::Result<String> {
        match self {
            Self::Tcp(listener) => Ok(listener.local_addr()?.to_string()),
            Self::Unix(_, path) => Ok(format!("unix:{}", path.display())),
        }
    }
}

/// Whether a path is a socket that a process left behind. Any other file is not ours to remove.
async fn is_dead_socket(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    is_socket && UnixStream::connect(path).await.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// What a service is made of.
pub struct ServiceSettings {
    /// The breakers.
    pub engine: Arc<Engine>,
    /// Bounds of requests.
    pub limits: ServiceLimits,
    /// How long a drain may take.
    pub drain_for: Duration,
    /// Reads the configuration again.
    pub reload: Arc<dyn Reload>,
    /// Set under `--test-clock` only.
    pub test_clock: Option<Arc<ManualClock>>,
    /// Writes an event to the log.
    pub log: fn(&Event),
    /// Counts every event and RPC.
    pub recorder: Arc<Recorder>,
    /// Writes every event to a file; none where nobody asked for one.
    pub audit: Option<Audit>,
    /// The HTTP face; none where nobody asked for one.
    pub http: Option<HttpSettings>,
    /// What is written, and how; none: all is in memory, as was asked for.
    pub store: Option<StoreSettings>,
}

/// What the HTTP face is made of.
#[derive(Debug)]
pub struct HttpSettings {
    /// Where it listens.
    pub bound: Bound,
    /// Names by which it may be asked for, beside `localhost` and addresses.
    pub hosts: Vec<Arc<str>>,
}

/// Idle connections are asked for a sign of life this often, and let go without one after as long.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// The headers of one request, in bytes.
const HEADER_BYTES_MAX: u32 = 16 << 10;

/// Serves until `shutdown` is done, then drains: new requests are told to go elsewhere, running ones finish, watchers are
/// let go; what is not done after `drain_for` is cut.
///
/// # Errors
/// Where the socket fails.
pub async fn serve(
    doors: impl Into<Doors>,
    settings: ServiceSettings,
    shutdown: impl Future<Output = ()>,
) -> Result<(), tonic::transport::Error> {
    let ServiceSettings { engine, limits, drain_for, reload, test_clock, log, recorder, audit, http, store } = settings;
    let ear = Arc::clone(&recorder);
    engine.log().on_every_event(move |events| ear.events(events));
    let (drain, drains) = watch::channel(false);
    let stage = watch::Sender::new(Stage::Loading);
    let (keeping, writer) = Keeping::start(&engine, store, &recorder);
    let pump = Pump::start(&engine);
    let gate = Arc::new(Gate::new(limits.requests_in_flight));
    let (end, ends) = watch::channel(false);
    let mut beside = JoinSet::new();
    beside.spawn(pump.clone().run(Arc::clone(&engine), Arc::clone(&recorder), log, ends.clone()));
    if let Some(audit) = audit {
        let events = pump.follow(&engine, 0, ends);
        beside.spawn(audit::run(audit, events, Arc::clone(&engine), Arc::clone(&recorder)));
    }
    let of_face = (Arc::clone(&engine), Arc::clone(&recorder), Arc::clone(&keeping));
    let layers = (MeterLayer(Arc::clone(&recorder)), GateLayer(Arc::clone(&gate)));
    let kept = (drains.clone(), Arc::clone(&keeping));
    let shared = Shared { engine, limits, reload, pump, drains: kept.0, recorder, keeping: kept.1, test_clock };
    let shared = Arc::new(shared);
    let (mut health, health_service) = tonic_health::server::health_reporter();
    let builder = bounded(limits).layer(layers.0).layer(layers.1).layer(SettleLayer(Arc::clone(&keeping)));
    let routes = routes(shared, &health).await.add_service(health_service);
    let bytes_max = (limits.request_bytes, limits.payload_bytes);
    let inside = Inside { routes: routes.clone(), gate: Arc::clone(&gate), bytes_max };
    let face = http.map(|HttpSettings { bound, hosts }| {
        HttpServing::start(bound, Face::new(hosts, of_face, stage.subscribe(), inside))
    });
    let (doors, socket_file) = doors.into().and_socket_file();
    let serving = listen(builder, routes, doors, drains);
    tokio::pin!(serving);
    stage.send_replace(Stage::Serving);
    let served = tokio::select! {
        served = &mut serving => served,
        () = shutdown => {
            stage.send_replace(Stage::Draining);
            stop_serving(&mut health).await;
            gate.drain();
            drain.send_replace(true);
            let done = async {
                let served = (&mut serving).await;
                gate.emptied().await; // what came over HTTP
                served
            };
            tokio::time::timeout(drain_for, done).await.unwrap_or_else(|_elapsed| {
                tracing::warn!("some requests did not end within the drain time and were cut");
                Ok(())
            })
        }
    };
    end.send_replace(true);
    write_the_rest(beside, (writer, &keeping), drain_for).await;
    drop(face);
    let _ = socket_file.map(std::fs::remove_file); // the file may be gone already
    served
}

/// A server that holds what one connection may take.
fn bounded(limits: ServiceLimits) -> Server {
    Server::builder()
        .max_concurrent_streams(limits.streams)
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
        .http2_max_header_list_size(HEADER_BYTES_MAX)
}

/// Waits for what is written beside the requests: the last events, and what is to outlive this life.
async fn write_the_rest(mut beside: JoinSet<()>, (writer, keeping): (Writer, &Keeping), at_most: Duration) {
    if tokio::time::timeout(at_most, async { while beside.join_next().await.is_some() {} }).await.is_err() {
        tracing::error!("the last events were not written within the drain time");
    }
    writer.stop(keeping, at_most).await;
}

/// Every service of ours, each told to be serving; and reflection.
async fn routes(shared: Arc<Shared>, health: &tonic_health::server::HealthReporter) -> Routes {
    let bytes_max = shared.limits.request_bytes;
    let breakers = BreakerServiceServer::new(Breakers(Arc::clone(&shared))).max_decoding_message_size(bytes_max);
    let runs = SessionServiceServer::new(Runs(Arc::clone(&shared))).max_decoding_message_size(bytes_max);
    let failures = FailureServiceServer::new(Failures(Arc::clone(&shared))).max_decoding_message_size(bytes_max);
    let operators = OperatorServiceServer::new(Operators::new(shared)).max_decoding_message_size(bytes_max);
    health.set_serving::<BreakerServiceServer<Breakers>>().await;
    health.set_serving::<SessionServiceServer<Runs>>().await;
    health.set_serving::<FailureServiceServer<Failures>>().await;
    health.set_serving::<OperatorServiceServer<Operators>>().await;
    let routes = Routes::new(breakers).add_service(runs).add_service(failures).add_service(operators);
    match reflection() {
        Some((v1, v1alpha)) => routes.add_service(v1).add_service(v1alpha),
        None => routes,
    }
}

/// Tells everybody who watches health that this service goes, and lets them go: their streams would outlast the drain.
async fn stop_serving(health: &mut tonic_health::server::HealthReporter) {
    let services = [
        "",
        BreakerServiceServer::<Breakers>::NAME,
        SessionServiceServer::<Runs>::NAME,
        FailureServiceServer::<Failures>::NAME,
        OperatorServiceServer::<Operators>::NAME,
    ];
    for service in services {
        health.set_service_status(service, ServingStatus::NotServing).await;
        health.clear_service_status(service).await;
    }
}

/// Takes connections until the service drains.
async fn listen<L>(
    mut builder: Server<L>,
    routes: Routes,
    doors: Doors,
    mut drains: watch::Receiver<bool>,
) -> Result<(), tonic::transport::Error>
where
    L: tower::Layer<Routes> + Clone,
    L::Service: tower::Service<
            tonic::codegen::http::Request<tonic::body::Body>,
            Response = tonic::codegen::http::Response<tonic::body::Body>,
            Error: Into<tonic::codegen::StdError> + Send + 'static,
            Future: Send + 'static,
        > + Clone
        + Send
        + 'static,
{
    let drained = async move {
        let _ = drains.wait_for(|drains| *drains).await; // a sender that is gone means the same
    };
    let routes = builder.add_routes(routes);
    match doors {
        Doors::Socket(Bound::Tcp(listener)) => {
            let incoming = TcpListenerStream::new(listener).map(|stream| {
                stream.inspect(|stream| {
                    let _ = stream.set_nodelay(true); // a socket that refuses it still works
                })
            });
            routes.serve_with_incoming_shutdown(incoming, drained).await
        }
        Doors::Socket(Bound::Unix(listener, _)) => {
            routes.serve_with_incoming_shutdown(UnixListenerStream::new(listener), drained).await
        }
        Doors::Inside(connections) => {
            let incoming = ReceiverStream::new(connections).map(std::io::Result::Ok);
            routes.serve_with_incoming_shutdown(incoming, drained).await
        }
    }
}

/// Reflection, and as clients ask for it that know its first version only; none where the descriptors could not be read,
/// which a test excludes.
fn reflection() -> Option<(
    tonic_reflection::server::v1::ServerReflectionServer<impl tonic_reflection::server::v1::ServerReflection>,
    tonic_reflection::server::v1alpha::ServerReflectionServer<impl tonic_reflection::server::v1alpha::ServerReflection>,
)> {
    let builder = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(pb::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let built = builder().build_v1().and_then(|v1| Ok((v1, builder().build_v1alpha()?)));
    built.inspect_err(|error| tracing::error!(%error, "reflection is off")).ok()
}
