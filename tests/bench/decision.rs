//! What one decision costs inside the process, beside the circuit breaker crates that know no keys, permits or signals.
//!
//! `cargo bench --bench decision` (`-- --quick` for a smoke run). All rows take turns in slices of some milliseconds, so
//! that a slow phase of the machine hits all alike; a figure is the median over the rounds, a ratio the median of the
//! ratios inside each round. Prints figures beside goals and judges none of them by its exit status.
//!
//! An operation of tripnote is an `admit` and its `report` with one read of the machine's clock for both, as a steady
//! agent has them in one RPC; it includes the names' keyed hashes, the look-ups and the permit's seal and its proof. An
//! operation of the others is their permission to call and the note of a success.
//!
//! `valgrind --tool=callgrind BENCH --pairs 20000` counts the instructions of these pairs alone; against `--pairs 0`, and
//! by file, that tells what a part of them costs on a machine that is never quiet.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench that fails should stop loudly"
)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a bench reads the clock")]

#[path = "support/peers.rs"]
mod peers;
mod support {
    pub(crate) mod figures;
    pub(crate) mod subject;
}

use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use tripnote::domain::breaker::policy::{BreakerPolicy, default_latency_policy};
use tripnote::domain::ids::TargetName;
use tripnote::domain::observation::{CallResult, Classification};
use tripnote::domain::signal::CircuitKind;
use tripnote::engine::clock::{Clock, SystemClock};
use tripnote::engine::{Decision, Engine, Reported};
use tripnote::service::rpc_methods;
use tripnote::telemetry::recorder::{Names, Recorder, Running};

use peers::peers;
use support::figures::{Goal, is_asked_for, load, median};
use support::subject::{call, config, engine, target};

/// Runs a number of operations in each of its threads; answers how long that took.
type Run = Box<dyn FnMut(u64) -> Duration>;

struct Row {
    name: &'static str,
    run: Run,
    /// The row that its ratio is against.
    beside: &'static str,
    goal: Option<Aim>,
}

#[derive(Clone, Copy)]
enum Aim {
    /// Nanoseconds for one operation.
    Time(Goal),
    /// Against the row beside.
    Ratio(Goal),
}

const FEW: usize = 10;
const MANY: usize = 1_000_000;
const IN_USE: usize = 1_000;
const FAILSAFE: &str = "failsafe consecutive(3)";
const FAILSAFE_SHARED: &str = "failsafe consecutive(3), 2 threads";
const FAILSAFE_OPEN: &str = "failsafe, open";
const FEW_ROW: &str = "tripnote, 10 targets";
const MANY_ROW: &str = "tripnote, 1,000,000 targets, all in use at random";
const REFUSAL_NS_MAX: f64 = 1_000.0;

/// Before a number of pairs of admit and report: these alone are made, for callgrind to count their instructions.
const PAIRS: &str = "--pairs";

fn main() {
    if let Some(pairs) = std::env::args().skip_while(|word| word != PAIRS).nth(1) {
        let few = Subject::new(BreakerPolicy::default(), FEW);
        return few.pass_some(pairs.parse().unwrap(), 0, FEW);
    }
    let (rounds, slice) =
        if is_asked_for("--quick") { (3, Duration::from_millis(2)) } else { (41, Duration::from_millis(5)) };
    println!("decision: median of {rounds} interleaved rounds, load before {}", load());
    let mut rows = peers();
    rows.extend(closed());
    rows.extend(open());
    let loops: Vec<u64> = rows.iter_mut().map(|row| loops_for(&mut row.run, slice)).collect();
    let mut times = vec![Vec::new(); rows.len()];
    for _ in 0..rounds {
        for (at, row) in rows.iter_mut().enumerate() {
            let took = (row.run)(loops[at]);
            times[at].push(took.as_secs_f64() * 1e9 / loops[at] as f64);
        }
    }
    print(&rows, &times);
    println!("\nload after {}. An operation of two threads is one of each of them.", load());
}

/// How many operations fill a slice.
fn loops_for(run: &mut Run, slice: Duration) -> u64 {
    let mut loops = 64;
    loop {
        let took = run(loops);
        if took * 4 >= slice || loops >= 1 << 30 {
            let wanted = slice.as_secs_f64() / took.as_secs_f64().max(1e-9) * loops as f64;
            return (wanted as u64).max(64);
        }
        loops *= 2;
    }
}

fn print(rows: &[Row], times: &[Vec<f64>]) {
    println!("\n| operation | ns, median (least to most) | against | ratio | goal |\n|---|---|---|---|---|");
    for (row, own) in rows.iter().zip(times) {
        let base = rows.iter().position(|other| other.name == row.beside).map(|at| &times[at]);
        let ratio = base.map_or(f64::NAN, |base| median(own.iter().zip(base).map(|(own, base)| own / base)));
        let middle = median(own.iter().copied());
        let (least, most) = (own.iter().copied().fold(f64::MAX, f64::min), own.iter().copied().fold(0.0, f64::max));
        let judged = match row.goal {
            None => String::new(),
            Some(Aim::Time(goal)) => goal.judged(middle) + ", in ns",
            Some(Aim::Ratio(goal)) => goal.judged(ratio) + ", as ratio",
        };
        println!("| {} | {middle:.0} ({least:.0} to {most:.0}) | {} | {ratio:.2} | {judged} |", row.name, row.beside);
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Two threads that start together; the time of the slower one.
fn timed_in_two(work: impl Fn(usize) + Sync) -> Duration {
    let together = Barrier::new(2);
    std::thread::scope(|scope| {
        let threads = [0, 1].map(|thread| {
            let (work, together) = (&work, &together);
            scope.spawn(move || {
                together.wait();
                timed(|| work(thread))
            })
        });
        threads.into_iter().map(|thread| thread.join().unwrap()).max().unwrap_or_default()
    })
}

// ---- tripnote ----

/// The RPC that a steady agent needs for an operation.
const PATH: &str = "/tripnote.v1.BreakerService/Admit";

/// An engine, its targets, and for each thread the place from which it goes on.
struct Subject {
    engine: Engine,
    targets: Vec<TargetName>,
}

impl Subject {
    /// Every target has been admitted and reported once.
    fn new(policy: BreakerPolicy, count: usize) -> Self {
        let engine = engine(config(policy, count), Arc::new(SystemClock::start()));
        let subject = Self { engine, targets: (0..count).map(target).collect() };
        for at in 0..count {
            subject.pass(at);
        }
        subject
    }

    fn pass(&self, at: usize) {
        let now = self.engine.clock().now();
        let Decision::Permit { granted, .. } = self.engine.admit(&call(&self.targets[at]), now) else {
            panic!("a closed circuit refused")
        };
        let result = CallResult::new(Classification::Ok);
        black_box(self.engine.report(Reported::Permit(&granted.token), &result, now));
    }

    /// The same with all that the service counts: every event, and one RPC an operation.
    fn counted(self) -> (Self, Arc<Recorder>) {
        let recorder = Arc::new(Recorder::new(&Names::default(), &rpc_methods()));
        let ear = Arc::clone(&recorder);
        self.engine.log().on_every_event(move |events| ear.events(events));
        (self, recorder)
    }

    /// Passes at targets between two places, in an order that no prefetcher guesses.
    fn pass_some(&self, loops: u64, from: usize, to: usize) {
        let mut dice = 0x9e37_79b9_7f4a_7c15_u64 ^ self.engine.clock().now().0 ^ from as u64;
        for _ in 0..loops {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            self.pass(from + (dice >> 11) as usize % (to - from));
        }
    }

    fn refused(&self) {
        let now = self.engine.clock().now();
        let Decision::Trip(refusal) = self.engine.admit(&call(&self.targets[0]), now) else {
            panic!("an open circuit let a call through")
        };
        black_box(refusal.rendered.text.len());
    }
}

fn with_latency() -> BreakerPolicy {
    let mut policy = BreakerPolicy::default();
    *policy.policies.at_mut(CircuitKind::Latency) = Some(default_latency_policy(2_000));
    policy
}

#[expect(clippy::too_many_lines, reason = "one table of rows")]
fn closed() -> Vec<Row> {
    let few = Arc::new(Subject::new(BreakerPolicy::default(), FEW));
    let (heard, recorder) = Subject::new(BreakerPolicy::default(), FEW).counted();
    let heard = Arc::new(heard);
    let few_slow = Arc::new(Subject::new(with_latency(), FEW));
    let many = Arc::new(Subject::new(BreakerPolicy::default(), MANY));
    let many_slow = Arc::new(Subject::new(with_latency(), MANY));
    let alone = |subject: &Arc<Subject>, count| -> Run {
        let subject = Arc::clone(subject);
        Box::new(move |loops| timed(|| subject.pass_some(loops, 0, count)))
    };
    let apart = |subject: &Arc<Subject>, count: usize| -> Run {
        let subject = Arc::clone(subject);
        Box::new(move |loops| {
            timed_in_two(|thread| subject.pass_some(loops, thread * count / 2, (thread + 1) * count / 2))
        })
    };
    let one = Arc::clone(&few);
    let clock = SystemClock::start();
    let time = |ns| Some(Aim::Time(Goal::AtMost(ns)));
    let twice = Some(Aim::Ratio(Goal::AtMost(2.0)));
    vec![
        Row {
            name: "tripnote's clock read, in each of the rows below",
            run: Box::new(move |loops| timed(|| (0..loops).for_each(|_| _ = black_box(clock.now())))),
            beside: FAILSAFE,
            goal: None,
        },
        Row { name: FEW_ROW, run: alone(&few, FEW), beside: FAILSAFE, goal: time(250.0) },
        Row {
            name: "tripnote, 10 targets, every event heard by the metrics",
            run: alone(&heard, FEW),
            beside: FEW_ROW,
            goal: Some(Aim::Ratio(Goal::AtMost(1.1))),
        },
        Row {
            name: "what an RPC adds to the metrics: started, handled, how long",
            run: Box::new(move |loops| timed(|| (0..loops).for_each(|_| Running::begin(&recorder, PATH).end(0)))),
            beside: FEW_ROW,
            goal: None,
        },
        Row {
            name: "tripnote, 1,000,000 targets of which 1,000 are in use",
            run: alone(&many, IN_USE),
            beside: FAILSAFE,
            goal: time(500.0),
        },
        Row { name: MANY_ROW, run: alone(&many, MANY), beside: FAILSAFE, goal: time(500.0) },
        Row {
            name: "tripnote, 10 targets, latency watched",
            run: alone(&few_slow, FEW),
            beside: FAILSAFE,
            goal: time(250.0),
        },
        Row {
            name: "tripnote, 1,000,000 targets, all in use at random, latency watched",
            run: alone(&many_slow, MANY),
            beside: FAILSAFE,
            goal: time(500.0),
        },
        Row {
            name: "tripnote, 10 targets, 2 threads on different breakers",
            run: apart(&few, FEW),
            beside: FEW_ROW,
            goal: twice,
        },
        Row {
            name: "tripnote, 1,000,000 targets, all in use at random, 2 threads on different breakers",
            run: apart(&many, MANY),
            beside: MANY_ROW,
            goal: twice,
        },
        Row {
            name: "tripnote, 2 threads on one breaker",
            run: Box::new(move |loops| timed_in_two(|_| one.pass_some(loops, 0, 1))),
            beside: FAILSAFE_SHARED,
            goal: None,
        },
    ]
}

fn open() -> Vec<Row> {
    let mut policy = BreakerPolicy::default();
    if let Some(error_rate) = policy.policies.at_mut(CircuitKind::ErrorRate) {
        error_rate.open_for.base_ms = 3_600_000; // longer than the bench runs
        error_rate.open_for.max_ms = 3_600_000;
    }
    let subject = Subject::new(policy, 1);
    let now = subject.engine.clock().now();
    let failed = CallResult::new(Classification::Failed(CircuitKind::ErrorRate));
    while let Decision::Permit { granted, .. } = subject.engine.admit(&call(&subject.targets[0]), now) {
        black_box(subject.engine.report(Reported::Permit(&granted.token), &failed, now));
    }
    let subject = Arc::new(subject);
    let shared = Arc::clone(&subject);
    vec![
        Row {
            name: "tripnote, open: refusal with the contract rendered",
            run: Box::new(move |loops| timed(|| (0..loops).for_each(|_| subject.refused()))),
            beside: FAILSAFE_OPEN,
            goal: Some(Aim::Time(Goal::AtMost(REFUSAL_NS_MAX))),
        },
        Row {
            name: "tripnote, open: the same, 2 threads on one breaker",
            run: Box::new(move |loops| timed_in_two(|_| (0..loops).for_each(|_| shared.refused()))),
            beside: FAILSAFE_OPEN,
            goal: None,
        },
    ]
}
