//! `tripnote sim`: many scripted agents meet scripted faults through the real service, and the service's figures are held
//! against the script's own.
//!
//! The service and its wire are real and on loopback; time is told and not waited for, so that a seed means the same
//! figures on every machine. With a service that runs elsewhere time is real and nobody waits.

mod agent;
mod dice;
mod figures;
mod host;
mod log;
mod mix;
mod show;
mod truth;
mod world;

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;

use self::agent::Agent;
use self::dice::Dice;
use self::figures::Figures;
use self::host::{Host, Time};
use self::mix::Mix;
use self::world::{Fault, Trouble};
use super::connect::{Address, Service};
use super::{Manner, output, wiring};
use crate::config::{Config, Listen};
use crate::engine::clock::{Clock as _, ManualClock, SystemClock};
use crate::wire::pb;

/// The breakers of the simulation's own service.
const BREAKERS: &str = include_str!("breakers.toml");
/// 2026-01-01T14:01:30Z, at which the told time begins.
const BEGINS_UNIX_MS: i64 = 1_767_276_090_000;
const SESSIONS_MAX: i64 = 100_000;
/// Sessions between two looks at how far it is.
const PROGRESS_EACH: u32 = 100;

/// How many agents, and who they are.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --connect a service runs in this process, on a clock that is told. With it the service \
    there is used, in real time: nobody waits for a contract's time, and calls of others at the same time are counted as \
    differences.\n\nExit status: 0 the service counted what the script knows, 1 it did not."
)]
pub(super) struct SimArgs {
    /// What all chance is drawn from: the same seed, the same figures
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Agent runs, at most 100,000
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=SESSIONS_MAX))]
    sessions: u32,
    /// Who is told a wording: WORDING=obedient:N,stubborn:N,rephrasing:N,wandering:N in percent; may be repeated
    #[arg(long, value_name = "MIX")]
    mix: Vec<Mix>,
}

/// What a run came to.
#[derive(Debug)]
struct Outcome {
    /// By the script.
    truth: Figures,
    /// By the service.
    service: Figures,
    /// The service's own answer.
    answer: pb::GetBehaviourResponse,
    /// Calls that the agents asked for.
    calls: u64,
}

/// Runs it, against the service at an address or one of its own.
pub(super) async fn run(args: SimArgs, running: Option<&Address>, manner: Manner) -> anyhow::Result<ExitCode> {
    let outcome = match running {
        Some(address) => elsewhere(&args, address).await?,
        None => here(&args, own_config()?).await?,
    };
    let differences = outcome.truth.differences(&outcome.service);
    for line in show::lines(&args, &outcome, &differences, manner)? {
        output::print(&line)?;
    }
    Ok(if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The configuration of the service that runs in this process.
fn own_config() -> anyhow::Result<Config> {
    let mut config = Config::parse(BREAKERS).context("the simulation's own breakers are at fault")?;
    config.settings.grpc = Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    config.settings.http = None;
    Ok(config)
}

async fn here(args: &SimArgs, config: Config) -> anyhow::Result<Outcome> {
    let clock = Arc::new(ManualClock::at_unix_ms(BEGINS_UNIX_MS));
    let running = wiring::start(config, None, Arc::clone(&clock) as _).await?;
    let address: Address = running.endpoint().parse().map_err(anyhow::Error::msg)?;
    let service = Service::reach(&address).await?;
    let outcome = play(args, &service, &Time::Told(clock), "").await?;
    drop(service); // its connection would be waited for
    running.stop().await?;
    Ok(outcome)
}

async fn elsewhere(args: &SimArgs, address: &Address) -> anyhow::Result<Outcome> {
    let service = Service::reach(address).await?;
    let clock = SystemClock::start();
    // numbers that no run before had, so that nothing is open yet
    let run = clock.wall().unix_ms(clock.now()).to_string();
    output::remark("time is real here: contracts are not waited for, and a thousand sessions take about a minute");
    play(args, &service, &Time::Real(Arc::new(clock)), &run).await
}

/// All sessions one after the other; what the service had counted before is taken off.
async fn play(args: &SimArgs, service: &Service, time: &Time, run: &str) -> anyhow::Result<Outcome> {
    let before = Figures::from(&behaviour(service).await?);
    let (mut truth, mut calls) = (Figures::default(), 0_u64);
    for number in 0..args.sessions {
        if number % PROGRESS_EACH == 0 && number > 0 {
            output::progress(&format!("{number} of {} sessions", args.sessions));
        }
        let mut dice = Dice::of(args.seed, number);
        let trouble = trouble(&mut dice);
        let host = Host::new(service, time, format!("{run}{number:06}"), trouble);
        let agent = Agent::new(host, dice, &args.mix, time.can_be_waited_for());
        let (log, close) = agent.live(trouble.fault).await?;
        calls += u64::try_from(log.calls.len()).unwrap_or(u64::MAX);
        truth::add(&mut truth, &log, close);
    }
    output::progress("");
    let answer = behaviour(service).await?;
    let service = Figures::from(&answer).less(&before);
    Ok(Outcome { truth, service, answer, calls })
}

/// What goes wrong in a session, and for how long.
fn trouble(dice: &mut Dice) -> Trouble {
    let [first, more @ ..] = Fault::ALL;
    let fault = dice.one_of(first, &more);
    let until_ms = match fault {
        Fault::Outage | Fault::OutageAlone | Fault::Relapse => Some(dice.one_of(20_000, &[40_000, 120_000])),
        Fault::Quota => Some(dice.one_of(15_000, &[60_000])),
        Fault::Malformed => dice.one_of(None, &[Some(80_000)]),
        Fault::EmptyLoop | Fault::Credential => None,
        Fault::LostWrite => Some(7_000), // only the first reply is lost
    };
    Trouble { fault, until_ms }
}

async fn behaviour(service: &Service) -> anyhow::Result<pb::GetBehaviourResponse> {
    let request = pb::GetBehaviourRequest::default();
    let answer = service.operators().get_behaviour(request).await.map_err(|status| service.explain(&status))?;
    Ok(answer.into_inner())
}

#[cfg(test)]
mod tests;
