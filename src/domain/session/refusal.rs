//! From a session guard's figures to the contract.

use super::call::ToolName;
use crate::domain::contract::session::SessionFigures;
use crate::domain::contract::{
    CATALOGUE, CatalogueRow, Condition, Facts, NAME_BYTES_MAX, NamedFallback, Observed, Standing, Threshold, Trip,
    TripContract,
};
use crate::domain::ids::{Code, SafeText};
use crate::domain::signal::Signal;
use crate::domain::time::Timestamp;

/// A session guard's refusal before it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The row that speaks.
    pub(super) row: &'static CatalogueRow,
    /// The figures.
    pub(super) figures: SessionFigures,
    /// The tool to turn to.
    pub(super) fallback: Option<SafeText>,
}

impl Refusal {
    /// A refusal by a signal's row under a condition.
    #[must_use]
    pub(super) fn new(signal: Signal, condition: Condition, figures: SessionFigures) -> Self {
        // INVARIANT: the catalogue has a row for each pair that a session guard uses (a test asks for all of them).
        let row = CatalogueRow::find(signal, condition).unwrap_or(&CATALOGUE[0]);
        Self { row, figures, fallback: None }
    }

    /// The same with a tool to turn to.
    #[must_use]
    pub(super) fn or_call(self, fallback: Option<SafeText>) -> Self {
        Self { fallback, ..self }
    }

    /// The stricter of two by the catalogue; of one row, the first told.
    #[must_use]
    pub(super) fn stricter(self, other: Self) -> Self {
        if other.row.precedence() < self.row.precedence() { other } else { self }
    }

    /// The contract. Session guards have no circuit: no generation, nothing else that is open.
    #[must_use]
    pub(super) fn trip(self, target: &SafeText, now: Timestamp) -> Trip {
        let figures = self.figures;
        // INVARIANT: every guard's fixed code is a code; a backend cap, which has none, is no session guard's.
        let code = figures.guard_code().unwrap_or("session");
        let breaker = Code::parse(code).unwrap_or_else(|_| Code::from_target(code));
        let contract = TripContract {
            row: self.row,
            breaker,
            target: target.clone(),
            observed: Observed::Session(figures),
            threshold: Threshold::Session(figures),
            state: Standing::Session(figures),
            fallback: self.fallback.map(|name| NamedFallback { name, note: None, target: None }),
            max_argument_bytes: None,
        };
        Trip {
            contract,
            retry_at: figures.retry_hint_ms().map(|hint| now.plus_ms(hint)),
            also_open: Vec::new(),
            generation: 0,
            event_seq: 0,
            facts: Facts::default(),
        }
    }
}

/// A tool's name as a contract shows it.
#[must_use]
pub(super) fn shown(tool: &ToolName<'_>) -> SafeText {
    SafeText::cut(tool.name, NAME_BYTES_MAX)
}
