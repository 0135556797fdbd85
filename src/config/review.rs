//! The phrases by which answers are read beside the built-in ones, as an operator writes them: a list for each
//! [`WordList`]. What a phrase may be is `keywords`' to say.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use toml::de::{DeArray, DeValue};

use super::fault::{Place, Sink};
use super::field::wrong_type;
use super::list::{Bound, read_list};
use crate::domain::session::review::keywords::{InvalidPhrase, Keywords, PHRASE_BYTES_MAX, WordList};

/// Phrases of one list.
const LIST_MAX: usize = 256;

/// The phrases of every list, in the order in which they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewWords(BTreeMap<WordList, Vec<Arc<str>>>);

impl ReviewWords {
    /// The phrases of one list; none where it was left as it is built in.
    #[must_use]
    pub(super) fn of(&self, list: WordList) -> Option<Vec<Arc<str>>> {
        self.0.get(&list).cloned()
    }

    /// Sets the phrases of one list.
    pub(super) fn set(&mut self, list: WordList, phrases: Vec<Arc<str>>) {
        self.0.insert(list, phrases);
    }

    /// The built-in words with these added; or the list whose phrase was one too many.
    pub(super) fn keywords(&self) -> Result<Arc<Keywords>, (WordList, InvalidPhrase)> {
        if self.0.is_empty() {
            return Ok(Keywords::shared());
        }
        let mut keywords = Keywords::default();
        for (list, phrases) in &self.0 {
            for phrase in phrases {
                keywords.add(*list, phrase).map_err(|invalid| (*list, invalid))?;
            }
        }
        Ok(Arc::new(keywords))
    }
}

/// The phrases; none where one is at fault, which is reported.
pub(super) fn read_phrases(list: &DeArray<'_>, place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Vec<Arc<str>>> {
    let phrase = |value: &DeValue<'_>| {
        let text = value.as_str().ok_or_else(|| wrong_type(value, "a word or phrase"))?;
        Keywords::folded(text).map(|_| text.into()).map_err(|invalid| invalid.to_string())
    };
    let bound = Bound { what: "phrases", max: LIST_MAX };
    read_list(list, place, bound, sink, |place, sink| phrase(place.value).map_err(|rule| sink.fault(place, rule)).ok())
}

pub(super) fn due() -> String {
    format!("a list of 1 to {LIST_MAX} words or phrases of 1 to {PHRASE_BYTES_MAX} bytes each")
}

/// Bytes are counted in the one spelling, which a schema cannot say.
pub(super) fn schema() -> Value {
    let phrase = json!({"type": "string", "minLength": 1});
    json!({"type": "array", "minItems": 1, "maxItems": LIST_MAX, "items": phrase})
}
