//! What typing a tool's result costs, beside parsers that build a tree of the same bytes.
//!
//! `cargo bench --bench typing` (`-- --quick` for a smoke run). All rows take turns in slices of a millisecond, so that
//! a slow phase of the machine hits all alike; a figure is the median over the rounds, a ratio the median of the
//! ratios inside each round. Prints figures beside goals and judges none of them by its exit status.
//!
//! An operation of tripnote is `type_result` and `text_of`, from the bytes as they came to the digest and the text of
//! the fingerprint; one of the others builds a `Value` of the same bytes and drops it. Of a text within a text, the others
//! read the outer one only. Bytes are those that were live at the peak, beyond those before the operation, as a counting
//! allocator saw them. Counting costs those most who allocate most: without it serde_json is faster by up to a fifth.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a bench that fails should stop loudly")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a bench reads the clock")]

mod support {
    pub(crate) mod figures;
    pub(crate) mod payloads;
}

use std::hint::black_box;
use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;
use tripnote::domain::observation::transport::TransportFacts;
use tripnote::domain::observation::{Observation, RawResult, ToldTexts, fingerprint, type_result};
use tripnote::domain::tool::Tool;

use support::figures::{Goal, is_asked_for, load, median};
use support::payloads::{Payload, payloads};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

type Way = fn(&[u8]);

/// The subject first, then what it is measured beside.
const WAYS: [(&str, Way); 3] = [("tripnote", typed), ("serde_json", of_serde_json), ("sonic-rs", of_sonic)];
const SUBJECT: usize = 0;
const SERDE_JSON: usize = 1;
/// Spec 11, for the large matrix.
const TIMES_FASTER_MIN: f64 = 3.0;
const TIMES_PAYLOAD_MAX: f64 = 2.0;

fn main() {
    let (rounds, slice) =
        if is_asked_for("--quick") { (3, Duration::from_millis(1)) } else { (101, Duration::from_millis(1)) };
    println!("typing: median of {rounds} interleaved rounds, load before {}", load());
    let payloads = payloads();
    for payload in &payloads {
        assert_eq!(look(&payload.bytes), payload.expected, "{}", payload.name);
    }
    let loops: Vec<[u64; WAYS.len()]> =
        payloads.iter().map(|payload| WAYS.map(|(_, way)| loops_for(way, &payload.bytes, slice))).collect();
    let mut times = vec![Vec::new(); payloads.len()];
    for _ in 0..rounds {
        for (at, payload) in payloads.iter().enumerate() {
            let mut round = [0.0; WAYS.len()];
            for (way, (_, run)) in WAYS.iter().enumerate() {
                let took = timed(*run, &payload.bytes, loops[at][way]);
                round[way] = took.as_secs_f64() * 1e9 / loops[at][way] as f64;
            }
            times[at].push(round);
        }
    }
    print(&payloads, &times);
    println!("\nload after {}", load());
}

/// How many operations fill a slice.
fn loops_for(way: Way, bytes: &[u8], slice: Duration) -> u64 {
    let took = timed(way, bytes, 8).as_secs_f64() / 8.0;
    (slice.as_secs_f64() / took.max(1e-9)) as u64 + 1
}

fn timed(way: Way, bytes: &[u8], loops: u64) -> Duration {
    let start = Instant::now();
    for _ in 0..loops {
        way(black_box(bytes));
    }
    start.elapsed()
}

fn print(payloads: &[Payload], times: &[Vec<[f64; WAYS.len()]>]) {
    println!(
        "\n| payload | by | µs, median (least to most) | ns a byte | against serde_json | peak bytes a payload byte | goals |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (payload, rounds) in payloads.iter().zip(times) {
        for (way, (name, run)) in WAYS.iter().enumerate() {
            let own = || rounds.iter().map(|round| round[way]);
            let (least, most) = (own().fold(f64::MAX, f64::min), own().fold(0.0, f64::max));
            let faster = median(rounds.iter().map(|round| round[SERDE_JSON] / round[way]));
            let size = payload.bytes.len() as f64;
            let peak = peak_of(*run, &payload.bytes) as f64 / size;
            let goals = if payload.has_goals && way == SUBJECT {
                let (speed, memory) = (Goal::AtLeast(TIMES_FASTER_MIN), Goal::AtMost(TIMES_PAYLOAD_MAX));
                format!("{}, {}", speed.judged(faster), memory.judged(peak))
            } else {
                String::new()
            };
            println!(
                "| {} ({size} B) | {name} | {:.2} ({:.2} to {:.2}) | {:.2} | {faster:.2} × | {peak:.2} | {goals} |",
                payload.name,
                median(own()) / 1e3,
                least / 1e3,
                most / 1e3,
                median(own()) / size,
            );
        }
    }
}

/// Bytes that were live at the peak of an operation, beyond those before it.
fn peak_of(way: Way, bytes: &[u8]) -> usize {
    way(bytes); // what is made once is made before
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    way(black_box(bytes));
    ALLOCATOR.peak_usage().saturating_sub(before)
}

fn look(bytes: &[u8]) -> Observation {
    let (tool, transport) = (Tool::unknown(), TransportFacts::default());
    let raw = RawResult {
        tool_name: "query",
        tool: &tool,
        effect: tool.effect,
        transport: &transport,
        payload: Some(bytes),
        content_type: None,
        arguments: Some(br#"{"query":"rate(http_requests_total[5m])","datasourceUid":"prom-1"}"#),
        is_cut_by_caller: false,
        told: ToldTexts::default(),
        custom: &[],
        now_unix_ms: 0,
    };
    let typing = type_result(&raw);
    black_box(fingerprint::text_of(&raw, &typing));
    typing.observation
}

fn typed(bytes: &[u8]) {
    black_box(look(bytes));
}

/// Text that is no JSON is told so early by all of them.
fn of_serde_json(bytes: &[u8]) {
    drop(black_box(serde_json::from_slice::<serde_json::Value>(bytes)));
}

fn of_sonic(bytes: &[u8]) {
    drop(black_box(sonic_rs::from_slice::<sonic_rs::Value>(bytes)));
}
