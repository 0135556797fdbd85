//! The review of a session's answer, told as an event. Decides nothing itself: the run holds the evidence.

use std::sync::Arc;

use super::Engine;
use super::behaviour::SESSION;
use crate::domain::event::{Event, Happening};
use crate::domain::ids::{Code, HashTag};
use crate::domain::session::review::Verdict;
use crate::domain::time::Timestamp;

/// An answer that is to be reviewed.
#[derive(Clone, Copy, Debug)]
pub struct ReviewedAnswer<'a> {
    /// The task that it answers; empty for the one in force.
    pub task: &'a str,
    /// Its text. Read, and never kept.
    pub text: &'a str,
}

impl Engine {
    /// Holds an answer against the evidence of a session's task. None where there is no such session.
    pub fn review(&self, caller: &str, session: &str, answer: &ReviewedAnswer<'_>, now: Timestamp) -> Option<Verdict> {
        let task = self.hash(HashTag::Task, answer.task);
        let keywords = Arc::clone(&self.current().keywords);
        let verdict = self.with_session(caller, session, now, |run| run.review(task, answer.text, &keywords))?;
        let (word, rule) = verdict.word();
        let (breaker, what) = (Code::from_target(SESSION), Happening::Reviewed { verdict: word, rule });
        let mut events =
            vec![Event { seq: 0, at: now, breaker, scope: "".into(), scope_id: 0, kind: None, generation: 0, what }];
        self.log.number(&mut events);
        self.hand_in(events);
        Some(verdict)
    }
}
