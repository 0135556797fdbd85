//! The way to the service: each question is put once, within a deadline, and a refusal is an answer.
//!
//! Says why there is no answer, and decides nothing about it: see [`WhenDown`].

use std::time::Duration;

use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::domain::ids::SafeText;
use crate::wire::pb;
use crate::wire::pb::breaker_service_client::BreakerServiceClient;
use crate::wire::pb::session_service_client::SessionServiceClient;
use crate::wire::pb::{admit_response, peek_result, report_result};

/// Targets of one `Peek`.
const PEEKED_AT_ONCE: usize = 100;
/// A payload of this size is taken by every service, however it is configured.
const LEAST_PAYLOAD_BYTES: usize = 1_024;
/// The longest reason that is told.
const REASON_BYTES_MAX: usize = 256;

/// What is done with a call that nobody could be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenDown {
    /// It goes out.
    GoOn,
    /// It does not.
    Refuse,
    /// It goes out unless it changes something.
    ByEffect,
}

impl WhenDown {
    /// Whether a call goes out.
    #[must_use]
    pub const fn goes_on(self, effect: pb::Effect) -> bool {
        match self {
            Self::GoOn => true,
            Self::Refuse => false,
            Self::ByEffect => !matches!(effect, pb::Effect::Mutate),
        }
    }
}

/// A service, running elsewhere or in this process.
#[derive(Clone, Debug)]
pub struct Service {
    channel: Channel,
    answer_within: Duration,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// Nobody answers, in time or at all.
    Away(String),
    /// It answers that it cannot be asked this.
    Rejected(String),
}

/// A target that cannot be called now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shut {
    /// For how long, in milliseconds; none where there is no deadline.
    pub(super) for_ms: Option<u64>,
}

impl Service {
    /// A service behind a channel, which may connect later; an answer is waited for as long as told.
    #[must_use]
    pub const fn new(channel: Channel, answer_within: Duration) -> Self {
        Self { channel, answer_within }
    }

    async fn within<T>(
        &self,
        asked: impl Future<Output = Result<tonic::Response<T>, Status>>,
    ) -> Result<T, Unanswered> {
        match tokio::time::timeout(self.answer_within, asked).await {
            Ok(Ok(answer)) => Ok(answer.into_inner()),
            Ok(Err(status)) => Err(unanswered(&status)),
            Err(_elapsed) => Err(Unanswered::Away(format!("no answer within {} ms", self.answer_within.as_millis()))),
        }
    }

    /// May this call go out?
    pub(super) async fn admit(self, request: pb::AdmitRequest) -> Result<admit_response::Decision, Unanswered> {
        let mut client = BreakerServiceClient::new(self.channel.clone());
        let answer = self.within(client.admit(request)).await?;
        answer.decision.ok_or_else(speechless)
    }

    /// How a call went. A service that takes no payload of that size is told the beginning of it.
    pub(super) async fn report(self, outcome: pb::Outcome) -> Result<pb::ReportAck, Unanswered> {
        let shorter = shortened(&outcome);
        match (self.report_once(outcome).await, shorter) {
            (Err(Unanswered::Rejected(_)), Some(shorter)) => self.report_once(shorter).await,
            (answer, _) => answer,
        }
    }

    async fn report_once(&self, outcome: pb::Outcome) -> Result<pb::ReportAck, Unanswered> {
        let is_cut = outcome.payload.as_ref().is_some_and(|payload| payload.truncated_by_caller);
        let mut client = BreakerServiceClient::new(self.channel.clone());
        let answer = self.within(client.report(pb::ReportRequest { outcomes: vec![outcome] })).await?;
        match answer.results.into_iter().next().and_then(|result| result.result) {
            Some(report_result::Result::Ack(mut ack)) => {
                // A caution about what was cut here: the model gets the whole.
                let is_usable = ack.typing.as_ref().is_some_and(|typing| typing.usable);
                ack.handling.iter_mut().filter(|_| is_cut && is_usable).for_each(|handling| handling.text.clear());
                Ok(ack)
            }
            Some(report_result::Result::Error(error)) => Err(Unanswered::Rejected(reason(&error.message))),
            None => Err(speechless()),
        }
    }

    /// Which of these can be called now? One answer each, in order; what cannot be looked at counts as callable.
    pub(super) async fn peek(self, targets: Vec<pb::PeekTarget>) -> Result<Vec<Option<Shut>>, Unanswered> {
        let mut client = BreakerServiceClient::new(self.channel.clone());
        let mut seen = Vec::with_capacity(targets.len());
        for part in targets.chunks(PEEKED_AT_ONCE) {
            let request = pb::PeekRequest { targets: part.to_vec() };
            let answer = self.within(client.peek(request)).await?;
            seen.extend(answer.results.into_iter().map(|result| match result.result {
                Some(peek_result::Result::Trip(trip)) => Some(Shut { for_ms: trip.retry_after_ms }),
                Some(peek_result::Result::Callable(_) | peek_result::Result::Error(_)) | None => None,
            }));
        }
        Ok(seen)
    }

    /// Ends a session. Where that fails, the session ends by itself when it has been idle.
    pub(super) async fn close(&self, session: pb::SessionRef) {
        let mut client = SessionServiceClient::new(self.channel.clone());
        let request = pb::CloseSessionRequest { session: Some(session), ..pb::CloseSessionRequest::default() };
        let _ = self.within(client.close_session(request)).await;
    }
}

/// The same outcome in a size that every service takes; none where it has that already.
fn shortened(outcome: &pb::Outcome) -> Option<pb::Outcome> {
    let payload = outcome.payload.as_ref();
    let is_short = payload.is_none_or(|payload| payload.body.len() <= LEAST_PAYLOAD_BYTES);
    if is_short && outcome.arguments.len() <= LEAST_PAYLOAD_BYTES {
        return None;
    }
    let payload = payload.map(|payload| pb::Payload {
        body: payload.body.get(..LEAST_PAYLOAD_BYTES).unwrap_or(&payload.body).to_vec(),
        content_type: payload.content_type.clone(),
        truncated_by_caller: payload.truncated_by_caller || !is_short,
    });
    Some(pb::Outcome {
        call: outcome.call.clone(),
        result: outcome.result.clone(),
        payload,
        tool_name: outcome.tool_name.clone(),
        ..pb::Outcome::default()
    })
}

fn speechless() -> Unanswered {
    Unanswered::Rejected("its answer is of another version than this program".to_owned())
}

fn unanswered(status: &Status) -> Unanswered {
    let why = reason(status.message());
    match status.code() {
        Code::InvalidArgument
        | Code::Unimplemented
        | Code::NotFound
        | Code::AlreadyExists
        | Code::OutOfRange
        | Code::FailedPrecondition
        | Code::PermissionDenied
        | Code::Unauthenticated => Unanswered::Rejected(why),
        Code::Ok
        | Code::Cancelled
        | Code::Unknown
        | Code::DeadlineExceeded
        | Code::ResourceExhausted
        | Code::Aborted
        | Code::Internal
        | Code::Unavailable
        | Code::DataLoss => Unanswered::Away(why),
    }
}

fn reason(text: &str) -> String {
    SafeText::cut(text, REASON_BYTES_MAX).as_str().to_owned()
}
