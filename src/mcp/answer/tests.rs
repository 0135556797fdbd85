//! Answers as the client gets them.

use super::super::tools::UNKNOWN;
use super::*;

fn trip() -> pb::Trip {
    pb::Trip {
        action: pb::Action::AwaitRecovery.into(),
        breaker: "b".to_owned(),
        target: "t".to_owned(),
        signal: pb::Signal::ErrorRate.into(),
        observed: "o".to_owned(),
        threshold: "th".to_owned(),
        state: "s".to_owned(),
        do_not: "d".to_owned(),
        fallback: "none".to_owned(),
        text: "say \"so\"".to_owned(),
        variant: pb::Variant::Contract.into(),
        retry_after_ms: Some(40_000),
        withdraw: vec!["t".to_owned()],
        ..pb::Trip::default()
    }
}

const CONTRACT: &str = concat!(
    r#"{"action":"await_recovery","breaker":"b","target":"t","signal":"error_rate","observed":"o","#,
    r#""threshold":"th","state":"s","do_not":"d","fallback":"none"}"#
);

fn failed(tool: Known, trip: &pb::Trip) -> String {
    let form = Form { id: "\"a\"", tool, says_complete: false };
    String::from_utf8(form.failed(&[&trip.text], Some(trip))).unwrap()
}

#[test]
fn a_trip_is_one_text_and_the_same_as_an_object() {
    let want = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"say \\\"so\\\"\"}}],\
         \"structuredContent\":{CONTRACT},\"isError\":true,\"_meta\":{{\"io.tripnote/trip\":{CONTRACT},\
         \"io.tripnote/retry_after_ms\":40000,\"io.tripnote/withdraw\":[\"t\"]}}}}}}\n"
    );
    assert_eq!(failed(UNKNOWN, &trip()), want);
}

#[test]
fn a_tool_that_promises_a_shape_and_a_wording_that_says_little_get_no_object_beside_the_text() {
    let shaped = Known { has_output_schema: true, ..UNKNOWN };
    let weak = pb::Trip { variant: pb::Variant::Weak.into(), ..trip() };
    for answer in [failed(shaped, &trip()), failed(UNKNOWN, &weak)] {
        assert!(!answer.contains("structuredContent") && answer.contains(TRIP_KEY), "{answer}");
    }
}

#[test]
fn a_result_says_that_it_is_complete_where_the_protocol_wants_it() {
    let form = Form { id: "1", tool: UNKNOWN, says_complete: true };
    let want = concat!(
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","#,
        r#""content":[{"type":"text","text":"no"}],"isError":true}}"#,
        "\n"
    );
    assert_eq!(String::from_utf8(form.failed(&["no"], None)).unwrap(), want);
}

#[test]
fn an_error_names_its_request_by_the_id_as_it_was_written() {
    let want = "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"error\":{\"code\":-32000,\"message\":\"gone\"}}\n";
    assert_eq!(String::from_utf8(error("1.0", SERVER_LOST, "gone")).unwrap(), want);
}

#[test]
fn a_text_comes_under_the_result_and_every_other_byte_stays() {
    let texted = |line: &str| with_texts(line, &["x"], None).map(|bytes| String::from_utf8(bytes).unwrap());
    let block = r#"{"type":"text","text":"x"}"#;
    let head = r#"{ "id":1, "result" : {"content" : [ {"type":"text","text":"a","n":1e400}"#;
    assert_eq!(texted(&format!("{head} ] }}}}\r\n")), Some(format!("{head} ,{block}] }}}}\r\n")));
    assert_eq!(
        texted(r#"{"id":1,"result":{"content":[]}}"#),
        Some(format!(r#"{{"id":1,"result":{{"content":[{block}]}}}}"#))
    );
    assert_eq!(
        texted(r#"{"id":1,"result":{"structuredContent":7}}"#),
        Some(format!(r#"{{"id":1,"result":{{"structuredContent":7,"content":[{block}]}}}}"#))
    );
    for other in
        [r#"{"result":{"resultType":"input_required"}}"#, r#"{"error":{}}"#, r#"{"result":{"content":7}}"#, "{"]
    {
        assert_eq!(texted(other), None, "{other}");
    }
}

#[test]
fn a_contract_under_a_result_joins_what_is_said_beside_it() {
    let texted = |line: &str| String::from_utf8(with_texts(line, &["x"], Some(&trip())).unwrap()).unwrap();
    let joined = texted(r#"{"result":{"_meta":{"a":1},"content":[]}}"#);
    assert!(joined.contains(&format!(r#""_meta":{{"a":1,"{TRIP_KEY}":{CONTRACT}"#)), "{joined}");
    let alone = texted(r#"{"result":{"content":[]}}"#);
    assert!(alone.contains(&format!(r#","_meta":{{"{TRIP_KEY}":{CONTRACT}"#)), "{alone}");
}
