//! The engine under schedules that nobody would think of: shuttle runs the threads one step at a time, in thousands of
//! orders. `cargo test --features shuttle --test shuttle`.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that stops is a test that fails"
)]

use std::sync::Arc;

use shuttle::thread;
use tripnote::config::Config;
use tripnote::domain::breaker::Acknowledgement;
use tripnote::domain::breaker::routes::Routes;
use tripnote::domain::event::Happening;
use tripnote::domain::ids::{HashKey, TargetName};
use tripnote::domain::observation::{CallResult, Classification};
use tripnote::domain::signal::CircuitKind;
use tripnote::engine::clock::{Clock, ManualClock};
use tripnote::engine::{
    Arguments, AskedAs, Call, CallId, Decision, Engine, EngineSettings, Identity, Reading, Reported,
};

const SCHEDULES: usize = 1_000;
const POLICY: &str = "
[defaults.error_rate]
rules = [{ consecutive = 1 }]
open_for = '10s'
jitter = '0%'
lease = '5s'
";

fn engine(toml: &str, version: u64) -> (Arc<Engine>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at_unix_ms(0));
    let identity = Identity { incarnation: 1, names: HashKey([1; 16]), permits: HashKey([2; 16]) };
    let engine = Engine::new(settings(toml, version), identity, Arc::clone(&clock) as Arc<dyn Clock>).unwrap();
    (Arc::new(engine), clock)
}

fn settings(toml: &str, version: u64) -> EngineSettings {
    let config = Config::parse(toml).unwrap_or_else(|report| panic!("{report}"));
    EngineSettings {
        routes: Routes::new(version, &config.default_policy, &config.breakers, None).unwrap(),
        contract: config.settings.contract,
        permit_for_ms: config.settings.permit_for_ms,
        limits: config.settings.limits,
        session: config.settings.session.settings(None),
        reading: Reading { tools: config.tools, formats: config.formats },
        failure: config.failure,
    }
}

fn admit_as(engine: &Engine, target: &str, id: CallId<'_>) -> Decision {
    let target = TargetName::parse(target).unwrap();
    let call = Call {
        target: &target,
        target_is_tool: false,
        asked_as: AskedAs::default(),
        id,
        arguments: Arguments::Unknown,
        arguments_bytes: None,
        credential: "",
    };
    engine.admit(&call, engine.clock().now())
}

fn admit(engine: &Engine, target: &str) -> Decision {
    admit_as(engine, target, CallId::default())
}

fn report(engine: &Engine, decision: &Decision, classification: Classification) -> Acknowledgement {
    let Decision::Permit { granted, .. } = decision else { panic!("a permit") };
    let now = engine.clock().now();
    engine.report(Reported::Permit(&granted.token), &CallResult::new(classification), now).acknowledgement
}

fn open(engine: &Engine, target: &str) {
    let decision = admit(engine, target);
    report(engine, &decision, Classification::Failed(CircuitKind::ErrorRate));
}

fn is_probe(decision: &Decision) -> bool {
    matches!(decision, Decision::Permit { granted, .. } if granted.is_probe)
}

#[test]
fn one_probe_and_no_more_whoever_comes_first() {
    shuttle::check_random(
        || {
            let (engine, clock) = engine(POLICY, 1);
            open(&engine, "a");
            clock.advance_ms(10_000);
            let asks: Vec<_> =
                (0..4).map(|_| Arc::clone(&engine)).map(|e| thread::spawn(move || admit(&e, "a"))).collect();
            let answers: Vec<Decision> = asks.into_iter().map(|ask| ask.join().unwrap()).collect();
            let permits = answers.iter().filter(|answer| matches!(answer, Decision::Permit { .. })).count();
            assert_eq!((permits, answers.iter().filter(|answer| is_probe(answer)).count()), (1, 1));
        },
        SCHEDULES,
    );
}

#[test]
fn the_same_call_asked_twice_at_once_takes_one_lease() {
    shuttle::check_random(
        || {
            let (engine, clock) = engine(POLICY, 1);
            open(&engine, "a");
            clock.advance_ms(10_000);
            let id = CallId { caller: "c", session: "s", call: "1", attempt: 1 };
            let asks: Vec<_> =
                (0..3).map(|_| Arc::clone(&engine)).map(|e| thread::spawn(move || admit_as(&e, "a", id))).collect();
            let answers: Vec<Decision> = asks.into_iter().map(|ask| ask.join().unwrap()).collect();
            let token = |answer: &Decision| match answer {
                Decision::Permit { granted, .. } => Some(Arc::clone(&granted.token)),
                Decision::Trip(_) => None,
            };
            let tokens: Vec<_> = answers.iter().filter_map(token).collect();
            assert!(tokens.windows(2).all(|pair| pair[0] == pair[1]), "two permits for one call");
            // Where the twin's refusal was written first, the lease was given back: somebody can still probe.
            let can_probe = tokens.len() == 3 || is_probe(&admit(&engine, "a"));
            assert!(can_probe, "{} of 3 got the permit and the lease is gone", tokens.len());
        },
        SCHEDULES,
    );
}

#[test]
fn a_report_counts_once_whoever_repeats_it() {
    shuttle::check_random(
        || {
            let (engine, _clock) = engine(POLICY, 1);
            let decision = Arc::new(admit(&engine, "a"));
            let reports: Vec<_> = (0..3)
                .map(|_| (Arc::clone(&engine), Arc::clone(&decision)))
                .map(|(e, decision)| thread::spawn(move || report(&e, &decision, Classification::Ok)))
                .collect();
            let acks: Vec<_> = reports.into_iter().map(|report| report.join().unwrap()).collect();
            let counted = acks.iter().filter(|ack| **ack == Acknowledgement::Counted).count();
            let duplicate = acks.iter().filter(|ack| **ack == Acknowledgement::Duplicate).count();
            assert_eq!((counted, duplicate), (1, 2));
        },
        SCHEDULES,
    );
}

#[test]
fn events_are_gapless_and_each_phase_follows_the_one_before() {
    shuttle::check_random(
        || {
            let (engine, clock) = engine(POLICY, 1);
            let agents: Vec<_> = (0..3)
                .map(|n| (n, Arc::clone(&engine), Arc::clone(&clock)))
                .map(|(n, engine, clock)| {
                    thread::spawn(move || {
                        for step in 0..4 {
                            let decision = admit(&engine, "a");
                            if matches!(decision, Decision::Permit { .. }) {
                                let failed = Classification::Failed(CircuitKind::ErrorRate);
                                report(
                                    &engine,
                                    &decision,
                                    if (n + step) % 2 == 0 { failed } else { Classification::Ok },
                                );
                            }
                            clock.advance_ms(5_000);
                        }
                    })
                })
                .collect();
            agents.into_iter().for_each(|agent| agent.join().unwrap());
            let reading = engine.log().after(0, usize::MAX);
            assert_eq!(reading.lost, 0);
            let mut open = false;
            for (seq, event) in (1..).zip(&reading.events) {
                assert_eq!(event.seq, seq);
                match &event.what {
                    Happening::Tripped(opening) => {
                        assert_eq!(opening.from == tripnote::domain::signal::Phase::Closed, !open);
                        open = true;
                    }
                    Happening::Recovered => {
                        assert!(open);
                        open = false;
                    }
                    _ => {}
                }
            }
            assert_eq!(reading.events.len() as u64, engine.log().last_seq());
        },
        SCHEDULES,
    );
}

#[test]
fn no_schedule_makes_more_targets_than_there_are_places() {
    let toml = "[limits]\ntargets = 2\ntargets_per_caller = 2\n";
    shuttle::check_random(
        move || {
            let (engine, _clock) = engine(toml, 1);
            let agents: Vec<_> = (0..3)
                .map(|n| (n, Arc::clone(&engine)))
                .map(|(n, engine)| {
                    thread::spawn(move || {
                        for step in 0..2 {
                            let decision = admit(&engine, &format!("t{n}{step}"));
                            assert!(matches!(decision, Decision::Permit { .. }));
                            assert!(engine.targets() <= 2, "{} targets", engine.targets());
                        }
                    })
                })
                .collect();
            agents.into_iter().for_each(|agent| agent.join().unwrap());
        },
        SCHEDULES,
    );
}

#[test]
fn a_reload_in_the_middle_loses_no_open_circuit() {
    shuttle::check_random(
        || {
            let (engine, _clock) = engine(POLICY, 1);
            open(&engine, "a");
            let reloading = Arc::clone(&engine);
            let reload = thread::spawn(move || {
                let changed = POLICY.replace("'10s'", "'60s'");
                reloading.reload(settings(&changed, 2), reloading.clock().now());
            });
            let asking = Arc::clone(&engine);
            let ask = thread::spawn(move || (0..3).map(|_| admit(&asking, "a")).collect::<Vec<_>>());
            let answers = ask.join().unwrap();
            reload.join().unwrap();
            assert!(answers.iter().all(|answer| matches!(answer, Decision::Trip(_))));
            assert!(matches!(admit(&engine, "a"), Decision::Trip(_)));
        },
        SCHEDULES,
    );
}
