//! The labels by which a LogQL query selects its streams.

use std::collections::BTreeSet;

use super::lexer::{Token, tokens};

/// The names of the labels in every stream selector; none where the query cannot be read.
pub(super) fn stream_labels(query: &str) -> Option<BTreeSet<String>> {
    let tokens = tokens(query)?;
    let mut names = BTreeSet::new();
    let mut is_inside = false;
    let mut before = None;
    for token in tokens {
        match (token, before) {
            (Token::Mark('{'), _) if is_inside => return None,
            (Token::Mark('{'), _) => is_inside = true,
            (Token::Mark('}'), _) if !is_inside => return None,
            (Token::Mark('}'), _) => is_inside = false,
            (Token::Operator(_), Some(Token::Word(name) | Token::Text(name))) if is_inside => {
                names.insert(name.to_owned());
            }
            (Token::Operator(_) | Token::Word(_) | Token::Text(_) | Token::Mark(_) | Token::Number, _) => {}
        }
        before = Some(token);
    }
    (!is_inside).then_some(names)
}
