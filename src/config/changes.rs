//! What differs between two configurations, for the log line of a reload.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Config;
use super::failure::{HostDraft, RetryDraft, RouteDraft};
use super::format::FormatDraft;
use super::key::Key;
use super::keys::{
    BREAKER, BREAKERS, DEFAULTS, EXPERIMENT, EXPERIMENTS, FAILURE, FAILURES, FORMAT, FORMATS, HOST, HOSTS, POLICY,
    ROUTE, ROUTES, SECTIONS, TEMPLATE, TEMPLATES, TOOL, TOOLS,
};
use super::policy::PolicyDraft;
use super::tool::ToolDraft;
use super::wordings::{ExperimentDraft, TemplateDraft};
use crate::domain::breaker::policy::BreakerPolicy;
use crate::domain::contract::Wordings;
use crate::domain::failure::binding::FailureRules;
use crate::domain::observation::custom::CustomFormat;
use crate::domain::signal::CircuitKind;
use crate::domain::tool::ToolRow;

impl Config {
    /// The dotted paths that have another value in `other`. A breaker is named by its code or, without one, by its
    /// first target; a row of tools by its glob; all other rows by their names.
    #[must_use]
    pub fn changes(&self, other: &Self) -> Vec<String> {
        let mut changes = vec![];
        for (table, keys) in SECTIONS {
            compare(table, keys, Pair { old: &self.settings, new: &other.settings }, &mut changes);
        }
        compare_policies(DEFAULTS, Pair { old: &self.default_policy, new: &other.default_policy }, &mut changes);
        let breakers = Pair { old: self.breakers.as_slice(), new: &other.breakers };
        Rows { list: BREAKERS, pair: breakers, name: breaker_name }.compare(&mut changes, compare_breaker);
        let tools = Pair { old: self.tools.rows(), new: other.tools.rows() };
        Rows { list: TOOLS, pair: tools, name: |row| &row.pattern }.compare(&mut changes, compare_tool);
        let formats = Pair { old: self.formats.as_slice(), new: &other.formats };
        Rows { list: FORMATS, pair: formats, name: |format| format.name.as_str() }
            .compare(&mut changes, compare_format);
        compare_wordings(Pair { old: wordings_of(self), new: wordings_of(other) }, &mut changes);
        compare_failure(Pair { old: &self.failure, new: &other.failure }, &mut changes);
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

/// A list of tables before and after, in which the first row that fits is the one.
struct Rows<'a, T> {
    list: &'static str,
    pair: Pair<'a, [T]>,
    /// What tells one row from another.
    name: fn(&T) -> &str,
}

impl<T> Rows<'_, T> {
    /// Notes rows that came, went or moved, and has those that stayed compared under their names.
    fn compare(&self, changes: &mut Vec<String>, compare_one: fn(&str, Pair<'_, T>, &mut Vec<String>)) {
        let (old, new) = (self.named(self.pair.old), self.named(self.pair.new));
        changes.extend(old.keys().filter(|name| !new.contains_key(*name)).map(|name| format!("{name} removed")));
        changes.extend(new.keys().filter(|name| !old.contains_key(*name)).map(|name| format!("{name} added")));
        for (name, (_, old)) in &old {
            let Some((_, new)) = new.get(name) else { continue };
            compare_one(name, Pair { old, new }, changes);
        }
        if !is_same_order(&old, &new) {
            changes.push(format!("{} order", self.list));
        }
    }

    fn named<'r>(&self, rows: &'r [T]) -> Named<'r, T> {
        let mut named = Named::new();
        for (index, row) in rows.iter().enumerate() {
            let name = format!("{}[{}]", self.list, (self.name)(row));
            let is_taken = named.contains_key(&name);
            named.insert(if is_taken { format!("{name}#{index}") } else { name }, (index, row));
        }
        named
    }
}

/// Rows by name, with their place in the file.
type Named<'a, T> = BTreeMap<String, (usize, &'a T)>;

/// Whether what both have stands in the same order.
fn is_same_order<T>(old: &Named<'_, T>, new: &Named<'_, T>) -> bool {
    let both = old.iter().filter_map(|(name, (old, _))| new.get(name).map(|(new, _)| (*old, *new)));
    let mut both: Vec<(usize, usize)> = both.collect();
    both.sort_unstable();
    both.is_sorted_by_key(|(_, new)| *new)
}

fn wordings_of(config: &Config) -> &Wordings {
    &config.settings.contract.wordings
}

fn compare_wordings(pair: Pair<'_, Wordings>, changes: &mut Vec<String>) {
    let templates = Pair { old: pair.old.templates(), new: pair.new.templates() };
    let rows = Rows { list: TEMPLATES, pair: templates, name: |template| template.name().as_str() };
    rows.compare(changes, |path, pair, changes| {
        let (old, new) = (TemplateDraft::from(&**pair.old), TemplateDraft::from(&**pair.new));
        compare(path, TEMPLATE, Pair { old: &old, new: &new }, changes);
    });
    let experiments = Pair { old: pair.old.experiments(), new: pair.new.experiments() };
    let rows = Rows { list: EXPERIMENTS, pair: experiments, name: |experiment| experiment.name().as_str() };
    rows.compare(changes, |path, pair, changes| {
        let (old, new) = (ExperimentDraft::from(pair.old), ExperimentDraft::from(pair.new));
        compare(path, EXPERIMENT, Pair { old: &old, new: &new }, changes);
    });
}

fn compare_failure(pair: Pair<'_, FailureRules>, changes: &mut Vec<String>) {
    let (old, new) = (RetryDraft::from(&pair.old.cap), RetryDraft::from(&pair.new.cap));
    compare(FAILURES, FAILURE, Pair { old: &old, new: &new }, changes);
    let (old, new) = (&pair.old.confirmed, &pair.new.confirmed);
    let hosts = Pair { old: old.hosts(), new: new.hosts() };
    Rows { list: HOSTS, pair: hosts, name: |host| host.name.as_str() }.compare(changes, |path, pair, changes| {
        compare(path, HOST, Pair { old: &HostDraft::from(pair.old), new: &HostDraft::from(pair.new) }, changes);
    });
    let routes = Pair { old: old.routes(), new: new.routes() };
    Rows { list: ROUTES, pair: routes, name: |route| route.name.as_str() }.compare(changes, |path, pair, changes| {
        compare(path, ROUTE, Pair { old: &RouteDraft::from(pair.old), new: &RouteDraft::from(pair.new) }, changes);
    });
}

fn breaker_name(breaker: &BreakerPolicy) -> &str {
    let first_target = || breaker.targets.first().map(String::as_str);
    breaker.code.as_ref().map(|code| code.as_str()).or_else(first_target).unwrap_or_default()
}

fn compare_breaker(path: &str, pair: Pair<'_, BreakerPolicy>, changes: &mut Vec<String>) {
    compare(path, BREAKER, Pair { old: pair.old, new: pair.new }, changes);
    compare_policies(path, pair, changes);
}

fn compare_tool(path: &str, pair: Pair<'_, ToolRow>, changes: &mut Vec<String>) {
    compare(path, TOOL, Pair { old: &ToolDraft::from(pair.old), new: &ToolDraft::from(pair.new) }, changes);
}

fn compare_format(path: &str, pair: Pair<'_, Arc<CustomFormat>>, changes: &mut Vec<String>) {
    let (old, new) = (FormatDraft::from(&**pair.old), FormatDraft::from(&**pair.new));
    compare(path, FORMAT, Pair { old: &old, new: &new }, changes);
}
