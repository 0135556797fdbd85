//! The figures of what models did with what they were told: every fact is numbered as an event and added up once.

use std::collections::{BTreeMap, BTreeSet};

use super::keep::Mark;
use super::sessions::Sessions;
use super::sync::Mutex;
use super::{Engine, Refusal};
use crate::domain::behaviour::figures::{Figures, SessionFigures};
use crate::domain::behaviour::telling::Telling;
use crate::domain::behaviour::{Fact, Label};
use crate::domain::event::{Event, Happening};
use crate::domain::ids::Code;
use crate::domain::session::flight::FollowedCall;
use crate::domain::signal::Signal;
use crate::domain::time::Timestamp;

/// Parts that are told apart; beyond, a breaker's trips are counted under `other`.
const PARTS_MAX: usize = 4_096;
/// The code of the breakers that there was no room for.
pub const OTHER: &str = "other";
/// The code that events about sessions bear.
pub(super) const SESSION: &str = "session";

/// One part of what was told. Without a signal: all of its breaker's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Part {
    /// The breaker.
    pub breaker: Code,
    /// The class of trouble; none: all.
    pub signal: Option<Signal>,
    /// The wording.
    pub variant: Code,
}

/// All figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// By part.
    pub parts: BTreeMap<Part, Figures>,
    /// Of ended sessions.
    pub sessions: SessionFigures,
}

/// What is added up, of one process.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    // A leaf lock, taken for a trip and never for a call that passes.
    behaviour: Mutex<Behaviour>,
}

impl Sums {
    /// The figures of a part.
    pub(super) fn of_part(&self, part: &Part) -> Option<Figures> {
        self.behaviour.lock().parts.get(part).cloned()
    }

    /// The figures of ended sessions.
    pub(super) fn of_sessions(&self) -> SessionFigures {
        self.behaviour.lock().sessions
    }

    /// Puts figures back.
    pub(super) fn restore(&self, put: impl FnOnce(&mut Behaviour)) {
        put(&mut self.behaviour.lock());
    }
}

impl Behaviour {
    fn add(&mut self, fact: &Fact) {
        let label = fact.label();
        let signals = label.map(|label| [Some(label.signal), None]).into_iter().flatten();
        for (label, signal) in label.into_iter().cycle().zip(signals) {
            let part = Part { breaker: label.breaker.clone(), signal, variant: label.variant.clone() };
            let figures = self.part(part);
            match fact {
                Fact::Told(..) => figures.told += 1,
                Fact::Concluded(conclusion) => {
                    let before = if signal.is_some() { conclusion.of_signal } else { conclusion.of_breaker };
                    figures.conclude(conclusion, before);
                }
                Fact::Resolved { resolution, turns, .. } => figures.resolve(*resolution, *turns),
                Fact::Ended(_) => {}
            }
        }
        if let Fact::Ended(end) = fact {
            self.sessions.end(end);
            for label in &end.halted_by {
                for signal in [Some(label.signal), None] {
                    let part = Part { breaker: label.breaker.clone(), signal, variant: label.variant.clone() };
                    self.part(part).halt(end.success == Some(true));
                }
            }
        }
    }

    /// Adds the figures of other sessions.
    pub fn merge(&mut self, other: &Self) {
        self.sessions.merge(&other.sessions);
        for (part, figures) in &other.parts {
            self.part(part.clone()).merge(figures);
        }
    }

    fn part(&mut self, part: Part) -> &mut Figures {
        let part = self.place_of(part);
        self.parts.entry(part).or_default()
    }

    /// Where a part is counted.
    fn place_of(&self, part: Part) -> Part {
        let has_room = self.parts.len() < PARTS_MAX || self.parts.contains_key(&part);
        let breaker = if has_room { part.breaker } else { Code::from_target(OTHER) };
        Part { breaker, ..part }
    }

    /// What a fact that was added changed.
    fn changed(&self, fact: &Fact) -> Vec<Mark> {
        let halted: &[Label] = if let Fact::Ended(end) = fact { &end.halted_by } else { &[] };
        let of_label = |label: &Label| {
            let of = |signal| Part { breaker: label.breaker.clone(), signal, variant: label.variant.clone() };
            [Some(label.signal), None].map(|signal| Mark::Part(self.place_of(of(signal))))
        };
        let parts = fact.label().into_iter().chain(halted).flat_map(of_label);
        parts.chain(matches!(fact, Fact::Ended(_)).then_some(Mark::Sessions)).collect()
    }
}

impl Engine {
    /// What models did with what they were told, so far: of one breaker, or of all. Sessions that nothing was heard of
    /// too long are ended first.
    #[must_use]
    pub fn behaviour(&self, breaker: Option<&Code>, now: Timestamp) -> Behaviour {
        self.settle_sessions(now);
        let all = self.sums.behaviour.lock();
        let is_asked = |part: &Part| breaker.is_none_or(|code| *code == part.breaker);
        let asked = all.parts.iter().filter(|(part, _)| is_asked(part));
        Behaviour {
            parts: asked.map(|(part, figures)| (part.clone(), figures.clone())).collect(),
            ..all.sessions_only()
        }
    }

    /// A refusal as it is followed.
    pub(super) fn telling(
        &self,
        refusal: &Refusal,
        call: &FollowedCall,
        is_of_result: bool,
        now: Timestamp,
    ) -> Telling {
        let keys = &self.identity.names;
        let told = &refusal.rendered.text;
        let text = if told.is_empty() { 0 } else { keys.told_text(told) };
        let telling = Telling::of(&refusal.trip, refusal.wording.code(), call, is_of_result, (keys, now));
        Telling { text, ..telling }.or_escalate_to(self.current().contract.escalation_tool.as_ref(), keys)
    }

    /// Notes a contract that is told with a result of a session's call.
    pub(super) fn note_told(&self, session: u64, call: &FollowedCall, refusal: &Refusal, now: Timestamp) {
        let telling = self.telling(refusal, call, true, now);
        let mut facts = Vec::new();
        self.sessions.with(session, now, |run| run.told(telling, &self.identity.names, &mut facts));
        self.publish(facts, now);
    }

    /// Ends the sessions that nothing was heard of too long, and concludes what is due in all others.
    pub(super) fn settle_sessions(&self, now: Timestamp) {
        (0..Sessions::SHARDS).for_each(|nth| self.settle_shard(nth, now));
    }

    /// The same, of one shard.
    pub(super) fn settle_shard(&self, nth: usize, now: Timestamp) {
        let mut facts = Vec::new();
        self.sessions.settle(nth, now, &mut facts);
        self.publish(facts, now);
    }

    /// Numbers facts as events and adds them up; called without any lock.
    pub(super) fn publish(&self, facts: Vec<Fact>, now: Timestamp) {
        if facts.is_empty() {
            return;
        }
        let changed: BTreeSet<Mark> = {
            let mut behaviour = self.sums.behaviour.lock();
            facts.iter().for_each(|fact| behaviour.add(fact));
            if self.marks.is_kept() {
                facts.iter().flat_map(|fact| behaviour.changed(fact)).collect()
            } else {
                BTreeSet::new()
            }
        };
        if !changed.is_empty() {
            self.marks.note_all(changed);
        }
        let event = |fact: Fact| {
            let breaker = fact.label().map_or_else(|| Code::from_target(SESSION), |label| label.breaker.clone());
            let what = Happening::FollowedUp(fact);
            Event { seq: 0, at: now, breaker, scope: "".into(), scope_id: 0, kind: None, generation: 0, what }
        };
        let mut events: Vec<Event> = facts.into_iter().map(event).collect();
        self.log.number(&mut events);
        self.hand_in(events);
    }
}

impl Behaviour {
    fn sessions_only(&self) -> Self {
        Self { parts: BTreeMap::new(), sessions: self.sessions }
    }
}
