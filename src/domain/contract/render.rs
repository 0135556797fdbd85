//! From a contract to the text that a model reads. Nine fields, always all nine, always in this order; how they
//! are put together is the wording's.

use std::fmt::Write as _;

use serde::Serialize;

use super::catalogue::DO_NOT_WHILE_PROBING;
use super::wording::Wording;
use super::{FIGURE_BYTES_MAX, LONG_FIELD_BYTES_MAX, Standing, TripContract};
use crate::domain::ids::SafeText;
use crate::domain::time::{Timestamp, WallClock};

/// The nine fields as text, in contract order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fields {
    /// The next step.
    pub action: &'static str,
    /// The breaker's code.
    pub breaker: String,
    /// What was to be called.
    pub target: String,
    /// The class of trouble.
    pub signal: &'static str,
    /// The figures that the rule compared.
    pub observed: String,
    /// The rule that fired.
    pub threshold: String,
    /// What is true now and until when.
    pub state: String,
    /// The prohibition.
    pub do_not: String,
    /// The alternative, or `none`.
    pub fallback: String,
}

/// The message that most tools give today.
pub(super) const WEAK: &str = r#"{"error":"Tool call failed. Please try again."}"#;

impl TripContract {
    /// The nine fields as they read at `now`.
    #[must_use]
    pub fn fields(&self, now: Timestamp, wall: WallClock) -> Fields {
        let mut observed = String::with_capacity(FIGURE_BYTES_MAX);
        let mut threshold = String::with_capacity(FIGURE_BYTES_MAX);
        let mut state = String::with_capacity(LONG_FIELD_BYTES_MAX);
        // Writing to a String cannot fail.
        let _ = write!(observed, "{}", self.observed);
        let _ = write!(threshold, "{}", self.threshold);
        let _ = self.state.write(now, wall, &mut state);
        Fields {
            action: self.row.action.word(),
            breaker: self.breaker.as_str().to_owned(),
            target: self.target.as_str().to_owned(),
            signal: self.row.signal.word(),
            observed,
            threshold,
            state,
            do_not: self.do_not(),
            fallback: self.fallback_text(),
        }
    }

    fn do_not(&self) -> String {
        if matches!(self.state, Standing::ProbeRunning { .. }) {
            return DO_NOT_WHILE_PROBING.to_owned();
        }
        match self.max_argument_bytes {
            Some(bytes) => self.row.do_not.replace("{bytes}", &bytes.to_string()),
            None => self.row.do_not.to_owned(),
        }
    }

    fn fallback_text(&self) -> String {
        match &self.fallback {
            None => "none".to_owned(),
            Some(fallback) => match &fallback.note {
                None => fallback.name.as_str().to_owned(),
                Some(note) => format!("{}, {}", fallback.name.as_str(), note.as_str()),
            },
        }
    }
}

/// A text as JSON writes it.
pub(super) fn push_json(out: &mut String, text: &str) {
    out.push('"');
    push_escaped(out, text);
    out.push('"');
}

/// A text as JSON writes it between the quotes. Most hold nothing to escape, which is seen faster than it is written
/// byte by byte.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    let is_escaped = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
    // No early end: sixteen bytes are looked at at once.
    if !text.as_bytes().iter().fold(false, |any, byte| any | is_escaped(byte)) {
        out.push_str(text);
    } else if let Ok(escaped) = serde_json::to_string(text) {
        // INVARIANT: a string always serialises, in quotes; a missing value would show in golden files
        out.push_str(escaped.get(1..escaped.len() - 1).unwrap_or_default());
    }
}

/// A rendered block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// What the model is given.
    pub text: String,
    /// True where the block overran its budget and `target` was cut: a bug, as the budget is proved at load.
    pub overran: bool,
}

impl Fields {
    /// The block of a wording within `budget_bytes`.
    #[must_use]
    pub fn render(&self, wording: &Wording, budget_bytes: usize) -> Rendered {
        let text = wording.block(self);
        if text.len() <= budget_bytes {
            return Rendered { text, overran: false };
        }
        debug_assert!(false, "a contract of {} bytes overran its budget of {budget_bytes}", text.len());
        Rendered { text: self.cut(wording, text.len() - budget_bytes), overran: true }
    }

    /// The block with at least so many bytes less of `target`, as far as it has them.
    pub(super) fn cut(&self, wording: &Wording, excess: usize) -> String {
        let kept = self.target.len().saturating_sub(excess);
        wording.block(&Self { target: SafeText::cut(&self.target, kept).as_str().to_owned(), ..self.clone() })
    }

    /// Every field with its name, in contract order.
    #[must_use]
    pub fn pairs(&self) -> [(&'static str, &str); 9] {
        [
            ("action", self.action),
            ("breaker", &self.breaker),
            ("target", &self.target),
            ("signal", self.signal),
            ("observed", &self.observed),
            ("threshold", &self.threshold),
            ("state", &self.state),
            ("do_not", &self.do_not),
            ("fallback", &self.fallback),
        ]
    }
}
