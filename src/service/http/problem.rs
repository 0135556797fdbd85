//! What went wrong, as `application/problem+json` (RFC 9457), with the text and the field paths that gRPC gives.

use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::service::status;
use crate::wire::InvalidField;
use crate::wire::json::Unread;

/// The media type.
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The body of a problem.
#[derive(Debug, Serialize)]
struct Problem<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'a str,
    status: u16,
    detail: &'a str,
    /// The code that gRPC has for it.
    code: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Fault>,
    #[serde(rename = "retryAfterMs", skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

/// A field at fault.
#[derive(Debug, Serialize)]
struct Fault {
    field: String,
    message: String,
}

/// An error of the services, whole.
pub(super) fn of_status(error: &Status) -> Response {
    of_status_as(http_status(error.code()), error)
}

/// The same where HTTP has a closer status.
pub(super) fn of_status_as(http: StatusCode, error: &Status) -> Response {
    let details = error.get_error_details();
    let violations = details.bad_request().map(|request| request.field_violations.clone()).unwrap_or_default();
    let fault = |of: tonic_types::FieldViolation| Fault { field: of.field, message: of.description };
    let retry_in = details.retry_info().and_then(|retry| retry.retry_delay);
    let problem = Problem {
        kind: "about:blank",
        title: http.canonical_reason().unwrap_or("Error"),
        status: http.as_u16(),
        detail: error.message(),
        code: word(error.code()),
        errors: violations.into_iter().map(fault).collect(),
        retry_after_ms: retry_in.map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX)),
    };
    let body = serde_json::to_vec(&problem).unwrap_or_default(); // texts and numbers are always written
    let mut response = (http, [(CONTENT_TYPE, PROBLEM)], body).into_response();
    if let Some(after) = retry_in {
        // Whole seconds, rounded up: a client that comes too early only learns the same again.
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(after.as_millis().div_ceil(1_000) as u64));
    }
    response
}

/// A problem of HTTP itself.
pub(super) fn plain(http: StatusCode, code: Code, detail: impl Into<String>) -> Response {
    of_status_as(http, &Status::new(code, detail))
}

/// A body that is no message.
pub(super) fn unread(unread: &Unread) -> Response {
    match unread {
        Unread::NoJson(_) => plain(StatusCode::BAD_REQUEST, Code::InvalidArgument, unread.to_string()),
        Unread::Field(field) => invalid(field),
    }
}

/// A field at fault.
pub(super) fn invalid(field: &InvalidField) -> Response {
    of_status(&status::invalid(field))
}

/// The path takes other methods.
pub(super) fn other_method(methods: &[Method]) -> Response {
    let names: Vec<&str> = methods.iter().map(Method::as_str).collect();
    let names = names.join(", ");
    let detail = format!("this path takes {names}");
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, Code::Unimplemented, detail);
    if let Ok(names) = HeaderValue::from_str(&names) {
        response.headers_mut().insert(ALLOW, names);
    }
    response
}

/// The table of `google.rpc.Code`.
const fn http_status(code: Code) -> StatusCode {
    match code {
        Code::Ok => StatusCode::OK,
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => StatusCode::BAD_REQUEST,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        Code::Cancelled => StatusCode::REQUEST_TIMEOUT,
        Code::Unknown | Code::Internal | Code::DataLoss => StatusCode::INTERNAL_SERVER_ERROR,
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
    }
}

const fn word(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
