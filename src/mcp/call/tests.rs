//! What is reported of an end, and what the model sees of it.

use super::super::tools::UNKNOWN;
use super::*;

fn call() -> Call {
    Call {
        number: 1,
        id: Id::read("1").unwrap(),
        tool: "look".to_owned(),
        known: UNKNOWN,
        session: "s".to_owned(),
        arguments: b"{}".to_vec(),
        says_complete: false,
    }
}

fn answer(text: &str) -> Seen {
    Seen::Answer(Line::of_ours(text.as_bytes().to_vec()))
}

fn body(seen: &Seen) -> Option<(String, bool)> {
    let payload = call().outcome(vec![1], seen).payload?;
    Some((String::from_utf8(payload.body).unwrap(), payload.truncated_by_caller))
}

#[test]
fn a_result_is_reported_as_it_was_written_and_an_error_with_its_envelope() {
    let result = r#"{"content" : [{"type":"text","text":"1.0"}]}"#;
    assert_eq!(body(&answer(&format!("{{\"id\":1,\"result\":{result}}}\n"))), Some((result.to_owned(), false)));
    let error = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603}}";
    assert_eq!(body(&answer(error)), Some((error.to_owned(), false)));
    assert_eq!(body(&answer(r#"{"id":1,"result":{"task":{"taskId":"t"}}}"#)), None, "the answer comes later");
    let long = format!("{{\"id\":1,\"result\":{{\"content\":[\"{}\"]}}}}", "ä".repeat(PAYLOAD_BYTES_MAX));
    let (kept, is_cut) = body(&answer(&long)).unwrap();
    assert!(is_cut && kept.len() <= PAYLOAD_BYTES_MAX && kept.len() > PAYLOAD_BYTES_MAX - 2);
}

fn ack(disposition: pb::Disposition, text: &str, observation: pb::Observation) -> pb::ReportAck {
    let is_told = matches!(disposition, pb::Disposition::Trip | pb::Disposition::Steer);
    pb::ReportAck {
        trip: is_told.then(|| pb::Trip { text: "CONTRACT".to_owned(), ..pb::Trip::default() }),
        typing: Some(pb::Typing {
            observation: observation.into(),
            signal: pb::Signal::ErrorRate.into(),
            failure_class: pb::FailureClass::Transport.into(),
            ..pb::Typing::default()
        }),
        handling: Some(pb::Handling { disposition: disposition.into(), text: text.to_owned(), after_ms: None }),
        ..pb::ReportAck::default()
    }
}

/// The texts that the model sees, and whether they are a failure; nothing where it is the result as it is.
fn sees(disposition: pb::Disposition, text: &str, observation: pb::Observation, notices: &[&str]) -> Option<String> {
    let seen = answer(r#"{"id":1,"result":{"content":[{"type":"text","text":"raw"}]}}"#);
    let notices: Vec<String> = notices.iter().map(|notice| (*notice).to_owned()).collect();
    let line = call().told(&seen, &notices, &ack(disposition, text, observation))?;
    let result = serde_json::from_slice::<serde_json::Value>(&line).unwrap()["result"].clone();
    let texts: Vec<&str> = result["content"].as_array().unwrap().iter().map(|b| b["text"].as_str().unwrap()).collect();
    Some(format!("{}{}", texts.join(" | "), if result["isError"] == true { " !" } else { "" }))
}

#[test]
fn what_the_model_sees_is_what_the_service_said() {
    use pb::Disposition::{Deliver, DeliverFailure, RetrySilently, ReturnError, Steer, Trip};
    use pb::Observation::{Empty, Observed, Truncated, Unavailable};
    const LINE: &str = "look: unavailable, signal error_rate, class transport; nothing was measured";
    let retried = format!("{LINE} !");
    let steered = format!("{LINE} | CONTRACT !");
    let table: [(_, _, _, &[&str], Option<&str>); 11] = [
        (Deliver, "", Observed, &[], None),
        (Deliver, "", Observed, &["a closed"], Some("raw | a closed")),
        (Deliver, "cut", Truncated, &[], Some("raw | cut")),
        (Steer, "", Empty, &[], Some("raw | CONTRACT")),
        (Steer, "cut", Truncated, &["a closed"], Some("raw | cut | a closed | CONTRACT")),
        (Steer, LINE, Unavailable, &[], Some(&steered)),
        (Steer, "", Unavailable, &[], Some(&steered)),
        (Trip, "", Unavailable, &["a closed"], Some("a closed | CONTRACT !")),
        (DeliverFailure, "no", Unavailable, &[], Some("no !")),
        (ReturnError, "no", Unavailable, &["a closed"], Some("no | a closed !")),
        (RetrySilently, "", Unavailable, &[], Some(&retried)),
    ];
    for (disposition, text, observation, notices, want) in table {
        let got = sees(disposition, text, observation, notices);
        assert_eq!(got.as_deref(), want, "{disposition:?} {text:?} {observation:?}");
    }
    assert_eq!(sees(pb::Disposition::Unspecified, "", Observed, &[]), None);
}
