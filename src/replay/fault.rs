//! What is wrong with a recording: where, what, and what would be right. Faults are counted all and kept a few.

use std::fmt;
use std::sync::Arc;

use crate::domain::ids::SafeText;
use crate::wire::InvalidField;

/// Faults that are kept to be shown.
pub const SHOWN_MAX: usize = 20;
/// Bytes of what a fault quotes.
const QUOTED_BYTES_MAX: usize = 80;

/// What is wrong, as far as the reader of a text knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    what: String,
    due: String,
}

impl Wrong {
    /// Something at a path, such as `messages[3].tool_calls[0]`; what is due says what would be right.
    pub(crate) fn at(path: &str, what: impl AsRef<str>, due: impl Into<String>) -> Self {
        let what = what.as_ref();
        let what = if path.is_empty() { what.to_owned() } else { format!("{path} {what}") };
        Self { what, due: due.into() }
    }

    /// A value that is none of those that are taken. Only plain ones are quoted: what is nested may be anybody's data.
    pub(crate) fn value(path: &str, raw: &str, due: impl Into<String>) -> Self {
        match raw.as_bytes().first() {
            Some(b'{') => Self::at(path, "is an object", due),
            Some(b'[') => Self::at(path, "is a list", due),
            _ => Self::at(path, format!("is {}", quoted(raw)), due),
        }
    }

    /// A member that has to be there.
    pub(crate) fn missing(path: &str, due: impl Into<String>) -> Self {
        Self::at(path, "is missing", due)
    }

    /// What the service would answer to such a message.
    pub(crate) fn invalid(outer: &str, invalid: &InvalidField) -> Self {
        Self::at(&format!("{outer}.{}", invalid.path), "would be refused by the service", invalid.rule.clone())
    }

    /// The same, inside of something else.
    pub(crate) fn inside(self, outer: &str) -> Self {
        Self { what: format!("{outer}{}{}", if self.what.starts_with('[') { "" } else { ": " }, self.what), ..self }
    }
}

/// Input in backticks, made safe and short.
pub(crate) fn quoted(raw: &str) -> String {
    format!("`{}`", SafeText::cut(raw.get(..512).unwrap_or(raw), QUOTED_BYTES_MAX).as_str())
}

/// A line, or a document of several, that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file as it was named.
    pub file: Arc<str>,
    /// Its first line, from 1.
    pub line: u64,
    wrong: Wrong,
}

impl Fault {
    pub(crate) const fn new(file: Arc<str>, line: u64, wrong: Wrong) -> Self {
        Self { file, line, wrong }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wrong { what, due } = &self.wrong;
        write!(f, "{}:{}: {what} — {due}", self.file, self.line)
    }
}

/// All faults of a run.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// How many there were.
    pub count: u64,
    /// The first of them.
    pub shown: Vec<Fault>,
}

impl Faults {
    pub(crate) fn push(&mut self, fault: Fault) {
        self.count += 1;
        if self.shown.len() < SHOWN_MAX {
            self.shown.push(fault);
        }
    }
}
