//! `tripnote demo`: one job, run twice; only the text that a refusal puts before the agent differs.
//!
//! The service, its API and the HTTP calls are real and on loopback. Time alone is told: the service runs on a clock that
//! moves a few seconds a turn, so that nothing waits and the story is the same on a slow machine. All figures are
//! counted.

mod agent;
mod api;
mod harness;
mod story;

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;

use self::agent::{Agent, Next};
use self::api::Api;
use self::harness::{Fate, Harness};
use self::story::{Story, Turn};
use super::connect::{Address, Service};
use super::{Manner, output, wiring};
use crate::config::{Config, Listen};
use crate::domain::contract::Variant;
use crate::engine::clock::{Clock as _, ManualClock, SystemClock};

/// The breakers of the demo's service.
const BREAKERS: &str = include_str!("breakers.toml");
/// The job.
const INVOICES: [&str; 5] = ["INV-1", "INV-2", "INV-3", "INV-4", "INV-5"];
/// The time that the agent takes for one turn.
const TURN_MS: u64 = 3_000;
/// The variants that are compared, in the order of the runs.
const VARIANTS: [Variant; 2] = [Variant::Weak, Variant::Contract];
/// Turns of one run; a job that takes more has gone in a circle.
const TURNS_MAX: u32 = 200;

/// What was counted in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    variant: Variant,
    /// Tool calls that the agent asked for.
    asked: u32,
    /// Those that the service refused.
    refused: u32,
    /// Those that went out and failed.
    failed: u32,
    /// HTTP requests that reached the endpoint that breaks.
    v2_requests: u32,
    /// Invoices that the API has charged.
    charged: usize,
    /// Turns of the agent, of which each makes one call or waits.
    turns: u32,
    /// Time on the agent's clock.
    took_ms: u64,
}

impl Tally {
    const fn of(variant: Variant) -> Self {
        Self { variant, asked: 0, refused: 0, failed: 0, v2_requests: 0, charged: 0, turns: 0, took_ms: 0 }
    }

    /// Calls that were asked for in vain.
    const fn wasted(&self) -> u32 {
        self.refused + self.failed
    }

    fn count(&mut self, fate: Fate) {
        self.asked += 1;
        self.refused += u32::from(fate == Fate::Refused);
        self.failed += u32::from(matches!(fate, Fate::Failed(_)));
    }
}

/// Tells the story.
pub(super) async fn run(manner: Manner) -> anyhow::Result<ExitCode> {
    tell(&mut Story::new(manner, &mut output::print)).await?;
    Ok(ExitCode::SUCCESS)
}

async fn tell(story: &mut Story<'_>) -> anyhow::Result<[Tally; 2]> {
    story.open(INVOICES.len(), TURN_MS)?;
    let [first, second] = VARIANTS;
    let tallies = [run_once(1, first, story).await?, run_once(2, second, story).await?];
    story.close(&tallies, INVOICES.len())?;
    Ok(tallies)
}

/// One run of the job against a service and an API of its own.
async fn run_once(number: usize, variant: Variant, story: &mut Story<'_>) -> anyhow::Result<Tally> {
    let api = Api::start().await?;
    let clock = Arc::new(ManualClock::at_unix_ms(unix_ms()));
    let running = wiring::start(config(variant)?, None, Arc::clone(&clock) as _).await?;
    let address: Address = running.endpoint().parse().map_err(anyhow::Error::msg)?;
    story.run(number, variant, &address.to_string(), api.address())?;
    let service = Service::reach(&address).await?;
    let harness = Harness::new(service, api.address(), format!("invoice-job-{variant}"));
    let mut tally = job(variant, &harness, &clock, story).await?;
    tally.v2_requests = api.v2_requests();
    tally.charged = api.charged().await;
    drop(harness); // its connection would be waited for
    running.stop().await?;
    api.stop();
    Ok(tally)
}

async fn job(variant: Variant, harness: &Harness, clock: &ManualClock, story: &mut Story<'_>) -> anyhow::Result<Tally> {
    let mut tally = Tally::of(variant);
    let mut agent = Agent::new();
    for invoice in INVOICES {
        agent.begin(invoice);
        while let Some(call) = agent.next_call() {
            anyhow::ensure!(tally.turns < TURNS_MAX, "the agent is not through after {TURNS_MAX} turns");
            tally.turns += 1;
            clock.advance_ms(TURN_MS);
            let at_ms = clock.now().0;
            let seen = harness.call(tally.turns, &call).await?;
            tally.count(seen.fate);
            let next = agent.read(&seen.text);
            if let Next::Wait(wait_ms) = next {
                clock.advance_ms(wait_ms);
            }
            story.turn(&Turn {
                variant,
                number: tally.turns,
                at_ms,
                invoice,
                tool: &call.tool,
                seen: &seen,
                next: &next,
            })?;
        }
    }
    tally.took_ms = clock.now().0;
    Ok(tally)
}

fn config(variant: Variant) -> anyhow::Result<Config> {
    let experimental = variant.is_experimental();
    let text = format!("experimental = {experimental}\ncontract.variant = \"{variant}\"\n{BREAKERS}");
    let mut config = Config::parse(&text).context("the demo's own breakers are at fault")?;
    config.settings.grpc = Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    config.settings.http = None;
    Ok(config)
}

/// The Unix time at which the story begins.
fn unix_ms() -> i64 {
    let clock = SystemClock::start();
    i64::try_from(clock.wall().unix_ms(clock.now())).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
