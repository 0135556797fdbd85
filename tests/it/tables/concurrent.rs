//! What no table can say, as it takes threads or watchers: rows 27, 42 and 43 of the research, and X10.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tripnote::domain::breaker::Acknowledgement;
use tripnote::domain::breaker::overrides::OverrideMode;
use tripnote::domain::ids::{Code, SafeText, TargetName};
use tripnote::domain::observation::{CallResult, Classification};
use tripnote::domain::signal::{CircuitKind, Phase};
use tripnote::domain::time::Timestamp;
use tripnote::engine::clock::{Clock, ManualClock};
use tripnote::engine::operate::{CircuitName, Cursor, SweepCursor};
use tripnote::engine::{Arguments, AskedAs, Call, CallId, Decision, Engine, Peeked, ReportAnswer, Reported};
use tripnote::wire::pb::operator_service_client::OperatorServiceClient;
use tripnote::wire::{operator, pb};

use super::checks;
use crate::support::{NOON_UNIX_MS, TestServer, channel, engine};

const CONFIG: &str = r#"
permit_for = "60s"
[limits]
events_bytes = 536870912
[[breaker]]
code = "payments"
targets = ["*"]
[breaker.error_rate]
rules = [{ ratio = "50%", within = "1s", min_calls = 4 }, { consecutive = 3 }]
observe = "1s"
open_for = "1s"
max_open = "10s"
jitter = "10%"
lease = "500ms"
probes = 2
successes = 2
[breaker.malformed_response]
rules = [{ failures = 3, within = "1s" }]
observe = "1s"
open_for = "1s"
max_open = "10s"
lease = "500ms"
[breaker.quota_exhausted.rate]
open_for = "1s"
max_open = "10s"
lease = "500ms"
"#;
const FAILED: Classification = Classification::Failed(CircuitKind::ErrorRate);
const PROBES: usize = 2;
const THREADS: u64 = 8;
const OPERATIONS: usize = 6_000; // a thread; some seconds in all where nothing is optimised
const TARGETS: [&str; 3] = ["a", "b", "c"];
const CREDENTIALS: [&str; 3] = ["", "k1", "k2"];

/// Numbers without a pattern, the same for each seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed >> 33) % end as u64).unwrap()
    }
}

fn call<'a>(target: &'a TargetName, credential: &'a str) -> Call<'a> {
    Call {
        target,
        target_is_tool: false,
        asked_as: AskedAs::default(),
        id: CallId::default(),
        arguments: Arguments::Unknown,
        arguments_bytes: None,
        credential,
    }
}

fn report(engine: &Engine, token: &[u8], classification: Classification, now: Timestamp) -> ReportAnswer {
    engine.report(Reported::Permit(token), &CallResult::new(classification), now)
}

/// The permit of a call that is let through.
fn admitted(engine: &Engine, target: &str, now: Timestamp) -> Arc<[u8]> {
    match engine.admit(&call(&TargetName::parse(target).unwrap(), ""), now) {
        Decision::Permit { granted, .. } => granted.token,
        Decision::Trip(refusal) => panic!("{:?}", refusal.trip),
    }
}

/// Opens the error rate of a target.
fn trip(engine: &Engine, target: &str) {
    let answers = [(); 3].map(|()| report(engine, &admitted(engine, target, Timestamp(0)), FAILED, Timestamp(0)));
    assert!(answers[2].trip.is_some());
}

fn named(kind: Option<CircuitKind>) -> CircuitName {
    CircuitName { breaker: Code::parse("payments").unwrap(), scope: None, kind }
}

/// What one thread does: anything, in any order.
fn bustle(engine: &Engine, clock: &ManualClock, seed: u64) {
    let mut dice = Dice(seed);
    let targets = TARGETS.map(|target| TargetName::parse(target).unwrap());
    let owner = SafeText::cut(&format!("ops{seed}"), 40);
    let mut held: Vec<Arc<[u8]>> = Vec::new();
    for _ in 0..OPERATIONS {
        let now = clock.now();
        let call = call(&targets[dice.below(TARGETS.len())], CREDENTIALS[dice.below(CREDENTIALS.len())]);
        match dice.below(100) {
            0..45 => match engine.admit(&call, now) {
                Decision::Permit { granted, expires_in_ms, .. } => {
                    assert!(expires_in_ms > 0);
                    held.push(granted.token);
                }
                Decision::Trip(refusal) => {
                    assert!(refusal.trip.retry_at.is_none_or(|at| at > now), "{:?} at {now:?}", refusal.trip);
                }
            },
            45..85 if !held.is_empty() => {
                let token = held.swap_remove(dice.below(held.len()));
                let kinds = [CircuitKind::ErrorRate, CircuitKind::MalformedResponse, CircuitKind::QuotaRate];
                let classification = match dice.below(10) {
                    0..5 => Classification::Ok,
                    5 => Classification::Ignored,
                    _ => Classification::Failed(kinds[dice.below(kinds.len())]),
                };
                let answer = report(engine, &token, classification, now);
                assert_ne!(answer.acknowledgement, Acknowledgement::Unknown);
            }
            85..88 => {
                if let Peeked::Trip(refusal) = engine.peek(&call, now) {
                    assert_eq!(refusal.trip.event_seq, 0);
                }
            }
            88..90 => look(engine, now),
            90 => drop(engine.reset(&named(Some(CircuitKind::ErrorRate)), now)),
            91 => {
                let mode = OverrideMode::ALL[dice.below(OverrideMode::ALL.len())];
                let ends = Some(now.plus_ms(50));
                drop(engine.set_override(&named(None), mode, owner.clone(), SafeText::cut("", 1), ends, now));
            }
            92 => drop(engine.clear_override(&named(None), owner.as_str(), now)),
            _ => clock.advance_ms(dice.below(40) as u64),
        }
    }
    drop(engine.clear_override(&named(None), owner.as_str(), clock.now()));
}

/// An open circuit has a deadline, a half-open one no more probes than it may have, a closed one neither.
fn look(engine: &Engine, now: Timestamp) {
    let (listed, next) = engine.list_circuits(None, false, Cursor::default(), 1_000, now);
    assert!(next.is_none());
    for view in listed.into_iter().map(|listed| listed.view) {
        assert_eq!(view.open_until.is_some(), view.phase == Phase::Open, "{view:?}");
        assert_eq!(view.cause.is_none(), view.phase == Phase::Closed, "{view:?}");
        let most = if view.phase == Phase::HalfOpen { PROBES } else { 0 };
        assert!(view.probes_in_flight <= most, "{view:?}");
    }
}

/// Every event of an engine, as a watcher sees it.
fn history(engine: &Engine, clock: &ManualClock) -> Vec<pb::Event> {
    let reading = engine.log().after(0, usize::MAX);
    assert_eq!(reading.lost, 0);
    reading.events.iter().map(|event| operator::event(event, 1, clock.wall())).collect()
}

#[test]
fn threads_at_random_leave_no_gap_no_broken_chain_and_no_circuit_without_a_way_out() {
    let clock = Arc::new(ManualClock::at_unix_ms(NOON_UNIX_MS));
    let engine = engine(CONFIG, &clock);
    std::thread::scope(|scope| {
        for seed in 1..=THREADS {
            let (engine, clock) = (&engine, &clock);
            scope.spawn(move || bustle(engine, clock, seed)); // the seed is the number of the thread
        }
    });
    let history = history(&engine, &clock);
    assert_eq!(checks::chain(&history), [""; 0]);
    assert_eq!(history.len() as u64, engine.log().last_seq());
    let trips = history.iter().filter(|event| event.event_kind() == pb::EventKind::Tripped).count();
    assert!(trips > 100, "too quiet to tell anything: {trips} openings");

    // After a time longer than any open time and any lease there is a probe, or no need of one.
    clock.advance_ms(61_000);
    let now = clock.now();
    look(&engine, now);
    for target in TARGETS.map(|target| TargetName::parse(target).unwrap()) {
        for credential in CREDENTIALS {
            match engine.admit(&call(&target, credential), now) {
                Decision::Permit { granted, .. } => drop(report(&engine, &granted.token, Classification::Ok, now)),
                Decision::Trip(refusal) => panic!("no way out: {:?}", refusal.trip),
            }
        }
    }
}

#[test]
fn a_request_that_read_the_clock_before_another_and_comes_after_it_loses_no_result() {
    let clock = Arc::new(ManualClock::at_unix_ms(NOON_UNIX_MS));
    let engine = engine(CONFIG, &clock);
    let (early, late) = (Timestamp(999), Timestamp(1_000)); // in two slices of the window
    let tokens = [(); 4].map(|()| admitted(&engine, "a", Timestamp(0)));
    let [first, second, third, fourth] = &tokens;
    drop(report(&engine, first, FAILED, late));
    drop(report(&engine, second, FAILED, late));
    drop(report(&engine, third, Classification::Ok, late));
    let trip = report(&engine, fourth, FAILED, early).trip.expect("3 of 4 failed");
    assert_eq!(trip.fields.observed, "3/4 failed in last 1s");
}

#[test]
fn a_permit_of_a_request_that_read_the_clock_too_early_is_not_stale() {
    let clock = Arc::new(ManualClock::at_unix_ms(NOON_UNIX_MS));
    let engine = engine(CONFIG, &clock);
    trip(&engine, "a");
    for probe in [(); 2].map(|()| admitted(&engine, "a", Timestamp(5_000))) {
        drop(report(&engine, &probe, Classification::Ok, Timestamp(5_010))); // the second closes
    }
    let token = admitted(&engine, "a", Timestamp(5_009));
    let answer = report(&engine, &token, Classification::Ok, Timestamp(5_010));
    assert_eq!(answer.acknowledgement, Acknowledgement::Counted);
}

#[test]
fn a_run_of_failures_that_are_far_apart_outlasts_the_sweep() {
    let clock = Arc::new(ManualClock::at_unix_ms(NOON_UNIX_MS));
    let engine = engine("", &clock);
    let minutes = |n: u64| Timestamp(n * 60_000);
    for nth in 0..5 {
        let now = minutes(20 * nth);
        let answer = report(&engine, &admitted(&engine, "a", now), FAILED, now);
        assert_eq!(answer.trip.is_some(), nth == 4, "failure {nth}");
        let mut cursor = SweepCursor::default();
        while !engine.sweep(&mut cursor, minutes(20 * nth + 19)) {}
    }
}

#[test]
fn a_bell_that_asks_the_engine_is_answered() {
    let clock = Arc::new(ManualClock::at_unix_ms(NOON_UNIX_MS));
    let engine = engine(CONFIG, &clock);
    let target = TargetName::parse("a").unwrap();
    let looks = Arc::new(AtomicUsize::new(0));
    let (inside, counter) = (Arc::downgrade(&engine), Arc::clone(&looks));
    engine.log().on_events(move || {
        let Some(engine) = inside.upgrade() else { return };
        let target = TargetName::parse("a").unwrap();
        let _ = engine.peek(&call(&target, ""), Timestamp(0));
        look(&engine, Timestamp(0));
        assert!(engine.log().last_seq() > 0);
        counter.fetch_add(1, Ordering::SeqCst);
    });
    trip(&engine, "a");
    for _ in 0..7 {
        assert!(matches!(engine.admit(&call(&target, ""), Timestamp(0)), Decision::Trip(_)));
    }
    assert_eq!(looks.load(Ordering::SeqCst), 8); // one opening, seven refusals
}

#[tokio::test]
async fn a_watcher_that_calls_the_service_in_its_handler_is_answered() {
    let server = TestServer::start(CONFIG).await;
    let mut breakers = server.breakers.clone();
    let mut operators = OperatorServiceClient::new(channel(&server.endpoint).await); // a watcher's own connection
    let all = pb::WatchEventsRequest { after_seq: Some(0), ..Default::default() };
    let mut events = operators.watch_events(all).await.unwrap().into_inner();
    trip(&server.engine, "a");
    let mut seen = 0;
    while seen < 20 {
        let event = events.message().await.unwrap().unwrap();
        seen = event.seq;
        // In its handler it looks, and asks for a call, whose refusal is the next event.
        let listed = operators.list_circuits(pb::ListCircuitsRequest::default()).await.unwrap().into_inner();
        assert!(listed.total > 0);
        let request = pb::AdmitRequest { target: "a".to_owned(), ..Default::default() };
        let answer = breakers.admit(request).await.unwrap().into_inner();
        assert!(matches!(answer.decision, Some(pb::admit_response::Decision::Trip(_))), "{answer:?}");
    }
    drop(events);
    server.stop().await;
}

#[tokio::test]
async fn a_watcher_that_reads_too_slowly_is_told_what_it_lost_and_holds_nobody_up() {
    let server = TestServer::start(&CONFIG.replace("536870912", "65536")).await;
    let mut operators = OperatorServiceClient::new(channel(&server.endpoint).await);
    let all = pb::WatchEventsRequest { after_seq: Some(0), ..Default::default() };
    let mut events = operators.watch_events(all).await.unwrap().into_inner();
    trip(&server.engine, "a");
    let target = TargetName::parse("a").unwrap();
    let refused = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2_500 {
                    let decision = server.engine.admit(&call(&target, ""), Timestamp(0));
                    refused.fetch_add(u64::from(matches!(decision, Decision::Trip(_))), Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(refused.load(Ordering::SeqCst), 10_000);
    let last = server.engine.log().last_seq();
    let (mut told, mut lost, mut before) = (0, 0, 0);
    while before < last {
        let event = events.message().await.unwrap().unwrap();
        assert!(event.seq > before);
        before = event.seq;
        lost += event.lost;
        told += u64::from(event.event_kind() != pb::EventKind::Gap);
    }
    assert!(lost > 0);
    assert_eq!(told + lost, last);
    drop(events);
    server.stop().await;
}
