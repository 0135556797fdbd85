//! A call of a session: its gates are asked beside the breaker, and the stricter answer is told.
//!
//! The session's lock and a breaker's are never held together: a place is taken first, and given back where the breaker
//! refuses.

use std::borrow::Cow;
use std::sync::Arc;

use super::exchange::{Arguments, Call, Decision, Refusal, ReportAnswer, Seen};
use super::listener::{Listener, of_new};
use super::notices::shut_by;
use super::report::Known;
use super::{Engine, Reading};
use crate::domain::behaviour::SessionOutcome;
use crate::domain::behaviour::steps::Made;
use crate::domain::breaker::Acknowledgement;
use crate::domain::breaker::permit::Permit;
use crate::domain::contract::Trip;
use crate::domain::document::canonical;
use crate::domain::event::{Event, Happening, SteerThenHalt, Told as ToldEvent};
use crate::domain::ids::{Code, HashTag, SafeText, TargetName};
use crate::domain::observation::fingerprint::text_of;
use crate::domain::observation::{Classification, Disposition, Handling, RawResult, Typing};
use crate::domain::session::Told;
use crate::domain::session::call::{Ask, ToolName, Wave};
use crate::domain::session::effects::is_reply_lost;
use crate::domain::session::flight::{Came, InFlight};
use crate::domain::session::identity;
use crate::domain::session::policy::SessionPolicy;
use crate::domain::session::run::{AgentRun, Heard, RunPolicy};
use crate::domain::signal::Phase;
use crate::domain::time::Timestamp;
use crate::domain::tool::{Tool, Tools};
use crate::domain::verdict::Verdict;

/// The longest target in a session's contract, in bytes.
const TARGET_BYTES_MAX: usize = crate::domain::contract::LONG_FIELD_BYTES_MAX;

/// A call of a session as its gates see it.
struct Guarded<'a> {
    key: u64,
    tool_name: &'a str,
    tool: Cow<'a, Tool>,
    /// Where a route of the tool is exhausted: when the target failed the session last, if it did.
    exhausted: Option<Option<Timestamp>>,
    task: u64,
    flight: InFlight,
}

impl Engine {
    /// The key of a session: of its caller and its name; 0 where no session is named.
    pub(super) fn session_key(&self, caller: &str, session: &str) -> u64 {
        if session.is_empty() {
            return 0;
        }
        let mut bytes = Vec::with_capacity(caller.len() + session.len() + 4);
        bytes.extend_from_slice(&(caller.len() as u32).to_le_bytes());
        bytes.extend_from_slice(caller.as_bytes());
        bytes.extend_from_slice(session.as_bytes());
        self.identity.names.hash(HashTag::Session, &bytes)
    }

    /// Opens a session under a policy, or changes that of one that is open. True where it is new.
    #[must_use]
    pub fn open_session(&self, caller: &str, session: &str, policy: RunPolicy, now: Timestamp) -> bool {
        let key = self.session_key(caller, session);
        let wordings = &self.current().contract.wordings;
        let (mut facts, mut is_new) = (Vec::new(), false);
        let make = || {
            is_new = true;
            AgentRun::new(RunPolicy::default(), self.identity.names, now).told_in(of_new(wordings, caller, session))
        };
        self.sessions.with_made(key, now, (&mut facts, make), |run, _| {
            run.adopt(policy);
            run.last_seen = run.last_seen.max(now);
        });
        self.publish(facts, now);
        is_new
    }

    /// Works on a session that is open.
    pub fn with_session<R>(
        &self,
        caller: &str,
        session: &str,
        now: Timestamp,
        work: impl FnOnce(&mut AgentRun) -> R,
    ) -> Option<R> {
        self.sessions.with(self.session_key(caller, session), now, work)
    }

    /// Ends a session: how, and whether its task was achieved, by the caller's word. True where it was open.
    pub fn close_session(
        &self,
        caller: &str,
        session: &str,
        (outcome, success): (SessionOutcome, Option<bool>),
        now: Timestamp,
    ) -> bool {
        let mut facts = Vec::new();
        let run = self.sessions.remove(self.session_key(caller, session), now);
        let was_open = run.map(|mut run| run.end(outcome, success, &mut facts)).is_some();
        self.publish(facts, now);
        was_open
    }

    /// Sessions that are kept.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Looks at what sessions are held to by the configuration, and at what is known of tools.
    pub fn with_reading<R>(&self, look: impl FnOnce(&SessionPolicy, &Tools) -> R) -> R {
        let current = self.current();
        look(&current.session_policy, &current.reading.tools)
    }

    /// A tool's name as sessions know it.
    #[must_use]
    pub fn tool_hash(&self, tool: &str) -> u64 {
        self.identity.names.hash(HashTag::Tool, tool.as_bytes())
    }

    /// Decides a call that names a session.
    pub(super) fn decide_guarded(&self, call: &Call<'_>, now: Timestamp) -> Decision {
        let seq = self.next_seq();
        let current = self.current();
        let guarded = self.guarded(call, &current.reading, now);
        let tool = ToolName { id: guarded.flight.tool, name: guarded.tool_name };
        let may_probe = self.hear_of_target(&guarded, call, now);
        let alternative = self.alternative(&guarded.tool, now);
        let alternative = alternative.as_ref().map(|name| self.tool_name(name));
        let ask = Ask {
            tool,
            target: &guarded.flight.target_name,
            arguments: guarded.flight.arguments,
            wave: guarded.flight.wave,
            call: self.call_key(&call.id).unwrap_or(0),
            place: seq,
            lease_ends: now.plus_ms(current.permit_for_ms),
            idempotency_key: guarded.flight.idempotency_key,
            is_approved: call.asked_as.is_approved,
            may_probe,
            alternatives: alternative.as_slice(),
            now,
        };
        let policy = || RunPolicy { gates: Arc::clone(&current.session_policy), ..RunPolicy::default() };
        let told = || of_new(&current.contract.wordings, call.id.caller, call.id.session);
        let make = || AgentRun::new(policy(), self.identity.names, now).told_in(told());
        let credential = self.hash(HashTag::Credential, call.credential);
        let mut facts = Vec::new();
        let asked = self.sessions.with_made(guarded.key, now, (&mut facts, make), |run, facts| {
            run.used(guarded.tool_name, call.target, credential);
            let before = run.task();
            let task = run.turn_to_task(guarded.task, facts);
            let InFlight { lane, turn, wave, .. } = guarded.flight;
            let begins_task = run.take_new_task() || task != before;
            let made = Made { lane, turn, wave, place: seq, begins_task };
            let step = run.made(&made, &guarded.flight, call.arguments_bytes, facts);
            (task, step, run.admit(&ask))
        });
        self.publish(facts, now);
        let Some((task, step, verdict)) = asked else { return self.decide(call, seq, now) };
        let guarded = Guarded { flight: InFlight { task, step, ..guarded.flight }, ..guarded };
        match verdict {
            Verdict::Refuse(trip) => self.refuse_guarded(call, &guarded, *trip, now),
            Verdict::Proceed(()) => {
                let mut decision = self.decide(call, seq, now);
                match &mut decision {
                    Decision::Permit { granted, .. } => {
                        let flight = InFlight { is_probe: granted.is_probe, ..guarded.flight };
                        granted.notices = self.note_admitted(call, (guarded.key, seq, flight), now);
                    }
                    Decision::Trip(refusal) => self.note_refused(call, &guarded, seq, refusal, now),
                }
                decision
            }
        }
    }

    /// Notes a refusal in the session that is told it.
    fn note_refused(&self, call: &Call<'_>, guarded: &Guarded<'_>, place: u64, refusal: &Refusal, now: Timestamp) {
        let telling = self.telling(refusal, &guarded.flight.followed(), false, now);
        let shut = self.shut(call, &refusal.trip, now);
        let mut facts = Vec::new();
        self.sessions.with(guarded.key, now, |run| {
            run.refused(place, &guarded.flight, &refusal.trip, now);
            shut.into_iter().for_each(|shut| run.told_shut(shut));
            run.told(telling, &self.identity.names, &mut facts);
        });
        self.publish(facts, now);
    }

    /// A session's refusal, unless the breaker's comes first in the catalogue.
    fn refuse_guarded(&self, call: &Call<'_>, guarded: &Guarded<'_>, trip: Trip, now: Timestamp) -> Decision {
        let own: Verdict<bool> = Verdict::Refuse(Box::new(trip));
        let breakers = self.peeked(call, now);
        let Verdict::Refuse(trip) = own.stricter(breakers) else { return self.decide(call, self.next_seq(), now) };
        let trip = self.told_by_guard(trip, now, Happening::Refused);
        let refusal = Box::new(self.told(Arc::from(trip), Listener::of(call), now));
        self.note_refused(call, guarded, 0, &refusal, now);
        Decision::Trip(refusal)
    }

    /// A call as its session's gates see it.
    fn guarded<'a>(&self, call: &Call<'a>, reading: &'a Reading, now: Timestamp) -> Guarded<'a> {
        let asked = call.asked_as;
        let tool_name = if asked.tool_name.is_empty() { call.target_str() } else { asked.tool_name };
        let key = self.session_key(call.id.caller, call.id.session);
        let tool_hash = self.tool_hash(tool_name);
        let target = self.identity.names.hash(HashTag::Target, call.target.as_str().as_bytes());
        let lane = self.hash(HashTag::Lane, asked.lane);
        let known = self.sessions.look(key, now, |run| {
            let declared = run.policy.tools.get(tool_name).map(|known| known.tool.clone());
            (declared, run.is_exhausted(tool_hash).then(|| run.last_bad(target)), run.open_wave(lane))
        });
        let (declared, exhausted, open_wave) = known.unwrap_or_default();
        let tool = declared.map_or_else(|| Cow::Borrowed(reading.tools.of(tool_name)), Cow::Owned);
        let bytes = match call.arguments {
            Arguments::Bytes(bytes) => bytes,
            Arguments::Digest(_) | Arguments::Unknown => &[],
        };
        let arguments = match call.arguments {
            Arguments::Bytes(bytes) => self.identity.names.hash(HashTag::Arguments, &canonical(bytes)),
            Arguments::Digest(digest) => self.identity.names.hash(HashTag::Arguments, digest),
            // Nothing is said of them, so that no two calls are known to be alike.
            Arguments::Unknown => self.next_seq() | 1 << 63,
        };
        let identity = identity::of(tool_name, &tool, bytes).bytes();
        let identity = identity.map_or(arguments, |bytes| self.identity.names.hash(HashTag::Identity, &bytes));
        let turn = asked.turn.map_or(0, |turn| u64::from(turn) + 1);
        let wave = match open_wave.filter(|_| asked.wave.is_empty() && turn == 0) {
            Some(number) => self.hash(HashTag::Wave, &format!("marked {number}")),
            None => self.hash(HashTag::Wave, asked.wave),
        };
        let flight = InFlight {
            tool: tool_hash,
            tool_name: tool_name.into(),
            target_name: SafeText::cut(call.target.as_str(), TARGET_BYTES_MAX),
            target,
            arguments,
            identity,
            purpose: self.hash(HashTag::Purpose, asked.purpose),
            lane,
            step: 0,
            wave: (wave != 0 || turn != 0).then_some(Wave { lane, id: wave, turn }),
            turn: asked.turn,
            task: 0,
            idempotency_key: self.hash(HashTag::IdempotencyKey, asked.idempotency_key),
            effect: asked.effect.unwrap_or(tool.effect),
            attempt: call.id.attempt,
            is_probe: false,
            sent_at: now,
        };
        let task = self.hash(HashTag::Task, asked.task);
        Guarded { key, tool_name, tool, exhausted, task, flight }
    }

    /// Where a route is exhausted, its target has a say: a good result since ends a halt on it, and a probe is not
    /// withheld. Answers whether the call would be a probe.
    fn hear_of_target(&self, guarded: &Guarded<'_>, call: &Call<'_>, now: Timestamp) -> bool {
        let target = guarded.flight.target;
        let Some(last_bad) = guarded.exhausted else { return false };
        if self.last_good(call.target, now).is_some_and(|good| last_bad.is_none_or(|bad| good > bad)) {
            self.sessions.with(guarded.key, now, |run| run.target_recovered(target));
        }
        matches!(self.peeked(call, now), Verdict::Proceed(true))
    }

    /// The configured alternative of a tool, where it can be called now.
    fn alternative(&self, tool: &Tool, now: Timestamp) -> Option<Arc<str>> {
        let name = tool.alternative.as_ref()?;
        let target = TargetName::parse(name).ok()?;
        let call = Call::of_target(&target);
        matches!(self.peeked(&call, now), Verdict::Proceed(_)).then(|| Arc::clone(name))
    }

    fn tool_name<'a>(&self, name: &'a str) -> ToolName<'a> {
        ToolName { id: self.tool_hash(name), name }
    }

    /// Tells a session what its call came to, and answers its word: a contract in place of the result or under it.
    pub(super) fn tell_session(
        &self,
        permit: &Permit,
        known: &Known<'_>,
        seen: Result<(&Seen<'_>, &RawResult<'_>, &Typing), Classification>,
        (answer, handling): (&ReportAnswer, &Handling),
        now: Timestamp,
    ) -> Option<Heard> {
        let is_first = matches!(answer.acknowledgement, Acknowledgement::Counted | Acknowledgement::Stale);
        if permit.session == 0 || !is_first {
            return None;
        }
        let alternative = self.alternative(known.tool, now);
        let alternative = alternative.as_ref().map(|name| self.tool_name(name));
        let read_tool = known.tool.read_tool.clone();
        let names = &self.identity.names;
        let (classification, typed) = match seen {
            Ok((seen, raw, typing)) => (typing.classification, Some((seen, raw, typing))),
            Err(classification) => (classification, None),
        };
        let print = |text: String| names.hash(HashTag::Fingerprint, text.as_bytes());
        let result = |seen: &Seen<'_>| seen.payload.map(|payload| names.hash(HashTag::Result, payload));
        let came = Came {
            typing: typed.map(|(_, _, typing)| typing),
            tool: known.tool,
            breaker: permit.breaker,
            fingerprint: typed.and_then(|(_, raw, typing)| text_of(raw, typing)).map(print),
            result: typed.filter(|(_, _, typing)| typing.observation.is_usable()).and_then(|(seen, ..)| result(seen)),
            is_success: classification == Classification::Ok,
            refused_by: known.refused_by,
            is_held_by_circuit: permit.is_probe || answer.phase_after != Phase::Closed,
            is_reply_lost: typed.is_some_and(|(seen, ..)| is_reply_lost(&seen.transport)),
            read_tool: read_tool.as_ref().map(|name| self.tool_name(name)),
            alternatives: alternative.as_slice(),
            payload: typed.and_then(|(seen, ..)| seen.payload),
            is_cut_by_caller: typed.is_some_and(|(seen, ..)| seen.is_cut_by_caller),
            is_retried: handling.disposition == Disposition::RetrySilently,
            now,
        };
        let shut = answer.trip.as_ref().map(|refusal| shut_by(permit, &refusal.trip, now));
        let mut facts = Vec::new();
        let heard = self.sessions.with(permit.session, now, |run| {
            shut.into_iter().for_each(|shut| run.told_shut(shut));
            run.report(permit.seq, &came, &mut facts)
        });
        let heard = heard.flatten();
        self.publish(facts, now);
        heard.map(|Heard { told, steered, call }| Heard { told: self.numbered(told, steered, now), steered, call })
    }

    /// The same word with the number of the event that tells of it.
    fn numbered(&self, told: Told, steered: Option<SteerThenHalt>, now: Timestamp) -> Told {
        match told {
            Told::Nothing => Told::Nothing,
            Told::Steer(trip) => Told::Steer(self.told_by_guard(trip, now, Happening::Steered)),
            Told::Trip(trip) => Told::Trip(self.told_by_guard(trip, now, |told| Happening::Halted { told, steered })),
        }
    }

    /// Hands in the event of what a session's guard tells; the trip with its number.
    fn told_by_guard(
        &self,
        mut trip: Box<Trip>,
        now: Timestamp,
        what: impl FnOnce(ToldEvent) -> Happening,
    ) -> Box<Trip> {
        let mut events = vec![session_event(&trip, now, what)];
        self.log.number(&mut events);
        trip.event_seq = events.first().map_or(0, |event| event.seq);
        self.hand_in(events);
        trip
    }
}

/// What a session's guard told, as an event. Its scope is the tool's target; a session's name is never told.
fn session_event(trip: &Trip, now: Timestamp, what: impl FnOnce(ToldEvent) -> Happening) -> Event {
    let row = trip.contract.row;
    let told = ToldEvent {
        signal: row.signal,
        action: row.action,
        urgency: row.urgency,
        phase: Phase::Closed,
        observed: trip.contract.observed.clone(),
        threshold: trip.contract.threshold.clone(),
    };
    let breaker: Code = trip.contract.breaker.clone();
    let scope = format!("target:{}", trip.contract.target.as_str()).into();
    Event { seq: 0, at: now, breaker, scope, scope_id: 0, kind: None, generation: trip.generation, what: what(told) }
}
