//! What a run's calls say of the contracts that were told before them.

use super::AgentRun;
use crate::domain::behaviour::follow::FollowUps;
use crate::domain::behaviour::steps::Made;
use crate::domain::behaviour::telling::{Moment, NextCall, Telling, UsableResult};
use crate::domain::behaviour::{Fact, SessionOutcome};
use crate::domain::ids::HashKey;
use crate::domain::session::flight::{Came, InFlight};
use crate::domain::time::Timestamp;

impl AgentRun {
    /// A call is asked for, whatever will be answered: its step in its lane, from 1.
    pub fn made(&mut self, made: &Made, call: &InFlight, argument_bytes: Option<u32>, out: &mut Vec<Fact>) -> u32 {
        let in_flight = &self.in_flight;
        let step = self.steps.step_of(made, |place| in_flight.contains_key(&place));
        if let Some(follow_ups) = &mut self.follow_ups {
            let (key, epoch, lane, at) = (call.key(), self.epoch, made.lane, call.sent_at);
            follow_ups.called(&NextCall { key, argument_bytes, epoch, lane, step, at }, out);
        }
        step
    }

    /// A contract is told, before a call or after it.
    pub fn told(&mut self, telling: Telling, keys: &HashKey, out: &mut Vec<Fact>) {
        let lane = telling.moment.lane;
        // What a late result brings is told in the step that the model is in now.
        let step = telling.moment.step.max(self.steps.current(lane));
        let telling = Telling { epoch: self.epoch, moment: Moment { step, ..telling.moment }, ..telling };
        let escalation = self.policy.gates.escalation_tool.as_ref();
        let telling = telling.or_escalate_to(escalation, keys);
        self.follow_ups.get_or_insert_default().told(telling, out);
    }

    /// The task in force ended with another.
    pub(super) fn end_task(&mut self, out: &mut Vec<Fact>) {
        if let Some(follow_ups) = &mut self.follow_ups {
            follow_ups.end_task(out);
        }
    }

    /// A call came back.
    pub(super) fn came_back(&mut self, call: &InFlight, came: &Came<'_>, out: &mut Vec<Fact>) {
        let is_usable = came.typing.map_or(came.is_success, |typing| typing.observation.is_usable());
        if let Some(follow_ups) = self.follow_ups.as_mut().filter(|_| is_usable) {
            let moment = Moment { lane: call.lane, step: call.step, at: came.now };
            follow_ups.returned(&UsableResult { key: call.key(), breaker: came.breaker, moment }, out);
        }
    }

    /// Concludes the trips whose time has passed.
    pub fn settle(&mut self, now: Timestamp, out: &mut Vec<Fact>) {
        if let Some(follow_ups) = &mut self.follow_ups {
            follow_ups.settle(now, out);
        }
    }

    /// The run ends. The outcome is the caller's word; the same for whether the task was achieved.
    pub fn end(&mut self, outcome: SessionOutcome, success: Option<bool>, out: &mut Vec<Fact>) {
        let mut follow_ups = self.follow_ups.take().unwrap_or_default();
        follow_ups.end(outcome, success, out);
        if let Some(Fact::Ended(end)) = out.last_mut() {
            end.steer_then_halts = self.gates.steers_that_halted().0;
        }
    }

    /// The trips that are followed.
    #[must_use]
    pub fn follow_ups(&self) -> Option<&FollowUps> {
        self.follow_ups.as_deref()
    }
}
