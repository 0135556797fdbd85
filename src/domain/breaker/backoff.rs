//! How long a circuit stays open: growth per level, jitter that only lengthens, and the target's own hint.

use super::policy::OpenFor;
use crate::domain::observation::RetryHint;
use crate::domain::time::Timestamp;

/// How long an opening lasts and what decided it.
#[derive(Clone, Copy, Debug)]
pub struct Duration {
    /// From when on; before now where it was found out late.
    pub from: Timestamp,
    /// Milliseconds; none for a latch.
    pub open_for_ms: Option<u64>,
    /// Whether the hint was longer than the policy allows, or no wait at all.
    pub hint_clamped: bool,
}

impl OpenFor {
    /// The open time at a backoff level: clamp(max(base × factor^level × (1 + jitter), hint), base, max).
    ///
    /// `dice` is any evenly spread number; jitter only lengthens, and never a hint.
    #[must_use]
    pub fn duration(&self, from: Timestamp, level: u8, dice: u64, hint: Option<RetryHint>) -> Duration {
        let mut grown = u128::from(self.base_ms);
        for _ in 0..level {
            grown = (grown * u128::from(self.factor.0) / 10_000).min(u128::from(self.max_ms));
        }
        let jitter = grown * u128::from(self.jitter.0) * u128::from(dice % 10_001) / 100_000_000;
        let own = u64::try_from(grown + jitter).unwrap_or(u64::MAX);
        let asked = hint.and_then(RetryHint::usable_ms);
        let open_for_ms = own.max(asked.unwrap_or(0)).clamp(self.base_ms, self.max_ms.max(self.base_ms));
        let hint_clamped = hint.is_some() && asked.is_none_or(|asked| asked > self.max_ms);
        Duration { from, open_for_ms: Some(open_for_ms), hint_clamped }
    }
}
