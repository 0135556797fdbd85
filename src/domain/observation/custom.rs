//! An integration's own envelope, taught by the configuration: conditions over JSON pointers.

use std::sync::Arc;

use crate::domain::document::{Kind, Value};
use crate::domain::ids::Code;

/// A format of the configuration (spec 3.2). Of several lists that hold, the first of `failed`, `unavailable`,
/// `truncated`, `empty` wins; where none holds, the containers of the payload decide.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CustomFormat {
    /// Its name.
    pub name: Code,
    /// It is of this format where all of these hold; none: only where a tool's row says so.
    pub recognised_when: Vec<Condition>,
    /// The query failed where one of these holds.
    pub failed_when: Vec<Condition>,
    /// The question was never put to the data where one of these holds.
    pub unavailable_when: Vec<Condition>,
    /// More exists than was delivered where one of these holds.
    pub truncated_when: Vec<Condition>,
    /// Nothing was found where one of these holds.
    pub empty_when: Vec<Condition>,
}

/// What must be so at one place of a payload.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Condition {
    /// A JSON pointer (RFC 6901).
    pub at: Arc<str>,
    /// What must be so there.
    pub holds: Holds,
}

/// What a condition asks.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Holds {
    /// The value is one of these texts, numbers or booleans, as they are written; texts in any case.
    Is(Vec<Arc<str>>),
    /// Something other than `null` stands there, or nothing does.
    Present(bool),
    /// A container or text without content stands there, or one with content does.
    Empty(bool),
}

impl Condition {
    /// Whether it is so.
    #[must_use]
    pub fn is_met(&self, root: Value<'_>) -> bool {
        let value = root.pointer(&self.at).filter(|value| !value.is_null());
        match &self.holds {
            Holds::Present(wanted) => value.is_some() == *wanted,
            Holds::Is(words) => value.is_some_and(|value| {
                let text = value.as_str().unwrap_or_else(|| value.raw().into());
                words.iter().any(|word| text.eq_ignore_ascii_case(word))
            }),
            Holds::Empty(wanted) => value.is_some_and(|value| match value.kind() {
                Kind::Array | Kind::Object => value.is_empty() == *wanted,
                Kind::String => value.as_str().is_some_and(|text| text.trim().is_empty() == *wanted),
                Kind::Null | Kind::Bool | Kind::Number | Kind::Opaque => false,
            }),
        }
    }
}

impl CustomFormat {
    /// Whether a payload says of itself that it is of this format.
    #[must_use]
    pub fn recognises(&self, root: Value<'_>) -> bool {
        !self.recognised_when.is_empty() && self.recognised_when.iter().all(|condition| condition.is_met(root))
    }
}
