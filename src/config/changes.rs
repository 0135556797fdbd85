//! What differs between two configurations, for the log line of a reload.

use std::collections::BTreeMap;

use super::Config;
use super::key::Key;
use super::keys::{BREAKER, BREAKERS, DEFAULTS, POLICY, SECTIONS};
use super::policy::PolicyDraft;
use crate::domain::breaker::policy::BreakerPolicy;
use crate::domain::signal::CircuitKind;

impl Config {
    /// The dotted paths that have another value in `other`. A breaker is named by its code or, without one, by its
    /// first target.
    #[must_use]
    pub fn changes(&self, other: &Self) -> Vec<String> {
        let mut changes = vec![];
        for (table, keys) in SECTIONS {
            compare(table, keys, Pair { old: &self.settings, new: &other.settings }, &mut changes);
        }
        compare_policies(DEFAULTS, Pair { old: &self.default_policy, new: &other.default_policy }, &mut changes);
        compare_breakers(Pair { old: &self.breakers, new: &other.breakers }, &mut changes);
        changes
    }
}

/// The same thing before and after.
struct Pair<'a, T: ?Sized> {
    old: &'a T,
    new: &'a T,
}

fn compare<T>(path: &str, keys: &[Key<T>], pair: Pair<'_, T>, changes: &mut Vec<String>) {
    let separator = if path.is_empty() { "" } else { "." };
    let changed = keys.iter().filter(|key| key.field.written(pair.old) != key.field.written(pair.new));
    changes.extend(changed.map(|key| format!("{path}{separator}{}", key.name)));
}

fn compare_policies(path: &str, pair: Pair<'_, BreakerPolicy>, changes: &mut Vec<String>) {
    for kind in CircuitKind::ALL {
        let path = format!("{path}.{kind}");
        match (pair.old.policies.at(*kind), pair.new.policies.at(*kind)) {
            (Some(old), Some(new)) => {
                compare(&path, POLICY, Pair { old: &PolicyDraft::from(old), new: &PolicyDraft::from(new) }, changes);
            }
            (None, None) => {}
            (Some(_), None) => changes.push(format!("{path} turned off")),
            (None, Some(_)) => changes.push(format!("{path} turned on")),
        }
    }
}

fn compare_breakers(pair: Pair<'_, [BreakerPolicy]>, changes: &mut Vec<String>) {
    let (old, new) = (named(pair.old), named(pair.new));
    changes.extend(old.keys().filter(|name| !new.contains_key(*name)).map(|name| format!("{name} removed")));
    changes.extend(new.keys().filter(|name| !old.contains_key(*name)).map(|name| format!("{name} added")));
    for (name, (_, old)) in &old {
        let Some((_, new)) = new.get(name) else { continue };
        compare(name, BREAKER, Pair { old, new }, changes);
        compare_policies(name, Pair { old, new }, changes);
    }
    if !is_same_order(&old, &new) {
        changes.push(format!("{BREAKERS} order")); // a target belongs to the first that fits
    }
}

/// Breakers by name, with their place in the file.
type Named<'a> = BTreeMap<String, (usize, &'a BreakerPolicy)>;

fn named(breakers: &[BreakerPolicy]) -> Named<'_> {
    let mut named = Named::new();
    for (index, breaker) in breakers.iter().enumerate() {
        let first_target = || breaker.targets.first().map(String::as_str);
        let name = breaker.code.as_ref().map(|code| code.as_str()).or_else(first_target).unwrap_or_default();
        let name = format!("{BREAKERS}[{name}]");
        let is_taken = named.contains_key(&name);
        named.insert(if is_taken { format!("{name}#{index}") } else { name }, (index, breaker));
    }
    named
}

/// Whether what both have stands in the same order.
fn is_same_order(old: &Named<'_>, new: &Named<'_>) -> bool {
    let both = old.iter().filter_map(|(name, (old, _))| new.get(name).map(|(new, _)| (*old, *new)));
    let mut both: Vec<(usize, usize)> = both.collect();
    both.sort_unstable();
    both.is_sorted_by_key(|(_, new)| *new)
}
