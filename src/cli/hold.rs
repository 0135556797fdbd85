//! `tripnote override`: holds circuits in a mode, or lets go of them.

use std::process::ExitCode;

use super::connect::Service;
use super::json::Object;
use super::text::{count, parse_span, span};
use super::which::Which;
use super::words::Word as _;
use super::{Manner, output};
use crate::wire::pb;

/// Which circuits, by whom, and how.
#[derive(Debug, clap::Args)]
pub(super) struct HoldArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    mode: Mode,
    /// Who holds: 1 to 40 of A-Z, a-z, 0-9 and . _ @ -; contracts name it
    #[arg(long, value_name = "NAME")]
    owner: String,
    /// Why, for the people who read the list
    #[arg(long, value_name = "TEXT", conflicts_with = "clear")]
    reason: Option<String>,
    /// The hold ends by itself after this time, such as 10m
    #[arg(long = "for", value_name = "SPAN", value_parser = parse_span, conflicts_with = "clear")]
    for_ms: Option<u64>,
}

/// What to do with calls.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Mode {
    /// Refuse every call
    #[arg(long)]
    force_open: bool,
    /// Refuse no call, and count on
    #[arg(long)]
    force_closed: bool,
    /// Decide, count and explain, but refuse no call
    #[arg(long)]
    shadow: bool,
    /// Let go of this owner's holds
    #[arg(long)]
    clear: bool,
}

impl Mode {
    const fn wanted(&self) -> pb::OverrideMode {
        if self.force_open {
            pb::OverrideMode::ForceOpen
        } else if self.force_closed {
            pb::OverrideMode::ForceClosed
        } else if self.shadow {
            pb::OverrideMode::Shadow
        } else {
            pb::OverrideMode::Unspecified // clear
        }
    }
}

/// Sets or clears a hold.
pub(super) async fn run(args: HoldArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let (object, text) = match args.mode.wanted() {
        pb::OverrideMode::Unspecified => clear(args, service).await?,
        mode @ (pb::OverrideMode::ForceOpen | pb::OverrideMode::ForceClosed | pb::OverrideMode::Shadow) => {
            set(args, mode, service).await?
        }
    };
    output::print(&if manner.is_json { object.line()? } else { text })?;
    Ok(ExitCode::SUCCESS)
}

async fn set(args: HoldArgs, mode: pb::OverrideMode, service: &Service) -> anyhow::Result<(Object, String)> {
    let HoldArgs { which, owner, reason, for_ms, .. } = args;
    let request = pb::SetOverrideRequest {
        name: Some(which.name()),
        mode: mode.into(),
        owner: owner.clone(),
        reason: reason.unwrap_or_default(),
        expires_in_ms: for_ms,
    };
    let answer = service.operators().set_override(request).await.map_err(|status| service.explain(&status))?;
    let circuits = answer.into_inner().circuits;
    let until = for_ms.map_or_else(|| "until it is cleared".to_owned(), |ms| format!("for {}", span(ms)));
    let held = count(circuits.into(), "circuit");
    let text = format!("{}: {} by {owner} {until}, {held} now", which.words(), mode.word());
    Ok((Object::default().with("circuits", circuits), text))
}

async fn clear(args: HoldArgs, service: &Service) -> anyhow::Result<(Object, String)> {
    let HoldArgs { which, owner, .. } = args;
    let request = pb::ClearOverrideRequest { name: Some(which.name()), owner: owner.clone() };
    let answer = service.operators().clear_override(request).await.map_err(|status| service.explain(&status))?;
    let pb::ClearOverrideResponse { released, still_held } = answer.into_inner();
    let others = match still_held {
        0 => String::new(),
        n => format!(", {} of other owners still there", count(n.into(), "hold")),
    };
    let text = format!("{}: {} of {owner} released{others}", which.words(), count(released.into(), "hold"));
    Ok((Object::default().with("released", released).with("still_held", still_held), text))
}
