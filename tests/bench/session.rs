//! What a session costs a call beside the same call without one, and how the review of an answer grows with it.
//!
//! `cargo bench --bench session` (`-- --quick` for a smoke run). The rows take turns in slices of a millisecond; a figure
//! is the median over the rounds, a difference the median of the differences inside each round. An operation is an
//! `admit` and its `report_result`. The allocator counts, which costs those most who allocate most. Prints figures beside goals and judges none of them by its exit status.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench that fails should stop loudly"
)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a bench reads the clock")]

mod support {
    pub(crate) mod figures;
    pub(crate) mod subject;
}

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;
use tripnote::domain::breaker::policy::BreakerPolicy;
use tripnote::domain::ids::TargetName;
use tripnote::domain::observation::Classification;
use tripnote::domain::observation::transport::TransportFacts;
use tripnote::engine::clock::{Clock, SystemClock};
use tripnote::engine::review::ReviewedAnswer;
use tripnote::engine::{Arguments, AskedAs, Call, CallId, Decision, Engine, Report, Reported, Said, Seen};

use support::figures::{Goal, is_asked_for, load, median};
use support::subject::{config, engine, target};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Sessions whose memory is told.
const SESSIONS: u64 = 1_000;
/// A run of an agent; then the next one begins.
const CALLS_OF_A_SESSION: u64 = 50;
/// Spec 11: what a quiet session may hold, in bytes.
const QUIET_BYTES_MAX: f64 = 2_000.0;
const ROWS: [(&str, Option<usize>); 3] =
    [("judged by the caller", None), ("with a payload of 130 B", Some(0)), ("with a payload of 20 kB", Some(200))];
/// Pieces that would take longer than their length if anything looked back.
const PIECES: [&str; 6] =
    ["checkout is fine. ", "no errors, ", "query_loki_logs unknown. ", "1-", "百", "validator v2.5.0, "];

/// Makes calls, each with arguments of its own so that none is a repeat.
struct Agent {
    engine: Engine,
    clock: Arc<dyn Clock>,
    target: TargetName,
    payload: Option<Vec<u8>>,
    calls: u64,
}

impl Agent {
    fn new(samples: Option<usize>) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
        let engine = engine(config(BreakerPolicy::default(), 10), Arc::clone(&clock));
        Self { engine, clock, target: target(0), payload: samples.map(payload), calls: 0 }
    }

    fn call(&mut self, in_session: bool) {
        self.calls += 1;
        let now = self.clock.now();
        let session = if in_session { format!("s{}", self.calls / CALLS_OF_A_SESSION) } else { String::new() };
        let arguments = format!(r#"{{"expr":"metric_{}"}}"#, self.calls);
        let asked_as = AskedAs { tool_name: "query_prometheus", ..AskedAs::default() };
        let call = Call {
            id: CallId { session: &session, attempt: 1, ..CallId::default() },
            arguments: Arguments::Bytes(arguments.as_bytes()),
            asked_as,
            ..Call::of_target(&self.target)
        };
        let Decision::Permit { granted, .. } = self.engine.admit(&call, now) else { panic!("refused") };
        let said = self.payload.as_deref().map_or(Said::Judged(Classification::Ok, None), |payload| {
            Said::Seen(Seen {
                transport: TransportFacts { http_status: Some(200), ..TransportFacts::default() },
                payload: Some(payload),
                content_type: None,
                arguments: None,
                is_cut_by_caller: false,
            })
        });
        let reported = Reported::Permit(&granted.token);
        let report =
            Report { reported, said, latency_ms: Some(20), asked_as, attempt: None, refused_by: None, step: None };
        black_box(self.engine.report_result(&report, now));
    }

    /// Nanoseconds for one call.
    fn timed(&mut self, in_session: bool, slice: Duration) -> f64 {
        let (start, mut calls) = (Instant::now(), 0_u32);
        while start.elapsed() < slice {
            (0..16).for_each(|_| self.call(in_session));
            calls += 16;
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
    }
}

/// A Prometheus vector of so many samples and one.
fn payload(more: usize) -> Vec<u8> {
    let sample = |at: usize| {
        format!(r#"{{"metric":{{"instance":"10.0.0.{at}:9100","job":"node"}},"value":[1788264000.1,"{at}.5"]}}"#)
    };
    let samples: Vec<String> = (0..=more).map(sample).collect();
    format!(r#"{{"status":"success","data":{{"resultType":"vector","result":[{}]}}}}"#, samples.join(",")).into_bytes()
}

fn main() {
    let (rounds, slice) = (if is_asked_for("--quick") { 5 } else { 201 }, Duration::from_millis(2));
    println!("session: median of {rounds} interleaved rounds, load before {}", load());
    println!("\n| a call | ns without a session | ns in one | added, ns |\n|---|---|---|---|");
    for (name, samples) in ROWS {
        let mut agent = Agent::new(samples);
        let pairs: Vec<(f64, f64)> =
            (0..rounds).map(|_| (agent.timed(false, slice), agent.timed(true, slice))).collect();
        let added = median(pairs.iter().map(|(without, with)| with - without));
        let (without, with) = (median(pairs.iter().map(|pair| pair.0)), median(pairs.iter().map(|pair| pair.1)));
        println!("| {name} | {without:.0} | {with:.0} | {added:.0} |");
    }
    memory();
    reviews(rounds.min(9));
    println!("\nload after {}", load());
}

/// What a session holds after its first call, and after fifty.
fn memory() {
    println!();
    for calls in [1, CALLS_OF_A_SESSION] {
        let mut agent = Agent::new(Some(0));
        (0..10_000).for_each(|_| agent.call(false)); // what the breaker keeps is there before
        let before = ALLOCATOR.current_usage();
        for session in 1..=SESSIONS {
            agent.calls = session * CALLS_OF_A_SESSION - 1;
            (0..calls).for_each(|_| agent.call(true));
        }
        let held = ALLOCATOR.current_usage().saturating_sub(before) as f64 / agent.engine.session_count() as f64;
        let goal = if calls == 1 { Goal::AtMost(QUIET_BYTES_MAX).judged(held) } else { String::new() };
        println!("a session after {calls} calls: {held:.0} B {goal}");
    }
}

/// An answer eight times as long should take about eight times as long, whatever it is made of.
fn reviews(rounds: u32) {
    let mut agent = Agent::new(Some(0));
    (0..10).for_each(|_| agent.call(true));
    let review = |text: &str| {
        let now = agent.clock.now();
        let answer = ReviewedAnswer { task: "", text };
        let start = Instant::now();
        let reviewed = black_box(agent.engine.review("", "s0", &answer, now));
        assert!(reviewed.is_some(), "the session is there");
        start.elapsed().as_secs_f64() * 1e6
    };
    println!("\n| an answer made of | µs for 8 KiB | µs for 64 KiB | times (8 is linear) |\n|---|---|---|---|");
    for piece in PIECES {
        let (short, long) = (piece.repeat(8_192 / piece.len()), piece.repeat(65_536 / piece.len()));
        let pairs: Vec<(f64, f64)> = (0..rounds).map(|_| (review(&short), review(&long))).collect();
        let (of_short, of_long) = (median(pairs.iter().map(|pair| pair.0)), median(pairs.iter().map(|pair| pair.1)));
        let times = median(pairs.iter().map(|(short, long)| long / short));
        println!("| `{piece}` | {of_short:.0} | {of_long:.0} | {times:.1} |");
    }
}
