//! Both servers of the rpc bench: the real one as `serve` puts it together, and one that answers the same messages with
//! constants, which is what the machine and the gRPC stack take by themselves.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};
use tripnote::config::Config;
use tripnote::engine::Engine;
use tripnote::engine::clock::SystemClock;
use tripnote::engine::keep::Keeper;
use tripnote::engine::ports::{Begun, EachRecord, Group, Journal, StoreError};
use tripnote::service::keeping::StoreSettings;
use tripnote::service::server::{Address, Bound, ServiceSettings, serve};
use tripnote::service::{Reload, Reloaded, ServiceLimits, rpc_methods};
use tripnote::store::memory::Memory;
use tripnote::telemetry::recorder::{Names, Recorder};
use tripnote::wire::pb;
use tripnote::wire::pb::breaker_service_server::{BreakerService, BreakerServiceServer};

use super::subject;

/// Targets that start so are refused: by a circuit that is open for an hour, or by a constant.
pub(crate) const REFUSED: &str = "refused/";

const CONFIG: &str = r#"
[[breaker]]
code = "refused"
targets = ["refused/*"]
error_rate = { open_for = "1h", max_open = "1h" }
"#;

/// Runs the server `noop`, `tripnote`, or the latter with a store that answers (`quiet`) or never does (`stalled`), on a free TCP port or a Unix socket, until standard input is closed: at once and
/// without a drain, as the client holds its connections open.
pub(crate) fn run(which: &str, socket: Option<&str>) {
    let address = match socket {
        Some(path) => Address::Unix(PathBuf::from(path)),
        None => Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
    };
    let socket = socket.map(PathBuf::from);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new()); // ends with whoever holds the other side
        socket.map(std::fs::remove_file);
        std::process::exit(0);
    });
    // The sidecar's runtime: one thread (spec 11).
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let bound = Bound::bind(&address).await.unwrap();
        println!("{}", bound.endpoint().unwrap());
        std::io::stdout().flush().unwrap();
        match which {
            "noop" => constant(bound).await,
            "quiet" => real(bound, Some(Box::new(Memory::default().journal()))).await,
            "stalled" => real(bound, Some(Box::new(Stalled))).await,
            _ => real(bound, None).await,
        }
    });
}

/// A disk that never answers a write.
struct Stalled;

impl Journal for Stalled {
    fn begin(&mut self) -> Result<Begun, StoreError> {
        Ok(Begun { incarnation: 1, anchor: None })
    }

    fn load(&mut self, _each: EachRecord<'_>) -> Result<(), StoreError> {
        Ok(())
    }

    fn commit(&mut self, _group: &Group) -> Result<(), StoreError> {
        loop {
            std::thread::park();
        }
    }
}

fn store(engine: &Arc<Engine>, journal: Box<dyn Journal>) -> StoreSettings {
    let (keeper, _) = Keeper::restore(Arc::clone(engine), journal).unwrap();
    let flush_every = Duration::from_millis(50);
    StoreSettings { keeper: Some(keeper), flush_every, is_strict: false, trouble: String::new() }
}

async fn real(bound: Bound, journal: Option<Box<dyn Journal>>) {
    // The log is filtered and formatted as in production, and written nowhere.
    tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(std::io::sink).init();
    let config = Config::parse(CONFIG).unwrap_or_else(|report| panic!("{report}"));
    let (wire, drain_for_ms) = (config.settings.wire, config.settings.drain_for_ms);
    let engine = Arc::new(subject::engine(config, Arc::new(SystemClock::start())));
    let store = journal.map(|journal| store(&engine, journal));
    let settings = ServiceSettings {
        engine,
        limits: ServiceLimits {
            batch: wire.batch,
            payload_bytes: wire.payload_bytes,
            request_bytes: wire.request_bytes,
            requests_in_flight: wire.requests_in_flight,
            streams: u32::try_from(wire.streams).unwrap(),
            watchers: wire.watchers,
        },
        drain_for: Duration::from_millis(drain_for_ms),
        reload: Arc::new(NoFile),
        test_clock: None,
        log: tripnote::telemetry::log::event,
        recorder: Arc::new(Recorder::new(&Names::default(), &rpc_methods())),
        audit: None,
        http: None,
        store,
    };
    serve(bound, settings, std::future::pending()).await.unwrap();
}

struct NoFile;

impl Reload for NoFile {
    fn reload(&self) -> Reloaded {
        Reloaded { faults: vec![], changes: vec![], version: 1 }
    }
}

async fn constant(bound: Bound) {
    let router = tonic::transport::Server::builder().add_service(BreakerServiceServer::new(Noop::default()));
    match bound {
        Bound::Tcp(listener) => {
            let incoming = TcpListenerStream::new(listener).map(|stream| {
                stream.inspect(|stream| {
                    let _ = stream.set_nodelay(true);
                })
            });
            router.serve_with_incoming(incoming).await.unwrap();
        }
        Bound::Unix(listener, _) => {
            router.serve_with_incoming(UnixListenerStream::new(listener)).await.unwrap();
        }
    }
}

/// Decides nothing; its messages are as long as the real ones.
struct Noop {
    permit: pb::AdmitResponse,
    trip: pb::AdmitResponse,
    ack: pb::ReportResult,
}

impl Default for Noop {
    fn default() -> Self {
        use pb::admit_response::Decision;
        let permit = pb::Permit {
            token: vec![0x5a; 50],
            probe: false,
            expires_in_ms: 900_000,
            breaker: "mcp_server12_query_prometheus".to_owned(),
            notices: vec![],
        };
        let ack = pb::ReportAck {
            acknowledgement: pb::Acknowledgement::Counted.into(),
            phase_after: pb::Phase::Closed.into(),
            handling: Some(pb::Handling { disposition: pb::Disposition::Deliver.into(), ..pb::Handling::default() }),
            ..pb::ReportAck::default()
        };
        let answer = |decision| pb::AdmitResponse { decision: Some(decision), shadow_trip: None, reports: vec![] };
        Self {
            permit: answer(Decision::Permit(permit)),
            trip: answer(Decision::Trip(trip())),
            ack: pb::ReportResult { result: Some(pb::report_result::Result::Ack(ack)) },
        }
    }
}

/// What the real one says about [`REFUSED`].
fn trip() -> pb::Trip {
    pb::Trip {
        action: pb::Action::AwaitRecovery.into(),
        breaker: "refused".to_owned(),
        target: "refused/query_prometheus".to_owned(),
        signal: pb::Signal::ErrorRate.into(),
        observed: "3 of 3 calls failed in 60s".to_owned(),
        threshold: "3 failures in 30s".to_owned(),
        state: "open until 14:02:10Z (about 60 minutes)".to_owned(),
        do_not: "retry this target or vary the arguments before then".to_owned(),
        fallback: "none".to_owned(),
        text: "x".repeat(400),
        variant: pb::Variant::Contract.into(),
        variant_name: "contract".to_owned(),
        urgency: pb::Urgency::Crash.into(),
        retry_at: Some(prost_types::Timestamp { seconds: 1_767_276_090, nanos: 250_000_000 }),
        retry_after_ms: Some(3_500_000),
        also_open: vec![],
        generation: 1,
        event_seq: 123_456,
        facts: Some(pb::Facts { failed: 3, results: 3, window_ms: 30_000, max_argument_bytes: None }),
        fallback_target: String::new(),
        withdraw: vec![],
    }
}

impl Noop {
    fn answer(&self, request: &pb::AdmitRequest) -> pb::AdmitResponse {
        let answer = if request.target.starts_with(REFUSED) { &self.trip } else { &self.permit };
        pb::AdmitResponse { reports: vec![self.ack.clone(); request.reports.len()], ..answer.clone() }
    }
}

#[tonic::async_trait]
impl BreakerService for Noop {
    type GuardStream = Pin<Box<dyn Stream<Item = Result<pb::GuardResponse, Status>> + Send>>;

    async fn guard(
        &self,
        request: Request<Streaming<pb::GuardRequest>>,
    ) -> Result<Response<Self::GuardStream>, Status> {
        let permit = self.permit.clone();
        let answers = request.into_inner().map(move |ask| {
            let answer = Some(pb::guard_response::Answer::Admit(permit.clone()));
            ask.map(|ask| pb::GuardResponse { tag: ask.tag, answer })
        });
        Ok(Response::new(Box::pin(answers)))
    }

    async fn admit(&self, request: Request<pb::AdmitRequest>) -> Result<Response<pb::AdmitResponse>, Status> {
        Ok(Response::new(self.answer(request.get_ref())))
    }

    async fn admit_wave(
        &self,
        request: Request<pb::AdmitWaveRequest>,
    ) -> Result<Response<pb::AdmitWaveResponse>, Status> {
        let wave = request.get_ref();
        let answer = |call| pb::AdmitResult { result: Some(pb::admit_result::Result::Answer(self.answer(call))) };
        let results = wave.calls.iter().map(answer).collect();
        Ok(Response::new(pb::AdmitWaveResponse { results, reports: vec![self.ack.clone(); wave.reports.len()] }))
    }

    async fn report(&self, request: Request<pb::ReportRequest>) -> Result<Response<pb::ReportResponse>, Status> {
        let results = vec![self.ack.clone(); request.get_ref().outcomes.len()];
        Ok(Response::new(pb::ReportResponse { results }))
    }

    async fn peek(&self, _request: Request<pb::PeekRequest>) -> Result<Response<pb::PeekResponse>, Status> {
        Err(Status::unimplemented("not measured"))
    }
}
