//! What a session may call at all: the allowlist, and what the user or the host refused.

use std::collections::BTreeMap;

use super::policy::ScopePolicy;
use crate::domain::contract::session::{Refuser, SessionFigures};

/// Refused calls that are kept of a task; at the bound the one that was refused longest ago goes.
pub const PINNED_CALLS_MAX: usize = 256;
/// Tools whose refusals are counted; at the bound the one that was refused longest ago goes.
pub const PINNED_TOOLS_MAX: usize = 64;

/// A refusal, or several of one tool.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Pin {
    by: Refuser,
    times: u32,
    /// The number of the last refusal.
    last: u64,
}

/// The pins of a task.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ScopeGuard {
    refusals: u64,
    /// By tool and canonical arguments, hashed.
    #[serde(with = "crate::domain::written::pairs")]
    calls: BTreeMap<(u64, u64), Pin>,
    tools: BTreeMap<u64, Pin>,
}

impl ScopeGuard {
    /// Why a call is outside of what is allowed; none where it is not.
    #[must_use]
    pub fn judge(&self, policy: &ScopePolicy, tool: u64, name: &str, arguments: u64) -> Option<SessionFigures> {
        if !is_allowed(policy, name) {
            return Some(SessionFigures::NotAllowed { allowed: u32::try_from(policy.allow.len()).unwrap_or(u32::MAX) });
        }
        let pinned = |pin: &&Pin| policy.pin_tool_after.is_some_and(|after| pin.times >= after.get());
        let pin = self.calls.get(&(tool, arguments)).or_else(|| self.tools.get(&tool).filter(pinned));
        pin.map(|pin| SessionFigures::Refused(pin.by))
    }

    /// The user or the host refused a call: exactly this one is pinned, and its tool has one refusal more.
    pub fn refused(&mut self, tool: u64, arguments: u64, by: Refuser) {
        self.refusals += 1;
        pin(&mut self.calls, (tool, arguments), PINNED_CALLS_MAX, by, self.refusals);
        pin(&mut self.tools, tool, PINNED_TOOLS_MAX, by, self.refusals);
    }

    /// The user said yes to a call: its pin and its tool's are off. The other calls of the tool stay pinned.
    pub fn approved(&mut self, tool: u64, arguments: u64) {
        self.calls.remove(&(tool, arguments));
        self.tools.remove(&tool);
    }

    /// A new task: every pin is off.
    pub fn new_task(&mut self) {
        self.calls.clear();
        self.tools.clear();
    }

    /// Pins that are kept, at most [`PINNED_CALLS_MAX`] and [`PINNED_TOOLS_MAX`].
    #[must_use]
    pub fn entries(&self) -> usize {
        self.calls.len() + self.tools.len()
    }
}

/// Whether the allowlist has room for a tool.
#[must_use]
pub fn is_allowed(policy: &ScopePolicy, name: &str) -> bool {
    policy.allow.is_empty() || policy.allow.iter().any(|glob| glob.is_match(name))
}

fn pin<K: Ord + Copy>(pins: &mut BTreeMap<K, Pin>, key: K, max: usize, by: Refuser, last: u64) {
    if pins.len() >= max && !pins.contains_key(&key) {
        let oldest = pins.iter().min_by_key(|(_, pin)| pin.last).map(|(key, _)| *key);
        oldest.and_then(|key| pins.remove(&key));
    }
    let times = pins.get(&key).map_or(0, |pin| pin.times);
    pins.insert(key, Pin { by, times: times.saturating_add(1), last });
}
