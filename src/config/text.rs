//! How durations, percentages and factors are written: exact integers on both ways, no floating point.

use std::fmt;

const MS: u64 = 1;
const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
pub(super) const HOUR: u64 = 60 * MINUTE;
pub(super) const DAY: u64 = 24 * HOUR;

/// The unit of a duration, the shortest first, with the shortest span that is written in it.
const UNITS: [(&str, u64, u64); 5] =
    [("ms", MS, 0), ("s", SECOND, SECOND), ("m", MINUTE, 2 * MINUTE), ("h", HOUR, HOUR), ("d", DAY, 2 * DAY)];

/// The pattern of a duration, for the schema.
pub(super) const DURATION_PATTERN: &str = "^[0-9]+(ms|s|m|h|d)$";
/// The pattern of a factor that is written as text, for the schema.
pub(super) const DECIMAL_PATTERN: &str = r"^[0-9]+(\.[0-9]{1,2})?$";
/// The pattern of a percentage, for the schema.
pub(super) const PERCENT_PATTERN: &str = r"^[0-9]+(\.[0-9]{1,2})?%$";
/// The pattern of a percentage without a fraction, for the schema.
pub(super) const WHOLE_PERCENT_PATTERN: &str = "^[0-9]+%$";

/// Milliseconds of `30s`; none where it is not so written, held at the end of the scale where it is too long.
pub(crate) fn parse_duration(text: &str) -> Option<u64> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = text.split_at_checked(unit_at)?;
    let (_, unit_ms, _) = UNITS.iter().find(|(name, ..)| *name == unit)?;
    Some(parse_digits(digits)?.saturating_mul(*unit_ms))
}

/// Basis points of `49.5%`.
pub(super) fn parse_percent(text: &str) -> Option<u64> {
    parse_hundredths(text.strip_suffix('%')?)
}

/// Hundredths of `2.25`; at most two decimals, so that nothing is rounded.
pub(super) fn parse_hundredths(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let hundredths = match decimals.len() {
        1 => parse_digits(decimals)?.saturating_mul(10),
        2 => parse_digits(decimals)?,
        _ => return None,
    };
    Some(parse_digits(whole)?.saturating_mul(100).saturating_add(hundredths))
}

fn parse_digits(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX)) // digits alone fail only by being too many
}

/// A span in the unit in which an operator would write it: `60s`, `5m`, `24h`, `30d`.
pub(super) struct Written(pub(super) u64);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, unit_ms, least): &&(&str, u64, u64)| self.0 >= *least && self.0.is_multiple_of(*unit_ms);
        let (unit, unit_ms, _) = UNITS.iter().rev().find(fits).unwrap_or(&("ms", MS, 0));
        write!(f, "{}{unit}", self.0 / unit_ms)
    }
}

/// Hundredths as a decimal without needless zeros: `2`, `2.5`, `2.25`.
pub(super) struct Decimal(pub(super) u64);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, hundredths) = (self.0 / 100, self.0 % 100);
        match hundredths {
            0 => write!(f, "{whole}"),
            tens if tens.is_multiple_of(10) => write!(f, "{whole}.{}", tens / 10),
            _ => write!(f, "{whole}.{hundredths:02}"),
        }
    }
}

/// A text as TOML writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The known name that was probably meant: at most two edits away, and at most half of its length.
pub(super) fn nearest<'n>(given: &str, known: &[&'n str]) -> Option<&'n str> {
    const NAME_CHARS_MAX: usize = 32; // every known name is shorter
    if given.chars().count() > NAME_CHARS_MAX {
        return None;
    }
    let distances = known.iter().map(|name| (edits(given, name), *name));
    let (distance, name) = distances.min()?;
    (distance <= 2 && distance * 2 <= name.len()).then_some(name)
}

/// Edits (insert, delete, replace) between two short names.
fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, b) in row.iter_mut().skip(1).zip(to.chars()) {
            let replaced = diagonal + usize::from(a != b);
            diagonal = *cell;
            left = replaced.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}
