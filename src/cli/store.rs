//! `tripnote store`: what a stopped service has kept, for whoever looks after it. Takes the directory as a service does, so
//! that no service runs on it meanwhile.

use std::fs;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::durable::data_dir;
use super::text::count;
use super::wiring::environment;
use super::{Manner, output};
use crate::config::Config;
use crate::engine::ports::{Begun, Journal as _};
use crate::store::redb::RedbJournal;
use crate::store::{Directory, export, import};

/// Which store, and what to do.
#[derive(Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// The configuration file that names the directory; without one the platform's state directory
    #[arg(long, short, global = true, env = "TRIPNOTE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, clap::Subcommand)]
enum StoreCommand {
    /// Look at every page, repair what a crash left, and say what is kept
    Check,
    /// Give back the room in the file that is not used
    Compact,
    /// Write what is kept as JSON lines to standard output; the key is not among them
    Export,
    /// Read JSON lines from standard input into a directory that keeps nothing yet
    Import,
}

/// Runs the command.
pub(crate) fn run(args: &StoreArgs, manner: Manner) -> anyhow::Result<ExitCode> {
    let config = match &args.config {
        Some(path) => Config::load_with_env(path, environment)?,
        None => Config::default().with_env(environment)?,
    };
    let path = data_dir(&config.settings.store)?;
    let is_import = matches!(args.command, StoreCommand::Import);
    if !is_import && !path.is_dir() {
        bail!("`{}` is no directory: no service has kept anything there", path.display());
    }
    let directory = Directory::take(&path)?;
    let mut journal = directory.journal()?;
    match args.command {
        StoreCommand::Check => check(&directory, &mut journal, manner),
        StoreCommand::Compact => compact(&directory, &mut journal, manner),
        StoreCommand::Export => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            export(&mut journal, &mut out)?;
            out.flush().context("the lines cannot be written")?;
            Ok(ExitCode::SUCCESS)
        }
        StoreCommand::Import => {
            let was_empty = journal.is_empty()?;
            let imported = import(&mut journal, &mut BufReader::new(std::io::stdin().lock()));
            if imported.is_err() && was_empty {
                drop(journal);
                fs::remove_file(directory.file()).context("a half of the lines was left behind")?;
            }
            let records = imported?;
            tell(
                manner,
                &json!({ "records": records }),
                &format!("{} imported", count(u64::try_from(records).unwrap_or(u64::MAX), "record")),
            )
        }
    }
}

fn check(directory: &Directory, journal: &mut RedbJournal, manner: Manner) -> anyhow::Result<ExitCode> {
    let was_whole = journal.check()?;
    let Begun { incarnation, .. } = journal.last()?;
    let (mut records, mut bytes) = (0_u64, 0_u64);
    journal.load(&mut |_, value| {
        records += 1;
        bytes += value.len() as u64;
    })?;
    let file_bytes = fs::metadata(directory.file())?.len();
    let object = json!({
        "was_whole": was_whole, "incarnation": incarnation, "records": records, "bytes": bytes, "file_bytes": file_bytes,
    });
    let state = if was_whole { "whole" } else { "repaired" };
    tell(
        manner,
        &object,
        &format!(
            "{state}: {} of {bytes} bytes in a file of {file_bytes}, after {}",
            count(records, "record"),
            count(incarnation, "start")
        ),
    )
}

fn compact(directory: &Directory, journal: &mut RedbJournal, manner: Manner) -> anyhow::Result<ExitCode> {
    let before = fs::metadata(directory.file())?.len();
    journal.compact()?;
    let after = fs::metadata(directory.file())?.len();
    tell(
        manner,
        &json!({ "before_bytes": before, "after_bytes": after }),
        &format!("{before} bytes before, {after} after"),
    )
}

fn tell(manner: Manner, object: &serde_json::Value, line: &str) -> anyhow::Result<ExitCode> {
    output::print(&if manner.is_json { object.to_string() } else { line.to_owned() })?;
    Ok(ExitCode::SUCCESS)
}
