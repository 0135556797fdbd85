//! Named alternatives: a plain name, a table, or a list of both.

use serde_json::{Value, json};

use super::branch::Branch;
use super::fault::{Place, Sink};
use super::field::wrong_type;
use super::key::inline;
use super::keys::FALLBACK;
use super::list::{Bound, one_or_list, read_list};
use super::schema::object;
use super::text::quoted;
use crate::domain::breaker::policy::Fallback;
use crate::domain::contract::LONG_FIELD_BYTES_MAX;
use crate::domain::ids::{SafeText, TargetName};

/// Alternatives of one breaker.
pub(super) const FALLBACKS_MAX: usize = 8;
/// The key that a plain name stands for.
const NAME: &str = "name";

/// An alternative as far as it is read.
#[derive(Clone, Default)]
pub(super) struct FallbackDraft {
    pub(super) name: Option<SafeText>,
    pub(super) target: Option<TargetName>,
    pub(super) note: Option<SafeText>,
}

impl From<&Fallback> for FallbackDraft {
    /// Leaves out what is the same when it is not written.
    fn from(fallback: &Fallback) -> Self {
        let target = Some(&fallback.target).filter(|target| target.as_str() != fallback.name.as_str());
        Self { name: Some(fallback.name.clone()), target: target.cloned(), note: fallback.note.clone() }
    }
}

/// The alternatives, in order; none where one is at fault, which is reported; `Err` where the value is of no fitting
/// type.
pub(super) fn read_fallbacks(place: &Place<'_>, sink: &mut Sink<'_>) -> Result<Option<Vec<Fallback>>, ()> {
    let Some(list) = place.value.as_array() else {
        let is_fitting = place.value.is_str() || place.value.is_table();
        return if is_fitting { Ok(read_one(place, sink).map(|one| vec![one])) } else { Err(()) };
    };
    Ok(read_list(list, place, Bound { what: "alternatives", max: FALLBACKS_MAX }, sink, read_one))
}

fn read_one(place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Fallback> {
    let mut draft = FallbackDraft::default();
    if place.value.is_table() {
        Branch::at(place, sink)?.read(FALLBACK, &[], &mut draft, sink);
    } else if place.value.is_str() {
        let name = FALLBACK.iter().find(|key| key.name == NAME)?;
        name.field.read(place, &mut draft, sink);
    } else {
        sink.fault(place, wrong_type(place.value, "a name or a table"));
    }
    if sink.is_faulty(&place.path) {
        return None;
    }
    let outcome = into_fallback(draft);
    outcome.map_err(|rule| sink.fault(place, rule)).ok()
}

fn into_fallback(draft: FallbackDraft) -> Result<Fallback, String> {
    let name = draft.name.ok_or_else(|| format!("has no `{NAME}`: say what the model is told"))?;
    let target = draft.target.map_or_else(|| TargetName::parse(name.as_str()), Ok);
    let target = target.map_err(|fault| format!("has a name that is no target: {fault}; give a `target`"))?;
    let text = draft.note.as_ref().map(|note| format!("{}, {}", name.as_str(), note.as_str()));
    if text.is_some_and(|text| SafeText::cut(&text, LONG_FIELD_BYTES_MAX).as_str() != text) {
        return Err(format!("is longer than {LONG_FIELD_BYTES_MAX} bytes with its note: shorten one of them"));
    }
    Ok(Fallback { name, target, note: draft.note })
}

/// The alternatives as TOML writes them; a name alone where that says it all.
pub(super) fn written_fallbacks(fallbacks: &[Fallback]) -> String {
    let written: Vec<String> = fallbacks.iter().map(written_one).collect();
    one_or_list(&written)
}

fn written_one(fallback: &Fallback) -> String {
    match FallbackDraft::from(fallback) {
        FallbackDraft { name: Some(name), target: None, note: None } => quoted(name.as_str()),
        draft => inline(FALLBACK, &draft),
    }
}

pub(super) fn schema() -> Value {
    let mut table = object(FALLBACK);
    table.extend([("required".to_owned(), json!([NAME]))]);
    let name = FALLBACK.iter().find(|key| key.name == NAME).map(|key| key.field.schema());
    let one = json!({"anyOf": [name, table]});
    json!({"anyOf": [one, {"type": "array", "minItems": 1, "maxItems": FALLBACKS_MAX, "items": one}]})
}
