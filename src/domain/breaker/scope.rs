//! What shares a circuit: a scope key, the circuits that belong to it and the results they are counted over.

use std::fmt::{self, Display, Formatter};

use super::circuit::{Circuit, View};
use super::policy::{Policy, ScopeKind, SliceGrid};
use super::routes::PreparedPolicy;
use super::window::Ring;
use crate::domain::ids::TargetName;
use crate::domain::signal::CircuitKind;
use crate::domain::time::Timestamp;

/// The names of one call, hashed; 0 stands for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallNames {
    /// The target.
    pub target: u64,
    /// The caller.
    pub caller: u64,
    /// The credential.
    pub credential: u64,
    /// The arguments, only where the target is no more than the tool's name.
    pub arguments: u64,
}

/// What a scope is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum ScopeKey {
    /// One target.
    Target(
        /// Target.
        u64,
    ),
    /// The whole breaker.
    Breaker,
    /// One credential over the breaker; 0 for calls that name none.
    Credential(
        /// Credential.
        u64,
    ),
    /// One caller over the breaker, where it names no credential.
    Caller(
        /// Caller.
        u64,
    ),
    /// One credential at one target.
    TargetCredential(
        /// Target.
        u64,
        /// Credential.
        u64,
    ),
    /// One set of arguments of a tool, with a credential: where a tool's name stands for many things.
    TargetArguments(
        /// Target.
        u64,
        /// Arguments.
        u64,
    ),
    /// One sick caller at one target (`min_reporters`).
    TargetCaller(
        /// Target.
        u64,
        /// Caller.
        u64,
    ),
}

impl ScopeKey {
    /// The scope that a kind has in a call (spec 2.1).
    #[must_use]
    pub const fn of(kind: CircuitKind, scope: ScopeKind, names: &CallNames) -> Self {
        match scope {
            ScopeKind::Target => Self::Target(names.target),
            ScopeKind::Breaker => Self::Breaker,
            ScopeKind::Credential => match (kind, names.credential, names.caller) {
                (CircuitKind::Authentication, 0, caller) if caller != 0 => Self::Caller(caller),
                (_, credential, _) => Self::Credential(credential),
            },
            ScopeKind::TargetCredential if names.arguments != 0 => {
                Self::TargetArguments(names.target, names.arguments ^ names.credential)
            }
            ScopeKind::TargetCredential => Self::TargetCredential(names.target, names.credential),
        }
    }

    /// Whether a target is part of the key.
    #[must_use]
    pub const fn holds_target(self) -> bool {
        match self {
            Self::Target(_) | Self::TargetCredential(..) | Self::TargetArguments(..) | Self::TargetCaller(..) => true,
            Self::Breaker | Self::Credential(_) | Self::Caller(_) => false,
        }
    }

    /// One number for lookups. Its parts are keyed hashes, so that joining them by a fixed mix is enough.
    #[must_use]
    pub const fn id(self) -> u64 {
        const fn join(tag: u64, a: u64, b: u64) -> u64 {
            let mixed = (a ^ tag.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            (mixed ^ (mixed >> 32) ^ b.rotate_left(31)).wrapping_mul(0xc4ce_b9fe_1a85_ec53)
        }
        match self {
            Self::Target(target) => target,
            Self::Breaker => 1,
            Self::Credential(credential) => join(2, credential, 0),
            Self::Caller(caller) => join(3, caller, 0),
            Self::TargetCredential(target, credential) => join(4, target, credential),
            Self::TargetArguments(target, arguments) => join(5, target, arguments),
            Self::TargetCaller(target, caller) => join(6, target, caller),
        }
    }
}

/// A scope's name for people: `target:POST /v2/charge`, `credential:1f2e3d4c`. Credentials, callers and arguments show
/// as eight digits of their hash.
#[derive(Clone, Copy, Debug)]
pub struct ScopeName<'a> {
    /// The key.
    pub key: ScopeKey,
    /// The target's name, where the key holds a target.
    pub target: Option<&'a TargetName>,
}

impl ScopeName<'_> {
    /// As text of its own, in one piece of memory.
    #[must_use]
    pub fn text(&self) -> Box<str> {
        match (self.key, self.target) {
            (ScopeKey::Target(_), Some(target)) => ["target:", target.as_str()].concat().into(),
            _ => self.to_string().into(),
        }
    }
}

impl Display for ScopeName<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let target = self.target.map_or("", TargetName::as_str);
        let short = |hash: u64| hash >> 32;
        match self.key {
            ScopeKey::Target(_) => write!(f, "target:{target}"),
            ScopeKey::Breaker => f.write_str("breaker"),
            ScopeKey::Credential(0) => f.write_str("credential:none"),
            ScopeKey::Credential(credential) => write!(f, "credential:{:08x}", short(credential)),
            ScopeKey::Caller(caller) => write!(f, "caller:{:08x}", short(caller)),
            ScopeKey::TargetCredential(_, 0) => write!(f, "target+credential:{target}+none"),
            ScopeKey::TargetCredential(_, credential) => {
                write!(f, "target+credential:{target}+{:08x}", short(credential))
            }
            ScopeKey::TargetArguments(_, arguments) => write!(f, "target+arguments:{target}+{:08x}", short(arguments)),
            ScopeKey::TargetCaller(_, caller) => write!(f, "target+caller:{target}+{:08x}", short(caller)),
        }
    }
}

/// The longest recent call of a target: the larger of this span's and the last's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongestCall {
    span: u32,
    current_ms: u32,
    previous_ms: u32,
}

impl LongestCall {
    const SPAN_MS: u64 = 300_000;

    fn roll(&mut self, now: Timestamp) {
        let span = u32::try_from(now.0 / Self::SPAN_MS).unwrap_or(u32::MAX);
        if span != self.span {
            self.previous_ms = if span == self.span.wrapping_add(1) { self.current_ms } else { 0 };
            self.current_ms = 0;
            self.span = span;
        }
    }

    /// Notes a finished call.
    pub fn note(&mut self, now: Timestamp, took_ms: u64) {
        self.roll(now);
        self.current_ms = self.current_ms.max(u32::try_from(took_ms).unwrap_or(u32::MAX));
    }

    /// Milliseconds of the longest call of the last five to ten minutes.
    pub fn longest_ms(&mut self, now: Timestamp) -> u64 {
        self.roll(now);
        u64::from(self.current_ms.max(self.previous_ms))
    }
}

/// The circuits that share a scope key, and the results they are counted over.
#[derive(Clone, Debug)]
pub struct Scope {
    /// What it is of.
    pub key: ScopeKey,
    /// The target's name, where the key holds a target.
    pub target: Option<TargetName>,
    /// Who made it, hashed: for shares of the bound.
    pub made_by: u64,
    /// The last call or report.
    pub last_seen: Timestamp,
    /// When it answered well last; 0 for never.
    pub last_good: Timestamp,
    /// Results that were counted.
    pub results: Ring<1>,
    /// The longest recent call.
    pub longest: LongestCall,
    /// Only circuits that have something to remember.
    pub circuits: Vec<Circuit>,
}

impl Scope {
    /// A scope that has seen nothing.
    #[must_use]
    pub fn new(key: ScopeKey, target: Option<TargetName>, made_by: u64, now: Timestamp) -> Self {
        let longest = LongestCall::default();
        Self {
            key,
            target,
            made_by,
            last_seen: now,
            last_good: Timestamp(0),
            results: Ring::default(),
            longest,
            circuits: Vec::new(),
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn name(&self) -> ScopeName<'_> {
        ScopeName { key: self.key, target: self.target.as_ref() }
    }

    /// The circuit of a kind, where there is one.
    #[must_use]
    pub fn circuit(&self, kind: CircuitKind) -> Option<&Circuit> {
        self.circuits.iter().find(|circuit| circuit.kind == kind)
    }

    /// The circuit of a kind, made where there is none, and what an evaluation of it looks at.
    pub fn circuit_with_view<'a>(
        &'a mut self,
        kind: CircuitKind,
        now: Timestamp,
        policy: &'a Policy,
        grid: SliceGrid,
    ) -> Option<(&'a mut Circuit, View<'a>)> {
        let at = match self.circuits.iter().position(|circuit| circuit.kind == kind) {
            Some(at) => at,
            None => {
                self.circuits.reserve_exact(1); // seldom more than one: a circuit is large
                self.circuits.push(Circuit::new(kind));
                self.circuits.len() - 1
            }
        };
        let view = View { now, policy, grid, results: &self.results };
        self.circuits.get_mut(at).map(|circuit| (circuit, view))
    }

    /// Whether nothing here would be missed.
    #[must_use]
    pub fn is_clean(&self, now: Timestamp, prepared: &PreparedPolicy) -> bool {
        self.circuits.iter().all(|circuit| circuit.is_clean(now, prepared.of(circuit.kind)))
    }

    /// Moves its counts to another grid after a reload.
    pub fn regrid(&mut self, now: Timestamp, from: SliceGrid, to: SliceGrid) {
        let before = self.results.clone();
        self.results.regrid(now, from, to);
        for circuit in &mut self.circuits {
            circuit.regrid(now, (from, to), (&before, &self.results));
        }
    }

    /// Gives back the memory of what time has made meaningless.
    pub fn compact(&mut self, now: Timestamp, prepared: &PreparedPolicy, permit_for_ms: u64, last_issued: Timestamp) {
        self.results.evict(now, prepared.grid);
        for circuit in &mut self.circuits {
            circuit.forget_old(now, prepared.grid, permit_for_ms);
        }
        // A circuit that has changed phase is kept while a permit from before may still come back.
        let is_spent = |circuit: &Circuit| {
            circuit.is_clean(now, prepared.of(circuit.kind))
                && circuit.is_bare()
                && (circuit.generation == 0 || now.since_ms(last_issued) > permit_for_ms)
        };
        self.circuits.retain(|circuit| !is_spent(circuit));
        self.circuits.shrink_to_fit();
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.results.heap_bytes()
            + self.circuits.capacity() * size_of::<Circuit>()
            + self.circuits.iter().map(Circuit::heap_bytes).sum::<usize>()
            + self.target.as_ref().map_or(0, |target| target.as_str().len())
    }
}
