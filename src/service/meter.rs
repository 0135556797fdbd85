//! Counts RPCs from the outside, those that the gate turns away among them. Knows paths and codes, never a message.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;
use tonic::Code;
use tonic::body::Body;
use tonic::codegen::Bytes;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tower::{Layer, Service};

use crate::telemetry::recorder::{Method, MethodType, Recorder, Running};
use crate::wire::methods::{RpcMethod, methods};

/// The header, or trailer, that holds the code of an answer.
const STATUS: &str = "grpc-status";

/// The methods that are counted by name.
#[must_use]
pub fn rpc_methods() -> Vec<Method> {
    let method = |RpcMethod { service, name, is_client_stream, is_server_stream }| {
        let of = match (is_client_stream, is_server_stream) {
            (false, false) => MethodType::Unary,
            (true, false) => MethodType::ClientStream,
            (false, true) => MethodType::ServerStream,
            (true, true) => MethodType::BidiStream,
        };
        Method { service, name, of }
    };
    methods().into_iter().map(method).collect()
}

/// Puts a meter in front of a service.
#[derive(Clone, Debug)]
pub(crate) struct MeterLayer(pub(crate) Arc<Recorder>);

impl<S> Layer<S> for MeterLayer {
    type Service = Metered<S>;

    fn layer(&self, inner: S) -> Metered<S> {
        Metered { inner, recorder: Arc::clone(&self.0) }
    }
}

/// A service behind a meter.
#[derive(Clone, Debug)]
pub(crate) struct Metered<S> {
    inner: S,
    recorder: Arc<Recorder>,
}

impl<S, In> Service<Request<In>> for Metered<S>
where
    S: Service<Request<In>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Metering<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<In>) -> Self::Future {
        let running = Running::begin(&self.recorder, request.uri().path());
        Metering { inner: self.inner.call(request), running: Some(running) }
    }
}

pin_project! {
    /// The answer of a metered service.
    pub(crate) struct Metering<F> {
        #[pin]
        inner: F,
        running: Option<Running>,
    }
}

impl<F, E> Future for Metering<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = Result<Response<Body>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Poll::Ready(answer) = this.inner.poll(cx) else { return Poll::Pending };
        let Some(mut running) = this.running.take() else { return Poll::Ready(answer) };
        Poll::Ready(match answer {
            Err(error) => {
                running.end(Code::Unknown as i32);
                Err(error)
            }
            Ok(response) => Ok(match code(response.headers()) {
                None if running.is_stream() => response.map(|inner| Body::new(MeteredBody { inner, running })),
                code => {
                    // A unary answer without a code in its head is a message: its trailers say that all is well.
                    running.end(code.unwrap_or(Code::Ok as i32));
                    response
                }
            }),
        })
    }
}

/// The code in a head or in trailers.
fn code(headers: &HeaderMap) -> Option<i32> {
    headers
        .get(STATUS)
        .map(|code| code.to_str().ok().and_then(|code| code.parse().ok()).unwrap_or(Code::Unknown as i32))
}

pin_project! {
    /// The messages of a stream, which tells its code when it ends.
    struct MeteredBody {
        #[pin]
        inner: Body,
        running: Running,
    }
}

impl HttpBody for MeteredBody {
    type Data = Bytes;
    type Error = tonic::Status;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, tonic::Status>>> {
        let this = self.project();
        let polled = this.inner.poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(code) = frame.trailers_ref().and_then(code)
        {
            this.running.end(code);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
