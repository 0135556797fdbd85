//! How a call went: what its result is, what that says to the breaker that issued its permit, and who acts on it.

use std::sync::Arc;

use super::calls::{Asked, CallRecord};
use super::{Engine, Handed, Reading, Report, ReportAnswer, Reported, Said, Seen};
use crate::domain::breaker::permit::Permit;
use crate::domain::breaker::{Acknowledgement, Receipt};
use crate::domain::observation::{CallResult, Handled, Handling, RawResult, Typing, type_result};
use crate::domain::signal::Phase;
use crate::domain::time::Timestamp;
use crate::domain::tool::{Effect, Tool};

/// What is known of a call when its result comes.
struct Known<'a> {
    tool_name: &'a str,
    effect: Effect,
    is_idempotent: bool,
    attempt: u32,
}

impl Engine {
    /// How a call went, by what was seen of it or by the caller's own judgement.
    #[must_use]
    pub fn report_result(&self, report: &Report<'_>, now: Timestamp) -> Handed {
        let current = self.current();
        let remembered = self.asked(report);
        let told = report.asked_as;
        let remembered = remembered.as_deref();
        let tool_name = match remembered {
            Some(asked) if told.tool_name.is_empty() => &asked.tool_name,
            _ => told.tool_name,
        };
        let tool = current.reading.tools.of(tool_name);
        let known = Known {
            tool_name,
            effect: told.effect.or(remembered.and_then(|asked| asked.effect)).unwrap_or(tool.effect),
            is_idempotent: told.is_idempotent || remembered.is_some_and(|asked| asked.is_idempotent),
            attempt: report.attempt.or(remembered.map(|asked| asked.attempt)).unwrap_or(1),
        };
        match &report.said {
            Said::Judged(classification, hint) => {
                let (classification, hint) = (*classification, *hint);
                let result = CallResult { classification, latency_ms: report.latency_ms, hint };
                let answer = self.report(report.reported, &result, now);
                let handling = handled(&known, &answer).judged(classification, hint);
                Handed { answer, typing: None, handling }
            }
            Said::Seen(seen) => {
                let now_unix_ms = self.clock.wall().unix_ms(now);
                let typing = type_result(&raw_result(seen, &known, tool, &current.reading, now_unix_ms));
                let Typing { classification, hint, .. } = typing;
                let result = CallResult { classification, latency_ms: report.latency_ms, hint };
                let answer = self.report(report.reported, &result, now);
                let handling: Handling = handled(&known, &answer).typed(&typing);
                Handed { answer, typing: Some(Box::new(typing)), handling }
            }
        }
    }

    /// What a call said of itself, where it is remembered.
    fn asked(&self, report: &Report<'_>) -> Option<Arc<Asked>> {
        let key = match report.reported {
            Reported::Call(id) => self.call_key(&id)?,
            Reported::Permit(token) => Permit::open(token, &self.identity.permits).map(|permit| permit.call)?,
        };
        if key == 0 {
            return None; // a call without a name
        }
        match self.calls.get(key)? {
            CallRecord::Permitted(granted) | CallRecord::Reported(granted) => granted.asked,
            CallRecord::Refused { .. } => None,
        }
    }

    /// How a call went.
    #[must_use]
    pub fn report(&self, reported: Reported<'_>, result: &CallResult, now: Timestamp) -> ReportAnswer {
        let unknown =
            ReportAnswer { acknowledgement: Acknowledgement::Unknown, phase_after: Phase::Closed, trip: None };
        let remembered;
        let token: &[u8] = match reported {
            Reported::Permit(token) => token,
            Reported::Call(id) => match self.call_key(&id).and_then(|key| self.calls.get(key)) {
                Some(CallRecord::Permitted(granted) | CallRecord::Reported(granted)) => {
                    remembered = granted.token;
                    &remembered
                }
                Some(CallRecord::Refused { .. }) | None => return unknown,
            },
        };
        let Some(permit) = Permit::open(token, &self.identity.permits) else { return unknown };
        let mut events = Vec::new();
        let receipt = self.enter(permit.breaker, now, &mut events, |breaker, moment, out| {
            breaker.report(&permit, result, moment, out)
        });
        if permit.call != 0 {
            self.calls.settle(permit.call, token);
        }
        let Some(Receipt { acknowledgement, phase_after, trip }) = receipt else { return unknown };
        let trip = trip.map(|mut trip| {
            let at = usize::try_from(trip.event_seq).unwrap_or(usize::MAX);
            trip.event_seq = events.get(at).map_or(0, |event| event.seq);
            Box::new(self.told(Arc::from(trip), now))
        });
        self.log.hand_in(events);
        ReportAnswer { acknowledgement, phase_after, trip }
    }
}

fn raw_result<'a>(
    seen: &'a Seen<'_>,
    known: &Known<'a>,
    tool: &'a Tool,
    reading: &'a Reading,
    now_unix_ms: u64,
) -> RawResult<'a> {
    RawResult {
        tool_name: known.tool_name,
        tool,
        transport: &seen.transport,
        payload: seen.payload,
        content_type: seen.content_type,
        arguments: seen.arguments,
        is_cut_by_caller: seen.is_cut_by_caller,
        custom: &reading.formats,
        now_unix_ms,
    }
}

fn handled<'a>(known: &Known<'a>, answer: &ReportAnswer) -> Handled<'a> {
    Handled {
        tool_name: known.tool_name,
        effect: known.effect,
        is_idempotent: known.is_idempotent,
        attempt: known.attempt,
        opened: answer.trip.is_some(),
        is_open: answer.phase_after == Phase::Open,
    }
}
