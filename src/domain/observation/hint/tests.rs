use super::*;

const DATE: (&str, &str) = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"); // 784111777

fn hint(headers: &[(&str, &str)]) -> Option<i64> {
    let (headers, now) = (headers.iter().copied(), 5_000_000_000_000);
    RetryHint::asked(headers.clone(), now).or_else(|| RetryHint::of_limits(headers, now)).map(|hint| hint.raw_ms)
}

#[test]
fn hints_are_read_in_order_and_kept_raw() {
    assert_eq!(hint(&[("Retry-After", "30"), ("retry-after-ms", "250")]), Some(250));
    assert_eq!(hint(&[("RETRY-AFTER", "1.5")]), Some(1_500));
    assert_eq!(hint(&[("Retry-After", "-1")]), Some(-1_000));
    assert_eq!(hint(&[("Retry-After", "0")]), Some(0));
    assert_eq!(hint(&[("Retry-After", "NaN")]), None);
    assert_eq!(hint(&[("Retry-After", "soon"), ("RateLimit-Reset", "7")]), Some(7_000));
    assert_eq!(hint(&[("Retry-After", "1000000000000000000")]), Some(i64::MAX));
    assert_eq!(hint(&[("RateLimit", "\"default\";r=0;t=30")]), Some(30_000));
    assert_eq!(hint(&[("RateLimit", "limit=10, remaining=0, reset=12")]), Some(12_000));
    assert_eq!(hint(&[("X-RateLimit-Reset", "45")]), Some(45_000));
}

#[test]
fn dates_count_from_the_answers_own_date() {
    assert_eq!(hint(&[DATE, ("Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT")]), Some(60_000));
    assert_eq!(hint(&[DATE, ("Retry-After", "Sun, 06 Nov 1994 08:48:37 GMT")]), Some(-60_000));
    let reset = (784_111_777 + 1_000_000_000).to_string();
    assert_eq!(hint(&[DATE, ("X-RateLimit-Reset", &reset)]), Some(1_000_000_000_000));
}

#[test]
fn only_positive_waits_are_used() {
    for (raw_ms, used) in [(-1, None), (0, None), (1, Some(1))] {
        assert_eq!(RetryHint { raw_ms }.usable_ms(), used);
    }
}
