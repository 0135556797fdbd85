use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::domain::document::tests::support::{Dice, Json, any_json, any_number, any_text, json, mutated, write};

fn shown(text: &str) -> String {
    String::from_utf8(canonical(text.as_bytes()).into_owned()).unwrap()
}

#[test]
fn the_canonical_form_is_this() {
    for (arguments, form) in [
        ("", ""),
        ("  ", "  "),
        (" {} ", "{}"),
        ("\u{feff}{ }", "{}"),
        ("[ ]", "[]"),
        ("null", "null"),
        (r#"{"b":[1,{"d":null,"c":true}],"a":"x"}"#, r#"{"a":"x","b":[1,{"c":true,"d":null}]}"#),
        (
            r#"{"a":{"d":1,"c":2},"b":{"f":{"h":1,"g":2},"e":0}}"#,
            r#"{"a":{"c":2,"d":1},"b":{"e":0,"f":{"g":2,"h":1}}}"#,
        ),
        (
            r#"[{"a":1},{"c":1,"b":{"a":0}},{"d":{}},{"f":1,"e":1}]"#,
            r#"[{"a":1},{"b":{"a":0},"c":1},{"d":{}},{"e":1,"f":1}]"#,
        ),
        (r#"{"b":1,"a":1,"b":0,"a":0}"#, r#"{"a":1,"a":0,"b":1,"b":0}"#),
        // The order of RFC 8785, 3.2.3: by UTF-16 code units, in which U+1F600 comes before U+FB33.
        (
            r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#,
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}",
        ),
        // Its escapes, 3.2.2.2.
        (
            r#"["\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/\b\f\r\t\u007f"]"#,
            "[\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\\b\\f\\r\\t\u{7f}\"]",
        ),
        (r#"["\uD800","\udc00\uD83D\uDE00\ud83d\ud83d\ude00"]"#, "[\"\\ud800\",\"\\udc00\u{1f600}\\ud83d\u{1f600}\"]"),
        ("[0,-0,0.00,-0e5,0e99999999999999999999]", "[0,0,0,0,0]"),
        ("[42,1000,10.50,-0.00120,1E+2,0.5e-3]", "[42,1e3,105e-1,-12e-4,1e2,5e-4]"),
        ("[1e9223372036854775808,-1.50e-99999999999999999999]", "[1e9223372036854775808,-1.50e-99999999999999999999]"),
        ("[10e9223372036854775807]", "[1e9223372036854775808]"),
        ("[NaN,-Infinity]", "[NaN,-Infinity]"),
    ] {
        assert_eq!(shown(arguments), form, "{arguments}");
        assert_eq!(shown(form), form, "once more");
    }
}

#[test]
fn these_are_the_same_arguments() {
    for (a, b) in [
        (r#"{"a":1,"b":2}"#, "{ \"b\" : 2.0,\n\"a\":1e0 }"),
        (r#"{"id":1152921504606846976}"#, r#"{"id":1152921504606846976.000}"#),
        ("[1000]", "[1e3]"),
        ("[1000]", "[1000.0]"),
        ("[1e3]", "[0.00001E+8]"),
        ("[-0]", "[0]"),
        ("[1e400]", "[10e399]"),
        ("[123456789012345678901234567890.5]", "[1234567890123456789012345678905e-1]"),
        (r#"{"\u0061":"\u00e9\/"}"#, "{\"a\":\"\u{e9}/\"}"),
        (r#"["\uD83D\ude00"]"#, "[\"\u{1f600}\"]"),
        (r#"["\uDEAD"]"#, r#"["\udead"]"#),
        (r#"{"\ud83d\ude00":1,"\ue000":2}"#, "{\"\u{e000}\":2,\"\u{1f600}\":1}"),
    ] {
        assert_eq!(shown(a), shown(b));
    }
}

#[test]
fn these_are_different_arguments() {
    let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(129), "]".repeat(129));
    for (a, b) in [
        ("", "null"),
        ("", "{}"),
        ("[]", "{}"),
        ("[1,2]", "[2,1]"),
        ("[[1],2]", "[[1,2]]"),
        (r#"{"id":1152921504606846976}"#, r#"{"id":1152921504606846977}"#),
        ("[0.1]", "[0.10000000000000000000000000000000000001]"),
        ("[1e400]", "[1e401]"),
        ("[1e400]", "[-1e400]"),
        ("[1e99999999999999999999]", "[1e99999999999999999998]"),
        ("[1]", "[\"1\"]"),
        ("[null]", "[\"null\"]"),
        ("[true]", "[false]"),
        (r#"{"a":null}"#, "{}"),
        (r#"{"a":1,"a":1}"#, r#"{"a":1}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#),
        (r#"["\ud800"]"#, r#"["\ud801"]"#),
        (r#"["\ud800"]"#, "[\"\u{fffd}\"]"),
        (r#"["\ud800"]"#, r#"["\\ud800"]"#),
        (r#"{"a":1}"#, "{'a': 1}"),
        ("{'a': True}", r#"{"a":true}"#),
        ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"),
        ("[1,]", "[1]"),
        ("[01]", "[1]"),
        (&deep("1"), &deep("1.0")),
        (&deep(" "), &deep("")),
    ] {
        assert_ne!(shown(a), shown(b));
    }
    assert_ne!(canonical(b"[\"\xff\"]"), canonical(b"[\"\xfe\"]"));
}

#[test]
fn what_is_no_json_stays_byte_for_byte() {
    for raw in [&b"{\"a\":1"[..], b"{'a': 1}", b" plain ", b"\xff{}", b"{} {}", b"{\"a\":1}\0", b"[\"\x01\"]", b"[1.]"]
    {
        assert_eq!(canonical(raw), raw);
    }
}

/// The digits of a number from 10^150 down to 10^-150, by its sign; nothing is shortened, nothing computed.
fn expanded(number: &str) -> (bool, String) {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) =
        mantissa.trim_start_matches('-').split_once('.').unwrap_or((mantissa.trim_start_matches('-'), ""));
    let point = 150 - exponent.parse::<i32>().unwrap() - i32::try_from(whole.len()).unwrap();
    let digits = format!("{}{whole}{fraction}", "0".repeat(usize::try_from(point).unwrap()));
    let digits = format!("{digits:0<300}");
    (number.starts_with('-') && digits.contains(|c| c != '0'), digits)
}

/// What it says, whatever the order of the members.
fn meaning(json: &Json) -> Json {
    match json {
        Json::Number(number) => Json::Number(format!("{:?}", expanded(number))),
        Json::Array(items) => Json::Array(items.iter().map(meaning).collect()),
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), meaning(value))).collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b)); // any order will do, as long as equal names keep theirs
            Json::Object(members)
        }
        Json::Word(_) | Json::Text(_) => json.clone(),
    }
}

/// The same with the members of every object in another order; those of one name keep theirs.
fn shuffled(json: &Json, dice: &mut Dice) -> Json {
    match json {
        Json::Array(items) => Json::Array(items.iter().map(|item| shuffled(item, dice)).collect()),
        Json::Object(members) => {
            let mut left: Vec<_> = members.iter().map(|(name, value)| (name.clone(), shuffled(value, dice))).collect();
            let mut mixed = vec![];
            while !left.is_empty() {
                let drawn = left[dice.below(left.len())].0.clone();
                let first = left.iter().position(|(name, _)| *name == drawn).unwrap();
                mixed.push(left.remove(first));
            }
            Json::Object(mixed)
        }
        Json::Word(_) | Json::Number(_) | Json::Text(_) => json.clone(),
    }
}

/// Trees so small that two of them are often the same.
fn tiny() -> BoxedStrategy<Json> {
    let leaf = prop_oneof![
        Just(Json::Word("null")),
        "(0|-0|1|10|1e1|1\\.0)".prop_map(Json::Number),
        "[a1]?".prop_map(Json::Text),
    ];
    json(leaf.boxed(), "[ab]?".boxed(), (2, 5))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn order_blanks_and_escapes_make_no_difference(json in any_json(), one in any::<u64>(), two in any::<u64>()) {
        let first = shown(&write(&json, &mut Dice(one)));
        let mut dice = Dice(two);
        let other = shuffled(&json, &mut dice);
        prop_assert_eq!(&first, &shown(&write(&other, &mut dice)));
        prop_assert_eq!(&first, &shown(&first), "the canonical form is its own");
        prop_assert_eq!(first.parse::<serde_json::Value>().is_ok(), write(&json, &mut dice).parse::<serde_json::Value>().is_ok());
    }

    #[test]
    fn two_are_equal_when_they_mean_the_same(a in tiny(), b in tiny(), seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let is_same = shown(&write(&a, &mut dice)) == shown(&write(&b, &mut dice));
        prop_assert_eq!(is_same, meaning(&a) == meaning(&b));
    }

    #[test]
    fn two_numbers_are_equal_when_all_their_digits_are(a in any_number(), b in any_number(), by in -20_i32..20, zeros in 0_usize..9) {
        prop_assert_eq!(shown(&a) == shown(&b), expanded(&a) == expanded(&b), "{} {}", a, b);
        // The same number written with another exponent.
        let (mantissa, exponent) = a.split_once(['e', 'E']).unwrap_or((&a, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let power = exponent.parse::<i32>().unwrap() - i32::try_from(fraction.len() + zeros).unwrap();
        let sign = if whole.starts_with('-') { "-" } else { "" };
        let digits = format!("{}{fraction}{}", whole.trim_start_matches('-'), "0".repeat(zeros));
        let digits = Some(digits.trim_start_matches('0')).filter(|digits| !digits.is_empty()).unwrap_or("0");
        prop_assert_eq!(shown(&a), shown(&format!("{sign}{digits}e{power}")));
        prop_assert_eq!(shown(&a) == shown(&format!("{sign}{digits}e{}", power + by)), by == 0 || digits == "0");
    }

    #[test]
    fn names_stand_in_the_order_of_their_units(names in vec(any_text(), 0..9)) {
        let members = names.iter().map(|name| (name.clone(), Json::Word("null"))).collect();
        let form = shown(&write(&Json::Object(members), &mut Dice(7)));
        let found = Scanner::new(&form, Dialect::Json).document().unwrap();
        let found: Vec<Vec<u16>> = found.root().entries().map(|(name, _)| name.text().encode_utf16().collect()).collect();
        let mut sorted: Vec<Vec<u16>> = names.iter().map(|name| name.encode_utf16().collect()).collect();
        sorted.sort();
        prop_assert_eq!(found, sorted);
    }

    #[test]
    fn no_bytes_make_it_stumble_and_its_own_form_is_a_fixed_point(bytes in vec(any::<u8>(), 0..60), json in any_json(), seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let text = mutated(&write(&json, &mut dice), &mut dice);
        for input in [bytes.as_slice(), text.as_bytes()] {
            let form = canonical(input);
            prop_assert_eq!(canonical(&form), form.clone());
            let is_json = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok_and(|text| Scanner::new(text, Dialect::Json).document().is_ok());
            prop_assert_eq!(is_json(&form), is_json(input), "so that what is no JSON meets no canonical form");
        }
    }
}
