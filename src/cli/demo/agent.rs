//! A scripted stand-in for a model. It knows its plan and its tools, and decides from nothing but the text of each tool
//! result: what orders a next step is followed, any other error is tried again in other words.

use serde_json::{Map, Value, json};

use super::harness::TOOLS;

/// How the request of one step is worded, try after try; with the last one the agent has run out of ideas.
const WORDINGS: [&str; 5] =
    ["charge invoice", "please charge invoice", "charge the invoice", "retry charge", "charge now"];
/// How often the agent waits for the same step.
const WAITS_MAX: u32 = 2;
/// How long it waits where it is told to and reads no time.
const WAIT_MS: u64 = 30_000;

/// One call that the agent wants to make.
#[derive(Clone, Debug)]
pub(super) struct ToolCall {
    /// The tool, by its name.
    pub(super) tool: String,
    /// Its arguments.
    pub(super) arguments: Value,
}

/// What the agent makes of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The plan holds: the next step.
    GoOn,
    /// The same tool again, in other words.
    Again,
    /// Another tool for this step, from now on.
    Switch(String),
    /// The same call after this time, in milliseconds.
    Wait(u64),
    /// The invoice stays as it is.
    GiveUp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Read,
    Charge,
    Write,
}

/// The agent and where it is in its plan.
#[derive(Debug)]
pub(super) struct Agent {
    charge_tool: String,
    invoice: String,
    cents: Value,
    step: Option<Step>,
    tries: usize,
    waits: u32,
}

impl Agent {
    /// An agent that knows its job and nothing of any trouble.
    pub(super) fn new() -> Self {
        Self {
            charge_tool: "payments_api_v2".to_owned(),
            invoice: String::new(),
            cents: Value::Null,
            step: None,
            tries: 0,
            waits: 0,
        }
    }

    /// Takes up an invoice.
    pub(super) fn begin(&mut self, invoice: &str) {
        self.invoice = invoice.to_owned();
        self.enter(Some(Step::Read));
    }

    fn enter(&mut self, step: Option<Step>) {
        (self.step, self.tries, self.waits) = (step, 0, 0);
    }

    /// The call that it wants to make now; none when it is through with the invoice.
    pub(super) fn next_call(&self) -> Option<ToolCall> {
        let invoice = &self.invoice;
        let wording = WORDINGS.get(self.tries).copied().unwrap_or_default();
        let (tool, arguments) = match self.step? {
            Step::Read => ("ledger", json!({ "invoice": invoice })),
            Step::Charge => {
                let memo = format!("{wording} {invoice}");
                let order = json!({ "invoice": invoice, "cents": self.cents, "memo": memo });
                (self.charge_tool.as_str(), order)
            }
            Step::Write => ("warehouse", json!({ "invoice": invoice, "charged_with": self.charge_tool })),
        };
        Some(ToolCall { tool: tool.to_owned(), arguments })
    }

    /// Reads a result and changes its plan accordingly.
    pub(super) fn read(&mut self, text: &str) -> Next {
        let next = self.decide(text);
        match &next {
            Next::GoOn => self.enter(match self.step {
                Some(Step::Read) => Some(Step::Charge),
                Some(Step::Charge) => Some(Step::Write),
                Some(Step::Write) | None => None,
            }),
            Next::Again => self.tries += 1,
            Next::Switch(tool) => {
                tool.clone_into(&mut self.charge_tool);
                self.enter(self.step);
            }
            Next::Wait(_) => self.waits += 1,
            Next::GiveUp => self.enter(None),
        }
        next
    }

    fn decide(&mut self, text: &str) -> Next {
        let Ok(Value::Object(result)) = serde_json::from_str(text) else {
            return self.again();
        };
        if let Some(action) = word(&result, "action") {
            return self.obey(action, &result);
        }
        if result.contains_key("error") {
            return self.again();
        }
        if self.step == Some(Step::Read) {
            self.cents = result.get("cents").cloned().unwrap_or_default();
        }
        Next::GoOn
    }

    /// An error that says nothing of what to do: once more, as long as there are words left.
    fn again(&self) -> Next {
        if self.tries + 1 < WORDINGS.len() { Next::Again } else { Next::GiveUp }
    }

    /// A contract says what to do.
    fn obey(&self, action: &str, contract: &Map<String, Value>) -> Next {
        match action {
            "switch_to_fallback" => {
                // the name stands before its note
                let name =
                    word(contract, "fallback").and_then(|fallback| fallback.split(',').next()).unwrap_or_default();
                let is_mine = self.step == Some(Step::Charge) && TOOLS.iter().any(|(tool, ..)| *tool == name);
                if is_mine { Next::Switch(name.to_owned()) } else { Next::GiveUp }
            }
            "await_recovery" | "wait_for_quota" | "call_in_next_wave" if self.waits < WAITS_MAX => {
                Next::Wait(word(contract, "state").and_then(wait_ms).unwrap_or(WAIT_MS))
            }
            _ => Next::GiveUp,
        }
    }
}

fn word<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}

/// The wait that a `state` names: `… (about 40 seconds from now) …`.
fn wait_ms(state: &str) -> Option<u64> {
    let (_, hint) = state.split_once("about ")?;
    let mut words = hint.split(' ');
    let n: u64 = words.next()?.parse().ok()?;
    let unit = words.next()?;
    let units = [("second", 1_000), ("minute", 60_000), ("hour", 3_600_000)];
    let (_, unit_ms) = units.iter().find(|(name, _)| unit.starts_with(name))?;
    n.checked_mul(*unit_ms)
}

#[cfg(test)]
mod tests {
    use super::{Agent, Next, WAITS_MAX, WORDINGS, wait_ms};

    fn at_charge() -> Agent {
        let mut agent = Agent::new();
        agent.begin("INV-1");
        assert_eq!(agent.read(r#"{"invoice":"INV-1","cents":1450}"#), Next::GoOn);
        agent
    }

    #[test]
    fn an_error_without_a_next_step_is_tried_again_in_other_words_until_they_run_out() {
        for text in [r#"{"error":"Tool call failed. Please try again."}"#, "HTTP 503: oops", ""] {
            let mut agent = at_charge();
            let mut asked = vec![];
            while let Some(call) = agent.next_call() {
                assert_eq!(call.tool, "payments_api_v2");
                asked.push(call.arguments.to_string());
                agent.read(text);
            }
            asked.dedup();
            assert_eq!(asked.len(), WORDINGS.len());
        }
    }

    #[test]
    fn the_named_fallback_is_used_from_then_on() {
        let mut agent = at_charge();
        let contract = r#"{"action":"switch_to_fallback","fallback":"payments_api_v1, same request shape"}"#;
        assert_eq!(agent.read(contract), Next::Switch("payments_api_v1".to_owned()));
        assert_eq!(agent.next_call().unwrap().tool, "payments_api_v1");
        assert_eq!(agent.next_call().unwrap().arguments["cents"], 1450);
        agent.begin("INV-2");
        agent.read(r#"{"cents":1}"#);
        assert_eq!(agent.next_call().unwrap().tool, "payments_api_v1");
    }

    #[test]
    fn a_tool_that_it_does_not_have_is_not_called() {
        let contract = r#"{"action":"switch_to_fallback","fallback":"none"}"#;
        assert_eq!(at_charge().read(contract), Next::GiveUp);
    }

    #[test]
    fn it_waits_as_long_as_it_is_told_and_not_for_ever() {
        let contract =
            r#"{"action":"await_recovery","state":"open until 14:02:10Z (about 40 seconds from now), then half_open"}"#;
        let mut agent = at_charge();
        for _ in 0..WAITS_MAX {
            assert_eq!(agent.read(contract), Next::Wait(40_000));
            assert_eq!(agent.next_call().unwrap().tool, "payments_api_v2");
        }
        assert_eq!(agent.read(contract), Next::GiveUp);
        assert_eq!(wait_ms("open for about 2 minutes, then half_open"), Some(120_000));
        assert_eq!(wait_ms("open until an operator releases it"), None);
    }

    #[test]
    fn an_order_to_stop_ends_the_invoice() {
        for action in ["stop_and_escalate", "halt_with_partial_findings", "a_word_of_tomorrow"] {
            let mut agent = at_charge();
            assert_eq!(agent.read(&format!(r#"{{"action":"{action}"}}"#)), Next::GiveUp);
            assert!(agent.next_call().is_none());
        }
    }
}
