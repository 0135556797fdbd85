//! Under `durability = "strict"` an answer waits until what it tells of is durable. Else this layer does nothing.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tower::{Layer, Service};

use super::keeping::Keeping;

/// Puts the wait behind a service.
#[derive(Clone, Debug)]
pub(crate) struct SettleLayer(pub(crate) Arc<Keeping>);

impl<S> Layer<S> for SettleLayer {
    type Service = Settled<S>;

    fn layer(&self, inner: S) -> Settled<S> {
        Settled { inner, keeping: Arc::clone(&self.0) }
    }
}

/// A service whose answers wait.
#[derive(Clone, Debug)]
pub(crate) struct Settled<S> {
    inner: S,
    keeping: Arc<Keeping>,
}

impl<S, In> Service<In> for Settled<S>
where
    S: Service<In>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Settling<S::Future, S::Response, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: In) -> Self::Future {
        let (keeping, urgent_before) = (Arc::clone(&self.keeping), self.keeping.urgent());
        Settling { inner: self.inner.call(request), keeping, urgent_before, answer: None, wait: None }
    }
}

pin_project! {
    /// An answer, and what it waits for.
    pub(crate) struct Settling<F, R, E> {
        #[pin]
        inner: F,
        keeping: Arc<Keeping>,
        urgent_before: u64,
        answer: Option<Result<R, E>>,
        wait: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    }
}

impl<F, R, E> Future for Settling<F, R, E>
where
    F: Future<Output = Result<R, E>>,
{
    type Output = Result<R, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.answer.is_none() {
            let Poll::Ready(answer) = this.inner.poll(cx) else { return Poll::Pending };
            if !this.keeping.must_settle(*this.urgent_before) {
                return Poll::Ready(answer);
            }
            *this.answer = Some(answer);
            *this.wait = Some(Box::pin(Arc::clone(this.keeping).settled()));
        }
        if this.wait.as_mut().is_some_and(|wait| wait.as_mut().poll(cx).is_pending()) {
            return Poll::Pending;
        }
        this.answer.take().map_or(Poll::Pending, Poll::Ready)
    }
}
