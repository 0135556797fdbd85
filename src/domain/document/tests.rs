mod damaged;
mod effort;
mod oracle;
pub(super) mod support;

use serde_json::Value as Tree;

use super::*;
use support::tree;

fn read(text: &str) -> Tree {
    tree(Document::read(text).unwrap().root())
}

#[test]
fn json_reads_as_serde_reads_it() {
    let long = format!(
        "[{}]",
        vec![r#"{"metric":{"a":"b","c":"}]"},"values":[[1435781451.781,"1"],[2,"0"]]}"#; 50].join(", ")
    );
    for text in [
        "0",
        "-1.5e+3",
        "\"a\"",
        "null",
        "true",
        "[]",
        "{}",
        " [ 1 , [ ] , { } ] ",
        r#"{"a":{"b":[1,"x\"]\\",null]},"c":"\u00e9\ud83d\ude00\n"}"#,
        r#"{"a":1,"a":2}"#,
        r#"{"a\"b":[{"x":[[],[[]]]}],"":0}"#,
        long.as_str(),
    ] {
        assert_eq!(read(text), serde_json::from_str::<Tree>(text).unwrap(), "{text}");
    }
}

#[test]
fn python_reads_as_python_prints_it() {
    let got = read(
        "{'a': True, 'b': None, \"it's\": ('x',), 'n': [nan, -inf, 1e-05], 't': datetime.datetime(2026, 1, 1, tzinfo=tz('U)')), 'b2': b'raw', 'q': 'say \\'hi\\' \\x41', 1: ()}",
    );
    assert_eq!(got["a"], Tree::Bool(true));
    assert_eq!(got["b"], Tree::Null);
    assert_eq!(got["it's"], serde_json::json!(["x"]));
    assert_eq!(got["t"], "datetime.datetime(2026, 1, 1, tzinfo=tz('U)'))");
    assert_eq!(got["b2"], "raw");
    assert_eq!(got["q"], "say 'hi' A");
    assert_eq!(got["n"], serde_json::json!(["nan", "-inf", 1e-05]));
}

#[test]
fn a_constructor_of_python_ends_where_its_brackets_do() {
    assert_eq!(read("[f([1, {2: (3)}], ')]'), 1]"), serde_json::json!(["f([1, {2: (3)}], ')]')", 1]));
    for text in ["[f(}), 1]", "[f([), 1]", "[f(]), 1]", "{'a': f({)}"] {
        assert_eq!(Document::read(text).err(), Some(Damage::Malformed), "{text}");
    }
}

#[test]
fn a_number_of_python_is_one() {
    for text in ["[1., 'a']", "[-inf, +nan, 1e-05]", "[(1+2j), -3.5j]", "[inf, nan]"] {
        assert_eq!(Document::read(text).map(|document| document.dialect()), Ok(Dialect::Python), "{text}");
    }
    for text in ["-v", "-rw-r--r--", "- first", "007", "-info", "-None", "+1a"] {
        assert_eq!(Document::read(text).err(), Some(Damage::Foreign), "{text}");
    }
    for text in ["[-foo]", "[2026-01-01T00]", "[1_0]", "[0x1f]"] {
        assert_eq!(Document::read(text).err(), Some(Damage::Malformed), "{text}");
    }
}

#[test]
fn a_name_of_python_may_be_a_number() {
    let text = "{1: 'a', -2.5: 'b', '': 'c'}";
    let document = Document::read(text).unwrap();
    assert_eq!(read(text), serde_json::json!({"1": "a", "-2.5": "b", "": "c"}));
    assert_eq!(document.root().get("1").and_then(Value::as_str).as_deref(), Some("a"));
}

#[test]
fn what_is_escaped_wrongly_stays_as_it_is() {
    assert_eq!(
        read(r"['\x', '\u12', '\x+1', '\q', '\U0001f600', '\u00e9']"),
        serde_json::json!([r"\x", r"\u12", r"\x+1", "q", "\u{1f600}", "\u{e9}"])
    );
}

#[test]
fn damage_is_named() {
    for (text, damage) in [
        ("", Damage::Foreign),
        ("  ", Damage::Foreign),
        ("not found", Damage::Foreign),
        ("<html>", Damage::Foreign),
        ("-x", Damage::Foreign),
        ("007", Damage::Foreign),
        ("{\"a\":", Damage::Cut),
        ("[1,2", Damage::Cut),
        ("[\"abc", Damage::Cut),
        ("[tru", Damage::Cut),
        ("[01]", Damage::Malformed),
        ("[1,]", Damage::Malformed),
        ("{\"a\" 1}", Damage::Malformed),
        ("{}{}", Damage::Trailing),
        ("404 page not found", Damage::Trailing),
    ] {
        // What is wrong as JSON may be right as Python.
        assert_eq!(Scanner::new(text, Dialect::Json).document().err(), Some(damage), "{text}");
    }
    let deep = "[".repeat(DEPTH_MAX + 1) + &"]".repeat(DEPTH_MAX + 1);
    assert_eq!(Document::read(&deep).err(), Some(Damage::TooDeep));
    let fits = "[".repeat(DEPTH_MAX) + &"]".repeat(DEPTH_MAX);
    assert!(Document::read(&fits).is_ok());
}

#[test]
fn what_was_whole_is_salvaged() {
    for (text, saved) in [
        (r#"{"items":[{"id":1},{"id":2},{"id"#, r#"{"items":[{"id":1},{"id":2},{}]}"#),
        (r#"{"items":[{"id":1},{"id":2}, ... [9120 chars truncated]"#, r#"{"items":[{"id":1},{"id":2}]}"#),
        (r#"{"status":"error","error":"too lo"#, r#"{"status":"error"}"#),
        ("{'a': [1, 2, 'x", "{'a': [1, 2]}"),
        ("[", "[]"),
        // A number that is cut is another number.
        (r#"{"a":[1,23"#, r#"{"a":[1]}"#),
        (r#"{"a":12... [9120 chars truncated]"#, "{}"),
        ("[1.5, 1. <cut>", "[1.5]"),
        ("[1, true", "[1, true]"),
        ("{'a': 1.", "{}"),
        ("{}{}", "{}"),
    ] {
        assert_eq!(Document::salvage(text).as_deref(), Some(saved), "{text}");
    }
    for text in ["plain", "404 page not found", "true story", "'tis", "\"so\" it goes", "-", ""] {
        assert_eq!(Document::salvage(text), None, "{text}");
    }
}

#[test]
fn a_byte_order_mark_is_no_damage() {
    assert_eq!(read("\u{feff}{\"a\":1}"), serde_json::json!({"a": 1}));
}

#[test]
fn a_pointer_leads_where_rfc_6901_says() {
    let text = r#"{"a/b":[{"m~n":7},8]}"#;
    let document = Document::read(text).unwrap();
    assert_eq!(document.root().pointer("/a~1b/0/m~0n").and_then(Value::as_i64), Some(7));
    assert_eq!(document.root().pointer("/a~1b/1").and_then(Value::as_i64), Some(8));
    assert_eq!(document.root().pointer("").map(Value::kind), Some(Kind::Object));
    for none in ["/none/0", "/a~1b/01", "/a~1b/+1", "/a~1b/2", "/a~1b/-", "/a~1b/"] {
        assert!(document.root().pointer(none).is_none(), "{none}");
    }
}

#[test]
fn of_a_long_text_the_front_is_enough_and_of_a_long_number_nothing() {
    let long = format!(r#"{{"text":"{}","number":{}}}"#, "\\u00e9".repeat(2_000), "9".repeat(400));
    let document = Document::read(&long).unwrap();
    let (text, number) = (document.root().get("text").unwrap(), document.root().get("number").unwrap());
    assert_eq!(text.as_str().unwrap().chars().count(), 2_000);
    assert!(text.head().unwrap().starts_with(&"é".repeat(682)) && text.head().unwrap().len() < 2_000);
    assert_eq!((number.kind(), number.as_i64(), number.as_f64()), (Kind::Number, None, None));
    let short = Document::read(r#"["a\"b"]"#).unwrap();
    assert_eq!(short.root().items().next().and_then(Value::head).unwrap(), "a\"b");
}
