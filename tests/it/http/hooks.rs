//! Hooks as the programs document them, and as they must not be: never a permission, never a block of everything.

use serde_json::{Value, json};

use crate::support::TestServer;
use crate::support::web::{ask, post};
use crate::ways::cli::run_with;

fn event(name: &str, more: Value) -> Value {
    let mut event = json!({
        "session_id": "s", "transcript_path": "/home/somebody/t.jsonl", "cwd": "/home/somebody",
        "permission_mode": "default", "hook_event_name": name, "prompt_id": "p1",
    });
    let members = event.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    event
}

async fn told(server: &TestServer, program: &str, event: &Value) -> Value {
    let answer = post(&server.http, &format!("/v1/hooks/{program}"), &event.to_string()).await;
    assert_eq!(answer.status, 200, "{event}: {answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

async fn called(server: &TestServer, id: &str, name: &str, response: Value) -> Value {
    let call = json!({"tool_name": name, "tool_use_id": id, "tool_input": {"q": 1}});
    assert_eq!(told(server, "claude-code", &event("PreToolUse", call.clone())).await, json!({}), "never `allow`");
    let mut call = call;
    call["tool_response"] = response;
    told(server, "claude-code", &event("PostToolUse", call)).await
}

#[tokio::test]
async fn an_answer_that_is_not_borne_out_is_sent_back_once() {
    let server = TestServer::start("").await;
    told(&server, "claude-code", &event("UserPromptSubmit", json!({"prompt": "how slow?"}))).await;
    let stop = |active: bool| {
        event("Stop", json!({"stop_hook_active": active, "last_assistant_message": "The p99 is 250 ms."}))
    };
    assert_eq!(told(&server, "claude-code", &stop(false)).await, json!({}), "talk without a call is not reviewed");
    called(&server, "t1", "query_metrics", json!("503 Service Unavailable")).await;
    let back = told(&server, "claude-code", &stop(false)).await;
    assert_eq!(back["decision"], "block");
    assert!(back["reason"].as_str().unwrap().starts_with("ANSWER REVIEW: sent back"), "{back}");
    let stands = told(&server, "claude-code", &stop(true)).await;
    assert_eq!(stands["decision"], Value::Null);
    assert!(stands["systemMessage"].as_str().unwrap().contains("no_usable_evidence"), "{stands}");
    told(&server, "claude-code", &event("UserPromptSubmit", json!({"prompt": "thanks", "prompt_id": "p2"}))).await;
    let thanks = event("Stop", json!({"last_assistant_message": "It was 250 ms.", "prompt_id": "p2"}));
    assert_eq!(told(&server, "claude-code", &thanks).await, json!({}), "another task, without a call");
    server.stop().await;
}

#[tokio::test]
async fn what_the_program_tells_beside_calls_reaches_the_session() {
    let server = TestServer::start("").await;
    assert_eq!(called(&server, "t1", "look", json!({"rows": [1]})).await, json!({}));
    for name in ["PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Notification", "PostToolBatch"] {
        assert_eq!(told(&server, "claude-code", &event(name, json!({}))).await, json!({}), "{name}");
    }
    let denied = json!({"tool_name": "rm", "tool_use_id": "t2", "tool_input": {}});
    told(&server, "claude-code", &event("PreToolUse", denied.clone())).await;
    assert_eq!(told(&server, "claude-code", &event("PermissionDenied", denied)).await, json!({}));
    let shown: Value = serde_json::from_str(&ask(&server.http, "GET", "/v1/sessions/s").await.body).unwrap();
    assert_eq!((&shown["counts"]["contextEpoch"], &shown["counts"]["admitted"]), (&json!(1), &json!("2")));
    assert_eq!(told(&server, "claude-code", &event("SessionEnd", json!({"reason": "other"}))).await, json!({}));
    assert_eq!(ask(&server.http, "GET", "/v1/sessions/s").await.status, 404);
    assert_eq!(told(&server, "claude-code", &event("SessionEnd", json!({}))).await, json!({}), "it has ended before");
    server.stop().await;
}

#[tokio::test]
async fn sub_agents_are_lanes_and_failures_are_told_as_such() {
    let server = TestServer::start("").await;
    let call = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}, "agent_id": "a7"});
    told(&server, "claude-code", &event("PreToolUse", call.clone())).await;
    let mut failed = call;
    failed["error"] = "Exit code 2\nls: cannot access".into();
    told(&server, "claude-code", &event("PostToolUseFailure", failed)).await;
    let shown: Value = serde_json::from_str(&ask(&server.http, "GET", "/v1/sessions/s").await.body).unwrap();
    let call = &shown["calls"][0];
    assert_eq!(call["lane"], 1, "{call}");
    assert_ne!(call["observation"], "OBSERVATION_OBSERVED", "{call}");
    server.stop().await;
}

#[tokio::test]
async fn what_is_not_understood_is_an_error_and_neither_a_permission_nor_a_block() {
    let server = TestServer::start("").await;
    for body in [
        "",
        "{",
        "[]",
        "{}",
        "{\"hook_event_name\":\"PreToolUse\"}",
        "{\"hook_event_name\":\"Teleport\",\"session_id\":\"s\"}",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":{}}",
        &event("PreToolUse", json!({"tool_name": "x".repeat(600), "tool_use_id": "t"})).to_string(),
        &event("PostToolUse", json!({"tool_name": "a", "tool_use_id": "x".repeat(300)})).to_string(),
    ] {
        for program in ["claude-code", "codex"] {
            let answer = post(&server.http, &format!("/v1/hooks/{program}"), body).await;
            assert_eq!(
                (answer.status, answer.header("content-type").as_str()),
                (400, "application/problem+json"),
                "{body}"
            );
            assert!(!answer.body.contains("allow") && !answer.body.contains("\"decision\""), "{answer:?}");
            let output = run_with(&server.endpoint, &["hook", program], body).await;
            let (status, said) = (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned());
            assert_eq!((status, output.stdout.as_slice()), (Some(1), &b""[..]), "{body}: {said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
    let get = ask(&server.http, "GET", "/v1/hooks/codex").await;
    assert_eq!((get.status, get.header("allow").as_str()), (405, "post"));
    server.stop().await;
}

#[tokio::test]
async fn where_nobody_answers_calls_go_on_and_that_is_said_once() {
    let folder = std::env::temp_dir().join(format!("tripnote-hooks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let nowhere = format!("unix:{}/nobody.sock", folder.display());
    let runtime = folder.display().to_string();
    let before = event("PreToolUse", json!({"tool_name": "Write", "tool_use_id": "t"})).to_string();
    let asked = async |arguments: &[&str], body: &str| {
        let output = crate::ways::cli::run_in(&runtime, &nowhere, arguments, body).await;
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let first = asked(&["hook", "claude-code"], &before).await;
    assert!(first["systemMessage"].as_str().unwrap().ends_with("calls go on unguarded until one does"), "{first}");
    assert_eq!(asked(&["hook", "claude-code"], &before).await, json!({}), "said once");
    let refuse = asked(&["hook", "claude-code", "--when-down", "refuse"], &before).await;
    let reason = refuse["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(
        reason.starts_with("no tripnote service answers at ") && reason.ends_with("Write is refused until one does")
    );
    let stop = event("Stop", json!({"last_assistant_message": "done"})).to_string();
    assert_eq!(asked(&["hook", "codex", "--when-down", "refuse"], &stop).await["decision"], Value::Null);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn a_hook_that_is_written_down_wrong_blocks_nothing() {
    for arguments in
        [&["hook"][..], &["hook", "emacs"], &["hook", "codex", "--when-down", "never"], &["--json", "hook", "-x"]]
    {
        let output = run_with("127.0.0.1:1", arguments, "").await;
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: 2 would refuse the call");
    }
    assert_eq!(run_with("127.0.0.1:1", &["peek", "--no-such"], "").await.status.code(), Some(2));
}

#[tokio::test]
async fn the_settings_are_json_that_can_be_pasted() {
    for (arguments, event, wanted) in [
        (&["hook", "claude-code", "--print-settings"][..], "PreToolUse", "http"),
        (&["hook", "claude-code", "--print-settings", "--form", "command"], "PostToolBatch", "command"),
        (&["hook", "codex", "--print-settings"], "Stop", "command"),
        (&["hook", "codex", "--print-settings", "--form", "http"], "PostToolUse", "command"),
    ] {
        let output = run_with("127.0.0.1:1", arguments, "").await;
        let settings: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(settings["hooks"][event][0]["hooks"][0]["type"], wanted, "{settings}");
    }
}
