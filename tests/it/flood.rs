//! Whoever makes up names without end: every map stays within its bound, and nobody else is harmed.
//!
//! In the process for the large counts; over gRPC for a smaller one.

use std::process::Command;
use std::sync::Arc;

use tripnote::domain::ids::TargetName;
use tripnote::domain::observation::{CallResult, Classification};
use tripnote::domain::signal::CircuitKind;
use tripnote::engine::clock::ManualClock;
use tripnote::engine::{Arguments, AskedAs, Call, CallId, Decision, Engine, Reported};
use tripnote::wire::pb;

use crate::support::asks::{Kind, bad, by_permit, call_by, name, permit_of, trip_of};
use crate::support::{NOON_UNIX_MS, TestServer, engine};

/// Names of the largest flood.
const NAMES: usize = 1_000_000;
/// Names of the others: where nothing is optimised, a fifth of it is enough to see growth.
const OTHER_NAMES: usize = if cfg!(debug_assertions) { NAMES / 5 } else { NAMES };
/// Calls of the flood over gRPC, in waves.
const CALLS: usize = 20_000;
const WAVE: usize = 200;
/// What the second half of a flood may leave behind: a name that is kept costs a hundred bytes and more.
const GROWTH_KIB_MAX: u64 = 6 << 10;
/// Set in the process that [`alone`] starts.
const ALONE: &str = "TRIPNOTE_IT_ALONE";

const SMALL: &str = r#"
[limits]
targets = 2000
targets_per_caller = 1500
calls = 2000
events_bytes = 65536
[defaults.error_rate]
rules = [{ consecutive = 1 }]
jitter = "0%"
"#;

/// Resident memory of this process in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Starts a test again in a process of its own, where nobody else takes memory. True in that process.
fn alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.env(ALONE, "1").args(["--exact", &format!("flood::{test}"), "--nocapture"]);
    let output = again.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    told.lines().filter(|line| line.contains("KiB")).for_each(|line| println!("{line}"));
    false
}

/// Runs a flood in two halves: the first fills what there is to fill, the second may leave next to nothing behind.
fn assert_bounded(what: &str, names: usize, mut one: impl FnMut(usize)) {
    let (start, half) = (resident_kib(), names / 2);
    (0..half).for_each(&mut one);
    let filled = resident_kib();
    (half..names).for_each(one);
    let growth = resident_kib().saturating_sub(filled);
    println!("{what}: {} KiB for {half} names, {growth} KiB for as many more", filled.saturating_sub(start));
    assert!(growth < GROWTH_KIB_MAX, "{what}: {growth} KiB were left behind by {half} names");
}

struct Flooded {
    engine: Arc<Engine>,
    clock: Arc<ManualClock>,
}

/// One call of somebody.
#[derive(Clone, Copy)]
struct By<'a> {
    caller: &'a str,
    credential: &'a str,
    session: &'a str,
}

const NOBODY: By<'static> = By { caller: "", credential: "", session: "" };

impl Flooded {
    fn new(toml: &str) -> Self {
        let clock = Arc::new(ManualClock::at_unix_ms(NOON_UNIX_MS));
        Self { engine: engine(toml, &clock), clock }
    }

    fn admit(&self, by: By<'_>, target: &str) -> Decision {
        let target = TargetName::parse(target).unwrap();
        let call = Call {
            target: &target,
            target_is_tool: false,
            asked_as: AskedAs::default(),
            id: CallId { caller: by.caller, session: by.session, call: "c", attempt: 1 },
            arguments: Arguments::Unknown,
            arguments_bytes: None,
            credential: by.credential,
        };
        self.engine.admit(&call, self.engine.clock().now())
    }

    /// One call and its report; the breaker that admitted it.
    fn call(&self, by: By<'_>, target: &str, classification: Classification) -> Option<String> {
        let Decision::Permit { granted, .. } = self.admit(by, target) else { return None };
        let result = CallResult { classification, latency_ms: Some(1), hint: None };
        let _ = self.engine.report(Reported::Permit(&granted.token), &result, self.engine.clock().now());
        Some(granted.breaker.as_str().to_owned())
    }

    fn open(&self, caller: &str, target: &str) {
        self.call(By { caller, ..NOBODY }, target, Classification::Failed(CircuitKind::ErrorRate)).unwrap();
        assert!(matches!(self.admit(NOBODY, target), Decision::Trip(_)));
    }

    fn is_refused(&self, target: &str) -> bool {
        matches!(self.admit(NOBODY, target), Decision::Trip(_))
    }
}

#[test]
fn a_million_targets_of_one_caller_stay_within_its_share() {
    if !alone("a_million_targets_of_one_caller_stay_within_its_share") {
        return;
    }
    let flooded = Flooded::new(SMALL);
    flooded.open("victim", "POST /v2/charge");
    let flooder = By { caller: "flooder", ..NOBODY };
    assert_bounded("targets", NAMES, |nth| {
        let target = format!("t{nth}");
        match flooded.admit(flooder, &target) {
            Decision::Permit { granted, .. } => assert_eq!(granted.breaker.as_str(), target, "there was room"),
            Decision::Trip(refusal) => panic!("{refusal:?}"),
        }
        if nth % 1_000 == 0 {
            assert!(flooded.engine.targets() <= 1_501, "{}", flooded.engine.targets());
        }
    });
    assert_eq!(flooded.engine.targets(), 1_501, "its share and the victim's");
    assert!(flooded.engine.breakers() <= 1_502, "{}", flooded.engine.breakers());
    assert!(flooded.is_refused("POST /v2/charge"), "an open circuit of another caller survives");
}

#[test]
fn callers_without_end_stay_within_the_bound() {
    if !alone("callers_without_end_stay_within_the_bound") {
        return;
    }
    let flooded = Flooded::new(SMALL);
    flooded.open("victim", "POST /v2/charge");
    assert_bounded("callers", OTHER_NAMES, |nth| {
        let (caller, target) = (nth.to_string(), format!("t{nth}"));
        let by = By { caller: &caller, ..NOBODY };
        assert_eq!(flooded.call(by, &target, Classification::Ok), Some(target), "one that is clean made room");
    });
    assert!(flooded.engine.targets() <= 2_000, "{}", flooded.engine.targets());
    assert!(flooded.is_refused("POST /v2/charge"));
}

#[test]
fn sessions_without_end_stay_within_the_bound() {
    if !alone("sessions_without_end_stay_within_the_bound") {
        return;
    }
    let flooded = Flooded::new(SMALL);
    assert_bounded("sessions", OTHER_NAMES, |nth| {
        let session = nth.to_string();
        assert!(matches!(flooded.admit(By { session: &session, ..NOBODY }, "a"), Decision::Permit { .. }));
    });
}

#[test]
fn credentials_without_end_stay_within_the_bound() {
    let flooded = Flooded::new(SMALL);
    let before = resident_kib();
    for nth in 0..20_000 {
        let credential = nth.to_string();
        let by = By { credential: &credential, ..NOBODY };
        flooded.call(by, "a", Classification::Failed(CircuitKind::Authentication));
    }
    println!("credentials: {} KiB more", resident_kib().saturating_sub(before));
    let listed = flooded.engine.count_circuits(None, false);
    assert!(listed <= 2_002, "{listed} circuits: as many as there may be targets, what they share, and the target's");
    let first = By { credential: "0", ..NOBODY };
    assert!(matches!(flooded.admit(first, "a"), Decision::Trip(_)), "an open circuit is not pushed out");
}

#[test]
fn of_one_breaker_the_longest_idle_clean_target_goes_first() {
    let flooded = Flooded::new(
        "limits = { targets = 8, targets_per_caller = 8 }\n[[breaker]]\ncode = \"all\"\ntargets = [\"*\"]\n\
         error_rate = { rules = [{ consecutive = 1 }], jitter = \"0%\" }\n",
    );
    let evicted = |flooded: &Flooded| -> Vec<String> {
        let reading = flooded.engine.log().after(0, 1_000);
        let gone = reading.events.iter().filter(|event| event.what == tripnote::domain::event::Happening::Evicted);
        gone.map(|event| event.scope.to_string()).collect()
    };
    for nth in 0..8 {
        flooded.clock.advance_ms(1_000);
        if nth == 1 {
            flooded.open("", "old 1")
        } else {
            flooded.call(NOBODY, &format!("old {nth}"), Classification::Ok);
        }
    }
    flooded.clock.advance_ms(1_000);
    flooded.admit(NOBODY, "old 0"); // the oldest is used once more
    for nth in 0..3 {
        flooded.clock.advance_ms(1_000);
        flooded.admit(NOBODY, &format!("new {nth}"));
    }
    assert_eq!(evicted(&flooded), ["target:old 2", "target:old 3", "target:old 4"], "old 1 is open, old 0 was used");
    assert_eq!(flooded.engine.targets(), 8);
    assert!(flooded.is_refused("old 1"));
}

#[tokio::test]
async fn what_is_open_half_open_or_held_survives_a_flood_over_the_wire() {
    let server = TestServer::start(SMALL).await;
    server.open("half", Kind::ErrorRate).await;
    server.clock.advance_ms(30_000);
    assert!(server.permit("half").await.probe);
    server.open("open", Kind::ErrorRate).await;
    server.permit("held").await;
    let hold = pb::SetOverrideRequest {
        name: Some(name("held", "target:held", Kind::Unspecified)),
        mode: pb::OverrideMode::ForceOpen.into(),
        owner: "ops".to_owned(),
        ..Default::default()
    };
    server.operators().set_override(hold).await.unwrap();
    let before = resident_kib();
    for wave in 0..CALLS / WAVE {
        let target = |nth: usize| format!("flood {}", wave * WAVE + nth);
        let calls = (0..WAVE).map(|nth| call_by(if nth % 2 == 0 { "x" } else { "y" }, &target(nth))).collect();
        let answer = server.breakers().admit_wave(pb::AdmitWaveRequest { calls, reports: vec![] }).await.unwrap();
        assert_eq!(answer.into_inner().results.len(), WAVE);
        assert!(server.engine.targets() <= 2_000);
    }
    println!("{CALLS} calls over gRPC: {} KiB more", resident_kib().saturating_sub(before));
    assert_eq!(server.engine.targets(), 2_000);
    let trips = [server.trip("half").await, server.trip("open").await, server.trip("held").await];
    let told: Vec<_> = trips.iter().map(|trip| (trip.breaker.as_str(), trip.signal())).collect();
    let due =
        [("half", pb::Signal::ErrorRate), ("open", pb::Signal::ErrorRate), ("held", pb::Signal::OperatorOverride)];
    assert_eq!(told, due);
    assert!(trips[0].state.starts_with("half_open, probe running"), "{}", trips[0].state);
    server.stop().await;
}

#[tokio::test]
async fn targets_without_a_place_share_the_overflow_circuit_with_an_event() {
    let server = TestServer::start(&SMALL.replace("2000\n", "4\n").replace("1500", "4")).await;
    for nth in 0..4 {
        server.open(&format!("open {nth}"), Kind::ErrorRate).await;
    }
    let permit = permit_of(server.admit(call_by("x", "POST /v2/charge")).await);
    assert_eq!(permit.breaker, "overflow");
    let events = server.events(5).await;
    let overflowed = &events[4];
    assert_eq!(overflowed.event_kind(), pb::EventKind::Overflowed);
    assert_eq!((overflowed.breaker.as_str(), overflowed.scope.as_str()), ("overflow", "target:POST /v2/charge"));
    server.report(bad(by_permit(&permit.token), Kind::ErrorRate)).await;
    let trip = trip_of(server.admit(call_by("y", "POST /v2/refund")).await);
    assert_eq!((trip.breaker.as_str(), trip.target.as_str()), ("overflow", "POST /v2/refund"), "one circuit for all");
    assert_eq!(server.engine.targets(), 4);
    server.clock.advance_ms(30_000);
    let probe = server.permit("open 0").await; // one recovers, goes and makes room
    server.report(crate::support::asks::good(by_permit(&probe.token))).await;
    server.clock.advance_ms(1_000_000);
    assert_eq!(server.permit("POST /v2/charge").await.breaker, "post_v2_charge");
    server.stop().await;
}
