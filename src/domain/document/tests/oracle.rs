//! The reader against another parser of JSON.

use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value as Tree;

use super::support::{Dice, any_json, mutated, tree, write};
use crate::domain::document::{DEPTH_MAX, Dialect, Document};

/// How deep the brackets outside of texts go.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut is_quoted, mut is_escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match (byte, is_quoted) {
            _ if is_escaped => is_escaped = false,
            (b'\\', true) => is_escaped = true,
            (b'"', _) => is_quoted = !is_quoted,
            (b'[' | b'{', false) => depth += 1,
            (b']' | b'}', false) => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Whether it is JSON; another parser's word, with the differences that are meant.
fn is_json(text: &str) -> bool {
    // The other parser skips a value without a look at surrogates or at how large a number is, as the reader does.
    serde_json::from_str::<IgnoredAny>(text).is_ok() && depth(text) <= DEPTH_MAX
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_tree_reads_as_the_other_parser_reads_it(json in any_json(), seed in any::<u64>()) {
        let text = write(&json, &mut Dice(seed));
        let document = Document::read(&text).unwrap();
        prop_assert_eq!(document.dialect(), Dialect::Json);
        let mut other = serde_json::Deserializer::from_str(&text);
        // The other parser stops at 127; deeper trees are only walked.
        match <Tree as serde::Deserialize>::deserialize(&mut other) {
            Ok(other) => prop_assert_eq!(tree(document.root()), other),
            Err(failed) => {
                prop_assert!(failed.to_string().contains("recursion") || failed.to_string().contains("range"), "{failed}");
                tree(document.root());
            }
        }
    }

    #[test]
    fn a_damaged_text_is_accepted_when_the_other_parser_accepts_it(json in any_json(), seed in any::<u64>()) {
        let mut dice = Dice(seed);
        for _ in 0..8 {
            let text = mutated(&write(&json, &mut dice), &mut dice);
            let read = Document::read(&text).map(|document| (document.dialect(), tree(document.root())));
            let is_read = matches!(read, Ok((Dialect::Json, _)));
            let has_words = text.contains("NaN") || text.contains("Infinity");
            prop_assert!(is_read == is_json(&text) || has_words, "{text}");
            if let (true, Ok(other)) = (is_read, serde_json::from_str::<Tree>(&text)) {
                prop_assert_eq!(read.unwrap().1, other, "{}", text);
            }
        }
    }

    #[test]
    fn soup_is_accepted_when_the_other_parser_accepts_it(text in "[\\[\\]{}\",:01e.\\-\\\\un truefalsn\u{1}]{0,10}") {
        let is_read = Document::read(&text).is_ok_and(|document| document.dialect() == Dialect::Json);
        prop_assert_eq!(is_read, is_json(&text), "{}", text);
    }
}

#[test]
fn the_differences_from_the_other_parser_are_these() {
    for text in ["NaN", "[Infinity,-Infinity]", "\u{feff}{}"] {
        assert_eq!(Document::read(text).unwrap().dialect(), Dialect::Json, "{text}");
        assert!(!is_json(text));
    }
    for text in [r#""\ud800""#, r#""\udc00\ud800""#, "1e999", "-1e999"] {
        assert_eq!(Document::read(text).unwrap().dialect(), Dialect::Json, "{text}");
        assert!(is_json(text) && serde_json::from_str::<Tree>(text).is_err(), "{text}");
    }
    let lone = Document::read(r#""a\ud800b\udc00\ud800\u0041""#).unwrap();
    assert_eq!(lone.root().as_str().as_deref(), Some("a\u{fffd}b\u{fffd}\u{fffd}A"));
}
