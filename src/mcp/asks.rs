//! What the service is asked, one question after the other, in the order in which the messages came.
//!
//! The order makes the answers the same whenever the same is said, and a call never overtakes an earlier one.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Sleep, sleep};

use super::call::{Call, Seen};
use super::line::Line;
use super::service::{Service, Shut, Unanswered};
use crate::wire::pb;
use crate::wire::pb::admit_response::Decision;

/// A service that did not answer is let alone for so long: calls do not wait for it one by one.
const REST: Duration = Duration::from_secs(1);

/// A question.
#[derive(Debug)]
pub(super) enum Ask {
    /// May this call go out?
    Admit {
        /// The call.
        call: Box<Call>,
        /// Its line, which goes out if it may.
        line: Line,
        /// What is asked.
        request: Box<pb::AdmitRequest>,
    },
    /// How a call ended.
    Report {
        /// The call.
        call: Box<Call>,
        /// Its permit.
        permit: Vec<u8>,
        /// What the model is told beside it.
        notices: Vec<String>,
        /// How it ended.
        seen: Seen,
    },
    /// Which tools of this list can be called?
    List {
        /// The list.
        line: Line,
        /// Whether it is the first page.
        is_first: bool,
        /// Its tools.
        targets: Vec<pb::PeekTarget>,
    },
    /// Which of all tools can be called?
    Look {
        /// The tools.
        targets: Vec<pb::PeekTarget>,
    },
}

/// An answer.
pub(super) enum Answered {
    /// To `Admit`.
    Admitted(Box<Call>, Line, Result<Box<Decision>, Unanswered>),
    /// To `Report`.
    Reported(Box<Call>, Vec<String>, Seen, Result<Box<pb::ReportAck>, Unanswered>),
    /// To `List`.
    Listed(Line, bool, Result<Vec<(String, Option<Shut>)>, Unanswered>),
    /// To `Look`.
    Looked(Result<Vec<(String, Option<Shut>)>, Unanswered>),
}

type Running = Pin<Box<dyn Future<Output = Answered> + Send>>;

/// The questions that wait, and the one that is asked.
pub(super) struct Asks {
    service: Service,
    waiting: VecDeque<Ask>,
    running: Option<Running>,
    rest: Option<Pin<Box<Sleep>>>,
}

impl Asks {
    /// Nothing to ask yet.
    pub(super) const fn new(service: Service) -> Self {
        Self { service, waiting: VecDeque::new(), running: None, rest: None }
    }

    /// Puts a question behind the others. What waits is paid for by the room of its lines.
    pub(super) fn push(&mut self, ask: Ask) {
        self.waiting.push_back(ask);
    }

    /// Whether nothing is left to ask.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.running.is_none()
    }

    /// Whether somebody is about to look at all tools.
    pub(super) fn is_looking(&self) -> bool {
        self.waiting.iter().any(|ask| matches!(ask, Ask::Look { .. }))
    }

    /// The service did not answer.
    pub(super) fn rest(&mut self) {
        self.rest = Some(Box::pin(sleep(REST)));
    }

    /// The next answer; never where nothing is asked. Nothing is lost where it is not waited for to the end.
    pub(super) async fn next(&mut self) -> Answered {
        if self.running.is_none() {
            let is_resting = self.rest.as_ref().is_some_and(|rest| !rest.is_elapsed());
            self.running = self.waiting.pop_front().map(|ask| {
                if is_resting { Box::pin(std::future::ready(unasked(ask))) } else { asked(self.service.clone(), ask) }
            });
        }
        let answered = match &mut self.running {
            Some(running) => running.as_mut().await,
            None => std::future::pending().await,
        };
        self.running = None;
        answered
    }
}

fn asked(service: Service, ask: Ask) -> Running {
    let named = |targets: &[pb::PeekTarget]| -> Vec<String> { targets.iter().map(|it| it.tool_name.clone()).collect() };
    let pairs = |names: Vec<String>, seen: Vec<Option<Shut>>| names.into_iter().zip(seen).collect();
    Box::pin(async move {
        match ask {
            Ask::Admit { call, line, request } => {
                Answered::Admitted(call, line, service.admit(*request).await.map(Box::new))
            }
            Ask::Report { call, permit, notices, seen } => {
                let outcome = call.outcome(permit, &seen);
                Answered::Reported(call, notices, seen, service.report(outcome).await.map(Box::new))
            }
            Ask::List { line, is_first, targets } => {
                let names = named(&targets);
                Answered::Listed(line, is_first, service.peek(targets).await.map(|seen| pairs(names, seen)))
            }
            Ask::Look { targets } => {
                let names = named(&targets);
                Answered::Looked(service.peek(targets).await.map(|seen| pairs(names, seen)))
            }
        }
    })
}

/// The answer where nobody is asked.
fn unasked(ask: Ask) -> Answered {
    let away = Unanswered::Away("it did not answer just now".to_owned());
    match ask {
        Ask::Admit { call, line, .. } => Answered::Admitted(call, line, Err(away)),
        Ask::Report { call, notices, seen, .. } => Answered::Reported(call, notices, seen, Err(away)),
        Ask::List { line, is_first, .. } => Answered::Listed(line, is_first, Err(away)),
        Ask::Look { .. } => Answered::Looked(Err(away)),
    }
}
