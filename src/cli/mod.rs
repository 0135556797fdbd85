//! L4: the command line. Text in, calls to a running service, text out; only `serve` and `demo` own state.
//!
//! Exit status: 0 allowed or done, 3 tripped, 2 wrong usage, 1 any other error, which is told in one line on standard
//! error.

mod admit;
mod behaviour;
mod circuit;
mod circuits;
mod completions;
mod config;
mod connect;
mod dashboards;
mod decide;
mod demo;
mod durable;
mod explain;
mod hold;
mod hook;
mod json;
mod mcp_proxy;
mod output;
mod peek;
mod replay;
mod report;
mod reset;
mod review;
mod serve;
mod session;
mod sim;
mod source;
mod store;
mod tail;
mod text;
mod token;
mod trip;
mod which;
mod wiring;
mod words;

use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use self::connect::{Address, Service};
use self::text::Paint;

/// The exit status of a command that met a trip.
const TRIPPED: u8 = 3;
/// The exit status of wrong usage.
const MISUSED: u8 = 2;

/// A circuit breaker service for the tool calls of language-model agents that explains itself
#[derive(Debug, Parser)]
#[command(
    name = "tripnote",
    version,
    after_help = "Exit status: 0 allowed or done, 3 tripped, 2 wrong usage, 1 error."
)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// What stands over [`Common`] in a command's help.
const HEADING: &str = "Options of all commands";

/// What every command takes.
#[derive(Debug, clap::Args)]
struct Common {
    /// Where the service is: host:port, http://host:port or unix:/path
    #[arg(long, global = true, value_name = "ADDR", help_heading = HEADING, env = connect::VARIABLE, hide_env_values = true, default_value = connect::DEFAULT)]
    connect: Address,
    /// Print JSON for programs, one object a line
    #[arg(long, global = true, help_heading = HEADING)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service
    Serve(serve::ServeArgs),
    /// Watch one job run twice, with a weak message and with the trip contract
    Demo,
    /// Run scripted agents through the service, and hold its figures against the script's
    Sim(sim::SimArgs),
    /// Ask whether a tool call may go out: prints a permit, or the contract for the model
    Admit(admit::AdmitArgs),
    /// Tell how a call went
    Report(report::ReportArgs),
    /// Show an agent run turn by turn, or its evidence
    Session(session::SessionArgs),
    /// Check whether an answer is borne out by the evidence of its session
    Review(review::ReviewArgs),
    /// Ask what may follow a failed step: the same again, another host, a narrower route, or nothing
    Decide(decide::DecideArgs),
    /// See how a result is read: what it is, by which rule and why; asks no service
    Explain(explain::ExplainArgs),
    /// Replay recorded sessions: what would have been steered, halted or refused; asks no service
    Replay(replay::ReplayArgs),
    /// See which targets can be called now, without taking anything
    Peek(peek::PeekArgs),
    /// List the circuits
    Circuits(circuits::CircuitsArgs),
    /// Show everything about one breaker's circuits, with the contract that each hands out
    Circuit(circuit::CircuitArgs),
    /// See whether the message works: what models did with the contracts of each breaker, by variant
    Behaviour(behaviour::BehaviourArgs),
    /// Hold circuits open, closed or in shadow, or let go of them
    Override(hold::HoldArgs),
    /// Close circuits and forget what they counted
    Reset(reset::ResetArgs),
    /// Follow what happens
    Tail(tail::TailArgs),
    /// Answer one hook of an agent program, or print what makes it send them
    Hook(hook::HookArgs),
    /// Look after what a stopped service has kept: check, compact, export or import it; asks no service
    Store(store::StoreArgs),
    /// Check a configuration file, or print the default one or the schema
    Config(config::ConfigArgs),
    /// Stand in front of an MCP server: every tool call is asked for and reported, all else passes as it is
    McpProxy(mcp_proxy::McpProxyArgs),
    /// Write the Grafana dashboards of the metrics, or check those that are there; asks no service
    Dashboards(dashboards::DashboardsArgs),
    /// Print the completions of a shell
    Completions(completions::CompletionsArgs),
}

/// How the person or program that asked wants to be answered.
#[derive(Clone, Copy, Debug)]
struct Manner {
    is_json: bool,
    paint: Paint,
}

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let matches = match Cli::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return misused(&error),
    };
    // a service that is only there by habit is not to be filled with a simulation
    let is_named =
        matches.subcommand().is_some_and(|(_, given)| given.value_source("connect") == Some(ValueSource::CommandLine));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match run(cli, is_named) {
        Ok(status) => status,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&format!("tripnote: {}", output::explained(&error)));
            ExitCode::FAILURE
        }
    }
}

/// Tells of wrong usage, or shows the help that was asked for. A hook that is written down wrong must not refuse every call
/// of its program, which is what the usual status means there.
fn misused(error: &clap::Error) -> ExitCode {
    let _ = error.print(); // where even that is closed, nobody is left to be told
    let mut words = std::env::args().skip(1);
    let mut command = words.next();
    while let Some(word) = command.as_deref().filter(|word| word.starts_with('-')) {
        if word == "--connect" {
            words.next();
        }
        command = words.next();
    }
    match (error.use_stderr(), command.as_deref()) {
        (false, _) => ExitCode::SUCCESS,
        (true, Some("hook")) => ExitCode::FAILURE,
        (true, _) => ExitCode::from(MISUSED),
    }
}

/// `names_service`: where the service is stands on the command line.
fn run(cli: Cli, names_service: bool) -> anyhow::Result<ExitCode> {
    let Cli { common, command } = cli;
    let manner = Manner { is_json: common.json, paint: Paint::of(&std::io::stdout()) };
    match command {
        Command::Serve(args) => serve::run(args),
        Command::Store(args) => store::run(&args, manner),
        Command::Config(args) => config::run(&args, manner),
        Command::Explain(args) => explain::run(args, manner),
        Command::Replay(args) => replay::run(&args, manner),
        Command::Dashboards(args) => dashboards::run(&args, manner),
        Command::Completions(args) => completions::run(&args),
        Command::Hook(args) => hook::run(&args, &common.connect),
        Command::McpProxy(args) => mcp_proxy::run(args, &common.connect),
        Command::Demo => in_runtime(demo::run(manner)),
        Command::Sim(args) => in_runtime(sim::run(args, Some(&common.connect).filter(|_| names_service), manner)),
        Command::Admit(args) => {
            in_runtime(async { admit::run(args, &Service::reach(&common.connect).await?, manner).await })
        }
        Command::Report(args) => {
            in_runtime(async { report::run(args, &Service::reach(&common.connect).await?, manner).await })
        }
        Command::Decide(args) => {
            in_runtime(async { decide::run(args, &Service::reach(&common.connect).await?, manner).await })
        }
        Command::Peek(args) => {
            in_runtime(async { peek::run(args, &Service::reach(&common.connect).await?, manner).await })
        }
        Command::Session(args) => {
            in_runtime(async { session::run(args, &Service::reach(&common.connect).await?, manner).await })
        }
        Command::Review(args) => {
            in_runtime(async { review::run(args, &Service::reach(&common.connect).await?, manner).await })
        }
        Command::Circuits(args) => {
            in_runtime(async { circuits::run(args, &Service::reach(&common.connect).await?, manner).await })
        }
        Command::Circuit(args) => {
            in_runtime(async { circuit::run(args, &Service::reach(&common.connect).await?, manner).await })
        }
        Command::Behaviour(args) => {
            in_runtime(async { behaviour::run(args, &Service::reach(&common.connect).await?, manner).await })
        }
        Command::Override(args) => {
            in_runtime(async { hold::run(args, &Service::reach(&common.connect).await?, manner).await })
        }
        Command::Reset(args) => {
            in_runtime(async { reset::run(args, &Service::reach(&common.connect).await?, manner).await })
        }
        Command::Tail(args) => in_runtime(async { tail::run(args, &common.connect, manner).await }),
    }
}

fn in_runtime(command: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(command)
}

#[cfg(test)]
mod tests;
