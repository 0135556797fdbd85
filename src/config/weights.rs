//! Names with their weights, written as a table: `{ contract = 50, contract_lines = 50 }`.

use std::sync::Arc;

use serde_json::{Value, json};
use toml::de::DeTable;

use super::fault::{Place, Sink, path_segment};
use super::field::{Range, read_count};
use crate::domain::contract::experiment::{ARMS_MAX, ARMS_MIN, WEIGHT_MAX};
use crate::domain::ids::Code;

/// Names in the order of the alphabet, each with its weight.
pub(super) type Weights = Vec<(Arc<str>, u32)>;

const WEIGHT: Range = Range { min: 1, max: WEIGHT_MAX as u64 };

/// The weights; none where one is at fault or their number is, which is reported.
pub(super) fn read_weights(table: &DeTable<'_>, place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Weights> {
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
        let of_name = Place::in_file(path, value);
        sink.mark(&of_name.path, &of_name);
        let due = format!("an integer from {} to {}", WEIGHT.min, WEIGHT.max);
        match read_count(of_name.value, WEIGHT, &due) {
            Ok(weight) => weights.push((name.get_ref().as_ref().into(), u32::try_from(weight).unwrap_or(WEIGHT_MAX))),
            Err(rule) => sink.fault(&of_name, rule),
        }
    }
    weights.sort();
    (!sink.is_faulty(&place.path)).then_some(weights)
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
