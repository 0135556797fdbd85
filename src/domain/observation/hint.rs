//! How long a target asked to be left alone, from the headers of its answer, in the order of spec 3.4.

/// A wait that the target asked for. Kept as it came: the policy clamps it, and nonsense falls back to the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryHint {
    /// Milliseconds from the answer on; zero or negative for dates that had passed.
    pub raw_ms: i64,
}

/// Deltas beyond this in `X-RateLimit-Reset` are read as Unix time.
const EPOCH_S_MIN: i64 = 1_000_000_000;

impl RetryHint {
    /// Reads `retry-after-ms`, `Retry-After`, `RateLimit`, `RateLimit-Reset` and `X-RateLimit-Reset`, in this order;
    /// names in any case. Dates count from the answer's own `Date`, else from `now_unix_ms`.
    #[must_use]
    pub fn from_headers<'a>(
        headers: impl Iterator<Item = (&'a str, &'a str)> + Clone,
        now_unix_ms: u64,
    ) -> Option<Self> {
        let value =
            |name: &str| headers.clone().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim());
        let now_s = value("date")
            .and_then(unix_s_of_date)
            .unwrap_or_else(|| i64::try_from(now_unix_ms / 1_000).unwrap_or(i64::MAX));
        value("retry-after-ms")
            .and_then(|text| scaled(text, 0))
            .or_else(|| value("retry-after").and_then(|text| scaled(text, 3).or_else(|| until_date(text, now_s))))
            .or_else(|| value("ratelimit").and_then(reset_of_ratelimit))
            .or_else(|| value("ratelimit-reset").and_then(|text| scaled(text, 3)))
            .or_else(|| value("x-ratelimit-reset").and_then(|text| reset_time(text, now_s)))
            .map(|raw_ms| Self { raw_ms })
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

fn until_date(text: &str, now_s: i64) -> Option<i64> {
    Some(unix_s_of_date(text)?.saturating_sub(now_s).saturating_mul(1_000))
}

fn unix_s_of_date(text: &str) -> Option<i64> {
    let date = httpdate::parse_http_date(text).ok()?;
    let epoch = httpdate::parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT").ok()?;
    let since = date.duration_since(epoch).ok()?;
    i64::try_from(since.as_secs()).ok()
}

/// `limit=10, remaining=0, reset=30` or `"default";r=0;t=30`.
fn reset_of_ratelimit(text: &str) -> Option<i64> {
    text.split([',', ';'])
        .filter_map(|part| part.trim().split_once('='))
        .find(|(name, _)| matches!(*name, "reset" | "t"))
        .and_then(|(_, value)| scaled(value, 3))
}

fn reset_time(text: &str, now_s: i64) -> Option<i64> {
    let ms = scaled(text, 3)?;
    if ms / 1_000 >= EPOCH_S_MIN { Some(ms.saturating_sub(now_s.saturating_mul(1_000))) } else { Some(ms) }
}

#[cfg(test)]
mod tests;
