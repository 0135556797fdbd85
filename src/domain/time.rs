//! Two scales of time, kept apart: the monotonic one decides, the wall one is only shown.
//!
//! Pure: nobody here reads a clock. Deadlines, windows and leases live on [`Timestamp`], so that a stepped wall clock
//! moves nothing; [`WallClock`] translates a deadline into the UTC time that a contract prints.

use std::fmt::{self, Write as _};

/// Milliseconds on the monotonic scale of this deployment; 0 is its first start. A restart goes on from where the last life
/// was, by as much as the wall clock says; without a store each life begins at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The moment `ms` milliseconds later, held at the end of the scale.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds since `earlier`; 0 where `earlier` lies ahead.
    #[must_use]
    pub fn since_ms(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// How the wall clock stands to the monotonic one, read once per request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallClock {
    /// Unix time in milliseconds at timestamp 0.
    pub offset_ms: i64,
    /// False where the wall clock moved against the monotonic one by more than 2 s since the last check: then no
    /// absolute time is shown (spec 01).
    pub trusted: bool,
}

impl WallClock {
    /// Unix time in milliseconds of `at`, never negative.
    #[must_use]
    pub fn unix_ms(self, at: Timestamp) -> u64 {
        let at = i64::try_from(at.0).unwrap_or(i64::MAX);
        u64::try_from(self.offset_ms.saturating_add(at)).unwrap_or(0)
    }
}

const DAY_S: u64 = 86_400;
/// 9999-12-31T23:59:59Z: nothing later is printed, as its year would take a fifth digit.
const LAST_S: u64 = 253_402_300_799;
/// Deadlines further away than this carry the date (spec 01).
const DATED_AFTER_MS: u64 = 12 * 3_600_000;

/// The UTC time of a deadline in whole seconds, rounded up: `14:02:10Z`, dated where it is more than 12 hours away, or past.
#[derive(Clone, Copy, Debug)]
pub struct UtcDeadline {
    /// The deadline.
    pub at: Timestamp,
    /// The moment of printing.
    pub now: Timestamp,
    /// The wall clock of this request.
    pub wall: WallClock,
}

impl fmt::Display for UtcDeadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unix_s = self.wall.unix_ms(self.at).div_ceil(1_000).min(LAST_S);
        if self.at.0.abs_diff(self.now.0) > DATED_AFTER_MS {
            let (year, month, day) = civil_date(unix_s / DAY_S);
            write!(f, "{year:04}-{month:02}-{day:02}T")?;
        }
        let s = unix_s % DAY_S;
        for (number, after) in [(s / 3_600, ':'), (s / 60 % 60, ':'), (s % 60, 'Z')] {
            for digit in [number / 10, number % 10] {
                f.write_char(char::from(b'0' + digit as u8))?;
            }
            f.write_char(after)?;
        }
        Ok(())
    }
}

/// Year, month and day of a count of days since 1970-01-01 (the proleptic Gregorian calendar, eras of 400 years that
/// start in March, so that the leap day is the last of its year).
fn civil_date(days: u64) -> (u64, u64, u64) {
    let shifted = days.saturating_add(719_468);
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

/// A wait in words, rounded up: `about 40 seconds`. Seconds to two minutes, minutes to two hours, hours to four days, then days.
#[derive(Clone, Copy, Debug)]
pub struct RelativeHint {
    /// The wait in milliseconds.
    pub ms: u64,
}

impl fmt::Display for RelativeHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.ms.div_ceil(1_000).max(1);
        let (n, unit) = match s {
            0..=120 => (s, "second"),
            121..=7_200 => (s.div_ceil(60), "minute"),
            7_201..=345_600 => (s.div_ceil(3_600), "hour"),
            _ => (s.div_ceil(DAY_S), "day"),
        };
        write!(f, "about {n} {unit}{}", if n == 1 { "" } else { "s" })
    }
}

/// A span as the contract prints it: whole seconds where it is, else milliseconds (`30s`, `1500ms`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(
    /// Milliseconds.
    pub u64,
);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(1_000) { write!(f, "{}s", self.0 / 1_000) } else { write!(f, "{}ms", self.0) }
    }
}

#[cfg(test)]
mod tests;
