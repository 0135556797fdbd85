//! Trace and span ids: how they are found in a text, and how a session remembers those that its payloads held.
//!
//! An answer is read strictly: 16 or 32 hexadecimal digits that stand alone. A payload is read generously, as stores
//! drop leading zeros, put ids into URLs and escape sequences, and write them as UUIDs or in base64: an id that was
//! missed there would be called invented here. Both read a text once, from front to back.

use std::collections::BTreeSet;

use crate::domain::ids::{HashKey, HashTag};

/// Ids of a session; beyond them no id is called invented. About 100 KiB.
pub const IDS_MAX: usize = 4_096;

/// The shortest run of digits that is looked at: the first group of a UUID.
const RUN_BYTES_MIN: usize = 8;

/// A trace or span id by its number: `4BF9..`, `0x4bf9..` and one padded with zeros are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identifier(u128);

impl Identifier {
    /// An id as an answer writes it. Sixteen decimal digits are a time in microseconds or a number, and an id of
    /// nothing but zeros says that there is none.
    fn written(word: &str) -> Option<Self> {
        let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
        let has_letter = || digits.bytes().any(|byte| byte.is_ascii_alphabetic());
        match digits.len() {
            16 if has_letter() => Self::of_digits(digits),
            32 => Self::of_digits(digits),
            _ => None,
        }
    }

    /// An id as a store writes it: with up to four leading zeros less.
    fn stored(digits: &str) -> Option<Self> {
        let has_both = || {
            digits.bytes().any(|byte| byte.is_ascii_digit()) && digits.bytes().any(|byte| byte.is_ascii_alphabetic())
        };
        match digits.len() {
            14 | 15 | 28..=31 if has_both() => Self::of_digits(digits),
            _ => Self::written(digits),
        }
    }

    fn of_digits(digits: &str) -> Option<Self> {
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None; // a sign would be read as part of the number
        }
        u128::from_str_radix(digits, 16).ok().filter(|number| *number != 0).map(Self)
    }
}

/// The ids that an answer writes, in their order.
pub fn identifiers(text: &str) -> impl Iterator<Item = Identifier> + '_ {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(Identifier::written)
}

/// The ids that a payload, or what a user wrote, may be said to hold.
pub fn sightings(text: &str) -> impl Iterator<Item = Identifier> + '_ {
    HexRuns { text, at: 0 }.flat_map(|run| run.readings()).chain(in_base64(text))
}

/// The runs of hexadecimal digits of a text, each as long as it goes.
struct HexRuns<'a> {
    text: &'a str,
    at: usize,
}

struct HexRun<'a> {
    digits: &'a str,
    before: &'a str,
    after: &'a str,
}

impl<'a> Iterator for HexRuns<'a> {
    type Item = HexRun<'a>;

    /// A run of eight and more holds every eighth byte, so that only those are looked at in between.
    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
        loop {
            let probe = self.at + RUN_BYTES_MIN - 1;
            if !is_digit(probe) {
                if probe >= bytes.len() {
                    return None;
                }
                self.at = probe + 1;
                continue;
            }
            let (mut start, mut end) = (probe, probe + 1);
            while start > self.at && is_digit(start - 1) {
                start -= 1;
            }
            while is_digit(end) {
                end += 1;
            }
            self.at = end;
            if end - start >= RUN_BYTES_MIN {
                // Hexadecimal digits are bytes of their own: both ends are boundaries.
                let part = |range: std::ops::Range<usize>| self.text.get(range).unwrap_or_default();
                let (before, after) = (part(0..start), part(end..bytes.len()));
                return Some(HexRun { digits: part(start..end), before, after });
            }
        }
    }
}

impl HexRun<'_> {
    /// What the run may be: itself, itself behind an escape (`\n` is no digit, but `\b` and `\u0022` end in some), and
    /// the first group of a UUID or of an X-Ray id.
    fn readings(self) -> impl Iterator<Item = Identifier> {
        let behind_escape = match self.before.as_bytes() {
            [.., b'\\'] => self.digits.get(1..),
            [.., b'\\', b'u'] => self.digits.get(4..),
            _ => None,
        };
        let grouped = (self.digits.len() == 8 && self.after.starts_with('-')).then(|| self.grouped()).flatten();
        [Identifier::stored(self.digits), behind_escape.and_then(Identifier::stored), grouped].into_iter().flatten()
    }

    fn grouped(&self) -> Option<Identifier> {
        let uuid = self.after.get(..28).unwrap_or_default(); // -4-4-4-12
        let x_ray = self.after.get(..25).unwrap_or_default(); // -24
        let of = |groups: &str| Identifier::of_digits(&format!("{}{}", self.digits, groups.replace('-', "")));
        let is_split_at =
            |groups: &str, lens: &[usize]| groups.split('-').skip(1).map(str::len).eq(lens.iter().copied());
        if is_split_at(uuid, &[4, 4, 4, 12]) {
            return of(uuid);
        }
        is_split_at(x_ray, &[24]).then(|| of(x_ray)).flatten()
    }
}

/// Ids in base64, as JSON writes the bytes of OTLP: 8 or 16 bytes with their padding.
fn in_base64(text: &str) -> impl Iterator<Item = Identifier> + '_ {
    text.match_indices('=').filter_map(|(pad, _)| {
        let (before, after) = text.split_at_checked(pad)?;
        let (len, bytes, after) = match after.strip_prefix("==") {
            Some(after) => (22, 16, after),
            None => (11, 8, after.strip_prefix('=')?),
        };
        let before = before.as_bytes();
        let digits = before.get(before.len().checked_sub(len)?..)?;
        let stands_behind = before.len().checked_sub(len + 1).and_then(|at| before.get(at));
        let goes_on = |byte: Option<&u8>| byte.is_some_and(|byte| base64_value(*byte).is_some());
        let stands_alone = !goes_on(stands_behind) && !goes_on(after.as_bytes().first()) && !after.starts_with('=');
        stands_alone.then(|| decoded(digits, bytes * 8)).flatten()
    })
}

/// The number in so many bits of base64; the last digit carries bits that do not count.
fn decoded(digits: &[u8], bits: u32) -> Option<Identifier> {
    let number = digits.iter().try_fold((0_u128, bits), |(number, left), digit| {
        let value = u128::from(base64_value(*digit)?);
        let counted = left.min(6);
        Some(((number << counted) | (value >> (6 - counted)), left - counted))
    });
    number.map(|(number, _)| number).filter(|number| *number != 0).map(Identifier)
}

const fn base64_value(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// The ids that a session's payloads held, as keyed hashes.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SeenIds {
    /// Never written down: whoever restores gives it.
    #[serde(skip, default = "HashKey::none")]
    key: HashKey,
    hashes: BTreeSet<u64>,
    has_overflowed: bool,
    misses_some: bool,
}

impl SeenIds {
    /// The same ids under the key with which they were hashed.
    #[must_use]
    pub(super) fn keyed(self, key: HashKey) -> Self {
        Self { key, ..self }
    }

    /// None yet.
    #[must_use]
    pub const fn new(key: HashKey) -> Self {
        Self { key, hashes: BTreeSet::new(), has_overflowed: false, misses_some: false }
    }

    /// Keeps the ids of a payload.
    pub fn note(&mut self, payload: &str) {
        for id in sightings(payload) {
            let hash = self.hash(id);
            if self.hashes.len() < IDS_MAX {
                self.hashes.insert(hash);
            } else if !self.hashes.contains(&hash) {
                self.has_overflowed = true;
                return; // from here on nobody asks
            }
        }
    }

    /// A payload was not seen, or not whole: the model may know ids that are not kept.
    pub const fn miss_some(&mut self) {
        self.misses_some = true;
    }

    /// Whether there were more than are kept.
    #[must_use]
    pub const fn has_overflowed(&self) -> bool {
        self.has_overflowed
    }

    /// Whether every id that the model can have read is kept, so that another one is invented.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        !self.has_overflowed && !self.misses_some
    }

    /// Whether a payload held this id.
    #[must_use]
    pub fn holds(&self, id: Identifier) -> bool {
        self.hashes.contains(&self.hash(id))
    }

    /// How many are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether none is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    fn hash(&self, id: Identifier) -> u64 {
        self.key.hash(HashTag::Identifier, &id.0.to_be_bytes())
    }
}

#[cfg(test)]
mod tests;
