//! The open time: clamp(max(base × factor^level × (1 + jitter), hint), base, max), for any figures at all.

use proptest::prelude::*;
use tripnote::domain::breaker::policy::{BasisPoints, OpenFor};
use tripnote::domain::observation::RetryHint;
use tripnote::domain::time::Timestamp;

use super::walks::config;

fn any_open_for() -> impl Strategy<Value = OpenFor> {
    let figures = prop_oneof![1..=100_000_u64, 1..=u64::MAX];
    (figures, any::<u64>(), 10_000..=u32::MAX, prop_oneof![Just(0), 0..=10_000_u32, any::<u32>()]).prop_map(
        |(base_ms, more, factor, jitter)| OpenFor {
            base_ms,
            max_ms: base_ms.saturating_add(more >> (more % 64)),
            factor: BasisPoints(factor),
            jitter: BasisPoints(jitter),
        },
    )
}

fn ms(open_for: &OpenFor, level: u8, dice: u64, hint: Option<i64>) -> u64 {
    open_for.duration(Timestamp(0), level, dice, hint.map(|raw_ms| RetryHint { raw_ms })).open_for_ms.unwrap_or(0)
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn an_open_time_lies_from_base_to_max(
        open_for in any_open_for(),
        level in any::<u8>(),
        dice in any::<u64>(),
        hint in any::<Option<i64>>(),
    ) {
        let got = ms(&open_for, level, dice, hint);
        prop_assert!((open_for.base_ms..=open_for.max_ms).contains(&got), "{got} of {open_for:?}");
    }

    #[test]
    fn jitter_only_lengthens_and_by_no_more_than_its_share(
        open_for in any_open_for(),
        level in any::<u8>(),
        dice in any::<u64>(),
    ) {
        let plain = ms(&OpenFor { jitter: BasisPoints(0), ..open_for }, level, dice, None);
        let got = ms(&open_for, level, dice, None);
        let most = u128::from(plain) * (10_000 + u128::from(open_for.jitter.0)) / 10_000;
        prop_assert!(got >= plain && u128::from(got) <= most.min(u128::from(open_for.max_ms)), "{plain} to {got}");
    }

    #[test]
    fn a_hint_is_followed_to_the_millisecond_and_never_jittered(
        open_for in any_open_for(),
        level in any::<u8>(),
        dice in any::<u64>(),
        hint in any::<i64>(),
    ) {
        let own = ms(&open_for, level, dice, None);
        let got = ms(&open_for, level, dice, Some(hint));
        let asked = u64::try_from(hint).unwrap_or(0).min(open_for.max_ms);
        prop_assert_eq!(got, own.max(asked));
        let is_clamped = open_for.duration(Timestamp(0), level, dice, Some(RetryHint { raw_ms: hint })).hint_clamped;
        prop_assert_eq!(is_clamped, hint <= 0 || hint.unsigned_abs() > open_for.max_ms);
    }

    #[test]
    fn a_higher_level_is_never_shorter_and_no_hint_falls_back_to_the_formula(
        open_for in any_open_for(),
        level in 0..u8::MAX,
        dice in any::<u64>(),
        nonsense in i64::MIN..=0,
    ) {
        prop_assert!(ms(&open_for, level, dice, None) <= ms(&open_for, level + 1, dice, None));
        prop_assert_eq!(ms(&open_for, level, dice, Some(nonsense)), ms(&open_for, level, dice, None));
        prop_assert_eq!(ms(&OpenFor { jitter: BasisPoints(0), ..open_for }, 0, dice, None), open_for.base_ms);
    }
}
