//! Who must act on a result: the agent's host, or the model, and with which words (spec 3.5).

mod step;

use super::outcome::Classification;
use super::{Observation, RetryHint, Typing};
use crate::domain::failure::FailureClass;
use crate::domain::ids::SafeText;
use crate::domain::signal::{CircuitKind, Signal, closed_words};
use crate::domain::tool::Effect;
pub use step::FailedStep;

closed_words! {
    /// What the caller does with a result; the first that applies.
    Disposition {
        /// A circuit was opened by it, or a session guard halts: the model gets the contract in place of the result.
        Trip = "trip",
        /// A session guard steers: the model gets the result, and the contract under it.
        Steer = "steer",
        /// The model's input was rejected: it gets the tool's own complaint, shortened, to correct itself.
        ReturnError = "return_error",
        /// A passing fault of a call that changes nothing: the host waits and calls again; the model is told nothing.
        RetrySilently = "retry_silently",
        /// The step goes to another host.
        Move = "move",
        /// The step goes to a narrower route.
        Narrow = "narrow",
        /// The model gets the result.
        Deliver = "deliver",
        /// The model gets one line in place of the raw failure.
        DeliverFailure = "deliver_failure",
    }
}

/// What is to be done with one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handling {
    /// Who acts, and how.
    pub disposition: Disposition,
    /// Before a silent retry: how long to wait, in milliseconds.
    pub after_ms: Option<u64>,
    /// What the model is told by us: in place of the result, or beside it where it is delivered. None: nothing.
    pub text: Option<String>,
}

/// What is known of the call beside its result.
#[derive(Clone, Copy, Debug)]
pub struct Handled<'a> {
    /// The tool as the model knows it; empty where that is not known.
    pub tool_name: &'a str,
    /// What the call does.
    pub effect: Effect,
    /// Whether a repeat of it is recognised by the target.
    pub is_idempotent: bool,
    /// Which try it was, from 1.
    pub attempt: u32,
    /// Whether this report opened a circuit.
    pub opened: bool,
    /// Whether a circuit of the target is open.
    pub is_open: bool,
}

/// A silent retry without a hint of the target waits this long.
const RETRY_AFTER_MS: u64 = 1_000;
/// Who asks for a longer wait is not waited for in silence: the model has other things to do.
const SILENT_WAIT_MS_MAX: u64 = 60_000;
/// The longest line that a model is given for a failure, in bytes as JSON writes them.
const LINE_BYTES_MAX: usize = 400;
/// The longest name of a tool in such a line.
const NAME_BYTES_MAX: usize = 128;

impl Handled<'_> {
    /// What is to be done with a typed result.
    #[must_use]
    pub fn typed(&self, typing: &Typing) -> Handling {
        if self.opened {
            return Handling { disposition: Disposition::Trip, after_ms: None, text: None };
        }
        if typing.observation == Observation::Error && typing.complaint.is_some() {
            let complaint = typing.complaint.as_deref().unwrap_or_default();
            return self.told(Disposition::ReturnError, &format!("{} rejected the call: {complaint}", self.name()));
        }
        if let Some(after_ms) = self.silent_wait(typing.failure_class, typing.hint) {
            return Handling { disposition: Disposition::RetrySilently, after_ms: Some(after_ms), text: None };
        }
        let is_delivered = matches!(
            typing.observation,
            Observation::Observed | Observation::Truncated | Observation::Empty | Observation::Context
        );
        if is_delivered || typing.is_ours {
            let text = typing.caution().map(str::to_owned);
            return Handling { disposition: Disposition::Deliver, after_ms: None, text };
        }
        self.failure(typing.observation.word(), typing.kind, typing.failure_class)
    }

    /// What is to be done with a result that the caller judged itself.
    #[must_use]
    pub fn judged(&self, classification: Classification, hint: Option<RetryHint>) -> Handling {
        if self.opened {
            return Handling { disposition: Disposition::Trip, after_ms: None, text: None };
        }
        let class = class_of(classification);
        let Some(class) = class else {
            return Handling { disposition: Disposition::Deliver, after_ms: None, text: None };
        };
        if let Some(after_ms) = self.silent_wait(Some(class), hint) {
            return Handling { disposition: Disposition::RetrySilently, after_ms: Some(after_ms), text: None };
        }
        self.failure("failed", kind_of(classification), Some(class))
    }

    /// How long to wait before the call is made again in silence; none where it must not be.
    fn silent_wait(&self, class: Option<FailureClass>, hint: Option<RetryHint>) -> Option<u64> {
        let is_harmless = self.effect == Effect::Read || self.is_idempotent;
        let is_passing = class == Some(FailureClass::Transport);
        if !is_passing || !is_harmless || self.attempt > 1 || self.is_open {
            return None;
        }
        silent_wait_of(hint)
    }

    /// One typed line in place of the raw failure: tool, observation, signal, class.
    fn failure(&self, observation: &str, kind: Option<CircuitKind>, class: Option<FailureClass>) -> Handling {
        let text = Some(failure_line(self.tool_name, observation, kind.map(CircuitKind::signal), class));
        Handling { disposition: Disposition::DeliverFailure, after_ms: None, text }
    }

    fn told(&self, disposition: Disposition, line: &str) -> Handling {
        let line = SafeText::cut(line, LINE_BYTES_MAX);
        Handling { disposition, after_ms: None, text: Some(line.as_str().to_owned()) }
    }

    fn name(&self) -> String {
        name_in_line(self.tool_name)
    }
}

/// The one line that a model is given in place of a raw failure: tool, observation, signal, class. A caller that cannot
/// retry in silence gives it where that was asked of it.
#[must_use]
pub fn failure_line(tool_name: &str, observation: &str, signal: Option<Signal>, class: Option<FailureClass>) -> String {
    let name = name_in_line(tool_name);
    let signal = signal.map_or("none", Signal::word);
    let class = class.map_or("none", FailureClass::word);
    let line = format!("{name}: {observation}, signal {signal}, class {class}; nothing was measured");
    SafeText::cut(&line, LINE_BYTES_MAX).as_str().to_owned()
}

fn name_in_line(tool_name: &str) -> String {
    let name = SafeText::cut(tool_name, NAME_BYTES_MAX);
    if name.as_str().is_empty() { "the tool".to_owned() } else { name.as_str().to_owned() }
}

/// How long a silent retry waits; none where the target asks for longer than that.
fn silent_wait_of(hint: Option<RetryHint>) -> Option<u64> {
    let wait = hint.map_or(RETRY_AFTER_MS, |hint| u64::try_from(hint.raw_ms).unwrap_or(0));
    (wait <= SILENT_WAIT_MS_MAX).then_some(wait)
}

/// What a retry may do where the caller judged itself; none: nothing failed.
const fn class_of(classification: Classification) -> Option<FailureClass> {
    match classification {
        Classification::Ok | Classification::Ignored | Classification::BadInput => None,
        Classification::TimedOut => Some(FailureClass::Transport),
        Classification::Failed(kind) => Some(match kind {
            CircuitKind::ErrorRate | CircuitKind::QuotaRate | CircuitKind::Latency => FailureClass::Transport,
            CircuitKind::MalformedResponse => FailureClass::ContractMiss,
            CircuitKind::Authentication | CircuitKind::Authorisation | CircuitKind::QuotaBilling => {
                FailureClass::Unknown
            }
        }),
    }
}

const fn kind_of(classification: Classification) -> Option<CircuitKind> {
    match classification {
        Classification::Failed(kind) => Some(kind),
        Classification::TimedOut => Some(CircuitKind::Latency),
        Classification::Ok | Classification::Ignored | Classification::BadInput => None,
    }
}

#[cfg(test)]
mod tests;
