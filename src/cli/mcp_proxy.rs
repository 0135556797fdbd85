//! `tripnote mcp-proxy`: puts a proxy between this program's standard input and output and an MCP server.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tokio::signal::unix::{SignalKind, signal};
use tonic::transport::Channel;

use super::connect::{Address, Service};
use super::output::complain;
use super::serve::start_log;
use super::wiring::{self, Running, StartOptions, environment};
use crate::config::Config;
use crate::engine::clock::{Clock, ManualClock, SystemClock};
use crate::mcp::{self, Ended, Process, Remote, Settings, WhenDown};

/// Which server, and how to stand in front of it.
#[derive(Debug, clap::Args)]
pub(super) struct McpProxyArgs {
    /// Ask no service elsewhere, but one in this process that keeps nothing when it ends
    #[arg(long)]
    embedded: bool,
    /// The configuration file of the service in this process; without one the defaults are in force
    #[arg(long, short, value_name = "FILE", requires = "embedded")]
    config: Option<PathBuf>,
    /// For tests: a clock of the service in this process that stands at this Unix time in milliseconds
    #[arg(long, value_name = "UNIX_MS", requires = "embedded")]
    test_clock: Option<i64>,
    /// Leave tools that cannot be called now out of the list of tools, until they can
    #[arg(long)]
    hide_open: bool,
    /// What to do with calls that nobody can be asked about
    #[arg(long, value_name = "HOW", default_value = "by_effect", value_parser = ways_when_down())]
    when_down: WhenDown,
    /// How long an answer of the service is waited for, in milliseconds
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    answer_within: u64,
    /// The agent run that the calls belong to; without one, every connection is a run of its own
    #[arg(long, value_parser = session)]
    session: Option<String>,
    /// What stands before the name of a tool in the name of its target, such as `mcp:grafana/`
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,
    /// Start the server again when it ends, and play the client's beginning to it
    #[arg(long)]
    restart: bool,
    /// The server is not a program but behind this URL, by streamable HTTP
    #[arg(long, conflicts_with = "command")]
    url: Option<String>,
    /// The file whose line is sent as `Authorization`, such as `Bearer …`
    #[arg(long, value_name = "FILE", requires = "url")]
    authorization_file: Option<PathBuf>,
    /// The server's program and its arguments
    #[arg(last = true, required_unless_present = "url", value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn ways_when_down() -> impl TypedValueParser<Value = WhenDown> {
    const WAYS: [(&str, WhenDown); 3] =
        [("go_on", WhenDown::GoOn), ("refuse", WhenDown::Refuse), ("by_effect", WhenDown::ByEffect)];
    PossibleValuesParser::new(WAYS.map(|(word, _)| word)).try_map(|word| {
        let known = WAYS.iter().find(|(name, _)| *name == word);
        known.map(|(_, way)| *way).ok_or_else(|| format!("no way is called `{word}`"))
    })
}

fn session(text: &str) -> Result<String, String> {
    if (1..=256).contains(&text.len()) { Ok(text.to_owned()) } else { Err("1 to 256 bytes are due".to_owned()) }
}

/// Runs the command; its status is the server's.
pub(super) fn run(args: McpProxyArgs, connect: &Address) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(stand(args, connect));
    // Reading standard input cannot be called off, and nobody waits for it any more.
    runtime.shutdown_background();
    Ok(ExitCode::from(ended?.status))
}

async fn stand(args: McpProxyArgs, connect: &Address) -> anyhow::Result<Ended> {
    let (running, channel) = match args.embedded {
        true => embedded(&args).await.map(|(running, channel)| (Some(running), channel))?,
        false => (None, Service::channel_to(connect)?),
    };
    let settings = Settings {
        service: mcp::Service::new(channel, Duration::from_millis(args.answer_within)),
        when_down: args.when_down,
        session: args.session,
        connection: connection()?,
        prefix: args.prefix,
        hides_open: args.hide_open,
        restarts: args.restart,
        say: |line| complain(&format!("tripnote: {line}")),
    };
    let server = Server { url: args.url, authorization_file: args.authorization_file, command: args.command };
    let ended = stand_before(server, settings).await;
    if let Some(running) = running {
        running.stop().await?;
    }
    ended
}

/// Which server.
struct Server {
    url: Option<String>,
    authorization_file: Option<PathBuf>,
    command: Vec<OsString>,
}

async fn stand_before(server: Server, settings: Settings) -> anyhow::Result<Ended> {
    let client = (tokio::io::stdin(), tokio::io::stdout());
    if let Some(url) = server.url {
        let authorization = server.authorization_file.map(|path| {
            let text = std::fs::read_to_string(&path);
            text.with_context(|| format!("cannot read `{}`", path.display()))
        });
        let mut remote = Remote::new(&url, authorization.transpose()?.as_deref())?;
        return Ok(mcp::run(settings, client, &mut remote, told_to_end()?).await?);
    }
    let mut command = server.command.into_iter();
    let program = command.next().context("a command is due behind `--`")?;
    let mut process = Process { program: program.clone(), arguments: command.collect() };
    let ended = mcp::run(settings, client, &mut process, told_to_end()?).await;
    ended.with_context(|| format!("cannot start `{}`", program.display()))
}

async fn embedded(args: &McpProxyArgs) -> anyhow::Result<(Running, Channel)> {
    let config = match &args.config {
        Some(path) => Config::load_with_env(path, environment)?,
        None => Config::default().with_env(environment)?,
    };
    start_log(config.settings.log);
    let test_clock = args.test_clock.map(|unix_ms| Arc::new(ManualClock::at_unix_ms(unix_ms)));
    let clock: Arc<dyn Clock> = match &test_clock {
        Some(clock) => Arc::clone(clock) as Arc<dyn Clock>,
        None => Arc::new(SystemClock::start()),
    };
    wiring::start_inside(config, StartOptions { path: args.config.clone(), test_clock, durable: None }, clock).await
}

/// A name for this connection that no other has.
fn connection() -> anyhow::Result<String> {
    let mut name = [0; 8];
    getrandom::fill(&mut name).map_err(|error| anyhow::anyhow!("the system gives no random numbers: {error}"))?;
    Ok(format!("mcp-{:016x}", u64::from_be_bytes(name)))
}

/// Done when a signal asks this program to end.
fn told_to_end() -> anyhow::Result<impl Future<Output = ()>> {
    let mut ends = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupts = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    Ok(async move {
        tokio::select! {
            _ = ends.recv() => {}
            _ = interrupts.recv() => {}
        }
    })
}
