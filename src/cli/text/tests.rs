//! How things look on a screen.

use super::*;
use crate::cli::tests::samples::at;

const COLOURED: Paint = Paint { is_terminal: true, is_coloured: true };

#[test]
fn a_span_is_told_in_its_two_largest_units_rounded_up() {
    let known = [
        (0, "0ms"),
        (999, "999ms"),
        (1_000, "1s"),
        (39_001, "40s"),
        (60_000, "1m"),
        (125_000, "2m 5s"),
        (3_600_000, "1h"),
        (3_605_000, "1h"),
        (3_780_000, "1h 3m"),
        (86_400_000, "1d"),
        (90_000_000, "1d 1h"),
        (u64::MAX, "213503982334d 14h"),
    ];
    for (ms, text) in known {
        assert_eq!(span(ms), text, "{ms}");
    }
}

#[test]
fn a_span_is_read_as_the_configuration_writes_it() {
    let known = [("500ms", 500), ("30s", 30_000), ("10m", 600_000), ("2h", 7_200_000), ("1d", 86_400_000)];
    for (text, ms) in known {
        assert_eq!(parse_span(text), Ok(ms));
    }
    for text in ["", "30", "s", "-1s", "1.5s", "0s", "30 s", "1w", "99999999999999999999s", "ä"] {
        assert!(parse_span(text).is_err(), "{text}");
    }
}

#[test]
fn a_deadline_names_the_second_that_a_contract_names() {
    assert_eq!(deadline(&at(0), 40_000), "14:02:10Z");
    assert_eq!(deadline(&at(1), 40_000), "14:02:11Z");
    assert_eq!(deadline(&at(0), 13 * 3_600_000), "2026-05-04T14:02:10Z");
    assert_eq!(clock_time(&at(123)), "14:02:10.123Z");
    assert_eq!(full_time(&at(123)), "2026-05-04T14:02:10.123Z");
    let never = prost_types::Timestamp { seconds: i64::MAX, nanos: -1 };
    assert_eq!([deadline(&never, 0), clock_time(&never)], ["", ""]);
}

#[test]
fn columns_are_aligned_and_empty_ones_left_out() {
    let mut table = Table::of(["A", "LONGER", "EMPTY", "LAST"]);
    table.push(["first".into(), "x".into(), "".into(), "end".into()]);
    table.push(["b".into(), "".into(), "".into(), "é".into()]);
    table.push(["c".into(), "y".into(), "".into(), "".into()]);
    assert_eq!(table.draw(Paint::default()), "A      LONGER  LAST\nfirst  x       end\nb              é\nc      y");
}

#[test]
fn colour_moves_no_column() {
    let mut table = Table::of(["A", "B"]);
    table.push([Cell::in_tone(Tone::Bad, "open"), "x".into()]);
    assert_eq!(table.draw(COLOURED), "\x1b[2mA\x1b[0m     \x1b[2mB\x1b[0m\n\x1b[31mopen\x1b[0m  x");
    assert_eq!(table.draw(Paint::default()), "A     B\nopen  x");
}

#[test]
fn a_long_cell_is_cut_for_a_person_and_whole_for_a_pipe() {
    let mut table = Table::of(["A"]);
    let long = "x".repeat(200);
    table.push([long.as_str().into()]);
    assert!(table.draw(Paint::default()).contains(&long));
    let shown = table.draw(Paint { is_terminal: true, is_coloured: false });
    assert_eq!(shown.lines().map(columns).max(), Some(CELL_COLUMNS_MAX));
    assert!(shown.ends_with('…'));
}

#[test]
fn what_a_service_sends_moves_no_cursor() {
    assert_eq!(Cell::from("a\x1b[2Jb\r\nc\u{202e}d").text, "a[2Jbcd");
    assert_eq!(one_line(" a\n b\tc\x07 "), "a b c");
}

#[test]
fn text_fits_its_columns() {
    assert_eq!([fit("abc", 3), fit("abcd", 3), fit("a cd", 3), fit("", 0)], ["abc", "ab…", "a…", ""]);
    assert_eq!([pad("ab", 4), pad("abcde", 4)], ["ab  ", "abc…"]);
    assert_eq!([count(0, "hold"), count(1, "hold"), count(2, "hold")], ["0 holds", "1 hold", "2 holds"]);
}
