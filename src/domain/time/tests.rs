use super::*;
use chrono::{DateTime, Utc};

fn shown(unix_s: i64, away_ms: u64) -> String {
    let wall = WallClock { offset_ms: unix_s * 1_000 - i64::try_from(away_ms).unwrap(), trusted: true };
    UtcDeadline { at: Timestamp(away_ms), now: Timestamp(0), wall }.to_string()
}

#[test]
fn a_dated_deadline_agrees_with_chrono_over_five_centuries() {
    for step in 0..200_000_i64 {
        let unix_s = step * 79_003;
        let want = DateTime::<Utc>::from_timestamp(unix_s, 0).unwrap().format("%Y-%m-%dT%H:%M:%SZ").to_string();
        assert_eq!(shown(unix_s, 13 * 3_600_000), want);
    }
}

#[test]
fn the_date_appears_only_past_twelve_hours() {
    assert_eq!(shown(1_000_000, 12 * 3_600_000), "13:46:40Z");
    assert_eq!(shown(1_000_000, 12 * 3_600_000 + 1), "1970-01-12T13:46:40Z");
}

#[test]
fn absolute_and_relative_times_are_rounded_up() {
    let wall = WallClock { offset_ms: 0, trusted: true };
    assert_eq!(UtcDeadline { at: Timestamp(39_001), now: Timestamp(0), wall }.to_string(), "00:00:40Z");
    for (ms, text) in [
        (0, "about 1 second"),
        (1, "about 1 second"),
        (39_001, "about 40 seconds"),
        (120_000, "about 120 seconds"),
        (120_001, "about 3 minutes"),
        (7_200_001, "about 3 hours"),
        (400_000_000, "about 5 days"),
    ] {
        assert_eq!(RelativeHint { ms }.to_string(), text);
    }
}

#[test]
fn no_deadline_takes_a_fifth_digit_for_its_year() {
    let wall = WallClock { offset_ms: 253_402_300_799_000, trusted: true };
    let deadline = UtcDeadline { at: Timestamp(43_200_001), now: Timestamp(0), wall };
    assert_eq!(deadline.to_string(), "9999-12-31T23:59:59Z");
}
