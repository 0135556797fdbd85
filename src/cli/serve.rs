//! `tripnote serve`: the service, until a signal ends it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

use super::durable::{Durable, data_dir};
use super::wiring::{self, StartOptions, environment};
use crate::config::{Config, LogFormat, LogLevel, LogSettings};
use crate::domain::time::Timestamp;
use crate::engine::clock::{Clock, ManualClock, SystemClock};
use crate::service::Reload as _;

/// Starts the service in the foreground.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// The configuration file; without one the defaults are in force
    #[arg(long, short, env = "TRIPNOTE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Worker threads; one thread serves a sidecar best
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Keep all in memory: a restart forgets open circuits, halted sessions and overrides
    #[arg(long)]
    ephemeral: bool,
    /// For tests: a clock that stands at this Unix time in milliseconds and moves only by the request header
    /// `tripnote-test-now-ms`
    #[arg(long, value_name = "UNIX_MS")]
    test_clock: Option<i64>,
}

/// Runs the command.
pub(crate) fn run(args: ServeArgs) -> anyhow::Result<ExitCode> {
    let config = match &args.config {
        Some(path) => Config::load_with_env(path, environment)?,
        None => Config::default().with_env(environment)?,
    };
    start_log(config.settings.log);
    let mut runtime = match args.threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    if args.threads > 1 {
        runtime.worker_threads(usize::from(args.threads));
    }
    runtime.enable_all().build()?.block_on(serve(config, args))
}

async fn serve(config: Config, args: ServeArgs) -> anyhow::Result<ExitCode> {
    let durable = match args.ephemeral {
        true => None,
        false => Some(Durable::open(&data_dir(&config.settings.store)?, config.settings.store.clone())?),
    };
    let anchor = durable.as_ref().and_then(Durable::begun).and_then(|begun| begun.anchor);
    let resumed = |unix_ms: u64| anchor.map_or(Timestamp(0), |anchor| anchor.resumed(unix_ms));
    let at = |unix_ms: i64| ManualClock::resume(unix_ms, resumed(u64::try_from(unix_ms).unwrap_or(0)));
    let test_clock = args.test_clock.map(|unix_ms| Arc::new(at(unix_ms)));
    let clock: Arc<dyn Clock> = match &test_clock {
        Some(clock) => Arc::clone(clock) as Arc<dyn Clock>,
        None => Arc::new(SystemClock::resume(&resumed)),
    };
    let breakers = config.breakers.len();
    let mut ends = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupts = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut reloads = signal(SignalKind::hangup()).context("cannot listen for SIGHUP")?;
    let options = StartOptions { path: args.config, test_clock, durable };
    let mut running = wiring::start_with(config, options, clock).await?;
    let endpoint = running.endpoint();
    let http = running.http_endpoint();
    tracing::info!(endpoint, http, breakers, threads = args.threads, "serving");
    let reloader = running.reloader();
    let watching = tokio::spawn(Arc::clone(&reloader).watch_file());
    let failed = loop {
        tokio::select! {
            _ = ends.recv() => break None,
            _ = interrupts.recv() => break None,
            _ = reloads.recv() => {
                let reloader = Arc::clone(&reloader);
                let _ = tokio::task::spawn_blocking(move || reloader.reload()).await; // what it did is in the log
            }
            ended = running.ended() => break Some(ended),
        }
    };
    watching.abort();
    if let Some(ended) = failed {
        ended?;
        return Ok(ExitCode::FAILURE);
    }
    tracing::info!("draining");
    running.stop().await?;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Begins to write the log to standard error.
pub(super) fn start_log(settings: LogSettings) {
    let level = match settings.level {
        LogLevel::Error => tracing::Level::ERROR,
        LogLevel::Warn => tracing::Level::WARN,
        LogLevel::Info => tracing::Level::INFO,
        LogLevel::Debug => tracing::Level::DEBUG,
    };
    use std::io::IsTerminal as _;
    // Only our own lines: a library's would be in its words, and may hold what a client sent.
    let ours = tracing_subscriber::filter::Targets::new().with_target("tripnote", level);
    let builder = tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false);
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::util::SubscriberInitExt as _;
    match settings.format {
        LogFormat::Text => {
            builder.with_ansi(std::io::stderr().is_terminal()).with_max_level(level).finish().with(ours).init()
        }
        LogFormat::Json => builder.json().flatten_event(true).with_max_level(level).finish().with(ours).init(),
    }
}
