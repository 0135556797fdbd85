//! L4: the command line.

mod serve;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(name = "tripnote", version)]
enum Command {
    /// Starts the service
    Serve(serve::ServeArgs),
}

/// Runs the command of this process.
#[must_use]
pub fn main() -> ExitCode {
    let Command::Serve(args) = Command::parse();
    serve::run(args).unwrap_or(ExitCode::FAILURE)
}
