//! The script that every way in answers with the same texts, through the proxy: on a service that runs elsewhere, and on
//! one inside of the program.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::stage::{Stage, call, result, seen, settings};
use crate::support::{NOON_UNIX_MS, TestServer};

const WAYS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/ways");

struct Step {
    tool: String,
    arguments: String,
    admit: String,
    answer: Option<(String, bool, String)>,
}

fn script() -> Vec<Step> {
    let text = fs::read_to_string(format!("{WAYS}/scenario.jsonl")).unwrap();
    let step = |line: &str| {
        let step: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| step[name].as_str().map(str::to_owned);
        Step {
            tool: text("tool").unwrap(),
            arguments: step["arguments"].to_string(),
            admit: text("admit").unwrap(),
            answer: text("payload").map(|payload| (payload, step["failed"] == true, text("report").unwrap())),
        }
    };
    text.lines().map(step).collect()
}

#[tokio::test]
async fn a_service_elsewhere_gives_the_texts_of_every_way_in() {
    let service = TestServer::start(&fs::read_to_string(format!("{WAYS}/tripnote.toml")).unwrap()).await;
    let mut stage = Stage::set(settings(&service.endpoint).await).await;
    for (id, step) in (1..).zip(script()) {
        if step.admit == "go" {
            stage.call(id, &step.tool, &step.arguments).await;
            let (payload, failed, report) = step.answer.unwrap();
            let raw = result(id, &payload, failed);
            let heard = stage.answer(&raw).await;
            match report.as_str() {
                "deliver" => assert_eq!(heard, raw, "call {id}"),
                text => assert_eq!(seen(&serde_json::from_str(&heard).unwrap()), text, "call {id}"),
            }
        } else {
            stage.client.say(&call(id, &step.tool, &step.arguments)).await;
            let refused = stage.client.hear_json().await;
            assert_eq!((seen(&refused), &refused["result"]["isError"]), (step.admit.clone(), &Value::Bool(true)));
            let contract: Value = serde_json::from_str(&step.admit).unwrap();
            assert_eq!(refused["result"]["structuredContent"], contract);
            assert_eq!(refused["result"]["_meta"]["io.tripnote/trip"], contract);
        }
    }
    stage.client.close().await;
    stage.server.close().await;
    assert_eq!(stage.ended().await.status, 0);
}

/// A server of one line: it knows the tools of the script.
const SERVER: &str = r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *search_orders*) text='[]' failed=false ;;
    *charge_card*) text='503 Service Unavailable' failed=true ;;
    *list_stock*) text='[{\"shelf\":7,\"boots\":12}]' failed=false ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}],"isError":%s}}\n' "$id" "$text" "$failed"
done
exit 7
"#;

/// The program with nothing of this environment but where programs are.
fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tripnote"));
    program.env_clear().env("PATH", "/usr/bin:/bin").arg("mcp-proxy").args(arguments).stdin(Stdio::null());
    program
}

#[test]
fn what_cannot_be_started_is_told_in_one_line() {
    let table = [
        (vec!["--embedded", "--", "/nowhere/server"], 1, "tripnote: cannot start `/nowhere/server`: "),
        (vec!["--embedded", "--url", "gopher://host"], 1, "tripnote: `gopher://host` is no place of a server: "),
        (vec!["--embedded", "--config", "/nowhere/t.toml", "--", "cat"], 1, "tripnote: "),
        (vec![], 2, "error: the following required arguments were not provided:"),
        (vec!["--config", "t.toml", "--", "cat"], 2, "error: the following required arguments were not provided:"),
        (vec!["--url", "http://host/", "--", "cat"], 2, "error: the argument '--url <URL>' cannot be used with"),
        (vec!["--when-down", "perhaps", "--", "cat"], 2, "error: invalid value 'perhaps' for '--when-down <HOW>'"),
    ];
    for (arguments, code, told) in table {
        let output = program(&arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.starts_with(told)), (Some(code), true), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty() && (code == 2 || stderr.lines().count() == 1), "{stderr}");
    }
}

#[test]
fn what_the_server_says_on_standard_error_and_its_status_are_the_proxys() {
    let output = program(&["--embedded", "--", "sh", "-c", "echo oops >&2; kill -9 $$"]).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(137), "oops\n"));
}

#[test]
fn a_service_inside_of_the_program_gives_them_too() {
    let (config, clock) = (format!("{WAYS}/tripnote.toml"), NOON_UNIX_MS.to_string());
    let mut program = program(&["--embedded", "--config", &config, "--test-clock", &clock, "--", "sh", "-c", SERVER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut says = program.stdin.take().unwrap();
    let mut hears = BufReader::new(program.stdout.take().unwrap());
    for (id, step) in (1..).zip(script()) {
        writeln!(says, "{}", call(id, &step.tool, &step.arguments)).unwrap();
        let mut heard = String::new();
        hears.read_line(&mut heard).unwrap();
        let heard: Value = serde_json::from_str(&heard).unwrap();
        let want = match step.answer {
            Some((payload, _, report)) if report == "deliver" => payload,
            Some((.., report)) => report,
            None => step.admit,
        };
        assert_eq!((seen(&heard), &heard["id"]), (want, &id.into()));
    }
    drop(says);
    assert_eq!(program.wait().unwrap().code(), Some(7), "the proxy ends as the server does");
}
