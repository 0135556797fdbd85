//! What the service does, told in lines: an input and what comes of it. Every file of `tests/fixtures/tables` is played
//! twice: on the machine itself (the pure core, or the engine where several breakers are involved) and through a real
//! server on a socket.
//!
//! The language, by example; `tokens`, `language` and `wanted` read it, `play` plays it:
//!
//! ```text
//! runs on core                                       # or on engine; both also through the server
//! config <<TOML                                      # for every case that has none of its own
//! …
//! TOML
//! case 5  a probe that never reports
//! at 0s   4x admit, fail                             -> 3x counted, tripped error_rate retry 10s
//! at 10s  admit as P by agent key k1 in s1 call c1   -> probe for 5s
//! at 14s  admit                                      -> refused error_rate half_open retry 1s
//! at 15s  report P ok took 80ms                      -> stale half_open
//! at 16s  report P status 503 header "retry-after: 30"
//! at 16s  circuit error_rate on target:api           -> half_open gen 2 level 0
//! at 16s  events but refused                         -> tripped error_rate for 10s, probing, probe_lost
//! ```
//!
//! Each case begins at 0s with a machine that has seen nothing. A call goes to `api` unless it says `to`. What a line does
//! not mention is not compared; a line without an arrow must be let through and counted. `t1..t9` is one call to each.
//! Beside what the lines say, every refusal is checked against spec 01 and every history for gaps (`checks`).

mod checks;
mod concurrent;
mod fact;
mod grpc;
mod language;
mod machine;
mod play;
mod pure;
mod tokens;
mod wanted;

use self::grpc::ThroughGrpc;
use self::language::Table;
use self::machine::{InProcess, Machine};
use self::pure::PureCore;

/// Plays every case of a table, each on a machine of its own.
fn play(file: &str, make: impl Fn(&Table, &str) -> Box<dyn Machine>) {
    let text = std::fs::read_to_string(path(file)).unwrap();
    let table = language::table(file, &text);
    assert!(table.cases.iter().all(|case| !case.lines.is_empty()), "{file}: a case without lines");
    let wrong: Vec<String> =
        table.cases.iter().flat_map(|case| play::play(file, case, &mut *make(&table, &case.config))).collect();
    assert!(wrong.is_empty(), "{} lines came out otherwise\n{}", wrong.len(), wrong.join("\n"));
}

fn path(file: &str) -> String {
    format!("{}/tests/fixtures/tables/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn in_process(table: &Table, config: &str) -> Box<dyn Machine> {
    if table.on_core { Box::new(PureCore::new(config)) } else { Box::new(InProcess::new(config)) }
}

fn through_grpc(_: &Table, config: &str) -> Box<dyn Machine> {
    Box::new(ThroughGrpc::new(config))
}

macro_rules! tables {
    ($($name:ident),+ $(,)?) => {
        $(mod $name {
            #[test]
            fn in_process() {
                super::play(concat!(stringify!($name), ".table"), super::in_process);
            }

            #[test]
            fn through_grpc() {
                super::play(concat!(stringify!($name), ".table"), super::through_grpc);
            }
        })+

        /// No table lies about unplayed.
        #[test]
        fn every_table_is_played() {
            let files = std::fs::read_dir(path("")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
            let mut files: Vec<String> = files.collect();
            files.sort();
            let mut played = vec![$(concat!(stringify!($name), ".table")),+];
            played.sort_unstable();
            assert_eq!(files, played);
        }
    };
}

tables![
    backoff, breaker, calls, clocks, defaults, fallback, fan_out, half_open, hints, latch, latency, outcomes,
    overrides, peers, permits, reload, reporters, scopes, shadow, signals, windows
];
