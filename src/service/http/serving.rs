//! Connections of the HTTP face: how many, how long, and what one may send.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, JoinSet};
use tonic::transport::server::{Connected as _, UdsConnectInfo};
use tower::ServiceExt as _;

use super::Face;
use crate::service::server::Bound;

/// Connections at once; further ones wait in the system's own queue, which is short.
const CONNECTIONS_MAX: usize = 512;
/// How long the head of a request may take, and how long a connection may idle.
const HEAD_FOR: Duration = Duration::from_secs(10);
/// How long one connection is kept; what is asked for then is still answered. A stream of events is kept for as long as
/// its reader takes something of it in each such time.
const KEPT_FOR: Duration = Duration::from_secs(120);
/// How long that answer may take.
const LAST_FOR: Duration = Duration::from_secs(10);
/// Headers of one request.
const HEADERS_MAX: usize = 64;
/// Bytes of one request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// After a failed accept, which is often for want of file descriptors.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// What is known of a connection, for the requests that come over it.
#[derive(Clone, Debug, Default)]
pub(super) struct Connection {
    /// Who is at the other end of a socket file.
    pub(super) peer: Option<UdsConnectInfo>,
    /// Parts of a stream of events that its reader took.
    parts: Arc<AtomicU64>,
}

impl Connection {
    /// A stream of events goes on.
    pub(super) fn sent_part(&self) {
        self.parts.fetch_add(1, Ordering::Relaxed);
    }
}

/// The HTTP face at work; it and all of its connections end when this is dropped.
#[derive(Debug)]
pub(crate) struct HttpServing {
    accepting: JoinHandle<()>,
    socket_file: Option<PathBuf>,
}

impl HttpServing {
    /// Begins to answer.
    pub(crate) fn start(bound: Bound, face: Face) -> Self {
        let socket_file = bound.socket_file();
        Self { accepting: tokio::spawn(accept(bound, face)), socket_file }
    }
}

impl Drop for HttpServing {
    fn drop(&mut self) {
        self.accepting.abort();
        if let Some(path) = &self.socket_file {
            let _ = std::fs::remove_file(path); // the file may be gone already
        }
    }
}

/// Takes connections, as many at once as there are slots.
async fn accept(bound: Bound, face: Face) {
    let routes = face.routes(matches!(bound, Bound::Unix(..)));
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
        while connections.try_join_next().is_some() {} // what has ended is let go
        let accepted = match &bound {
            Bound::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
                _ = connections.spawn(keep(stream, (routes.clone(), Connection::default()), slot));
            }),
            Bound::Unix(listener, _) => listener.accept().await.map(|(stream, _)| {
                let peer = Some(stream.connect_info());
                _ = connections.spawn(keep(
                    stream,
                    (routes.clone(), Connection { peer, ..Connection::default() }),
                    slot,
                ));
            }),
        };
        if accepted.is_err() {
            tokio::time::sleep(AFTER_FAILURE).await;
        }
    }
}

/// Answers on one connection until it ends, or is over time.
async fn keep<S>(stream: S, (routes, known): (Router, Connection), _slot: OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let parts = Arc::clone(&known.parts);
    let answering = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(known.clone());
        routes.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_FOR)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), answering);
    tokio::pin!(connection);
    let mut taken = 0;
    loop {
        tokio::select! {
            _ = connection.as_mut() => return, // a broken connection is the other side's affair
            () = tokio::time::sleep(KEPT_FOR) => {}
        }
        match parts.load(Ordering::Relaxed) {
            same if same == taken => break,
            more => taken = more,
        }
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(LAST_FOR, connection).await;
}
