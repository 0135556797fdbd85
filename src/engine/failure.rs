//! What may follow a failed step: finds the phases and the rules that the tree reads, asks the log of attempts, and
//! keeps callers apart. Decides nothing itself.

use std::sync::Arc;

use super::keep::Mark;
use super::sync::Mutex;
use super::{Arguments, AskedAs, Call, CallId, Engine, Report, Reported, Said, StepOfCall};
use crate::domain::breaker::permit::Permit;
use crate::domain::breaker::scope::CallNames;
use crate::domain::failure::FailureClass;
use crate::domain::failure::attempts::{
    Answer, Asked, Attempt, AttemptId, AttemptLog, InvalidSketch, KeptAttempt, LogBounds, StepKey,
};
use crate::domain::failure::binding::{Binding, FailureRules};
use crate::domain::failure::names::{HostName, SketchRef, StepName};
use crate::domain::failure::record::AttemptRecord;
use crate::domain::failure::tree::{self, Leaf};
use crate::domain::ids::{HashTag, TargetName};
use crate::domain::observation::{FailedStep, Handled, Handling};
use crate::domain::time::Timestamp;
use crate::domain::tool::Effect;
use crate::domain::verdict::Verdict;

/// A step at one binding, as its caller names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The step.
    pub name: StepName,
    /// Where it ran.
    pub binding: Binding,
    /// The hosts at which its snapshot can be read.
    pub published_at: Vec<HostName>,
    /// Where the caller would keep the reply of a narrowed call.
    pub sketch: Option<SketchRef>,
}

/// The attempts of one step that are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAttempts {
    /// The oldest first.
    pub attempts: Vec<Arc<Attempt>>,
    /// How many went before these.
    pub dropped: u64,
}

/// The log of attempts of one process.
#[derive(Debug)]
pub(crate) struct Attempts {
    // Guards all attempts, as any may drop the oldest of another step. A leaf lock: no other is taken while it is held,
    // so the phases of hosts are read before. One is enough: only failed steps come here.
    log: Mutex<AttemptLog>,
}

impl Attempts {
    pub(crate) fn new(in_all: usize) -> Self {
        Self { log: Mutex::new(AttemptLog::new(LogBounds { in_all, ..LogBounds::default() })) }
    }

    /// With the same bounds, and without an attempt.
    pub(crate) fn emptied(&self) -> Self {
        Self { log: Mutex::new(AttemptLog::new(self.log.lock().bounds())) }
    }

    /// An attempt as it is kept over a restart.
    pub(super) fn kept(&self, id: u64) -> Option<KeptAttempt> {
        self.log.lock().snapshot(id)
    }

    /// How many were dropped for want of room.
    pub(super) fn dropped(&self) -> u64 {
        self.log.lock().dropped()
    }

    /// Puts an attempt back, the older ones first.
    pub(super) fn restore(&self, kept: KeptAttempt) {
        self.log.lock().restore(kept);
    }

    /// No attempt gets a number before this one.
    pub(super) fn go_on_from(&self, first: u64) {
        self.log.lock().go_on_from(first);
    }
}

/// A failed attempt of a step; the caller is hashed.
#[derive(Clone, Copy, Debug)]
struct Failed<'a> {
    caller: u64,
    step: &'a Step,
    record: &'a AttemptRecord,
}

impl Engine {
    /// What may follow a failed attempt of a step. Asked again, the same is answered and nothing moves.
    #[must_use]
    pub fn decide_step(&self, caller: &str, step: &Step, record: &AttemptRecord, now: Timestamp) -> Answer {
        let failed = Failed { caller: self.hash(HashTag::Caller, caller), step, record };
        self.decide_failed(&failed, now)
    }

    /// What the tree says of a failed call that came with its step, and who acts on that. None without a step, and where
    /// a permit that is not known leaves the step's caller unknown.
    pub(super) fn stepped(
        &self,
        report: &Report<'_>,
        handled: &Handled<'_>,
        failed: Option<FailedStep>,
        now: Timestamp,
    ) -> Option<(Handling, Arc<Attempt>)> {
        let (of, failed) = (report.step.as_ref()?, failed?);
        let caller = match report.reported {
            Reported::Permit(token) => Permit::open(token, &self.identity.permits)?.caller,
            Reported::Call(id) => self.hash(HashTag::Caller, id.caller),
        };
        let is_lost = failed.is_timed_out
            || match &report.said {
                Said::Seen(seen) => seen.transport.lost_the_reply(),
                Said::Judged(..) => false,
            };
        let record = record_of(of, handled, failed.class, is_lost);
        let attempt = self.decide_failed(&Failed { caller, step: &of.step, record: &record }, now).attempt;
        Some((handled.stepped(&failed, attempt.decision.leaf), attempt))
    }

    /// The attempts of a caller's step that are kept.
    #[must_use]
    pub fn attempts_of_step(&self, caller: &str, step: &StepName) -> KeptAttempts {
        let key = StepKey { caller: self.hash(HashTag::Caller, caller), name: step.clone() };
        let log = self.attempts.log.lock();
        KeptAttempts { attempts: log.by_step(&key).cloned().collect(), dropped: log.dropped_of(&key) }
    }

    /// Marks the sketch of a caller's attempt as accepted; the first time stands.
    ///
    /// # Errors
    /// Where the caller has no such attempt, or it has no sketch.
    pub fn accept_sketch(&self, caller: &str, id: u64, now: Timestamp) -> Result<Answer, InvalidSketch> {
        let caller = self.hash(HashTag::Caller, caller);
        let answer = self.attempts.log.lock().accept_sketch(now, AttemptId { caller, id });
        self.marks.note(Mark::Attempt(id));
        answer
    }

    fn decide_failed(&self, failed: &Failed<'_>, now: Timestamp) -> Answer {
        let current = self.current();
        let rules = &current.failure;
        let Step { name, binding, published_at, sketch } = failed.step;
        let key = StepKey { caller: failed.caller, name: name.clone() };
        let asked = Asked { step: &key, binding, record: failed.record, published_at, sketch: sketch.as_ref() };
        let shut = self.shut_hosts(failed, rules, now); // before the lock, which is a leaf
        let answer = self.attempts.log.lock().decide(now, &asked, rules, &|host| shut.contains(&host));
        self.marks.note(Mark::Attempt(answer.attempt.id));
        answer
    }

    /// The spare hosts that the step could move to and whose circuits refuse calls now. At most as many as are confirmed.
    fn shut_hosts<'r>(&self, failed: &Failed<'_>, rules: &'r FailureRules, now: Timestamp) -> Vec<&'r HostName> {
        if tree::branch(failed.record, &rules.cap).leaf != Leaf::ComputeMove {
            return vec![];
        }
        let Binding { host, route, .. } = &failed.step.binding;
        let spare = rules.confirmed.hosts().iter().filter(|spare| spare.name != *host && spare.routes.contains(route));
        let published = spare.map(|spare| &spare.name).filter(|name| failed.step.published_at.contains(name));
        published.filter(|name| self.is_shut(name, failed.caller, now)).collect()
    }

    /// Whether a call to the target of a host's name would be refused now. Takes nothing.
    fn is_shut(&self, host: &HostName, caller: u64, now: Timestamp) -> bool {
        let Ok(target) = TargetName::parse(host.as_str()) else { return false }; // nothing can be called by that name
        let call = Call {
            target: &target,
            target_is_tool: false,
            id: CallId { attempt: 1, ..CallId::default() },
            arguments: Arguments::Unknown,
            arguments_bytes: None,
            credential: "",
            asked_as: AskedAs::default(),
        };
        let names = CallNames { caller, ..self.names(&call) };
        matches!(self.look(&call, names, now), Some(Verdict::Refuse(_)))
    }
}

/// What the tree reads of a call: what its caller said of the step, and what is known of the call itself.
const fn record_of(of: &StepOfCall, handled: &Handled<'_>, class: FailureClass, is_lost: bool) -> AttemptRecord {
    AttemptRecord {
        failure_class: Some(class),
        attempt: handled.attempt,
        writes: of.writes || matches!(handled.effect, Effect::Mutate),
        tools_enabled: of.tools_enabled,
        snapshot_same: of.snapshot_same,
        effect_unknown: of.effect_unknown || (is_lost && !matches!(handled.effect, Effect::Read)),
        has_idempotency_key: handled.is_idempotent,
        policy_denied: of.policy_denied,
    }
}
