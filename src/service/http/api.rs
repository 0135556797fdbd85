//! The operations over HTTP: a request becomes the message of its RPC, goes through the services as any other, and comes
//! back as JSON. A refusal is an answer like any other; what is wrong is a problem.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use prost_reflect::{DynamicMessage, MethodDescriptor};
use tonic::codegen::Bytes;
use tonic::service::Routes;
use tonic::transport::server::UdsConnectInfo;
use tonic::{Code, Status};

use super::routes::{Found, Route, Verb, find, pairs};
use super::serving::Connection;
use super::{Face, call, events, problem};
use crate::service::TEST_NOW_HEADER;
use crate::service::gate::{Gate, Place};
use crate::telemetry::catalogue::HttpRoute;
use crate::wire::InvalidField;
use crate::wire::json::{descriptors, put_named, put_text, read, write};

/// How long the body of a request may take.
const BODY_FOR: Duration = Duration::from_secs(10);
/// The header by which a reader of events goes on.
const LAST_EVENT_ID: &str = "last-event-id";
/// What gRPC takes as metadata of a call goes along; nothing else does.
const PASSED_ON: [&str; 2] = [TEST_NOW_HEADER, "traceparent"];
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The way into the services.
#[derive(Clone)]
pub(super) struct Api {
    pub(super) routes: Routes,
    pub(super) gate: Arc<Gate>,
    pub(super) body_bytes_max: usize,
    /// Bytes of one result.
    pub(super) payload_bytes_max: usize,
}

/// Answers everything below `/v1`.
pub(super) async fn answer(State(face): State<Face>, request: Request) -> Response {
    let running = face.recorder.http_begins();
    let found = find(request.method(), request.uri().path());
    let word = match &found {
        Found::Route(route, _) => route.word(),
        Found::OtherMethod(_) | Found::Nothing => HttpRoute::Other,
    };
    let response = match found {
        Found::Route(route, id) => face.api.asked(route, id, request).await.unwrap_or_else(|problem| *problem),
        Found::OtherMethod(methods) => problem::other_method(&methods),
        Found::Nothing => problem::plain(StatusCode::NOT_FOUND, Code::NotFound, super::WHAT_THERE_IS.trim()),
    };
    running.end(word, response.status().as_u16());
    response
}

/// What is in the way of an answer.
type Problem = Box<Response>;

impl Api {
    /// A place among the requests in flight, of gRPC and HTTP together.
    pub(super) fn enter(&self) -> Result<Place, Problem> {
        self.gate.enter().map_err(|status| Box::new(problem::of_status(&status)))
    }

    async fn asked(&self, route: &Route, id: Option<String>, request: Request) -> Result<Response, Problem> {
        let place = self.enter()?;
        let method = method(route)?;
        let (parts, body) = request.into_parts();
        let message = self.message(route, &method, (&parts, body), id).await?;
        let request = asking(&parts, message);
        if method.is_server_streaming() {
            let connection = parts.extensions.get().cloned().unwrap_or_default();
            let stream = call::stream(self.routes.clone(), &method, request).await;
            return Ok(events::answer(stream.map_err(|error| Box::new(problem::of_status(&error)))?, connection));
        }
        let answer = call::unary(self.routes.clone(), &method, request).await;
        let answer = answer.map_err(|error| Box::new(problem::of_status(&error)))?;
        Ok(json(write(&answer), place))
    }

    /// The message of a request: of its body, its path, its query and, for events, the last one that was seen.
    async fn message(
        &self,
        route: &Route,
        method: &MethodDescriptor,
        (parts, body): (&Parts, Body),
        id: Option<String>,
    ) -> Result<DynamicMessage, Problem> {
        let invalid = |fault: InvalidField| Box::new(problem::invalid(&fault));
        let body = self.body(&parts.headers, body).await?;
        if !body.is_empty() && route.verb == Verb::Get {
            let fault = InvalidField::new("body", "is not taken by GET: give what is asked for in the query");
            return Err(invalid(fault));
        }
        let mut message = if body.is_empty() {
            DynamicMessage::new(method.input())
        } else {
            read(&method.input(), &body).map_err(|unread| Box::new(problem::unread(&unread)))?
        };
        if let (Some(field), Some(id)) = (route.id, &id) {
            put_text(&mut message, field, id).map_err(invalid)?;
        }
        let query = pairs(parts.uri.query().unwrap_or_default());
        let query = query.ok_or_else(|| invalid(InvalidField::new("query", "is no UTF-8 behind its percent signs")))?;
        for (name, text) in &query {
            put_named(&mut message, route.query, (name, text)).map_err(invalid)?;
        }
        if method.is_server_streaming()
            && let Some(last) = parts.headers.get(LAST_EVENT_ID)
        {
            events::resume(&mut message, last.to_str().unwrap_or_default()).map_err(invalid)?;
        }
        Ok(message)
    }

    /// The whole body, within its bounds of size and time.
    pub(super) async fn body(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
        let max = self.body_bytes_max;
        let body = tokio::time::timeout(BODY_FOR, Limited::new(body, max).collect()).await;
        let refused = |http, code, text: String| Err(Box::new(problem::plain(http, code, text)));
        let body = match body {
            Err(_elapsed) => {
                let text = format!("the body did not come within {} s: send it at once", BODY_FOR.as_secs());
                return refused(StatusCode::REQUEST_TIMEOUT, Code::DeadlineExceeded, text);
            }
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let text = format!("the body has more than {max} bytes, at most that many are taken");
                return refused(StatusCode::PAYLOAD_TOO_LARGE, Code::ResourceExhausted, text);
            }
            Ok(Err(_)) => {
                let text = "the body broke off".to_owned();
                return refused(StatusCode::BAD_REQUEST, Code::InvalidArgument, text);
            }
            Ok(Ok(body)) => body.to_bytes(),
        };
        if body.is_empty() || is_json(headers) {
            return Ok(body);
        }
        let text = "the body has to be JSON and to say so: send `content-type: application/json`".to_owned();
        refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::InvalidArgument, text)
    }
}

/// Whether a body says that it is JSON; a page of another site cannot say so without asking first.
fn is_json(headers: &HeaderMap) -> bool {
    let media = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    media.eq_ignore_ascii_case("application/json")
}

fn method(route: &Route) -> Result<MethodDescriptor, Problem> {
    let (service, name) = route.rpc;
    let service = descriptors().services().find(|of| of.name() == service);
    let method = service.and_then(|service| service.methods().find(|of| of.name() == name));
    method.ok_or_else(|| Box::new(problem::of_status(&Status::internal("the route leads nowhere: see the log"))))
}

/// The request as gRPC brings it: with who is at the other end of a socket file, and the headers that mean something.
pub(super) fn asking<T>(parts: &Parts, message: T) -> tonic::Request<T> {
    let mut request = tonic::Request::new(message);
    for name in PASSED_ON {
        if let Some(value) = parts.headers.get(name).and_then(|value| value.to_str().ok()?.parse().ok()) {
            request.metadata_mut().insert(name, value);
        }
    }
    let peer: Option<&UdsConnectInfo> = parts.extensions.get::<Connection>().and_then(|known| known.peer.as_ref());
    if let Some(peer) = peer {
        request.extensions_mut().insert(peer.clone());
    }
    request
}

/// JSON that keeps its place among the requests in flight until it is sent.
pub(super) fn json(json: Vec<u8>, place: Place) -> Response {
    let body = Body::new(Held { inner: Full::new(Bytes::from(json)), _place: place });
    ([(CONTENT_TYPE, JSON)], body).into_response()
}

/// A body with its place.
struct Held {
    inner: Full<Bytes>,
    _place: Place,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
