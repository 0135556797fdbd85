//! `tripnote config`: checks a file as `serve` would read it, and prints what one can hold. Asks no service.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;

use super::json::Object;
use super::text::{Tone, count};
use super::{Manner, output};
use crate::config::{Config, Fault, LoadError, default_text, schema};

/// What to do.
#[derive(Debug, clap::Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Check a file and report all its faults at once
    Check {
        /// The file
        file: PathBuf,
    },
    /// Print a file with every key, its meaning and its default
    Default,
    /// Print the JSON Schema that editors complete and check the file by
    Schema,
}

/// Does it.
pub(super) fn run(args: &ConfigArgs, manner: Manner) -> anyhow::Result<ExitCode> {
    match &args.command {
        ConfigCommand::Check { file } => check(Config::load(file), manner),
        ConfigCommand::Default => done(default_text().trim_end()),
        ConfigCommand::Schema if manner.is_json => done(&schema().to_string()),
        ConfigCommand::Schema => done(&serde_json::to_string_pretty(&schema())?),
    }
}

fn done(text: &str) -> anyhow::Result<ExitCode> {
    output::print(text)?;
    Ok(ExitCode::SUCCESS)
}

fn check(loaded: Result<Config, LoadError>, manner: Manner) -> anyhow::Result<ExitCode> {
    let breakers = loaded.map(|config| u64::try_from(config.breakers.len()).unwrap_or(u64::MAX));
    match breakers {
        Ok(breakers) if manner.is_json => done(&json!({ "ok": true, "breakers": breakers }).to_string()),
        Ok(breakers) => done(&format!("{}: {}", manner.paint.dye(Tone::Good, "ok"), count(breakers, "breaker"))),
        Err(LoadError::Faulty { report, .. }) => {
            let faults = report.faults.iter();
            let lines: Vec<String> = if manner.is_json {
                faults.map(|fault| fault_object(fault).line()).collect::<anyhow::Result<_>>()?
            } else {
                faults.map(ToString::to_string).collect()
            };
            output::print(&lines.join("\n"))?;
            let faults = u64::try_from(lines.len()).unwrap_or(u64::MAX);
            output::remark(&format!("tripnote: {}: nothing of the file would be used", count(faults, "fault")));
            Ok(ExitCode::FAILURE)
        }
        Err(error @ (LoadError::Unreadable { .. } | LoadError::TooLarge { .. })) => Err(error.into()),
    }
}

fn fault_object(fault: &Fault) -> Object {
    Object::default()
        .with_text("path", &fault.path)
        .with_text("value", &fault.value)
        .with("rule", fault.rule.as_str())
        .with_some("line", fault.line)
}
