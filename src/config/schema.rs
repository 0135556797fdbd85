//! The JSON Schema (draft 2020-12) that editors complete and check the configuration by.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::failure::{self, RetryDraft};
use super::format::{self, FORMATS_MAX, FormatDraft};
use super::key::Key;
use super::keys::{
    BREAKER, BREAKERS, DEFAULTS, EXPERIMENT, EXPERIMENTS, FAILURE, FAILURES, FORMAT, FORMATS, HOST, HOSTS, POLICY,
    ROOT, ROUTE, ROUTES, SECTIONS, TEMPLATE, TEMPLATES, TOOL, TOOLS,
};
use super::policy::PolicyDraft;
use super::read::BREAKERS_MAX;
use super::settings::Settings;
use super::tool::{self, TOOLS_MAX, ToolDraft};
use super::wordings;
use crate::domain::breaker::policy::BreakerPolicy;
use crate::domain::contract::experiment::{EXPERIMENTS_MAX, TEMPLATES_MAX};
use crate::domain::failure::confirmed::{HOSTS_MAX, ROUTES_MAX};
use crate::domain::signal::CircuitKind;

/// The schema of a whole file.
#[must_use]
pub fn schema() -> Value {
    let settings = Settings::default();
    let mut root = properties(ROOT, Some(&settings));
    for (table, keys) in SECTIONS.iter().filter(|(table, _)| !table.is_empty()) {
        root.insert((*table).to_owned(), closed(properties(keys, Some(&settings))).into());
    }
    let mut breaker = properties(BREAKER, Some(&BreakerPolicy::default()));
    breaker.append(&mut kinds());
    root.insert(DEFAULTS.to_owned(), closed(kinds()).into());
    root.insert(BREAKERS.to_owned(), rows(BREAKERS_MAX, breaker, &["targets"]));
    root.insert(TOOLS.to_owned(), rows(TOOLS_MAX, properties(TOOL, Some(&ToolDraft::default())), &[tool::MATCH]));
    root.insert(FORMATS.to_owned(), formats());
    let due = [wordings::NAME, wordings::TEXT];
    root.insert(TEMPLATES.to_owned(), rows(TEMPLATES_MAX, properties(TEMPLATE, None), &due));
    let due = [wordings::NAME, wordings::BREAKERS, wordings::VARIANTS];
    root.insert(EXPERIMENTS.to_owned(), rows(EXPERIMENTS_MAX, properties(EXPERIMENT, None), &due));
    root.insert(FAILURES.to_owned(), closed(properties(FAILURE, Some(&RetryDraft::default()))).into());
    root.insert(HOSTS.to_owned(), rows(HOSTS_MAX, properties(HOST, None), &[failure::NAME, failure::SERVED]));
    root.insert(ROUTES.to_owned(), rows(ROUTES_MAX, properties(ROUTE, None), &[failure::NAME, failure::NARROW]));
    let policies = CircuitKind::ALL.iter().map(|kind| (kind.word().to_owned(), policy(*kind)));
    let mut schema = closed(root);
    schema.extend([
        ("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema")),
        ("title".to_owned(), json!("tripnote configuration")),
        ("$defs".to_owned(), Value::Object(policies.collect())),
    ]);
    Value::Object(schema)
}

/// The schema of a list of tables, of which each has the keys `required`.
fn rows(max: usize, row: Map<String, Value>, required: &[&str]) -> Value {
    let mut row = closed(row);
    row.insert("required".to_owned(), json!(required));
    json!({"type": "array", "maxItems": max, "items": row})
}

/// Formats, each with at least one of the lists that say what a payload means.
fn formats() -> Value {
    let mut formats = rows(FORMATS_MAX, properties(FORMAT, Some(&FormatDraft::default())), &[format::NAME]);
    let lists: Vec<Value> = format::VERDICTS.iter().map(|list| json!({"required": [list]})).collect();
    if let Some(format) = formats.get_mut("items").and_then(Value::as_object_mut) {
        format.insert("allOf".to_owned(), json!([{"anyOf": lists}]));
    }
    formats
}

/// The schema of a table that has these keys and no others.
pub(super) fn object<T>(keys: &[Key<T>]) -> Map<String, Value> {
    closed(properties(keys, None))
}

fn properties<T>(keys: &[Key<T>], defaults: Option<&T>) -> Map<String, Value> {
    keys.iter().map(|key| (key.name.to_owned(), property(key, defaults))).collect()
}

fn property<T>(key: &Key<T>, defaults: Option<&T>) -> Value {
    let mut schema = key.field.schema();
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), json!(format!("{}: {}", key.doc, key.field.due())));
        let default = defaults.and_then(|defaults| key.field.written(defaults)).and_then(|text| json_of(&text));
        schema.extend(default.map(|default| ("default".to_owned(), default)));
    }
    schema
}

/// A TOML value as JSON.
fn json_of(written: &str) -> Option<Value> {
    let table: Value = toml::from_str(&format!("value = {written}")).ok()?;
    table.get("value").cloned()
}

fn policy(kind: CircuitKind) -> Value {
    let draft = PolicyDraft::of(kind);
    let fitting = POLICY.iter().filter(|key| key.only.covers(kind));
    closed(fitting.map(|key| (key.name.to_owned(), property(key, Some(&draft)))).collect()).into()
}

/// A reference to the policy of each kind, under the path that its word is.
fn kinds() -> Map<String, Value> {
    let mut tables = Map::new();
    let mut conditions: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for kind in CircuitKind::ALL {
        let reference = json!({"$ref": format!("#/$defs/{kind}")});
        match kind.word().split_once('.') {
            None => tables.insert(kind.word().to_owned(), reference),
            Some((signal, condition)) => conditions.entry(signal).or_default().insert(condition.to_owned(), reference),
        };
    }
    tables.extend(conditions.into_iter().map(|(signal, table)| (signal.to_owned(), closed(table).into())));
    tables
}

fn closed(properties: Map<String, Value>) -> Map<String, Value> {
    Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("additionalProperties".to_owned(), json!(false)),
        ("properties".to_owned(), Value::Object(properties)),
    ])
}
