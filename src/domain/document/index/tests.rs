use super::super::{Document, Value};
use super::KEPT_MAX;

fn read(text: &str) -> Document<'_> {
    Document::read(text).unwrap()
}

/// What `get` means, without an index.
fn last<'d>(object: Value<'d>, name: &str) -> Option<&'d str> {
    object.entries().filter(|(key, _)| key.is(name)).map(|(_, value)| value.raw()).last()
}

#[test]
fn the_last_of_several_members_is_found_however_its_name_is_written() {
    let document = read(r#"{"a":1,"b":2,"\u0061":3,"b":{"b":4},"":5,"c":"a"}"#);
    let raw = |name| document.root().get(name).map(Value::raw);
    assert_eq!([raw("a"), raw("b"), raw(""), raw("c")], [Some("3"), Some("{\"b\":4}"), Some("5"), Some("\"a\"")]);
    assert_eq!([raw("d"), raw("\\u0061"), raw("aa")], [None; 3]);
    assert_eq!(document.root().path(&["b", "b"]).map(Value::raw), Some("4"));
}

#[test]
fn names_that_share_their_length_and_both_ends_are_told_apart() {
    let document = read(r#"{"12345678xx12345678":1,"12345678yy12345678":2}"#);
    let raw = |name| document.root().get(name).map(Value::raw);
    assert_eq!(raw("12345678xx12345678"), Some("1"));
    assert_eq!(raw("12345678yy12345678"), Some("2"));
    assert_eq!(raw("12345678zz12345678"), None);
}

#[test]
fn more_objects_than_are_kept_may_be_asked_in_turns() {
    let members: Vec<String> = (0..KEPT_MAX * 3).map(|at| format!(r#"{{"n":{at},"m":[{at}],"x{at}":null}}"#)).collect();
    let text = format!("[{}]", members.join(","));
    let document = read(&text);
    for _ in 0..3 {
        for (at, object) in document.root().items().enumerate() {
            let own = format!("x{at}");
            for name in ["n", "m", "o", &own] {
                assert_eq!(object.get(name).map(Value::raw), last(object, name), "{name} of {at}");
            }
        }
    }
}

#[test]
fn a_value_found_by_name_is_walked_as_one_found_in_order() {
    let text =
        format!(r#"{{"pad":"{0}","rows":[{{"pad":"{0}","cells":[1,[2],{{"a":[3]}}]}}],"end":1}}"#, "x".repeat(200));
    let document = read(&text);
    let cells = document.root().get("rows").and_then(|rows| rows.items().next()).and_then(|row| row.get("cells"));
    let raws: Vec<&str> = cells.unwrap().items().map(Value::raw).collect();
    assert_eq!((raws, cells.unwrap().len()), (vec!["1", "[2]", "{\"a\":[3]}"], 3));
}

#[test]
fn keys_of_python_are_found_as_they_were_written() {
    let document = read("{1: 'a', 'b': None, 'c': (1,)}");
    let raw = |name| document.root().get(name).map(Value::raw);
    assert_eq!([raw("1"), raw("b"), raw("c"), raw("")], [Some("'a'"), Some("None"), Some("(1,)"), None]);
}

#[test]
fn what_is_no_object_or_an_empty_one_has_no_member() {
    for text in ["[]", "{}", "{ }", "\"a\"", "1", "[{\"a\":1}]"] {
        assert_eq!(read(text).root().get("a").map(Value::raw), None, "{text}");
    }
}
