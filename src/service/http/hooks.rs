//! Hooks of agent programs over HTTP: the body that they give a command on standard input, and the answer that they read
//! from its standard output. What is wrong with an event is an error of HTTP, with which those programs go on.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use tonic::Code;

use super::api::{asking, json};
use super::{Face, problem};
use crate::service::hooks::{Asking, HookEvent, HookFault, HookProgram};
use crate::telemetry::catalogue::HttpRoute;

pub(super) async fn claude_code(State(face): State<Face>, request: Request) -> Response {
    of(&face, HookProgram::ClaudeCode, request).await
}

pub(super) async fn codex(State(face): State<Face>, request: Request) -> Response {
    of(&face, HookProgram::Codex, request).await
}

async fn of(face: &Face, program: HookProgram, request: Request) -> Response {
    let running = face.recorder.http_begins();
    let response = answered(face, program, request).await.unwrap_or_else(|problem| *problem);
    running.end(HttpRoute::Hooks, response.status().as_u16());
    response
}

async fn answered(face: &Face, program: HookProgram, request: Request) -> Result<Response, Box<Response>> {
    let place = face.api.enter()?;
    let (parts, body): (_, Body) = request.into_parts();
    let body = face.api.body(&parts.headers, body).await?;
    let event = HookEvent::read(&body).map_err(|invalid| faulty(&HookFault::Invalid(invalid)))?;
    let (metadata, mut extensions, ()) = asking(&parts, ()).into_parts();
    let asking = Asking {
        to: face.api.routes.clone(),
        metadata,
        peer: extensions.remove(),
        payload_bytes_max: face.api.payload_bytes_max,
    };
    let said = asking.answer(program, &event).await.map_err(|fault| faulty(&fault))?;
    Ok(json(said.to_string().into_bytes(), place))
}

fn faulty(fault: &HookFault) -> Box<Response> {
    Box::new(match fault {
        HookFault::Invalid(invalid) => {
            problem::plain(StatusCode::BAD_REQUEST, Code::InvalidArgument, invalid.to_string())
        }
        HookFault::Status(status) => problem::of_status(status),
    })
}
