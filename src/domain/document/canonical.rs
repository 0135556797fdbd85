//! When two calls carry the same arguments: the bytes that are equal exactly then.
//!
//! The order of members and the escapes are those of RFC 8785. Numbers are not: that rule reads them as doubles, which
//! makes one of two orders whose ids differ in the last digit. Here a number is its exact decimal value.
//!
//! What comes out for JSON is JSON with the same meaning, so that different arguments never meet. What is no JSON comes
//! out as it came in; as it is no JSON, no canonical form is equal to it.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::scan::{Scanner, narrow};
use super::steps::{behind_blanks, byte, end_of_string};
use super::{Dialect, escape};

/// The canonical bytes of a call's arguments. Members keep their order where two names are equal, so that a repeated
/// name never looks like a single one. A number whose exponent is beyond 64 bits stays as it was written.
#[must_use]
pub fn canonical(arguments: &[u8]) -> Cow<'_, [u8]> {
    let text = std::str::from_utf8(arguments).ok();
    let Some(document) = text.and_then(|text| Scanner::new(text, Dialect::Json).document().ok()) else {
        return Cow::Borrowed(arguments);
    };
    let value = document.root().raw();
    let survey = Survey::of(value);
    let mut writer = Writer { text: value, survey: &survey, out: Vec::with_capacity(value.len()) };
    writer.value(0, 0);
    if writer.out == arguments { Cow::Borrowed(arguments) } else { Cow::Owned(writer.out) }
}

/// An object, in the order of the opening braces, with its members in the order in which they are written.
#[derive(Debug)]
struct Object {
    start: u32,
    end: u32,
    /// The first object behind its end.
    next: u32,
    /// Where its members are.
    members: u32,
    members_end: u32,
}

/// Where a member's name and value are; `object` is the first one that starts with the value or behind.
#[derive(Clone, Copy, Debug)]
struct Member {
    name: u32,
    value: u32,
    object: u32,
}

/// An object that is not closed yet: which one, and the first of its members among those that wait.
#[derive(Debug)]
struct Open {
    object: usize,
    waiting: usize,
}

/// Every object whose text cannot be written from front to back: one out of order, or one with such an object in it.
///
/// Ordering starts and ends of values instead of what is written for them keeps a deep nesting from being copied once
/// for every level.
#[derive(Debug, Default)]
struct Survey {
    objects: Vec<Object>,
    members: Vec<Member>,
}

impl Survey {
    fn of(text: &str) -> Self {
        let mut survey = Self::default();
        let (mut open, mut waiting) = (Vec::new(), Vec::new());
        let mut at = 0;
        loop {
            match byte(text, at) {
                0 => return survey, // a text without damage has no such byte
                b'{' => {
                    open.push(Open { object: survey.objects.len(), waiting: waiting.len() });
                    let placed = narrow(survey.members.len());
                    let start = narrow(at);
                    survey.objects.push(Object { start, end: 0, next: 0, members: placed, members_end: placed });
                }
                b'}' => {
                    if let Some(closed) = open.pop() {
                        survey.close(text, at + 1, &closed, &mut waiting);
                    }
                }
                b'"' => {
                    let end = end_of_string(text.as_bytes(), at, b'"');
                    let colon = behind_blanks(text, end);
                    if byte(text, colon) == b':' {
                        let value = narrow(behind_blanks(text, colon + 1));
                        waiting.push(Member { name: narrow(at), value, object: narrow(survey.objects.len()) });
                    }
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn close(&mut self, text: &str, end: usize, closed: &Open, waiting: &mut Vec<Member>) {
        let own = waiting.get_mut(closed.waiting..).unwrap_or_default();
        let by_name = |a: &Member, b: &Member| by_units(text, a.name, b.name);
        if own.is_sorted_by(|a, b| by_name(a, b).is_le()) {
            if self.objects.len() == closed.object + 1 {
                self.objects.pop(); // nothing in it is out of order
                return waiting.truncate(closed.waiting);
            }
        } else {
            own.sort_by(by_name);
        }
        let next = narrow(self.objects.len());
        let members = narrow(self.members.len());
        self.members.extend(waiting.drain(closed.waiting..));
        if let Some(object) = self.objects.get_mut(closed.object) {
            let members_end = narrow(self.members.len());
            *object = Object { start: object.start, end: narrow(end), next, members, members_end };
        }
    }
}

struct Writer<'a> {
    text: &'a str,
    survey: &'a Survey,
    out: Vec<u8>,
}

impl Writer<'_> {
    /// Writes the value that starts here; `object` is the first one that starts here or behind.
    fn value(&mut self, mut at: usize, mut object: usize) {
        let mut depth = 0_usize;
        loop {
            at = behind_blanks(self.text, at);
            let survey = self.survey;
            let next = byte(self.text, at);
            match next {
                0 => return,
                b'{' if let Some(found) = survey.objects.get(object).filter(|found| found.start as usize == at) => {
                    self.members(found);
                    (at, object) = (found.end as usize, found.next as usize);
                }
                b'{' | b'[' | b',' | b':' => {
                    depth += usize::from(matches!(next, b'{' | b'['));
                    self.out.push(next);
                    at += 1;
                    continue;
                }
                b'}' | b']' => {
                    depth -= 1;
                    self.out.push(next);
                    at += 1;
                }
                b'"' => at = self.string(at),
                _ => at = self.word(at),
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// INVARIANT: calls itself through `value` no deeper than the reader lets objects nest.
    fn members(&mut self, object: &Object) {
        let members = self.survey.members.get(object.members as usize..object.members_end as usize);
        self.out.push(b'{');
        for (at, member) in members.unwrap_or_default().iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            self.string(member.name as usize);
            self.out.push(b':');
            self.value(member.value as usize, member.object as usize);
        }
        self.out.push(b'}');
    }

    fn string(&mut self, start: usize) -> usize {
        let end = end_of_string(self.text.as_bytes(), start, b'"');
        write_string(self.text.get(start..end).unwrap_or_default(), &mut self.out);
        end
    }

    /// A number, or a word that is written as it is.
    fn word(&mut self, start: usize) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
        let word = rest.get(..rest.bytes().take_while(|b| is_part(*b)).count()).unwrap_or_default();
        if !write_number(word, &mut self.out) {
            self.out.extend_from_slice(word.as_bytes());
        }
        start + word.len()
    }
}

/// Writes a number as its digits without zeros at either end, and the power of ten they count in: `1e3`, `25e-2`.
/// False where it is none whose exponent fits.
fn write_number(number: &str, out: &mut Vec<u8>) -> bool {
    let unsigned = number.strip_prefix('-').unwrap_or(number);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    if !unsigned.starts_with(|first: char| first.is_ascii_digit()) {
        return false; // a word, `-Infinity` among them
    }
    if mantissa.bytes().all(|b| matches!(b, b'0' | b'.')) {
        out.push(b'0');
        return true;
    }
    let Ok(exponent) = exponent.parse::<i64>() else {
        return false;
    };
    if unsigned.len() < number.len() {
        out.push(b'-');
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let first = out.len();
    if whole == "0" {
        out.extend_from_slice(fraction.trim_start_matches('0').as_bytes());
    } else {
        out.extend_from_slice(whole.as_bytes());
        out.extend_from_slice(fraction.as_bytes());
    }
    let digits = out.get(first..).unwrap_or_default();
    let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
    out.truncate(out.len() - zeros);
    let length = |count: usize| i128::try_from(count).unwrap_or_default(); // of a part of a text: fits
    let power = i128::from(exponent) - length(fraction.len()) + length(zeros);
    if power != 0 {
        out.extend_from_slice(format!("e{power}").as_bytes());
    }
    true
}

/// Writes a quoted text with no more escapes than it must have. Half of a surrogate pair can only be an escape.
fn write_string(quoted: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    while let Some((plain, behind)) = rest.split_once('\\') {
        out.extend_from_slice(plain.as_bytes());
        let (unit, mut behind) = escape::json_unit(behind);
        let low = behind.strip_prefix('\\').map(escape::json_unit);
        let pair = [unit, low.map_or(0, |(low, _)| low)];
        match char::decode_utf16(pair).next() {
            Some(Ok(character)) => {
                if let (true, Some((_, behind_low))) = (character.len_utf16() == 2, low) {
                    behind = behind_low;
                }
                write_char(character, out);
            }
            Some(Err(half)) => out.extend_from_slice(format!("\\u{:04x}", half.unpaired_surrogate()).as_bytes()),
            None => {}
        }
        rest = behind;
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'"');
}

fn write_char(character: char, out: &mut Vec<u8>) {
    match character {
        '"' => out.extend_from_slice(b"\\\""),
        '\\' => out.extend_from_slice(b"\\\\"),
        '\u{8}' => out.extend_from_slice(b"\\b"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\u{c}' => out.extend_from_slice(b"\\f"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\0'..'\u{20}' => out.extend_from_slice(format!("\\u{:04x}", u32::from(character)).as_bytes()),
        _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// Which of two names comes first by its UTF-16 code units. Each is read from its opening quote and no further than it
/// takes to tell: a long name that is compared with many short ones is not read to its end each time.
fn by_units(text: &str, a: u32, b: u32) -> Ordering {
    let name = |start: u32| text.get(start as usize + 1..).unwrap_or_default();
    let (a, b) = (name(a), name(b));
    let is_plain = |byte: u8| byte.is_ascii() && !matches!(byte, b'"' | b'\\');
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b && is_plain(*a)).count();
    Units::behind(a, same).cmp(Units::behind(b, same))
}

struct Units<'a> {
    rest: &'a str,
    low: Option<u16>,
}

impl<'a> Units<'a> {
    fn behind(name: &'a str, at: usize) -> Self {
        Self { rest: name.get(at..).unwrap_or_default(), low: None }
    }
}

impl Iterator for Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        if let Some(low) = self.low.take() {
            return Some(low);
        }
        let mut rest = self.rest.chars();
        let next = rest.next().filter(|next| *next != '"')?;
        self.rest = rest.as_str();
        if next == '\\' {
            let (unit, behind) = escape::json_unit(self.rest);
            self.rest = behind;
            return Some(unit);
        }
        let mut pair = [0; 2];
        let units = next.encode_utf16(&mut pair);
        self.low = units.get(1).copied();
        units.first().copied()
    }
}

#[cfg(test)]
mod tests;
