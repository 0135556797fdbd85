//! From the first request to the last: health, reflection, sockets, drain.

use std::collections::BTreeSet;
use std::future::Future;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_stream::StreamExt as _;
use tonic::Code;
use tonic_health::ServingStatus;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};
use tripnote::service::server::{Address, Bound};
use tripnote::wire::pb;
use tripnote::wire::pb::breaker_service_client::BreakerServiceClient;

use crate::support::asks::{Kind, call, says_when_to_retry};
use crate::support::{TestServer, channel};

const SERVICES: [&str; 4] =
    ["", "tripnote.v1.BreakerService", "tripnote.v1.FailureService", "tripnote.v1.OperatorService"];
/// Far more than a drain takes and far less than `DRAIN_FOR`; only a failure waits for it.
const SOON: Duration = Duration::from_secs(30);
const DRAIN_FOR: &str = "drain_for = \"5m\"\n";
const TRIPS_AT_FIRST: &str = "defaults.error_rate = { rules = [{ consecutive = 1 }], jitter = \"0%\" }\n";

async fn soon<T>(what: &str, done: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, done).await.unwrap_or_else(|_| panic!("{what} did not come about"))
}

fn of(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.to_owned() }
}

/// A folder of its own, gone when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tripnote-it-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn socket(&self) -> PathBuf {
        self.0.join("tripnote.sock")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn health_is_serving_and_then_not() {
    let server = TestServer::start("").await;
    let mut health = HealthClient::new(channel(&server.endpoint).await);
    let mut watches = vec![];
    for service in SERVICES {
        let status = health.check(of(service)).await.unwrap().into_inner().status;
        assert_eq!(status, ServingStatus::Serving as i32, "`{service}`");
        let mut watch = health.watch(of(service)).await.unwrap().into_inner();
        assert_eq!(watch.message().await.unwrap().unwrap().status, ServingStatus::Serving as i32);
        watches.push(watch);
    }
    assert_eq!(health.check(of("no.such.Service")).await.unwrap_err().code(), Code::NotFound);
    let stopping = tokio::spawn(server.stop());
    for (mut watch, service) in watches.into_iter().zip(SERVICES) {
        let told = soon("word of the drain", watch.message()).await;
        assert_eq!(told.unwrap().unwrap().status, ServingStatus::NotServing as i32, "`{service}`");
    }
    soon("the end", stopping).await.unwrap();
}

#[tokio::test]
async fn reflection_lists_the_services_and_knows_their_messages() {
    let server = TestServer::start("").await;
    let mut client = ServerReflectionClient::new(channel(&server.endpoint).await);
    let mut ask = async |message: MessageRequest| -> ServerReflectionResponse {
        let request = ServerReflectionRequest { host: String::new(), message_request: Some(message) };
        let asked = tokio_stream::once(request);
        client.server_reflection_info(asked).await.unwrap().into_inner().next().await.unwrap().unwrap()
    };
    let listed = ask(MessageRequest::ListServices(String::new())).await.message_response.unwrap();
    let MessageResponse::ListServicesResponse(listed) = listed else { panic!("{listed:?}") };
    let names: BTreeSet<String> = listed.service.into_iter().map(|service| service.name).collect();
    let due = SERVICES.into_iter().filter(|service| !service.is_empty()).chain(["grpc.health.v1.Health"]);
    assert!(due.into_iter().all(|name| names.contains(name)), "{names:?}");
    for symbol in ["tripnote.v1.BreakerService", "tripnote.v1.Trip", "tripnote.v1.Attempt", "google.protobuf.Timestamp"]
    {
        let found = ask(MessageRequest::FileContainingSymbol(symbol.to_owned())).await.message_response.unwrap();
        assert!(matches!(found, MessageResponse::FileDescriptorResponse(_)), "{symbol}: {found:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_unix_socket_serves_and_its_file_goes_with_the_service() {
    let folder = Folder::new("serves");
    let (server, _) = TestServer::start_at("", &Address::Unix(folder.socket())).await;
    assert_eq!(server.endpoint, format!("unix:{}", folder.socket().display()));
    assert_eq!(server.permit("a").await.breaker, "a");
    server.stop().await;
    assert!(!folder.socket().exists());
}

#[tokio::test]
async fn the_file_of_a_dead_socket_is_replaced_and_a_live_one_is_left_alone() {
    let folder = Folder::new("stale");
    drop(UnixListener::bind(folder.socket()).unwrap());
    assert!(folder.socket().exists(), "a process that was killed leaves its file");
    let (server, _) = TestServer::start_at("", &Address::Unix(folder.socket())).await;
    let taken = Bound::bind(&Address::Unix(folder.socket())).await.unwrap_err();
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    server.permit("a").await;
    server.stop().await;
}

#[tokio::test]
async fn a_file_that_is_no_socket_is_never_removed() {
    let folder = Folder::new("file");
    std::fs::write(folder.socket(), "somebody's text").unwrap();
    Bound::bind(&Address::Unix(folder.socket())).await.unwrap_err();
    assert_eq!(std::fs::read_to_string(folder.socket()).unwrap(), "somebody's text");
}

#[tokio::test]
async fn a_drain_lets_watchers_go_and_is_over_at_once_when_nothing_runs() {
    let server = TestServer::start(&[DRAIN_FOR, TRIPS_AT_FIRST].concat()).await;
    server.open("a", Kind::ErrorRate).await;
    let request = pb::WatchEventsRequest { after_seq: Some(0), ..Default::default() };
    let mut events = server.operators().watch_events(request).await.unwrap().into_inner();
    assert_eq!(events.message().await.unwrap().unwrap().seq, 1);
    let stopping = tokio::spawn(server.stop());
    assert!(soon("the end of the events", events.message()).await.unwrap().is_none());
    soon("the end", stopping).await.unwrap();
}

#[tokio::test]
async fn a_watcher_of_health_does_not_hold_the_drain_up() {
    let server = TestServer::start(DRAIN_FOR).await;
    let mut health = HealthClient::new(channel(&server.endpoint).await);
    let mut watch = health.watch(of(SERVICES[1])).await.unwrap().into_inner();
    watch.message().await.unwrap();
    soon("the end", server.stop()).await;
}

#[tokio::test]
async fn a_watcher_that_reads_nothing_is_cut_after_drain_for() {
    let server = TestServer::start(&["drain_for = \"100ms\"\n", TRIPS_AT_FIRST].concat()).await;
    server.open("a", Kind::ErrorRate).await;
    let events = server.narrow_watch().await;
    for _ in 0..1_000 {
        server.trip("a").await;
    }
    soon("the end", server.stop()).await;
    drop(events);
}

#[tokio::test]
async fn what_never_ends_is_cut_after_drain_for_and_the_socket_file_goes_all_the_same() {
    let folder = Folder::new("cut");
    let (server, _) = TestServer::start_at("drain_for = \"100ms\"", &Address::Unix(folder.socket())).await;
    server.permit("a").await;
    let mut client = BreakerServiceClient::new(channel(&server.endpoint).await);
    client.peek(pb::PeekRequest::default()).await.unwrap_err();
    let mut never = tonic::client::Grpc::new(channel(&server.endpoint).await);
    never.ready().await.unwrap();
    let hanging = tokio::spawn(async move {
        let message = tonic::Request::new(tokio_stream::pending::<pb::AdmitRequest>().fuse());
        let path = tonic::codegen::http::uri::PathAndQuery::from_static("/tripnote.v1.BreakerService/Admit");
        let codec = tonic_prost::ProstCodec::<pb::AdmitRequest, pb::AdmitResponse>::default();
        let _ = never.client_streaming(message, path, codec).await;
    });
    server.permit("a").await;
    soon("the end", server.stop()).await;
    hanging.abort();
    assert!(!folder.socket().exists());
}

/// Passes frames on (RFC 9113, section 4.1) but for those that tell a client of the drain: so is a request that was on
/// its way when the drain began.
async fn without_goodbye(server: String, listener: TcpListener) {
    const PING: u8 = 6;
    const GOAWAY: u8 = 7;
    let (client, _) = listener.accept().await.unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = TcpStream::connect(server).await.unwrap().into_split();
    let up = tokio::io::copy(&mut from_client, &mut to_server);
    let down = async {
        let mut head = [0; 9];
        while from_server.read_exact(&mut head).await.is_ok() {
            let len = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; len as usize];
            from_server.read_exact(&mut payload).await.unwrap();
            if head[3] != PING && head[3] != GOAWAY {
                to_client.write_all(&[&head[..], &payload].concat()).await.unwrap();
            }
        }
    };
    tokio::select! { _ = up => {}, () = down => {} }
}

#[tokio::test]
async fn a_request_that_meets_a_drain_is_told_to_come_again() {
    let server = TestServer::start("drain_for = \"1s\"").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let between = listener.local_addr().unwrap().to_string();
    let passing = tokio::spawn(without_goodbye(server.endpoint.clone(), listener));
    let mut breakers = BreakerServiceClient::new(channel(&between).await);
    breakers.admit(call("a")).await.unwrap();
    let engine = std::sync::Arc::clone(&server.engine);
    let stopping = tokio::spawn(server.stop());
    let mut met = None;
    while met.is_none() {
        met = breakers.admit(call("a")).await.err(); // the first few may be before the drain
    }
    let status = met.unwrap();
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    assert!(says_when_to_retry(&status), "{status:?}");
    assert_eq!(engine.targets(), 1);
    soon("the end", stopping).await.unwrap();
    passing.abort();
}
