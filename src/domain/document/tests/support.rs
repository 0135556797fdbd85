//! Arbitrary JSON, written in arbitrary ways: what both the reader and the canonical form are tried on.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value as Tree;

use crate::domain::document::{Kind, Value};

/// JSON before it is written: numbers as their text, members in an order, names perhaps twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::domain::document) enum Json {
    Word(&'static str),
    Number(String),
    Text(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// Leaves and trees over them, names out of `name`.
pub(in crate::domain::document) fn json(
    leaf: BoxedStrategy<Json>,
    name: BoxedStrategy<String>,
    size: (u32, u32),
) -> BoxedStrategy<Json> {
    let (depth, nodes) = size;
    leaf.prop_recursive(depth, nodes, 8, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Json::Array),
            vec((name.clone(), inner), 0..8).prop_map(Json::Object),
        ]
    })
    .boxed()
}

pub(in crate::domain::document) fn any_text() -> BoxedStrategy<String> {
    prop_oneof![
        "[a-c]{0,3}",
        any::<String>(),
        "[\"'\\\\/\u{0}-\u{1f}\u{7f}\u{80}\u{e000}-\u{ffff}\u{1f600}-\u{1f64f}{}\\[\\](),:]{0,12}",
        "[a-z \\\\\"]{60,90}",
    ]
    .boxed()
}

pub(in crate::domain::document) fn any_number() -> BoxedStrategy<String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?",
        "-?(0|1[01]{0,3})(\\.[01]{1,3})?([eE][+-]?[0-4])?",
    ]
    .boxed()
}

pub(in crate::domain::document) fn any_json() -> BoxedStrategy<Json> {
    let leaf = prop_oneof![
        prop_oneof![Just("null"), Just("true"), Just("false")].prop_map(Json::Word),
        any_number().prop_map(Json::Number),
        any_text().prop_map(Json::Text),
    ];
    let wide = json(leaf.clone().boxed(), any_text(), (5, 80));
    let deep =
        (json(leaf.boxed(), any_text(), (3, 12)), vec(any::<Option<String>>(), 0..120)).prop_map(|(inner, levels)| {
            levels.into_iter().fold(inner, |inner, name| match name {
                None => Json::Array(vec![inner]),
                Some(name) => Json::Object(vec![(name, inner)]),
            })
        });
    prop_oneof![3 => wide, 1 => deep].boxed()
}

/// Small numbers that look random, out of one seed that a failing case names.
pub(in crate::domain::document) struct Dice(pub u64);

impl Dice {
    pub(in crate::domain::document) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn blanks(&mut self, out: &mut String) {
        for _ in 0..self.below(3) {
            out.push([' ', '\n', '\t', '\r'][self.below(4)]);
        }
    }
}

/// Writes it with blanks and escapes as the dice fall, in the order of the members.
pub(in crate::domain::document) fn write(json: &Json, dice: &mut Dice) -> String {
    let mut out = String::new();
    write_value(json, dice, &mut out);
    out
}

fn write_value(json: &Json, dice: &mut Dice, out: &mut String) {
    dice.blanks(out);
    match json {
        Json::Word(text) => out.push_str(text),
        Json::Number(text) => out.push_str(text),
        Json::Text(text) => write_text(text, dice, out),
        Json::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                write_value(item, dice, out);
            }
            dice.blanks(out);
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                dice.blanks(out);
                write_text(name, dice, out);
                dice.blanks(out);
                out.push(':');
                write_value(value, dice, out);
            }
            dice.blanks(out);
            out.push('}');
        }
    }
    dice.blanks(out);
}

fn write_text(text: &str, dice: &mut Dice, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        let short = "\"\"\\\\//\u{8}b\u{c}f\nn\rr\tt".chars().collect::<Vec<_>>();
        let short = short.chunks(2).find(|pair| pair[0] == character).map(|pair| pair[1]);
        match (short, dice.below(3)) {
            (Some(short), 0 | 1) => out.extend(['\\', short]),
            (_, way) if way == 0 || character < ' ' || matches!(character, '"' | '\\') => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let hex = if dice.below(2) == 0 { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
                    out.push_str(&hex);
                }
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// What the reader sees, as the tree that others build. Looks at everything in more than one way.
pub(in crate::domain::document) fn tree(value: Value<'_>) -> Tree {
    match value.kind() {
        Kind::Null => Tree::Null,
        Kind::Bool => Tree::Bool(value.as_bool().unwrap()),
        Kind::Number => serde_json::from_str(value.raw()).unwrap_or_else(|_| Tree::String(value.raw().to_owned())),
        Kind::String => Tree::String(value.as_str().unwrap().into_owned()),
        Kind::Opaque => Tree::String(value.raw().to_owned()),
        Kind::Array => {
            let items: Vec<Tree> = value.items().map(tree).collect();
            assert_eq!(items.len(), value.len());
            assert_eq!(value.entries().count(), 0);
            Tree::Array(items)
        }
        Kind::Object => {
            assert_eq!(value.entries().count(), value.len());
            assert_eq!(value.items().count(), 0);
            let members = value.entries().map(|(name, member)| {
                assert!(name.is(&name.text()));
                let found = value.get(&name.text()).unwrap();
                assert!(found.raw().as_ptr() >= member.raw().as_ptr(), "the last of that name");
                (name.text().into_owned(), tree(member))
            });
            Tree::Object(members.collect())
        }
    }
}

/// A text with some of its characters taken out, doubled, swapped for others, or cut.
pub(in crate::domain::document) fn mutated(text: &str, dice: &mut Dice) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let odd: Vec<char> = "{}[]()\"'\\,: 0123456789-+.eE\u{0}\n\u{e9}\u{1f600}truefalsnNIxuj".chars().collect();
    for _ in 0..=dice.below(3) {
        let at = dice.below(characters.len() + 1);
        let drawn = odd[dice.below(odd.len())];
        match (dice.below(5), at < characters.len()) {
            (0, true) => drop(characters.remove(at)),
            (1, true) => characters[at] = drawn,
            (2, true) => characters.insert(at, characters[at]),
            (3, true) => characters.truncate(at),
            _ => characters.insert(at, drawn),
        }
    }
    characters.into_iter().collect()
}
