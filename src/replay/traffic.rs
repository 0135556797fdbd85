//! Where the events of one file are played: one engine for all of its sessions, which overlapped in reality, on a clock
//! that their times move.
//!
//! A report of a call that would have been refused today says nothing to anybody: it is not passed on.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::course::{CallAt, Course};
use super::fault::Wrong;
use super::input::LINE_BYTES_MAX;
use super::read::{Close, Event, Happened, PermitName};
use super::recording::CALLS_MAX;
use super::session::{Played, PlayedSession};
use super::{Policy, ReplayError, stage};
use crate::domain::behaviour::SessionOutcome;
use crate::domain::time::Timestamp;
use crate::engine::behaviour::Behaviour;
use crate::engine::clock::ManualClock;
use crate::engine::{Call, Decision, Engine, Report, Reported};
use crate::wire::breaker::{AskedCall, ReportedOutcome};
use crate::wire::pb;

/// Sessions that are followed at once. Beyond, a quarter of them ends: those that nothing was heard of for longest.
const OPEN_MAX: usize = 20_000;
/// Calls that are followed until their report; beyond, the oldest is let go.
const ASKED_MAX: usize = 100_000;

/// One file's traffic under every policy.
pub(crate) struct Traffic {
    file: Arc<str>,
    /// Unix time in milliseconds of the first event.
    start_ms: u64,
    now: Timestamp,
    stages: Vec<Engine>,
    clock: Arc<ManualClock>,
    open: BTreeMap<SessionKey, Open>,
    /// By what reports name them by: the permit where it was written down, else the ids.
    asked: BTreeMap<CallKey, Asked>,
    /// The order in which they were asked.
    order: BTreeMap<u64, CallKey>,
    events: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SessionKey {
    caller: String,
    session: String,
}

/// What a report names a call by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CallKey {
    Permit(PermitName),
    Named { caller: String, session: String, call: String, attempt: u32 },
}

/// A session that has not ended.
struct Open {
    /// The number of its first event.
    number: u64,
    last_event: u64,
    played: Played,
}

/// A call that waits for its report: under each policy its permit, where it got one.
struct Asked {
    number: u64,
    session: SessionKey,
    permits: Vec<(CallAt, Option<Arc<[u8]>>)>,
}

impl Traffic {
    /// Begins with the first event of a file, at timestamp 0 and at that event's own time of the wall clock.
    pub(crate) fn new(file: &Arc<str>, policies: &[Policy], first: &Event) -> Result<Self, ReplayError> {
        let clock = Arc::new(ManualClock::at_unix_ms(i64::try_from(first.at_ms).unwrap_or(i64::MAX)));
        let stages = policies.iter().map(|policy| stage::engine(policy, Arc::clone(&clock)));
        Ok(Self {
            file: Arc::clone(file),
            start_ms: first.at_ms,
            now: Timestamp::default(),
            stages: stages.collect::<Result<_, _>>()?,
            clock,
            open: BTreeMap::new(),
            asked: BTreeMap::new(),
            order: BTreeMap::new(),
            events: 0,
        })
    }

    /// Plays what happened next; `ended` takes the sessions that are over by it. Time never goes back: an event that is
    /// written late happens when it is read.
    pub(crate) fn play(&mut self, event: &Event, line: u64, ended: &mut Vec<Played>) -> Result<(), Wrong> {
        self.events += 1;
        self.now = self.now.max(Timestamp(event.at_ms.saturating_sub(self.start_ms)));
        self.clock.set(self.now);
        match &event.what {
            Happened::Admit { request, permit } => self.admit(request, permit.as_ref(), line, ended),
            Happened::Report(outcome) => self.report(outcome),
            Happened::Close(close) => {
                self.close(close, line, ended);
                Ok(())
            }
        }
    }

    fn admit(
        &mut self,
        request: &pb::AdmitRequest,
        permit: Option<&PermitName>,
        line: u64,
        ended: &mut Vec<Played>,
    ) -> Result<(), Wrong> {
        let asked = AskedCall::try_from(request).map_err(|invalid| Wrong::invalid("admit", &invalid))?;
        let call = asked.call();
        let name = name_of_asked(request, permit);
        if let Some(known) = name.as_ref().and_then(|name| self.asked.get_mut(name)) {
            known.ask_again(&self.stages, &call, self.now);
            return Ok(());
        }
        let key = SessionKey { caller: request.caller.clone(), session: request.session_id.clone() };
        let is_full = self.courses(&key, line, ended).iter().any(|course| course.calls >= CALLS_MAX as u64);
        if is_full && !key.session.is_empty() {
            let what = format!("more than {CALLS_MAX} calls stand in one session");
            return Err(Wrong::at("admit", what, "split the session"));
        }
        let decisions: Vec<Decision> = self.stages.iter().map(|engine| engine.admit(&call, self.now)).collect();
        let tool = if request.tool_name.is_empty() { call.target_str() } else { &request.tool_name };
        let courses = self.courses(&key, line, ended).iter_mut();
        let permits = courses.zip(&decisions).map(|(course, told)| (course.asked(tool, told), permit_of(told)));
        let permits = permits.collect();
        self.follow(name, Asked { number: self.events, session: key, permits });
        Ok(())
    }

    /// Remembers a call until its report.
    fn follow(&mut self, name: Option<CallKey>, asked: Asked) {
        let Some(name) = name else { return };
        self.order.insert(asked.number, name.clone());
        self.asked.insert(name, asked);
        if self.asked.len() > ASKED_MAX
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.asked.remove(&oldest);
        }
    }

    fn report(&mut self, outcome: &pb::Outcome) -> Result<(), Wrong> {
        let report = || {
            let parsed = ReportedOutcome::parse(outcome, LINE_BYTES_MAX);
            parsed.map(|parsed| parsed.report).map_err(|invalid| Wrong::invalid("report", &invalid))
        };
        report()?; // before the call is taken from those that wait
        let Some(asked) = name_of_reported(outcome).and_then(|name| self.asked.remove(&name)) else {
            let due = "name a call that stands before it, by its ids or by the `permit` beside its `admit`";
            return Err(Wrong::at("report", "is of no call that waits for one", due));
        };
        self.order.remove(&asked.number);
        let Some(open) = self.open.get_mut(&asked.session) else { return Ok(()) }; // it was ended before
        open.last_event = self.events;
        let courses = open.played.courses.iter_mut();
        for ((engine, course), (at, permit)) in self.stages.iter().zip(courses).zip(&asked.permits) {
            let Some(permit) = permit else { continue };
            let report = Report { reported: Reported::Permit(permit), ..report()? };
            course.reported(*at, &engine.report_result(&report, self.now));
        }
        Ok(())
    }

    fn close(&mut self, close: &Close, line: u64, ended: &mut Vec<Played>) {
        let key = SessionKey { caller: close.caller.clone(), session: close.session.clone() };
        self.courses(&key, line, ended); // one that was opened and never called anything ends, too
        for engine in &self.stages {
            end(engine, &key, close, self.now);
        }
        if let Some(mut open) = self.open.remove(&key) {
            open.played.session.success = close.success;
            ended.push(open.played);
        }
    }

    /// The courses of a session, which begins here where it is new.
    fn courses(&mut self, key: &SessionKey, line: u64, ended: &mut Vec<Played>) -> &mut [Course] {
        if !self.open.contains_key(key) && self.open.len() >= OPEN_MAX {
            self.let_go(ended);
        }
        let (policies, events) = (self.stages.len(), self.events);
        let open = self.open.entry(key.clone()).or_insert_with(|| {
            let mut session = PlayedSession::new(&key.session, &self.file, line, None);
            session.is_named = !key.session.is_empty();
            Open {
                number: events,
                last_event: events,
                played: Played { session, courses: vec![Course::default(); policies], behaviours: vec![] },
            }
        });
        open.last_event = events;
        &mut open.played.courses
    }

    /// Ends a quarter of the sessions: those that nothing was heard of for longest.
    fn let_go(&mut self, ended: &mut Vec<Played>) {
        let mut heard: Vec<u64> = self.open.values().map(|open| open.last_event).collect();
        heard.sort_unstable();
        let last = heard.get(OPEN_MAX / 4).copied().unwrap_or(0);
        self.end_if(|open| open.last_event <= last, ended);
    }

    /// Ends what is left at the end of the file. Answers it, and what models did with what they would have been told, under
    /// each policy.
    pub(crate) fn finish(mut self) -> (Vec<Played>, Vec<Behaviour>) {
        let mut ended = Vec::new();
        self.end_if(|_| true, &mut ended);
        let behaviours = self.stages.iter().map(|engine| engine.behaviour(None, self.now)).collect();
        (ended, behaviours)
    }

    fn end_if(&mut self, is_over: impl Fn(&Open) -> bool, ended: &mut Vec<Played>) {
        let (over, open) =
            std::mem::take(&mut self.open).into_iter().partition::<BTreeMap<_, _>, _>(|(_, open)| is_over(open));
        self.open = open;
        for key in over.keys() {
            let nobody_said = Close::default();
            self.stages.iter().for_each(|engine| end(engine, key, &nobody_said, self.now));
        }
        let mut over: Vec<Open> = over.into_values().collect();
        over.sort_unstable_by_key(|open| open.number);
        ended.extend(over.into_iter().map(|open| open.played));
    }
}

/// Tells an engine that a session is over, as the service would.
fn end(engine: &Engine, key: &SessionKey, close: &Close, now: Timestamp) {
    let outcome = Option::from(close.outcome).unwrap_or(SessionOutcome::Abandoned);
    engine.close_session(&key.caller, &key.session, (outcome, close.success), now);
}

impl Asked {
    /// The same call is asked for again, as it may be: who let it through gives the same permit, who refused it may let it
    /// through now. It is counted no second time.
    fn ask_again(&mut self, stages: &[Engine], call: &Call<'_>, now: Timestamp) {
        for (engine, (_, permit)) in stages.iter().zip(&mut self.permits) {
            if permit.is_none() {
                *permit = permit_of(&engine.admit(call, now));
            }
        }
    }
}

fn permit_of(decision: &Decision) -> Option<Arc<[u8]>> {
    match decision {
        Decision::Permit { granted, .. } => Some(Arc::clone(&granted.token)),
        Decision::Trip(_) => None,
    }
}

fn name_of_asked(request: &pb::AdmitRequest, permit: Option<&PermitName>) -> Option<CallKey> {
    if let Some(permit) = permit {
        return Some(CallKey::Permit(permit.clone()));
    }
    let pb::AdmitRequest { caller, session_id, call_id, attempt, .. } = request;
    named(caller, session_id, call_id, *attempt)
}

fn name_of_reported(outcome: &pb::Outcome) -> Option<CallKey> {
    match outcome.call.as_ref()? {
        pb::outcome::Call::Permit(permit) => Some(CallKey::Permit(String::from_utf8_lossy(permit).into_owned())),
        pb::outcome::Call::CallRef(call) => named(&call.caller, &call.session_id, &call.call_id, call.attempt),
    }
}

fn named(caller: &str, session: &str, call: &str, attempt: u32) -> Option<CallKey> {
    let name = || CallKey::Named {
        caller: caller.to_owned(),
        session: session.to_owned(),
        call: call.to_owned(),
        attempt: attempt.max(1),
    };
    (!session.is_empty() && !call.is_empty()).then(name)
}
