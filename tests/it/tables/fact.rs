//! What a machine answered, in the words of a table: a verdict, bare words, and fields with values.
//!
//! Made from the messages of the wire, which all machines answer with, so that a table cannot tell them apart.

use std::fmt;

use tripnote::domain::signal::CircuitKind;
use tripnote::wire::pb;

use super::tokens::span;
use crate::support::NOON_UNIX_MS;

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    /// Milliseconds; none where there is no such time.
    Span(Option<i64>),
}

/// One answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Fact {
    pub(super) verdict: String,
    pub(super) words: Vec<String>,
    pub(super) fields: Vec<(&'static str, Value)>,
}

impl Fact {
    pub(super) fn new(verdict: impl Into<String>) -> Self {
        Self { verdict: verdict.into(), ..Self::default() }
    }

    pub(super) fn word(mut self, word: impl Into<String>) -> Self {
        self.words.push(word.into());
        self
    }

    pub(super) fn word_if(self, is_so: bool, word: &str) -> Self {
        if is_so { self.word(word) } else { self }
    }

    pub(super) fn text(mut self, name: &'static str, text: impl ToString) -> Self {
        self.fields.push((name, Value::Text(text.to_string())));
        self
    }

    fn span(mut self, name: &'static str, ms: Option<i64>) -> Self {
        self.fields.push((name, Value::Span(ms)));
        self
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.verdict)?;
        self.words.iter().try_for_each(|word| write!(f, " {word}"))?;
        self.fields.iter().try_for_each(|(name, value)| match value {
            Value::Text(text) if text.is_empty() || text == "unspecified" => Ok(()),
            Value::Text(text) if text.contains([' ', ',']) => write!(f, " {name} \"{text}\""),
            Value::Text(text) => write!(f, " {name} {text}"),
            Value::Span(None) => write!(f, " {name} none"),
            Value::Span(Some(ms)) => write!(f, " {name} {}", span(*ms)),
        })
    }
}

fn ms(ms: u64) -> Option<i64> {
    Some(i64::try_from(ms).unwrap_or(i64::MAX))
}

/// The word of a wire enum: its name without the prefix, in lower case.
fn word(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_lowercase()
}

fn phase(phase: pb::Phase) -> String {
    word(phase.as_str_name(), "PHASE_")
}

pub(super) fn kind(kind: pb::CircuitKind) -> String {
    Option::<CircuitKind>::from(kind).map_or_else(|| "any".to_owned(), |kind| kind.word().to_owned())
}

/// The phase that a contract tells of.
pub(super) fn phase_in(state: &str) -> &'static str {
    if state.starts_with("half_open") { "half_open" } else { "open" }
}

fn with_trip(fact: Fact, trip: &pb::Trip) -> Fact {
    let also: Vec<String> = trip.also_open.iter().map(also).collect();
    let facts = trip.facts.unwrap_or_default();
    let bytes = facts.max_argument_bytes.map_or_else(|| "none".to_owned(), |bytes| bytes.to_string());
    fact.word(word(trip.signal().as_str_name(), "SIGNAL_"))
        .word(word(trip.action().as_str_name(), "ACTION_"))
        .word(word(trip.urgency().as_str_name(), "URGENCY_"))
        .span("retry", trip.retry_after_ms.and_then(ms))
        .text("observed", &trip.observed)
        .text("threshold", &trip.threshold)
        .text("state", &trip.state)
        .text("do_not", &trip.do_not)
        .text("fallback", &trip.fallback)
        .text("also", if also.is_empty() { "none".to_owned() } else { also.join(", ") })
        .text("gen", trip.generation)
        .text("bytes", bytes)
        .text("facts", format!("{}/{} in {}", facts.failed, facts.results, span(ms(facts.window_ms).unwrap_or(0))))
        .text("breaker", &trip.breaker)
        .text("target", &trip.target)
}

fn also(also: &pb::AlsoOpen) -> String {
    let retry = also.retry_after_ms.and_then(ms).map_or_else(|| "none".to_owned(), span);
    format!("{} {} {retry}", kind(also.kind()), phase(also.phase()))
}

pub(super) fn of_admit(answer: &pb::AdmitResponse) -> Fact {
    use pb::admit_response::Decision;
    match (&answer.decision, &answer.shadow_trip) {
        (Some(Decision::Permit(permit)), shadow) => {
            let verdict = match shadow {
                Some(_) => "shadowed",
                None if permit.probe => "probe",
                None => "permit",
            };
            let fact = Fact::new(verdict).word_if(permit.probe, "probe").span("for", ms(permit.expires_in_ms));
            match shadow {
                Some(trip) => with_trip(fact.word(phase_in(&trip.state)), trip),
                None => fact.text("breaker", &permit.breaker),
            }
        }
        (Some(Decision::Trip(trip)), None) => refused(trip),
        (decision, shadow) => Fact::new(format!("no answer at all: {decision:?} {shadow:?}")),
    }
}

fn refused(trip: &pb::Trip) -> Fact {
    with_trip(Fact::new("refused").word(phase_in(&trip.state)), trip)
}

pub(super) fn of_ack(ack: &pb::ReportAck) -> Fact {
    let acknowledgement = word(ack.acknowledgement().as_str_name(), "ACKNOWLEDGEMENT_");
    let counted = acknowledgement == "counted";
    let verdict = if counted && ack.trip.is_some() { "tripped".to_owned() } else { acknowledgement };
    let fact = Fact::new(verdict).word(phase(ack.phase_after()));
    match &ack.trip {
        Some(trip) => with_trip(fact.word_if(!counted, "tripped"), trip),
        None => fact,
    }
}

pub(super) fn of_peek(found: &pb::peek_result::Result) -> Fact {
    use pb::peek_result::Result as Found;
    match found {
        Found::Callable(callable) => {
            Fact::new(if callable.probe { "probe" } else { "callable" }).text("breaker", &callable.breaker)
        }
        Found::Trip(trip) => refused(trip),
        Found::Error(error) => Fact::new("malformed").text("field", &error.field),
    }
}

/// A circuit; one that has nothing to remember is closed.
pub(super) fn of_circuit(circuit: Option<&pb::Circuit>) -> Fact {
    let Some(circuit) = circuit else {
        return Fact::new("closed").text("gen", 0).text("level", 0).text("failed", "0/0").text("held", "nobody");
    };
    let holds: Vec<&str> = circuit.holds.iter().map(|hold| hold.owner.as_str()).collect();
    let until =
        circuit.open_until.as_ref().map(|at| at.seconds * 1_000 + i64::from(at.nanos / 1_000_000) - NOON_UNIX_MS);
    let is_held = circuit.override_mode() != pb::OverrideMode::Unspecified;
    Fact::new(phase(circuit.phase()))
        .word_if(circuit.probe_ready, "probe_ready")
        .word_if(is_held, &word(circuit.override_mode().as_str_name(), "OVERRIDE_MODE_"))
        .text("gen", circuit.generation)
        .text("level", circuit.backoff_level)
        .text("failed", format!("{}/{}", circuit.failed, circuit.results))
        .span("until", until)
        .span("retry", circuit.retry_after_ms.and_then(ms))
        .text("observed", &circuit.observed)
        .text("threshold", &circuit.threshold)
        .text("probes", circuit.probes_in_flight)
        .text("held", if holds.is_empty() { "nobody".to_owned() } else { holds.join(", ") })
        .text("scope", circuit.name.as_ref().map_or("", |name| name.scope.as_str()))
}

pub(super) fn of_event(event: &pb::Event) -> Fact {
    let action = (event.action() != pb::Action::Unspecified).then(|| word(event.action().as_str_name(), "ACTION_"));
    let is_of_circuit = event.kind() != pb::CircuitKind::Unspecified;
    let fact = Fact::new(word(event.event_kind().as_str_name(), "EVENT_KIND_"))
        .word_if(is_of_circuit, &kind(event.kind()))
        .word_if(action.is_some(), action.as_deref().unwrap_or_default())
        .word_if(event.hint_clamped, "clamped")
        .text("breaker", &event.breaker)
        .text("scope", &event.scope)
        .text("gen", event.generation)
        .text("from", phase(event.from_phase()))
        .text("to", phase(event.to_phase()))
        .text("observed", &event.observed)
        .text("threshold", &event.threshold)
        .text("level", event.level)
        .text("owner", &event.owner)
        .text("version", event.config_version);
    fact.span("for", ms(event.open_for_ms)).span("hint", event.hint_ms)
}
