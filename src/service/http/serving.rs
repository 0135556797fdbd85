//! Connections of the HTTP face: how many, how long, and what one may send.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, JoinSet};

use super::Face;
use crate::service::server::Bound;

/// Connections at once; further ones wait in the system's own queue, which is short.
const CONNECTIONS_MAX: usize = 128;
/// How long the head of a request may take, and how long a connection may idle.
const HEAD_FOR: Duration = Duration::from_secs(10);
/// How long one connection is kept; what is asked for then is still answered.
const KEPT_FOR: Duration = Duration::from_secs(120);
/// How long that answer may take.
const LAST_FOR: Duration = Duration::from_secs(10);
/// Headers of one request.
const HEADERS_MAX: usize = 64;
/// Bytes of one request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// After a failed accept, which is often for want of file descriptors.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// The HTTP face at work; it and all of its connections end when this is dropped.
#[derive(Debug)]
pub struct HttpServing {
    accepting: JoinHandle<()>,
    socket_file: Option<PathBuf>,
}

impl HttpServing {
    /// Begins to answer.
    #[must_use]
    pub fn start(bound: Bound, face: Face) -> Self {
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
            Bound::Tcp(listener) => {
                listener.accept().await.map(|(stream, _)| _ = connections.spawn(keep(stream, routes.clone(), slot)))
            }
            Bound::Unix(listener, _) => {
                listener.accept().await.map(|(stream, _)| _ = connections.spawn(keep(stream, routes.clone(), slot)))
            }
        };
        if accepted.is_err() {
            tokio::time::sleep(AFTER_FAILURE).await;
        }
    }
}

/// Answers on one connection until it ends, or is over time.
async fn keep<S>(stream: S, routes: Router, _slot: OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_FOR)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
    tokio::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return, // a broken connection is the other side's affair
        () = tokio::time::sleep(KEPT_FOR) => connection.as_mut().graceful_shutdown(),
    }
    let _ = tokio::time::timeout(LAST_FOR, connection).await;
}
