//! The HTTP face: the operations as JSON, health, readiness and metrics on a port of its own. Bounded in connections,
//! headers, bodies and time, so that nobody who asks it can hold the service up; decides nothing.

mod api;
mod call;
mod events;
mod hooks;
mod hosts;
mod openapi;
mod problem;
mod routes;
mod serving;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use tokio::sync::{Semaphore, watch};
use tonic::Code;
use tonic::service::Routes;

use self::api::Api;
use self::hosts::{Hosts, Refusal};
pub(crate) use self::serving::HttpServing;
use super::gate::Gate;
use super::keeping::Keeping;
use crate::domain::time::Timestamp;
use crate::engine::Engine;
use crate::telemetry::recorder::Recorder;

/// How far the service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It does not serve yet.
    Loading,
    /// It serves.
    Serving,
    /// It lets what runs finish, and takes nothing new.
    Draining,
}

/// What every answer comes from.
#[derive(Clone)]
pub(crate) struct Face {
    hosts: Arc<Hosts>,
    engine: Arc<Engine>,
    recorder: Arc<Recorder>,
    keeping: Arc<Keeping>,
    stage: watch::Receiver<Stage>,
    api: Api,
    /// One scrape at a time: each fills a processor for some milliseconds.
    scrapes: Arc<Semaphore>,
}

/// What is told to who asks for something else.
const WHAT_THERE_IS: &str =
    "there are GET /metrics, GET /healthz, GET /readyz, and what GET /openapi.json lists below /v1\n";
/// The text format of Prometheus.
const METRICS_TYPE: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
const TEXT_TYPE: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

impl std::fmt::Debug for Face {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Face").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// What the operations go through.
pub(crate) struct Inside {
    /// The services, as gRPC asks them.
    pub(crate) routes: Routes,
    /// The bound of requests in flight, gRPC's among them.
    pub(crate) gate: Arc<Gate>,
    /// Bytes of one body, and of one result within it.
    pub(crate) bytes_max: (usize, usize),
}

impl Face {
    /// A face that answers to `localhost`, to addresses, and to the given names.
    pub(crate) fn new(
        hosts: Vec<Arc<str>>,
        (engine, recorder, keeping): (Arc<Engine>, Arc<Recorder>, Arc<Keeping>),
        stage: watch::Receiver<Stage>,
        inside: Inside,
    ) -> Self {
        let Inside { routes, gate, bytes_max: (body_bytes_max, payload_bytes_max) } = inside;
        let api = Api { routes, gate, body_bytes_max, payload_bytes_max };
        let (hosts, scrapes) = (Arc::new(Hosts::new(hosts)), Arc::new(Semaphore::new(1)));
        Self { hosts, engine, recorder, keeping, stage, api, scrapes }
    }

    /// Every path with its answer. Over a socket file nobody can be lured: any name will do there.
    fn routes(self, is_socket_file: bool) -> Router {
        let routes = Router::new()
            .route("/metrics", get(metrics))
            .route("/healthz", get(healthz))
            .route("/readyz", get(readyz))
            .route("/openapi.json", get(openapi::answer))
            .route("/v1/hooks/claude-code", post(hooks::claude_code).fallback(only_post))
            .route("/v1/hooks/codex", post(hooks::codex).fallback(only_post))
            .route("/v1/{*rest}", any(api::answer))
            .method_not_allowed_fallback(not_allowed)
            .fallback(nothing_there);
        let routes = routes.layer(middleware::from_fn_with_state(self.clone(), settle));
        let routes = if is_socket_file {
            routes
        } else {
            routes.layer(middleware::from_fn_with_state(self.clone(), only_own_hosts))
        };
        routes.layer(middleware::map_response(with_headers)).with_state(self)
    }
}

/// As behind gRPC: an answer waits until what it tells of is durable, where an operator asked for that.
async fn settle(State(face): State<Face>, request: Request, next: Next) -> Response {
    let urgent_before = face.keeping.urgent();
    let answer = next.run(request).await;
    if face.keeping.must_settle(urgent_before) {
        face.keeping.settled().await;
    }
    answer
}

async fn only_own_hosts(State(face): State<Face>, request: Request, next: Next) -> Response {
    match face.hosts.judge(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) if request.uri().path().starts_with("/v1/") => {
            let code = match refusal {
                Refusal::NoHost => Code::InvalidArgument,
                Refusal::NotOurs | Refusal::CrossSite => Code::PermissionDenied,
            };
            problem::plain(refusal.status(), code, refusal.text().trim())
        }
        Err(refusal) => text(refusal.status(), refusal.text()),
    }
}

/// What every answer says to browsers and caches.
async fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    response
}

fn text(status: StatusCode, text: impl Into<String>) -> Response {
    (status, [(CONTENT_TYPE, TEXT_TYPE)], text.into()).into_response()
}

/// The process runs and answers.
async fn healthz() -> Response {
    text(StatusCode::OK, "ok\n")
}

/// The service takes calls.
async fn readyz(State(face): State<Face>) -> Response {
    let stage = *face.stage.borrow();
    match stage {
        Stage::Loading => text(StatusCode::SERVICE_UNAVAILABLE, "loading: not serving yet\n"),
        Stage::Serving => text(StatusCode::OK, serving(&face.keeping, face.engine.clock().now())),
        Stage::Draining => text(StatusCode::SERVICE_UNAVAILABLE, "draining: ask another instance\n"),
    }
}

/// A store that is down keeps no call from being decided: the service is ready, and says what a restart would forget.
fn serving(keeping: &Keeping, now: Timestamp) -> String {
    match (keeping.trouble(now), keeping.began_with()) {
        (Some(why), _) => format!("serving, degraded: in memory only: {why}\n"),
        (None, "") => "serving\n".to_owned(),
        (None, began_with) => format!("serving: {began_with}\n"),
    }
}

async fn metrics(State(face): State<Face>) -> Response {
    let Face { engine, recorder, keeping, scrapes, .. } = face;
    let failed = || text(StatusCode::INTERNAL_SERVER_ERROR, "the scrape did not finish: see the log\n");
    let Ok(_alone) = scrapes.acquire().await else { return failed() };
    let now = engine.clock().now();
    let scrape = move || {
        keeping.show(&recorder, now);
        recorder.scrape(&engine, now)
    };
    match tokio::task::spawn_blocking(scrape).await {
        Ok(metrics) => (StatusCode::OK, [(CONTENT_TYPE, METRICS_TYPE)], metrics).into_response(),
        Err(_) => failed(),
    }
}

async fn not_allowed() -> Response {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, WHAT_THERE_IS);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

/// Hooks are told, never asked.
async fn only_post() -> Response {
    problem::other_method(&[Method::POST])
}

async fn nothing_there() -> Response {
    text(StatusCode::NOT_FOUND, WHAT_THERE_IS)
}
