//! What is left of a text that was cut or spoilt, and that nothing makes the reader stumble.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value as Tree;

use super::support::{Dice, Json, any_json, mutated, tree, write};
use crate::domain::document::{Damage, Document};

/// Whether all that `part` holds stands in `whole` at the same place. `is_open` where the damage may lie behind.
fn is_prefix(part: &Tree, whole: &Tree, is_open: bool) -> bool {
    match (part, whole) {
        (Tree::Array(part), Tree::Array(whole)) => {
            part.len() <= whole.len()
                && (is_open || part.len() == whole.len())
                && part
                    .iter()
                    .zip(whole)
                    .enumerate()
                    .all(|(at, (a, b))| is_prefix(a, b, is_open && at + 1 == part.len()))
        }
        (Tree::Object(part), Tree::Object(whole)) => {
            // Members are sorted in this tree: any of them may have been the last.
            (is_open || part.len() == whole.len())
                && part.iter().all(|(name, a)| whole.get(name).is_some_and(|b| is_prefix(a, b, is_open)))
        }
        _ => part == whole,
    }
}

fn without_repeats(json: Json) -> Json {
    match json {
        Json::Array(items) => Json::Array(items.into_iter().map(without_repeats).collect()),
        Json::Object(members) => {
            let mut kept: Vec<(String, Json)> = vec![];
            for (name, value) in members {
                if kept.iter().all(|(other, _)| *other != name) {
                    kept.push((name, without_repeats(value)));
                }
            }
            Json::Object(kept)
        }
        Json::Word(_) | Json::Number(_) | Json::Text(_) => json,
    }
}

/// What Python prints of it.
fn python(json: &Json, dice: &mut Dice, out: &mut String) {
    match json {
        Json::Word(word) => out.push_str(match *word {
            "null" => ["None", "nan", "-inf", "datetime.date(2026, 1, 1)"][dice.below(4)],
            "true" => ["True", "f(x=[1, (2,)], y={'(': ')'})", "(1+2j)"][dice.below(3)],
            _ => "False",
        }),
        Json::Number(number) => out.push_str(number),
        Json::Text(text) => {
            let quote = ['\'', '"'][dice.below(2)];
            out.push_str(["", "", "b"][dice.below(3)]);
            out.push(quote);
            for character in text.chars() {
                match character {
                    '\\' => out.push_str("\\\\"),
                    '\0'..' ' => out.push_str(&format!("\\x{:02x}", u32::from(character))),
                    _ if character == quote => out.extend(['\\', quote]),
                    _ => out.push(character),
                }
            }
            out.push(quote);
        }
        Json::Array(items) => {
            let (open, close) = [('[', ']'), ('(', ')')][dice.below(2)];
            out.push(open);
            for item in items {
                python(item, dice, out);
                out.push_str(", ");
            }
            out.push(close);
        }
        Json::Object(members) => {
            out.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&["7".to_owned(), format!("'{}'", name.escape_default())][dice.below(2)]);
                out.push_str(": ");
                python(value, dice, out);
            }
            out.push('}');
        }
    }
}

/// Everything that can be asked of a text.
fn ask(text: &str) {
    if let Ok(document) = Document::read(text) {
        tree(document.root());
        let root = document.root();
        let _ = (root.as_i64(), root.as_f64(), root.as_str(), root.pointer("/0/a/1"), root.path(&["a", "b"]));
    }
    if let Some(saved) = Document::salvage(text) {
        let read = Document::read(&saved);
        assert!(read.is_ok(), "{text} was salvaged as {saved}: {read:?}");
        tree(read.unwrap().root());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_salvaged_of_a_cut_text_is_its_front(json in any_json(), seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let text = write(&without_repeats(json), &mut dice);
        let document = Document::read(&text).unwrap();
        let whole = tree(document.root());
        for _ in 0..6 {
            let mut cut = dice.below(text.len() + 1);
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            for behind in ["", "...", " <cut>", "\u{2026}"] {
                let damaged = format!("{}{behind}", &text[..cut]);
                if let Some(saved) = Document::salvage(&damaged).filter(|_| !text[..cut].trim().is_empty()) {
                    let read = Document::read(&saved).unwrap();
                    prop_assert!(is_prefix(&tree(read.root()), &whole, true), "{damaged} was salvaged as {saved}");
                }
            }
            let first = text.trim_start().starts_with(['[', '{']);
            prop_assert_eq!(Document::salvage(text[..cut].trim_start()).is_some(), first && !text[..cut].trim().is_empty());
        }
        // With nothing cut, nothing is lost.
        prop_assert_eq!(Document::salvage(&text), whole_container(&text));
    }

    #[test]
    fn python_reads_back_and_its_damage_is_no_harm(json in any_json(), seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut text = String::new();
        python(&json, &mut dice, &mut text);
        match Document::read(&text) {
            Ok(_) => {}
            Err(damage) => prop_assert!(damage == Damage::TooDeep, "{damage:?} {text}"),
        }
        ask(&text);
        for _ in 0..8 {
            ask(&mutated(&text, &mut dice));
        }
    }

    #[test]
    fn no_bytes_make_it_stumble(bytes in vec(any::<u8>(), 0..64), soup in "[\\[\\]{}()\"'\\\\,: 0-9+\\-.ejbfInNaT\u{0}\u{e9}]{0,40}") {
        ask(&String::from_utf8_lossy(&bytes));
        ask(&soup);
        ask(&format!("[f({soup}), 1]"));
        ask(&format!("{{'a': {soup}}}"));
    }
}

fn whole_container(text: &str) -> Option<String> {
    let trimmed = text.trim_matches([' ', '\n', '\t', '\r']);
    trimmed.starts_with(['[', '{']).then(|| trimmed.to_owned())
}
