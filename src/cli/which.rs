//! How a person names circuits: by code and, to mean fewer, by scope and kind.

use super::words::{Word as _, circuit_kinds};
use crate::wire::pb;

/// Which circuits are meant.
#[derive(Debug, clap::Args)]
pub(super) struct Which {
    /// The breaker's code, as `tripnote circuits` lists it
    code: String,
    /// Only this scope, as `tripnote circuits` lists it
    #[arg(long)]
    scope: Option<String>,
    /// Only circuits of this kind
    #[arg(long, value_parser = circuit_kinds())]
    kind: Option<pb::CircuitKind>,
}

impl Which {
    /// As the service is told.
    pub(super) fn name(&self) -> pb::CircuitName {
        pb::CircuitName {
            breaker: self.code.clone(),
            scope: self.scope.clone().unwrap_or_default(),
            kind: self.kind.unwrap_or_default().into(),
        }
    }

    /// As it is told back.
    pub(super) fn words(&self) -> String {
        let kind = self.kind.unwrap_or_default().word();
        let parts = [self.code.as_str(), self.scope.as_deref().unwrap_or_default(), &kind];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}
