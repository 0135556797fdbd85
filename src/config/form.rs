//! Inline tables that are written in one of a few forms: exactly the keys of one of them.

use serde_json::{Map, Value, json};

use super::key::Key;
use super::schema::object;

/// The key sets of which a table has exactly one.
pub(super) type Forms = &'static [&'static [&'static str]];

/// The forms for a report: `` exactly `at` + `is`, or `at` + `empty` is due ``.
pub(super) fn due(forms: Forms) -> String {
    let forms: Vec<String> = forms.iter().map(|form| format!("`{}`", form.join("` + `"))).collect();
    format!("exactly {} is due", forms.join(", or "))
}

/// The schema of a table of `keys` in one of `forms`.
pub(super) fn schema<T>(forms: Forms, keys: &[Key<T>]) -> Map<String, Value> {
    let one_of = forms.iter().map(|form| {
        let others = keys.iter().map(|key| key.name).filter(|name| !form.contains(name));
        let others: Vec<Value> = others.map(|name| json!({"required": [name]})).collect();
        if others.is_empty() { json!({"required": form}) } else { json!({"required": form, "not": {"anyOf": others}}) }
    });
    let one_of = Value::Array(one_of.collect());
    let mut table = object(keys);
    table.extend([("oneOf".to_owned(), one_of)]);
    table
}
