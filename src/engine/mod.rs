//! L1: many breakers behind short locks. Decides nothing itself: it finds the machine that owns the state, asks it, and
//! hands on what came out. Knows no runtime, wire or store.

mod calls;
pub mod clock;
mod idle;
pub mod log;
pub mod operate;
mod places;
mod registry;
mod sync;

use std::sync::Arc;

use self::calls::{CallRecord, Calls};
pub use self::calls::Granted;
use self::clock::Clock;
use self::idle::Tenant;
use self::log::EventLog;
use self::places::{Full, Places};
use self::registry::{Current, Registry, Shard, code_id};
use self::sync::{AtomicU64, AtomicUsize, Mutex, Ordering};
use crate::domain::breaker::permit::Permit;
use crate::domain::breaker::routes::{Route, Routes};
use crate::domain::breaker::scope::CallNames;
use crate::domain::breaker::{Acknowledgement, Admission, Ask, Breaker, Moment, Receipt};
use crate::domain::contract::render::Rendered;
use crate::domain::contract::{ContractSettings, Fields, Trip, Variant};
use crate::domain::event::{Event, Events};
use crate::domain::ids::{Code, HashKey, HashTag, TargetName};
use crate::domain::observation::CallResult;
use crate::domain::signal::Phase;
use crate::domain::time::{Timestamp, WallClock};
use crate::domain::verdict::Verdict;

/// How much the engine keeps (spec 2.6). Every map is bounded by one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Targets over all breakers; also scopes that are not targets.
    pub targets: usize,
    /// Targets that one caller may have made.
    pub targets_per_caller: usize,
    /// Calls whose answer is remembered by their ids.
    pub calls: usize,
    /// Events in memory, in bytes.
    pub events_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { targets: 100_000, targets_per_caller: 10_000, calls: 100_000, events_bytes: 8 << 20 }
    }
}

/// What a configuration gives the engine.
#[derive(Debug)]
pub struct EngineSettings {
    /// The breakers.
    pub routes: Routes,
    /// The wording of contracts.
    pub contract: ContractSettings,
    /// How long an ordinary permit lives, in milliseconds.
    pub permit_for_ms: u64,
    /// How much is kept.
    pub limits: Limits,
}

/// What makes one life of the process different from all others.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// The number of this life.
    pub incarnation: u64,
    /// Names are hashed with it.
    pub names: HashKey,
    /// Permits are sealed with it.
    pub permits: HashKey,
}

/// The arguments of a call, as far as the caller shows them. Hashed on arrival, never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments<'a> {
    /// Not shown.
    Unknown,
    /// As sent.
    Bytes(
        /// JSON.
        &'a [u8],
    ),
    /// Hashed by the caller.
    Digest(
        /// The hash.
        &'a [u8],
    ),
}

/// How a call names itself, for repeats and for reports without a permit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallId<'a> {
    /// Who calls.
    pub caller: &'a str,
    /// The agent run.
    pub session: &'a str,
    /// The call in it.
    pub call: &'a str,
    /// From 1.
    pub attempt: u32,
}

/// One call that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What is called.
    pub target: &'a TargetName,
    /// Whether that is no more than the tool's name, so that its arguments tell things apart.
    pub target_is_tool: bool,
    /// Its own name.
    pub id: CallId<'a>,
    /// Its arguments.
    pub arguments: Arguments<'a>,
    /// Their size, where known.
    pub arguments_bytes: Option<u32>,
    /// The opaque name of the credential; empty for none.
    pub credential: &'a str,
}

/// What a report is of.
#[derive(Clone, Copy, Debug)]
pub enum Reported<'a> {
    /// A permit.
    Permit(
        /// The bytes as handed out.
        &'a [u8],
    ),
    /// A call, by its own name.
    Call(
        /// Its name.
        CallId<'a>,
    ),
}

/// A refusal as it is told.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Everything that programs need.
    pub trip: Arc<Trip>,
    /// The nine fields at this moment.
    pub fields: Fields,
    /// The text for the model.
    pub rendered: Rendered,
    /// Its wording.
    pub variant: Variant,
    /// The moment, for relative times.
    pub now: Timestamp,
    /// The wall clock, for absolute ones.
    pub wall: WallClock,
}

/// The answer to an ask.
#[derive(Clone, Debug)]
pub enum Decision {
    /// The call may be made.
    Permit {
        /// The permit.
        granted: Granted,
        /// How long it lives from now, in milliseconds.
        expires_in_ms: u64,
        /// What a circuit in shadow would have said.
        shadow: Option<Refusal>,
    },
    /// It may not.
    Trip(
        /// Why.
        Refusal,
    ),
}

/// The answer to a report.
#[derive(Clone, Debug)]
pub struct ReportAnswer {
    /// What became of it.
    pub acknowledgement: Acknowledgement,
    /// The strictest phase after it.
    pub phase_after: Phase,
    /// What the model gets instead of the raw result.
    pub trip: Option<Refusal>,
}

/// What a look at a target finds.
#[derive(Clone, Debug)]
pub enum Peeked {
    /// It can be called.
    Callable {
        /// The breaker's code.
        breaker: Code,
        /// The call would be a probe.
        is_probe: bool,
    },
    /// It cannot.
    Trip(
        /// Why.
        Refusal,
    ),
}

/// A trip without a deadline is answered again for this long to a repeated ask.
const REPEAT_TRIP_FOR_MS: u64 = 1_000;

/// All breakers of one process.
pub struct Engine {
    clock: Arc<dyn Clock>,
    identity: Identity,
    registry: Registry,
    places: Places,
    calls: Calls,
    log: Arc<EventLog>,
    /// Read where no shard is locked: by operators and reloads.
    current: Mutex<Arc<Current>>,
    next_permit: AtomicU64,
    /// Scopes that are not targets, over all breakers.
    others: AtomicUsize,
    overruns: AtomicU64,
    overflow: TargetName,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("incarnation", &self.identity.incarnation).finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine without any circuit.
    ///
    /// # Errors
    /// Never in practice: only where the name of the overflow target were no name.
    pub fn new(
        settings: EngineSettings,
        identity: Identity,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, crate::domain::ids::InvalidTarget> {
        let EngineSettings { routes, contract, permit_for_ms, limits } = settings;
        let current = Arc::new(Current::new(routes, contract, permit_for_ms, &identity.names));
        Ok(Self {
            clock,
            identity,
            registry: Registry::new(&current, limits.targets),
            places: Places::new(limits.targets, limits.targets_per_caller),
            calls: Calls::new(limits.calls),
            log: Arc::new(EventLog::new(limits.events_bytes)),
            current: Mutex::new(current),
            next_permit: AtomicU64::new(1),
            others: AtomicUsize::new(0),
            overruns: AtomicU64::new(0),
            overflow: TargetName::parse("overflow")?,
        })
    }

    /// The events of this life.
    #[must_use]
    pub fn log(&self) -> &Arc<EventLog> {
        &self.log
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The number of this life.
    #[must_use]
    pub fn incarnation(&self) -> u64 {
        self.identity.incarnation
    }

    /// Contracts that overran their budget: a bug, as the budget is proved at load.
    #[must_use]
    pub fn overruns(&self) -> u64 {
        self.overruns.load(Ordering::Relaxed)
    }

    /// Targets that live.
    #[must_use]
    pub fn targets(&self) -> usize {
        self.places.taken()
    }

    /// May this call be made? Safe to repeat for one call id.
    #[must_use]
    pub fn admit(&self, call: &Call<'_>, now: Timestamp) -> Decision {
        let call_key = self.call_key(&call.id);
        if let Some(key) = call_key
            && let Some(known) = self.calls.get(key)
            && let Some(decision) = self.repeated(known, now)
        {
            return decision;
        }
        let decision = self.decide(call, now);
        match call_key {
            Some(key) => self.remember(key, decision, now),
            None => decision,
        }
    }

    /// The answer that a call got before, where it still holds.
    fn repeated(&self, known: CallRecord, now: Timestamp) -> Option<Decision> {
        match known {
            CallRecord::Permitted(granted) if now < granted.expires_at => {
                let expires_in_ms = granted.expires_at.since_ms(now);
                let shadow = granted.shadow.clone().map(|trip| self.told(trip, now));
                Some(Decision::Permit { granted, expires_in_ms, shadow })
            }
            CallRecord::Refused { trip, until } if now < until => Some(Decision::Trip(self.told(trip, now))),
            CallRecord::Permitted(_) | CallRecord::Refused { .. } | CallRecord::Reported(_) => None,
        }
    }

    /// Writes an answer down. Where another thread answered the same call meanwhile, its answer holds and ours is taken
    /// back.
    fn remember(&self, key: u64, decision: Decision, now: Timestamp) -> Decision {
        let record = match &decision {
            Decision::Permit { granted, .. } => CallRecord::Permitted(granted.clone()),
            Decision::Trip(refusal) => {
                let until = refusal.trip.retry_at.unwrap_or(now.plus_ms(REPEAT_TRIP_FOR_MS));
                CallRecord::Refused { trip: Arc::clone(&refusal.trip), until }
            }
        };
        let holds = |known: &CallRecord| match known {
            CallRecord::Permitted(granted) => now < granted.expires_at,
            CallRecord::Refused { until, .. } => now < *until,
            CallRecord::Reported(_) => false,
        };
        let Some(known) = self.calls.put(key, record, |known| !holds(known)) else { return decision };
        if let Decision::Permit { granted, .. } = &decision
            && let Some(permit) = Permit::open(&granted.token, &self.identity.permits)
        {
            self.enter(permit.breaker, now, &mut vec![], |breaker, _, _| breaker.give_back(&permit));
        }
        self.repeated(known, now).unwrap_or(decision)
    }

    fn decide(&self, call: &Call<'_>, now: Timestamp) -> Decision {
        let mut events = Vec::new();
        let (mut admission, code) = self.ask(call, now, &mut events);
        for trip in admission.trips_mut() {
            let at = usize::try_from(trip.event_seq).unwrap_or(usize::MAX);
            trip.event_seq = events.get(at).map_or(0, |event| event.seq);
        }
        self.log.hand_in(events);
        match admission.verdict {
            Verdict::Refuse(trip) => Decision::Trip(self.told(Arc::from(trip), now)),
            Verdict::Proceed(permit) => {
                let shadow: Option<Arc<Trip>> = admission.shadow.map(Arc::from);
                let granted = Granted {
                    token: permit.seal(&self.identity.permits).into(),
                    is_probe: permit.is_probe,
                    expires_at: now.plus_ms(admission.expires_in_ms),
                    breaker: code,
                    shadow: shadow.clone(),
                };
                let shadow = shadow.map(|trip| self.told(trip, now));
                Decision::Permit { granted, expires_in_ms: admission.expires_in_ms, shadow }
            }
        }
    }

    /// Asks the breaker of a target; makes the target's scope where it has none, or the overflow scope where there is
    /// no place for it.
    fn ask(&self, call: &Call<'_>, now: Timestamp, events: &mut Events) -> (Admission, Code) {
        let names = self.names(call);
        let id = self.registry.breaker_of(names.target, call.target, &self.identity.names);
        let known = self.enter(id, now, events, |breaker, moment, out| {
            breaker.has_target(names.target).then(|| self.admit_at(breaker, call, names, moment, out))
        });
        if let Some(Some(answer)) = known {
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
            let answer = self.enter(id, now, events, |breaker, moment, out| {
                breaker.has_target(names.target).then(|| self.admit_at(breaker, call, names, moment, out))
            });
            if let Some(Some(answer)) = answer {
                return answer;
            }
        }
        self.ask_overflow(call, names, now, events)
    }

    /// The breaker that a target without a place shares: its own where one is configured, else one for all.
    fn ask_overflow(&self, call: &Call<'_>, names: CallNames, now: Timestamp, events: &mut Events) -> (Admission, Code) {
        let overflow = &self.overflow;
        let current = self.current();
        let mut route = current.routes.route(call.target.as_str());
        if route.policy.policy.code.is_none() {
            route = Route { code: Code::from_target(overflow.as_str()), policy: Arc::clone(current.routes.default_policy()) };
        }
        let id = code_id(&route.code, &self.identity.names);
        let target = self.identity.names.hash(HashTag::Target, overflow.as_str().as_bytes());
        let names = CallNames { target, ..names };
        loop {
            let answer = self.registry.with(id, |shard| {
                shard.make(id, &route);
                let (breaker, current) = shard.enter(id, now, events)?;
                breaker.add_target(target, overflow.clone(), 0, now);
                Some(self.work_on(breaker, current, now, events, |breaker, moment, out| {
                    out.push(breaker.overflowed(call.target, now));
                    self.admit_at(breaker, call, names, moment, out)
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
        moment: &Moment<'_>,
        out: &mut Events,
    ) -> (Admission, Code) {
        let ask = Ask {
            names,
            target: call.target,
            arguments_bytes: call.arguments_bytes,
            session: self.hash(HashTag::Session, call.id.session),
            call: self.call_key(&call.id).unwrap_or(0),
            seq: self.next_permit.fetch_add(1, Ordering::Relaxed),
        };
        (breaker.admit(&ask, moment, out), breaker.code.clone())
    }

    /// Puts a target in. False where it is there already.
    fn settle_in(&self, shard: &mut Shard, route: &Route, newcomer: Newcomer<'_>, now: Timestamp) -> bool {
        let Newcomer { id, target, names } = newcomer;
        shard.make(id, route);
        let mut none = Vec::new(); // a breaker that was just made has nothing to tell
        let is_new = shard.enter(id, now, &mut none).is_some_and(|(breaker, _)| {
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

    /// How a call went.
    #[must_use]
    pub fn report(&self, reported: Reported<'_>, result: &CallResult, now: Timestamp) -> ReportAnswer {
        let unknown = ReportAnswer { acknowledgement: Acknowledgement::Unknown, phase_after: Phase::Closed, trip: None };
        let token: Arc<[u8]> = match reported {
            Reported::Permit(token) => token.into(),
            Reported::Call(id) => match self.call_key(&id).and_then(|key| self.calls.get(key)) {
                Some(CallRecord::Permitted(granted) | CallRecord::Reported(granted)) => granted.token,
                Some(CallRecord::Refused { .. }) | None => return unknown,
            },
        };
        let Some(permit) = Permit::open(&token, &self.identity.permits) else { return unknown };
        let mut events = Vec::new();
        let receipt = self.enter(permit.breaker, now, &mut events, |breaker, moment, out| {
            breaker.report(&permit, result, moment, out)
        });
        if permit.call != 0 {
            self.calls.settle(permit.call);
        }
        let Some(Receipt { acknowledgement, phase_after, trip }) = receipt else { return unknown };
        let trip = trip.map(|mut trip| {
            let at = usize::try_from(trip.event_seq).unwrap_or(usize::MAX);
            trip.event_seq = events.get(at).map_or(0, |event| event.seq);
            self.told(Arc::from(trip), now)
        });
        self.log.hand_in(events);
        ReportAnswer { acknowledgement, phase_after, trip }
    }

    /// Whether a target can be called now. Takes nothing and makes nothing.
    #[must_use]
    pub fn peek(&self, call: &Call<'_>, now: Timestamp) -> Peeked {
        let names = self.names(call);
        let id = self.registry.breaker_of(names.target, call.target, &self.identity.names);
        let mut events = Vec::new();
        let verdict = self.enter(id, now, &mut events, |breaker, moment, out| {
            let session = self.hash(HashTag::Session, call.id.session);
            let ask = Ask { names, target: call.target, arguments_bytes: call.arguments_bytes, session, call: 0, seq: 0 };
            breaker.peek(&ask, moment, out)
        });
        self.log.hand_in(events);
        match verdict {
            Some(Verdict::Refuse(trip)) => Peeked::Trip(self.told(Arc::from(trip), now)),
            Some(Verdict::Proceed(is_probe)) => Peeked::Callable { breaker: self.code_of(call.target), is_probe },
            None => Peeked::Callable { breaker: self.code_of(call.target), is_probe: false },
        }
    }

    fn code_of(&self, target: &TargetName) -> Code {
        self.current().routes.route(target.as_str()).code
    }

    /// Works on a breaker that is there.
    fn enter<R>(
        &self,
        id: u64,
        now: Timestamp,
        events: &mut Events,
        work: impl FnOnce(&mut Breaker, &Moment<'_>, &mut Events) -> R,
    ) -> Option<R> {
        self.registry.with(id, |shard| {
            let (breaker, current) = shard.enter(id, now, events)?;
            Some(self.work_on(breaker, current, now, events, work))
        })
    }

    /// What every entry does around its work, while the shard is locked: the moment before it; numbers for the events
    /// and phases for the fallbacks after it.
    fn work_on<R>(
        &self,
        breaker: &mut Breaker,
        current: &Current,
        now: Timestamp,
        events: &mut Events,
        work: impl FnOnce(&mut Breaker, &Moment<'_>, &mut Events) -> R,
    ) -> R {
        let others = breaker.others_len();
        let is_admissible = |watch| current.is_admissible(watch, now);
        let moment = self.moment(current, now, &is_admissible);
        let answer = work(breaker, &moment, events);
        self.number(events);
        current.publish(breaker, now);
        match breaker.others_len().cmp(&others) {
            std::cmp::Ordering::Greater => self.others.fetch_add(breaker.others_len() - others, Ordering::Relaxed),
            std::cmp::Ordering::Less => self.others.fetch_sub(others - breaker.others_len(), Ordering::Relaxed),
            std::cmp::Ordering::Equal => 0,
        };
        answer
    }

    fn moment<'a>(&self, current: &Current, now: Timestamp, admissible: &'a dyn Fn(usize) -> bool) -> Moment<'a> {
        Moment {
            now,
            incarnation: self.identity.incarnation,
            permit_for_ms: current.permit_for_ms,
            dice: spread(self.next_permit.load(Ordering::Relaxed)),
            may_grow: self.others.load(Ordering::Relaxed) < self.places.limit(),
            tells_calls: self.log.wants_calls(),
            admissible,
        }
    }

    /// Gives the events that have none their numbers; called while the shard is locked.
    fn number(&self, events: &mut [Event]) {
        let first_new = events.iter().position(|event| event.seq == 0);
        if let Some(fresh) = first_new.and_then(|at| events.get_mut(at..)) {
            self.log.number(fresh);
        }
    }

    /// The refusal as it reads now.
    fn told(&self, trip: Arc<Trip>, now: Timestamp) -> Refusal {
        let current = self.current();
        let wall = self.clock.wall();
        let fields = trip.contract.fields(now, wall);
        let variant = current.contract.variant;
        let rendered = fields.render(variant, current.contract.budget_bytes);
        if rendered.overran {
            self.overruns.fetch_add(1, Ordering::Relaxed);
        }
        Refusal { trip, fields, rendered, variant, now, wall }
    }

    fn current(&self) -> Arc<Current> {
        Arc::clone(&self.current.lock())
    }

    fn names(&self, call: &Call<'_>) -> CallNames {
        let arguments = match call.arguments {
            _ if !call.target_is_tool => 0,
            Arguments::Unknown => 0,
            Arguments::Bytes(bytes) | Arguments::Digest(bytes) => self.identity.names.hash(HashTag::Arguments, bytes),
        };
        CallNames {
            target: self.identity.names.hash(HashTag::Target, call.target.as_str().as_bytes()),
            caller: self.hash(HashTag::Caller, call.id.caller),
            credential: self.hash(HashTag::Credential, call.credential),
            arguments,
        }
    }

    /// The hash of a name; 0 for an empty one.
    fn hash(&self, tag: HashTag, name: &str) -> u64 {
        if name.is_empty() { 0 } else { self.identity.names.hash(tag, name.as_bytes()) }
    }

    /// The key of a call that names itself: its caller's session, the call in it and the attempt.
    fn call_key(&self, id: &CallId<'_>) -> Option<u64> {
        if id.session.is_empty() || id.call.is_empty() {
            return None;
        }
        let mut bytes = Vec::with_capacity(id.caller.len() + id.session.len() + id.call.len() + 12);
        for part in [id.caller, id.session, id.call] {
            bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes.extend_from_slice(&id.attempt.max(1).to_le_bytes());
        Some(self.identity.names.hash(HashTag::Call, &bytes))
    }
}

/// A target that asks for its scope.
struct Newcomer<'a> {
    id: u64,
    target: &'a TargetName,
    names: CallNames,
}

/// Spreads a counter evenly over 64 bits, for jitter.
const fn spread(counter: u64) -> u64 {
    let mixed = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
