//! Which row of a table of words a text speaks of, found in one pass over the text, however many words there are.

use aho_corasick::AhoCorasick;

/// A table of rows, each of several words.
pub(super) struct Words {
    search: AhoCorasick,
    /// The row of each word.
    rows: Vec<usize>,
}

impl Words {
    #[expect(clippy::expect_used, reason = "made of constants: every test that reads a text shows that it can be")]
    pub(super) fn new(table: impl Iterator<Item = &'static [&'static str]>) -> Self {
        let (rows, words): (Vec<usize>, Vec<&str>) =
            table.enumerate().flat_map(|(row, words)| words.iter().map(move |word| (row, *word))).unzip();
        Self { search: AhoCorasick::new(words).expect("a few hundred words"), rows }
    }

    /// The first row of which the text holds a word, wherever it stands; `counts` has a say in it, by its two ends.
    pub(super) fn first_in(&self, text: &str, counts: impl Fn(usize, usize) -> bool) -> Option<usize> {
        let mut first = None;
        for found in self.search.find_overlapping_iter(text).filter(|found| counts(found.start(), found.end())) {
            let row = self.rows.get(found.pattern().as_usize()).copied();
            first = first.into_iter().chain(row).min();
            if first == Some(0) {
                break;
            }
        }
        first
    }
}

#[cfg(test)]
mod tests;
