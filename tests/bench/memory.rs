//! What a target takes in memory: resident bytes of a process that holds a million of them.
//!
//! `cargo bench --bench memory` (`-- --quick`: a tenth of it). Each row is a child of its own, so that none inherits the
//! freed memory of another. A target is admitted and reported well once; then a manual clock passes all windows and the
//! sweep gives back what they took. Bytes freed inside the heap may stay resident with the allocator, so that a row
//! tells three figures: after first use, after the sweep, and after the same use again, which must find room in what was
//! freed. The row that is never reported holds no window at any time: it is what an idle target takes without the
//! allocator's leftovers. Prints figures beside goals and judges none of them by its exit status.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench that fails should stop loudly"
)]

mod support {
    pub(crate) mod figures;
    pub(crate) mod subject;
}

use std::process::Command;
use std::sync::Arc;

use tripnote::domain::breaker::policy::BreakerPolicy;
use tripnote::domain::ids::TargetName;
use tripnote::domain::observation::{CallResult, Classification};
use tripnote::domain::signal::CircuitKind;
use tripnote::engine::clock::{Clock, ManualClock};
use tripnote::engine::operate::SweepCursor;
use tripnote::engine::{Decision, Engine, Reported};

use support::figures::{Goal, is_asked_for};
use support::subject::{call, config, engine, target};

const IDLE_BYTES_MAX: f64 = 400.0;
const PEAK_MB_MAX: f64 = 600.0;
/// Past every window and every permit.
const LONG_MS: u64 = 2 * 3_600_000;

/// A row: its argument and what it tells.
const ROWS: [(&str, &str); 4] = [
    ("own", "a breaker each, admitted and reported"),
    ("unreported", "a breaker each, admitted only"),
    ("shared", "all in one breaker, admitted and reported"),
    ("failed", "a breaker each, with one failure"),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let count = if is_asked_for("--quick") { 100_000 } else { 1_000_000 };
    if let Some(at) = arguments.iter().position(|argument| argument == "--row") {
        return measure(&arguments[at + 1], count);
    }
    println!("memory: {count} targets");
    println!(
        "\n| targets | bytes a target after use | after the sweep | after use again | peak MB | goals |\n|---|---|---|---|---|---|"
    );
    for (row, _) in ROWS {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--row", row]).args(is_asked_for("--quick").then_some("--quick"));
        assert!(child.status().unwrap().success(), "the row `{row}` failed");
    }
    println!(
        "\nA name of 34 bytes is among them. Goals: {IDLE_BYTES_MAX} B an idle target, {PEAK_MB_MAX} MB for a million."
    );
}

fn measure(row: &str, count: usize) {
    let clock = Arc::new(ManualClock::at_unix_ms(1_767_276_090_000));
    let engine = engine(config(BreakerPolicy::default(), count), Arc::clone(&clock) as Arc<dyn Clock>);
    let empty = resident("VmRSS:");
    // Ids in a path make one code of all (spec 2.1).
    let name = |number| {
        if row == "shared" {
            TargetName::parse(&format!("GET /v2/charge/{number:012}")).unwrap()
        } else {
            target(number)
        }
    };
    let use_all = || {
        for number in 0..count {
            use_once(&engine, row, &name(number));
        }
    };
    let each = |bytes: u64| bytes.saturating_sub(empty) as f64 / count as f64;
    use_all();
    let used = each(resident("VmRSS:"));
    clock.advance_ms(LONG_MS);
    let mut cursor = SweepCursor::default();
    while !engine.sweep(&mut cursor, clock.now()) {}
    let idle = each(resident("VmRSS:"));
    use_all();
    let again = each(resident("VmRSS:"));
    let peak_mb = resident("VmHWM:") as f64 / 1e6;
    assert_eq!(engine.targets(), count, "some targets were evicted");
    let told = ROWS.iter().find(|(own, _)| *own == row).map_or(row, |(_, told)| told);
    let of_million = peak_mb * 1e6 / count as f64;
    let judged = format!(
        "idle {}, peak {}",
        Goal::AtMost(IDLE_BYTES_MAX).judged(idle),
        Goal::AtMost(PEAK_MB_MAX).judged(of_million)
    );
    println!("| {told} | {used:.0} | {idle:.0} | {again:.0} | {peak_mb:.0} | {judged} |");
}

fn use_once(engine: &Engine, row: &str, target: &TargetName) {
    let now = engine.clock().now();
    let Decision::Permit { granted, .. } = engine.admit(&call(target), now) else { panic!("a closed circuit refused") };
    let classification = match row {
        "unreported" => return,
        "failed" => Classification::Failed(CircuitKind::ErrorRate),
        _ => Classification::Ok,
    };
    let _ = engine.report(Reported::Permit(&granted.token), &CallResult::new(classification), now);
}

/// A figure of `/proc/self/status`, in bytes.
fn resident(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
}
