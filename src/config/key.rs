//! One row of the table of keys.

use super::field::Field;
use crate::domain::signal::{CircuitKind, Signal};

/// One key.
pub(super) struct Key<T: 'static> {
    /// Its name inside its table.
    pub(super) name: &'static str,
    /// Its type, range and place.
    pub(super) field: Field<T>,
    /// What it is for: one sentence without a full stop.
    pub(super) doc: &'static str,
    /// A value to show where there is no default; empty where there is one.
    pub(super) example: &'static str,
    /// The environment variable that goes before the file; empty where there is none.
    pub(super) variable: &'static str,
    /// Which kinds of circuit have it.
    pub(super) only: Only,
}

impl<T> Key<T> {
    pub(super) const fn new(name: &'static str, field: Field<T>, doc: &'static str) -> Self {
        Self { name, field, doc, example: "", variable: "", only: Only::Every }
    }

    pub(super) const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    pub(super) const fn variable(self, variable: &'static str) -> Self {
        Self { variable, ..self }
    }

    pub(super) const fn only(self, only: Only) -> Self {
        Self { only, ..self }
    }
}

/// Which kinds of circuit have a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Only {
    /// All.
    Every,
    /// Both conditions of `auth_failure`.
    AuthFailure,
    /// `latency`.
    Latency,
}

impl Only {
    pub(super) fn covers(self, kind: CircuitKind) -> bool {
        match self {
            Self::Every => true,
            Self::AuthFailure => kind.signal() == Signal::AuthFailure,
            Self::Latency => kind.signal() == Signal::Latency,
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Every => "every signal",
            Self::AuthFailure => "`auth_failure`",
            Self::Latency => "`latency`",
        }
    }
}

/// All that is set in `of`, as an inline table.
pub(super) fn inline<T>(keys: &[Key<T>], of: &T) -> String {
    let set = keys.iter().filter_map(|key| Some(format!("{} = {}", key.name, key.field.written(of)?)));
    format!("{{ {} }}", set.collect::<Vec<String>>().join(", "))
}
