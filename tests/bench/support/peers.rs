//! The circuit breaker crates that are measured beside tripnote.

use std::future::Future;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use tower::{Service, ServiceExt, service_fn};
use tower_resilience_circuitbreaker::CircuitBreakerLayer;

use super::{FAILSAFE, FAILSAFE_OPEN, FAILSAFE_SHARED, Row, Run, timed, timed_in_two};

const AN_HOUR: Duration = Duration::from_secs(3_600);

fn failsafe() -> failsafe::StateMachine<failsafe::failure_policy::ConsecutiveFailures<std::iter::Repeat<Duration>>, ()>
{
    let policy = failsafe::failure_policy::consecutive_failures(3, std::iter::repeat(AN_HOUR));
    failsafe::Config::new().failure_policy(policy).build()
}

fn recloser() -> recloser::Recloser {
    recloser::Recloser::custom().closed_len(100).open_wait(AN_HOUR).build()
}

fn block_on<F: Future>(work: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

pub(crate) fn peers() -> Vec<Row> {
    let row = |name, beside, run: Run| Row { name, run, beside, goal: None };
    let mut rows = peers_closed(row);
    rows.extend(peers_open(row));
    rows
}

fn peers_closed(row: impl Fn(&'static str, &'static str, Run) -> Row) -> Vec<Row> {
    let machine = failsafe();
    let shared_machine = machine.clone();
    let pass = |machine: &failsafe::StateMachine<_, _>, loops| {
        for _ in 0..loops {
            assert!(black_box(machine).is_call_permitted());
            machine.on_success();
        }
    };
    let ring = Arc::new(recloser());
    let shared_ring = Arc::clone(&ring);
    let through = |ring: &recloser::Recloser, loops| {
        for _ in 0..loops {
            assert!(black_box(ring).call(|| Ok::<(), ()>(())).is_ok());
        }
    };
    let layer = CircuitBreakerLayer::builder().sliding_window_size(100).wait_duration_in_open(AN_HOUR).build().unwrap();
    let service = layer.layer_fn(service_fn(|(): ()| async { Ok::<(), ()>(()) }));
    let shared_service = service.clone();
    vec![
        row(FAILSAFE, FAILSAFE, Box::new(move |loops| timed(|| pass(&machine, loops)))),
        row(FAILSAFE_SHARED, FAILSAFE_SHARED, Box::new(move |loops| timed_in_two(|_| pass(&shared_machine, loops)))),
        row("recloser (100)", FAILSAFE, Box::new(move |loops| timed(|| through(&ring, loops)))),
        row(
            "recloser (100), 2 threads",
            FAILSAFE_SHARED,
            Box::new(move |loops| timed_in_two(|_| through(&shared_ring, loops))),
        ),
        row(
            "tower-resilience (100)",
            FAILSAFE,
            Box::new(move |loops| {
                let mut service = service.clone();
                timed(|| {
                    block_on(async {
                        for _ in 0..loops {
                            assert!(service.ready().await.unwrap().call(()).await.is_ok());
                        }
                    });
                })
            }),
        ),
        row(
            "tower-resilience (100), 2 threads",
            FAILSAFE_SHARED,
            Box::new(move |loops| {
                timed_in_two(|_| {
                    let mut service = shared_service.clone();
                    block_on(async {
                        for _ in 0..loops {
                            assert!(service.ready().await.unwrap().call(()).await.is_ok());
                        }
                    });
                })
            }),
        ),
    ]
}

fn peers_open(row: impl Fn(&'static str, &'static str, Run) -> Row) -> Vec<Row> {
    let machine = failsafe();
    while machine.is_call_permitted() {
        machine.on_error();
    }
    let ring = recloser();
    while !matches!(ring.call(|| Err::<(), ()>(())), Err(recloser::Error::Rejected)) {}
    let layer = CircuitBreakerLayer::builder().sliding_window_size(100).wait_duration_in_open(AN_HOUR).build().unwrap();
    let mut service = layer.layer_fn(service_fn(|(): ()| async { Err::<(), ()>(()) }));
    block_on(async {
        for _ in 0..200 {
            let _ = service.ready().await.unwrap().call(()).await; // every answer is a failure until it opens
        }
    });
    vec![
        row(
            FAILSAFE_OPEN,
            FAILSAFE_OPEN,
            Box::new(move |loops| timed(|| (0..loops).for_each(|_| assert!(!black_box(&machine).is_call_permitted())))),
        ),
        row(
            "recloser, open",
            FAILSAFE_OPEN,
            Box::new(move |loops| {
                timed(|| (0..loops).for_each(|_| assert!(black_box(&ring).call(|| Ok::<(), ()>(())).is_err())))
            }),
        ),
        row(
            "tower-resilience, open",
            FAILSAFE_OPEN,
            Box::new(move |loops| {
                timed(|| {
                    block_on(async {
                        for _ in 0..loops {
                            assert!(service.ready().await.unwrap().call(()).await.is_err());
                        }
                    });
                })
            }),
        ),
    ]
}
