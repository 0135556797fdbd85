//! What one result means for each kind of circuit: judged once, per kind (spec 2.3).
//!
//! A result feeds only the kinds whose question it answers. A fast 429 is a good sample of transport and latency and a
//! failure of quota; a refused connection says nothing about latency; what never reached the target says nothing at all.

use super::RetryHint;
use crate::domain::signal::{CircuitKind, KINDS, PerKind};

/// What a result means for one kind of circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The question was answered well.
    Ok,
    /// The failure that the kind watches.
    Failed,
    /// Slower than the limit (latency only).
    Slow,
    /// Says nothing about this kind: neither closes, opens nor counts.
    Ignored,
}

impl Outcome {
    /// Whether it counts towards a trip.
    #[must_use]
    pub const fn is_bad(self) -> bool {
        matches!(self, Self::Failed | Self::Slow)
    }
}

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classification {
    /// A well-formed answer that is what the target promises.
    Ok,
    /// A well-formed answer that rejects the caller's own input (404, 422, a bad query).
    BadInput,
    /// A time limit ended it.
    TimedOut,
    /// The failure that a kind watches.
    Failed(CircuitKind),
    /// Cancelled by the caller or user, refused by us or the host, never sent, pending, our own text.
    Ignored,
}

/// The facts of one finished call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallResult {
    /// What it came to.
    pub classification: Classification,
    /// How long it took, in milliseconds; none where the caller did not say.
    pub latency_ms: Option<u64>,
    /// How long the target asked to be left alone.
    pub hint: Option<RetryHint>,
}

impl CallResult {
    /// A result without time or hint.
    #[must_use]
    pub const fn new(classification: Classification) -> Self {
        Self { classification, latency_ms: None, hint: None }
    }

    /// What it means for each kind, given what slow is and how long the call took.
    #[must_use]
    pub fn outcomes(&self, slow_ms: Option<u64>, took_ms: u64) -> PerKind<Outcome> {
        let is_slow = slow_ms.is_some_and(|slow| took_ms >= slow);
        if self.classification == Classification::Ok && !is_slow {
            return PerKind([Outcome::Ok; KINDS]); // the usual case
        }
        let latency = match self.classification {
            Classification::Ignored => Outcome::Ignored,
            Classification::TimedOut | Classification::Failed(CircuitKind::Latency) => Outcome::Slow,
            _ if is_slow => Outcome::Slow,
            Classification::Failed(CircuitKind::ErrorRate) => Outcome::Ignored, // no answer to time
            Classification::Ok | Classification::BadInput | Classification::Failed(_) => Outcome::Ok,
        };
        PerKind::from_fn(|kind| if kind == CircuitKind::Latency { latency } else { self.judge(kind) })
    }

    /// The meaning for every kind but latency, which is a matter of time.
    fn judge(&self, kind: CircuitKind) -> Outcome {
        let transport = kind == CircuitKind::ErrorRate;
        match self.classification {
            Classification::Ok => Outcome::Ok,
            Classification::Ignored => Outcome::Ignored,
            Classification::BadInput if kind == CircuitKind::MalformedResponse => Outcome::Ignored,
            Classification::BadInput => Outcome::Ok,
            Classification::TimedOut if transport => Outcome::Failed,
            Classification::TimedOut => Outcome::Ignored,
            Classification::Failed(failed) if failed == kind => Outcome::Failed,
            Classification::Failed(CircuitKind::Latency) => Outcome::Ok, // slow, but a good answer
            Classification::Failed(_) if transport => Outcome::Ok,       // it answered: the path works
            Classification::Failed(_) => Outcome::Ignored,
        }
    }
}

#[cfg(test)]
mod tests;
