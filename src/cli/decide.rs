//! `tripnote decide`: what may follow a failed step, the attempts that are kept, and the acceptance of a sketch.
//!
//! Read by whoever is woken by a halt: what may be done stands first, then why, then what it was decided on.

use std::process::ExitCode;

use clap::ArgAction;
use clap::builder::PossibleValuesParser;

use super::connect::Service;
use super::json::{self, Object};
use super::text::{Cell, Paint, Table, Tone, clean, clock_time, count, full_time};
use super::words::Word as _;
use super::{Manner, TRIPPED, output};
use crate::domain::failure::FailureClass;
use crate::wire::pb;

mod why;

/// Columns of the words before the figures.
const LABEL: usize = 8;
/// What stands in place of the step.
const OTHERS: [&str; 2] = ["list", "accept_sketch"];

/// What failed, or which record is to be read.
#[derive(Debug, clap::Args)]
pub(super) struct DecideArgs {
    /// The step of one run of a job, such as nightly/2031-05-02/4
    #[arg(required_unless_present_any = OTHERS)]
    step: Option<String>,
    #[command(flatten)]
    at: BindingArgs,
    #[command(flatten)]
    record: RecordArgs,
    /// A host at which the snapshot can be read; may be given more than once
    #[arg(long, value_name = "HOST")]
    published_at: Vec<String>,
    /// Where the reply would be kept, should it come to a narrowing
    #[arg(long, value_name = "PATH")]
    sketch: Option<String>,
    /// Who asks; a step is its caller's own
    #[arg(long)]
    caller: Option<String>,
    /// List the attempts of a step that are kept, oldest first
    #[arg(long, value_name = "STEP", conflicts_with_all = ["step", "accept_sketch", "binding", "record"])]
    list: Option<String>,
    /// Mark the reply of a narrowed attempt as accepted
    #[arg(long, value_name = "ID", conflicts_with_all = ["step", "binding", "record"])]
    accept_sketch: Option<u64>,
}

/// Where it ran.
#[derive(Debug, clap::Args)]
#[group(id = "binding", multiple = true)]
struct BindingArgs {
    /// The host
    #[arg(long, required_unless_present_any = OTHERS)]
    host: Option<String>,
    /// The model route, as the host knows it
    #[arg(long, required_unless_present_any = OTHERS)]
    route: Option<String>,
    /// The content id of what the step reads
    #[arg(long, value_name = "ID", required_unless_present_any = OTHERS)]
    snapshot: Option<String>,
}

/// What the tree reads. A bit that is not given is not guessed.
#[derive(Debug, clap::Args)]
#[group(id = "record", multiple = true)]
struct RecordArgs {
    /// Why it failed, by a fixed rule and never by a model
    #[arg(long, required_unless_present_any = OTHERS, value_parser = PossibleValuesParser::new(FailureClass::ALL.iter().map(|class| class.word())))]
    class: Option<String>,
    /// Which try of this binding it was, from 1
    #[arg(long, value_name = "N", required_unless_present_any = OTHERS)]
    attempt: Option<u32>,
    /// Whether the step may write
    #[arg(long, value_name = "true|false", action = ArgAction::Set, required_unless_present_any = OTHERS)]
    writes: Option<bool>,
    /// Whether the step may call tools
    #[arg(long, value_name = "true|false", action = ArgAction::Set, required_unless_present_any = OTHERS)]
    tools: Option<bool>,
    /// Whether what the step reads is still what it read at its first attempt
    #[arg(long, value_name = "true|false", action = ArgAction::Set, required_unless_present_any = OTHERS)]
    snapshot_same: Option<bool>,
    /// The reply was lost after dispatch: what was asked for may have happened
    #[arg(long)]
    effect_unknown: bool,
    /// The target recognises a second dispatch
    #[arg(long)]
    idempotent: bool,
    /// A policy forbids the step
    #[arg(long)]
    policy_denied: bool,
}

impl DecideArgs {
    fn request(self) -> pb::DecideRequest {
        let Self { at, record, .. } = self;
        pb::DecideRequest {
            step: self.step.unwrap_or_default(),
            binding: Some(pb::StepBinding {
                host: at.host.unwrap_or_default(),
                route: at.route.unwrap_or_default(),
                snapshot: at.snapshot.unwrap_or_default(),
            }),
            record: Some(pb::AttemptRecord {
                failure_class: record.class.unwrap_or_default(),
                attempt: record.attempt.unwrap_or_default(),
                writes: record.writes,
                tools_enabled: record.tools,
                snapshot_same: record.snapshot_same,
                effect_unknown: record.effect_unknown,
                has_idempotency_key: record.idempotent,
                policy_denied: record.policy_denied,
            }),
            published_at: self.published_at,
            sketch: self.sketch.unwrap_or_default(),
            caller: self.caller.unwrap_or_default(),
        }
    }
}

/// Decides, lists or accepts.
pub(super) async fn run(mut args: DecideArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let caller = args.caller.clone().unwrap_or_default();
    if let Some(step) = args.list.take() {
        return list(pb::ListAttemptsRequest { step, caller }, service, manner).await;
    }
    if let Some(id) = args.accept_sketch.take() {
        return accept(pb::AcceptSketchRequest { id, caller }, service, manner).await;
    }
    let answer = service.failures().decide(args.request()).await.map_err(|status| service.explain(&status))?;
    let pb::DecideResponse { attempt, duplicate } = answer.into_inner();
    let attempt = attempt.ok_or_else(|| service.speechless())?;
    if manner.is_json {
        let object = Object::default().with_object("attempt", Some(json::attempt(&attempt)));
        output::print(&object.with("duplicate", duplicate).line()?)?;
    } else {
        output::print(&page(&attempt, manner.paint))?;
        if duplicate {
            output::remark("asked before: this is what was answered then, and nothing moved");
        }
    }
    Ok(if attempt.next_binding.is_none() { ExitCode::from(TRIPPED) } else { ExitCode::SUCCESS })
}

async fn list(request: pb::ListAttemptsRequest, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let step = clean(&request.step);
    let answer = service.failures().list_attempts(request).await.map_err(|status| service.explain(&status))?;
    let pb::ListAttemptsResponse { attempts, dropped } = answer.into_inner();
    if manner.is_json {
        for attempt in &attempts {
            output::print(&json::attempt(attempt).line()?)?;
        }
    } else if attempts.is_empty() {
        output::print(&format!("no attempts of `{step}` are kept for this caller"))?;
    } else {
        output::print(&table(&attempts).draw(manner.paint))?;
        if dropped > 0 {
            output::remark(&format!("{} went before these, to keep within the bounds", count(dropped, "attempt")));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn accept(request: pb::AcceptSketchRequest, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let answer = service.failures().accept_sketch(request).await.map_err(|status| service.explain(&status))?;
    let pb::AcceptSketchResponse { attempt, duplicate } = answer.into_inner();
    let attempt = attempt.ok_or_else(|| service.speechless())?;
    if manner.is_json {
        let object = Object::default().with_object("attempt", Some(json::attempt(&attempt)));
        output::print(&object.with("duplicate", duplicate).line()?)?;
    } else {
        let before = if duplicate { " (before: the first time stands)" } else { "" };
        output::print(&format!("attempt {}: {}{before}", attempt.id, sketch_words(&attempt).unwrap_or_default()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// All about one attempt: what may follow, why, and on what that was decided.
fn page(attempt: &pb::Attempt, paint: Paint) -> String {
    let leaf = paint.dye(leaf_tone(attempt.leaf()), &attempt.leaf().word());
    let mut lines = vec![format!("{leaf}  {}{}", attempt.reason().word(), row_words(attempt.row))];
    let mut figure = |label: &str, text: &str| {
        if !text.is_empty() {
            lines.push(format!("  {}  {text}", paint.dye(Tone::Quiet, &format!("{label:LABEL$}"))));
        }
    };
    figure("why", why::sentence(attempt.reason()));
    figure("next", &next_words(attempt));
    figure("sketch", &sketch_words(attempt).unwrap_or_default());
    figure("step", &clean(&attempt.step));
    figure("failed", &attempt.record.as_ref().map(record_words).unwrap_or_default());
    figure("ran at", &attempt.binding.as_ref().map(binding_words).unwrap_or_default());
    figure("retries", &cap_words(&attempt.cap_raised_because));
    figure("record", &kept_words(attempt));
    lines.join("\n")
}

const fn leaf_tone(leaf: pb::Leaf) -> Tone {
    match leaf {
        pb::Leaf::SameBindingRetry => Tone::Good,
        pb::Leaf::ComputeMove | pb::Leaf::RouteNarrowing => Tone::Warn,
        pb::Leaf::Halt | pb::Leaf::Unspecified => Tone::Bad,
    }
}

fn row_words(row: u32) -> String {
    if row == 0 { String::new() } else { format!(" (row {row})") }
}

fn next_words(attempt: &pb::Attempt) -> String {
    let Some(next) = &attempt.next_binding else {
        return "nothing: open no connection; a person reads this record before the step gets a new binding".to_owned();
    };
    let change = match attempt.leaf() {
        pb::Leaf::SameBindingRetry => "the same again",
        pb::Leaf::ComputeMove => "the host changes and nothing else",
        pb::Leaf::RouteNarrowing => "tools and writes off, one labelled field; the reply is a sketch",
        pb::Leaf::Halt | pb::Leaf::Unspecified => "",
    };
    format!("{}, attempt {}: {change}", binding_words(next), attempt.next_attempt)
}

fn binding_words(at: &pb::StepBinding) -> String {
    format!("host {}, route {}, snapshot {}", clean(&at.host), clean(&at.route), clean(&at.snapshot))
}

fn record_words(record: &pb::AttemptRecord) -> String {
    let class = if record.failure_class.is_empty() { "no known class" } else { &record.failure_class };
    let bit = |is: Option<bool>, yes: &'static str, no: &'static str| if is == Some(true) { yes } else { no };
    let mut words = vec![
        clean(class),
        format!("attempt {}", record.attempt),
        bit(record.writes, "may write", "writes nothing").to_owned(),
        bit(record.tools_enabled, "tools on", "tools off").to_owned(),
        bit(record.snapshot_same, "snapshot same", "snapshot changed").to_owned(),
    ];
    let more = [
        (record.effect_unknown, "reply lost"),
        (record.has_idempotency_key, "idempotency key"),
        (record.policy_denied, "denied by a policy"),
    ];
    words.extend(more.into_iter().filter(|(is, _)| *is).map(|(_, word)| word.to_owned()));
    words.join(", ")
}

fn cap_words(because: &str) -> String {
    if because.is_empty() { String::new() } else { format!("more than one, because {}", clean(because)) }
}

fn kept_words(attempt: &pb::Attempt) -> String {
    let at = attempt.at.as_ref().map(|at| format!(" at {}", full_time(at))).unwrap_or_default();
    let after = attempt.after.map(|after| format!(", after {after}")).unwrap_or_default();
    format!("{}{at}{after}, chain {}", attempt.id, attempt.chain)
}

/// Where the sketch is and whether it was accepted; none where there is none.
fn sketch_words(attempt: &pb::Attempt) -> Option<String> {
    let sketch = attempt.sketch.as_ref()?;
    let place = if sketch.reference.is_empty() { "no place named".to_owned() } else { clean(&sketch.reference) };
    let at = sketch.accepted_at.as_ref().map(|at| format!(" at {}", full_time(at))).unwrap_or_default();
    Some(match sketch.accepted {
        true => format!("{place}, accepted{at}"),
        false => format!("{place}, not accepted (tripnote decide --accept-sketch {})", attempt.id),
    })
}

fn table(attempts: &[pb::Attempt]) -> Table<9> {
    let mut table = Table::of(["ID", "AFTER", "TIME", "FAILED", "HOST", "ROUTE", "LEAF", "REASON", "NEXT"]);
    for attempt in attempts {
        let at = attempt.binding.clone().unwrap_or_default();
        let record = attempt.record.clone().unwrap_or_default();
        let next = attempt.next_binding.as_ref();
        let next = next.map(|next| format!("{}, {}, attempt {}", next.host, next.route, attempt.next_attempt));
        let accepted = attempt.sketch.as_ref().filter(|sketch| sketch.accepted).map(|_| ", accepted");
        let class = if record.failure_class.is_empty() { "no class" } else { &record.failure_class };
        table.push([
            attempt.id.to_string().into(),
            attempt.after.map(|after| after.to_string()).unwrap_or_default().into(),
            attempt.at.as_ref().map(clock_time).unwrap_or_default().into(),
            format!("{class}, attempt {}", record.attempt).into(),
            at.host.into(),
            at.route.into(),
            Cell::in_tone(leaf_tone(attempt.leaf()), &attempt.leaf().word()),
            attempt.reason().word().into(),
            format!("{}{}", next.unwrap_or_default(), accepted.unwrap_or_default()).into(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests;
