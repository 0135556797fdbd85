//! The metrics that a PromQL query reads.

use std::collections::BTreeSet;

use super::lexer::{Token, tokens};

/// Words behind which a list of labels stands in brackets.
const BEFORE_LABELS: &[&str] = &["by", "without", "on", "ignoring", "group_left", "group_right"];
/// Words that are neither metrics nor functions.
const KEYWORDS: &[&str] = &["and", "or", "unless", "atan2", "offset", "bool", "inf", "nan"];

/// The metric names of a query; none where it cannot be read.
pub(super) fn metrics(query: &str) -> Option<BTreeSet<String>> {
    let tokens = tokens(query)?;
    let mut reader = Reader { tokens: &tokens, at: 0, names: BTreeSet::new(), open: 0 };
    while let Some(token) = reader.next() {
        reader.take(token)?;
    }
    (reader.open == 0).then_some(reader.names)
}

struct Reader<'t, 'q> {
    tokens: &'t [Token<'q>],
    at: usize,
    names: BTreeSet<String>,
    /// Round brackets that are open.
    open: usize,
}

impl<'q> Reader<'_, 'q> {
    fn next(&mut self) -> Option<Token<'q>> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    fn peek(&self) -> Option<Token<'q>> {
        self.tokens.get(self.at).copied()
    }

    /// One piece; none where the brackets do not fit.
    fn take(&mut self, token: Token<'q>) -> Option<()> {
        match token {
            Token::Mark('(') => self.open += 1,
            Token::Mark(')') => self.open = self.open.checked_sub(1)?,
            Token::Mark('[') => self.skip_to(']')?, // ranges and steps
            Token::Mark('{') => self.matchers()?,
            Token::Mark('}' | ']') => return None,
            Token::Word(word) => self.word(word)?,
            Token::Mark(_) | Token::Text(_) | Token::Operator(_) | Token::Number => {}
        }
        Some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let is_one_of = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
        match self.peek() {
            Some(Token::Mark('(')) if is_one_of(BEFORE_LABELS) => {
                self.at += 1;
                return self.skip_to(')');
            }
            Some(Token::Mark('(')) => return Some(()), // a function or an aggregation
            // `sum by (job) (..)`
            Some(Token::Word(next)) if ["by", "without"].iter().any(|w| next.eq_ignore_ascii_case(w)) => {
                return Some(());
            }
            Some(_) | None => {}
        }
        if !is_one_of(KEYWORDS) && !is_one_of(BEFORE_LABELS) {
            self.names.insert(word.to_owned());
        }
        Some(())
    }

    /// The inside of `{..}`: labels are no metrics, but for `__name__` and a quoted name of its own.
    fn matchers(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                Token::Mark('}') => return Some(()),
                Token::Word("__name__") => self.named()?,
                Token::Text("__name__") if matches!(self.peek(), Some(Token::Operator(_))) => self.named()?,
                Token::Text(text) if !matches!(self.peek(), Some(Token::Operator(_))) => {
                    self.names.insert(text.to_owned());
                }
                Token::Word(_) | Token::Text(_) => self.skip_matcher(),
                Token::Operator(_) | Token::Mark(_) | Token::Number => {}
            }
        }
    }

    /// `__name__="up"` is a metric; any other matcher of names stands for those that it matches.
    fn named(&mut self) -> Option<()> {
        let Token::Operator(operator) = self.next()? else { return None };
        let Token::Text(text) = self.next()? else { return None };
        let name = if operator == "=" { text.to_owned() } else { format!("{operator}{text}") };
        self.names.insert(name);
        Some(())
    }

    /// What is left of a matcher behind its label, so that its text is not taken for a name.
    fn skip_matcher(&mut self) {
        while self.peek().is_some_and(|token| !matches!(token, Token::Mark(',' | '}'))) {
            self.at += 1;
        }
    }

    fn skip_to(&mut self, close: char) -> Option<()> {
        while let Some(token) = self.next() {
            if token == Token::Mark(close) {
                return Some(());
            }
        }
        None
    }
}
