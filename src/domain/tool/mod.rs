//! What is known of a tool beside its results: what its answers are taken for, and what a call of it does to the world.
//!
//! Nothing is guessed from a tool's name: a row is configured, or stands in the table of the well-known.

pub mod known;

use std::sync::Arc;

use globset::GlobMatcher;

use super::ids::Code;
use super::observation::format::FormatChoice;
use super::signal::closed_words;

closed_words! {
    /// What a call does to the world (spec 4.1).
    Effect {
        /// It only looks.
        Read = "read",
        /// It changes something.
        Mutate = "mutate",
        /// Nobody said.
        Unknown = "unknown",
    }
}

/// The domain of tools that list what could be asked: their answers orient, and are never evidence.
pub const CATALOG: &str = "catalog";
/// The role of answers that are never evidence.
pub const CONTEXT: &str = "context";

/// A tool that may answer the same thing for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Poll {
    /// How far apart its calls are expected, in milliseconds.
    pub every_ms: u64,
    /// For how long the same answer is no repeat, in milliseconds from the first.
    pub up_to_ms: u64,
}

/// What is known of one tool. The default knows nothing.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tool {
    /// What its results are read as; none: recognised from their structure.
    pub format: Option<FormatChoice>,
    /// Which store answers: independent sources are domains, not calls.
    pub domain: Option<Code>,
    /// What its answers are good for.
    pub role: Option<Code>,
    /// What a call does.
    pub effect: Effect,
    /// JSON pointers into the arguments that say what is asked; none: all of them.
    pub identity: Vec<Arc<str>>,
    /// Its content is never read as an envelope: files, pages, logs.
    pub is_opaque: bool,
    /// Whether it may answer the same for a while.
    pub poll: Option<Poll>,
    /// The tool to turn to where this one does not help.
    pub alternative: Option<Arc<str>>,
    /// The tool that tells whether a write of this one happened.
    pub read_tool: Option<Arc<str>>,
}

impl Tool {
    /// A tool of which nothing is known.
    #[must_use]
    pub const fn unknown() -> Self {
        Self {
            format: None,
            domain: None,
            role: None,
            effect: Effect::Unknown,
            identity: Vec::new(),
            is_opaque: false,
            poll: None,
            alternative: None,
            read_tool: None,
        }
    }

    /// Whether its answers orient the next query and are never evidence.
    #[must_use]
    pub fn is_context(&self) -> bool {
        let says =
            |word: &Option<Code>, wanted: &[&str]| word.as_ref().is_some_and(|word| wanted.contains(&word.as_str()));
        says(&self.domain, &[CATALOG]) || says(&self.role, &[CONTEXT, "notes", "memory"])
    }
}

/// A configured row: the tools that it is about, by their names as the model knows them.
#[derive(Clone, Debug)]
pub struct ToolRow {
    /// The pattern as it was written.
    pub pattern: Arc<str>,
    /// The pattern, compiled.
    pub matcher: GlobMatcher,
    /// What is known of them.
    pub tool: Tool,
}

impl PartialEq for ToolRow {
    /// The matcher follows from the pattern.
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern && self.tool == other.tool
    }
}

impl Eq for ToolRow {}

/// All that is known of tools: the configured rows in their order, then the table of the well-known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    rows: Vec<ToolRow>,
}

impl Tools {
    /// From the configured rows; the first that matches a name is the one.
    #[must_use]
    pub const fn new(rows: Vec<ToolRow>) -> Self {
        Self { rows }
    }

    /// What is known of a tool, by its name as the model knows it.
    #[must_use]
    pub fn of(&self, name: &str) -> &Tool {
        self.rows.iter().find(|row| row.matcher.is_match(name)).map_or_else(|| known::of(name), |row| &row.tool)
    }

    /// The configured rows.
    #[must_use]
    pub fn rows(&self) -> &[ToolRow] {
        &self.rows
    }
}
