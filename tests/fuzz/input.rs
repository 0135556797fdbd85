//! How bytes tell a result: eight choices, then the payload. Seeds are written and inputs read by the same layout.

#![allow(dead_code, reason = "the target reads, the seeds write")]

use std::sync::Arc;

use tripnote::domain::ids::Code;
use tripnote::domain::observation::custom::{Condition, CustomFormat, Holds};
use tripnote::domain::observation::transport::{Carrier, ErrorKind, TransportFacts};
use tripnote::domain::observation::{Format, FormatChoice};
use tripnote::domain::tool::{Effect, Tool, Tools};

/// The choices in front of the payload, a byte each.
pub const CHOICES: usize = 8;
/// Names of tools: plain ones, readers and catalogues of the table, processes of every sort.
pub const TOOLS: &[&str] = &[
    "anything",
    "query_prometheus",
    "query_loki_logs",
    "http_get",
    "llm_call",
    "Read",
    "WebFetch",
    "list_datasources",
    "list_prometheus_metric_names",
    "mcp__files__read_file",
    "Write",
    "shell:grep",
    "shell:cat",
    "shell:curl",
    "shell:diff",
    "shell:cargo",
    "shell:pytest",
    "shell:ls",
    "bash: python3 run.py",
    "shell:wget",
];
pub const HTTP: &[u16] = &[
    0, 200, 201, 202, 204, 206, 301, 302, 304, 400, 401, 402, 403, 404, 405, 408, 409, 413, 422, 429, 451, 499, 500,
    502, 503, 504, 529, 599, 100, 999,
];
pub const EXITS: &[i32] = &[0, 1, 2, 3, 5, 7, 22, 28, 124, 126, 127, 130, 137, -1];
pub const KINDS: &[ErrorKind] = &[
    ErrorKind::ConnectRefused,
    ErrorKind::Dns,
    ErrorKind::Tls,
    ErrorKind::Reset,
    ErrorKind::Timeout,
    ErrorKind::CancelledByCaller,
    ErrorKind::RefusedByHost,
    ErrorKind::NotSent,
    ErrorKind::MalformedBody,
];
const HEADERS: &[&[(&str, &str)]] = &[
    &[],
    &[("Retry-After", "12")],
    &[("retry-after-ms", "-7"), ("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")],
    &[("Date", "Wed, 21 Oct 2026 07:28:00 GMT"), ("retry-after", "Thu, 22 Oct 2026 07:28:00 GMT")],
    &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "99999999999999999999")],
    &[("ratelimit", "limit=10, remaining=0, reset=30")],
    &[("link", "<https://a/?page=2>; rel=\"next\"")],
    &[("location", "https://sso.example/login")],
    &[("x-clickhouse-exception-code", "159"), ("x-clickhouse-summary", "{}")],
    &[("x-amzn-errortype", "ThrottlingException:http://internal/")],
    &[("x-github-request-id", "A"), ("content-type", "application/json; charset=utf-8")],
];
pub const MEDIA: &[Option<&str>] = &[
    None,
    Some("application/json"),
    Some("text/html"),
    Some("text/event-stream"),
    Some("application/problem+json"),
    Some("application/graphql-response+json"),
    Some("text/plain"),
    Some(";"),
];
const ARGUMENTS: &[Option<&str>] = &[
    None,
    Some("{}"),
    Some("not json"),
    Some(r#"{"query":"up{job=\"api\"}","datasourceUid":"prom-1","n":17}"#),
    Some(r#"["timeout","errors",["not found"]]"#),
    Some("{\"cluster\":\"\u{e9}\u{e9}\u{e9}\u{e9}\",\"region\":null}"),
];
/// How a payload is wrapped before it is a result.
pub const WRAPS: u8 = 12;

/// A result, in parts that can be borrowed.
#[derive(Debug)]
pub struct Input {
    pub tool_name: &'static str,
    pub tool: Tool,
    pub transport: TransportFacts,
    pub payload: Option<Vec<u8>>,
    pub content_type: Option<&'static str>,
    pub arguments: Option<Vec<u8>>,
    pub is_cut_by_caller: bool,
    pub custom: Vec<Arc<CustomFormat>>,
    pub second: Second,
}

/// What is asked a second time, at a cost.
#[derive(Clone, Copy, Debug)]
pub enum Second {
    None,
    /// The same, which must answer the same.
    Same,
    /// The same with blanks around it.
    Padded,
}

fn pick<T: Copy>(list: &[T], choice: u8) -> T {
    list[usize::from(choice) % list.len()]
}

impl Input {
    /// None for less than the choices.
    pub fn of(data: &[u8]) -> Option<Self> {
        let (choices, payload) = data.split_at_checked(CHOICES)?;
        let [tool, carrier, status, headers, media, custom, wrap, arguments] = *choices else { return None };
        let tool_name = pick(TOOLS, tool);
        let mut known = Tools::default().of(tool_name).clone();
        let taught = Arc::new(taught());
        match custom >> 4 {
            1 => known.is_opaque = true,
            2 => known.effect = Effect::Mutate,
            3 => known.format = Some(FormatChoice::Custom(Arc::clone(&taught))),
            4..=11 => known.format = Some(FormatChoice::BuiltIn(pick(Format::ALL, custom))),
            _ => {}
        }
        Some(Self {
            tool_name,
            tool: known,
            transport: transport(carrier, status, headers & 0xf),
            payload: (media & 0x40 == 0).then(|| wrapped(payload, wrap)),
            content_type: pick(MEDIA, media & 0x1f),
            arguments: if arguments & 0x80 != 0 {
                Some(echo(payload))
            } else {
                pick(ARGUMENTS, arguments).map(|text| text.into())
            },
            is_cut_by_caller: media & 0x80 != 0,
            custom: if custom & 1 == 1 { vec![taught] } else { Vec::new() },
            second: pick(&[Second::None, Second::Padded, Second::None, Second::Same], headers >> 4),
        })
    }
}

fn transport(carrier: u8, status: u8, headers: u8) -> TransportFacts {
    let mut facts = TransportFacts::default();
    facts.carrier = pick(
        &[None, Some(Carrier::Http), Some(Carrier::Grpc), Some(Carrier::Mcp), Some(Carrier::Process)],
        carrier & 0x1f,
    );
    facts.http_status = Some(pick(HTTP, status)).filter(|status| *status > 0 && carrier & 0x80 == 0);
    match carrier >> 5 & 3 {
        1 => facts.grpc_code = Some(status % 18),
        2 => facts.exit_code = Some(pick(EXITS, status)),
        3 => facts.error_kind = Some(pick(KINDS, status)),
        _ => {}
    }
    facts.headers =
        pick(HEADERS, headers).iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    facts
}

/// Arguments that hold what the payload says, as an error repeats its question.
fn echo(payload: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(payload);
    let words: Vec<&str> = text.split([' ', '"', ',']).take(40).collect();
    serde_json::json!({ "query": words.first(), "cluster": words.get(1), "words": words }).to_string().into_bytes()
}

fn wrapped(payload: &[u8], wrap: u8) -> Vec<u8> {
    let raw = || String::from_utf8_lossy(payload).into_owned();
    let quoted = || serde_json::Value::String(raw()).to_string();
    let blocks =
        |is_error: bool| format!(r#"{{"content":[{{"type":"text","text":{}}}],"isError":{is_error}}}"#, quoted());
    let text = match wrap % WRAPS {
        1 => blocks(false),
        2 => blocks(true),
        3 => format!(r#"{{"structuredContent":{},"content":[]}}"#, raw()),
        4 => format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, raw()),
        5 => format!(r#"{{"jsonrpc":"2.0","id":1,"error":{}}}"#, raw()),
        6 => format!(r#"{{"stdout":{},"stderr":"","exit_code":0}}"#, quoted()),
        7 => format!(r#"{{"stdout":"","stderr":{},"exit_code":2}}"#, quoted()),
        8 => format!(r#"{{"content":[{{"type":"text","text":{0}}},{{"type":"text","text":{0}}}]}}"#, quoted()),
        9 => format!("event: message\ndata: {}\n\n", raw().replace('\n', " ")),
        10 => format!("{}... [1234 characters truncated]", raw()),
        11 => format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, blocks(true)),
        _ => return payload.to_vec(),
    };
    text.into_bytes()
}

/// An operator's own envelope, over names that payloads have.
fn taught() -> CustomFormat {
    let when = |at: &str, holds| vec![Condition { at: at.into(), holds }];
    CustomFormat {
        name: Code::parse("own").unwrap(),
        recognised_when: when("/ours", Holds::Present(true)),
        failed_when: when("/error", Holds::Present(true)),
        unavailable_when: when("/data/0/status", Holds::Is(vec!["down".into(), "503".into()])),
        truncated_when: when("/a~1b", Holds::Empty(false)),
        empty_when: when("/data", Holds::Empty(true)),
    }
}
