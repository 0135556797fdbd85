//! The client: calls in a closed loop or at a steady rate, counted in windows of 100 ms.
//!
//! Two kinds of noise rule small machines: phases in which everything is slower for seconds, against which the two
//! servers take turns, and stalls of some 50 ms, against which quantiles are taken in each window and the median window
//! is told. A stall of our own would hide in a median, so the share of stalled windows is told beside it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::spawn_local;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint};
use tripnote::wire::pb;
use tripnote::wire::pb::breaker_service_client::BreakerServiceClient;

use super::figures::median;
use super::histogram::Histogram;
use super::pace::Arrivals;
use super::process::{Server, cpu_ns, machine_cpu_ns};
use super::servers::REFUSED;

pub(crate) type Client = BreakerServiceClient<Channel>;

const WINDOW: Duration = Duration::from_millis(100);
/// Not counted, at the start of each slice.
const WARM_UP: Duration = Duration::from_millis(150);
/// A window whose p99 is this many times that of the median window is stalled.
const STALLED: f64 = 4.0;
/// Targets that the calls go to in turn.
const TARGETS: usize = 64;

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message {
    /// The target alone.
    Plain,
    /// Target, session, call id, 120 B of arguments, and the outcome of the call before.
    Full,
    /// That many plain calls at once.
    Wave(usize),
    /// Plain calls on one stream, of which so many are always under way.
    Stream(usize),
    /// A target whose circuit is open.
    Refused,
}

/// When it is sent.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// Each task sends when it was answered.
    Closed { connections: usize, tasks_each: usize },
    /// That many a second, whatever the answers do; a call counts from when it was due.
    Open { connections: usize, per_second: u32 },
}

/// What one slice came to.
pub(crate) struct Slice {
    pub(crate) calls_per_s: f64,
    /// CPU time of the server, in microseconds.
    pub(crate) cpu_us_per_call: f64,
    /// In microseconds, of the median window.
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// The share of windows that were stalled.
    pub(crate) stalled: f64,
    /// The share of one core that neither server nor client took.
    pub(crate) foreign: f64,
}

/// Connects to `127.0.0.1:port` or `unix:/path`.
pub(crate) async fn connect(endpoint: &str) -> Client {
    let channel = match endpoint.strip_prefix("unix:") {
        Some(path) => {
            let path = path.to_owned();
            let connector = tower::service_fn(move |_| {
                let path = path.clone();
                async move { UnixStream::connect(path).await.map(TokioIo::new) }
            });
            Endpoint::from_static("http://localhost").connect_with_connector(connector).await
        }
        None => Endpoint::from_shared(format!("http://{endpoint}")).unwrap().tcp_nodelay(true).connect().await,
    };
    BreakerServiceClient::new(channel.unwrap())
}

/// Opens the circuit of the refused target; the no-op server takes no notice.
pub(crate) async fn open_circuit(client: &mut Client) {
    for _ in 0..5 {
        let answer = client.admit(plain(refused_target())).await.unwrap().into_inner();
        let Some(pb::admit_response::Decision::Permit(permit)) = answer.decision else { return };
        let failed = pb::Classification {
            result: pb::classification::Kind::Failed.into(),
            kind: pb::CircuitKind::ErrorRate.into(),
            retry_after_ms: None,
        };
        let outcome = outcome(permit.token, failed);
        client.report(pb::ReportRequest { outcomes: vec![outcome] }).await.unwrap();
    }
    panic!("five failures did not open the circuit");
}

/// Counts answers from the start of the first window on.
struct Recorder {
    start: Instant,
    windows: RefCell<Vec<Histogram>>,
    is_over: Cell<bool>,
}

impl Recorder {
    fn note(&self, sent: Instant) {
        let answered = Instant::now();
        let Some(since_start) = answered.checked_duration_since(self.start) else { return };
        let at = usize::try_from(since_start.as_nanos() / WINDOW.as_nanos()).unwrap_or(usize::MAX);
        if let Some(window) = self.windows.borrow_mut().get_mut(at) {
            window.add(u64::try_from((answered - sent).as_nanos()).unwrap_or(u64::MAX));
        }
    }
}

/// Drives one server for a slice; inside a `LocalSet`.
pub(crate) async fn drive(server: &Server, clients: &[Client], message: Message, pace: Pace, windows: usize) -> Slice {
    let recorder = Rc::new(Recorder {
        start: Instant::now() + WARM_UP,
        windows: RefCell::new(vec![Histogram::default(); windows]),
        is_over: Cell::new(false),
    });
    let mut tasks = match pace {
        Pace::Closed { connections, tasks_each } => {
            let of_client = |client: &Client| (0..tasks_each).map(|_| client.clone()).collect::<Vec<_>>();
            let clients = clients.iter().take(connections).flat_map(of_client);
            clients
                .enumerate()
                .map(|(at, client)| spawn_local(in_turn(client, message, at, Rc::clone(&recorder))))
                .collect()
        }
        Pace::Open { connections, per_second } => {
            let clients = clients.iter().take(connections).cloned().collect();
            vec![spawn_local(on_time(clients, Duration::from_secs(1) / per_second, Rc::clone(&recorder)))]
        }
    };
    tokio::time::sleep_until(recorder.start.into()).await;
    let before = [machine_cpu_ns(), server.cpu_ns(), cpu_ns("self")];
    let length = WINDOW * u32::try_from(windows).unwrap();
    let start = Instant::now();
    tokio::time::sleep_until((recorder.start + length).into()).await;
    let took = start.elapsed();
    let [machine, of_server, own] =
        [machine_cpu_ns() - before[0], server.cpu_ns() - before[1], cpu_ns("self") - before[2]];
    recorder.is_over.set(true);
    for task in &mut tasks {
        task.await.unwrap();
    }
    let windows = recorder.windows.take();
    let calls: u64 = windows.iter().map(Histogram::total).sum();
    let in_us = |share: f64| move |window: &Histogram| window.quantile(share) as f64 / 1e3;
    let p99_us = median(windows.iter().map(in_us(0.99)));
    let stalled = windows.iter().map(in_us(0.99)).filter(|own| *own > STALLED * p99_us || *own == 0.0).count();
    Slice {
        calls_per_s: calls as f64 / length.as_secs_f64(),
        cpu_us_per_call: of_server as f64 / 1e3 / calls.max(1) as f64,
        p50_us: median(windows.iter().map(in_us(0.5))),
        p99_us,
        stalled: stalled as f64 / windows.len() as f64,
        foreign: machine.saturating_sub(of_server + own) as f64 / took.as_nanos() as f64,
    }
}

/// One call after the other.
async fn in_turn(client: Client, message: Message, task: usize, recorder: Rc<Recorder>) {
    let mut caller = Caller::new(client, message, task);
    while !recorder.is_over.get() {
        let sent = Instant::now();
        caller.call().await;
        recorder.note(sent);
    }
}

/// A task for each call that is due, over the connections in turn.
async fn on_time(clients: Vec<Client>, interval: Duration, recorder: Rc<Recorder>) {
    let mut arrivals = Arrivals::every(interval);
    let mut count = 0;
    while let Some(due) = arrivals.due.recv().await {
        if recorder.is_over.get() {
            return;
        }
        let mut caller = Caller::new(clients[count % clients.len()].clone(), Message::Plain, count);
        let recorder = Rc::clone(&recorder);
        spawn_local(async move {
            caller.call().await;
            recorder.note(due);
        });
        count += 1;
    }
}

/// Somebody who calls.
struct Caller {
    client: Client,
    message: Message,
    task: usize,
    calls: usize,
    /// Of the call before.
    permit: Vec<u8>,
    stream: Option<Pipelined>,
}

/// A stream on which so many calls are always under way.
struct Pipelined {
    asks: mpsc::Sender<pb::GuardRequest>,
    answers: Streaming<pb::GuardResponse>,
}

impl Pipelined {
    async fn start(mut client: Client, task: usize, window: usize) -> Self {
        let (asks, stream) = mpsc::channel(window + 1);
        for at in 0..window {
            asks.send(asked(task + at)).await.unwrap();
        }
        let answers = client.guard(ReceiverStream::new(stream)).await.unwrap().into_inner();
        Self { asks, answers }
    }

    /// Takes one answer and asks for the next.
    async fn turn(&mut self, number: usize) {
        let answer = self.answers.message().await.unwrap().unwrap();
        assert!(matches!(answer.answer, Some(pb::guard_response::Answer::Admit(_))), "a call that is not answered");
        self.asks.send(asked(number)).await.unwrap();
    }
}

fn asked(number: usize) -> pb::GuardRequest {
    pb::GuardRequest { tag: number as u64, ask: Some(pb::guard_request::Ask::Admit(plain(target(number)))) }
}

impl Caller {
    fn new(client: Client, message: Message, task: usize) -> Self {
        Self { client, message, task, calls: 0, permit: vec![], stream: None }
    }

    async fn call(&mut self) {
        self.calls += 1;
        match self.message {
            Message::Plain => {
                let answer = self.client.admit(plain(target(self.task + self.calls))).await.unwrap();
                assert!(permit_of(answer.into_inner()).is_some(), "a closed circuit refused");
            }
            Message::Full => {
                let request = self.full();
                let answer = self.client.admit(request).await.unwrap();
                self.permit = permit_of(answer.into_inner()).unwrap();
            }
            Message::Wave(size) => {
                let calls = (0..size).map(|at| plain(target(self.task + self.calls + at))).collect();
                let answer = self.client.admit_wave(pb::AdmitWaveRequest { calls, reports: vec![] }).await.unwrap();
                assert_eq!(answer.into_inner().results.len(), size);
            }
            Message::Stream(window) => {
                let stream = match &mut self.stream {
                    Some(stream) => stream,
                    none => none.insert(Pipelined::start(self.client.clone(), self.task, window).await),
                };
                stream.turn(self.task + self.calls).await;
            }
            Message::Refused => {
                let answer = self.client.admit(plain(refused_target())).await.unwrap();
                assert!(permit_of(answer.into_inner()).is_none(), "an open circuit let a call through");
            }
        }
    }

    fn full(&mut self) -> pb::AdmitRequest {
        let ok = pb::Classification { result: pb::classification::Kind::Ok.into(), ..pb::Classification::default() };
        let permit = std::mem::take(&mut self.permit);
        let reports = if permit.is_empty() { vec![] } else { vec![outcome(permit, ok)] };
        pb::AdmitRequest {
            session_id: format!("conv_5f3a9c2e71b84d06_{}", self.task),
            call_id: format!("call_{:016x}_{}", self.calls, self.task),
            turn: Some(u32::try_from(self.calls).unwrap_or(u32::MAX)),
            arguments: vec![b'a'; 120],
            reports,
            ..plain(target(self.task + self.calls))
        }
    }
}

fn target(number: usize) -> String {
    format!("mcp:server{}/query_prometheus", number % TARGETS)
}

fn refused_target() -> String {
    format!("{REFUSED}query_prometheus")
}

fn plain(target: String) -> pb::AdmitRequest {
    pb::AdmitRequest { target, ..pb::AdmitRequest::default() }
}

fn outcome(permit: Vec<u8>, judgement: pb::Classification) -> pb::Outcome {
    pb::Outcome {
        call: Some(pb::outcome::Call::Permit(permit)),
        result: Some(pb::outcome::Result::Classification(judgement)),
        latency_ms: Some(180),
        ..pb::Outcome::default()
    }
}

fn permit_of(answer: pb::AdmitResponse) -> Option<Vec<u8>> {
    match answer.decision {
        Some(pb::admit_response::Decision::Permit(permit)) => Some(permit.token),
        Some(pb::admit_response::Decision::Trip(_)) | None => None,
    }
}
