use super::*;

fn of(name: &str) -> MessageDescriptor {
    descriptors().get_message_by_name(&format!("tripnote.v1.{name}")).unwrap()
}

/// What is read of a request to admit, as JSON again; or what is said of it.
fn admit(json: &str) -> String {
    said(read(&of("AdmitRequest"), json.as_bytes()))
}

fn said(read: Result<DynamicMessage, Unread>) -> String {
    match read {
        Ok(message) => String::from_utf8(write(&message)).unwrap(),
        Err(unread) => unread.to_string(),
    }
}

#[test]
fn members_have_the_names_of_json_or_of_the_protos() {
    assert_eq!(admit(r#"{"toolName":"a","session_id":"s","turn":0}"#), r#"{"toolName":"a","sessionId":"s","turn":0}"#);
    assert_eq!(admit(r#" {"turn":null} "#), "{}");
}

#[test]
fn numbers_words_and_bytes_come_in_every_spelling_of_proto3_json() {
    for turn in ["7", "\"7\"", "7.0", "0.7e1"] {
        assert_eq!(admit(&format!(r#"{{"turn":{turn}}}"#)), r#"{"turn":7}"#, "{turn}");
    }
    for effect in ["2", "\"EFFECT_MUTATE\""] {
        assert_eq!(admit(&format!(r#"{{"effect":{effect}}}"#)), r#"{"effect":"EFFECT_MUTATE"}"#, "{effect}");
    }
    for bytes in ["+/8=", "+/8", "-_8", "-_8="] {
        assert_eq!(admit(&format!(r#"{{"arguments":"{bytes}"}}"#)), r#"{"arguments":"+/8="}"#, "{bytes}");
    }
}

#[test]
fn what_is_at_fault_is_named_as_grpc_names_it() {
    for (json, due) in [
        (r#"{"turn":-1}"#, "turn: is `-1`, a whole number from 0 to 4294967295 is taken"),
        (r#"{"turn":1.5}"#, "turn: is `1.5`, a whole number from 0 to 4294967295 is taken"),
        (r#"{"turn":"x"}"#, "turn: is `x`, a whole number from 0 to 4294967295 is taken"),
        (r#"{"toolName":5}"#, "tool_name: is `5`, a text is taken"),
        (r#"{"toolName":["a"]}"#, "tool_name: is a list, a text is taken"),
        (r#"{"toolName":{}}"#, "tool_name: is an object, a text is taken"),
        (r#"{"arguments":{"q":1}}"#, "arguments: is an object, bytes in base64 are taken"),
        (r#"{"arguments":"*"}"#, "arguments: is `*`, bytes in base64 are taken"),
        (r#"{"userApproved":1}"#, "user_approved: is `1`, true or false is taken"),
        (r#"{"effect":"mutate"}"#, "effect: is `mutate`, one of EFFECT_READ, EFFECT_MUTATE, EFFECT_UNKNOWN is taken"),
        (r#"{"reports":{}}"#, "reports: is an object, a list is taken"),
        (r#"{"reports":[null]}"#, "reports[0]: is null, an object is taken"),
        (r#"{"reports":[{},{"callRef":{"callId":7}}]}"#, "reports[1].call_ref.call_id: is `7`, a text is taken"),
        (r#"{"turn":1,"turn":2}"#, "turn: is given twice: send it once"),
        (
            r#"{"reports":[{"permit":"","callRef":{}}]}"#,
            "reports[0].call_ref: stands beside permit: send one of the two",
        ),
        (
            r#"{"reports":[{"callRef":{"id":"1"}}]}"#,
            "reports[0].call_ref.id: is not known here: CallRef holds sessionId, callId, attempt, caller",
        ),
    ] {
        assert_eq!(admit(json), due, "{json}");
    }
}

#[test]
fn what_is_no_object_is_told_where_it_ends() {
    for (json, due) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("[]", "is a list, an object is taken"),
        ("null", "it is null, an object is taken"),
        ("\"x\"", "is `x`, an object is taken"),
        ("{} {}", "trailing characters at line 1 column 4"),
        (r#"{"turn":1"#, "EOF while parsing an object at line 1 column 9"),
    ] {
        assert_eq!(admit(json), format!("the body is no JSON object: {due}"), "{json}");
    }
}

#[test]
fn neither_depth_nor_number_of_entries_is_without_a_bound() {
    let deep = format!("{}{}", r#"{"reports":["#.repeat(400), "]}".repeat(400));
    assert!(admit(&deep).starts_with("reports[0].reports: is not known here"), "{}", admit(&deep));
    let many = format!(r#"{{"reports":[{}{{}}]}}"#, "{},".repeat(5_000));
    assert_eq!(admit(&many), "reports: has more than 4096 entries");
}

#[test]
fn a_path_and_a_query_put_texts_into_fields() {
    let mut message = DynamicMessage::new(of("GetEvidenceRequest"));
    put_text(&mut message, "session.session_id", "s/1").unwrap();
    let paths = ["session.caller", "current_task_only"];
    put_named(&mut message, &paths, ("caller", "c")).unwrap();
    put_named(&mut message, &paths, ("currentTaskOnly", "true")).unwrap();
    let due = r#"{"session":{"sessionId":"s/1","caller":"c"},"currentTaskOnly":true}"#;
    assert_eq!(said(Ok(message.clone())), due);
    let mut fault = |name, text| put_named(&mut message, &paths, (name, text)).unwrap_err().to_string();
    assert_eq!(fault("current_task_only", "yes"), "current_task_only: is `yes`, true or false is taken");
    assert_eq!(fault("page", "1"), "page: is no parameter of this request: there are caller, currentTaskOnly");
    assert_eq!(fault("caller", "d"), "session.caller: is not what the path of the request says: leave it out");
}
