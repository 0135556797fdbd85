//! Names with their weights, written as a table: `{ contract = 50, contract_lines = 50 }`.

use std::sync::Arc;

use serde_json::{Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Place, Sink, path_segment};
use super::field::{Range, read_count};
use crate::domain::contract::experiment::{ARMS_MAX, ARMS_MIN, WEIGHT_MAX};
use crate::domain::ids::Code;

/// Names in the order of the alphabet, each with its weight.
pub(super) type Weights = Vec<(Arc<str>, u32)>;

const WEIGHT: Range = Range { min: 1, max: WEIGHT_MAX as u64 };

/// The weights; a name whose weight is at fault, which is reported, is kept: it can still be looked up.
pub(super) fn read_weights(table: &DeTable<'_>, place: &Place<'_>, sink: &mut Sink<'_>) -> Weights {
    if !(ARMS_MIN..=ARMS_MAX).contains(&table.len()) {
        sink.fault(place, format!("has {} names: {ARMS_MIN} to {ARMS_MAX} are due", table.len()));
    }
    let mut weights = Weights::new();
    for (name, value) in table {
        let path = format!("{}.{}", place.path, path_segment(name.get_ref()));
        if Code::parse(name.get_ref()).is_err() {
            sink.unknown_key(&path, name, "is no name of a variant: a-z, 0-9 and _ are due, a letter first".to_owned());
            continue;
        }
        let weight = read_weight(&Place::in_file(path.clone(), value), sink);
        // What a name stands for is judged later, and then it is the name that is shown.
        let named = Spanned::new(name.span(), DeValue::String(name.get_ref().clone()));
        sink.mark(&path, &Place::in_file(path.clone(), &named));
        weights.push((name.get_ref().as_ref().into(), weight));
    }
    weights.sort();
    weights
}

fn read_weight(place: &Place<'_>, sink: &mut Sink<'_>) -> u32 {
    let due = format!("an integer from {} to {}", WEIGHT.min, WEIGHT.max);
    let weight = read_count(place.value, WEIGHT, &due).map_err(|rule| sink.fault(place, rule));
    weight.ok().and_then(|weight| u32::try_from(weight).ok()).unwrap_or(1)
}

/// The weights as TOML writes them.
pub(super) fn written_weights(weights: &Weights) -> String {
    let weights: Vec<String> = weights.iter().map(|(name, weight)| format!("{name} = {weight}")).collect();
    format!("{{ {} }}", weights.join(", "))
}

pub(super) fn due() -> String {
    format!(
        "a table of {ARMS_MIN} to {ARMS_MAX} names with weights from {} to {} such as \
         `{{ contract = 50, contract_lines = 50 }}`",
        WEIGHT.min, WEIGHT.max
    )
}

/// The schema, in which `name` is the pattern of a name.
pub(super) fn schema(name: &str) -> Value {
    let weight = json!({"type": "integer", "minimum": WEIGHT.min, "maximum": WEIGHT.max});
    json!({
        "type": "object", "additionalProperties": false, "minProperties": ARMS_MIN, "maxProperties": ARMS_MAX,
        "patternProperties": {name: weight},
    })
}
