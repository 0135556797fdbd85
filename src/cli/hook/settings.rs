//! What has to stand in the settings of an agent program, for its hooks to come here.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::down::WhenDown;
use crate::cli::connect::{self, Address};
use crate::cli::output;
use crate::service::hooks::{EventName, HookProgram};

/// Where a service answers over HTTP unless something else is configured.
pub(super) const HTTP: &str = "http://127.0.0.1:7172";
/// Seconds that a program waits for its hook.
const TIMEOUT_S: u32 = 5;

/// How a program asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Itself, or with a tool that is everywhere.
    Http,
    /// By running `tripnote hook`.
    Command,
}

impl Form {
    pub(super) const ALL: &'static [Self] = &[Self::Http, Self::Command];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Command => "command",
        }
    }
}

/// What is to be printed.
pub(super) struct Wanted<'a> {
    pub(super) program: HookProgram,
    /// None: the one that fits the program best.
    pub(super) form: Option<Form>,
    pub(super) http: &'a str,
    pub(super) address: &'a Address,
    pub(super) when_down: WhenDown,
}

/// Prints it; what it is for goes to a person alone.
pub(super) fn print(wanted: &Wanted<'_>) -> anyhow::Result<ExitCode> {
    let file = match wanted.program {
        HookProgram::ClaudeCode => "~/.claude/settings.json, or .claude/settings.json of a project",
        HookProgram::Codex => "~/.codex/hooks.json, or .codex/hooks.json of a project",
    };
    output::remark(&format!("into {file}:"));
    output::print(&serde_json::to_string_pretty(&settings(wanted))?)?;
    Ok(ExitCode::SUCCESS)
}

fn settings(wanted: &Wanted<'_>) -> Value {
    let hook = hook(wanted);
    let of_event = |name: &EventName| (name.word().to_owned(), json!([{"hooks": [hook.clone()]}]));
    let hooks: Map<String, Value> = events(wanted.program).iter().map(of_event).collect();
    json!({ "hooks": hooks })
}

/// Those that change something here and that the program has.
const fn events(program: HookProgram) -> &'static [EventName] {
    match program {
        HookProgram::ClaudeCode => &[
            EventName::UserPromptSubmit,
            EventName::PreToolUse,
            EventName::PostToolUse,
            EventName::PostToolUseFailure,
            EventName::PostToolBatch,
            EventName::PermissionDenied,
            EventName::Stop,
            EventName::PostCompact,
            EventName::SessionEnd,
        ],
        HookProgram::Codex => &[
            EventName::UserPromptSubmit,
            EventName::PreToolUse,
            EventName::PostToolUse,
            EventName::Stop,
            EventName::PostCompact,
        ],
    }
}

fn hook(wanted: &Wanted<'_>) -> Value {
    let program = wanted.program.word();
    let url = format!("{}/v1/hooks/{program}", wanted.http.trim_end_matches('/'));
    let form = wanted.form.unwrap_or(match wanted.program {
        HookProgram::ClaudeCode => Form::Http,
        HookProgram::Codex => Form::Command,
    });
    let command = match (form, wanted.program) {
        (Form::Http, HookProgram::ClaudeCode) => {
            return json!({"type": "http", "url": url, "timeout": TIMEOUT_S});
        }
        // Codex runs commands alone. Any error ends with another status than 2, so that it goes on.
        (Form::Http, HookProgram::Codex) => format!(
            "curl -sSf -m {TIMEOUT_S} -H 'content-type: application/json' --data-binary @- {} || exit 1",
            quoted(&url)
        ),
        (Form::Command, HookProgram::ClaudeCode | HookProgram::Codex) => {
            let mut command = format!("tripnote hook {program}");
            let address = wanted.address.to_string();
            if address != connect::DEFAULT {
                command += &format!(" --connect {}", quoted(&address));
            }
            if wanted.when_down != WhenDown::GoOn {
                command += &format!(" --when-down {}", wanted.when_down.word());
            }
            command
        }
    };
    json!({"type": "command", "command": command, "timeout": TIMEOUT_S})
}

/// A word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:/".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(program: HookProgram, form: Option<Form>, address: &str, when_down: WhenDown) -> Value {
        let address: Address = address.parse().unwrap();
        settings(&Wanted { program, form, http: "http://127.0.0.1:7172/", address: &address, when_down })
    }

    fn first(settings: &Value, event: &str) -> Value {
        settings["hooks"][event][0]["hooks"][0].clone()
    }

    #[test]
    fn claude_code_asks_itself_and_codex_by_a_command() {
        let claude = printed(HookProgram::ClaudeCode, None, connect::DEFAULT, WhenDown::GoOn);
        let due = json!({"type": "http", "url": "http://127.0.0.1:7172/v1/hooks/claude-code", "timeout": 5});
        assert_eq!(first(&claude, "PreToolUse"), due);
        assert_eq!(first(&claude, "PostToolBatch"), due);
        let codex = printed(HookProgram::Codex, None, connect::DEFAULT, WhenDown::GoOn);
        let due = json!({"type": "command", "command": "tripnote hook codex", "timeout": 5});
        assert_eq!(first(&codex, "PreToolUse"), due);
        assert_eq!(first(&codex, "PostToolBatch"), Value::Null, "Codex has none");
    }

    #[test]
    fn what_is_given_goes_into_the_command() {
        let own = printed(HookProgram::ClaudeCode, Some(Form::Command), "unix:/run/my trip.sock", WhenDown::ByEffect);
        let due = "tripnote hook claude-code --connect 'unix:/run/my trip.sock' --when-down by_effect";
        assert_eq!(first(&own, "Stop")["command"], due);
    }
}
