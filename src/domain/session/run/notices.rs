//! What a run was told is shut, until it is told that it is shut no more; and the halts that ended. Each is said once.

use super::AgentRun;
use crate::domain::ids::Code;
use crate::domain::session::progress::Resumed;
use crate::domain::signal::Signal;
use crate::domain::time::Timestamp;

/// Breakers that a run is remembered to have been told of; the one told first is forgotten.
pub const TOLD_SHUT_MAX: usize = 16;

/// A breaker of which a run was told that it refuses a call. Names are hashed; the caller is the run's own.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ToldShut {
    /// Its code.
    pub code: Code,
    /// The target that was refused.
    pub target: u64,
    /// The credential.
    pub credential: u64,
    /// The arguments, where they tell circuits apart.
    pub arguments: u64,
    /// When it was told last.
    pub at: Timestamp,
}

impl ToldShut {
    fn is_of_same(&self, other: &Self) -> bool {
        let key = |told: &Self| (told.target, told.credential, told.arguments);
        key(self) == key(other) && self.code == other.code
    }
}

/// Whether a contract under a signal speaks of circuits that close again.
#[must_use]
pub const fn speaks_of_circuits(signal: Signal) -> bool {
    match signal {
        Signal::AuthFailure
        | Signal::QuotaExhausted
        | Signal::MalformedResponse
        | Signal::ErrorRate
        | Signal::Latency
        | Signal::OperatorOverride => true,
        Signal::NoProgress | Signal::FanOut | Signal::ScopeCreep | Signal::AmbiguousEffect => false,
    }
}

impl AgentRun {
    /// A breaker's refusal is told.
    pub fn told_shut(&mut self, told: ToldShut) {
        self.told_shut.retain(|known| !known.is_of_same(&told));
        if self.told_shut.len() >= TOLD_SHUT_MAX {
            self.told_shut.remove(0);
        }
        self.told_shut.push(told);
    }

    /// The breakers that it was told are shut and not yet that they are shut no more; and the halts that ended since
    /// this was last asked.
    pub fn due_notices(&mut self) -> (Vec<ToldShut>, Vec<Resumed>) {
        (self.told_shut.clone(), self.gates.take_resumed())
    }

    /// It is told that a breaker is shut no more. False where another call has said so, or it was told anew.
    pub fn said_closed(&mut self, told: &ToldShut) -> bool {
        let before = self.told_shut.len();
        self.told_shut.retain(|known| known != told);
        self.told_shut.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::HashKey;
    use crate::domain::session::run::RunPolicy;

    fn told(target: u64, at: u64) -> ToldShut {
        let code = Code::parse("payments").unwrap();
        ToldShut { code, target, credential: 0, arguments: 0, at: Timestamp(at) }
    }

    #[test]
    fn what_was_told_again_is_one_and_is_said_to_be_over_once() {
        let mut run = AgentRun::new(RunPolicy::default(), HashKey([0; 16]), Timestamp(0));
        run.told_shut(told(1, 10));
        run.told_shut(told(2, 11));
        run.told_shut(told(1, 12));
        assert_eq!(run.due_notices().0, [told(2, 11), told(1, 12)]);
        assert!(!run.said_closed(&told(1, 10)), "it was told anew meanwhile");
        assert!(run.said_closed(&told(1, 12)));
        assert!(!run.said_closed(&told(1, 12)));
        for target in 0..100 {
            run.told_shut(told(target, 20));
        }
        assert_eq!(run.due_notices().0.len(), TOLD_SHUT_MAX);
    }
}
