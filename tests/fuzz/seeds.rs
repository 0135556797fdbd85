//! Writes the corpus that fuzzing starts from, and its dictionary: every payload of the case files, in every wrapping.
//!
//! `seeds OUT [FILE.jsonl]...`; without files, all of `tests/fixtures/typing`. Nothing of it is kept in the repository.

mod input;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use input::{EXITS, HTTP, KINDS, MEDIA, TOOLS, WRAPS};
use serde_json::Value;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/typing");
/// Longer keys and texts are no words.
const WORD_BYTES_MAX: usize = 40;

fn main() {
    let mut arguments = env::args().skip(1).map(PathBuf::from);
    let out = arguments.next().expect("seeds OUT [FILE.jsonl]...");
    let mut files: Vec<PathBuf> = arguments.collect();
    if files.is_empty() {
        files = fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    }
    let corpus = out.join("corpus");
    fs::create_dir_all(&corpus).unwrap();
    let mut words = BTreeSet::new();
    let mut count = 0;
    for line in files.iter().flat_map(|file| lines(file)) {
        let case: Value = serde_json::from_str(&line).unwrap();
        let sides = if case["payload"].is_null() { vec![&case["a"], &case["b"]] } else { vec![&case] };
        for side in sides {
            let payload = match &side["payload"] {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            collect(&side["payload"], &mut words);
            for wrap in wraps(count) {
                let mut seed = choices(side, wrap).to_vec();
                seed.extend(payload.as_bytes());
                fs::write(corpus.join(format!("{count:05}")), seed).unwrap();
                count += 1;
            }
        }
    }
    let quoted = |word: &String| word.replace('\\', "\\\\").replace('"', "\\\"");
    let dictionary: String = words.iter().map(|word| format!("\"{}\"\n", quoted(word))).collect();
    fs::write(out.join("typing.dict"), dictionary).unwrap();
    println!("{count} seeds and {} words in {}", words.len(), out.display());
}

fn lines(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect()
}

/// As it came, and in one wrapping after the other.
fn wraps(count: usize) -> [u8; 2] {
    [0, 1 + (count / 2 % usize::from(WRAPS - 1)) as u8]
}

fn choices(case: &Value, wrap: u8) -> [u8; input::CHOICES] {
    let transport = &case["transport"];
    let (kind, status) = (transport["kind"].as_str().unwrap_or_default(), &transport["status"]);
    let place = |at: Option<usize>| at.unwrap_or_default() as u8;
    let (carrier, status) = match kind {
        "http" => (1, place(HTTP.iter().position(|known| status.as_u64() == Some(u64::from(*known))))),
        "grpc" => (2 | 0x20 | 0x80, status.as_str().map_or(0, |word| word.len() as u8)),
        "mcp" => (3, 0),
        "process" => {
            (4 | 0x40 | 0x80, place(EXITS.iter().position(|known| status.as_i64() == Some(i64::from(*known)))))
        }
        "none" => (
            0x60 | 0x80,
            place(
                KINDS.iter().position(|known| status.as_str().is_some_and(|word| known.word().starts_with(&word[..3]))),
            ),
        ),
        _ => (0, 0),
    };
    let tool = place(TOOLS.iter().position(|known| case["tool"].as_str() == Some(known)));
    let media = transport["headers"]["content-type"].as_str();
    let media = place(MEDIA.iter().position(|known| known.is_some() && *known == media));
    let hint = u8::from(!transport["headers"]["retry-after"].is_null());
    [tool, carrier, status, hint, media, 0, wrap, if wrap == 0 { 3 } else { 0x80 }]
}

/// The keys of a payload, and its short texts.
fn collect(value: &Value, words: &mut BTreeSet<String>) {
    let mut add = |word: &str| {
        if (2..=WORD_BYTES_MAX).contains(&word.len()) && word.bytes().all(|b| (b' '..0x7f).contains(&b)) {
            words.insert(word.to_owned());
        }
    };
    match value {
        Value::String(text) => add(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
        Value::Object(members) => {
            members.keys().for_each(|name| add(&format!("\"{name}\":")));
            members.values().for_each(|member| collect(member, words));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
