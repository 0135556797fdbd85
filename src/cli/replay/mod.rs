//! `tripnote replay`: recorded sessions through the engine of the service, before a policy is switched on.
//!
//! Asks no service: the policies come from configuration files.

mod object;
mod table;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::text::{count, parse_span, span};
use super::wiring::{engine_settings, environment};
use super::{Manner, output};
use crate::config::Config;
use crate::engine::clock::{Clock as _, SystemClock};
use crate::replay::page::page;
use crate::replay::{Input, Policy, Progress, ReplaySettings, Replayed, THREADS_MAX, replay};

/// The name of the policy of no file.
const DEFAULT_POLICY: &str = "default";

/// Recordings and policies.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status: 0 replayed, 2 wrong usage, 1 where no session could be read or any other error.")]
pub(super) struct ReplayArgs {
    /// Recorded sessions, a session, a list of messages or an event a line; - for standard input
    #[arg(required = true, value_name = "FILE|-")]
    files: Vec<String>,
    /// The configuration file of the policy in force
    #[arg(long, short, env = "TRIPNOTE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Compare: once, the policy in force with that of this file; twice, those of the two files
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
    /// Write a page with plots, which needs nothing but itself
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// The virtual time that one step of the model takes; events bring their own times
    #[arg(long, value_name = "SPAN", default_value = "5s", value_parser = parse_span)]
    pace: u64,
    /// Threads; one for each processor unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=THREADS_MAX as i64))]
    threads: Option<u16>,
    /// End at the first line that cannot be read
    #[arg(long)]
    strict: bool,
}

/// Replays.
pub(super) fn run(args: &ReplayArgs, manner: Manner) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(args.policy.len() <= 2, "`--policy` is given {} times, at most 2 are compared", args.policy.len());
    let clock = SystemClock::start();
    let threads = args.threads.map(usize::from).or_else(|| std::thread::available_parallelism().ok().map(Into::into));
    let settings = ReplaySettings {
        policies: policies(args)?,
        pace_ms: args.pace,
        threads: threads.unwrap_or(1).min(THREADS_MAX),
        is_strict: args.strict,
    };
    let inputs: Vec<Input> = args.files.iter().map(|file| input(file)).collect();
    let bytes = inputs.iter().map(Input::size).sum::<Option<u64>>();
    let mut shown = Shown { bytes, is_terminal: std::io::stderr().is_terminal() };
    let replayed = replay(&inputs, &settings, &mut |progress| shown.show(progress));
    shown.clear();
    let replayed = replayed?;
    if let Some(path) = &args.html {
        std::fs::write(path, page(&replayed)).with_context(|| format!("cannot write the page `{}`", path.display()))?;
    }
    let text = if manner.is_json { object::of(&replayed).line()? } else { table::of(&replayed, manner.paint) };
    output::print(text.trim_end())?;
    told(&replayed, clock.now().0);
    let sessions = replayed.first().map_or(0, |figures| figures.sessions.all());
    if sessions == 0 {
        anyhow::bail!("no session could be read: see `tripnote replay --help` for what a line may hold");
    }
    Ok(ExitCode::SUCCESS)
}

fn input(file: &str) -> Input {
    if file == "-" { Input::Stdin } else { Input::File(file.into()) }
}

/// One policy, or two to be compared.
fn policies(args: &ReplayArgs) -> anyhow::Result<Vec<Policy>> {
    let mut files: Vec<Option<&Path>> = args.policy.iter().map(|path| Some(path.as_path())).collect();
    if files.len() < 2 {
        files.insert(0, args.config.as_deref());
    }
    files.into_iter().map(policy).collect()
}

fn policy(file: Option<&Path>) -> anyhow::Result<Policy> {
    let config = match file {
        Some(path) => Config::load_with_env(path, environment)?,
        None => Config::default(),
    };
    let name = file.map_or_else(|| DEFAULT_POLICY.to_owned(), |path| path.display().to_string());
    Ok(Policy { name, settings: engine_settings(&config, 1)? })
}

/// What a person is shown while it runs.
struct Shown {
    bytes: Option<u64>,
    is_terminal: bool,
}

impl Shown {
    fn show(&mut self, progress: Progress) {
        if !self.is_terminal {
            return;
        }
        let percent = self.bytes.and_then(|all| progress.bytes.saturating_mul(100).checked_div(all));
        let percent = percent.map(|percent| format!("{:3} %  ", percent.min(100))).unwrap_or_default();
        let Progress { sessions, calls, .. } = progress;
        let mut stderr = std::io::stderr().lock();
        // where standard error is gone, nobody is left to be shown anything
        let _ = write!(stderr, "\r\x1b[K{percent}{}, {}", count(sessions, "session"), count(calls, "call"));
        let _ = stderr.flush();
    }

    fn clear(&self) {
        if self.is_terminal {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

/// Faults go to standard error, a line each; then how fast it was, for a person.
fn told(replayed: &Replayed, took_ms: u64) {
    let faults = &replayed.faults;
    for fault in &faults.shown {
        output::complain(&format!("tripnote: {}", super::text::one_line(&fault.to_string())));
    }
    let more = faults.count.saturating_sub(faults.shown.len() as u64);
    if more > 0 {
        output::complain(&format!("tripnote: {more} more could not be read"));
    }
    let calls = replayed.first().map_or(0, |figures| figures.calls);
    let rate = calls.saturating_mul(1_000).checked_div(took_ms).map(|rate| format!(", {rate} a second"));
    output::remark(&format!("{} in {}{}", count(calls, "call"), span(took_ms), rate.unwrap_or_default()));
}
