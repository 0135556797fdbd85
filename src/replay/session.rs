//! A session that was played: which it was, and how it went under each policy. Bounded, whatever was recorded.

use std::sync::Arc;

use super::course::{Course, Word};
use crate::domain::ids::SafeText;
use crate::engine::behaviour::Behaviour;

/// Bytes of a session's name as it is shown.
const NAME_BYTES_MAX: usize = 96;

/// Which session it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedSession {
    /// Its name, or where it stands if it has none.
    pub name: SafeText,
    /// The file that it stands in.
    pub file: Arc<str>,
    /// The line in it, from 1.
    pub line: u64,
    /// Whether the work succeeded; none where nobody said.
    pub success: Option<bool>,
    /// False for the calls of a file that belong to no session.
    pub is_named: bool,
}

impl PlayedSession {
    pub(crate) fn new(name: &str, file: &Arc<str>, line: u64, success: Option<bool>) -> Self {
        let name = SafeText::cut(name, NAME_BYTES_MAX);
        Self { name, file: Arc::clone(file), line, success, is_named: true }
    }
}

/// A session under every policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Which.
    pub session: PlayedSession,
    /// One for each policy, in their order.
    pub courses: Vec<Course>,
    /// What the model did with what it would have been told, likewise; empty where many sessions share the figures.
    pub(crate) behaviours: Vec<Behaviour>,
}

impl Played {
    /// Whether two policies would have said different things in it.
    #[must_use]
    pub fn differs(&self) -> bool {
        let differs = |one: &Course, other: &Course| one.guards != other.guards || one.first != other.first;
        self.courses.split_first().is_some_and(|(one, others)| others.iter().any(|other| differs(one, other)))
    }
}

/// What was said in a session, in words: `halted (no_progress) at call 7 of 12`; none: nothing was.
#[must_use]
pub fn told(course: &Course) -> Option<String> {
    let first = course.first?;
    let gravest =
        [Word::Halted, Word::Tripped, Word::Refused, Word::Steered].into_iter().find(|word| course.has(*word));
    let gravest = gravest.filter(|word| *word != first.word).map(|word| format!(", later {word}")).unwrap_or_default();
    Some(format!("{} ({}) at call {} of {}{gravest}", first.word, first.signal, first.call, course.calls))
}
