//! Where the breakers live: shards under short locks, picked by the hash of the breaker's code, so that one lock covers
//! everything that one decision looks at. Never two of these locks at once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use slab::Slab;

use super::idle::{IdleQueue, Look, Tenant};
use super::sync::{AtomicU64, Mutex, Ordering};
use super::tally::Tally;
use super::{EngineSettings, Reading};
use crate::domain::breaker::Breaker;
use crate::domain::breaker::routes::{Route, Routes};
use crate::domain::contract::ContractSettings;
use crate::domain::event::Events;
use crate::domain::failure::binding::FailureRules;
use crate::domain::ids::{Code, HashKey, HashTag, TargetName};
use crate::domain::session::policy::SessionPolicy;
use crate::domain::session::review::keywords::Keywords;
use crate::domain::time::Timestamp;

/// Passes a key through that is a keyed hash already.
#[derive(Default)]
pub(crate) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // INVARIANT: keys are u64; anything else still hashes, if not well.
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

pub(crate) type ByHash<V> = HashMap<u64, V, BuildHasherDefault<Hashed>>;

/// One configuration in force, with the phases that fallbacks are judged by.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) routes: Routes,
    pub(crate) contract: ContractSettings,
    pub(crate) permit_for_ms: u64,
    pub(crate) reading: Reading,
    pub(crate) session_policy: Arc<SessionPolicy>,
    pub(crate) keywords: Arc<Keywords>,
    pub(crate) failure: FailureRules,
    /// For each watched target, its hashes and when it can be called: a single word, read without a lock.
    pub(crate) watched: Vec<Watched>,
}

/// A target whose phase decides a fallback.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) tenant: Tenant,
    callable_from: AtomicU64,
}

impl Current {
    pub(crate) fn new(settings: EngineSettings, key: &HashKey) -> Self {
        let EngineSettings { routes, contract, permit_for_ms, limits: _, reading, session, failure } = settings;
        let watched = routes.watched.iter().map(|target| {
            let breaker = key.hash(HashTag::Code, routes.route(target.as_str()).code.as_str().as_bytes());
            let target = key.hash(HashTag::Target, target.as_str().as_bytes());
            Watched { tenant: Tenant { breaker, target }, callable_from: AtomicU64::new(0) }
        });
        let (watched, session_policy, keywords) = (watched.collect(), session.policy, session.keywords);
        Self { watched, routes, contract, permit_for_ms, reading, session_policy, keywords, failure }
    }

    /// Whether the target at a place can be called now.
    pub(crate) fn is_admissible(&self, watch: usize, now: Timestamp) -> bool {
        self.watched.get(watch).is_some_and(|watched| watched.callable_from.load(Ordering::SeqCst) <= now.0)
    }

    /// Every watched target can be called, as far as is known.
    pub(crate) fn forget_phases(&self) {
        for watched in &self.watched {
            watched.callable_from.store(0, Ordering::SeqCst);
        }
    }

    /// Publishes when the watched targets of a breaker can be called.
    pub(crate) fn publish(&self, breaker: &Breaker, now: Timestamp) {
        if self.watched.is_empty() {
            return;
        }
        for watched in self.watched.iter().filter(|watched| watched.tenant.breaker == breaker.id) {
            watched.callable_from.store(breaker.callable_from(watched.tenant.target, now).0, Ordering::SeqCst);
        }
    }
}

/// One shard: breakers and who among their targets has been idle longest.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) current: Arc<Current>,
    index: ByHash<u32>,
    breakers: Slab<Box<Breaker>>,
    idle: IdleQueue,
    /// At most as many entries as there are targets: an entry goes with its last target.
    of_caller: ByHash<OfCaller>,
    targets: usize,
    pub(crate) tally: Tally,
}

/// What an entry finds.
type Entered<'a> = (&'a mut Breaker, &'a Current, &'a mut Tally);

/// The targets that one caller made.
#[derive(Debug, Default)]
struct OfCaller {
    idle: IdleQueue,
    living: usize,
}

impl Shard {
    fn new(current: Arc<Current>) -> Self {
        Self {
            current,
            index: ByHash::default(),
            breakers: Slab::new(),
            idle: IdleQueue::default(),
            of_caller: ByHash::default(),
            targets: 0,
            tally: Tally::default(),
        }
    }

    /// The breaker of an id under the policy in force, that configuration, and the counts of this shard.
    pub(crate) fn enter(&mut self, id: u64, now: Timestamp, out: &mut Events) -> Option<Entered<'_>> {
        let breaker = self.breakers.get_mut(*self.index.get(&id)? as usize)?;
        if breaker.prepared().version != self.current.routes.version {
            adopt(breaker, &self.current.routes, now, out);
        }
        Some((breaker, &self.current, &mut self.tally))
    }

    /// The breaker of an id as it stands.
    pub(crate) fn breaker(&self, id: u64) -> Option<&Breaker> {
        self.breakers.get(*self.index.get(&id)? as usize).map(|breaker| &**breaker)
    }

    /// The breaker of a route, made where there is none.
    pub(crate) fn make(&mut self, id: u64, route: &Route) {
        if !self.index.contains_key(&id) {
            let breaker = Breaker::new(id, route.code.clone(), Arc::clone(&route.policy));
            let at = self.breakers.insert(Box::new(breaker));
            self.index.insert(id, u32::try_from(at).unwrap_or(u32::MAX));
        }
    }

    /// Notes a target that was made.
    pub(crate) fn moved_in(&mut self, tenant: Tenant, caller: u64, now: Timestamp) {
        self.targets += 1;
        let living = self.targets;
        self.idle.push(now, tenant);
        let (index, breakers) = (&self.index, &self.breakers);
        self.idle.tidy(living, |tenant| look(index, breakers, tenant));
        let own = self.of_caller.entry(caller).or_default();
        own.living += 1;
        own.idle.push(now, tenant);
        own.idle.tidy(own.living, |tenant| look(index, breakers, tenant));
    }

    /// Notes that a target went.
    fn moved_out(&mut self, caller: u64) {
        self.targets = self.targets.saturating_sub(1);
        if let Some(own) = self.of_caller.get_mut(&caller) {
            own.living = own.living.saturating_sub(1);
            if own.living == 0 {
                self.of_caller.remove(&caller);
            }
        }
    }

    /// Takes the longest idle clean target out, of one caller or of all. Answers who had made it.
    pub(crate) fn evict(&mut self, of_caller: Option<u64>, now: Timestamp, out: &mut Events) -> Option<u64> {
        let (index, breakers) = (&self.index, std::cell::RefCell::new(&mut self.breakers));
        let queue = match of_caller {
            None => &mut self.idle,
            Some(caller) => &mut self.of_caller.get_mut(&caller)?.idle,
        };
        let mut maker = None;
        let gone = queue.evict_idlest(
            now,
            |tenant| look(index, &breakers.borrow(), tenant),
            |tenant| {
                let at = index.get(&tenant.breaker).map_or(usize::MAX, |at| *at as usize);
                maker = breakers.borrow_mut().get_mut(at).and_then(|b| b.evict_target(tenant.target, now, out));
                maker.is_some()
            },
        );
        let (tenant, maker) = gone.zip(maker)?;
        self.moved_out(maker);
        self.drop_if_empty(tenant.breaker);
        Some(maker)
    }

    pub(crate) fn drop_if_empty(&mut self, id: u64) {
        let at = self.index.get(&id).map_or(usize::MAX, |at| *at as usize);
        if self.breakers.get(at).is_some_and(|breaker| breaker.is_empty()) {
            self.breakers.remove(at);
            self.index.remove(&id);
        }
    }

    /// Takes a whole breaker out; the target `without_place` never moved in.
    pub(crate) fn remove(&mut self, id: u64, without_place: u64) -> Option<Box<Breaker>> {
        let at = self.index.remove(&id)? as usize;
        let breaker = self.breakers.try_remove(at)?;
        breaker.makers(without_place).for_each(|maker| self.moved_out(maker));
        Some(breaker)
    }

    /// Breakers from a place on, with their places.
    pub(crate) fn from(&self, place: usize) -> impl Iterator<Item = (usize, &Breaker)> {
        self.breakers.iter().skip_while(move |(at, _)| *at < place).map(|(at, breaker)| (at, &**breaker))
    }

    /// Every breaker, to be changed.
    pub(crate) fn breakers_mut(&mut self) -> impl Iterator<Item = &mut Breaker> {
        self.breakers.iter_mut().map(|(_, breaker)| &mut **breaker)
    }

    /// The breaker at the first taken place from `place` on.
    pub(crate) fn at_mut(&mut self, place: usize) -> Option<(usize, &mut Breaker)> {
        let end = self.breakers.capacity();
        let at = (place..end).find(|at| self.breakers.contains(*at))?;
        self.breakers.get_mut(at).map(|breaker| (at, &mut **breaker))
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }
}

fn look(index: &ByHash<u32>, breakers: &Slab<Box<Breaker>>, tenant: Tenant) -> Look {
    let breaker = index.get(&tenant.breaker).and_then(|at| breakers.get(*at as usize));
    breaker.and_then(|breaker| breaker.last_seen(tenant.target)).map_or(Look::Gone, Look::SeenAt)
}

/// Takes the policy over that the routes have for a breaker's code; one that is configured no more keeps its own.
fn adopt(breaker: &mut Breaker, routes: &Routes, now: Timestamp, out: &mut Events) {
    let configured = routes.breakers().find(|prepared| prepared.policy.code.as_ref() == Some(&breaker.code));
    let made_from_target = || {
        let (_, name) = breaker.scope_names().next()?;
        let route = routes.route(name.strip_prefix("target:")?);
        (route.code == breaker.code).then_some(route.policy)
    };
    let prepared = configured.cloned().or_else(made_from_target).unwrap_or_else(|| Arc::clone(routes.default_policy()));
    breaker.adopt(&prepared, now, out);
}

/// All shards.
#[derive(Debug)]
pub(crate) struct Registry {
    shards: Box<[Mutex<Shard>]>,
    resolvers: Box<[Mutex<Resolver>]>,
    resolved_max: usize,
}

/// Which breaker a target has, so that globs are asked once per target and configuration.
#[derive(Debug)]
struct Resolver {
    current: Arc<Current>,
    breaker_of: ByHash<u64>,
}

/// Enough that two threads seldom wait for each other on a small machine.
const SHARDS: usize = 16;

impl Registry {
    pub(crate) fn new(current: &Arc<Current>, resolved_max: usize) -> Self {
        let resolver = || Mutex::new(Resolver { current: Arc::clone(current), breaker_of: ByHash::default() });
        Self {
            shards: (0..SHARDS).map(|_| Mutex::new(Shard::new(Arc::clone(current)))).collect(),
            resolvers: (0..SHARDS).map(|_| resolver()).collect(),
            resolved_max: (resolved_max / SHARDS).max(16),
        }
    }

    /// With the same bounds, and without a breaker.
    pub(crate) fn emptied(&self, current: &Arc<Current>) -> Self {
        Self::new(current, self.resolved_max * SHARDS)
    }

    /// The breaker of a target, from the table or the globs.
    pub(crate) fn breaker_of(&self, target: u64, name: &TargetName, key: &HashKey) -> u64 {
        #[expect(clippy::indexing_slicing, reason = "INVARIANT: the mask keeps the place inside the list")]
        let mut resolver = self.resolvers[place(target)].lock();
        if let Some(breaker) = resolver.breaker_of.get(&target) {
            return *breaker;
        }
        let breaker = code_id(&resolver.current.routes.route(name.as_str()).code, key);
        if resolver.breaker_of.len() >= self.resolved_max {
            resolver.breaker_of.clear(); // a table of answers, all of which can be worked out again
        }
        resolver.breaker_of.insert(target, breaker);
        breaker
    }

    /// Works on the shard of a breaker. Only `domain` is called inside.
    pub(crate) fn with<R>(&self, breaker: u64, work: impl FnOnce(&mut Shard) -> R) -> R {
        #[expect(clippy::indexing_slicing, reason = "INVARIANT: the mask keeps the place inside the list")]
        let mut shard = self.shards[place(breaker)].lock();
        work(&mut shard)
    }

    /// Works on the shard at a place; none past the last.
    pub(crate) fn with_nth<R>(&self, nth: usize, work: impl FnOnce(&mut Shard) -> R) -> Option<R> {
        let mut shard = self.shards.get(nth)?.lock();
        Some(work(&mut shard))
    }

    pub(crate) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// The place of a breaker's shard.
    pub(crate) fn place_of(&self, breaker: u64) -> usize {
        place(breaker)
    }

    /// Puts another configuration in force, one shard after the other.
    pub(crate) fn install(&self, current: &Arc<Current>) {
        for shard in &self.shards {
            shard.lock().current = Arc::clone(current);
        }
        for resolver in &self.resolvers {
            let mut resolver = resolver.lock();
            resolver.current = Arc::clone(current);
            resolver.breaker_of.clear();
        }
    }
}

const fn place(hash: u64) -> usize {
    (hash >> 40) as usize % SHARDS
}

/// The hash of a breaker's code.
pub(crate) fn code_id(code: &Code, key: &HashKey) -> u64 {
    key.hash(HashTag::Code, code.as_str().as_bytes())
}
