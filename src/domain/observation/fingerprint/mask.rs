//! Free text without what changes from call to call: names in quotes, values of the arguments, times, ids, numbers.

use crate::domain::document::{Document, Kind, Value};

/// A text is read so far.
const TEXT_BYTES_MAX: usize = 4_096;
/// Values of the arguments that are looked for.
const VALUES_MAX: usize = 32;
/// How deep arguments are looked into.
const DEPTH_MAX: u8 = 4;
/// Shorter values are words like any other.
const VALUE_BYTES_MIN: usize = 4;
/// Longer ones are not repeated in an error.
const VALUE_BYTES_MAX: usize = 256;
/// Words after which a number is a code.
const CODE_LEADS: &[&str] = &["code", "status", "http", "error", "errno", "sqlstate", "exit", "http/1.1", "http/2"];
/// What closes a part in quotes or brackets.
const CLOSES: [char; 6] = ['"', '`', '\'', ']', '}', '”'];
/// What a duration ends with.
#[rustfmt::skip] // a list of words reads as a paragraph
const UNITS: &[&str] = &[
    "ns", "us", "µs", "ms", "s", "m", "h", "d", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes",
    "hour", "hours", "day", "days", "milliseconds", "msec",
];

/// What is to be masked beside what always is.
#[derive(Debug)]
pub(in super::super) struct Mask {
    values: Vec<String>,
}

impl Mask {
    /// With the texts among a call's arguments.
    pub(in super::super) fn new(arguments: Option<&[u8]>) -> Self {
        let text = arguments.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
        let mut values = Vec::new();
        if let Ok(document) = Document::read(text) {
            collect(document.root(), 0, &mut values);
        }
        values.sort_by_key(|value| std::cmp::Reverse(value.len())); // the longest first: one may hold another
        Self { values }
    }

    /// Appends a text, masked: words apart by one blank each, in lower case.
    pub(super) fn push(&self, text: &str, out: &mut String) {
        let mut end = text.len().min(TEXT_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut plain = without_markup(text.get(..end).unwrap_or_default()).to_lowercase();
        for value in &self.values {
            plain = without_value(plain, value);
        }
        let plain = without_quotes(&plain);
        let mut last = "";
        let start = out.len();
        for word in plain.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '\u{1}' | '%'));
            if bare.is_empty() {
                continue;
            }
            if out.len() > start {
                out.push(' ');
            }
            push_word(bare, last, out);
            last = bare;
        }
    }
}

fn collect(value: Value<'_>, depth: u8, values: &mut Vec<String>) {
    if depth > DEPTH_MAX || values.len() >= VALUES_MAX {
        return;
    }
    match value.kind() {
        Kind::String => {
            let text = value.head().unwrap_or_default().to_lowercase();
            if (VALUE_BYTES_MIN..=VALUE_BYTES_MAX).contains(&text.len()) {
                values.push(text);
            }
        }
        Kind::Array => value.items().take(VALUES_MAX).for_each(|item| collect(item, depth + 1, values)),
        Kind::Object => value.entries().take(VALUES_MAX).for_each(|(_, item)| collect(item, depth + 1, values)),
        Kind::Null | Kind::Bool | Kind::Number | Kind::Opaque => {}
    }
}

/// Without a value of the arguments, where it stands as a word of its own.
fn without_value(text: String, value: &str) -> String {
    if !text.contains(value) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once(value) {
        let is_apart = !before.ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric);
        out.push_str(before);
        out.push_str(if is_apart { " \u{1} " } else { value });
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Without terminal colours and tags.
fn without_markup(text: &str) -> String {
    let has_tags = text.contains("</");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => while rest.next().is_some_and(|c| !c.is_ascii_alphabetic()) {},
            '<' if has_tags => {
                while rest.next().is_some_and(|c| c != '>') {}
                out.push(' ');
            }
            c => out.push(c),
        }
    }
    out
}

/// With one mark for every part in quotes or square or curly brackets. An apostrophe within a word is none.
fn without_quotes(text: &str) -> String {
    // Where each was closed last: what is opened behind it is not looked for again and again.
    let last_closed = CLOSES.map(|close| (close, text.rfind(close)));
    let is_closed = |close: char, at: usize| {
        last_closed.iter().any(|(known, last)| *known == close && last.is_some_and(|last| last >= at))
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..).unwrap_or_default();
        let close = match c {
            '"' | '`' => Some(c),
            '\'' if !before.is_alphanumeric() => Some('\''),
            '[' => Some(']'),
            '{' => Some('}'),
            '“' => Some('”'),
            _ => None,
        };
        let close = close.filter(|close| is_closed(*close, text.len() - behind.len()));
        match close.and_then(|close| Some((close, behind.find(close)?))) {
            Some((close, at)) => {
                out.push_str(" \u{1} ");
                rest = behind.get(at + close.len_utf8()..).unwrap_or_default();
                before = close;
            }
            None => {
                out.push(c);
                rest = behind;
                before = c;
            }
        }
    }
    out
}

/// A word, or what sort of name it is. `last` stands before it: a number behind "status code" is a code.
fn push_word(word: &str, last: &str, out: &mut String) {
    let has_digit = word.bytes().any(|b| b.is_ascii_digit());
    let is_code = has_digit && CODE_LEADS.contains(&last.trim_end_matches([':', '=']));
    let is_number = word.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if word == "\u{1}" {
        out.push('*');
    } else if is_code && is_number && word.len() <= 6 {
        out.push_str(word);
    } else if is_duration(word) {
        out.push('~');
    } else if is_name(word) {
        out.push('*');
    } else if has_digit {
        let mut in_number = false;
        for c in word.chars() {
            if !c.is_ascii_digit() {
                out.push(c);
            } else if !in_number {
                out.push('#');
            }
            in_number = c.is_ascii_digit();
        }
    } else {
        out.push_str(word);
    }
}

/// `1.8s`, `780ms`.
fn is_duration(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < word.len() && UNITS.contains(&unit)
}

/// A path, an address, a time, a metric, an id.
fn is_name(word: &str) -> bool {
    let joins = |c: char| matches!(c, '_' | '/' | '.' | ':' | '@' | '=' | '\\');
    let inner = word.trim_matches(joins);
    let is_hex = inner.len() >= 12 && inner.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    inner.contains(joins) || is_hex
}

#[cfg(test)]
mod tests;
