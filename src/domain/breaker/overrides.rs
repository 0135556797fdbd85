//! An operator's masks over circuits. A mask is never a phase: what lies under it goes on by itself.

use crate::domain::ids::SafeText;
use crate::domain::signal::{CircuitKind, closed_words};
use crate::domain::time::Timestamp;

closed_words! {
    /// What an operator may lay over a circuit.
    OverrideMode {
        /// Refuse every call.
        ForceOpen = "force_open",
        /// Let every call through.
        ForceClosed = "force_closed",
        /// Decide, count and explain, but do not refuse.
        Shadow = "shadow",
    }
}

/// Which circuits of a breaker an override covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cover {
    /// One scope; none covers all.
    pub scope: Option<u64>,
    /// One kind; none covers all.
    pub kind: Option<CircuitKind>,
}

impl Cover {
    /// Whether everything under `other` is under this one.
    fn contains(self, other: Self) -> bool {
        (self.scope.is_none() || self.scope == other.scope) && (self.kind.is_none() || self.kind == other.kind)
    }

    fn includes(self, scope: u64, kind: CircuitKind) -> bool {
        self.scope.is_none_or(|own| own == scope) && self.kind.is_none_or(|own| own == kind)
    }
}

/// One owner's hold.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hold {
    /// What it covers.
    pub cover: Cover,
    /// What it does.
    pub mode: OverrideMode,
    /// Who holds it: `[A-Za-z0-9._@-]{1,40}`.
    pub owner: SafeText,
    /// Why; for operators, never shown to a model.
    pub reason: SafeText,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
}

impl Hold {
    fn is_live(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|at| now < at)
    }
}

/// Holds on one breaker.
pub const HOLDS_MAX: usize = 64;

/// All holds of one breaker, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides(Vec<Hold>);

/// What the live holds on one circuit come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    /// The strongest mode: `force_open` over `force_closed` over `shadow`.
    pub mode: OverrideMode,
    /// When the last hold of this mode ends; none where one has no end.
    pub until: Option<Timestamp>,
}

impl Overrides {
    /// True where nobody holds anything: the usual case, asked on every call.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every hold.
    pub fn iter(&self) -> impl Iterator<Item = &Hold> {
        self.0.iter()
    }

    /// Sets an owner's hold, in place of the one it had over the same cover. False where there is no room.
    pub fn set(&mut self, hold: Hold) -> bool {
        let same = |own: &Hold| own.cover == hold.cover && own.owner == hold.owner;
        self.0.retain(|own| !same(own));
        if self.0.len() >= HOLDS_MAX {
            return false;
        }
        self.0.push(hold);
        true
    }

    /// Takes an owner's holds inside a cover away and answers them.
    pub fn clear(&mut self, cover: Cover, owner: &str) -> Vec<Hold> {
        self.0.extract_if(.., |hold| cover.contains(hold.cover) && hold.owner.as_str() == owner).collect()
    }

    /// Holds inside a cover.
    #[must_use]
    pub fn inside(&self, cover: Cover) -> usize {
        self.0.iter().filter(|hold| cover.contains(hold.cover)).count()
    }

    /// Takes expired holds away and answers them.
    pub fn expire(&mut self, now: Timestamp) -> Vec<Hold> {
        if self.0.iter().all(|hold| hold.is_live(now)) {
            return vec![];
        }
        self.0.extract_if(.., |hold| !hold.is_live(now)).collect()
    }

    /// The live holds of one mode over one circuit.
    pub fn holders(&self, mode: OverrideMode, scope: u64, kind: CircuitKind) -> impl Iterator<Item = &Hold> {
        self.0.iter().filter(move |hold| hold.mode == mode && hold.cover.includes(scope, kind))
    }

    /// What lies over one circuit; expired holds are assumed to be gone.
    #[must_use]
    pub fn mask(&self, scope: u64, kind: CircuitKind) -> Option<Mask> {
        [OverrideMode::ForceOpen, OverrideMode::ForceClosed, OverrideMode::Shadow].into_iter().find_map(|mode| {
            let first = self.holders(mode, scope, kind).next()?;
            let longer = |a: Option<Timestamp>, b: Option<Timestamp>| a.zip(b).map(|(a, b)| a.max(b));
            let until = self.holders(mode, scope, kind).map(|hold| hold.expires_at).fold(first.expires_at, longer);
            Some(Mask { mode, until })
        })
    }

    /// Whether any hold names this scope.
    #[must_use]
    pub fn names(&self, scope: u64) -> bool {
        self.0.iter().any(|hold| hold.cover.scope == Some(scope))
    }
}
