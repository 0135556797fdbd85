//! The list of tripping rules: which keys make which rule, and how a rule is written.

use serde_json::{Value, json};
use toml::de::DeArray;

use super::branch::Branch;
use super::fault::{Place, Sink};
use super::key::inline;
use super::keys::RULE;
use super::schema::object;
use crate::domain::breaker::policy::{BasisPoints, Rule};

/// Rules in one policy.
pub(super) const RULES_MAX: usize = 8;

/// The key sets of which a rule has exactly one, the key that tells it apart first.
const FORMS: [&[&str]; 3] = [&["failures", "within"], &["ratio", "within", "min_calls"], &["consecutive"]];

/// A rule as far as it is read.
#[derive(Clone, Copy, Default)]
pub(super) struct RuleDraft {
    pub(super) failures: Option<u64>,
    pub(super) within_ms: Option<u64>,
    pub(super) ratio: Option<u64>,
    pub(super) min_calls: Option<u64>,
    pub(super) consecutive: Option<u64>,
}

impl RuleDraft {
    /// The rule; none where a key is missing or too many are there.
    fn into_rule(self) -> Option<Rule> {
        let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        match (self.failures, self.ratio, self.consecutive, self.within_ms, self.min_calls) {
            (Some(failures), None, None, Some(within_ms), None) => {
                Some(Rule::Failures { failures: count(failures), within_ms })
            }
            (None, Some(ratio), None, Some(within_ms), Some(min_calls)) => {
                Some(Rule::Ratio { ratio: BasisPoints(count(ratio)), within_ms, min_calls: count(min_calls) })
            }
            (None, None, Some(failures), None, None) => Some(Rule::Consecutive { failures: count(failures) }),
            _ => None,
        }
    }
}

impl From<Rule> for RuleDraft {
    fn from(rule: Rule) -> Self {
        let none = Self::default();
        match rule {
            Rule::Failures { failures, within_ms } => {
                Self { failures: Some(failures.into()), within_ms: Some(within_ms), ..none }
            }
            Rule::Ratio { ratio, within_ms, min_calls } => Self {
                ratio: Some(ratio.0.into()),
                within_ms: Some(within_ms),
                min_calls: Some(min_calls.into()),
                ..none
            },
            Rule::Consecutive { failures } => Self { consecutive: Some(failures.into()), ..none },
        }
    }
}

/// The rules in the order in which they are asked; none where one is at fault.
pub(super) fn read_rules(list: &DeArray<'_>, place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Vec<Rule>> {
    if list.is_empty() || list.len() > RULES_MAX {
        sink.fault(place, format!("has {} rules: 1 to {RULES_MAX} are due", list.len()));
    }
    let places = list.iter().enumerate().map(|(i, value)| Place::in_file(format!("{}[{i}]", place.path), value));
    let read: Vec<Option<Rule>> = places.map(|place| read_rule(&place, sink)).collect();
    let mut rules = read.into_iter().collect::<Option<Vec<Rule>>>()?;
    rules.sort_by_key(|rule| rule.order());
    (!sink.is_faulty(&place.path)).then_some(rules)
}

fn read_rule(place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Rule> {
    let table = Branch::at(place, sink)?;
    let mut draft = RuleDraft::default();
    table.read(RULE, &[], &mut draft, sink);
    if sink.is_faulty(&place.path) {
        return None; // which keys are meant is unsure; what is known to be wrong is reported
    }
    let rule = draft.into_rule();
    if rule.is_none() {
        let forms = FORMS.map(|form| format!("`{}`", form.join("` + `"))).join(", or ");
        sink.fault(place, format!("is no rule: exactly {forms} is due"));
    }
    rule
}

/// The rules as TOML writes them.
pub(super) fn written_rules(rules: &[Rule]) -> String {
    let rules: Vec<String> = rules.iter().map(|rule| inline(RULE, &RuleDraft::from(*rule))).collect();
    format!("[{}]", rules.join(", "))
}

pub(super) fn schema() -> Value {
    let forms: Vec<Value> = FORMS
        .iter()
        .map(|form| {
            let others = RULE.iter().map(|key| key.name).filter(|name| !form.contains(name));
            let without: Vec<Value> = others.map(|name| json!({"required": [name]})).collect();
            json!({"required": form, "not": {"anyOf": without}})
        })
        .collect();
    let mut item = object(RULE);
    item.extend([("oneOf".to_owned(), Value::Array(forms))]);
    json!({"type": "array", "minItems": 1, "maxItems": RULES_MAX, "items": item})
}
