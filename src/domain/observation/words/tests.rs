use super::Words;

const TABLE: &[&[&str]] = &[&["out of credits"], &["credit", "out"], &["a", "out of"], &[]];

#[test]
fn the_first_row_wins_wherever_its_word_stands() {
    let words = Words::new(TABLE.iter().copied());
    let naive = |text: &str| TABLE.iter().position(|row| row.iter().any(|word| text.contains(word)));
    for text in ["", "nobody", "no", "a", "out", "out of", "a credit", "an out of credits", "out of credit", "aaa"] {
        assert_eq!(words.first_in(text, |_, _| true), naive(text), "{text}");
    }
}

#[test]
fn a_word_counts_only_where_it_may() {
    let words = Words::new(TABLE.iter().copied());
    assert_eq!(words.first_in("about credit", |at, _| at > 3), Some(1));
    assert_eq!(words.first_in("about", |at, _| at > 3), None);
}
