//! An answer, read once: its sentences and clauses, the phrases of the keyword lists in them, and its numbers.
//!
//! Everything here is linear in the text, and nothing is judged yet.

mod numbers;
mod split;

use super::fold::fold;
use super::keywords::{Keywords, Marks, WordList, is_word};
pub(super) use numbers::Number;

/// A phrase of the lists where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) marks: Marks,
}

/// What a comma or a `but` parts.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The sentence that it is part of.
    pub(super) sentence: usize,
    /// The lists that have a phrase in it.
    pub(super) marks: Marks,
    /// Its phrases among the hits.
    pub(super) hits: std::ops::Range<usize>,
}

/// What a full stop, a line break or a semicolon parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sentence {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The lists that have a phrase in it.
    pub(super) marks: Marks,
    /// It is a question.
    pub(super) is_question: bool,
    /// It stands below a heading, or in a list, that says that what follows is ruled out.
    pub(super) is_under_ruled_out: bool,
}

/// A text as the rules see it.
#[derive(Debug)]
pub(super) struct Reading {
    /// The text in the one spelling.
    pub(super) text: String,
    /// The same with blanks for `_` and `-`, byte for byte: names of tools are written in either way.
    names: String,
    pub(super) sentences: Vec<Sentence>,
    pub(super) clauses: Vec<Clause>,
    pub(super) hits: Vec<Hit>,
    pub(super) numbers: Vec<Number>,
}

impl Reading {
    pub(super) fn of(answer: &str, keywords: &Keywords) -> Self {
        let text = fold(answer);
        let hits = hits(&text, keywords);
        let (sentences, clauses) = split::split(&text, &hits);
        let names = spaced(&text);
        let mut reading = Self { text, names, sentences, clauses, hits, numbers: Vec::new() };
        reading.numbers = numbers::numbers(&reading, keywords);
        reading
    }

    /// Whether any clause has a phrase of the list.
    pub(super) fn has(&self, list: WordList) -> bool {
        self.clauses.iter().any(|clause| clause.marks.has(list))
    }

    pub(super) fn sentence_of(&self, clause: &Clause) -> Option<&Sentence> {
        self.sentences.get(clause.sentence)
    }

    pub(super) fn hits_in(&self, clause: &Clause) -> &[Hit] {
        self.hits.get(clause.hits.clone()).unwrap_or_default()
    }

    pub(super) fn part(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Where a tool is named: by its name, or by the one that its server gave it; blanks, `_` and `-` are the same.
    pub(super) fn mentions<'a>(&'a self, tool: &ToolName) -> impl Iterator<Item = usize> + 'a {
        let needle = tool.0.clone();
        // The longest form holds the shorter ones, so that the shortest finds them all.
        let places: Vec<usize> = match needle.is_empty() {
            true => Vec::new(),
            false => self.names.match_indices(needle.as_str()).map(|(at, _)| at).collect(),
        };
        places.into_iter().filter(move |at| stands_alone(&self.names, *at, *at + needle.len()))
    }

    /// Whether a tool is named anywhere.
    pub(super) fn mentions_any(&self, tool: &ToolName) -> bool {
        self.mentions(tool).next().is_some()
    }

    /// The sentence at a place.
    pub(super) fn sentence_at(&self, at: usize) -> usize {
        self.sentences.partition_point(|sentence| sentence.end <= at)
    }
}

/// The name of a tool as it is looked for: folded, without its server and without `tool` at its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ToolName(String);

impl ToolName {
    pub(super) fn of(name: &str) -> Self {
        let bare = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map_or(name, |(_, bare)| bare);
        let folded = fold(bare);
        let spaced = spaced(folded.trim());
        let short = spaced.strip_suffix(" tool").filter(|short| !short.is_empty()).map(str::to_owned);
        Self(short.unwrap_or(spaced))
    }
}

fn spaced(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '_' | '-') { ' ' } else { c }).collect()
}

fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let is_word = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    !is_word(start.checked_sub(1)) && !is_word(Some(end))
}

/// Every phrase, from front to back; one that begins inside another is no hit.
fn hits(text: &str, keywords: &Keywords) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut from = 0;
    let mut is_after_word = false;
    for (at, c) in text.char_indices() {
        let is_inside_word = is_after_word && c != '_' && is_word(c);
        is_after_word = is_word(c);
        if at < from || is_inside_word {
            continue;
        }
        if let Some((len, marks)) = keywords.phrase_at(text, at) {
            from = at + len;
            hits.push(Hit { start: at, end: from, marks });
        }
    }
    hits
}
