use super::{Mask, without_quotes};

#[test]
fn what_is_opened_and_not_closed_behind_it_stays() {
    for (text, wanted) in [
        ("a [b] c", "a  \u{1}  c"),
        ("] a [b", "] a [b"),
        ("[a [b] c]", " \u{1}  c]"),
        ("it's `x` and 'y'", "it's  \u{1}  and  \u{1} "),
        ("\"a\" \"b", " \u{1}  \"b"),
        ("“é” “", " \u{1}  “"),
        ("{{{[[[", "{{{[[["),
    ] {
        assert_eq!(without_quotes(text), wanted, "{text}");
    }
}

#[test]
fn the_values_of_the_arguments_are_masked_as_words_of_their_own() {
    let mask = Mask::new(Some(br#"{"query":"pay_total"}"#));
    let mut out = String::new();
    mask.push("No such metric: pay_total, but pay_totals", &mut out);
    assert_eq!(out, "no such metric * but *");
}
