//! `tripnote reset`: closes circuits and forgets what they counted.

use std::process::ExitCode;

use super::connect::Service;
use super::json::Object;
use super::text::count;
use super::which::Which;
use super::{Manner, output};
use crate::wire::pb;

/// Which circuits.
#[derive(Debug, clap::Args)]
pub(super) struct ResetArgs {
    #[command(flatten)]
    which: Which,
}

/// Resets them.
pub(super) async fn run(args: ResetArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let request = pb::ResetRequest { name: Some(args.which.name()) };
    let answer = service.operators().reset(request).await.map_err(|status| service.explain(&status))?.into_inner();
    if manner.is_json {
        output::print(&Object::default().with("circuits", answer.circuits).line()?)?;
    } else {
        output::print(&format!("{}: {} reset", args.which.words(), count(answer.circuits.into(), "circuit")))?;
    }
    Ok(ExitCode::SUCCESS)
}
