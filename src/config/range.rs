//! Whole numbers and the ranges that they are held to.

use toml::de::DeValue;

use super::field::wrong_type;

/// The least and the most that is allowed.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Range {
    pub(super) fn check(self, value: u64, written: fn(u64) -> String) -> Result<u64, String> {
        let (min, max) = (written(self.min), written(self.max));
        if value < self.min {
            Err(format!("is below the minimum {min} (allowed {min} to {max})"))
        } else if value > self.max {
            Err(format!("is above the maximum {max} (allowed {min} to {max})"))
        } else {
            Ok(value)
        }
    }
}

/// A whole number within a range; `due` says what is due.
pub(super) fn read_count(value: &DeValue<'_>, range: Range, due: &str) -> Result<u64, String> {
    let number = value.as_integer().ok_or_else(|| wrong_type(value, due))?;
    let digits = number.as_str();
    // what the parser took as an integer and is none of ours can only be too large, or below every minimum
    if digits.starts_with('-') && digits.bytes().any(|digit| matches!(digit, b'1'..=b'9')) {
        return Err(format!("is below the minimum {min} (allowed {min} to {max})", min = range.min, max = range.max));
    }
    let count = u64::from_str_radix(digits.trim_start_matches('-'), number.radix()).unwrap_or(u64::MAX);
    range.check(count, |count| count.to_string())
}
