//! How a call went: what its result is, what that says to the breaker that issued its permit, and who acts on it.

use std::sync::Arc;

use super::calls::{Asked, CallRecord};
use super::listener::Listener;
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

impl Engine {
    /// How a call went, by what was seen of it or by the caller's own judgement.
    #[must_use]
    pub fn report_result(&self, report: &Report<'_>, now: Timestamp) -> Handed {
        let permit = self.permit_of(report.reported);
        let handed = self.result_of(permit.as_ref(), report, now);
        self.handed_with_withdrawn(handed, permit.as_ref(), now)
    }

    fn result_of(&self, permit: Option<&Permit>, report: &Report<'_>, now: Timestamp) -> Handed {
        let current = self.current();
        let to = Listener::reported(report.reported, permit.map_or(0, |permit| permit.session));
        let asked = self.asked(permit, report.reported, now);
        let told = report.asked_as;
        let tool_name = match &asked {
            Some(asked) if told.tool_name.is_empty() => &asked.tool_name,
            _ => told.tool_name,
        };
        let session = permit.map_or(0, |permit| permit.session);
        let (declared, texts) = self.known_in_session(session, tool_name, now).unwrap_or_default();
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
                let answer = self.report(report.reported, &result, now);
                let handling = handled(&known, &answer).judged(result.classification, None);
                let heard = self.hear(permit, &known, Err(result.classification), (&answer, &handling), now);
                self.handed(Handed { answer, typing: None, handling, decided: None, guard: None }, heard, to, now)
            }
            Said::Judged(classification, hint) => {
                let (classification, hint) = (*classification, *hint);
                let result = CallResult { classification, latency_ms: report.latency_ms, hint };
                let answer = self.report(report.reported, &result, now);
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
                let answer = self.report(report.reported, &result, now);
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
    fn permit_of(&self, reported: Reported<'_>) -> Option<Permit> {
        match reported {
            Reported::Permit(token) => Permit::open(token, &self.identity.permits),
            Reported::Call(id) => match self.call_key(&id).and_then(|key| self.calls.get(key))? {
                CallRecord::Permitted(granted) | CallRecord::Reported(granted) => {
                    Permit::open(&granted.token, &self.identity.permits)
                }
                CallRecord::Refused { .. } => None,
            },
        }
    }

    /// What a call said of itself, where it is remembered by its name or by its session.
    fn asked(&self, permit: Option<&Permit>, reported: Reported<'_>, now: Timestamp) -> Option<Arc<Asked>> {
        let permit = permit?;
        let key = match reported {
            Reported::Call(id) => self.call_key(&id)?,
            Reported::Permit(_) => permit.call,
        };
        let named = if key == 0 { None } else { self.calls.get(key) };
        match named {
            Some(CallRecord::Permitted(granted) | CallRecord::Reported(granted)) => granted.asked,
            Some(CallRecord::Refused { .. }) | None => self.asked_in_session(permit, now),
        }
    }

    fn asked_in_session(&self, permit: &Permit, now: Timestamp) -> Option<Arc<Asked>> {
        if permit.session == 0 {
            return None;
        }
        let asked = self.sessions.with(permit.session, now, |run| {
            run.in_flight(permit.seq).map(|flight| Asked {
                tool_name: flight.tool_name.clone(),
                effect: Some(flight.effect),
                is_idempotent: flight.idempotency_key != 0,
                attempt: flight.attempt,
            })
        });
        asked.flatten().map(Arc::new)
    }

    /// What the session of a call declared of its tool, and the texts that it was told.
    fn known_in_session(&self, session: u64, tool_name: &str, now: Timestamp) -> Option<(Option<Tool>, Vec<u64>)> {
        if session == 0 {
            return None;
        }
        self.sessions.with(session, now, |run| {
            let texts = run.follow_ups().map_or(&[][..], FollowUps::texts);
            (run.policy.tools.get(tool_name).map(|known| known.tool.clone()), texts.to_vec())
        })
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
        let Some((session, Heard { told, call })) = heard else { return handed };
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
            Box::new(self.told(Arc::from(trip), Listener::reported(reported, permit.session), now))
        });
        self.log.hand_in(events);
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
