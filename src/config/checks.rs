//! Rules over more than one key. A fault is put on the key that the operator wrote in this table; where none of them
//! is written here, it was reported where they are; where one of them could not be read, nothing is said.

use std::collections::HashMap;

use super::Config;
use super::fault::Sink;
use super::keys::{BREAKERS, DEFAULTS};
use super::policy::PolicyDraft;
use super::read::row_path;
use super::settings::{Listen, Settings};
use super::text::Written;
use super::wordings::text_key;
use crate::domain::breaker::policy::{BreakerPolicy, OpenFor, Policy, SLICES_IN_SHORTEST, WINDOW_SPREAD_MAX};
use crate::domain::contract::Wording;
use crate::domain::contract::budget::{self, BudgetFault};
use crate::domain::signal::{CircuitKind, PerKind};

/// The key that bounds every lease.
const PERMIT_FOR: &str = "permit_for";

/// The table whose policies are read, and the one from which they inherit (itself for the defaults).
#[derive(Clone, Copy)]
pub(super) struct Layer<'a> {
    pub(super) here: &'a str,
    pub(super) above: &'a str,
}

impl Layer<'_> {
    pub(super) fn here(self, kind: CircuitKind) -> String {
        format!("{}.{kind}", self.here)
    }

    pub(super) fn key_here(self, kind: CircuitKind, key: &str) -> String {
        format!("{}.{kind}.{key}", self.here)
    }

    fn key_above(self, kind: CircuitKind, key: &str) -> String {
        format!("{}.{kind}.{key}", self.above)
    }

    /// Whether the value that holds here comes from a key that could not be read.
    pub(super) fn is_faulty(self, kind: CircuitKind, key: &str, sink: &Sink<'_>) -> bool {
        let here = self.key_here(kind, key);
        let from = if sink.is_given(&here) { here } else { self.key_above(kind, key) };
        sink.is_faulty(&from)
    }
}

/// Rules over the settings.
pub(super) fn check_settings(settings: &Settings, sink: &mut Sink<'_>) {
    for (key, address) in [("grpc", Some(&settings.grpc)), ("http", settings.http.as_ref())] {
        if address.is_some_and(Listen::is_beyond_loopback) && !settings.insecure {
            let rule = "is beyond loopback, where nothing protects it: a loopback address or `insecure = true` is due";
            let other = "leaves an address beyond loopback without protection: `true` or a loopback address is due";
            blame(&[(key.to_owned(), rule.to_owned()), ("insecure".to_owned(), other.to_owned())], sink);
        }
    }
    for (steer, steer_at, halt, halt_at) in settings.session.pairs() {
        if halt_at <= steer_at {
            let rule =
                format!("is not above `session.{steer}`: more than {steer_at} is due, as a halt comes after a steer");
            let other =
                format!("is not below `session.{halt}`: less than {halt_at} is due, as a halt comes after a steer");
            blame(&[(format!("session.{halt}"), rule), (format!("session.{steer}"), other)], sink);
        }
    }
    if let Err((list, invalid)) = settings.session.review.keywords() {
        blame(&[(format!("review.{list}"), invalid.to_string())], sink);
    }
    let limits = &settings.limits;
    if limits.targets_per_caller > limits.targets {
        let rule = format!("is above `limits.targets`: at most {} is allowed", limits.targets);
        blame(&[("limits.targets_per_caller".to_owned(), rule.clone()), ("limits.targets".to_owned(), rule)], sink);
    }
}

/// Rules over the keys of each policy.
pub(super) fn check_policies(
    drafts: &PerKind<PolicyDraft>,
    layer: Layer<'_>,
    settings: &Settings,
    sink: &mut Sink<'_>,
) {
    for (kind, draft) in drafts.iter() {
        for pair in broken_pairs(&draft.policy) {
            let is_unsure = pair.iter().any(|(key, _)| layer.is_faulty(kind, key, sink));
            if !is_unsure {
                blame(&pair.map(|(key, rule)| (layer.key_here(kind, key), rule)), sink);
            }
        }
        check_observe(kind, draft, layer, sink);
        if draft.finish(kind).is_some() {
            check_lease(kind, draft.policy.lease_ms, layer, settings.permit_for_ms, sink);
        }
    }
}

/// Each broken rule over two keys, with what is wrong from the side of either.
fn broken_pairs(policy: &Policy) -> Vec<[(&'static str, String); 2]> {
    let OpenFor { base_ms, max_ms, .. } = policy.open_for;
    let mut broken = vec![];
    if max_ms < base_ms {
        broken.push([
            ("max_open", format!("is below `open_for`: at least {} is due", Written(base_ms))),
            ("open_for", format!("is above `max_open`: at most {} is allowed", Written(max_ms))),
        ]);
    }
    if policy.lease_ms >= max_ms {
        broken.push([
            ("lease", format!("is not below `max_open`: less than {} is due", Written(max_ms))),
            ("max_open", format!("is not above `lease`: more than {} is due", Written(policy.lease_ms))),
        ]);
    }
    broken
}

/// An `observe` that is not written in this table is raised by the machine, one that is written has to be long enough.
fn check_observe(kind: CircuitKind, draft: &PolicyDraft, layer: Layer<'_>, sink: &mut Sink<'_>) {
    let observe = layer.key_here(kind, "observe");
    let longest_ms = draft.longest_window_ms();
    let is_unsure = sink.is_faulty(&observe) || layer.is_faulty(kind, "rules", sink);
    if draft.policy.observe_ms < longest_ms && sink.is_given(&observe) && !is_unsure {
        sink.fault_at(&observe, format!("is below a window of `rules`: at least {} is due", Written(longest_ms)));
    }
}

fn check_lease(kind: CircuitKind, lease_ms: u64, layer: Layer<'_>, permit_for_ms: u64, sink: &mut Sink<'_>) {
    if lease_ms <= permit_for_ms || layer.is_faulty(kind, "lease", sink) || sink.is_faulty(PERMIT_FOR) {
        return;
    }
    let here = layer.key_here(kind, "lease");
    if sink.is_given(&here) {
        sink.fault_at(&here, format!("is above `{PERMIT_FOR}`: at most {} is allowed", Written(permit_for_ms)));
    } else if !sink.is_given(&layer.key_above(kind, "lease")) && !sink.is_blamed(PERMIT_FOR) {
        let lease = Written(lease_ms);
        let rule =
            format!("is below the default `lease`: at least {lease} is due, or a shorter `lease` for every signal");
        sink.fault_at(PERMIT_FOR, rule);
    }
}

/// The windows of a breaker are cut on one grid, whose slices are bounded.
///
/// `above` is the breaker from which this one inherits; what is wrong with that was reported there.
pub(super) fn check_spread(
    breaker: &BreakerPolicy,
    layer: Layer<'_>,
    above: Option<&BreakerPolicy>,
    sink: &mut Sink<'_>,
) {
    let keys = ["enabled", "slow", "rules", "observe"];
    let is_unsure = || CircuitKind::ALL.iter().any(|kind| keys.iter().any(|key| layer.is_faulty(*kind, key, sink)));
    if !is_spread_too_far(breaker) || is_unsure() {
        return;
    }
    let (mut shortest, mut longest) = (u64::MAX, 0);
    let mut windows = vec![];
    for (kind, policy) in breaker.policies.iter() {
        let Some(policy) = policy.as_ref().filter(|policy| policy.is_windowed()) else { continue };
        let ruled = policy.rules.iter().filter_map(|rule| rule.window_ms()).map(|ms| ("rules", ms));
        windows.extend(ruled.chain([("observe", policy.observe_ms)]).map(|(key, ms)| (layer.key_here(kind, key), ms)));
        shortest = policy.rules.iter().filter_map(|rule| rule.window_ms()).fold(shortest, u64::min);
        longest = windows.iter().map(|(_, ms)| *ms).fold(longest, u64::max);
    }
    windows.retain(|(_, ms)| *ms == shortest || *ms == longest);
    let rule = format!(
        "has windows from {} to {} in one breaker: the longest is at most {WINDOW_SPREAD_MAX} times the shortest",
        Written(shortest),
        Written(longest)
    );
    let blamed = windows.iter().map(|(key, _)| key).find(|key| sink.is_given(key));
    match blamed {
        Some(key) => sink.fault_at(key, rule),
        None if above.is_some_and(is_spread_too_far) => {} // reported there
        None => sink.fault_at(layer.here, rule),           // what was turned on here has its windows above
    }
}

/// Asks the grid itself, whose slices are whole milliseconds.
fn is_spread_too_far(breaker: &BreakerPolicy) -> bool {
    let grid = breaker.slice_grid();
    grid.span_ms > grid.slice_ms.saturating_mul(SLICES_IN_SHORTEST * WINDOW_SPREAD_MAX)
}

/// No two breakers have one code.
pub(super) fn check_codes(breakers: &[BreakerPolicy], sink: &mut Sink<'_>) {
    let mut seen = HashMap::new();
    for (index, breaker) in breakers.iter().enumerate() {
        let Some(code) = &breaker.code else { continue };
        let first = *seen.entry(code).or_insert(index);
        if first != index {
            let rule = format!("is the code of `{}` too: a code of its own is due", row_path(BREAKERS, first));
            sink.fault_at(&format!("{}.code", row_path(BREAKERS, index)), rule);
        }
    }
}

/// The worst contract of each breaker fits the budget; asked only where all that goes into it is sound.
pub(super) fn check_budget(config: &Config, sink: &mut Sink<'_>) {
    if sink.is_faulty("contract") || sink.is_faulty(DEFAULTS) {
        return;
    }
    let faults = budget::prove(&config.default_policy, &config.breakers, &config.settings.contract);
    report_overruns(faults, sink);
}

pub(super) fn report_overruns(faults: Vec<BudgetFault>, sink: &mut Sink<'_>) {
    let budget = "contract.budget_bytes";
    for BudgetFault { breaker, wording, field, bytes, limit } in faults {
        let breaker = breaker.map(|index| row_path(BREAKERS, index));
        if breaker.as_ref().is_some_and(|path| sink.is_faulty(path)) {
            continue;
        }
        let worst = format!("can make a contract of {bytes} bytes");
        let (key, rule) = match &wording {
            Wording::Template(template) => {
                let at = breaker.map(|path| format!(" at `{path}`")).unwrap_or_default();
                (text_key(template.name()), format!("{worst}{at}, above the budget of {limit}: a shorter `text`"))
            }
            Wording::BuiltIn(variant) => {
                let rule = format!("{worst} in `{variant}`, above the budget of {limit}: a shorter `{field}`");
                (breaker.unwrap_or_else(|| budget.to_owned()), rule)
            }
        };
        sink.fault_at(&key, format!("{rule} or a larger `{budget}` is due"));
    }
}

/// Reports the first of the keys that is written here; nothing where one of them could not be read.
fn blame(candidates: &[(String, String)], sink: &mut Sink<'_>) {
    if candidates.iter().any(|(key, _)| sink.is_faulty(key)) {
        return;
    }
    let given = candidates.iter().find(|(key, _)| sink.is_given(key));
    if let Some((key, rule)) = given {
        sink.fault_at(key, rule.clone());
    }
}
