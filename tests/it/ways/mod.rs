//! One script through every way in: what a model sees is the same, to the byte.

pub(crate) mod cli;
mod grpc;
mod hooks;
mod http;

use serde_json::Value;

use crate::support::TestServer;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/ways");

/// One call of the script.
pub(crate) struct Line {
    pub(crate) call_id: String,
    pub(crate) tool: String,
    /// As JSON, without blanks.
    pub(crate) arguments: String,
    pub(crate) payload: String,
    pub(crate) failed: bool,
    admit: String,
    report: String,
}

/// A way in. What is not refused, and what is delivered as it is, is none.
pub(crate) trait Way {
    async fn admit(&mut self, line: &Line) -> Option<String>;
    async fn report(&mut self, line: &Line) -> Option<String>;
}

fn script() -> Vec<Line> {
    let text = std::fs::read_to_string(format!("{FOLDER}/scenario.jsonl")).unwrap();
    let text_of = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        Line {
            call_id: text_of(&line, "call_id"),
            tool: text_of(&line, "tool"),
            arguments: line["arguments"].to_string(),
            payload: text_of(&line, "payload"),
            failed: line["failed"].as_bool().unwrap_or(false),
            admit: text_of(&line, "admit"),
            report: text_of(&line, "report"),
        }
    };
    text.lines().map(line).collect()
}

/// A service as the script wants it.
pub(crate) async fn service() -> TestServer {
    TestServer::start(&std::fs::read_to_string(format!("{FOLDER}/tripnote.toml")).unwrap()).await
}

/// Goes through the script.
pub(crate) async fn play(way: &mut impl Way) {
    let script = script();
    assert!(script.len() >= 9, "the script is cut");
    for line in &script {
        let told = way.admit(line).await;
        assert_eq!(told.as_deref().unwrap_or("go"), line.admit, "admit of {}", line.call_id);
        if told.is_none() {
            let told = way.report(line).await;
            assert_eq!(told.as_deref().unwrap_or("deliver"), line.report, "report of {}", line.call_id);
        }
    }
}
