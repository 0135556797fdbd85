//! What a row of the evidence ledger says of a payload: keys and counts, never a value.

use std::fmt::Write as _;

use super::look::{Body, Look};
use crate::domain::document::{Kind, Value};

/// The longest digest in bytes.
const DIGEST_BYTES_MAX: usize = 160;
/// Members that are named at most.
const PARTS_MAX: usize = 6;
/// Members whose word tells what sort of answer it is. Only words of these lists are shown.
#[rustfmt::skip] // a list of words reads as a paragraph
const SORTS: &[(&str, &[&str])] = &[
    ("resultType", &["vector", "matrix", "scalar", "string", "streams", "matrix_summary"]),
    ("kind", &["Status"]),
];

/// The digest of a layer.
pub(super) fn of(look: &Look<'_>) -> String {
    let mut out = String::new();
    match look.body {
        Body::Nothing => {}
        Body::Text(_) => {
            let _ = write!(out, "text[{} lines]", look.text().lines().count());
        }
        Body::Json(root) if root.is_array() => {
            let _ = write!(out, "[{}]", root.len());
        }
        Body::Json(root) => members(root, &mut out, &mut 0, 0),
    }
    out
}

fn members(object: Value<'_>, out: &mut String, parts: &mut usize, depth: u8) {
    for (name, value) in object.entries() {
        let name = name.text();
        if *parts >= PARTS_MAX || out.len() + name.len() + 24 > DIGEST_BYTES_MAX || !is_plain(&name) {
            continue;
        }
        let sort = SORTS.iter().find(|(sort, _)| *sort == name).and_then(|(_, words)| {
            let word = value.head()?;
            words.iter().find(|known| **known == word)
        });
        let separator = if *parts == 0 { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = match (sort, value.kind()) {
            (Some(word), _) => write!(out, "{separator}{name}={word}"),
            (None, Kind::Array) => write!(out, "{separator}{name}[{}]", value.len()),
            (None, Kind::Object) if depth < 2 && matches!(&*name, "data" | "result" | "results" | "response") => {
                members(value, out, parts, depth + 1);
                continue;
            }
            (None, Kind::Object) => write!(out, "{separator}{name}{{{}}}", value.len()),
            _ => continue,
        };
        *parts += 1;
    }
}

/// Whether a key reads like one: what a sentence is made of must not reach a model through it.
fn is_plain(name: &str) -> bool {
    (1..=32).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}
