//! `tripnote completions`: what makes a shell complete this program's words.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Cli, output};

/// Which shell.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints them.
pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new(); // `generate` panics where it cannot write, and a pipe may be closed
    clap_complete::generate(args.shell, &mut Cli::command(), "tripnote", &mut script);
    output::print_raw(&script)?;
    Ok(ExitCode::SUCCESS)
}
