//! Chance that is the same on every machine: what a session does follows from the seed and its number alone.

/// A generator (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    /// The dice of one session.
    pub(super) const fn of(seed: u64, session: u32) -> Self {
        let mut dice = Self(seed);
        let mixed = dice.roll();
        Self(mixed ^ ((session as u64) << 20))
    }

    const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `n`, each as likely but for a part in a billion.
    pub(super) fn below(&mut self, n: u32) -> u32 {
        let high = (u128::from(self.roll()) * u128::from(n)) >> 64;
        u32::try_from(high).unwrap_or(0)
    }

    /// True `percent` times of a hundred.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(super) fn one_of<T: Copy>(&mut self, first: T, more: &[T]) -> T {
        let at = self.below(u32::try_from(more.len()).unwrap_or(0) + 1);
        let place = usize::try_from(at).unwrap_or(0).checked_sub(1);
        place.and_then(|place| more.get(place)).copied().unwrap_or(first)
    }
}
