//! How many requests are served at once: beyond the bound, and while the service drains, a request is answered at once
//! with an error that says when to come again.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::sync::Notify;
use tonic::codegen::http::{Request, Response};
use tower::{Layer, Service};

use super::status;

/// The count of requests in flight.
#[derive(Debug)]
pub(crate) struct Gate {
    in_flight: AtomicUsize,
    max: AtomicUsize,
    is_draining: AtomicBool,
    /// Rung when the last request is done.
    emptied: Notify,
}

impl Gate {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            in_flight: AtomicUsize::new(0),
            max: AtomicUsize::new(max),
            is_draining: AtomicBool::new(false),
            emptied: Notify::new(),
        }
    }

    /// Waits until no request is in flight; meant for who drains, and for one at a time.
    pub(crate) async fn emptied(&self) {
        while self.in_flight.load(Ordering::SeqCst) > 0 {
            self.emptied.notified().await; // what was rung before is heard at once
        }
    }

    /// From now on every new request is told to go elsewhere.
    pub(crate) fn drain(&self) {
        self.is_draining.store(true, Ordering::SeqCst);
    }

    /// A place, for as long as it is held.
    pub(crate) fn enter(self: &Arc<Self>) -> Result<Place, tonic::Status> {
        if self.is_draining.load(Ordering::SeqCst) {
            return Err(status::draining());
        }
        let max = self.max.load(Ordering::Relaxed);
        if self.in_flight.fetch_add(1, Ordering::SeqCst) >= max {
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
            return Err(status::overloaded("requests in flight", max));
        }
        Ok(Place(Arc::clone(self)))
    }
}

/// A place among the requests in flight.
#[derive(Debug)]
pub(crate) struct Place(Arc<Gate>);

impl Drop for Place {
    fn drop(&mut self) {
        if self.0.in_flight.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.emptied.notify_one();
        }
    }
}

/// Puts a gate in front of a service.
#[derive(Clone, Debug)]
pub(crate) struct GateLayer(pub(crate) Arc<Gate>);

impl<S> Layer<S> for GateLayer {
    type Service = Gated<S>;

    fn layer(&self, inner: S) -> Gated<S> {
        Gated { inner, gate: Arc::clone(&self.0) }
    }
}

/// A service behind a gate.
#[derive(Clone, Debug)]
pub(crate) struct Gated<S> {
    inner: S,
    gate: Arc<Gate>,
}

impl<S, In, Out> Service<Request<In>> for Gated<S>
where
    S: Service<Request<In>, Response = Response<Out>>,
    Out: Default,
{
    type Response = Response<Out>;
    type Error = S::Error;
    type Future = Guarded<S::Future, Out>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<In>) -> Self::Future {
        match self.gate.enter() {
            Ok(place) => Guarded::Inside { inner: self.inner.call(request), _place: place },
            Err(status) => Guarded::Refused { answer: Some(status.into_http()) },
        }
    }
}

pin_project! {
    /// The answer of a gated service; its place is free when the answer begins.
    #[project = Answering]
    pub(crate) enum Guarded<F, Out> {
        Inside { #[pin] inner: F, _place: Place },
        Refused { answer: Option<Response<Out>> },
    }
}

impl<F, Out, E> Future for Guarded<F, Out>
where
    F: Future<Output = Result<Response<Out>, E>>,
{
    type Output = Result<Response<Out>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            Answering::Inside { inner, .. } => inner.poll(cx),
            Answering::Refused { answer } => answer.take().map_or(Poll::Pending, |answer| Poll::Ready(Ok(answer))),
        }
    }
}
