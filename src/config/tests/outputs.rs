//! What is written from the table of keys fits what is read by it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Config, parsed};
use crate::config::key::Key;
use crate::config::keys::{
    BREAKER, CONDITION, CONTRACT, EXPERIMENT, FAILURE, FALLBACK, FORMAT, HOST, LIMITS, LOG, POLICY, POLL, REVIEW, ROOT,
    ROUTE, RULE, SESSION, TEMPLATE, TOOL,
};
use crate::config::{default_text, readme_table, schema};
use crate::domain::contract::Variant;

/// The default text with its examples written out.
pub(super) fn full_text() -> String {
    let lines = default_text()
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(example) if !example.starts_with(' ') => example.to_owned(),
            Some(_) | None => line.to_owned(),
        })
        .collect::<Vec<_>>();
    lines.join("\n")
}

#[test]
fn the_default_text_is_the_default_configuration() {
    assert_eq!(parsed(&default_text()), Config::default());
}

#[test]
fn the_examples_of_the_default_text_are_valid() {
    let config = parsed(&full_text());
    assert_eq!((config.breakers.len(), config.tools.rows().len(), config.formats.len()), (1, 1, 1));
    let confirmed = &config.failure.confirmed;
    assert_eq!((confirmed.hosts().len(), confirmed.routes().len()), (1, 1));
    let wordings = &config.settings.contract.wordings;
    assert_eq!((wordings.templates().len(), wordings.experiments().len()), (1, 1));
    assert_eq!(config.default_policy.policies.iter().filter(|(_, policy)| policy.is_none()).count(), 0);
}

#[test]
fn the_default_text_names_every_key() {
    let text = full_text();
    let names = |line: &str| line.split_once(" = ").map(|(name, _)| name.to_owned());
    let given: BTreeSet<String> = text.lines().filter_map(names).collect();
    let missing: Vec<&str> = key_names().into_iter().filter(|name| !given.contains(*name)).collect();
    // those of a rule, an alternative, a poll and a condition stand inside a value
    let inner = "failures ratio within min_calls consecutive target note every up_to at is empty present";
    assert_eq!(missing.join(" "), inner);
    assert!(text.lines().all(|line| line.len() <= 120));
}

#[test]
fn the_readme_table_has_a_row_for_every_key() {
    let table = readme_table();
    for name in key_names() {
        assert!(table.contains(&format!(".{name}` | ")) || table.contains(&format!("| `{name}` | ")), "{name}");
    }
    assert!(table.lines().all(|line| line.split(" | ").count() == 3 || line == "|---|---|---|"), "{table}");
    assert!(table.contains("| `defaults.latency.slow` |  | "));
    assert!(table.contains("| `defaults.auth_failure.<condition>.latch` | `false` | "));
}

/// Name and meaning of every key.
fn keys() -> Vec<(&'static str, &'static str)> {
    fn of<T>(keys: &'static [Key<T>]) -> impl Iterator<Item = (&'static str, &'static str)> {
        keys.iter().map(|key| (key.name, key.doc))
    }
    let settings = [ROOT, LOG, CONTRACT, SESSION, REVIEW, LIMITS].into_iter().flat_map(of);
    let breakers = of(POLICY).chain(of(RULE)).chain(of(BREAKER)).chain(of(FALLBACK));
    let wordings = of(TEMPLATE).chain(of(EXPERIMENT));
    let steps = of(FAILURE).chain(of(HOST)).chain(of(ROUTE));
    let tools = of(TOOL).chain(of(POLL)).chain(of(FORMAT)).chain(of(CONDITION));
    settings.chain(breakers).chain(tools).chain(wordings).chain(steps).collect()
}

fn key_names() -> Vec<&'static str> {
    keys().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn every_doc_is_one_sentence_without_a_full_stop() {
    for (_, doc) in keys() {
        assert!(!doc.ends_with('.') && doc.starts_with(|c: char| c.is_lowercase()), "{doc}");
    }
}

/// What of `value` the part of the schema that we write does not allow.
fn misfits(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference}"));
        return misfits(root, target, value, path);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let fits = any.iter().any(|schema| misfits(root, schema, value, path).is_empty());
        return if fits { vec![] } else { vec![path.to_owned()] };
    }
    let is_type = match schema["type"].as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        other => panic!("{other}"),
    };
    let is_word = schema["enum"].as_array().is_none_or(|words| words.contains(value));
    let names = value.as_object().map_or(0, |table| table.len() as u64);
    let most_names = schema["maxProperties"].as_u64().unwrap_or(u64::MAX);
    if !(schema["minProperties"].as_u64().unwrap_or(0)..=most_names).contains(&names) {
        return vec![path.to_owned()];
    }
    let is_within = value.as_u64().is_none_or(|number| {
        number >= schema["minimum"].as_u64().unwrap_or(0) && number <= schema["maximum"].as_u64().unwrap_or(u64::MAX)
    });
    if !is_type || !is_word || !is_within {
        return vec![path.to_owned()];
    }
    let mut found = vec![];
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        found.extend(misfits(root, &schema["items"], item, &format!("{path}[{index}]")));
    }
    for (name, item) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let named = schema["patternProperties"].as_object().and_then(|patterns| patterns.values().next());
        match schema["properties"].get(name).or(named) {
            Some(schema) => found.extend(misfits(root, schema, item, &path)),
            None => found.push(path),
        }
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    found.extend(required.filter(|name| value.get(name).is_none()).map(|name| format!("{path}.{name}?")));
    found
}

fn misfits_of(text: &str) -> Vec<String> {
    let schema = schema();
    misfits(&schema, &schema, &toml::from_str(text).expect("TOML"), "")
}

#[test]
fn the_schema_fits_what_is_accepted() {
    assert_eq!(misfits_of(&default_text()), [""; 0]);
    assert_eq!(misfits_of(&full_text()), [""; 0]);
    assert_eq!(misfits_of(include_str!("../../../tests/fixtures/config/good.toml")), [""; 0]);
    assert_eq!(misfits_of(include_str!("../../../tests/fixtures/config/good-tools.toml")), [""; 0]);
    assert_eq!(misfits_of(include_str!("../../../tests/fixtures/config/good-steps.toml")), [""; 0]);
    assert_eq!(misfits_of(include_str!("../../../tests/fixtures/config/good-wordings.toml")), [""; 0]);
}

#[test]
fn the_schema_refuses_what_is_refused() {
    let text = "grcp = 1\n[log]\nlevel = \"loud\"\n[limits]\ntargets = 0\n[defaults.error_rate]\nlatch = true\n\
                [defaults.auth_failure]\nopen_for = \"1s\"\n[[breaker]]\nreducible = 1\nfallback = 5\n\
                [[tool]]\nformat = 5\npoll = {}\nidentity = \"/a\"\n[[format]]\nempty_when = [{ is = [{}], at = 1 }]\n\
                [failure]\nsame_binding_retries = 6\n[[host]]\nroutes = [1]\n[[route]]\nname = \"a\"\n\
                [[template]]\nname = 1\n[[experiment]]\nname = \"a\"\nbreakers = [\"*\"]\nvariants = { a = 0, b = 1 }\n\
                [[experiment]]\nvariants = { a = 1 }";
    let expected = [
        ".breaker[0].fallback",
        ".breaker[0].reducible",
        ".breaker[0].targets?",
        ".defaults.auth_failure.open_for",
        ".defaults.error_rate.latch",
        ".experiment[0].variants.a",
        ".experiment[1].breakers?",
        ".experiment[1].name?",
        ".experiment[1].variants",
        ".failure.same_binding_retries",
        ".format[0].empty_when[0].at",
        ".format[0].empty_when[0].is",
        ".format[0].name?",
        ".grcp",
        ".host[0].name?",
        ".host[0].routes[0]",
        ".limits.targets",
        ".log.level",
        ".route[0].narrow?",
        ".template[0].name",
        ".template[0].text?",
        ".tool[0].format",
        ".tool[0].identity",
        ".tool[0].match?",
    ];
    let mut found = misfits_of(text);
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn the_schema_speaks_of_every_object_as_closed() {
    fn walk(schema: &Value) {
        if schema["type"] == "object" {
            assert_eq!(schema["additionalProperties"], false, "{schema}");
        }
        for part in schema
            .as_object()
            .into_iter()
            .flat_map(|object| object.values())
            .chain(schema.as_array().into_iter().flatten())
        {
            walk(part);
        }
    }
    let schema = schema();
    walk(&schema);
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let error_rate = &schema["$defs"]["error_rate"]["properties"];
    assert_eq!(error_rate["open_for"]["pattern"], "^[0-9]+(ms|s|m|h|d)$");
    assert_eq!(error_rate["open_for"]["default"], "30s");
    assert_eq!(error_rate["rules"]["default"][2]["consecutive"], 5);
    let words: Vec<&str> = Variant::ALL.iter().map(|variant| variant.word()).collect();
    assert_eq!(schema["properties"]["contract"]["properties"]["variant"]["anyOf"][0]["enum"], serde_json::json!(words));
}
