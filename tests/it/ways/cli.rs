//! The script by the command line, a process for each question.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::{Line, Way, play, service};
use crate::support::TestServer;

struct Cli(TestServer);

/// Runs the program and takes what it prints.
pub(crate) async fn run(endpoint: &str, arguments: &[&str]) -> Output {
    run_with(endpoint, arguments, "").await
}

/// Runs the program with something on its standard input.
pub(crate) async fn run_with(endpoint: &str, arguments: &[&str], input: &str) -> Output {
    run_in(&std::env::temp_dir().display().to_string(), endpoint, arguments, input).await
}

/// The same with a folder for what lasts as long as a person is logged in.
pub(crate) async fn run_in(runtime: &str, endpoint: &str, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tripnote"));
    command.args(arguments).arg("--connect").arg(endpoint).env_remove("TRIPNOTE_CONNECT");
    command.env_remove("TRIPNOTE_WHEN_DOWN").env("XDG_RUNTIME_DIR", runtime);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let input = input.to_owned();
    let run = move || {
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes()); // it may have ended without reading
        child.wait_with_output().unwrap()
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

impl Cli {
    /// The answer, and whether it is a trip.
    async fn ask(&self, arguments: &[&str]) -> (Value, bool) {
        let output = run(&self.0.endpoint, &[arguments, &["--json", "--session", "run"]].concat()).await;
        let status = output.status.code().unwrap();
        assert!([0, 3].contains(&status), "{output:?}");
        (serde_json::from_slice(&output.stdout).unwrap(), status == 3)
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

impl Way for Cli {
    async fn admit(&mut self, line: &Line) -> Option<String> {
        let call = ["admit", "--tool", &line.tool, "--call-id", &line.call_id, "--arguments", &line.arguments];
        let (answer, is_trip) = self.ask(&call).await;
        let trip = text(&answer["trip"]["text"]);
        assert_eq!(trip.is_some(), is_trip, "{answer}");
        trip
    }

    async fn report(&mut self, line: &Line) -> Option<String> {
        let (ack, is_trip) = self.ask(&["report", "--call-id", &line.call_id, "--payload", &line.payload]).await;
        let trip = text(&ack["trip"]["text"]);
        assert_eq!(trip.is_some(), is_trip, "{ack}");
        trip.or_else(|| text(&ack["handling"]["text"]))
    }
}

#[tokio::test]
async fn the_script_by_the_command_line() {
    let mut way = Cli(service().await);
    play(&mut way).await;
    way.0.stop().await;
}
