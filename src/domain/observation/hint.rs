//! How long a target asked to be left alone, from the headers and the body of its answer, in the order of spec 3.4.

mod body;

use crate::domain::document::Value;

/// A wait that the target asked for. Kept as it came: the policy clamps it, and nonsense falls back to the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryHint {
    /// Milliseconds from the answer on; zero or negative for dates that had passed.
    pub raw_ms: i64,
}

/// Deltas beyond this in `X-RateLimit-Reset` are read as Unix time.
const EPOCH_S_MIN: i64 = 1_000_000_000;

impl RetryHint {
    /// Reads `retry-after-ms`, then `Retry-After`; names in any case. Dates count from the answer's own `Date`, else
    /// from `now_unix_ms`.
    #[must_use]
    pub fn asked<'a>(headers: impl Iterator<Item = (&'a str, &'a str)> + Clone, now_unix_ms: u64) -> Option<Self> {
        let asked_ms = header(headers.clone(), "retry-after-ms").and_then(|text| scaled(text, 0));
        let after = || {
            let text = header(headers.clone(), "retry-after")?;
            scaled(text, 3).or_else(|| until_date(text, answered_s(headers.clone(), now_unix_ms)))
        };
        asked_ms.or_else(after).map(|raw_ms| Self { raw_ms })
    }

    /// Reads `RateLimit`, `RateLimit-Reset` and `X-RateLimit-Reset`, in this order: when a limit refills, which is not
    /// asked for in so many words. Only where nothing is left of it, or nothing is said of that.
    #[must_use]
    pub fn of_limits<'a>(headers: impl Iterator<Item = (&'a str, &'a str)> + Clone, now_unix_ms: u64) -> Option<Self> {
        let value = |name: &str| header(headers.clone(), name);
        let is_spent = |name: &str| value(name).is_none_or(|left| left == "0");
        let now_s = answered_s(headers.clone(), now_unix_ms);
        value("ratelimit")
            .filter(|text| part(text, &["remaining", "r"]).is_none_or(|left| left == "0"))
            .and_then(|text| part(text, &["reset", "t"]).and_then(|text| scaled(text, 3)))
            .or_else(|| value("ratelimit-reset").filter(|_| is_spent("ratelimit-remaining")).and_then(|t| scaled(t, 3)))
            .or_else(|| {
                let text = value("x-ratelimit-reset").filter(|_| is_spent("x-ratelimit-remaining"))?;
                reset_time(text, now_s)
            })
            .map(|raw_ms| Self { raw_ms })
    }

    /// What a body asks for: a member that names a wait, in it or in its details.
    #[must_use]
    pub fn of_body(root: Value<'_>) -> Option<Self> {
        body::of_value(root, 0)
    }

    /// What a text asks for: "retry after 30 seconds".
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        body::of_text(text)
    }

    /// The wait where it is one: positive.
    #[must_use]
    pub fn usable_ms(self) -> Option<u64> {
        u64::try_from(self.raw_ms).ok().filter(|ms| *ms > 0)
    }
}

/// A decimal number times 10^`digits`, fractions cut; none for what is no plain number.
fn scaled(text: &str, digits: usize) -> Option<i64> {
    let (sign, plain) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(digits).collect();
    let number = format!("{whole}{kept}").parse::<i64>().unwrap_or(i64::MAX); // only digits: too large, never wrong
    Some(sign * number)
}

fn header<'a>(mut headers: impl Iterator<Item = (&'a str, &'a str)>, name: &str) -> Option<&'a str> {
    headers.find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// When the answer was written, by its own clock.
fn answered_s<'a>(headers: impl Iterator<Item = (&'a str, &'a str)>, now_unix_ms: u64) -> i64 {
    let date = header(headers, "date").and_then(unix_s_of_date);
    date.unwrap_or_else(|| i64::try_from(now_unix_ms / 1_000).unwrap_or(i64::MAX))
}

fn until_date(text: &str, now_s: i64) -> Option<i64> {
    Some(unix_s_of_date(text)?.saturating_sub(now_s).saturating_mul(1_000))
}

fn unix_s_of_date(text: &str) -> Option<i64> {
    let date = httpdate::parse_http_date(text).ok()?;
    let epoch = httpdate::parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT").ok()?;
    let since = date.duration_since(epoch).ok()?;
    i64::try_from(since.as_secs()).ok()
}

/// A part of `limit=10, remaining=0, reset=30` or `"default";r=0;t=30`.
fn part<'a>(text: &'a str, names: &[&str]) -> Option<&'a str> {
    let mut parts = text.split([',', ';']).filter_map(|part| part.trim().split_once('='));
    parts.find(|(name, _)| names.contains(name)).map(|(_, value)| value)
}

fn reset_time(text: &str, now_s: i64) -> Option<i64> {
    let ms = scaled(text, 3)?;
    if ms / 1_000 >= EPOCH_S_MIN { Some(ms.saturating_sub(now_s.saturating_mul(1_000))) } else { Some(ms) }
}

#[cfg(test)]
mod tests;
