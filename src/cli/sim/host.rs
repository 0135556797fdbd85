//! What stands between one agent and the world: asks the service, calls the tool, reports, and writes down what it saw.

use std::sync::Arc;

use super::log::{Call, Close, Log, Seen, Told};
use super::world::{Question, Tool, Trouble};
use crate::cli::connect::Service;
use crate::engine::clock::{Clock as _, ManualClock, SystemClock};
use crate::wire::pb;
use crate::wire::pb::admit_response::Decision;
use crate::wire::pb::outcome::{Call as Which, Result as Judged};
use crate::wire::pb::report_result;

/// The time that an agent takes for one turn.
const TURN_MS: u64 = 3_000;
/// The caller of all sessions.
const CALLER: &str = "sim";

/// The clock of a run.
#[derive(Clone, Debug)]
pub(super) enum Time {
    /// It is told, and moves with each turn.
    Told(Arc<ManualClock>),
    /// It is the machine's; nobody waits.
    Real(Arc<SystemClock>),
}

impl Time {
    fn now_ms(&self) -> u64 {
        match self {
            Self::Told(clock) => clock.now().0,
            Self::Real(clock) => clock.now().0,
        }
    }

    fn pass(&self, ms: u64) {
        match self {
            Self::Told(clock) => clock.advance_ms(ms),
            Self::Real(_) => {}
        }
    }

    /// Whether an agent can wait for a contract's time.
    pub(super) const fn can_be_waited_for(&self) -> bool {
        matches!(self, Self::Told(_))
    }
}

/// A contract that an agent was told, and of what.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    /// The call.
    pub(super) question: Question,
    /// The contract.
    pub(super) told: Told,
}

/// The host of one session.
pub(super) struct Host<'a> {
    service: &'a Service,
    time: &'a Time,
    /// Digits only, so that all sessions' targets are of the same breakers wherever codes are made from targets.
    number: String,
    trouble: Trouble,
    turn: u32,
    epoch: u32,
    log: Log,
}

/// A call that was asked for, with its permit where it got one.
struct Asked {
    place: usize,
    permit: Option<Vec<u8>>,
}

impl<'a> Host<'a> {
    /// A session that begins. `lasts_for_ms` is how long its trouble stays; none: always.
    pub(super) fn new(service: &'a Service, time: &'a Time, number: String, trouble: Trouble) -> Self {
        let until_ms = trouble.until_ms.map(|after_ms| time.now_ms() + after_ms);
        let trouble = Trouble { until_ms, ..trouble };
        Self { service, time, number, trouble, turn: 0, epoch: 1, log: Log::default() }
    }

    /// The next model step; `skips` leaves out numbers before it, as hosts that count more than calls do.
    pub(super) fn step(&mut self, skips: u32) {
        self.turn += 1 + skips;
        self.time.pass(TURN_MS);
    }

    /// Lets time pass so that the next step begins when a contract's time ends, to the millisecond.
    pub(super) fn wait_for(&self, told: &Told) {
        if let Some(until_ms) = told.until_ms {
            self.time.pass(until_ms.saturating_sub(self.time.now_ms() + TURN_MS));
        }
    }

    /// The calls of this step, all asked for before the first comes back. The last contract that was told, if any.
    pub(super) async fn call(&mut self, questions: &[Question], is_turned: bool) -> anyhow::Result<Option<Standing>> {
        let before = self.log.seen.len();
        let mut asked = Vec::with_capacity(questions.len());
        for question in questions {
            asked.push(self.ask(*question, is_turned).await?);
        }
        for Asked { place, permit } in asked {
            if let Some(permit) = permit {
                self.report(place, permit).await?;
            }
        }
        let told = self.log.seen.iter().skip(before).rev().find_map(|seen| match seen {
            Seen::Told(place, told) => Some((*place, told.clone())),
            Seen::Usable(_) => None,
        });
        Ok(told.and_then(|(place, told)| Some(Standing { question: self.log.calls.get(place)?.question, told })))
    }

    async fn ask(&mut self, question: Question, is_turned: bool) -> anyhow::Result<Asked> {
        let target = question.tool.target(&self.number);
        let place = self.log.calls.len();
        self.log.calls.push(Call {
            turn: self.turn,
            at_ms: self.time.now_ms(),
            question,
            target: target.clone(),
            epoch: self.epoch,
            breaker: String::new(),
        });
        let has_key = matches!(question.tool, Tool::Search | Tool::Customer);
        let request = pb::AdmitRequest {
            target,
            tool_name: question.tool.name().to_owned(),
            session_id: self.session(),
            turn: Some(self.turn),
            wave_id: format!("wave-{}", self.turn),
            arguments: question.arguments(is_turned).into_bytes(),
            credential: if has_key { format!("key-{}", self.number) } else { String::new() },
            caller: CALLER.to_owned(),
            ..pb::AdmitRequest::default()
        };
        let answer = self.service.breakers().admit(request).await.map_err(|status| self.service.explain(&status))?;
        match answer.into_inner().decision.ok_or_else(|| self.service.speechless())? {
            Decision::Trip(trip) => {
                self.told(place, &trip, false);
                Ok(Asked { place, permit: None })
            }
            Decision::Permit(permit) => {
                if let Some(call) = self.log.calls.get_mut(place) {
                    call.breaker = permit.breaker;
                }
                Ok(Asked { place, permit: Some(permit.token) })
            }
        }
    }

    async fn report(&mut self, place: usize, permit: Vec<u8>) -> anyhow::Result<()> {
        let Some(question) = self.log.calls.get(place).map(|call| call.question) else { return Ok(()) };
        let answer = self.trouble.answer(&question, self.time.now_ms());
        let payload = pb::Payload { body: answer.body.into_bytes(), ..pb::Payload::default() };
        let outcome = pb::Outcome {
            call: Some(Which::Permit(permit)),
            result: Some(Judged::Transport(answer.facts)),
            payload: Some(payload).filter(|payload| !payload.body.is_empty()),
            tool_name: question.tool.name().to_owned(),
            ..pb::Outcome::default()
        };
        let request = pb::ReportRequest { outcomes: vec![outcome] };
        let response = self.service.breakers().report(request).await.map_err(|status| self.service.explain(&status))?;
        match response.into_inner().results.into_iter().next().and_then(|result| result.result) {
            Some(report_result::Result::Ack(ack)) => {
                if answer.is_usable {
                    self.log.seen.push(Seen::Usable(place));
                }
                if let Some(trip) = ack.trip {
                    self.told(place, &trip, true);
                }
                Ok(())
            }
            Some(report_result::Result::Error(error)) => anyhow::bail!("{}: {}", error.field, error.message),
            None => Err(self.service.speechless()),
        }
    }

    fn told(&mut self, place: usize, trip: &pb::Trip, is_at_report: bool) {
        // the name stands before its note
        let name = trip.fallback.split(',').next().unwrap_or_default();
        let named = if name == "none" { "" } else { name };
        let told = Told {
            breaker: trip.breaker.clone(),
            signal: trip.signal(),
            variant: trip.variant_name.clone(),
            action: trip.action(),
            fallback: [named.to_owned(), trip.fallback_target.clone()],
            until_ms: trip.retry_after_ms.map(|after_ms| self.time.now_ms() + after_ms),
            is_at_report,
        };
        self.log.seen.push(Seen::Told(place, told));
    }

    /// The model's context is compacted.
    pub(super) async fn forget(&mut self) -> anyhow::Result<()> {
        self.epoch += 1;
        let request = pb::AdvanceContextEpochRequest { session: Some(self.session_ref()), context_epoch: self.epoch };
        self.service.sessions().advance_context_epoch(request).await.map_err(|status| self.service.explain(&status))?;
        Ok(())
    }

    /// Ends the session, and hands out what was seen.
    pub(super) async fn close(self, close: Close) -> anyhow::Result<Log> {
        let request = pb::CloseSessionRequest {
            session: Some(self.session_ref()),
            outcome: close.outcome.into(),
            success: close.success,
        };
        self.service.sessions().close_session(request).await.map_err(|status| self.service.explain(&status))?;
        Ok(self.log)
    }

    fn session(&self) -> String {
        format!("sim-{}", self.number)
    }

    fn session_ref(&self) -> pb::SessionRef {
        pb::SessionRef { session_id: self.session(), caller: CALLER.to_owned() }
    }
}
