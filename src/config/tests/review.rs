//! Words of a third language beside the built-in ones: as the operator wrote them, each list in its place.

use super::outputs::full_text;
use super::{parsed, report_of};
use crate::config::settings::Settings;
use crate::domain::session::review::keywords::{PHRASES_MAX, WordList};

#[test]
fn every_list_is_a_key_under_its_own_word() {
    let config = parsed(&full_text());
    for list in WordList::ALL {
        let phrases = config.settings.session.review.of(*list).unwrap_or_default();
        assert!(!phrases.is_empty(), "{list}");
        let alone = parsed(&format!("[review]\n{list} = [\"Aal\"]\n")).settings.session.review;
        let given: Vec<_> = WordList::ALL.iter().filter(|list| alone.of(**list).is_some()).collect();
        assert_eq!(given, [list]);
    }
    assert_eq!(Settings::default().session.review, parsed("").settings.session.review);
}

#[test]
fn a_reload_says_which_lists_changed() {
    let (old, new) =
        (parsed("[review]\ntotal = [\"a\"]\n"), parsed("[review]\ntotal = [\"a\", \"b\"]\ngiven = [\"c\"]\n"));
    assert_eq!(old.changes(&new), ["review.total", "review.given"]);
    assert_eq!(old.changes(&old), Vec::<String>::new());
}

#[test]
fn one_phrase_too_many_over_all_lists_is_told_at_its_list() {
    let rows = |list: WordList| {
        let phrases: Vec<String> = (0..256).map(|nth| format!("\"{list} {nth}\"")).collect();
        format!("{list} = [{}]\n", phrases.join(", "))
    };
    let some = |lists: usize| WordList::ALL.iter().take(lists).map(|list| rows(*list)).collect::<String>();
    let enough = (PHRASES_MAX - 1_400) / 256;
    parsed(&format!("[review]\n{}", some(enough)));
    let report = report_of(&format!("[review]\n{}", some(WordList::ALL.len())));
    assert_eq!(report.lines().count(), 1);
    let end = "is one too many: all lists together hold at most 4096 phrases";
    assert!(report.contains(": review.") && report.ends_with(end), "{report}");
}
