//! The world that the agents call: tools, what goes wrong with them, and what they answer. Knows no agent and no breaker.

use crate::wire::pb;

/// A tool that agents have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Charge,
    ChargeOld,
    Inventory,
    Prices,
    Search,
    Metrics,
    Logs,
    Report,
    Customer,
    CreateOrder,
    GetOrder,
    Browse,
}

/// How long the second trouble of a relapse lasts.
const RELAPSE_MS: u64 = 60_000;

/// What goes wrong in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// 503 from a service that has a stand-in.
    Outage,
    /// 503 from one that has none.
    OutageAlone,
    /// 503, and when that is over a page in place of JSON: two troubles of one breaker.
    Relapse,
    /// 429 with a `retry-after`.
    Quota,
    /// The same empty answer, however the labels are chosen.
    EmptyLoop,
    /// A page in place of JSON.
    Malformed,
    /// 401.
    Credential,
    /// A write whose reply is lost.
    LostWrite,
}

impl Fault {
    /// Every fault.
    pub(super) const ALL: [Self; 8] = [
        Self::Outage,
        Self::OutageAlone,
        Self::Relapse,
        Self::Quota,
        Self::EmptyLoop,
        Self::Malformed,
        Self::Credential,
        Self::LostWrite,
    ];

    /// The tool that it strikes.
    pub(super) const fn tool(self) -> Tool {
        match self {
            Self::Outage => Tool::Charge,
            Self::OutageAlone => Tool::Inventory,
            Self::Relapse => Tool::Prices,
            Self::Quota => Tool::Search,
            Self::EmptyLoop => Tool::Metrics,
            Self::Malformed => Tool::Report,
            Self::Credential => Tool::Customer,
            Self::LostWrite => Tool::CreateOrder,
        }
    }
}

impl Tool {
    /// Its name, as the model knows it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::ChargeOld => "charge_v1",
            Self::Inventory => "inventory",
            Self::Prices => "prices",
            Self::Search => "search",
            Self::Metrics => "query_prometheus",
            Self::Logs => "query_loki_logs",
            Self::Report => "fetch_report",
            Self::Customer => "customer",
            Self::CreateOrder => "create_order",
            Self::GetOrder => "get_order",
            Self::Browse => "browse",
        }
    }

    /// What it calls in the session of a number; its name where it has no other target.
    pub(super) fn target(self, number: &str) -> String {
        match self {
            Self::Charge => format!("POST /v2/charge/{number}"),
            Self::ChargeOld => "POST /v1/charge".to_owned(),
            Self::Inventory => format!("GET /inventory/{number}"),
            Self::Prices => format!("GET /price/{number}"),
            Self::Search => format!("GET /search/{number}"),
            Self::Report => format!("GET /report/{number}"),
            Self::Customer => format!("GET /customer/{number}"),
            Self::CreateOrder => format!("POST /order/{number}"),
            Self::GetOrder => format!("GET /order/{number}"),
            Self::Metrics | Self::Logs | Self::Browse => self.name().to_owned(),
        }
    }
}

/// One call that an agent makes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// With which tool.
    pub(super) tool: Tool,
    /// Which thing is asked for: another thing is another question.
    pub(super) thing: u32,
    /// In which words.
    pub(super) wording: u32,
}

impl Question {
    /// In the first words.
    pub(super) const fn of(tool: Tool, thing: u32) -> Self {
        Self { tool, thing, wording: 0 }
    }

    /// Whether both ask the same of the same tool. A metric stays the same under other labels; elsewhere every argument
    /// is part of the question.
    pub(super) fn asks_as(&self, other: &Self) -> bool {
        let is_reworded = self.wording != other.wording && self.tool != Tool::Metrics;
        self.tool == other.tool && self.thing == other.thing && !is_reworded
    }

    /// The arguments; `is_turned` writes the same members in another order, which is the same call.
    pub(super) fn arguments(&self, is_turned: bool) -> String {
        let Self { thing, wording, .. } = self;
        let (first, second) = match self.tool {
            Tool::Metrics => {
                let query = format!(r#""expr":"sum(thing_{thing}_total{{pod=\"p{wording}\"}})""#);
                (query, r#""step":60"#.to_owned())
            }
            Tool::Charge
            | Tool::ChargeOld
            | Tool::Inventory
            | Tool::Prices
            | Tool::Search
            | Tool::Logs
            | Tool::Report
            | Tool::Customer
            | Tool::CreateOrder
            | Tool::GetOrder
            | Tool::Browse => (format!(r#""thing":{thing}"#), format!(r#""note":"words {wording}""#)),
        };
        if is_turned { format!("{{ {second}, {first} }}") } else { format!("{{{first},{second}}}") }
    }
}

/// What a call came to.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// What was seen on the wire.
    pub(super) facts: pb::TransportFacts,
    /// The body.
    pub(super) body: String,
    /// Whether it holds what was asked for.
    pub(super) is_usable: bool,
}

/// The trouble of one session, and until when it lasts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trouble {
    /// What goes wrong.
    pub(super) fault: Fault,
    /// From then on all is well. None: it stays.
    pub(super) until_ms: Option<u64>,
}

impl Trouble {
    /// What a call comes to. A lost write did happen; after it the tool works.
    pub(super) fn answer(&self, question: &Question, now_ms: u64) -> Answer {
        let is_over_at = |until_ms: u64| now_ms >= until_ms;
        let is_struck = question.tool == self.fault.tool();
        let is_second = self.fault == Fault::Relapse && self.until_ms.is_some_and(is_over_at);
        let is_over = self.until_ms.is_some_and(|until_ms| is_over_at(until_ms + u64::from(is_second) * RELAPSE_MS));
        // an empty metric has nothing to tell; others have
        if !is_struck || is_over || (self.fault == Fault::EmptyLoop && question.thing > 0) {
            return good(question);
        }
        match self.fault {
            Fault::Relapse if is_second => page(),
            Fault::Outage | Fault::OutageAlone | Fault::Relapse => failed(503, r#"{"error":"unavailable"}"#),
            Fault::Quota => {
                let header = pb::Header { name: "retry-after".to_owned(), value: "20".to_owned() };
                let mut answer = failed(429, r#"{"error":"too many requests"}"#);
                answer.facts.headers.push(header);
                answer
            }
            Fault::EmptyLoop => {
                let empty = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
                Answer { is_usable: false, ..answered(200, empty) }
            }
            Fault::Malformed => page(),
            Fault::Credential => failed(401, r#"{"error":"token expired"}"#),
            Fault::LostWrite => {
                let facts = pb::TransportFacts { error_kind: pb::ErrorKind::Timeout.into(), ..Default::default() };
                Answer { facts, body: String::new(), is_usable: false }
            }
        }
    }
}

fn good(question: &Question) -> Answer {
    let Question { thing, wording, .. } = question;
    match question.tool {
        Tool::Metrics => {
            let sample = format!(r#"{{"metric":{{"pod":"p{wording}"}},"value":[1767276090,"{thing}"]}}"#);
            answered(200, &format!(r#"{{"status":"success","data":{{"resultType":"vector","result":[{sample}]}}}}"#))
        }
        Tool::Logs => {
            let stream = format!(r#"{{"stream":{{"app":"a{thing}"}},"values":[["1767276090000000000","line"]]}}"#);
            answered(200, &format!(r#"{{"status":"success","data":{{"resultType":"streams","result":[{stream}]}}}}"#))
        }
        Tool::Charge
        | Tool::ChargeOld
        | Tool::Inventory
        | Tool::Prices
        | Tool::Search
        | Tool::Report
        | Tool::Customer
        | Tool::CreateOrder
        | Tool::GetOrder
        | Tool::Browse => answered(200, &format!(r#"{{"thing":{thing},"found":["a","b"]}}"#)),
    }
}

fn page() -> Answer {
    let mut answer = failed(200, "<!doctype html><html><body>Sign in</body></html>");
    answer.facts.error_kind = pb::ErrorKind::MalformedBody.into();
    answer
}

fn answered(status: u32, body: &str) -> Answer {
    let facts = pb::TransportFacts { http_status: Some(status), ..Default::default() };
    Answer { facts, body: body.to_owned(), is_usable: true }
}

fn failed(status: u32, body: &str) -> Answer {
    Answer { is_usable: false, ..answered(status, body) }
}
