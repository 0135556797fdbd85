//! The scopes of one breaker, by id and in the order of their ids.

use std::collections::BTreeMap;

use super::scope::Scope;

/// Scopes by id, in the order of their ids. Most breakers have one target for ever and nothing beside it: that takes two
/// words and one look.
#[derive(Clone, Debug, Default)]
pub enum ScopeMap {
    /// Nothing.
    #[default]
    None,
    /// The usual case.
    One(
        /// Its id is that of its key.
        Box<Scope>,
    ),
    /// A breaker over several targets.
    Many(
        /// Two or more, or what is left of them.
        Box<ScopeTree>,
    ),
}

/// Scopes by id.
#[derive(Clone, Debug, Default)]
pub struct ScopeTree(BTreeMap<u64, Box<Scope>>);

impl ScopeMap {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(_) => 1,
            Self::Many(tree) => tree.0.len(),
        }
    }

    /// None at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The scope of an id.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&Scope> {
        match self {
            Self::None => None,
            Self::One(scope) => (scope.key.id() == id).then_some(&**scope),
            Self::Many(tree) => tree.0.get(&id).map(|scope| &**scope),
        }
    }

    /// The scope of an id, to be changed.
    pub fn get_mut(&mut self, id: u64) -> Option<&mut Scope> {
        match self {
            Self::None => None,
            Self::One(scope) => (scope.key.id() == id).then_some(&mut **scope),
            Self::Many(tree) => tree.0.get_mut(&id).map(|scope| &mut **scope),
        }
    }

    /// Puts a scope in.
    pub fn insert(&mut self, scope: Scope) {
        let scope = Box::new(scope);
        *self = match std::mem::take(self) {
            Self::None => Self::One(scope),
            Self::One(first) if first.key.id() == scope.key.id() => Self::One(scope),
            Self::One(first) => {
                let both = [first, scope].map(|scope| (scope.key.id(), scope));
                Self::Many(Box::new(ScopeTree(BTreeMap::from(both))))
            }
            Self::Many(mut tree) => {
                tree.0.insert(scope.key.id(), scope);
                Self::Many(tree)
            }
        };
    }

    /// Takes a scope out.
    pub fn remove(&mut self, id: u64) -> Option<Box<Scope>> {
        match std::mem::take(self) {
            Self::None => None,
            Self::One(scope) if scope.key.id() == id => Some(scope),
            Self::One(scope) => {
                *self = Self::One(scope);
                None
            }
            Self::Many(mut tree) => {
                let scope = tree.0.remove(&id);
                *self = if tree.0.is_empty() { Self::None } else { Self::Many(tree) };
                scope
            }
        }
    }

    /// Every scope from an id on, in the order of ids.
    pub fn from(&self, id: u64) -> impl Iterator<Item = &Scope> {
        let (one, many) = match self {
            Self::None => (None, None),
            Self::One(scope) => (Some(scope).filter(|scope| scope.key.id() >= id), None),
            Self::Many(tree) => (None, Some(tree.0.range(id..).map(|(_, scope)| scope))),
        };
        one.into_iter().chain(many.into_iter().flatten()).map(|scope| &**scope)
    }

    /// Every scope, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Scope> {
        let (one, many) = match self {
            Self::None => (None, None),
            Self::One(scope) => (Some(scope), None),
            Self::Many(tree) => (None, Some(tree.0.values_mut())),
        };
        one.into_iter().chain(many.into_iter().flatten()).map(|scope| &mut **scope)
    }

    /// At most `limit` scopes from an id on, to be changed; with the id to go on from.
    pub fn some_mut(&mut self, from: u64, limit: usize) -> (Vec<&mut Scope>, Option<u64>) {
        let mut scopes: Vec<&mut Scope> = match self {
            Self::None => vec![],
            Self::One(scope) => Some(&mut **scope).filter(|scope| scope.key.id() >= from).into_iter().collect(),
            Self::Many(tree) => tree.0.range_mut(from..).take(limit + 1).map(|(_, scope)| &mut **scope).collect(),
        };
        let next = scopes.get(limit).map(|scope| scope.key.id());
        scopes.truncate(limit);
        (scopes, next)
    }
}
