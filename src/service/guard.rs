//! The `Guard` stream: one answer for each message, made when there is room for it.
//!
//! Nothing is queued here and nothing runs beside: the next message is read when the transport asks for the next answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio_stream::Stream;
use tonic::{Status, Streaming};

use super::breaker::Breakers;
use super::caller::{SaysCaller, User};
use super::status;
use crate::wire::{InvalidField, pb};

/// Ends when the service drains, or when something is durable.
type Wait = Pin<Box<dyn Future<Output = ()> + Send>>;

pin_project! {
    /// The answers of one stream.
    pub(crate) struct Guarding {
        breakers: Breakers,
        user: User,
        asks: Streaming<pb::GuardRequest>,
        drains: Wait,
        // An answer that waits until what it tells of is durable.
        waiting: Option<(pb::GuardResponse, Wait)>,
        is_over: bool,
    }
}

impl Guarding {
    pub(super) fn new(breakers: Breakers, user: User, asks: Streaming<pb::GuardRequest>) -> Self {
        let mut drains = breakers.0.drains.clone();
        let drains = async move {
            let _ = drains.wait_for(|drains| *drains).await; // a sender that is gone means the same
        };
        Self { breakers, user, asks, drains: Box::pin(drains), waiting: None, is_over: false }
    }
}

impl Stream for Guarding {
    type Item = Result<pb::GuardResponse, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        if *this.is_over {
            return Poll::Ready(None);
        }
        if let Some((_, wait)) = this.waiting
            && wait.as_mut().poll(cx).is_pending()
        {
            return Poll::Pending;
        }
        if let Some((answer, _)) = this.waiting.take() {
            return Poll::Ready(Some(Ok(answer)));
        }
        if this.drains.as_mut().poll(cx).is_ready() {
            *this.is_over = true;
            return Poll::Ready(Some(Err(status::draining())));
        }
        let asked = match Pin::new(this.asks).poll_next(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(asked) => asked,
        };
        Poll::Ready(match asked {
            Some(Ok(ask)) => {
                let keeping = Arc::clone(&this.breakers.0.keeping);
                let urgent_before = keeping.urgent();
                let answer = this.breakers.answer(this.user.known(ask));
                if keeping.must_settle(urgent_before) {
                    *this.waiting = Some((answer, Box::pin(keeping.settled())));
                    cx.waker().wake_by_ref(); // to ask the wait itself
                    return Poll::Pending;
                }
                Some(Ok(answer))
            }
            Some(Err(status)) => {
                *this.is_over = true; // what follows cannot be read
                Some(Err(status))
            }
            None => None,
        })
    }
}

impl Breakers {
    /// The answer to one message.
    fn answer(&self, request: pb::GuardRequest) -> pb::GuardResponse {
        use pb::guard_request::Ask;
        use pb::guard_response::Answer;
        let now = self.0.engine.clock().now();
        let answer = match request.ask {
            Some(Ask::Admit(call)) => {
                self.admit_with_reports(&call, now).map(Answer::Admit).map_err(|invalid| invalid.inside("admit"))
            }
            Some(Ask::Wave(wave)) => {
                self.admit_all(wave, now).map(Answer::Wave).map_err(|invalid| invalid.inside("wave"))
            }
            Some(Ask::Report(report)) => {
                self.report(&report, now).map(Answer::Report).map_err(|invalid| invalid.inside("report"))
            }
            None => Err(InvalidField::new("ask", "is missing: give `admit`, `wave` or `report`")),
        };
        let answer = answer.unwrap_or_else(|invalid| Answer::Error(invalid.into()));
        pb::GuardResponse { tag: request.tag, answer: Some(answer) }
    }
}

impl SaysCaller for pb::GuardRequest {
    fn callers(&mut self, show: &mut dyn FnMut(&mut String)) {
        use pb::guard_request::Ask;
        match &mut self.ask {
            Some(Ask::Admit(call)) => call.callers(show),
            Some(Ask::Wave(wave)) => wave.callers(show),
            Some(Ask::Report(report)) => report.callers(show),
            None => {}
        }
    }
}
