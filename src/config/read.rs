//! From a document to a configuration: settings, then the defaults of all breakers, then each breaker on top of them.

use std::num::NonZeroU32;

use toml::de::{DeTable, DeValue};

use super::branch::Branch;
use super::checks::{self, Layer};
use super::failure::read_failure;
use super::fault::{FaultReport, Place, Sink};
use super::field::wrong_type;
use super::format::read_formats;
use super::keys::{
    BREAKER, BREAKERS, DEFAULTS, EXPERIMENTS, FAILURES, FORMATS, HOSTS, ROOT, ROUTES, SECTIONS, TEMPLATES, TOOLS,
};
use super::policy::{PolicyDraft, finish, read_policies, signals};
use super::settings::Settings;
use super::tool::read_tools;
use super::wordings::read_wordings;
use super::{Config, Lookup};
use crate::domain::breaker::policy::BreakerPolicy;
use crate::domain::signal::PerKind;

/// Breakers in one file.
pub(super) const BREAKERS_MAX: usize = 1_000;

/// Reads `text` and, over it, the environment.
pub(super) fn read(text: &str, lookup: Lookup<'_>) -> Result<Config, FaultReport> {
    let document = DeTable::parse(text).map_err(|error| FaultReport::of_syntax(text, &error))?;
    let mut sink = Sink::new(text);
    let root = Branch::root(document.get_ref());
    let mut settings = Settings::default();
    read_settings(&root, &mut settings, &mut sink);
    read_environment(lookup, &mut settings, &mut sink);
    checks::check_settings(&settings, &mut sink);

    let built_in = PerKind::from_fn(PolicyDraft::of);
    let layer = Layer { here: DEFAULTS, above: DEFAULTS };
    let defaults = root.child(DEFAULTS, &mut sink);
    if let Some(defaults) = &defaults {
        defaults.allow_only(&signals(), &mut sink);
    }
    let drafts = read_policies(defaults.as_ref(), &built_in, layer, &mut sink);
    checks::check_policies(&drafts, layer, &settings, &mut sink);
    let default_policy = BreakerPolicy {
        policies: finish(&drafts),
        calls_at_once: NonZeroU32::new(settings.session.fan_out_per_backend),
        ..BreakerPolicy::default()
    };
    checks::check_spread(&default_policy, layer, None, &mut sink);

    let breakers =
        read_breakers(&root, &Above { settings: &settings, drafts: &drafts, policy: &default_policy }, &mut sink);
    checks::check_codes(&breakers, &mut sink);
    let formats = read_formats(&root, &mut sink);
    let tools = read_tools(&root, &formats, &mut sink);
    read_wordings(&root, &mut settings, &mut sink);
    let failure = read_failure(&root, &mut sink);
    let config = Config { settings, default_policy, breakers, formats: formats.custom, tools, failure };
    checks::check_budget(&config, &mut sink);
    sink.into_report().map_or(Ok(config), Err)
}

/// Reads the environment alone over `settings`.
pub(super) fn read_over(settings: Settings, lookup: Lookup<'_>) -> Result<Settings, FaultReport> {
    let mut settings = settings;
    let mut sink = Sink::new("");
    read_environment(lookup, &mut settings, &mut sink);
    checks::check_settings(&settings, &mut sink);
    sink.into_report().map_or(Ok(settings), Err)
}

/// The name of row `index` of a list of tables in a path.
pub(super) fn row_path(list: &str, index: usize) -> String {
    format!("{list}[{index}]")
}

/// The rows of a list of tables; none where it is no list, which is reported.
pub(super) fn rows<'a>(root: &Branch<'a>, list: &str, max: usize, sink: &mut Sink<'_>) -> Vec<Place<'a>> {
    let Some(place) = root.place(list) else { return vec![] };
    let Some(tables) = place.value.as_array() else {
        sink.fault(&place, wrong_type(place.value, &format!("a list of tables, each under `[[{list}]]`,")));
        return vec![];
    };
    if tables.len() > max {
        sink.fault(&place, format!("has {} {list}s, at most {max} are allowed", tables.len()));
    }
    tables.iter().enumerate().map(|(i, value)| Place::in_file(row_path(list, i), value)).collect()
}

fn read_settings(root: &Branch<'_>, settings: &mut Settings, sink: &mut Sink<'_>) {
    let tables: Vec<&str> = SECTIONS
        .iter()
        .map(|(table, _)| *table)
        .filter(|table| !table.is_empty())
        .chain([DEFAULTS, BREAKERS, TOOLS, FORMATS, TEMPLATES, EXPERIMENTS, FAILURES, HOSTS, ROUTES])
        .collect();
    root.read(ROOT, &tables, settings, sink);
    for (table, keys) in SECTIONS.iter().filter(|(table, _)| !table.is_empty()) {
        if let Some(table) = root.child(table, sink) {
            table.read(keys, &[], settings, sink);
        }
    }
    if !sink.is_given("limits.targets_per_caller") {
        let limits = &mut settings.limits;
        limits.targets_per_caller = limits.targets_per_caller.min(limits.targets);
    }
}

fn read_environment(lookup: Lookup<'_>, settings: &mut Settings, sink: &mut Sink<'_>) {
    for (table, keys) in SECTIONS {
        for key in keys.iter().filter(|key| !key.variable.is_empty()) {
            let Some(text) = lookup(key.variable) else { continue };
            let value = match text.as_str() {
                "true" => DeValue::Boolean(true),
                "false" => DeValue::Boolean(false),
                other => DeValue::String(other.into()),
            };
            let place = Place::in_environment(key.variable.to_owned(), &value);
            let faults_before = sink.fault_count();
            key.field.read(&place, settings, sink);
            if sink.fault_count() == faults_before {
                let separator = if table.is_empty() { "" } else { "." };
                sink.mark(&format!("{table}{separator}{}", key.name), &place);
            }
        }
    }
}

/// What a breaker inherits.
struct Above<'a> {
    settings: &'a Settings,
    drafts: &'a PerKind<PolicyDraft>,
    policy: &'a BreakerPolicy,
}

fn read_breakers(root: &Branch<'_>, above: &Above<'_>, sink: &mut Sink<'_>) -> Vec<BreakerPolicy> {
    let places = rows(root, BREAKERS, BREAKERS_MAX, sink);
    places.iter().map(|place| read_breaker(place, above, sink)).collect()
}

/// One breaker; one that is at fault keeps its place, so that the others keep their index.
fn read_breaker(place: &Place<'_>, above: &Above<'_>, sink: &mut Sink<'_>) -> BreakerPolicy {
    let mut breaker = above.policy.clone();
    sink.mark(&place.path, place);
    let Some(table) = Branch::at(place, sink) else { return breaker };
    table.read(BREAKER, &signals(), &mut breaker, sink);
    if table.place("targets").is_none() {
        sink.fault(place, "has no `targets`: say what it protects, e.g. `targets = [\"POST /v2/*\"]`".to_owned());
    }
    let layer = Layer { here: &place.path, above: DEFAULTS };
    let drafts = read_policies(Some(&table), above.drafts, layer, sink);
    checks::check_policies(&drafts, layer, above.settings, sink);
    breaker.policies = finish(&drafts);
    checks::check_spread(&breaker, layer, Some(above.policy), sink);
    breaker
}
