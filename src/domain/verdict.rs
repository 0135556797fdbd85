//! What a guard answers, and which of two answers wins.

use crate::domain::contract::{CATALOGUE, CatalogueRow, Trip};

/// A guard's answer to one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<P> {
    /// The call may be made.
    Proceed(P),
    /// It may not, and this is why.
    Refuse(Box<Trip>),
}

impl CatalogueRow {
    /// Place in the catalogue, 0 first: lower wins.
    #[must_use]
    pub fn precedence(&self) -> usize {
        CATALOGUE.iter().position(|row| std::ptr::eq(row, self) || row == self).unwrap_or(CATALOGUE.len())
    }
}

impl<P> Verdict<P> {
    /// The stricter of two: a refusal over a pass, and of two refusals the one whose row comes first in the catalogue.
    /// Nothing else orders verdicts.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Refuse(a), Self::Refuse(b)) if b.contract.row.precedence() < a.contract.row.precedence() => other,
            (Self::Proceed(_), Self::Refuse(_)) => other,
            (Self::Refuse(_) | Self::Proceed(_), _) => self,
        }
    }
}

#[cfg(test)]
mod tests;
