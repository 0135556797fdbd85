//! Payloads of the sizes and shapes that agents meet.

use tripnote::domain::observation::Observation;

/// A payload and what it is.
pub(crate) struct Payload {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) expected: Observation,
    /// Whether the goals of spec 11 are about it.
    pub(crate) has_goals: bool,
}

const LARGE: usize = 100_000;
const MIDDLE: usize = 2_000;

pub(crate) fn payloads() -> Vec<Payload> {
    let of = |name, text: String, expected| Payload { name, bytes: text.into_bytes(), expected, has_goals: false };
    let error = r#"{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"27s"}]}}"#;
    let line = "2026-11-30 21:00:00 INFO  api: served GET /v2/charge in 12 ms for 10.0.0.7\n";
    vec![
        Payload { has_goals: true, ..of("Prometheus matrix", matrix(LARGE), Observation::Observed) },
        of("Prometheus matrix", matrix(MIDDLE), Observation::Observed),
        of("Prometheus vector", vector(), Observation::Observed),
        of("log lines in an array", logs(LARGE), Observation::Observed),
        of("log lines in an array", logs(MIDDLE), Observation::Observed),
        of("the matrix as an MCP text", mcp(&matrix(LARGE)), Observation::Observed),
        of("an MCP text of two words", mcp("all good"), Observation::Observed),
        of("an error of Google", error.to_owned(), Observation::Unavailable),
        of("nothing found", r#"{"items":[],"total":0}"#.to_owned(), Observation::Empty),
        of("plain text", line.repeat(LARGE / line.len()), Observation::Observed),
        of("plain text", line.repeat(MIDDLE / line.len()), Observation::Observed),
    ]
}

/// Items, one after the other, until a text is so long.
fn filled(head: &str, bytes: usize, tail: &str, item: impl Fn(usize) -> String) -> String {
    let mut text = head.to_owned();
    for at in 0.. {
        if text.len() >= bytes {
            break;
        }
        let separator = if at == 0 { "" } else { "," };
        text = text + separator + &item(at);
    }
    text + tail
}

/// An hour in steps of 30 seconds for as many series as fit.
fn matrix(bytes: usize) -> String {
    let sample = |series: usize, at: usize| {
        let value = (series * 7_919 + at * 104_729) % 1_000_000;
        format!("[{},\"{}.{:03}\"]", 1_788_264_000 + at * 30, value / 1_000, value % 1_000)
    };
    filled(r#"{"status":"success","data":{"resultType":"matrix","result":["#, bytes, "]}}", |series| {
        let samples: Vec<String> = (0..120.min(bytes / 40)).map(|at| sample(series, at)).collect();
        let labels =
            format!(r#""__name__":"http_requests_total","instance":"10.0.0.{series}:9090","job":"api","code":"200""#);
        format!(r#"{{"metric":{{{labels}}},"values":[{}]}}"#, samples.join(","))
    })
}

fn vector() -> String {
    let sample = r#"{"metric":{"__name__":"up","job":"api"},"value":[1788264000.781,"1"]}"#;
    format!(r#"{{"status":"success","data":{{"resultType":"vector","result":[{sample}]}}}}"#)
}

fn logs(bytes: usize) -> String {
    filled(r#"{"logs":["#, bytes, "]}", |at| {
        format!(
            r#"{{"timestamp":"2026-11-30T21:{:02}:{:02}Z","level":"info","service":"api","message":"served \"GET /v2/charge/{at}\" in {} ms","trace_id":"4bf92f3577b34da6a3ce929d0e0e{:04x}"}}"#,
            at / 60 % 60,
            at % 60,
            at * 31 % 900,
            at % 65_536,
        )
    })
}

fn mcp(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    format!(r#"{{"content":[{{"type":"text","text":{quoted}}}],"isError":false}}"#)
}
