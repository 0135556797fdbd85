//! The words by which an answer is read, as data: lists that a configuration extends, and one index over all of them.
//!
//! Phrases match whole words; those of a script that writes no blanks between words, as Chinese does, match anywhere. Where two match at one place the longer one
//! has the word, so that `unknown host` on the list `ignored` keeps `unknown` from meaning that nothing was determined.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::fold::{fold, is_unspaced};
use super::words::{BUILT_IN, UNITS};
use crate::domain::signal::closed_words;

/// The longest phrase in bytes, folded.
pub const PHRASE_BYTES_MAX: usize = 64;
/// Phrases of all lists, the built-in ones included.
pub const PHRASES_MAX: usize = 4_096;

closed_words! {
    /// What a phrase says about the text around it.
    WordList {
        /// A cause or verdict is stated.
        Conclusion = "conclusion",
        /// A cause may be stated: what joins an effect to it.
        Connector = "connector",
        /// Something is given as unknown.
        Undetermined = "undetermined",
        /// It is said plainly that nothing was found.
        NothingFound = "nothing_found",
        /// A query or tool failed.
        Failed = "failed",
        /// It is said that absence was not measured.
        NotMeasured = "not_measured",
        /// Something is said to be absent, in one phrase.
        Negative = "negative",
        /// What makes a finding an absent one: `no`.
        Negator = "negator",
        /// What can be present or absent: `errors`.
        Finding = "finding",
        /// A total, rate or share.
        Total = "total",
        /// The figure is said to be a part or a lower bound.
        Partial = "partial",
        /// A hypothesis is said to be ruled out.
        RuledOut = "ruled_out",
        /// A plain negation.
        Negation = "negation",
        /// It is asked or supposed, not stated.
        Supposed = "supposed",
        /// It is about the checks that were made.
        Checking = "checking",
        /// It is about a window of time or a limit.
        Window = "window",
        /// The figure was given, not measured: a threshold.
        Given = "given",
        /// Another thought begins: `but`.
        Adversative = "adversative",
        /// Nothing: it keeps a shorter phrase from counting.
        Ignored = "ignored",
        /// A unit of time.
        UnitOfTime = "unit_of_time",
        /// A unit of shares and rates.
        UnitOfRate = "unit_of_rate",
        /// A unit of size, or money.
        UnitOfSize = "unit_of_size",
        /// What is counted.
        UnitOfCount = "unit_of_count",
    }
}

impl WordList {
    /// Whether its phrases stand behind a number.
    #[must_use]
    pub const fn is_unit(self) -> bool {
        matches!(self, Self::UnitOfTime | Self::UnitOfRate | Self::UnitOfSize | Self::UnitOfCount)
    }
}

/// A set of lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u32);

impl Marks {
    pub(super) const fn of(list: WordList) -> Self {
        Self(1 << list as u32)
    }

    pub(super) const fn has(self, list: WordList) -> bool {
        self.0 & (1 << list as u32) != 0
    }

    pub(super) fn has_any(self, lists: &[WordList]) -> bool {
        lists.iter().any(|list| self.has(*list))
    }

    pub(super) const fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Why a phrase is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPhrase {
    /// Nothing is left of it.
    #[error("is empty: give a word or phrase, e.g. `root cause is`")]
    Empty,
    /// Too long.
    #[error("has {got} bytes, at most {PHRASE_BYTES_MAX} are taken")]
    TooLong {
        /// Its bytes, folded.
        got: usize,
    },
    /// Too many.
    #[error("is one too many: all lists together hold at most {PHRASES_MAX} phrases")]
    TooMany,
}

/// All lists.
#[derive(Clone, Debug)]
pub struct Keywords {
    phrases: Index,
    units: Index,
}

static DEFAULT: LazyLock<Arc<Keywords>> = LazyLock::new(|| {
    let mut keywords = Keywords { phrases: Index::default(), units: Index::default() };
    for (list, phrases) in BUILT_IN.iter().chain(UNITS) {
        for phrase in phrases.iter() {
            // INVARIANT: a test shows that every built-in phrase is taken
            let _ = keywords.add(*list, phrase);
        }
    }
    Arc::new(keywords)
});

impl Default for Keywords {
    fn default() -> Self {
        (**DEFAULT).clone()
    }
}

impl Keywords {
    /// The built-in lists, made once.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &DEFAULT
    }

    /// The same, shared with whoever has no others.
    #[must_use]
    pub fn shared() -> Arc<Self> {
        Arc::clone(&DEFAULT)
    }

    /// A phrase in the one spelling.
    ///
    /// # Errors
    /// Where it is empty or too long.
    pub fn folded(phrase: &str) -> Result<String, InvalidPhrase> {
        let folded = fold(phrase);
        let folded = folded.trim();
        if folded.is_empty() {
            return Err(InvalidPhrase::Empty);
        }
        if folded.len() > PHRASE_BYTES_MAX {
            return Err(InvalidPhrase::TooLong { got: folded.len() });
        }
        Ok(folded.to_owned())
    }

    /// Adds a phrase to a list. On the list `ignored` it takes its meaning away.
    ///
    /// # Errors
    /// Where the phrase is empty or too long, or the lists are full.
    pub fn add(&mut self, list: WordList, phrase: &str) -> Result<(), InvalidPhrase> {
        let folded = Self::folded(phrase)?;
        if self.phrases.count + self.units.count >= PHRASES_MAX {
            return Err(InvalidPhrase::TooMany);
        }
        let index = if list.is_unit() { &mut self.units } else { &mut self.phrases };
        index.add(&folded, list);
        Ok(())
    }

    /// The phrase that begins here, its length in bytes and its lists.
    pub(super) fn phrase_at(&self, text: &str, at: usize) -> Option<(usize, Marks)> {
        self.phrases.longest(text, at)
    }

    /// The unit that begins here.
    pub(super) fn unit_at(&self, text: &str, at: usize) -> Option<(usize, Marks)> {
        self.units.longest(text, at)
    }
}

/// Phrases by their first character, the longest first: what begins at a place is found in one look.
#[derive(Clone, Debug, Default)]
struct Index {
    by_first: BTreeMap<char, Vec<(Box<str>, Marks)>>,
    count: usize,
}

impl Index {
    fn add(&mut self, phrase: &str, list: WordList) {
        let Some(first) = phrase.chars().next() else { return };
        let entries = self.by_first.entry(first).or_default();
        match entries.iter_mut().find(|(known, _)| **known == *phrase) {
            Some((_, marks)) => marks.add(Marks::of(list)),
            None => {
                let place = entries.partition_point(|(known, _)| known.len() >= phrase.len());
                entries.insert(place, (phrase.into(), Marks::of(list)));
                self.count += 1;
            }
        }
    }

    fn longest(&self, text: &str, at: usize) -> Option<(usize, Marks)> {
        let rest = text.get(at..)?;
        let entries = self.by_first.get(&rest.chars().next()?)?;
        let fits = |phrase: &str| {
            let behind = rest.strip_prefix(phrase).map(|behind| behind.chars().next());
            let ends_in_word = phrase.chars().next_back().is_some_and(is_word);
            behind.is_some_and(|next| !(ends_in_word && next.is_some_and(is_word)))
        };
        let (phrase, marks) = entries.iter().find(|(phrase, _)| fits(phrase))?;
        Some((phrase.len(), if marks.has(WordList::Ignored) { Marks::of(WordList::Ignored) } else { *marks }))
    }
}

/// Whether a character is part of a word that blanks or marks part from the next.
pub(super) fn is_word(c: char) -> bool {
    match c {
        '\0'..='\u{7f}' => c.is_ascii_alphanumeric() || c == '_',
        _ => c.is_alphanumeric() && !is_unspaced(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_phrase_is_taken_and_in_the_one_spelling() {
        let mut keywords = Keywords::default();
        for (list, phrases) in BUILT_IN.iter().chain(UNITS) {
            assert_eq!(list.is_unit(), UNITS.iter().any(|(unit, _)| unit == list));
            for phrase in *phrases {
                assert_eq!(keywords.add(*list, phrase), Ok(()), "{list} `{phrase}`");
                assert_eq!(fold(phrase), *phrase, "{list}");
            }
        }
    }

    #[test]
    fn a_phrase_of_a_configuration_counts_and_one_on_the_list_ignored_does_not() {
        let mut keywords = Keywords::default();
        assert_eq!(keywords.add(WordList::Conclusion, "Smoking  Gun"), Ok(()));
        let marks = keywords.phrase_at("smoking gun", 0).unwrap().1;
        assert!(marks.has(WordList::Conclusion));
        assert_eq!(keywords.add(WordList::Ignored, "smoking gun"), Ok(()));
        assert!(!keywords.phrase_at("smoking gun", 0).unwrap().1.has(WordList::Conclusion));
    }

    #[test]
    fn words_end_where_their_script_ends_them() {
        let mut keywords = Keywords::default();
        for word in ["Ausfälle", "ошибка", "원인은"] {
            keywords.add(WordList::Finding, word).unwrap();
        }
        let is_found = |text: &str| keywords.phrase_at(text, 0).is_some_and(|(_, marks)| marks.has(WordList::Finding));
        assert!(is_found("ausfälle, drei"));
        assert!(!is_found("ausfällequote"));
        assert!(!is_found("ausfälleübersicht"));
        assert!(is_found("ошибка!"));
        assert!(!is_found("ошибками"));
        assert!(is_found("원인은서버다"));
    }

    #[test]
    fn a_phrase_that_is_nothing_or_too_long_is_not_taken() {
        let mut keywords = Keywords::default();
        assert_eq!(keywords.add(WordList::Total, " ` "), Err(InvalidPhrase::Empty));
        assert_eq!(keywords.add(WordList::Total, &"a".repeat(65)), Err(InvalidPhrase::TooLong { got: 65 }));
        let last = (0..PHRASES_MAX).find_map(|n| keywords.add(WordList::Total, &format!("word {n}")).err());
        assert_eq!(last, Some(InvalidPhrase::TooMany));
    }
}
