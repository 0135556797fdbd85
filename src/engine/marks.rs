//! What a caller marks between the calls of a session. Decides nothing itself.

use std::sync::Arc;

use super::Engine;
use super::listener::of_new;
use crate::domain::ids::HashTag;
use crate::domain::session::run::{AgentRun, RunPolicy};
use crate::domain::time::Timestamp;

impl Engine {
    /// A task of a session begins, under the name that its calls may give again; empty: under one that nothing else has.
    /// Opens the session where it is new, under the configured policy. Answers the number of the task.
    pub fn begin_task(&self, caller: &str, session: &str, task: &str, now: Timestamp) -> u32 {
        let task = if task.is_empty() { self.next_seq() | 1 << 63 } else { self.hash(HashTag::Task, task) };
        let current = self.current();
        let policy = || RunPolicy { gates: Arc::clone(&current.session_policy), ..RunPolicy::default() };
        let told = || of_new(&current.contract.wordings, caller, session);
        let make = || AgentRun::new(policy(), self.identity.names, now).told_in(told());
        let mut facts = Vec::new();
        let key = self.session_key(caller, session);
        let begun = self.sessions.with_made(key, now, (&mut facts, make), |run, facts| {
            run.last_seen = run.last_seen.max(now);
            run.begin_task(task, facts)
        });
        self.publish(facts, now);
        begun.unwrap_or(0)
    }

    /// The wave of a lane has ended. False where there is no such session.
    #[must_use]
    pub fn end_wave(&self, caller: &str, session: &str, lane: &str, now: Timestamp) -> bool {
        let lane = self.hash(HashTag::Lane, lane);
        self.with_session(caller, session, now, |run| run.end_wave(lane)).is_some()
    }
}
