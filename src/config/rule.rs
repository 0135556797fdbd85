//! The list of tripping rules: which keys make which rule, and how a rule is written.

use serde_json::{Value, json};
use toml::de::DeArray;

use super::branch::read_inline;
use super::fault::{Place, Sink};
use super::form::{self, Forms};
use super::key::inline;
use super::keys::RULE;
use super::list::{Bound, read_list};
use crate::domain::breaker::policy::{BasisPoints, Rule};

/// Rules in one policy.
pub(super) const RULES_MAX: usize = 8;

/// The key sets of which a rule has exactly one, the key that tells it apart first.
const FORMS: Forms = &[&["failures", "within"], &["ratio", "within", "min_calls"], &["consecutive"]];

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
    let mut rules = read_list(list, place, Bound { what: "rules", max: RULES_MAX }, sink, read_rule)?;
    rules.sort_by_key(|rule| rule.order());
    Some(rules)
}

fn read_rule(place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Rule> {
    let draft = read_inline(place, RULE, sink)?; // where one key is at fault, it is unsure which form is meant
    let rule = draft.into_rule();
    if rule.is_none() {
        sink.fault(place, format!("is no rule: {}", form::due(FORMS)));
    }
    rule
}

/// The rules as TOML writes them.
pub(super) fn written_rules(rules: &[Rule]) -> String {
    let rules: Vec<String> = rules.iter().map(|rule| inline(RULE, &RuleDraft::from(*rule))).collect();
    format!("[{}]", rules.join(", "))
}

pub(super) fn schema() -> Value {
    json!({"type": "array", "minItems": 1, "maxItems": RULES_MAX, "items": form::schema(FORMS, RULE)})
}
