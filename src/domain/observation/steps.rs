//! The order of decision (spec 3.2), first match wins: failure before context, array before counter, body before
//! status, error key before status key.

use super::cause::Cause;
use super::finding::Finding;
use super::format::{Format, FormatChoice};
use super::formats::{self, PayloadFormat};
use super::look::{Body, LAYERS_MAX, Layer, Look};
use super::{Observation, RetryHint, Rule, containers, digest, fingerprint, host, mcp, process, status, text};
use crate::domain::document::Document;
use crate::domain::ids::SafeText;

/// What was decided on a layer.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) finding: Finding,
    pub(super) rule: Rule,
    pub(super) format: Format,
    pub(super) digest: String,
    /// The normalised body where it is failed or empty.
    pub(super) core: Option<String>,
    /// What the tool said of an input that it rejected.
    pub(super) complaint: Option<String>,
}

/// The longest complaint in bytes, as JSON writes it.
const COMPLAINT_BYTES_MAX: usize = 300;

impl Decision {
    /// A finding on a layer, with what is told of the layer beside it.
    pub(super) fn new(look: &Look<'_>, finding: Finding, rule: Rule, format: Format) -> Self {
        if look.layer.is_part {
            return Self { finding, rule, format, digest: String::new(), core: None, complaint: None };
        }
        let is_usable = finding.is_usable() || finding.observation == Observation::Context;
        let core = (!is_usable).then(|| fingerprint::core(look, finding.observation == Observation::Empty));
        let said = || look.root().map_or_else(|| look.plain().map(str::to_owned), status::said);
        let complaint = (finding.cause == Some(Cause::BadInput)).then(said).flatten();
        Self { finding, rule, format, digest: digest::of(look), core, complaint: None }
            .complaining(complaint.as_deref())
    }

    /// With the words of a tool that rejected its input, shortened and without what could hide or reorder text.
    pub(super) fn complaining(mut self, words: Option<&str>) -> Self {
        let is_rejected = self.finding.cause == Some(Cause::BadInput);
        let words = words.unwrap_or("no reason given");
        self.complaint = is_rejected.then(|| SafeText::cut(words.trim(), COMPLAINT_BYTES_MAX).as_str().to_owned());
        self
    }
}

/// What a step has to go by: a layer that was read, and the format that it is taken for.
pub(super) struct Step<'a> {
    pub(super) look: Look<'a>,
    pub(super) format: &'a dyn PayloadFormat,
}

/// What a step answers: nothing, a finding, or the decision on what was wrapped.
pub(super) enum Answer {
    Found(Finding),
    Unwrapped(Box<Decision>),
}

type Decide = for<'a> fn(&Step<'a>) -> Option<Answer>;

/// The order. Steps of the transport speak for the outermost layer only.
const STEPS: &[(Rule, Decide)] = &[
    (Rule::TransportAbsent, |step| found(status::absent(&step.look))),
    (Rule::GrpcStatus, |step| found(status::grpc(&step.look))),
    (Rule::HostRefusal, |step| found(host::refusal(&step.look))),
    (Rule::ProcessRules, |step| process::decide(&step.look)),
    (Rule::JsonRpcError, |step| mcp::json_rpc(&step.look)),
    (Rule::McpResult, |step| mcp::result(&step.look)),
    (Rule::Parse, |step| text::unreadable(&step.look, step.format)),
    (Rule::ElementOutcomes, |step| found(step.format.element_outcomes(&step.look))),
    (Rule::BodyFailure, |step| found(step.format.body_failure(&step.look))),
    (Rule::HttpStatus, |step| found(status::http(&step.look))),
    (Rule::ContractCheck, |step| found(step.format.contract_check(&step.look))),
    (Rule::PendingMarkers, |step| found(step.format.pending(&step.look))),
    (Rule::Completeness, |step| found(step.format.completeness(&step.look))),
    (Rule::Containers, |step| found(containers::finding(&step.look))),
];

fn found(finding: Option<Finding>) -> Option<Answer> {
    finding.map(Answer::Found)
}

/// What a layer is.
pub(super) fn decide(layer: &Layer<'_>) -> Decision {
    let document = if layer.text.is_empty() { None } else { Some(Document::read(layer.text)) };
    let body = match &document {
        None => Body::Nothing,
        Some(Ok(document)) => Body::Json(document.root()),
        Some(Err(damage)) => Body::Text(*damage),
    };
    let look = Look { layer, body };
    let pinned = layer.result.tool.format.as_ref();
    let taught = pinned.and_then(|choice| match choice {
        FormatChoice::Custom(custom) => Some(custom),
        FormatChoice::BuiltIn(_) => None,
    });
    let taught = taught
        .or_else(|| look.root().and_then(|root| layer.result.custom.iter().find(|custom| custom.recognises(root))));
    let taught = taught.map(|custom| formats::Taught { custom });
    let format: &dyn PayloadFormat = match (&taught, pinned) {
        (Some(taught), _) => taught,
        (None, Some(FormatChoice::BuiltIn(format))) => formats::named(*format, &look),
        (None, Some(FormatChoice::Custom(_)) | None) => formats::recognised(&look),
    };
    let step = Step { look, format };
    for (rule, decide) in STEPS {
        match decide(&step) {
            Some(Answer::Found(finding)) => {
                let hint = finding.hint.or_else(|| if finding.is_failure() { hint_of(&look) } else { None });
                let is_ours = finding.cause.is_some_and(Cause::is_ours);
                let format = if is_ours { Format::HostText } else { format.format() };
                return Decision::new(&look, finding.with_hint(hint), *rule, format);
            }
            Some(Answer::Unwrapped(decision)) => return *decision,
            None => {}
        }
    }
    let finding = Finding::observed("holds something, and nothing says that it failed");
    Decision::new(&look, finding, Rule::Containers, format.format())
}

/// The wait that a body asks for.
fn hint_of(look: &Look<'_>) -> Option<RetryHint> {
    look.root().map_or_else(|| look.plain().and_then(RetryHint::of_text), RetryHint::of_body)
}

/// The decision on what is wrapped in a layer; what is wrapped too often is data.
pub(super) fn decide_inner(layer: &Layer<'_>, text: &str, inside: Format) -> Decision {
    if layer.depth >= LAYERS_MAX {
        let finding = Finding::observed("wrapped more often than is looked into");
        return Decision {
            finding,
            rule: Rule::Parse,
            format: inside,
            digest: String::new(),
            core: None,
            complaint: None,
        };
    }
    // A JSON-RPC response is a frame around a result; what a result holds is content.
    let inner = layer.inner(text, layer.is_framed && inside == Format::JsonRpc);
    let mut decision = decide(&inner);
    if matches!(decision.format, Format::Text | Format::Json | Format::Bare) {
        decision.format = inside; // what wraps it says more than "some text"
    }
    decision
}
