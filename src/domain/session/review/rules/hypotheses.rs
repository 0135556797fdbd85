//! Whether an excluded hypothesis is restated.
//!
//! The rule, as it is said aloud: all significant words of the hypothesis stand in one sentence, and neither does that
//! sentence (nor the heading above it) say that it is ruled out, nor do the clauses that hold the words say `not`.

use std::collections::BTreeSet;

use crate::domain::session::review::fold::{fold, is_han};
use crate::domain::session::review::keywords::WordList::{Negation, RuledOut, Supposed, Undetermined};
use crate::domain::session::review::reading::{Reading, Sentence};

/// Words of a hypothesis that are looked for.
const WORDS_MAX: usize = 32;
/// Hypotheses that are looked for.
const HYPOTHESES_MAX: usize = 64;
/// Words that say nothing of what is meant.
#[rustfmt::skip] // a list of words reads as a paragraph
const STOP_WORDS: &[&str] = &[
    "a", "an", "the", "of", "in", "on", "at", "by", "to", "for", "from", "with", "and", "or", "is", "are", "was", "were",
    "be", "been", "being", "it", "its", "this", "that", "these", "those", "there", "as", "into", "due", "because",
    "cause", "caused", "causes", "causing", "root", "has", "have", "had", "does", "do", "did", "which", "when", "new",
];
/// Characters that join others.
const STOP_HAN: &str = "的了是在与和或因为由于被把将这那个之所以及就都也很有使让导致造成引起对从到中而";

/// The places on the list of the hypotheses that the answer restates.
pub(super) fn restated(hypotheses: &[Box<str>], reading: &Reading) -> Vec<usize> {
    let sought: Vec<(usize, BTreeSet<String>)> = hypotheses
        .iter()
        .take(HYPOTHESES_MAX)
        .map(|hypothesis| words(&fold(hypothesis)).take(WORDS_MAX).collect())
        .enumerate()
        .filter(|(_, sought): &(usize, BTreeSet<String>)| !sought.is_empty())
        .collect();
    if sought.is_empty() {
        return Vec::new();
    }
    let mut found = BTreeSet::new();
    for (at, sentence) in reading.sentences.iter().enumerate() {
        let is_open =
            sentence.is_question || sentence.is_under_ruled_out || sentence.marks.has_any(&[RuledOut, Supposed]);
        if is_open {
            continue;
        }
        let text = reading.part(sentence.start, sentence.end);
        let held = Held::of(text);
        let fits = sought.iter().filter(|(_, sought)| sought.iter().all(|word| held.has(word)));
        let stated = fits.filter(|(_, sought)| !is_denied(reading, at, sentence, sought));
        found.extend(stated.map(|(place, _)| *place));
    }
    found.into_iter().collect()
}

/// What a sentence holds: its words by their stems, and its Chinese without what joins.
struct Held {
    stems: BTreeSet<String>,
    han: String,
}

impl Held {
    fn of(text: &str) -> Self {
        Self { stems: latin(text).collect(), han: han(text) }
    }

    fn has(&self, word: &str) -> bool {
        if word.starts_with(is_han) { self.han.contains(word) } else { self.stems.contains(word) }
    }
}

/// Whether a clause that holds one of the words negates it.
fn is_denied(reading: &Reading, at: usize, sentence: &Sentence, sought: &BTreeSet<String>) -> bool {
    let first = reading.clauses.partition_point(|clause| clause.start < sentence.start);
    let clauses = reading.clauses.iter().skip(first).take_while(|clause| clause.sentence == at);
    clauses.filter(|clause| clause.marks.has_any(&[Negation, Undetermined])).any(|clause| {
        let held = Held::of(reading.part(clause.start, clause.end));
        sought.iter().any(|word| held.has(word))
    })
}

/// The significant words of a folded text.
fn words(text: &str) -> impl Iterator<Item = String> {
    let han = han(text);
    let runs: Vec<String> = han.split(' ').filter(|run| !run.is_empty()).map(str::to_owned).collect();
    latin(text).filter(|stem| !STOP_WORDS.contains(&stem.as_str())).chain(runs)
}

/// Words of Latin letters and digits, by their stems.
fn latin(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| is_han(c) || !(c.is_alphanumeric() || c == '.' || c == '\''))
        .map(|word| word.trim_matches(['.', '\'']))
        .filter(|word| !word.is_empty())
        .map(stem)
}

/// A word without its ending, so that `rejects`, `rejected` and `reject` are one.
fn stem(word: &str) -> String {
    let endings = ["ing", "ed", "es", "s"];
    let word = word.strip_suffix("'s").unwrap_or(word);
    let is_name = word.contains(|c: char| c.is_ascii_digit());
    let without = |ending: &str| word.strip_suffix(ending).filter(|bare| bare.len() >= 4 && !is_name);
    let bare = endings.iter().find_map(|ending| without(ending)).unwrap_or(word);
    bare.strip_suffix('e').filter(|bare| bare.len() >= 4 && !is_name).unwrap_or(bare).to_owned()
}

/// The Chinese of a text without what joins, other text as a blank between.
fn han(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            _ if STOP_HAN.contains(c) => {}
            _ if is_han(c) => out.push(c),
            _ if !out.is_empty() && !out.ends_with(' ') => out.push(' '),
            _ => {}
        }
    }
    out
}
