//! The trip contract: the nine fields in which every guard refuses (spec 01).
//!
//! A contract is a value built where the state is; its fields are typed figures, not prose, so that it can say no more
//! than was measured. [`render`] turns it into the text for the model and nothing above rewords it.

pub mod budget;
pub mod catalogue;
pub mod experiment;
pub mod figures;
pub mod render;
pub mod session;
pub mod wording;

use std::sync::Arc;

use crate::domain::ids::{Code, SafeText, TargetName};
use crate::domain::signal::{CircuitKind, Phase, closed_words};
use crate::domain::time::Timestamp;
pub use catalogue::{Action, CATALOGUE, CatalogueRow, Condition, Urgency};
pub use experiment::{SessionWording, WordingSnapshot, Wordings};
pub use figures::{Observed, Standing, Threshold};
pub use render::Fields;
pub use wording::{Template, Wording};

/// Bytes of `target`, `state`, `do_not` and `fallback`, as JSON writes them.
pub const LONG_FIELD_BYTES_MAX: usize = 96;
/// Bytes of `observed` and `threshold`.
pub const FIGURE_BYTES_MAX: usize = 64;
/// Bytes of a configured name (fallback, escalation tool) and of a note.
pub const NAME_BYTES_MAX: usize = 48;

closed_words! {
    /// How a refusal is worded for the model: what is built in.
    Variant {
        /// Compact JSON in contract order: the default.
        Contract = "contract",
        /// The same nine fields as `key: value` lines.
        ContractLines = "contract_lines",
        /// The message that most tools give today; for measuring only.
        Weak = "weak",
        /// Nothing at all; for measuring only.
        Silent = "silent",
    }
}

impl Variant {
    /// Whether it exists for measuring only and needs `experimental = true`.
    #[must_use]
    pub const fn is_experimental(self) -> bool {
        matches!(self, Self::Weak | Self::Silent)
    }
}

/// What an operator sets for all contracts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractSettings {
    /// The hard bound of the rendered block in bytes.
    pub budget_bytes: usize,
    /// The wordings, and who is told in which.
    pub wordings: Arc<Wordings>,
    /// The tool that `stop_and_escalate` names as fallback.
    pub escalation_tool: Option<SafeText>,
}

impl Default for ContractSettings {
    fn default() -> Self {
        Self { budget_bytes: 768, wordings: Arc::default(), escalation_tool: None }
    }
}

/// A named alternative that was admissible when the contract was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFallback {
    /// What the model is told to call.
    pub name: SafeText,
    /// The configured note.
    pub note: Option<SafeText>,
    /// The target behind the name, for programs; none for tools that are no targets.
    pub target: Option<TargetName>,
}

/// The nine fields, typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TripContract {
    /// Action, signal, urgency and prohibition.
    pub row: &'static CatalogueRow,
    /// The stable code.
    pub breaker: Code,
    /// What was to be called.
    pub target: SafeText,
    /// The figures that the rule compared.
    pub observed: Observed,
    /// The rule that fired.
    pub threshold: Threshold,
    /// What is true now and until when.
    pub state: Standing,
    /// The alternative.
    pub fallback: Option<NamedFallback>,
    /// The N of `reduce_payload`.
    pub max_argument_bytes: Option<u32>,
}

/// Another circuit of the same call that is not closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlsoOpen {
    /// What it watches.
    pub kind: CircuitKind,
    /// Its phase.
    pub phase: Phase,
    /// Its scope, as text.
    pub scope: Box<str>,
    /// When it can be asked again; none until an operator releases it.
    pub retry_at: Option<Timestamp>,
}

/// What the rule itself counted, which `observed` may show over a longer window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Facts {
    /// Failures (latency: slow calls).
    pub failed: u32,
    /// Results.
    pub results: u32,
    /// The rule's window in milliseconds; 0 where it has none.
    pub window_ms: u64,
}

/// A refusal: the contract and what programs need beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trip {
    /// The nine fields.
    pub contract: TripContract,
    /// When the target can be asked again, the latest over all refusing circuits; none until an operator releases it.
    pub retry_at: Option<Timestamp>,
    /// The other refusing circuits, in order of precedence.
    pub also_open: Vec<AlsoOpen>,
    /// The generation of the primary circuit.
    pub generation: u32,
    /// The number of the event that tells of this refusal; set when the event gets its number.
    pub event_seq: u64,
    /// What the rule counted.
    pub facts: Facts,
}

#[cfg(test)]
mod tests;
