use proptest::prelude::*;

use super::*;

const KEY: HashKey = HashKey([3; 16]);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

fn seen(payload: &str) -> SeenIds {
    let mut ids = SeenIds::new(KEY);
    ids.note(payload);
    ids
}

fn only(text: &str) -> Identifier {
    let found: Vec<Identifier> = identifiers(text).collect();
    assert_eq!(found.len(), 1, "{text}");
    found[0]
}

#[test]
fn an_answer_writes_an_id_as_16_or_32_digits_that_stand_alone() {
    for text in [
        TRACE,
        &TRACE.to_uppercase(),
        "在trace 4bf92f3577b34da6a3ce929d0e0e4736，",
        "(`00f067aa0ba902b7`)",
        "span_00f067aa0ba902b7",
        "0x00f067aa0ba902b7",
    ] {
        only(text);
    }
    for text in [
        "",
        "1700000000000000",
        "0000000000000000",
        "00000000000000000000000000000000",
        "deadbeef",
        "4bf92f3577b34da6a3ce929d0e0e473",
        "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
        "4bf92f3577b34da6a3ce929d0e0e4736f",
        "+0f067aa0ba902b7",
        "x00f067aa0ba902b7",
        "550e8400-e29b-41d4-a716-446655440000",
    ] {
        assert_eq!(identifiers(text).count(), 0, "{text}");
    }
}

#[test]
fn an_id_of_a_payload_is_known_however_a_store_writes_it() {
    let payloads = [
        format!(r#"{{"traceID":"{TRACE}"}}"#),
        format!(r#"{{"text":"line\n{TRACE} failed"}}"#),
        format!(r#"{{"text":"{{\\\"traceID\\\":\\\"{TRACE}\\\"}}"}}"#),
        format!(r#"{{"text":"\u0022{TRACE}\u0022"}}"#),
        format!(r#"{{"text":"\b{TRACE}"}}"#),
        format!("\u{1b}[32m{TRACE}\u{1b}[0m"),
        format!("level=error traceID={} msg=x", TRACE.to_uppercase()),
        format!("traceparent: 00-{TRACE}-{SPAN}-01"),
        format!("https://tempo/api/traces/{TRACE}?start=1"),
        "trace 4bf92f35-77b3-4da6-a3ce-929d0e0e4736".to_owned(),
        "Root=1-4bf92f35-77b34da6a3ce929d0e0e4736;Sampled=1".to_owned(),
        r#"{"traceId":"S/kvNXezTaajzpKdDg5HNg=="}"#.to_owned(),
        format!("追踪编号{TRACE}出错"),
        format!("0x{TRACE}"),
    ];
    for payload in payloads {
        assert!(seen(&payload).holds(only(TRACE)), "{payload}");
    }
    assert!(seen(r#"{"spanId":"APBnqgupArc="}"#).holds(only(SPAN)));
}

#[test]
fn leading_zeros_that_a_store_drops_or_adds_make_no_other_id() {
    // The seed's own trace has 31 digits.
    assert!(seen(r#"{"traceID":"31c23409fd04f91bb3bf8f16892b4a0"}"#).holds(only("031c23409fd04f91bb3bf8f16892b4a0")));
    assert!(seen(r#"{"traceID":"000000000000000000f067aa0ba902b7"}"#).holds(only(SPAN)));
    assert!(seen(r#"{"spanID":"f067aa0ba902b7"}"#).holds(only(SPAN)));
}

#[test]
fn another_id_is_not_known() {
    assert!(!seen(&format!(r#"{{"traceID":"{TRACE}"}}"#)).holds(only("4bf92f3577b34da6a3ce929d0e0e4737")));
}

#[test]
fn beyond_the_bound_the_set_says_that_it_overflowed() {
    let mut ids = SeenIds::new(KEY);
    for n in 0..IDS_MAX {
        ids.note(&format!("{:032x}", n + 1));
    }
    assert!(!ids.has_overflowed() && ids.is_complete() && ids.len() == IDS_MAX);
    ids.note(&format!("{:032x}", 1));
    assert!(!ids.has_overflowed(), "an id that is kept needs no room");
    ids.note(TRACE);
    assert!(ids.has_overflowed() && !ids.is_complete() && ids.len() == IDS_MAX);
}

proptest! {
    #[test]
    fn no_text_makes_the_readers_fail(text in "\\PC{0,300}", bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let lossy = String::from_utf8_lossy(&bytes);
        for text in [text.as_str(), &lossy] {
            let _ = (identifiers(text).count(), sightings(text).count());
        }
    }

    #[test]
    fn whatever_an_answer_can_name_was_seen_where_it_stands_in_a_payload(
        number in 1_u128.., before in "[^0-9a-zA-Z=]{0,8}", after in "[^0-9a-zA-Z=]{0,8}", is_span in any::<bool>(), is_upper in any::<bool>(),
    ) {
        let id = if is_span { format!("{:016x}", (number >> 64).max(1)) } else { format!("{number:032x}") };
        let id = if is_upper { id.to_uppercase() } else { id };
        let ids = seen(&serde_json::to_string(&format!("{before}{id}{after}")).unwrap());
        prop_assert!(identifiers(&id).all(|id| ids.holds(id)));
    }
}
