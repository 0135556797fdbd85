//! From a target to the breaker that protects it, and what can be worked out from a policy before any call.

use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::policy::{BreakerPolicy, Fallback, Policy, ScopeKind, SliceGrid};
use crate::domain::ids::{Code, SafeText, TargetName};
use crate::domain::signal::CircuitKind;

/// A policy with what follows from it.
#[derive(Debug)]
pub struct PreparedPolicy {
    /// As configured.
    pub policy: BreakerPolicy,
    /// The grid of its windows.
    pub grid: SliceGrid,
    /// The alternatives in the order in which they are tried: its own, then those of theirs.
    pub chain: Vec<Link>,
    /// Whether a kind that is not kept per target counts results over time.
    pub counts_beyond_target: bool,
    /// Whether one sick caller may be refused alone.
    pub has_reporters: bool,
    /// The tool that `stop_and_escalate` names.
    pub escalation_tool: Option<SafeText>,
    /// The number of the configuration that it came with.
    pub version: u64,
}

impl PreparedPolicy {
    /// The policy of a kind.
    #[must_use]
    pub fn of(&self, kind: CircuitKind) -> Option<&Policy> {
        self.policy.policies.at(kind).as_ref()
    }

    /// What slow is here.
    #[must_use]
    pub fn slow_ms(&self) -> Option<u64> {
        self.of(CircuitKind::Latency).and_then(|policy| policy.slow_ms)
    }

    /// Whether calls in flight are followed.
    #[must_use]
    pub fn follows_calls(&self) -> bool {
        self.of(CircuitKind::Latency).is_some_and(Policy::follows_calls)
    }
}

/// An alternative and the place where its phase is published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// As configured.
    pub fallback: Fallback,
    /// Its place in [`Routes::watched`].
    pub watch: usize,
}

/// Alternatives that are tried for one refusal.
pub const CHAIN_MAX: usize = 16;

/// All breakers of one configuration.
#[derive(Clone, Debug)]
pub struct Routes {
    /// The number of the configuration, from 1.
    pub version: u64,
    /// The breaker of every target that no glob matches.
    default: Arc<PreparedPolicy>,
    breakers: Vec<Arc<PreparedPolicy>>,
    globs: GlobSet,
    /// For each glob, in the order of the set, its breaker.
    owners: Vec<usize>,
    /// Targets whose phase decides a fallback.
    pub watched: Vec<TargetName>,
}

/// The breaker of a target.
#[derive(Clone, Debug)]
pub struct Route {
    /// The code, configured or made from the target.
    pub code: Code,
    /// The policy.
    pub policy: Arc<PreparedPolicy>,
}

/// Compiles a target glob: `*` matches anything, also across `/`; `**` is the same.
///
/// # Errors
/// Where the text is no glob.
pub fn target_glob(text: &str) -> Result<globset::Glob, globset::Error> {
    GlobBuilder::new(text).literal_separator(false).backslash_escape(true).build()
}

impl Routes {
    /// Prepares the breakers of a configuration.
    ///
    /// # Errors
    /// Where a glob is none; `config` has refused it before.
    pub fn new(
        version: u64,
        default: &BreakerPolicy,
        breakers: &[BreakerPolicy],
        escalation_tool: Option<&SafeText>,
    ) -> Result<Self, globset::Error> {
        let mut builder = GlobSetBuilder::new();
        let mut owners = Vec::new();
        for (at, breaker) in breakers.iter().enumerate() {
            for glob in &breaker.targets {
                builder.add(target_glob(glob)?);
                owners.push(at);
            }
        }
        let globs = builder.build()?;
        let owner_of = |target: &str| globs.matches(target).iter().filter_map(|at| owners.get(*at)).min().copied();
        let mut watched = Vec::new();
        let prepared = |policy: &BreakerPolicy, watched: &mut Vec<TargetName>| {
            let chain = chain_of(policy, breakers, &owner_of, watched);
            Arc::new(prepare(policy.clone(), chain, escalation_tool.cloned(), version))
        };
        let default = prepared(default, &mut watched);
        let breakers = breakers.iter().map(|policy| prepared(policy, &mut watched)).collect();
        Ok(Self { version, default, breakers, globs, owners, watched })
    }

    /// The breaker of a target: the first in the file whose globs match, else the default with a code of its own.
    #[must_use]
    pub fn route(&self, target: &str) -> Route {
        let matching = if self.owners.is_empty() { vec![] } else { self.globs.matches(target) };
        let first = matching.iter().filter_map(|at| self.owners.get(*at)).min();
        let policy = first.and_then(|at| self.breakers.get(*at)).unwrap_or(&self.default);
        let code = policy.policy.code.clone().unwrap_or_else(|| Code::from_target(target));
        Route { code, policy: Arc::clone(policy) }
    }

    /// The policy of targets that no breaker names.
    #[must_use]
    pub fn default_policy(&self) -> &Arc<PreparedPolicy> {
        &self.default
    }

    /// Configured codes, in the order of the file.
    pub fn codes(&self) -> impl Iterator<Item = &Code> {
        self.breakers.iter().filter_map(|breaker| breaker.policy.code.as_ref())
    }

    /// Every configured breaker, in the order of the file.
    pub fn breakers(&self) -> impl Iterator<Item = &Arc<PreparedPolicy>> {
        self.breakers.iter()
    }
}

fn prepare(policy: BreakerPolicy, chain: Vec<Link>, escalation_tool: Option<SafeText>, version: u64) -> PreparedPolicy {
    let any = |claim: &dyn Fn(&Policy) -> bool| policy.policies.iter().any(|(_, p)| p.as_ref().is_some_and(claim));
    PreparedPolicy {
        grid: policy.slice_grid(),
        counts_beyond_target: any(&|p| p.is_windowed() && p.scope != ScopeKind::Target),
        has_reporters: any(&|p| p.min_reporters > 1),
        chain,
        escalation_tool,
        version,
        policy,
    }
}

/// Breadth first over the alternatives and their breakers' alternatives; each target once, so that a cycle ends.
fn chain_of(
    policy: &BreakerPolicy,
    breakers: &[BreakerPolicy],
    owner_of: &impl Fn(&str) -> Option<usize>,
    watched: &mut Vec<TargetName>,
) -> Vec<Link> {
    let mut chain: Vec<Link> = Vec::new();
    let mut next = 0;
    let mut found: Vec<Fallback> = policy.fallback.clone();
    loop {
        for fallback in found.drain(..) {
            let is_new = !chain.iter().any(|link| link.fallback.target == fallback.target);
            if is_new && chain.len() < CHAIN_MAX {
                let watch = watched.iter().position(|target| *target == fallback.target).unwrap_or_else(|| {
                    watched.push(fallback.target.clone());
                    watched.len() - 1
                });
                chain.push(Link { fallback, watch });
            }
        }
        let Some(link) = chain.get(next) else { return chain };
        next += 1;
        if let Some(breaker) = owner_of(link.fallback.target.as_str()).and_then(|at| breakers.get(at)) {
            found.clone_from(&breaker.fallback);
        }
    }
}

#[cfg(test)]
mod tests;
