//! L1: many breakers behind short locks. Decides nothing itself: it finds the machine that owns the state, asks it, and
//! hands on what came out. Knows no runtime, wire or store.

mod anew;
mod ask;
pub mod behaviour;
mod calls;
pub mod clock;
mod exchange;
pub mod failure;
mod guard;
mod idle;
pub mod keep;
mod listener;
pub mod log;
mod marks;
mod notices;
pub mod operate;
mod places;
pub mod ports;
mod registry;
mod report;
pub mod review;
mod sessions;
pub(crate) mod sync;
pub mod tally;
mod withdraw;

use std::sync::Arc;

use self::behaviour::Sums;
use self::calls::Calls;
pub use self::calls::Granted;
use self::clock::Clock;
pub use self::exchange::{
    Arguments, AskedAs, Call, CallId, Decision, Handed, Peeked, Refusal, Report, ReportAnswer, Reported, Said, Seen,
    StepOfCall,
};
use self::failure::Attempts;
use self::keep::Marks;
use self::listener::{Listener, fitting};
use self::log::EventLog;
use self::places::Places;
use self::registry::{Current, Registry};
use self::sessions::Sessions;
use self::sync::{AtomicU64, AtomicUsize, Mutex, Ordering};
use self::tally::{ResultTally, Tally};
use crate::domain::breaker::routes::Routes;
use crate::domain::breaker::scope::CallNames;
use crate::domain::breaker::{Breaker, Moment};
use crate::domain::contract::{ContractSettings, Trip};
use crate::domain::document::canonical;
use crate::domain::event::{Event, Events};
use crate::domain::failure::binding::FailureRules;
use crate::domain::ids::{HashKey, HashTag, TargetName};
use crate::domain::observation::custom::CustomFormat;
use crate::domain::session::policy::SessionPolicy;
use crate::domain::session::review::keywords::Keywords;
use crate::domain::time::Timestamp;
use crate::domain::tool::Tools;

/// How much the engine keeps (spec 2.6). Every map is bounded by one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Targets over all breakers; also scopes that are not targets.
    pub targets: usize,
    /// Targets that one caller may have made.
    pub targets_per_caller: usize,
    /// Calls whose answer is remembered by their ids.
    pub calls: usize,
    /// Sessions at once.
    pub sessions: usize,
    /// Events in memory, in bytes.
    pub events_bytes: usize,
    /// Failed attempts of steps that are kept.
    pub attempts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            targets: 100_000,
            targets_per_caller: 10_000,
            calls: 100_000,
            sessions: 50_000,
            events_bytes: 8 << 20,
            attempts: 10_000,
        }
    }
}

/// What a configuration gives the engine.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// The breakers.
    pub routes: Routes,
    /// The wording of contracts.
    pub contract: ContractSettings,
    /// How long an ordinary permit lives, in milliseconds.
    pub permit_for_ms: u64,
    /// How much is kept.
    pub limits: Limits,
    /// How results are read.
    pub reading: Reading,
    /// What sessions are held to.
    pub session: SessionSettings,
    /// What may follow a failed step.
    pub failure: FailureRules,
}

/// What every session is held to, unless it was opened with a policy of its own.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    /// The gates.
    pub policy: Arc<SessionPolicy>,
    /// The words by which answers are read.
    pub keywords: Arc<Keywords>,
    /// How long a session is remembered of which nothing is heard, in milliseconds.
    pub idle_for_ms: u64,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self { policy: Arc::new(SessionPolicy::default()), keywords: Keywords::shared(), idle_for_ms: 60 * 60_000 }
    }
}

/// What is known of tools, and the formats that an operator taught.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The tools.
    pub tools: Tools,
    /// The formats.
    pub formats: Vec<Arc<CustomFormat>>,
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

/// All breakers of one process.
pub struct Engine {
    clock: Arc<dyn Clock>,
    identity: Identity,
    registry: Registry,
    places: Places,
    calls: Calls,
    sessions: Sessions,
    attempts: Attempts,
    sums: Sums,
    results: ResultTally,
    log: Arc<EventLog>,
    marks: Arc<Marks>,
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
        let (limits, session_idle_for_ms) = (settings.limits, settings.session.idle_for_ms);
        let current = Arc::new(Current::new(settings, &identity.names));
        let marks = Arc::new(Marks::default());
        Ok(Self {
            clock,
            identity,
            registry: Registry::new(&current, limits.targets),
            places: Places::new(limits.targets, limits.targets_per_caller),
            calls: Calls::new(limits.calls),
            sessions: Sessions::new(limits.sessions, session_idle_for_ms, Arc::clone(&marks)),
            attempts: Attempts::new(limits.attempts),
            sums: Sums::default(),
            results: ResultTally::default(),
            log: Arc::new(EventLog::new(limits.events_bytes)),
            marks,
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

    /// A number that was not given before in this life, to tell things apart.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.next_seq()
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

    /// Works on a breaker that is there.
    fn enter<R>(
        &self,
        id: u64,
        now: Timestamp,
        events: &mut Events,
        work: impl FnOnce(&mut Breaker, &Moment<'_>, &mut Events) -> R,
    ) -> Option<R> {
        self.enter_counting(id, now, events, |breaker, moment, out, _| work(breaker, moment, out))
    }

    /// The same, beside the counts of its shard.
    fn enter_counting<R>(
        &self,
        id: u64,
        now: Timestamp,
        events: &mut Events,
        work: impl FnOnce(&mut Breaker, &Moment<'_>, &mut Events, &mut Tally) -> R,
    ) -> Option<R> {
        self.registry.with(id, |shard| {
            let (breaker, current, tally) = shard.enter(id, now, events)?;
            Some(self.work_on(breaker, current, now, events, |breaker, moment, out| work(breaker, moment, out, tally)))
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

    /// The refusal as it reads now, to whom it is told. Never called under a lock: it looks at the session.
    fn told(&self, trip: Arc<Trip>, to: Listener<'_>, now: Timestamp) -> Refusal {
        let current = self.current();
        let wall = self.clock.wall();
        let fields = trip.contract.fields(now, wall);
        let wording = self.wording_of(to, &trip.contract.breaker, &current.contract.wordings, now);
        let wording = fitting(wording, &fields, &current.contract);
        let rendered = fields.render(&wording, current.contract.budget_bytes);
        if rendered.overran {
            self.overruns.fetch_add(1, Ordering::Relaxed);
        }
        Refusal { trip, fields, rendered, wording, now, wall, withdraw: Vec::new() }
    }

    fn current(&self) -> Arc<Current> {
        Arc::clone(&self.current.lock())
    }

    fn names(&self, call: &Call<'_>) -> CallNames {
        let arguments = match call.arguments {
            _ if !call.target_is_tool => 0,
            Arguments::Unknown => 0,
            Arguments::Bytes(bytes) => self.identity.names.hash(HashTag::Arguments, &canonical(bytes)),
            Arguments::Digest(bytes) => self.identity.names.hash(HashTag::Arguments, bytes),
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

/// Spreads a counter evenly over 64 bits, for jitter.
const fn spread(counter: u64) -> u64 {
    let mixed = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
