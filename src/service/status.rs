//! The one mapping from what went wrong to a gRPC status. A refusal is not among them: it is an answer.

use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::domain::failure::attempts::InvalidSketch;
use crate::engine::operate::NoSuchCircuit;
use crate::wire::InvalidField;

/// When a refused request may come again.
const RETRY_IN: Duration = Duration::from_secs(1);

/// A malformed request: `INVALID_ARGUMENT` with the path of the field.
pub(super) fn invalid(field: &InvalidField) -> Status {
    let details = ErrorDetails::with_bad_request_violation(&field.path, &field.rule);
    Status::with_error_details(Code::InvalidArgument, field.to_string(), details)
}

/// Names nothing, or has no room.
pub(super) fn no_such(error: &NoSuchCircuit) -> Status {
    match error {
        NoSuchCircuit::Breaker(_) | NoSuchCircuit::Scope { .. } => Status::not_found(error.to_string()),
        NoSuchCircuit::TooManyHolds(_) => Status::failed_precondition(error.to_string()),
    }
}

/// Is not there, or has no sketch.
pub(super) fn no_sketch(invalid: &InvalidSketch) -> Status {
    match invalid {
        InvalidSketch::NotKept { .. } => Status::not_found(invalid.to_string()),
        InvalidSketch::NotASketch { .. } => Status::failed_precondition(invalid.to_string()),
    }
}

/// Too much at once: told at once, never queued.
pub(super) fn overloaded(what: &str, max: usize) -> Status {
    let text = format!("{what}: at most {max} at once are served, send it again later");
    Status::with_error_details(Code::ResourceExhausted, text, ErrorDetails::with_retry_info(Some(RETRY_IN)))
}

/// The service is going away.
pub(super) fn draining() -> Status {
    let text = "the service is draining: send it again, to another instance or after the restart";
    Status::with_error_details(Code::Unavailable, text, ErrorDetails::with_retry_info(Some(RETRY_IN)))
}
