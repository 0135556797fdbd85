//! `tripnote tail`: what happens, as it happens, one line each, across restarts of the service.

use std::process::ExitCode;
use std::time::Duration;

use tonic::{Code, Status, Streaming};

use super::connect::{Address, Service};
use super::text::{Paint, Tone, clean, clock_time, count, one_line, pad, span};
use super::words::Word as _;
use super::{Manner, json, output};
use crate::wire::pb;

/// How long to leave a service alone that went away, before it is looked for again.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Which events.
#[derive(Debug, clap::Args)]
pub(super) struct TailArgs {
    /// Begin after this number; 0 begins with all that is kept
    #[arg(long, value_name = "N")]
    after: Option<u64>,
    /// Only events of the breaker with this code
    #[arg(long, value_name = "CODE")]
    breaker: Option<String>,
    /// Also every call that is admitted and every report that is counted
    #[arg(long)]
    calls: bool,
}

/// How far the stream has been read.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    after_seq: Option<u64>,
    incarnation: Option<u64>,
}

/// Follows events until it is stopped. Only a service that was there once is waited for.
pub(super) async fn run(args: TailArgs, address: &Address, manner: Manner) -> anyhow::Result<ExitCode> {
    let mut place = Place { after_seq: args.after, incarnation: None };
    let service = Service::reach(address).await?;
    let mut events = watch(&args, &service, place).await.map_err(|status| service.explain(&status))?;
    loop {
        let how = read(&mut events, &mut place, &service, manner).await?;
        output::complain(&format!("tripnote: lost the service at {address} ({}): looking for it", one_line(&how)));
        events = watch_again(&args, address, place).await?;
        output::complain(&format!("tripnote: the service at {address} is back"));
    }
}

async fn watch(args: &TailArgs, service: &Service, place: Place) -> Result<Streaming<pb::Event>, Status> {
    let request = pb::WatchEventsRequest {
        after_seq: place.after_seq,
        breaker: args.breaker.clone().unwrap_or_default(),
        include_calls: args.calls,
        incarnation: place.incarnation,
    };
    Ok(service.operators().watch_events(request).await?.into_inner())
}

async fn watch_again(args: &TailArgs, address: &Address, place: Place) -> anyhow::Result<Streaming<pb::Event>> {
    loop {
        tokio::time::sleep(LOOK_AGAIN_AFTER).await;
        let Ok(service) = Service::reach(address).await else { continue };
        match watch(args, &service, place).await {
            Ok(events) => return Ok(events),
            Err(status) if is_lost(status.code()) => {}
            Err(status) => return Err(service.explain(&status)),
        }
    }
}

/// Shows events until the service goes away, and how it did.
async fn read(
    events: &mut Streaming<pb::Event>,
    place: &mut Place,
    service: &Service,
    manner: Manner,
) -> anyhow::Result<String> {
    loop {
        match events.message().await {
            Ok(Some(event)) => {
                *place = Place { after_seq: Some(event.seq), incarnation: Some(event.incarnation) };
                show(&event, manner)?;
            }
            Ok(None) => return Ok("it ended the stream".to_owned()),
            Err(status) if is_lost(status.code()) => return Ok(status.message().to_owned()),
            Err(status) => return Err(service.explain(&status)),
        }
    }
}

/// Whether a service that restarts, drains or is overloaded answers so.
fn is_lost(code: Code) -> bool {
    matches!(code, Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled | Code::ResourceExhausted)
}

fn show(event: &pb::Event, manner: Manner) -> anyhow::Result<()> {
    output::print(&if manner.is_json { json::event(event).line()? } else { line(event, manner.paint) })
}

/// One event: time, number, breaker, scope, what, figures.
fn line(event: &pb::Event, paint: Paint) -> String {
    let at = event.at.as_ref().map(clock_time).unwrap_or_default();
    let place = [clean(&event.scope), event.kind().word()];
    let place = place.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ");
    let columns = [
        paint.dye(Tone::Quiet, &wide(&at, 13)),
        paint.dye(Tone::Quiet, &format!("{:>6}", event.seq)),
        paint.dye(Tone::Strong, &wide(&clean(&event.breaker), 16)),
        wide(&place, 34),
        paint.dye(tone(event.event_kind()), &wide(&event.event_kind().word(), 14)),
        figures(event),
    ];
    columns.join("  ").trim_end().to_owned()
}

/// `text` in at least `width` columns; a longer one is not cut, as lines are searched for names.
fn wide(text: &str, width: usize) -> String {
    if text.chars().count() > width { text.to_owned() } else { pad(text, width) }
}

const fn tone(kind: pb::EventKind) -> Tone {
    match kind {
        pb::EventKind::Tripped | pb::EventKind::Gap | pb::EventKind::Overflowed => Tone::Bad,
        pb::EventKind::Refused
        | pb::EventKind::Steered
        | pb::EventKind::Halted
        | pb::EventKind::ShadowRefused
        | pb::EventKind::Probing
        | pb::EventKind::ProbeLost => Tone::Warn,
        pb::EventKind::Recovered => Tone::Good,
        pb::EventKind::Overridden
        | pb::EventKind::Released
        | pb::EventKind::Reset
        | pb::EventKind::ConfigChanged
        | pb::EventKind::Removed => Tone::Held,
        pb::EventKind::Admitted
        | pb::EventKind::Recorded
        | pb::EventKind::Stale
        | pb::EventKind::Duplicate
        | pb::EventKind::Expired
        | pb::EventKind::Unknown
        | pb::EventKind::Evicted
        | pb::EventKind::Told
        | pb::EventKind::Concluded
        | pb::EventKind::Resolved
        | pb::EventKind::SessionEnded
        | pb::EventKind::Reviewed
        | pb::EventKind::Unspecified => Tone::Quiet,
    }
}

fn figures(event: &pb::Event) -> String {
    let mut parts = vec![];
    if !event.observed.is_empty() {
        parts.push(clean(&event.observed));
    }
    if !event.threshold.is_empty() {
        parts.push(clean(&event.threshold));
    }
    if event.open_for_ms > 0 {
        parts.push(format!("open for {}", span(event.open_for_ms)));
    }
    if event.level > 0 {
        parts.push(format!("backoff level {}", event.level));
    }
    if let Some(hint_ms) = event.hint_ms {
        let followed = if event.hint_clamped { "not followed as it was" } else { "followed" };
        parts.push(format!("hint of {hint_ms}ms {followed}"));
    }
    if event.action() != pb::Action::Unspecified {
        parts.push(format!("told to {}", event.action().word()));
    }
    parts.extend(followed_up(event));
    if !event.owner.is_empty() {
        parts.push(format!("by {}", clean(&event.owner)));
    }
    if event.config_version > 0 {
        parts.push(format!("version {}", event.config_version));
    }
    if event.lost > 0 {
        parts.push(format!("{} lost", count(event.lost, "event")));
    }
    parts.join(", ")
}

/// What became of a contract, or of a session.
fn followed_up(event: &pb::Event) -> Vec<String> {
    let mut parts = vec![];
    if event.signal() != pb::Signal::Unspecified {
        parts.push(format!("{} as {}", event.signal().word(), clean(&event.variant)));
    }
    if event.first_action() != pb::FirstAction::Unspecified {
        parts.push(format!("first action {}", event.first_action().word()));
        parts.push(count(u64::from(event.repeats), "repeat"));
    }
    if event.ignored > 0 {
        parts.push(format!("ignored {}", count(u64::from(event.ignored), "time")));
    }
    if event.resolution() != pb::Resolution::Unspecified {
        let turns = event.turns.map(|turns| format!(" after {}", count(u64::from(turns), "turn")));
        parts.push(format!("{}{}", event.resolution().word(), turns.unwrap_or_default()));
    }
    if event.outcome() != pb::SessionOutcome::Unspecified {
        parts.push(event.outcome().word());
        parts.push(count(u64::from(event.halts), "halt"));
        parts.extend(event.success.map(|success| if success { "successful" } else { "not successful" }.to_owned()));
    }
    if event.review_verdict() != pb::ReviewVerdict::Unspecified {
        parts.push(event.review_verdict().word());
    }
    if event.review_rule() != pb::ReviewRule::Unspecified {
        parts.push(event.review_rule().word());
    }
    parts
}

#[cfg(test)]
mod tests;
