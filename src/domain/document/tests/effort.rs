//! Reading and walking take a time that grows with the text and with nothing else.

use proptest::prelude::*;

use super::support::{Dice, any_json, write};
use crate::domain::document::{Document, Note, Value};

/// The bytes that a walk over all of it passes over, those of a container once more for every time they are.
fn walked(value: Value<'_>) -> usize {
    let inner =
        value.items().map(walked).sum::<usize>() + value.entries().map(|(_, member)| walked(member)).sum::<usize>();
    let passed = |child: Value<'_>| if child.noted().is_some() { 0 } else { child.end - child.start - skipped(child) };
    inner + value.items().map(passed).sum::<usize>() + value.entries().map(|(_, member)| passed(member)).sum::<usize>()
}

/// The bytes under notes inside of it.
fn skipped(value: Value<'_>) -> usize {
    let (mut at, mut bytes) = (value.note, 0);
    while let Some(note) = value.document.notes.get(at).filter(|note| (note.start as usize) < value.end) {
        bytes += (note.end - note.start) as usize;
        at = note.next as usize;
    }
    bytes
}

fn is_cheap(text: &str) {
    let document = Document::read(text).unwrap();
    let notes = document.notes.len() * size_of::<Note>();
    assert!(notes <= text.len(), "{notes} bytes of notes for {} of text", text.len());
    let walked = walked(document.root());
    assert!(walked <= 8 * text.len(), "{walked} bytes walked of {}", text.len());
}

#[test]
fn no_nesting_makes_a_walk_long() {
    let nest = |depth: usize, inner: &str| format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth));
    let fill = |chunk: &str| format!("[{}]", vec![chunk; 20_000 / chunk.len()].join(","));
    for depth in [1, 2, 3, 5, 7, 8, 9, 15, 16, 30, 31, 32, 62, 100, 120] {
        for inner in ["", "1", "\"abcdefgh\"", &"1".repeat(62), &"1".repeat(64), &"1".repeat(900), "[],[],[[]]"] {
            is_cheap(&fill(&nest(depth, inner)));
        }
        is_cheap(&nest(depth, &fill("12345")));
        is_cheap(&fill(&format!("{}0{}", "{\"\":".repeat(depth), "}".repeat(depth))));
        is_cheap(&fill(&format!("{}0{}", "[[],{\"a\":[1],\"b\":".repeat(depth / 2), "}]".repeat(depth / 2))));
    }
    is_cheap(&format!("[{},{}]", fill(&nest(100, "1")), nest(100, &fill("1234567"))));
}

proptest! {
    #[test]
    fn no_text_takes_more_notes_than_its_size(json in any_json(), seed in any::<u64>()) {
        is_cheap(&write(&json, &mut Dice(seed)));
    }
}
