use super::cap_marker;

#[test]
fn a_marker_is_found_behind_brackets_that_do_not_belong_to_it() {
    let far = format!("[1] {}", "x".repeat(200));
    assert_eq!(cap_marker(&format!("{far}... 18234 chars truncated")), Some((far.as_str(), "")));
    assert_eq!(cap_marker(&format!("{far}[18234 chars truncated]")), Some((far.as_str(), "")));
}

#[test]
fn a_word_without_a_count_or_far_from_its_bracket_is_no_marker() {
    let far = format!("[18234 chars {} truncated]", "x".repeat(64));
    for text in ["it was truncated", "[truncated]", "[1 truncated]", &far, "[7 bytes\ntruncated]"] {
        assert_eq!(cap_marker(text), None, "{text}");
    }
    // A window that would begin within a character begins behind it.
    let wide = format!("{}[9 lines truncated]", "é".repeat(40));
    assert_eq!(cap_marker(&wide), Some(("é".repeat(40).as_str(), "")));
}
