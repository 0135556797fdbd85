//! Conditions over one place of a payload, of which a format of the configuration is made.

use std::sync::Arc;

use serde_json::{Value, json};
use toml::de::DeArray;

use super::branch::read_inline;
use super::fault::{Place, Sink};
use super::form::{self, Forms};
use super::key::inline;
use super::keys::CONDITION;
use super::list::{Bound, read_list};
use crate::domain::observation::custom::{Condition, Holds};

/// Conditions in one list.
pub(super) const CONDITIONS_MAX: usize = 16;

const FORMS: Forms = &[&["at", "is"], &["at", "empty"], &["at", "present"]];

/// A condition as far as it is read.
#[derive(Clone, Default)]
pub(super) struct ConditionDraft {
    pub(super) at: Option<Arc<str>>,
    pub(super) is: Option<Vec<Arc<str>>>,
    pub(super) empty: Option<bool>,
    pub(super) present: Option<bool>,
}

impl ConditionDraft {
    /// The condition; none where a key is missing or too many are there.
    fn into_condition(self) -> Option<Condition> {
        let holds = match (self.is, self.empty, self.present) {
            (Some(words), None, None) => Holds::Is(words),
            (None, Some(is_empty), None) => Holds::Empty(is_empty),
            (None, None, Some(is_present)) => Holds::Present(is_present),
            _ => return None,
        };
        Some(Condition { at: self.at?, holds })
    }
}

impl From<&Condition> for ConditionDraft {
    fn from(condition: &Condition) -> Self {
        let draft = Self { at: Some(Arc::clone(&condition.at)), ..Self::default() };
        match &condition.holds {
            Holds::Is(words) => Self { is: Some(words.clone()), ..draft },
            Holds::Empty(is_empty) => Self { empty: Some(*is_empty), ..draft },
            Holds::Present(is_present) => Self { present: Some(*is_present), ..draft },
        }
    }
}

/// The conditions in order; none where one is at fault.
pub(super) fn read_conditions(list: &DeArray<'_>, place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Vec<Condition>> {
    read_list(list, place, Bound { what: "conditions", max: CONDITIONS_MAX }, sink, read_condition)
}

fn read_condition(place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Condition> {
    let draft = read_inline(place, CONDITION, sink)?;
    let condition = draft.into_condition();
    if condition.is_none() {
        sink.fault(place, format!("is no condition: {}", form::due(FORMS)));
    }
    condition
}

/// The conditions as TOML writes them.
pub(super) fn written_conditions(conditions: &[Condition]) -> String {
    let conditions: Vec<String> = conditions.iter().map(|one| inline(CONDITION, &ConditionDraft::from(one))).collect();
    format!("[{}]", conditions.join(", "))
}

pub(super) fn schema() -> Value {
    json!({
        "type": "array", "minItems": 1, "maxItems": CONDITIONS_MAX,
        "items": form::schema(FORMS, CONDITION),
    })
}
