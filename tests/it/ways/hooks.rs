//! The script by the hooks of Claude Code and of Codex, over HTTP and as a command that reads standard input.

use serde_json::{Value, json};

use super::{Line, Way, play, service};
use crate::support::TestServer;
use crate::support::web::post;

/// How a hook is run.
#[derive(Clone, Copy)]
enum Run {
    Http,
    Command,
}

struct Hooks {
    server: TestServer,
    program: &'static str,
    run: Run,
    /// Whether the program tells of the end of each wave, too.
    marks_waves: bool,
}

impl Hooks {
    async fn start(program: &'static str, run: Run) -> Self {
        let hooks = Self { server: service().await, program, run, marks_waves: false };
        assert_eq!(hooks.tell("UserPromptSubmit", json!({"prompt": "boots"})).await, json!({}));
        hooks
    }

    async fn tell(&self, event: &str, mut more: Value) -> Value {
        let members = more.as_object_mut().unwrap();
        members.insert("hook_event_name".to_owned(), event.into());
        members.insert("session_id".to_owned(), "run".into());
        members.insert("cwd".to_owned(), "/home/somebody".into());
        let asked_for = if self.program == "codex" { "turn_id" } else { "prompt_id" };
        members.insert(asked_for.to_owned(), "p1".into());
        match self.run {
            Run::Http => {
                let answer = post(&self.server.http, &format!("/v1/hooks/{}", self.program), &more.to_string()).await;
                assert_eq!(answer.status, 200, "{answer:?}");
                serde_json::from_str(&answer.body).unwrap()
            }
            Run::Command => {
                let arguments = ["hook", self.program];
                let output = super::cli::run_with(&self.server.endpoint, &arguments, &more.to_string()).await;
                assert!(output.status.success(), "{output:?}");
                serde_json::from_slice(&output.stdout).unwrap()
            }
        }
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn tool_use(line: &Line) -> Value {
    let input: Value = serde_json::from_str(&line.arguments).unwrap();
    json!({"tool_name": line.tool, "tool_use_id": line.call_id, "tool_input": input})
}

fn with(mut of: Value, name: &str, value: &str) -> Value {
    of.as_object_mut().unwrap().insert(name.to_owned(), value.into());
    of
}

impl Way for Hooks {
    async fn admit(&mut self, line: &Line) -> Option<String> {
        let answer = self.tell("PreToolUse", tool_use(line)).await;
        if answer == json!({}) {
            return None;
        }
        let output = &answer["hookSpecificOutput"];
        assert_eq!((&output["hookEventName"], &output["permissionDecision"]), (&"PreToolUse".into(), &"deny".into()));
        text(&output["permissionDecisionReason"])
    }

    async fn report(&mut self, line: &Line) -> Option<String> {
        let is_codex = self.program == "codex";
        let answer = if line.failed && !is_codex {
            self.tell("PostToolUseFailure", with(tool_use(line), "error", &line.payload)).await
        } else {
            self.tell("PostToolUse", with(tool_use(line), "tool_response", &line.payload)).await
        };
        if self.marks_waves {
            assert_eq!(self.tell("PostToolBatch", json!({"tool_calls": []})).await, json!({}));
        }
        if answer == json!({}) {
            return None;
        }
        assert!(is_codex || answer["decision"].is_null(), "{answer}");
        text(&answer["reason"]).or_else(|| text(&answer["hookSpecificOutput"]["additionalContext"]))
    }
}

async fn through(hooks: Hooks) {
    let mut way = hooks;
    play(&mut way).await;
    way.server.stop().await;
}

#[tokio::test]
async fn the_script_by_hooks_of_claude_code_over_http() {
    through(Hooks::start("claude-code", Run::Http).await).await;
}

#[tokio::test]
async fn the_script_by_hooks_that_mark_the_end_of_each_wave() {
    through(Hooks { marks_waves: true, ..Hooks::start("claude-code", Run::Http).await }).await;
}

#[tokio::test]
async fn the_script_by_hooks_of_codex_over_http() {
    through(Hooks::start("codex", Run::Http).await).await;
}

#[tokio::test]
async fn the_script_by_commands_of_claude_code() {
    through(Hooks::start("claude-code", Run::Command).await).await;
}

#[tokio::test]
async fn the_script_by_commands_of_codex() {
    through(Hooks::start("codex", Run::Command).await).await;
}
