//! Hooks of agent programs: one event in, the answer of that program out. What an event asks of the services and what
//! their answer means to the program is pure; the asking is one function over any way to the services, so that the HTTP
//! face and the command line answer alike.
//!
//! Never answers that a call is allowed, which would skip the user's own permission prompt: what is not refused is
//! answered with nothing.

mod asked;
mod event;
mod said;

use std::fmt;

use hyper::body::Body as HttpBody;
use serde_json::Value;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codegen::{Bytes, StdError};
use tonic::metadata::MetadataMap;
use tonic::transport::server::UdsConnectInfo;
use tonic::{Code, Request, Status};

use self::asked::Asked;
pub use self::event::{EventName, HookEvent, InvalidHook};
pub use self::said::{denied, noted};
use crate::domain::signal::closed_words;
use crate::wire::pb;
use crate::wire::pb::breaker_service_client::BreakerServiceClient;
use crate::wire::pb::session_service_client::SessionServiceClient;

closed_words! {
    /// A program whose hooks are understood.
    HookProgram {
        /// Claude Code, and the Claude Agent SDK.
        ClaudeCode = "claude-code",
        /// Codex.
        Codex = "codex",
    }
}

/// Why a hook got no answer.
#[derive(Debug)]
pub enum HookFault {
    /// The event is at fault.
    Invalid(
        /// How.
        InvalidHook,
    ),
    /// The services are, or do not take what the event says.
    Status(
        /// How.
        Box<Status>,
    ),
}

impl fmt::Display for HookFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => invalid.fmt(f),
            Self::Status(status) => f.write_str(status.message()),
        }
    }
}

impl std::error::Error for HookFault {}

impl From<Status> for HookFault {
    fn from(status: Status) -> Self {
        Self::Status(Box::new(status))
    }
}

/// A way to the services, and what goes along with every question.
#[derive(Clone, Debug, Default)]
pub struct Asking<T> {
    /// The services.
    pub to: T,
    /// Metadata of each request.
    pub metadata: MetadataMap,
    /// Who is at the other end of a socket file.
    pub peer: Option<UdsConnectInfo>,
    /// Bytes of a result that are sent along; the rest is cut.
    pub payload_bytes_max: usize,
}

impl<T> Asking<T> {
    fn request<M>(&self, message: M) -> Request<M> {
        let mut request = Request::new(message);
        *request.metadata_mut() = self.metadata.clone();
        if let Some(peer) = &self.peer {
            request.extensions_mut().insert(peer.clone());
        }
        request
    }
}

impl<T> Asking<T>
where
    T: GrpcService<Body> + Clone,
    T::Error: Into<StdError>,
    T::ResponseBody: HttpBody<Data = Bytes> + Send + 'static,
    <T::ResponseBody as HttpBody>::Error: Into<StdError> + Send,
{
    /// Asks what an event asks, and answers as its program reads it.
    ///
    /// # Errors
    /// Where a service is away, busy, or does not take what the event says.
    pub async fn answer(&self, program: HookProgram, event: &HookEvent<'_>) -> Result<Value, HookFault> {
        let mut breakers = BreakerServiceClient::new(self.to.clone());
        let mut sessions = SessionServiceClient::new(self.to.clone());
        match asked::of(event, self.payload_bytes_max) {
            Asked::Nothing => Ok(said::nothing()),
            Asked::BeginTask(task) => {
                sessions.begin_task(self.request(task)).await?;
                Ok(said::nothing())
            }
            Asked::Admit(call) => {
                let answer = breakers.admit(self.request(*call)).await?.into_inner();
                Ok(said::admitted(event, answer))
            }
            Asked::Report(outcome) => {
                let outcomes = vec![*outcome];
                let answer = breakers.report(self.request(pb::ReportRequest { outcomes })).await?.into_inner();
                said::reported(program, event, answer)
            }
            Asked::EndWave(wave) => known(sessions.end_wave(self.request(wave)).await),
            Asked::AdvanceEpoch(epoch) => known(sessions.advance_context_epoch(self.request(epoch)).await),
            Asked::Close(session) => known(sessions.close_session(self.request(session)).await),
            Asked::Review(answer) => {
                let session = answer.session.clone();
                let evidence = pb::GetEvidenceRequest { session, current_task_only: true };
                let rows = match sessions.get_evidence(self.request(evidence)).await {
                    Ok(evidence) => evidence.into_inner().rows,
                    Err(status) if status.code() == Code::NotFound => vec![],
                    Err(status) => return Err(status.into()),
                };
                if rows.is_empty() {
                    return Ok(said::nothing()); // an answer without a call is talk: there is nothing to hold it against
                }
                let verdict = sessions.review_answer(self.request(*answer)).await?.into_inner();
                Ok(said::reviewed(event, &verdict))
            }
        }
    }
}

/// A session that is not known has nothing to mark or to end: it is no fault of the event.
fn known<M>(answer: Result<tonic::Response<M>, Status>) -> Result<Value, HookFault> {
    match answer {
        Ok(_) => Ok(said::nothing()),
        Err(status) if status.code() == Code::NotFound => Ok(said::nothing()),
        Err(status) => Err(status.into()),
    }
}

#[cfg(test)]
mod tests;
