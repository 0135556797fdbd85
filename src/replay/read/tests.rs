//! The forms in which sessions are written, each read into the same calls.

use super::*;

/// Every call as `step/task tool(arguments) -> result`.
fn calls(text: &str) -> Vec<String> {
    let document = document(text).unwrap();
    let Ok(Found::Sessions(sessions)) = found(&document) else { panic!("no session: {text}") };
    let shown = |call: &crate::replay::recording::RecordedCall<'_>| {
        let result = call.result.as_ref().map_or("nothing", |result| &result.body);
        format!("{}/{} {}({}) -> {result}", call.step, call.task, call.tool, call.arguments)
    };
    sessions.into_iter().flat_map(|session| session.unwrap().calls.iter().map(shown).collect::<Vec<_>>()).collect()
}

/// The name and the label of the only session.
fn label(text: &str) -> (Option<String>, Option<bool>) {
    let document = document(text).unwrap();
    let Ok(Found::Sessions(mut sessions)) = found(&document) else { panic!("no session: {text}") };
    let session = sessions.remove(0).unwrap();
    (session.name.map(std::borrow::Cow::into_owned), session.success)
}

#[test]
fn parallel_calls_are_one_step_and_results_find_theirs() {
    let text = r#"[{"role":"user","content":"x"},
        {"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}},
                                          {"id":"b","function":{"name":"g","arguments":{"n":12345678901234567890}}}]},
        {"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"2"},{"type":"text","text":"3"}]},
        {"role":"tool","tool_call_id":"a","content":"1"},
        {"role":"tool","tool_call_id":"c","content":"of a call that was not recorded"}]"#;
    assert_eq!(calls(text), [r#"1/1 f({"n":1}) -> 1"#, "1/1 g({\"n\":12345678901234567890}) -> 2\n3"]);
}

#[test]
fn words_alone_are_no_step() {
    let ask = r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]}"#;
    let text = format!(r#"[{ask},{{"role":"assistant","content":"hm"}},{ask}]"#);
    assert_eq!(calls(&text), ["1/0 f() -> nothing", "2/0 f() -> nothing"]);
}

#[test]
fn the_older_form_of_openai_has_one_call_and_no_id() {
    let text = r#"{"messages":[{"role":"assistant","function_call":{"name":"f","arguments":"{}"}},
        {"role":"function","name":"f","content":"1"},
        {"role":"assistant","function_call":{"name":"f","arguments":"{}"}}]}"#;
    assert_eq!(calls(text), ["1/0 f({}) -> 1", "2/0 f({}) -> nothing"]);
}

#[test]
fn an_id_that_comes_again_is_of_the_latest_call() {
    let ask = r#"{"role":"assistant","tool_calls":[{"id":"0","function":{"name":"f","arguments":""}}]}"#;
    let text = format!(
        r#"[{ask},{{"role":"tool","tool_call_id":"0","content":"1"}},{ask},{{"role":"tool","tool_call_id":"0","content":"2"}}]"#
    );
    assert_eq!(calls(&text), ["1/0 f() -> 1", "2/0 f() -> 2"]);
}

#[test]
fn tool_results_alone_begin_no_task_and_words_beside_them_do() {
    let ask = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
    let result = r#"{"type":"tool_result","tool_use_id":"a","content":"1"}"#;
    let text = format!(
        r#"[{{"role":"user","content":"x"}},{ask},{{"role":"user","content":[{result}]}},{ask},
            {{"role":"user","content":[{result},{{"type":"text","text":"and now?"}}]}},{ask}]"#
    );
    assert_eq!(calls(&text), ["1/1 f({}) -> 1", "2/1 f({}) -> 1", "3/2 f({}) -> nothing"]);
}

#[test]
fn a_result_that_is_marked_as_failed_is_a_result_of_the_protocol() {
    let text = r#"[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"it \"broke\""}]}]"#;
    let due = r#"{"content":[{"text":"it \"broke\"","type":"text"}],"isError":true}"#;
    assert_eq!(calls(text), [format!("1/0 f({{}}) -> {due}")]);
}

#[test]
fn a_longer_way_to_the_next_call_means_that_the_user_has_spoken() {
    let turns = |turns: &[u32]| {
        let calls: Vec<String> = turns.iter().map(|turn| format!(r#"{{"turn":{turn},"tool":"f"}}"#)).collect();
        format!(r#"{{"calls":[{}]}}"#, calls.join(","))
    };
    let tasks = |list: &[u32]| calls(&turns(list)).iter().map(|call| call[..3].to_owned()).collect::<Vec<_>>();
    assert_eq!(tasks(&[1, 3, 5]), ["1/0", "2/0", "3/0"], "a call and its result");
    assert_eq!(tasks(&[1, 5, 7]), ["1/0", "2/1", "3/1"], "two messages between");
    assert_eq!(tasks(&[1, 1, 4]), ["1/0", "1/0", "2/0"], "two calls and their results");
    assert_eq!(tasks(&[1, 2, 3]), ["1/0", "2/0", "3/0"], "turns that count steps");
}

#[test]
fn calls_may_name_their_task() {
    let text = r#"{"calls":[{"tool":"f","task":"a"},{"tool":"f","task":"a"},{"tool":"f","task":"b"}]}"#;
    assert_eq!(calls(text), ["1/1 f() -> nothing", "2/1 f() -> nothing", "3/2 f() -> nothing"]);
}

#[test]
fn a_list_of_sessions_is_as_many_sessions() {
    let text = r#"[{"traj":[{"role":"assistant","tool_calls":[{"id":null,"function":{"name":"f","arguments":"{}"}}]}]},
        {"calls":[{"tool":"g","result":{"n":1}}]}]"#;
    assert_eq!(calls(text), ["1/0 f({}) -> nothing", r#"1/0 g() -> {"n":1}"#]);
}

#[test]
fn a_session_succeeded_where_its_label_or_its_full_reward_says_so() {
    let table = [
        (r#"{"session":"a","success":true,"calls":[]}"#, Some("a"), Some(true)),
        (r#"{"session_id":"a","success":null,"calls":[]}"#, Some("a"), None),
        (r#"{"id":7,"reward":1.0,"messages":[]}"#, Some("7"), Some(true)),
        (r#"{"id":"","reward":0.9999999999,"messages":[]}"#, None, Some(true)),
        (r#"{"reward":0.5,"messages":[]}"#, None, Some(false)),
        (r#"{"reward":0,"success":true,"calls":[]}"#, None, Some(true)),
        (r#"{"calls":[]}"#, None, None),
    ];
    for (text, name, success) in table {
        assert_eq!(label(text), (name.map(str::to_owned), success), "{text}");
    }
}
