use serde_json::json;

use super::*;

const BYTES_MAX: usize = 64;

fn asked(event: &Value) -> Asked {
    let text = event.to_string();
    asked::of(&HookEvent::read(text.as_bytes()).unwrap(), BYTES_MAX)
}

fn fault(text: &str) -> String {
    HookEvent::read(text.as_bytes()).unwrap_err().to_string()
}

fn outcome(asked: Asked) -> pb::Outcome {
    let Asked::Report(outcome) = asked else { panic!("a report was due: {asked:?}") };
    *outcome
}

#[test]
fn an_event_that_is_not_understood_is_told_without_what_it_holds() {
    for (text, due) in [
        ("", "the event is no JSON object: see line 1 column 0"),
        ("{\"a\":\"secret", "the event is no JSON object: see line 1 column 12"),
        (
            r#"{"hook_event_name":"Stop","session_id":["secret"]}"#,
            "a member of the event is of another type than is documented: see line 1 column 39",
        ),
        (r#"{"session_id":"s"}"#, "hook_event_name is missing: a hook has to name it"),
        (r#"{"hook_event_name":"Stop"}"#, "session_id is missing: Stop has to name it"),
        (
            r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash"}"#,
            "tool_use_id is missing: PreToolUse has to name it",
        ),
        (
            r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"t"}"#,
            "tool_name is missing: PreToolUse has to name it",
        ),
    ] {
        assert_eq!(fault(text), due, "{text}");
    }
    let unknown = fault(r#"{"hook_event_name":"Teleport","session_id":"s"}"#);
    assert!(unknown.starts_with("hook_event_name `Teleport` is not known: there are UserPromptSubmit, "), "{unknown}");
}

#[test]
fn a_call_is_asked_for_with_its_task_and_its_sub_agent() {
    let call = asked(&json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "prompt_id": "p", "agent_id": "a", "cwd": "/x",
        "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls"},
    }));
    let due = pb::AdmitRequest {
        tool_name: "Bash".to_owned(),
        session_id: "s".to_owned(),
        call_id: "t".to_owned(),
        task_id: "p".to_owned(),
        lane: "a".to_owned(),
        arguments: br#"{"command":"ls"}"#.to_vec(),
        ..pb::AdmitRequest::default()
    };
    assert_eq!(call, Asked::Admit(Box::new(due)));
    let turn = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "turn_id": "7", "prompt": "do"});
    let session = Some(pb::SessionRef { session_id: "s".to_owned(), caller: String::new() });
    assert_eq!(asked(&turn), Asked::BeginTask(pb::BeginTaskRequest { session, task_id: "7".to_owned() }));
}

#[test]
fn a_result_is_the_text_of_a_string_or_json_as_it_came_and_is_cut_between_characters() {
    for (response, body, is_cut) in [
        (json!("plain"), "plain".to_owned(), false),
        (json!({"stdout": "a"}), r#"{"stdout":"a"}"#.to_owned(), false),
        (json!([]), "[]".to_owned(), false),
        (json!("ä".repeat(40)), "ä".repeat(32), true),
        (Value::Null, String::new(), false),
    ] {
        let outcome = outcome(asked(&json!({
            "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "T", "tool_use_id": "t",
            "tool_response": response, "duration_ms": 12.7,
        })));
        let payload = outcome.payload.unwrap();
        assert_eq!((String::from_utf8(payload.body).unwrap(), payload.truncated_by_caller), (body, is_cut));
        assert_eq!(outcome.latency_ms, Some(12));
    }
}

#[test]
fn a_failure_is_told_as_what_it_was() {
    let failed = |error: &str, is_interrupt: bool| {
        let outcome = outcome(asked(&json!({
            "hook_event_name": "PostToolUseFailure", "session_id": "s", "tool_name": "T", "tool_use_id": "t",
            "error": error, "is_interrupt": is_interrupt,
        })));
        let Some(pb::outcome::Result::Transport(facts)) = outcome.result else { panic!("facts are due") };
        let body = outcome.payload.map(|payload| String::from_utf8(payload.body).unwrap());
        (facts.carrier(), facts.exit_code, facts.error_kind(), body)
    };
    let nothing = pb::ErrorKind::Unspecified;
    let text = r#"{"content":[{"text":"no way","type":"text"}],"isError":true}"#.to_owned();
    assert_eq!(failed("no way", false), (pb::Carrier::Mcp, None, nothing, Some(text)));
    assert_eq!(failed("Exit code 2\nbad", false), (pb::Carrier::Process, Some(2), nothing, Some("bad".to_owned())));
    assert_eq!(failed("Exit code 2", false), (pb::Carrier::Process, Some(2), nothing, None));
    let cancelled = pb::ErrorKind::CancelledByCaller;
    assert_eq!(failed("stopped", true), (pb::Carrier::Unspecified, None, cancelled, None));
}

#[test]
fn an_answer_is_reviewed_and_a_compaction_counted() {
    let stop = |message: Value| {
        asked(&json!({"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": message}))
    };
    assert_eq!(stop(Value::Null), Asked::Nothing);
    assert_eq!(stop(json!("  ")), Asked::Nothing);
    assert!(matches!(stop(json!("12 ms")), Asked::Review(answer) if answer.text == "12 ms"));
    let of = |name: &str, source: &str| asked(&json!({"hook_event_name": name, "session_id": "s", "source": source}));
    for (name, source, is_epoch) in [
        ("PostCompact", "", true),
        ("SessionStart", "compact", true),
        ("SessionStart", "resume", false),
        ("PreCompact", "", false),
    ] {
        assert_eq!(matches!(of(name, source), Asked::AdvanceEpoch(_)), is_epoch, "{name} {source}");
    }
}
