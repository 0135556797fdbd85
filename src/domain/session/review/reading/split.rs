//! Where sentences and clauses end.

use super::{Clause, Hit, Sentence};
use crate::domain::session::review::fold::is_han;
use crate::domain::session::review::keywords::{Marks, WordList};

/// A line that is no longer than this and speaks of what is ruled out is the heading of what follows.
const HEADING_BYTES_MAX: usize = 48;

/// The sentences and clauses of a folded text, each with the lists that have a phrase in it.
pub(super) fn split(text: &str, hits: &[Hit]) -> (Vec<Sentence>, Vec<Clause>) {
    let mut splitter =
        Splitter { text, hits, hit: 0, sentences: Vec::new(), clauses: Vec::new(), open: Open::default() };
    let mut thoughts = hits.iter().filter(|hit| hit.marks.has(WordList::Adversative)).peekable();
    for (at, c) in text.char_indices() {
        while thoughts.next_if(|hit| hit.start <= at).is_some() {
            splitter.end_clause(at);
        }
        splitter.open.has_letters |= c.is_alphabetic();
        let after = at + c.len_utf8();
        match c {
            '。' | '!' | '?' | ';' | '\n' => splitter.end_sentence(after),
            '.' if splitter.open.has_letters && ends_sentence(text, after) => splitter.end_sentence(after),
            ',' if !is_between_digits(text, at, after) => splitter.end_clause(after),
            '—' | '|' => splitter.end_clause(after),
            _ => {}
        }
    }
    splitter.end_sentence(text.len());
    let Splitter { mut sentences, clauses, .. } = splitter;
    inherit(text, &mut sentences);
    (sentences, clauses)
}

/// What is not ended yet.
#[derive(Default)]
struct Open {
    sentence: usize,
    clause: usize,
    has_letters: bool,
    marks: Marks,
}

struct Splitter<'a> {
    text: &'a str,
    hits: &'a [Hit],
    /// The first hit that is in no clause yet.
    hit: usize,
    sentences: Vec<Sentence>,
    clauses: Vec<Clause>,
    open: Open,
}

impl Splitter<'_> {
    fn end_clause(&mut self, end: usize) {
        let start = self.open.clause;
        let first = self.hit;
        let mut marks = Marks::default();
        while let Some(hit) = self.hits.get(self.hit).filter(|hit| hit.start < end) {
            marks.add(hit.marks);
            self.hit += 1;
        }
        if end > start {
            self.open.marks.add(marks);
            self.clauses.push(Clause { start, end, sentence: self.sentences.len(), marks, hits: first..self.hit });
        }
        self.open.clause = end;
    }

    fn end_sentence(&mut self, end: usize) {
        self.end_clause(end);
        if end > self.open.sentence {
            let is_question = self.text.get(self.open.sentence..end).is_some_and(|part| part.ends_with('?'));
            self.sentences.push(Sentence {
                start: self.open.sentence,
                end,
                marks: self.open.marks,
                is_question,
                is_under_ruled_out: false,
            });
        }
        self.open = Open { sentence: end, clause: end, ..Open::default() };
    }
}

/// A full stop ends a sentence before a blank, a quote, a bracket or Chinese, so that `1.5` and `v2.5.0` stay whole.
fn ends_sentence(text: &str, after: usize) -> bool {
    let next = text.get(after..).and_then(|rest| rest.chars().next());
    next.is_none_or(|next| matches!(next, ' ' | '\n' | '"' | '\'' | ')') || is_han(next))
}

fn is_between_digits(text: &str, at: usize, after: usize) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    is_digit(at.checked_sub(1)) && is_digit(Some(after))
}

/// Marks what stands in a list or section that is said to be ruled out.
fn inherit(text: &str, sentences: &mut [Sentence]) {
    let (mut is_ruled_out, mut is_section) = (false, false);
    for sentence in sentences {
        let part = text.get(sentence.start..sentence.end).unwrap_or_default();
        let begins_line =
            sentence.start == 0 || text.get(..sentence.start).is_some_and(|before| before.ends_with('\n'));
        let says_so = sentence.marks.has(WordList::RuledOut);
        let line = part.trim();
        if begins_line && line.starts_with('#') {
            (is_ruled_out, is_section) = (says_so, true);
        } else if begins_line && !is_list_item(line) && !line.is_empty() {
            is_ruled_out &= is_section;
        }
        sentence.is_under_ruled_out = is_ruled_out;
        let is_heading = begins_line && part.ends_with('\n') && line.len() <= HEADING_BYTES_MAX && !is_list_item(line);
        if line.ends_with(':') || (is_heading && says_so) {
            (is_ruled_out, is_section) = (says_so, line.starts_with('#'));
        }
    }
}

fn is_list_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(['-', '•', '+', '·', '(']) || (rest.len() < line.len() && rest.starts_with(['.', ')', '、']))
}
