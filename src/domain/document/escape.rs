//! From a quoted text to what it says.

use std::borrow::Cow;

/// The text inside quotes, JSON's or Python's, with or without a prefix letter. What is escaped wrongly stays as it is.
pub(super) fn unescaped(quoted: &str) -> Cow<'_, str> {
    unescaped_to(quoted, usize::MAX)
}

/// The same, of so many bytes of the front as they were written. An escape that is cut stays as it is.
pub(super) fn unescaped_to(quoted: &str, bytes: usize) -> Cow<'_, str> {
    let from = quoted.find(['"', '\'']).map_or(0, |at| at + 1);
    let mut end = quoted.len().saturating_sub(1).min(from.saturating_add(bytes));
    while !quoted.is_char_boundary(end) {
        end -= 1;
    }
    let inner = quoted.get(from..end).unwrap_or_default();
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    // The next one is near where there are some: JSON in JSON has one at every quote.
    while let Some(at) = rest.bytes().position(|byte| byte == b'\\') {
        text.push_str(rest.get(..at).unwrap_or_default());
        rest = unescape(rest.get(at + 1..).unwrap_or_default(), &mut text);
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Writes what stands behind a backslash and answers the rest.
fn unescape<'a>(escaped: &'a str, text: &mut String) -> &'a str {
    let mut rest = escaped.chars();
    match rest.next() {
        None => text.push('\\'),
        Some('n') => text.push('\n'),
        Some('r') => text.push('\r'),
        Some('t') => text.push('\t'),
        Some('b') => text.push('\u{8}'),
        Some('f') => text.push('\u{c}'),
        Some(kind @ ('x' | 'u' | 'U')) => {
            let rest = rest.as_str();
            let digits = match kind {
                'x' => 2,
                'u' => 4,
                _ => 8,
            };
            return coded(rest, digits, text).unwrap_or_else(|| {
                text.extend(['\\', kind]);
                rest
            });
        }
        Some(other) => text.push(other), // quotes, slashes, and whatever else stands for itself
    }
    rest.as_str()
}

/// Writes a character by its number in so many hexadecimal digits and answers the rest; two UTF-16 halves make one.
fn coded<'a>(rest: &'a str, digits: usize, text: &mut String) -> Option<&'a str> {
    let (first, behind) = number(rest, digits)?;
    if (0xd800..0xdc00).contains(&first)
        && let Some((second, behind)) = behind.strip_prefix("\\u").and_then(|low| number(low, 4))
        && (0xdc00..0xe000).contains(&second)
    {
        let joined = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        text.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
        return Some(behind);
    }
    text.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    Some(behind)
}

/// The UTF-16 code unit that stands behind a backslash in JSON without damage, and the rest.
pub(super) fn json_unit(escaped: &str) -> (u16, &str) {
    let mut rest = escaped.chars();
    let unit = match rest.next().unwrap_or('\\') {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => {
            let (unit, behind) = number(rest.as_str(), 4).unwrap_or_default();
            return (u16::try_from(unit).unwrap_or_default(), behind);
        }
        other => other, // quotes, slashes
    };
    (u16::try_from(u32::from(unit)).unwrap_or_default(), rest.as_str())
}

fn number(from: &str, digits: usize) -> Option<(u32, &str)> {
    let (hex, behind) = from.split_at_checked(digits)?;
    let is_hex = hex.bytes().all(|b| b.is_ascii_hexdigit()); // a sign is none
    Some((u32::from_str_radix(hex, 16).ok().filter(|_| is_hex)?, behind))
}
