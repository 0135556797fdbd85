//! What the service costs over the gRPC stack that it stands on: the real server beside one that answers the same
//! messages with constants.
//!
//! `cargo bench --bench rpc` (about four minutes; `-- --quick` for a smoke run). Both servers run as children of this
//! program, pinned to core 0, the client to core 1; in each round the client drives one and then the other for a slice,
//! in changing order. Figures are medians over the rounds; ratios and differences are taken inside each round first,
//! as the machine's speed changes between rounds. CPU is the server's own, from `/proc/PID/task/*/schedstat`. p50 and
//! p99 are of the median window of 100 ms. `-- --faults` drives a server whose store answers beside one whose store never does,
//! in place of all else. Prints figures beside goals and judges none of them by its exit status.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench that fails should stop loudly"
)]
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]

mod support {
    pub(crate) mod figures;
    pub(crate) mod histogram;
    pub(crate) mod load;
    pub(crate) mod pace;
    pub(crate) mod process;
    pub(crate) mod servers;
    pub(crate) mod subject;
}

use support::figures::{Goal, is_asked_for, load, median};
use support::load::{Client, Message, Pace, Slice, connect, drive, open_circuit};
use support::process::{Server, pin_client};
use support::{histogram, servers};

struct Variant {
    name: &'static str,
    over: Transport,
    message: Message,
    pace: Pace,
    goals: &'static [Aim],
}

#[derive(Clone, Copy)]
enum Transport {
    Tcp,
    Unix,
}

/// What spec 11 asks for.
#[derive(Clone, Copy)]
enum Aim {
    /// Calls a second against the no-op server, at least.
    Calls(f64),
    /// CPU of a call against the no-op server, at most.
    Cpu(f64),
    /// CPU of a call beyond that of the no-op server, at most, in microseconds.
    CpuBeyondUs(f64),
    /// p99 against the no-op server, at most.
    P99(f64),
}

const ONE: Pace = Pace::Closed { connections: 1, tasks_each: 1 };
const SIXTEEN: Pace = Pace::Closed { connections: 4, tasks_each: 4 };
const STEADY: Pace = Pace::Open { connections: 4, per_second: 10_000 };
const CONNECTIONS: usize = 4;
const UNARY: &[Aim] = &[Aim::Calls(0.95), Aim::Cpu(1.10)];
const WAVE: &[Aim] = &[Aim::Calls(0.70)];
const FULL: &[Aim] = &[Aim::CpuBeyondUs(5.0)];
const PACED: &[Aim] = &[Aim::P99(1.15)];

const VARIANTS: [Variant; 14] = [
    Variant { name: "Admit, TCP 1x1", over: Transport::Tcp, message: Message::Plain, pace: ONE, goals: UNARY },
    Variant { name: "Admit, TCP 4x4", over: Transport::Tcp, message: Message::Plain, pace: SIXTEEN, goals: UNARY },
    Variant { name: "Admit, Unix 1x1", over: Transport::Unix, message: Message::Plain, pace: ONE, goals: UNARY },
    Variant { name: "Admit, Unix 4x4", over: Transport::Unix, message: Message::Plain, pace: SIXTEEN, goals: UNARY },
    Variant { name: "Admit, TCP 10k/s", over: Transport::Tcp, message: Message::Plain, pace: STEADY, goals: PACED },
    Variant { name: "Admit, Unix 10k/s", over: Transport::Unix, message: Message::Plain, pace: STEADY, goals: PACED },
    Variant { name: "Admit full, TCP 1x1", over: Transport::Tcp, message: Message::Full, pace: ONE, goals: FULL },
    Variant { name: "Admit full, TCP 4x4", over: Transport::Tcp, message: Message::Full, pace: SIXTEEN, goals: FULL },
    Variant {
        name: "AdmitWave 16, TCP 4x4",
        over: Transport::Tcp,
        message: Message::Wave(16),
        pace: SIXTEEN,
        goals: WAVE,
    },
    Variant {
        name: "AdmitWave 64, TCP 4x4",
        over: Transport::Tcp,
        message: Message::Wave(64),
        pace: SIXTEEN,
        goals: WAVE,
    },
    Variant {
        name: "Guard, window 16, TCP 1x1",
        over: Transport::Tcp,
        message: Message::Stream(16),
        pace: ONE,
        goals: WAVE,
    },
    Variant {
        name: "Guard, window 64, TCP 1x1",
        over: Transport::Tcp,
        message: Message::Stream(64),
        pace: ONE,
        goals: WAVE,
    },
    Variant { name: "refusal, TCP 1x1", over: Transport::Tcp, message: Message::Refused, pace: ONE, goals: &[] },
    Variant { name: "refusal, TCP 4x4", over: Transport::Tcp, message: Message::Refused, pace: SIXTEEN, goals: &[] },
];

/// A server and the connections to it.
struct Driven {
    server: Server,
    clients: Vec<Client>,
}

/// The no-op server and the real one over one transport.
struct Pair([Driven; 2]);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--serve") {
        return servers::run(&arguments[at + 1], arguments.get(at + 2).map(String::as_str));
    }
    histogram::check();
    let (rounds, windows) = if is_asked_for("--quick") { (3, 3) } else { (9, 10) };
    let is_pinned = pin_client();
    let pinned = if is_pinned { "servers on core 0, client on core 1" } else { "nothing pinned: expect more noise" };
    println!("rpc: {rounds} rounds of {windows} windows of 100 ms for each server, {pinned}, load before {}", load());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        if is_asked_for("--faults") {
            return faults(is_pinned, rounds, windows).await;
        }
        let tcp = Pair::start(Transport::Tcp, is_pinned).await;
        let unix = Pair::start(Transport::Unix, is_pinned).await;
        let rows = measured(&tcp, &unix, rounds, windows).await;
        print(&rows);
    });
    println!("\nload after {}", load());
}

/// What a store that stalls does to calls (spec 11: at most 1.5 times the quiet p99).
async fn faults(is_pinned: bool, rounds: usize, windows: usize) {
    let Pair([quiet, stalled]) = Pair::of(Transport::Tcp, is_pinned, ["quiet", "stalled"]).await;
    println!("\n| variant | p99 µs, store answers / stalls | p99 ratio | goal |\n|---|---|---|---|");
    let kinds = [("Admit, 10k/s", Message::Plain, STEADY), ("Admit full, 4x4", Message::Full, SIXTEEN)];
    for (name, message, pace) in kinds {
        let mut both = Vec::new();
        for _ in 0..rounds {
            let first = drive(&quiet.server, &quiet.clients, message, pace, windows).await;
            both.push([first, drive(&stalled.server, &stalled.clients, message, pace, windows).await]);
        }
        let p99 = |at: usize| median(both.iter().map(|round| round[at].p99_us));
        let ratio = median(both.iter().map(|[quiet, stalled]| stalled.p99_us / quiet.p99_us));
        println!("| {name} | {:.0} / {:.0} | {ratio:.3} | {} |", p99(0), p99(1), Goal::AtMost(1.5).judged(ratio));
    }
}

impl Pair {
    async fn start(over: Transport, is_pinned: bool) -> Self {
        Self::of(over, is_pinned, ["noop", "tripnote"]).await
    }

    async fn of(over: Transport, is_pinned: bool, [one, other]: [&str; 2]) -> Self {
        let start = async |which: &str| {
            let path = std::env::temp_dir().join(format!("tripnote-bench-{}-{which}.sock", std::process::id()));
            let path = path.to_str().unwrap();
            let server = match over {
                Transport::Tcp => Server::start(&["--serve", which], is_pinned),
                Transport::Unix => Server::start(&["--serve", which, path], is_pinned),
            };
            let mut clients = Vec::new();
            for _ in 0..CONNECTIONS {
                clients.push(connect(&server.endpoint).await);
            }
            open_circuit(&mut clients[0]).await;
            Driven { server, clients }
        };
        Self([start(one).await, start(other).await])
    }
}

/// The slices of a variant, a pair for each round: the no-op server's and the real one's.
type Rounds = Vec<[Slice; 2]>;

async fn measured(tcp: &Pair, unix: &Pair, rounds: usize, windows: usize) -> Vec<Rounds> {
    let mut rows = Vec::new();
    for variant in &VARIANTS {
        let Pair([noop, real]) = match variant.over {
            Transport::Tcp => tcp,
            Transport::Unix => unix,
        };
        let drive = async |driven: &Driven| {
            drive(&driven.server, &driven.clients, variant.message, variant.pace, windows).await
        };
        let mut own = Vec::new();
        for round in 0..rounds {
            own.push(if round % 2 == 0 {
                let first = drive(noop).await;
                [first, drive(real).await]
            } else {
                let first = drive(real).await;
                [drive(noop).await, first]
            });
        }
        rows.push(own);
    }
    rows
}

fn print(rows: &[Rounds]) {
    println!(
        "\n| variant | server | calls/s | p50 / p99 µs | stalled windows | CPU µs a call |\n|---|---|---|---|---|---|"
    );
    for (variant, rounds) in VARIANTS.iter().zip(rows) {
        for (at, server) in ["no-op", "tripnote"].iter().enumerate() {
            let of = |figure: fn(&Slice) -> f64| median(rounds.iter().map(|round| figure(&round[at])));
            println!(
                "| {} | {server} | {:.0} | {:.0} / {:.0} | {:.0} % | {:.2} |",
                variant.name,
                of(|slice| slice.calls_per_s),
                of(|slice| slice.p50_us),
                of(|slice| slice.p99_us),
                of(|slice| slice.stalled) * 100.0,
                of(|slice| slice.cpu_us_per_call),
            );
        }
    }
    println!("\n| variant | calls/s ratio | CPU ratio (beyond, µs) | p99 ratio | goals |\n|---|---|---|---|---|");
    for (variant, rounds) in VARIANTS.iter().zip(rows) {
        let ratio = |figure: fn(&Slice) -> f64| median(rounds.iter().map(|[noop, real]| figure(real) / figure(noop)));
        let calls = ratio(|slice| slice.calls_per_s);
        let cpu = ratio(|slice| slice.cpu_us_per_call);
        let beyond = median(rounds.iter().map(|[noop, real]| real.cpu_us_per_call - noop.cpu_us_per_call));
        let p99 = ratio(|slice| slice.p99_us);
        let judged = variant.goals.iter().map(|aim| match *aim {
            Aim::Calls(least) => format!("calls {}", Goal::AtLeast(least).judged(calls)),
            Aim::Cpu(most) => format!("CPU {}", Goal::AtMost(most).judged(cpu)),
            Aim::CpuBeyondUs(most) => format!("CPU beyond {}", Goal::AtMost(most).judged(beyond)),
            Aim::P99(most) => format!("p99 {}", Goal::AtMost(most).judged(p99)),
        });
        let judged = judged.collect::<Vec<_>>().join(", ");
        println!("| {} | {calls:.3} | {cpu:.3} ({beyond:+.2}) | {p99:.3} | {judged} |", variant.name);
    }
    let foreign = median(rows.iter().flatten().flatten().map(|slice| slice.foreign));
    println!("\nOther programs took {:.0} % of a core (median over all slices).", foreign * 100.0);
}
