//! The letters of a table: words, texts in quotes, spans of time, ranges.

/// One token of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Anything without blanks and commas.
    Word(String),
    /// What stood in quotes or backticks.
    Text(String),
    Comma,
    Arrow,
}

/// Cuts a line into tokens; `#` begins a comment.
pub(super) fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, len) = match first {
            '#' => break,
            ',' => (Token::Comma, 1),
            '"' | '`' => {
                let end = rest[1..].find(first).ok_or_else(|| format!("a text without its closing {first}"))?;
                (Token::Text(rest[1..=end].to_owned()), end + 2)
            }
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(rest.len());
                let word = &rest[..end];
                (if word == "->" { Token::Arrow } else { Token::Word(word.to_owned()) }, end)
            }
        };
        found.push(token);
        rest = rest[len..].trim_start();
    }
    Ok(found)
}

/// Tokens that are read from the left.
pub(super) struct Reader(std::collections::VecDeque<Token>);

impl Reader {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self(tokens.into())
    }

    /// The next word, if it is one, left where it is.
    pub(super) fn peek(&self) -> Option<&str> {
        match self.0.front() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Takes the next word if it is this one.
    pub(super) fn takes(&mut self, word: &str) -> bool {
        let is_there = self.peek() == Some(word);
        if is_there {
            self.0.pop_front();
        }
        is_there
    }

    /// Takes a comma or an arrow if it is next.
    pub(super) fn takes_mark(&mut self, mark: &Token) -> bool {
        let is_there = self.0.front() == Some(mark);
        if is_there {
            self.0.pop_front();
        }
        is_there
    }

    /// Whether the step is over: the end, a comma or an arrow.
    pub(super) fn is_at_end(&self) -> bool {
        !matches!(self.0.front(), Some(Token::Word(_) | Token::Text(_)))
    }

    /// The next word or text.
    pub(super) fn value(&mut self, what: &str) -> Result<String, String> {
        match self.0.pop_front() {
            Some(Token::Word(text) | Token::Text(text)) => Ok(text),
            other => Err(format!("{what} is due, not {other:?}")),
        }
    }

    pub(super) fn span(&mut self, what: &str) -> Result<u64, String> {
        let text = self.value(what)?;
        parse_span(&text).and_then(|ms| u64::try_from(ms).ok()).ok_or_else(|| format!("{what} is due, not `{text}`"))
    }

    pub(super) fn number(&mut self, what: &str) -> Result<u32, String> {
        let text = self.value(what)?;
        text.parse().map_err(|_| format!("{what} is due, not `{text}`"))
    }

    /// Takes the next word if it is a count such as `4x`.
    pub(super) fn times(&mut self) -> Option<usize> {
        let times = self.peek()?.strip_suffix('x')?.parse().ok()?;
        self.0.pop_front();
        Some(times)
    }
}

/// Milliseconds of `10s`, `1.5s`, `80ms`, `5m`, `2h`, `-1h`.
pub(super) fn parse_span(text: &str) -> Option<i64> {
    let (sign, plain) = match text.strip_prefix('-') {
        Some(plain) => (-1, plain),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let unit_at = plain.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = plain.split_at(unit_at);
    let unit_ms: i64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let scale = 10_i64.pow(u32::try_from(part.len()).ok()?);
    let part: i64 = if part.is_empty() { 0 } else { part.parse().ok()? };
    let whole: i64 = whole.parse().ok()?;
    Some(sign * whole.saturating_mul(unit_ms).saturating_add(part * unit_ms / scale))
}

/// A span as a table writes it.
pub(super) fn span(ms: i64) -> String {
    if ms % 1_000 == 0 { format!("{}s", ms / 1_000) } else { format!("{ms}ms") }
}

/// The values of `t1..t100`; of anything else, itself.
pub(super) fn range(text: &str) -> Vec<String> {
    let ends = text.split_once("..").and_then(|(first, last)| {
        let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = |end: &str| end.strip_prefix(stem)?.parse::<usize>().ok();
        Some((stem, number(first)?, number(last)?))
    });
    match ends {
        Some((stem, first, last)) => (first..=last).map(|n| format!("{stem}{n}")).collect(),
        None => vec![text.to_owned()],
    }
}
