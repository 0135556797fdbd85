//! Begins anew without the cost of a start: for whoever plays many short lives under one configuration, one after the
//! other.
//!
//! Needs the engine for itself, so that nobody holds a permit or follows the log meanwhile.

use std::sync::Arc;

use super::Engine;
use super::behaviour::Sums;
use super::sync::{AtomicU64, AtomicUsize};

impl Engine {
    /// Forgets every breaker, session, call, attempt, figure and event, as a start would. The configuration, the keys,
    /// the clock and the limits stay; numbers are drawn from the first on, so that two lives that see the same answer the same.
    pub fn begin_anew(&mut self) {
        let current = self.current();
        current.forget_phases();
        self.registry = self.registry.emptied(&current);
        self.places = self.places.emptied();
        self.calls = self.calls.emptied();
        self.sessions = self.sessions.emptied();
        self.attempts = self.attempts.emptied();
        self.sums = Sums::default();
        self.log = Arc::new(self.log.emptied());
        self.next_permit = AtomicU64::new(1);
        self.others = AtomicUsize::new(0);
    }
}
