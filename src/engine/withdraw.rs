//! Which tools of a session cannot be called now, so that they can be taken out of a model's list: a small model follows
//! a missing tool better than a prohibition. Asks one breaker after the other; must not be asked under a lock.

use super::{Decision, Engine, Handed};
use crate::domain::breaker::permit::Permit;
use crate::domain::breaker::scope::CallNames;
use crate::domain::breaker::{Ask, names_of};
use crate::domain::ids::{HashTag, SafeText};
use crate::domain::session::run::{ToolTarget, speaks_of_circuits};
use crate::domain::time::Timestamp;
use crate::domain::verdict::Verdict;

/// Tools that one trip names.
const WITHDRAWN_MAX: usize = 16;

/// Whose tools are looked at: a session by its key, and its caller, hashed.
#[derive(Clone, Copy)]
struct Owner {
    session: u64,
    caller: u64,
}

impl Engine {
    /// A decision on a call, which says of a refusal what else of the session is shut.
    pub(super) fn with_withdrawn(&self, decision: Decision, names: (&str, &str), now: Timestamp) -> Decision {
        let (caller, session) = names;
        match decision {
            Decision::Trip(mut refusal) if !session.is_empty() => {
                let owner =
                    Owner { session: self.session_key(caller, session), caller: self.hash(HashTag::Caller, caller) };
                refusal.withdraw = self.withdrawn(owner, now);
                Decision::Trip(refusal)
            }
            Decision::Trip(_) | Decision::Permit { .. } => decision,
        }
    }

    /// The same of a trip that is told with a result.
    pub(super) fn handed_with_withdrawn(&self, mut handed: Handed, permit: Option<&Permit>, now: Timestamp) -> Handed {
        let told = handed.answer.trip.as_mut().or(handed.guard.as_mut());
        if let (Some(refusal), Some(permit)) = (told, permit.filter(|permit| permit.session != 0)) {
            let owner = Owner { session: permit.session, caller: names_of(permit).caller };
            refusal.withdraw = self.withdrawn(owner, now);
        }
        handed
    }

    /// The tools that lead to nothing but shut targets, the one used last first.
    fn withdrawn(&self, owner: Owner, now: Timestamp) -> Vec<SafeText> {
        let known = self.sessions.with(owner.session, now, |run| run.tool_targets()).unwrap_or_default();
        let mut shut: Vec<SafeText> = Vec::new();
        for (at, first) in known.iter().enumerate() {
            let is_same = |other: &&ToolTarget| other.tool == first.tool;
            if shut.len() < WITHDRAWN_MAX
                && !known.iter().take(at).any(|other| is_same(&other))
                && known.iter().skip(at).filter(is_same).all(|led| self.leads_nowhere(led, owner, now))
            {
                shut.push(first.tool.clone());
            }
        }
        shut
    }

    /// Whether a circuit keeps even the smallest call from a target. A breaker whose places are all taken is not shut.
    fn leads_nowhere(&self, led: &ToolTarget, owner: Owner, now: Timestamp) -> bool {
        let target = self.identity.names.hash(HashTag::Target, led.target.as_str().as_bytes());
        let names = CallNames { target, caller: owner.caller, credential: led.credential, arguments: 0 };
        let arguments_bytes = Some(0);
        let ask = Ask { names, target: &led.target, arguments_bytes, session: owner.session, call: 0, seq: 0 };
        match self.look_as(&ask, now) {
            Some(Verdict::Refuse(trip)) => speaks_of_circuits(trip.contract.row.signal),
            Some(Verdict::Proceed(_)) | None => false,
        }
    }
}
