//! The table of circuits.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use super::*;
use crate::cli::tests::samples;
use crate::cli::text::Paint;
use crate::cli::wiring;
use crate::config::{Config, Listen};
use crate::engine::clock::ManualClock;
use crate::wire::pb::admit_response::Decision;
use crate::wire::pb::admit_result::Result as Asked;

#[test]
fn every_circuit_is_a_row() {
    let probe_ready = pb::Circuit { probe_ready: true, holds: vec![], override_mode: 0, ..samples::open_circuit() };
    let latched = pb::Circuit { open_until: None, retry_after_ms: None, ..probe_ready.clone() };
    let latched = pb::Circuit { probe_ready: false, ..latched };
    let circuits =
        [samples::half_open_circuit(), samples::open_circuit(), probe_ready, latched, samples::closed_circuit()];
    samples::assert_golden("circuits.txt", &table(&circuits).draw(Paint::default()));
}

#[test]
fn columns_in_which_nothing_stands_are_left_out() {
    let drawn = table(&[samples::closed_circuit()]).draw(Paint::default());
    let due =
        "BREAKER    SCOPE                   KIND        PHASE\nwarehouse  target:POST /warehouse  error_rate  closed";
    assert_eq!(drawn, due);
}

#[test]
fn ten_thousand_rows_are_drawn() {
    let circuits = vec![samples::open_circuit(); 10_000];
    assert_eq!(table(&circuits).draw(Paint::default()).lines().count(), 10_001);
}

/// Calls `targets` targets once each, which fail.
async fn fail(service: &Service, targets: usize) {
    let names: Vec<String> = (0..targets).map(|n| format!("GET /target-{n}")).collect();
    for wave in names.chunks(256) {
        let call = |target: &String| pb::AdmitRequest { target: target.clone(), ..pb::AdmitRequest::default() };
        let request = pb::AdmitWaveRequest { calls: wave.iter().map(call).collect(), reports: vec![] };
        let answer = service.breakers().admit_wave(request).await.unwrap().into_inner();
        let outcome = |result: pb::AdmitResult| {
            let Some(Asked::Answer(answer)) = result.result else { panic!("{result:?}") };
            let Some(Decision::Permit(permit)) = answer.decision else { panic!("{answer:?}") };
            let facts = pb::TransportFacts { http_status: Some(503), ..pb::TransportFacts::default() };
            pb::Outcome {
                call: Some(pb::outcome::Call::Permit(permit.token)),
                result: Some(pb::outcome::Result::Transport(facts)),
                ..pb::Outcome::default()
            }
        };
        let request = pb::ReportRequest { outcomes: answer.results.into_iter().map(outcome).collect() };
        service.breakers().report(request).await.unwrap();
    }
}

#[tokio::test]
async fn every_page_is_fetched_and_all_of_it_sorted() {
    const TARGETS: usize = 2 * PAGE as usize + 200;
    let mut config = Config::default();
    config.settings.grpc = Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    config.settings.http = None;
    let running = wiring::start(config, None, Arc::new(ManualClock::at_unix_ms(0))).await.unwrap();
    let service = Service::reach(&running.endpoint().parse().unwrap()).await.unwrap();
    assert_eq!(every(&service, String::new(), false).await.unwrap(), []);
    fail(&service, TARGETS).await;
    let circuits = every(&service, String::new(), false).await.unwrap();
    let failed = circuits.iter().filter(|circuit| circuit.failed == 1).count();
    assert_eq!(failed, TARGETS);
    assert!(circuits.is_sorted_by(|a, b| place(a) < place(b)));
    drop(service);
    running.stop().await.unwrap();
}
