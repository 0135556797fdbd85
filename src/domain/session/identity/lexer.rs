//! Words, texts and marks of a query language, as far as names can be told apart from the rest.
//!
//! Tolerant: knows PromQL and LogQL, minds neither operators nor numbers, and reads on over what it does not know.
//! Fails for nothing but a quoted text that does not end.

/// One piece of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'q> {
    /// A name, a keyword, a template variable.
    Word(&'q str),
    /// What stands inside quotes, as it was written.
    Text(&'q str),
    /// A matcher's operator: `=`, `!=`, `=~`, `!~`, and the like.
    Operator(&'q str),
    /// Any other single character: brackets, commas, arithmetic.
    Mark(char),
    /// A number or a duration.
    Number,
}

/// The pieces of a query; none where a quoted text does not end.
pub(super) fn tokens(query: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = query;
    while let Some(first) = rest.chars().next() {
        let (token, len) = match first {
            c if c.is_whitespace() => (None, c.len_utf8()),
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '"' | '\'' | '`' => {
                let len = text_len(rest, first)?;
                (rest.get(1..len - 1).map(Token::Text), len)
            }
            '0'..='9' => (Some(Token::Number), number_len(rest)),
            '.' if rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit()) => (Some(Token::Number), number_len(rest)),
            '$' => {
                let len = variable_len(rest);
                (rest.get(..len).map(Token::Word), len)
            }
            '=' | '!' | '<' | '>' | '~' | '|' => {
                let len = run_len(rest, |c| matches!(c, '=' | '!' | '<' | '>' | '~' | '|'));
                (rest.get(..len).map(Token::Operator), len)
            }
            c if starts_word(c) => {
                let len = run_len(rest, |c| starts_word(c) || c.is_ascii_digit());
                (rest.get(..len).map(Token::Word), len)
            }
            c => (Some(Token::Mark(c)), c.len_utf8()),
        };
        tokens.extend(token);
        rest = rest.get(len..)?;
    }
    Some(tokens)
}

fn starts_word(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | ':')
}

fn run_len(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// `15`, `0x1F`, `1e-9`, `1h30m`, `5m`.
fn number_len(text: &str) -> usize {
    let mut last = '0';
    let is_decimal = !text.starts_with("0x");
    let mut belongs = |c: char| {
        let sign = matches!(c, '+' | '-') && matches!(last, 'e' | 'E') && is_decimal;
        last = c;
        sign || c.is_ascii_alphanumeric() || matches!(c, '.' | '_')
    };
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// `$name`, `${name}`, `$__range`.
fn variable_len(text: &str) -> usize {
    match text.strip_prefix("${") {
        Some(rest) => rest.find('}').map_or(text.len(), |at| at + 3),
        None => 1 + run_len(text.get(1..).unwrap_or_default(), |c| starts_word(c) || c.is_ascii_digit()),
    }
}

/// The length of a quoted text with both quotes. Backquotes know no escapes.
fn text_len(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if quote != '`' => is_escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}
