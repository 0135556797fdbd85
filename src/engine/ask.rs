//! May this call be made? The way of an ask: from a call's names to its breaker, through the making of a target's place
//! where it is new, to an answer that a repeated ask gets again.

use std::sync::Arc;

use super::calls::{Asked, CallRecord};
use super::idle::Tenant;
use super::listener::Listener;
use super::places::Full;
use super::registry::{Current, Shard, code_id};
use super::sync::Ordering;
use super::tally::Tally;
use super::{AskedAs, Call, Decision, Engine, Granted, Peeked};
use crate::domain::breaker::routes::Route;
use crate::domain::breaker::scope::CallNames;
use crate::domain::breaker::{Admission, Ask, Breaker, Moment};
use crate::domain::contract::Trip;
use crate::domain::event::Events;
use crate::domain::ids::{Code, HashTag, TargetName};
use crate::domain::time::Timestamp;
use crate::domain::verdict::Verdict;

/// A trip without a deadline is answered again for this long to a repeated ask.
const REPEAT_TRIP_FOR_MS: u64 = 1_000;

/// What is written down of an answer, so that it can be given again.
fn record_of(decision: &Decision, now: Timestamp) -> CallRecord {
    match decision {
        Decision::Permit { granted, .. } => CallRecord::Permitted(granted.clone()),
        Decision::Trip(refusal) => {
            let until = refusal.trip.retry_at.unwrap_or(now.plus_ms(REPEAT_TRIP_FOR_MS));
            CallRecord::Refused { trip: Arc::clone(&refusal.trip), until }
        }
    }
}

/// What is remembered of a call that names itself.
fn asked_of(call: &Call<'_>) -> Option<Arc<Asked>> {
    let has_name = !call.id.session.is_empty() && !call.id.call.is_empty();
    let AskedAs { tool_name, effect, is_idempotent, .. } = call.asked_as;
    has_name.then(|| Arc::new(Asked { tool_name: tool_name.into(), effect, is_idempotent, attempt: call.id.attempt }))
}

/// A target that asks for its scope.
struct Newcomer<'a> {
    id: u64,
    target: &'a TargetName,
    names: CallNames,
}

impl Engine {
    /// May this call be made? Safe to repeat for one call id.
    #[must_use]
    pub fn admit(&self, call: &Call<'_>, now: Timestamp) -> Decision {
        self.with_withdrawn(self.decide_once(call, now), (call.id.caller, call.id.session), now)
    }

    fn decide_once(&self, call: &Call<'_>, now: Timestamp) -> Decision {
        let Some(key) = self.call_key(&call.id) else { return self.decide_anew(call, now) };
        let _turn = self.calls.turn(key); // asked twice at once, the second waits for the answer of the first
        let known = self.calls.get(key).and_then(|known| self.repeated(known, Listener::of(call), now));
        known.unwrap_or_else(|| {
            let decision = self.decide_anew(call, now);
            self.calls.put(key, record_of(&decision, now));
            decision
        })
    }

    /// The answer that a call got before, where it still holds.
    fn repeated(&self, known: CallRecord, to: Listener<'_>, now: Timestamp) -> Option<Decision> {
        match known {
            CallRecord::Permitted(granted) if now < granted.expires_at => {
                let expires_in_ms = granted.expires_at.since_ms(now);
                let shadow = granted.shadow.clone().map(|trip| Box::new(self.told(trip, to, now)));
                Some(Decision::Permit { granted, expires_in_ms, shadow })
            }
            CallRecord::Refused { trip, until } if now < until && names_a_callable(&self.current(), &trip, now) => {
                Some(Decision::Trip(Box::new(self.told(trip, to, now))))
            }
            CallRecord::Permitted(_) | CallRecord::Refused { .. } | CallRecord::Reported(_) => None,
        }
    }

    fn decide_anew(&self, call: &Call<'_>, now: Timestamp) -> Decision {
        if call.id.session.is_empty() {
            self.decide(call, self.next_seq(), now)
        } else {
            self.decide_guarded(call, now)
        }
    }

    /// The number of the next permit.
    pub(super) fn next_seq(&self) -> u64 {
        self.next_permit.fetch_add(1, Ordering::Relaxed)
    }

    /// Asks the breaker alone; the permit, if any, gets the number `seq`.
    pub(super) fn decide(&self, call: &Call<'_>, seq: u64, now: Timestamp) -> Decision {
        let mut events = Vec::new();
        let (mut admission, code) = self.ask(call, seq, now, &mut events);
        for trip in admission.trips_mut() {
            let at = usize::try_from(trip.event_seq).unwrap_or(usize::MAX);
            trip.event_seq = events.get(at).map_or(0, |event| event.seq);
        }
        self.hand_in(events);
        match admission.verdict {
            Verdict::Refuse(trip) => Decision::Trip(Box::new(self.told(Arc::from(trip), Listener::of(call), now))),
            Verdict::Proceed(permit) => {
                let shadow: Option<Arc<Trip>> = admission.shadow.map(Arc::from);
                let granted = Granted {
                    token: permit.seal(&self.identity.permits),
                    is_probe: permit.is_probe,
                    expires_at: now.plus_ms(admission.expires_in_ms),
                    breaker: code,
                    shadow: shadow.clone(),
                    asked: asked_of(call),
                    notices: None,
                };
                let shadow = shadow.map(|trip| Box::new(self.told(trip, Listener::of(call), now)));
                Decision::Permit { granted, expires_in_ms: admission.expires_in_ms, shadow }
            }
        }
    }

    /// Asks the breaker of a target; makes the target's scope where it has none, or the overflow scope where there is
    /// no place for it.
    fn ask(&self, call: &Call<'_>, seq: u64, now: Timestamp, events: &mut Events) -> (Admission, Code) {
        let names = self.names(call);
        let id = self.registry.breaker_of(names.target, call.target, &self.identity.names);
        let known = self.admit_known(id, call, names, seq, (now, &mut *events));
        if let Some(answer) = known {
            return answer;
        }
        if self.take_place(names.caller, id, now, events) {
            let made = self.registry.with(id, |shard| {
                let route = shard.current.routes.route(call.target.as_str());
                // A reload may have moved the target since it was looked up: then it overflows for this once.
                (code_id(&route.code, &self.identity.names) == id)
                    .then(|| self.settle_in(shard, &route, Newcomer { id, target: call.target, names }, now))
            });
            if made != Some(true) {
                self.places.give_back(names.caller); // moved, or made by another thread meanwhile
            }
            if let Some(answer) = self.admit_known(id, call, names, seq, (now, &mut *events)) {
                return answer;
            }
        }
        self.ask_overflow(call, names, seq, now, events)
    }

    /// Asks the breaker of a target that has its scope there.
    fn admit_known(
        &self,
        id: u64,
        call: &Call<'_>,
        names: CallNames,
        seq: u64,
        (now, events): (Timestamp, &mut Events),
    ) -> Option<(Admission, Code)> {
        let answer = self.enter_counting(id, now, events, |breaker, moment, out, tally| {
            breaker.has_target(names.target).then(|| self.admit_at(breaker, call, names, seq, (moment, out, tally)))
        });
        answer.flatten()
    }

    /// The breaker that a target without a place shares: its own where one is configured, else one for all.
    fn ask_overflow(
        &self,
        call: &Call<'_>,
        names: CallNames,
        seq: u64,
        now: Timestamp,
        events: &mut Events,
    ) -> (Admission, Code) {
        let overflow = &self.overflow;
        let current = self.current();
        let mut route = current.routes.route(call.target.as_str());
        if route.policy.policy.code.is_none() {
            route = Route {
                code: Code::from_target(overflow.as_str()),
                policy: Arc::clone(current.routes.default_policy()),
            };
        }
        let id = code_id(&route.code, &self.identity.names);
        let target = self.identity.names.hash(HashTag::Target, overflow.as_str().as_bytes());
        let names = CallNames { target, ..names };
        loop {
            let answer = self.registry.with(id, |shard| {
                shard.make(id, &route);
                let (breaker, current, tally) = shard.enter(id, now, events)?;
                // Told once a second at most: a flood must not drown what else happens.
                let is_news = breaker.last_seen(target).is_none_or(|at| now.since_ms(at) >= 1_000);
                breaker.add_target(target, overflow.clone(), 0, now);
                Some(self.work_on(breaker, current, now, events, |breaker, moment, out| {
                    if is_news {
                        out.push(breaker.overflowed(call.target, now));
                    }
                    self.admit_at(breaker, call, names, seq, (moment, out, tally))
                }))
            });
            if let Some(answer) = answer {
                return answer; // INVARIANT: made under the same lock, so that it is there at the first round
            }
        }
    }

    fn admit_at(
        &self,
        breaker: &mut Breaker,
        call: &Call<'_>,
        names: CallNames,
        seq: u64,
        (moment, out, tally): (&Moment<'_>, &mut Events, &mut Tally),
    ) -> (Admission, Code) {
        let ask = Ask {
            names,
            target: call.target,
            arguments_bytes: call.arguments_bytes,
            session: self.session_key(call.id.caller, call.id.session),
            call: self.call_key(&call.id).unwrap_or(0),
            seq,
        };
        let admission = breaker.admit(&ask, moment, out);
        tally.admitted(&admission, moment.permit_for_ms);
        (admission, breaker.code.clone())
    }

    /// Puts a target in. False where it is there already.
    fn settle_in(&self, shard: &mut Shard, route: &Route, newcomer: Newcomer<'_>, now: Timestamp) -> bool {
        let Newcomer { id, target, names } = newcomer;
        shard.make(id, route);
        let mut none = Vec::new(); // a breaker that was just made has nothing to tell
        let is_new = shard.enter(id, now, &mut none).is_some_and(|(breaker, ..)| {
            let is_new = !breaker.has_target(names.target);
            breaker.add_target(names.target, target.clone(), names.caller, now);
            is_new
        });
        if is_new {
            shard.moved_in(Tenant { breaker: id, target: names.target }, names.caller, now);
        }
        is_new
    }

    /// Takes a place for a target, by the eviction of an idle one where all are taken. False where nothing can go.
    fn take_place(&self, caller: u64, id: u64, now: Timestamp, events: &mut Events) -> bool {
        let of_caller = match self.places.take(caller) {
            Ok(()) => return true,
            Err(Full::Caller) => Some(caller),
            Err(Full::All) => None,
        };
        let home = self.registry.place_of(id);
        let shards = self.registry.shards();
        for nth in 0..shards {
            let evicted = self.registry.with_nth((home + nth) % shards, |shard| {
                let maker = shard.evict(of_caller, now, events);
                self.number(events);
                maker
            });
            if let Some(Some(maker)) = evicted {
                self.places.give_back(maker);
                return self.places.take(caller).is_ok();
            }
        }
        false
    }

    /// Whether a target can be called now. Takes nothing and makes nothing.
    #[must_use]
    pub fn peek(&self, call: &Call<'_>, now: Timestamp) -> Peeked {
        match self.peeked(call, now) {
            Verdict::Refuse(trip) => Peeked::Trip(Box::new(self.told(Arc::from(trip), Listener::of(call), now))),
            Verdict::Proceed(is_probe) => Peeked::Callable { breaker: self.code_of(call.target), is_probe },
        }
    }

    /// What the breaker of a target would say now, and whether the call would be a probe.
    pub(super) fn peeked(&self, call: &Call<'_>, now: Timestamp) -> Verdict<bool> {
        self.look(call, self.names(call), now).unwrap_or(Verdict::Proceed(false))
    }

    /// What the breaker of a target would say to a call; none where the target has no breaker yet.
    pub(super) fn look(&self, call: &Call<'_>, names: CallNames, now: Timestamp) -> Option<Verdict<bool>> {
        let session = self.session_key(call.id.caller, call.id.session);
        let (target, arguments_bytes) = (call.target, call.arguments_bytes);
        self.look_as(&Ask { names, target, arguments_bytes, session, call: 0, seq: 0 }, now)
    }

    /// The same for a call of which only what its breaker is asked is known.
    pub(super) fn look_as(&self, ask: &Ask<'_>, now: Timestamp) -> Option<Verdict<bool>> {
        let id = self.registry.breaker_of(ask.names.target, ask.target, &self.identity.names);
        let mut events = Vec::new();
        let verdict = self.enter(id, now, &mut events, |breaker, moment, out| breaker.peek(ask, moment, out));
        self.hand_in(events);
        verdict
    }

    /// When a target answered well last.
    pub(super) fn last_good(&self, target: &TargetName, now: Timestamp) -> Option<Timestamp> {
        let hash = self.identity.names.hash(HashTag::Target, target.as_str().as_bytes());
        let id = self.registry.breaker_of(hash, target, &self.identity.names);
        let mut events = Vec::new();
        let good = self.enter(id, now, &mut events, |breaker, _, _| breaker.last_good(hash));
        self.hand_in(events);
        good.flatten()
    }

    fn code_of(&self, target: &TargetName) -> Code {
        self.current().routes.route(target.as_str()).code
    }
}

/// Whether the alternative that a trip names, if any, can be called now; else it is decided anew, which counts nothing.
fn names_a_callable(current: &Current, trip: &Trip, now: Timestamp) -> bool {
    let target = trip.contract.fallback.as_ref().and_then(|fallback| fallback.target.as_ref());
    let watch = target.and_then(|target| current.routes.watched.iter().position(|watched| watched == target));
    watch.is_none_or(|watch| current.is_admissible(watch, now))
}
