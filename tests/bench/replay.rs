//! How many recorded calls a second a replay plays, beside only parsing the same JSON.
//!
//! `cargo bench --bench replay` (`-- --quick` for a smoke run). One thread and all of them, in turns; a figure is the median
//! over the rounds. Reads the recorded sessions beside the project, or those of `TRIPNOTE_REPLAY_DATA`, written out several
//! times so that a round takes long enough. Prints figures beside goals and judges none of them by its exit status.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a bench that fails should stop loudly")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]

mod support {
    pub(crate) mod figures;
    pub(crate) mod subject;
}

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use tripnote::config::Config;
use tripnote::domain::breaker::routes::Routes;
use tripnote::engine::{EngineSettings, Reading};
use tripnote::replay::{Input, Policy, ReplaySettings, Replayed, replay};

use support::figures::{Goal, is_asked_for, load, median};

/// Spec 11.
const CALLS_A_SECOND_MIN: f64 = 50_000.0;
/// How often the recording is written out.
const COPIES: usize = 20;

fn settings(threads: usize) -> ReplaySettings {
    let config = Config::default();
    let contract = config.settings.contract.clone();
    let settings = EngineSettings {
        routes: Routes::new(1, &config.default_policy, &config.breakers, None).unwrap(),
        contract,
        permit_for_ms: config.settings.permit_for_ms,
        limits: config.settings.limits,
        reading: Reading { tools: config.tools.clone(), formats: config.formats.clone() },
        session: config.settings.session.settings(None),
        failure: config.failure,
    };
    let policies = vec![Policy { name: "default".to_owned(), settings }];
    ReplaySettings { policies, pace_ms: 5_000, threads, is_strict: true }
}

fn timed<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let result = black_box(work());
    (start.elapsed().as_secs_f64(), result)
}

fn recording() -> (PathBuf, String) {
    let beside = format!("{}/../shared/data", env!("CARGO_MANIFEST_DIR"));
    let folder = std::env::var("TRIPNOTE_REPLAY_DATA").unwrap_or(beside);
    let path = format!("{folder}/airline-sessions.jsonl");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")).repeat(COPIES);
    let file = std::env::temp_dir().join(format!("tripnote-replay-{}.jsonl", std::process::id()));
    std::fs::write(&file, &text).unwrap();
    (file, text)
}

fn main() {
    let rounds = if is_asked_for("--quick") { 3 } else { 21 };
    let (file, text) = recording();
    let processors = std::thread::available_parallelism().map_or(1, Into::into);
    println!("replay: median of {rounds} interleaved rounds, load before {}", load());
    let play = |threads: usize| -> (f64, Replayed) {
        timed(|| replay(&[Input::File(file.clone())], &settings(threads), &mut |_| {}).unwrap())
    };
    let parse =
        || text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()).map(black_box).count();
    let (mut one, mut all, mut parsing, mut calls) = (vec![], vec![], vec![], 0);
    for _ in 0..rounds {
        let (took, replayed) = play(1);
        calls = replayed.first().unwrap().calls;
        one.push(took);
        all.push(play(processors).0);
        parsing.push(timed(parse).0);
    }
    let ratio = median(one.iter().zip(&parsing).map(|(replay, parse)| replay / parse));
    let rate = |times: &[f64]| median(times.iter().map(|took| calls as f64 / took));
    println!("\n| {calls} calls | calls/s | goal |\n|---|---|---|");
    for (name, times) in [("one thread".to_owned(), &one), (format!("{processors} threads"), &all)] {
        println!("| replay, {name} | {:.0} | {} |", rate(times), Goal::AtLeast(CALLS_A_SECOND_MIN).judged(rate(times)));
    }
    println!("| only parsing into `serde_json::Value`, one thread | {:.0} | |", rate(&parsing));
    println!("\nreplay on one thread takes {ratio:.1} times as long as parsing the same text; load after {}", load());
    let _ = std::fs::remove_file(file);
}
