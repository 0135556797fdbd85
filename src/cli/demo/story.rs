//! How the demo is told: a line a turn, the contract in full where one comes, and the counts at the end. Fits 100
//! columns.

use std::net::SocketAddr;

use serde_json::Value;

use super::Tally;
use super::agent::Next;
use super::harness::{Fate, Seen};
use crate::cli::Manner;
use crate::cli::json::Object;
use crate::cli::text::{Paint, Tone, clean, count, fit, pad, span};
use crate::domain::contract::Variant;

/// Columns of what the agent reads.
const READS: usize = 38;
/// Columns of a field of the contract.
const VALUE: usize = 74;
/// Columns of the labels in the summary, and of each figure.
const LABEL: usize = 30;
const FIGURE: usize = 17;

/// Where lines go.
pub(super) type Sink<'a> = &'a mut dyn FnMut(&str) -> anyhow::Result<()>;

/// The teller.
pub(super) struct Story<'a> {
    manner: Manner,
    sink: Sink<'a>,
}

/// One turn of the agent.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    /// Which run.
    pub(super) variant: Variant,
    /// From 1.
    pub(super) number: u32,
    /// On the agent's clock.
    pub(super) at_ms: u64,
    /// What it works at.
    pub(super) invoice: &'a str,
    /// What it called.
    pub(super) tool: &'a str,
    /// What came of it.
    pub(super) seen: &'a Seen,
    /// What the agent made of it.
    pub(super) next: &'a Next,
}

impl<'a> Story<'a> {
    /// A story that goes to `sink`.
    pub(super) const fn new(manner: Manner, sink: Sink<'a>) -> Self {
        Self { manner, sink }
    }

    fn say(&mut self, line: &str) -> anyhow::Result<()> {
        (self.sink)(line)
    }

    fn dye(&self, tone: Tone, text: &str) -> String {
        self.manner.paint.dye(tone, text)
    }

    /// What it is about.
    pub(super) fn open(&mut self, invoices: usize, turn_ms: u64) -> anyhow::Result<()> {
        if self.manner.is_json {
            return Ok(());
        }
        let title =
            self.dye(Tone::Strong, "One job, run twice. Only the text that a refusal puts before the agent differs.");
        self.say(&title)?;
        self.say(&format!(
            "For each of {invoices} invoices: read the ledger, charge, write to the warehouse. The API's\n\
             POST /v2/charge takes the first charge and then answers 503. The agent is a script that does what\n\
             its tool results say; no model is called. Service (gRPC) and API (HTTP) are real, on this machine;\n\
             time is told, not waited for: {} a turn.",
            span(turn_ms)
        ))
    }

    /// A run begins.
    pub(super) fn run(
        &mut self,
        number: usize,
        variant: Variant,
        service: &str,
        api: SocketAddr,
    ) -> anyhow::Result<()> {
        if self.manner.is_json {
            let run = Object::default().with("type", "run").with("variant", variant.word());
            return self.say(&run.with("service", service).with("api", api.to_string()).line()?);
        }
        let title = self.dye(Tone::Strong, &format!("Run {number}: {}", name(variant)));
        let places = self.dye(Tone::Quiet, &format!("contract.variant = \"{variant}\", service {service}, API {api}"));
        let columns = ["turn", "time", "invoice", "calls            result  ", &pad("reads", READS), "and"];
        let columns = self.dye(Tone::Quiet, &columns.join("  "));
        self.say(&format!("\n{title}  {places}\n{columns}"))
    }

    /// A turn was made.
    pub(super) fn turn(&mut self, turn: &Turn<'_>) -> anyhow::Result<()> {
        let line = if self.manner.is_json { turn.object().line()? } else { turn.lines(self.manner.paint) };
        self.say(&line)
    }

    /// The counts and what they say.
    pub(super) fn close(&mut self, tallies: &[Tally; 2], invoices: usize) -> anyhow::Result<()> {
        let [first, second] = tallies;
        let sentence = format!(
            "With {} the agent wasted {} instead of {} and charged {} of {} instead of {}.",
            name(second.variant),
            count(second.wasted().into(), "call"),
            first.wasted(),
            second.charged,
            count(u64::try_from(invoices).unwrap_or(u64::MAX), "invoice"),
            first.charged,
        );
        if self.manner.is_json {
            for tally in tallies {
                self.say(&tally.object(invoices).line()?)?;
            }
            return self.say(&Object::default().with("type", "conclusion").with("text", sentence).line()?);
        }
        let heading = format!("{:<LABEL$}{:>FIGURE$}{:>FIGURE$}", "", name(first.variant), name(second.variant));
        let heading = self.dye(Tone::Strong, &heading);
        self.say(&format!("\n{heading}"))?;
        for (label, [first, second]) in rows(tallies, invoices) {
            self.say(&format!("{label:<LABEL$}{first:>FIGURE$}{second:>FIGURE$}"))?;
        }
        let sentence = self.dye(Tone::Good, &sentence);
        self.say(&format!(
            "\n{sentence}\nNext: `tripnote serve`, and in another shell `tripnote admit 'POST /v2/charge'`."
        ))
    }
}

const fn name(variant: Variant) -> &'static str {
    match variant {
        Variant::Weak => "the weak message",
        Variant::Contract | Variant::ContractLines => "the contract",
        Variant::Silent => "no message",
    }
}

fn rows(tallies: &[Tally; 2], invoices: usize) -> [(&'static str, [String; 2]); 8] {
    let each = |figure: &dyn Fn(&Tally) -> String| tallies.each_ref().map(figure);
    [
        ("tool calls asked", each(&|it| it.asked.to_string())),
        ("  refused by the breaker", each(&|it| it.refused.to_string())),
        ("  failed upstream", each(&|it| it.failed.to_string())),
        ("  wasted: refused or failed", each(&|it| it.wasted().to_string())),
        ("HTTP requests to /v2/charge", each(&|it| it.v2_requests.to_string())),
        ("invoices charged", each(&|it| format!("{} of {invoices}", it.charged))),
        ("turns", each(&|it| it.turns.to_string())),
        ("time on the agent's clock", each(&|it| span(it.took_ms))),
    ]
}

impl Tally {
    fn object(&self, invoices: usize) -> Object {
        Object::default()
            .with("type", "summary")
            .with("variant", self.variant.word())
            .with("asked", self.asked)
            .with("refused", self.refused)
            .with("failed", self.failed)
            .with("wasted", self.wasted())
            .with("http_requests_to_v2", self.v2_requests)
            .with("invoices", invoices)
            .with("charged", self.charged)
            .with("turns", self.turns)
            .with("took_ms", self.took_ms)
    }
}

impl Turn<'_> {
    fn object(&self) -> Object {
        let (result, status) = match self.seen.fate {
            Fate::Refused => ("refused", None),
            Fate::Failed(status) => ("failed", status),
            Fate::Done(status) => ("done", Some(status)),
        };
        let (next, next_tool, wait_ms) = match self.next {
            Next::GoOn => ("go_on", None, None),
            Next::Again => ("try_again", None, None),
            Next::Switch(tool) => ("switch_tool", Some(tool.as_str()), None),
            Next::Wait(ms) => ("wait", None, Some(*ms)),
            Next::GiveUp => ("give_up", None, None),
        };
        Object::default()
            .with("type", "turn")
            .with("variant", self.variant.word())
            .with("turn", self.number)
            .with("at_ms", self.at_ms)
            .with("invoice", self.invoice)
            .with("tool", self.tool)
            .with("target", self.seen.target.as_str())
            .with("result", result)
            .with_some("http_status", status)
            .with("text", self.seen.text.as_str())
            .with("next", next)
            .with_some("next_tool", next_tool)
            .with_some("wait_ms", wait_ms)
    }

    /// The turn in a line; a contract follows in full, as it is what the story is about.
    fn lines(&self, paint: Paint) -> String {
        let (tone, result) = match self.seen.fate {
            Fate::Refused => (Tone::Warn, "refused".to_owned()),
            Fate::Failed(Some(status)) => (Tone::Bad, status.to_string()),
            Fate::Failed(None) => (Tone::Bad, "failed".to_owned()),
            Fate::Done(status) => (Tone::Good, status.to_string()),
        };
        let contract = self.contract();
        let (reads_tone, reads) = if contract.is_some() {
            (Tone::Strong, "the contract".to_owned())
        } else {
            (if self.seen.is_trip { Tone::Warn } else { Tone::Quiet }, self.plain_text())
        };
        let seconds = self.at_ms / 1_000;
        let columns = [
            format!("{:>4}", self.number),
            format!("{}:{:02}", seconds / 60, seconds % 60),
            pad(self.invoice, 7),
            pad(self.tool, 15),
            paint.dye(tone, &pad(&result, 7)),
            paint.dye(reads_tone, &pad(&reads, READS)),
            self.next_dyed(paint),
        ];
        let mut lines = columns.join("  ");
        for (name, value) in contract.into_iter().flatten() {
            let value = if name == "action" { paint.dye(Tone::Good, &value) } else { value };
            lines.push_str(&format!("\n{:13}{} {value}", "", paint.dye(Tone::Quiet, &format!("| {name:<9}"))));
        }
        lines
    }

    /// The text, a bare error without its wrapping.
    fn plain_text(&self) -> String {
        let parsed = serde_json::from_str::<Value>(&self.seen.text).unwrap_or_default();
        match parsed.get("error").and_then(Value::as_str) {
            Some(error) => format!("\"{}\"", clean(error)),
            None => clean(&self.seen.text),
        }
    }

    /// The fields of a contract, in its order, if the text is one.
    fn contract(&self) -> Option<Vec<(&'static str, String)>> {
        const NAMES: [&str; 9] =
            ["action", "breaker", "target", "signal", "observed", "threshold", "state", "do_not", "fallback"];
        let parsed = serde_json::from_str::<Value>(&self.seen.text).unwrap_or_default();
        let field = |name: &'static str| {
            let value = parsed.get(name).and_then(Value::as_str)?;
            Some((name, fit(&clean(value), VALUE)))
        };
        NAMES.into_iter().map(field).collect()
    }

    fn next_words(&self) -> String {
        match self.next {
            Next::GoOn => "goes on".to_owned(),
            Next::Again => "tries again".to_owned(),
            Next::Switch(_) => "switches tool".to_owned(),
            Next::Wait(ms) => format!("waits {}", span(*ms)),
            Next::GiveUp => "gives up".to_owned(),
        }
    }

    fn next_dyed(&self, paint: Paint) -> String {
        let words = self.next_words();
        match self.next {
            Next::GoOn => paint.dye(Tone::Quiet, &words),
            Next::Again => words,
            Next::Switch(_) | Next::Wait(_) => paint.dye(Tone::Good, &words),
            Next::GiveUp => paint.dye(Tone::Bad, &words),
        }
    }
}
