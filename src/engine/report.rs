//! How a call went: what its result is, what that says to the breaker that issued its permit, and who acts on it.

use std::borrow::Cow;
use std::sync::Arc;

use super::calls::{Asked, CallRecord};
use super::listener::Listener;
use super::sync::Ordering;
use super::{Engine, Handed, Reading, Report, ReportAnswer, Reported, Said, Seen};
use crate::domain::behaviour::follow::FollowUps;
use crate::domain::breaker::permit::Permit;
use crate::domain::breaker::{Acknowledgement, Receipt};
use crate::domain::contract::session::Refuser;
use crate::domain::observation::{
    CallResult, Classification, Disposition, Handled, Handling, RawResult, ToldTexts, Typing, type_result,
};
use crate::domain::session::Told;
use crate::domain::session::run::Heard;
use crate::domain::signal::Phase;
use crate::domain::time::Timestamp;
use crate::domain::tool::{Effect, Tool};

/// What is known of a call when its result comes.
pub(super) struct Known<'a> {
    pub(super) tool_name: &'a str,
    pub(super) tool: &'a Tool,
    pub(super) effect: Effect,
    pub(super) is_idempotent: bool,
    pub(super) attempt: u32,
    pub(super) refused_by: Option<Refuser>,
}

/// A permit of ours that came back, with what its call said of itself where it came back by that call's name.
struct Issued<'a> {
    permit: Permit,
    token: Cow<'a, [u8]>,
    asked: Option<Arc<Asked>>,
}

/// What is remembered of a call and its session when its result comes.
#[derive(Default)]
struct Recalled {
    asked: Option<Arc<Asked>>,
    /// What the session declared of the tool.
    declared: Option<Tool>,
    /// The texts that the session was told, hashed.
    texts: Vec<u64>,
}

impl Engine {
    /// How a call went, by what was seen of it or by the caller's own judgement.
    #[must_use]
    pub fn report_result(&self, report: &Report<'_>, now: Timestamp) -> Handed {
        let issued = self.issued(report.reported);
        let handed = self.result_of(issued.as_ref(), report, now);
        match handed.answer.acknowledgement {
            Acknowledgement::Counted | Acknowledgement::Stale => {
                let observation = handed.typing.as_ref().map(|typing| typing.observation);
                self.results.result(observation, handed.handling.disposition);
            }
            Acknowledgement::Duplicate | Acknowledgement::Expired | Acknowledgement::Unknown => {}
        }
        self.handed_with_withdrawn(handed, issued.as_ref().map(|issued| &issued.permit), now)
    }

    fn result_of(&self, issued: Option<&Issued<'_>>, report: &Report<'_>, now: Timestamp) -> Handed {
        let current = self.current();
        let permit = issued.map(|issued| &issued.permit);
        let to = Listener::reported(report.reported, permit.map_or(0, |permit| permit.session));
        let told = report.asked_as;
        let Recalled { asked, declared, texts } = self.recalled(issued, told.tool_name, now);
        let tool_name = match &asked {
            Some(asked) if told.tool_name.is_empty() => &asked.tool_name,
            _ => told.tool_name,
        };
        let tool = declared.as_ref().unwrap_or_else(|| current.reading.tools.of(tool_name));
        let known = Known {
            tool_name,
            tool,
            effect: told.effect.or(asked.as_ref().and_then(|asked| asked.effect)).unwrap_or(tool.effect),
            is_idempotent: told.is_idempotent || asked.as_ref().is_some_and(|asked| asked.is_idempotent),
            attempt: report.attempt.or(asked.as_ref().map(|asked| asked.attempt)).unwrap_or(1),
            refused_by: report.refused_by,
        };
        match &report.said {
            _ if report.refused_by.is_some() => {
                let result = CallResult::new(Classification::Ignored);
                let answer = self.settle(issued, to, &result, now);
                let handling = handled(&known, &answer).judged(result.classification, None);
                let heard = self.hear(permit, &known, Err(result.classification), (&answer, &handling), now);
                self.handed(Handed { answer, typing: None, handling, decided: None, guard: None }, heard, to, now)
            }
            Said::Judged(classification, hint) => {
                let (classification, hint) = (*classification, *hint);
                let result = CallResult { classification, latency_ms: report.latency_ms, hint };
                let answer = self.settle(issued, to, &result, now);
                let handled = handled(&known, &answer);
                let failed = handled.failed_judgement(classification, hint);
                let (stepped, decided) = self.stepped(report, &handled, failed, now).unzip();
                let handling = stepped.unwrap_or_else(|| handled.judged(classification, hint));
                let heard = self.hear(permit, &known, Err(classification), (&answer, &handling), now);
                self.handed(Handed { answer, typing: None, handling, decided, guard: None }, heard, to, now)
            }
            Said::Seen(seen) => {
                let now_unix_ms = self.clock.wall().unix_ms(now);
                let told = ToldTexts { hashes: (!texts.is_empty()).then_some((&texts, &self.identity.names)) };
                let raw = RawResult { told, ..raw_result(seen, &known, &current.reading, now_unix_ms) };
                let typing = type_result(&raw);
                let Typing { classification, hint, .. } = typing;
                let result = CallResult { classification, latency_ms: report.latency_ms, hint };
                let answer = self.settle(issued, to, &result, now);
                let handled = handled(&known, &answer);
                let (stepped, decided) = self.stepped(report, &handled, handled.failed_step(&typing), now).unzip();
                let handling = stepped.unwrap_or_else(|| handled.typed(&typing));
                let heard = self.hear(permit, &known, Ok((seen, &raw, &typing)), (&answer, &handling), now);
                self.handed(
                    Handed { answer, typing: Some(Box::new(typing)), handling, decided, guard: None },
                    heard,
                    to,
                    now,
                )
            }
        }
    }

    /// The permit that a report is of, where it is ours.
    fn issued<'a>(&self, reported: Reported<'a>) -> Option<Issued<'a>> {
        let (token, asked) = match reported {
            Reported::Permit(token) => (Cow::Borrowed(token), None),
            Reported::Call(id) => match self.call_key(&id).and_then(|key| self.calls.get(key))? {
                CallRecord::Permitted(granted) | CallRecord::Reported(granted) => {
                    (Cow::Owned(granted.token.to_vec()), granted.asked)
                }
                CallRecord::Refused { .. } => return None,
            },
        };
        Permit::open(&token, &self.identity.permits).map(|permit| Issued { permit, token, asked })
    }

    /// What a call said of itself, where it is remembered by its name or by its session, and what that session knows.
    fn recalled(&self, issued: Option<&Issued<'_>>, told: &str, now: Timestamp) -> Recalled {
        let Some(Issued { permit, asked, .. }) = issued else { return Recalled::default() };
        let of_name = |call: u64| match self.calls.get(call) {
            Some(CallRecord::Permitted(granted) | CallRecord::Reported(granted)) => granted.asked,
            Some(CallRecord::Refused { .. }) | None => None,
        };
        let asked = asked.clone().or_else(|| if permit.call == 0 { None } else { of_name(permit.call) });
        if permit.session == 0 {
            return Recalled { asked, ..Recalled::default() };
        }
        let in_session = self.sessions.look(permit.session, now, |run| {
            let in_flight = || {
                run.in_flight(permit.seq).map(|flight| Asked {
                    tool_name: flight.tool_name.clone(),
                    effect: Some(flight.effect),
                    is_idempotent: flight.idempotency_key != 0,
                    attempt: flight.attempt,
                })
            };
            let asked = asked.clone().or_else(|| in_flight().map(Arc::new));
            let tool_name = match &asked {
                Some(asked) if told.is_empty() => &asked.tool_name,
                _ => told,
            };
            let declared = run.policy.tools.get(tool_name).map(|known| known.tool.clone());
            let texts = run.follow_ups().map_or(&[][..], FollowUps::texts).to_vec();
            Recalled { asked, declared, texts }
        });
        in_session.unwrap_or_else(|| Recalled { asked, ..Recalled::default() })
    }

    fn hear(
        &self,
        permit: Option<&Permit>,
        known: &Known<'_>,
        seen: Result<(&Seen<'_>, &RawResult<'_>, &Typing), Classification>,
        came: (&ReportAnswer, &Handling),
        now: Timestamp,
    ) -> Option<(u64, Heard)> {
        let permit = permit?;
        self.tell_session(permit, known, seen, came, now).map(|heard| (permit.session, heard))
    }

    /// The answer, in which a circuit that opened comes before a session's word, and a halt or a steer before the rest.
    fn handed(&self, handed: Handed, heard: Option<(u64, Heard)>, to: Listener<'_>, now: Timestamp) -> Handed {
        let Some((session, Heard { told, call, .. })) = heard else { return handed };
        if let Some(opened) = &handed.answer.trip {
            self.note_told(session, &call, opened, now);
            return handed;
        }
        let (disposition, trip) = match told {
            Told::Trip(trip) => (Disposition::Trip, trip),
            Told::Steer(trip) => (Disposition::Steer, trip),
            Told::Nothing => return handed,
        };
        // Under a steer the model still gets the result, or the line of a failure.
        let text = if disposition == Disposition::Steer { handed.handling.text } else { None };
        let handling = Handling { disposition, after_ms: None, text };
        let refusal = Box::new(self.told(Arc::from(trip), to, now));
        self.note_told(session, &call, &refusal, now);
        let guard = Some(refusal);
        Handed { handling, guard, ..handed }
    }

    /// How a call went.
    #[must_use]
    pub fn report(&self, reported: Reported<'_>, result: &CallResult, now: Timestamp) -> ReportAnswer {
        let issued = self.issued(reported);
        let session = issued.as_ref().map_or(0, |issued| issued.permit.session);
        self.settle(issued.as_ref(), Listener::reported(reported, session), result, now)
    }

    /// Tells the breaker of a permit what its call came to.
    fn settle(
        &self,
        issued: Option<&Issued<'_>>,
        to: Listener<'_>,
        result: &CallResult,
        now: Timestamp,
    ) -> ReportAnswer {
        let unknown = || {
            self.results.unknown.fetch_add(1, Ordering::Relaxed);
            ReportAnswer { acknowledgement: Acknowledgement::Unknown, phase_after: Phase::Closed, trip: None }
        };
        let Some(Issued { permit, token, .. }) = issued else { return unknown() };
        let mut events = Vec::new();
        let receipt = self.enter_counting(permit.breaker, now, &mut events, |breaker, moment, out, tally| {
            let receipt = breaker.report(permit, result, moment, out);
            tally.reported(receipt.acknowledgement, permit.issued_at, result.classification);
            receipt
        });
        if permit.call != 0 {
            self.calls.settle(permit.call, token);
        }
        if receipt.is_none() && permit.incarnation < self.identity.incarnation {
            // Of before a restart, which its breaker did not outlive: it had nothing to remember.
            let acknowledgement = Acknowledgement::Stale;
            return ReportAnswer { acknowledgement, phase_after: Phase::Closed, trip: None };
        }
        let Some(Receipt { acknowledgement, phase_after, trip }) = receipt else { return unknown() };
        let trip = trip.map(|mut trip| {
            let at = usize::try_from(trip.event_seq).unwrap_or(usize::MAX);
            trip.event_seq = events.get(at).map_or(0, |event| event.seq);
            Box::new(self.told(Arc::from(trip), to, now))
        });
        self.hand_in(events);
        ReportAnswer { acknowledgement, phase_after, trip }
    }
}

fn raw_result<'a>(seen: &'a Seen<'_>, known: &Known<'a>, reading: &'a Reading, now_unix_ms: u64) -> RawResult<'a> {
    RawResult {
        tool_name: known.tool_name,
        tool: known.tool,
        effect: known.effect,
        transport: &seen.transport,
        payload: seen.payload,
        content_type: seen.content_type,
        arguments: seen.arguments,
        is_cut_by_caller: seen.is_cut_by_caller,
        told: ToldTexts::default(),
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
