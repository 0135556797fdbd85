//! The example of the seed text, from an honest history to the last byte.
//!
//! One sick caller is refused alone while `min_reporters` asks for two (spec 2.3): that is how nine failures can be on
//! record beside a rule of three.

use tonic::transport::Channel;
use tonic::{Code, Request};
use tripnote::service::TEST_NOW_HEADER;
use tripnote::service::server::Address;
use tripnote::wire::pb;
use tripnote::wire::pb::breaker_service_client::BreakerServiceClient;

use crate::support::asks::{Kind, ack_of, bad, by_permit, call_by, good, permit_of, trip_of};
use crate::support::{NOON_UNIX_MS, TestServer};

pub(crate) const CONFIG: &str = include_str!("../fixtures/seed/charge.toml");
const CONTRACT: &str = include_str!("../fixtures/seed/charge.contract");

/// Whose call, when it was asked for, when and how it ended; in seconds, in the order of the endings. The last one
/// trips, at 14:01:30Z.
const HISTORY: [(&str, u64, u64, &str); 10] = [
    ("reconciler-b", 4, 6, "ok"),
    ("reconciler-a", 0, 12, "failed"), // a wave of eight, all asked for before the first of them came back
    ("reconciler-a", 0, 18, "failed"),
    ("reconciler-a", 0, 24, "failed"), // three in 30 s: from here on this caller is refused alone
    ("reconciler-a", 0, 30, "failed"),
    ("reconciler-a", 0, 36, "failed"),
    ("reconciler-a", 0, 42, "failed"),
    ("reconciler-a", 0, 48, "failed"),
    ("reconciler-a", 0, 53, "failed"),
    ("reconciler-b", 50, 54, "failed"), // a second caller sees it: nine of ten, for everybody
];
const TRIPS_AT_S: u64 = 54;

/// When the clock starts, so that the history ends at 14:01:30Z.
pub(crate) const START_UNIX_MS: i64 = NOON_UNIX_MS - 54_000;
const TARGET: &str = "POST /v2/charge";

/// The contract without the line end of its file.
pub(crate) fn contract() -> &'static str {
    CONTRACT.trim_end_matches('\n')
}

fn at<T>(second: u64, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert(TEST_NOW_HEADER, (second * 1_000).to_string().parse().unwrap());
    request
}

/// Plays the history; what the last report's acknowledgement and another caller are told.
pub(crate) async fn play(mut breakers: BreakerServiceClient<Channel>) -> [pb::Trip; 2] {
    let mut permits: Vec<Option<pb::Permit>> = vec![None; HISTORY.len()];
    let mut told = None;
    for second in 0..=TRIPS_AT_S {
        for (place, (caller, asked_at, ended_at, how)) in HISTORY.iter().enumerate() {
            if *asked_at == second {
                let answer = breakers.admit(at(second, call_by(caller, TARGET))).await.unwrap();
                permits[place] = Some(permit_of(answer.into_inner()));
            }
            if *ended_at == second {
                let of = by_permit(&permits[place].as_ref().unwrap().token);
                let outcome = if *how == "ok" { good(of) } else { bad(of, Kind::ErrorRate) };
                let outcomes = vec![outcome];
                let answer = breakers.report(at(second, pb::ReportRequest { outcomes })).await.unwrap().into_inner();
                told = ack_of(&answer.results[0]).trip.clone();
            }
        }
    }
    let answer = breakers.admit(at(TRIPS_AT_S, call_by("invoice-writer", TARGET))).await.unwrap().into_inner();
    [told.unwrap(), trip_of(answer)]
}

/// What the figures behind the text say.
pub(crate) fn check(told: &[pb::Trip; 2]) {
    for trip in told {
        assert_eq!(trip.text, contract());
        assert_eq!(trip.retry_after_ms, Some(40_000));
        assert_eq!(trip.fallback_target, "POST /v1/charge");
        let facts = trip.facts.unwrap();
        assert!(facts.failed >= 3 && facts.window_ms == 30_000, "{facts:?}");
    }
}

async fn server() -> TestServer {
    TestServer::start_when(CONFIG, &Address::Tcp("127.0.0.1:0".parse().unwrap()), START_UNIX_MS).await.0
}

#[tokio::test]
async fn the_seed_example_comes_out_byte_for_byte() {
    let server = server().await;
    check(&play(server.breakers()).await);
    server.stop().await;
}

#[tokio::test]
async fn the_nine_fields_of_the_seed_example_come_first_and_in_its_order() {
    let keys: Vec<&str> = contract().split('"').skip(1).step_by(4).collect();
    let due = ["action", "breaker", "target", "signal", "observed", "threshold", "state", "do_not", "fallback"];
    assert_eq!(keys, due);
}

#[tokio::test]
async fn the_caller_that_was_sick_alone_was_refused_alone() {
    let server = server().await;
    let mut breakers = server.breakers();
    let mut permits = vec![];
    for _ in 0..3 {
        permits.push(permit_of(breakers.admit(call_by("reconciler-a", TARGET)).await.unwrap().into_inner()));
    }
    for permit in permits {
        let outcomes = vec![bad(by_permit(&permit.token), Kind::ErrorRate)];
        breakers.report(pb::ReportRequest { outcomes }).await.unwrap();
    }
    let refused = trip_of(breakers.admit(call_by("reconciler-a", TARGET)).await.unwrap().into_inner());
    assert_eq!(refused.observed, "3/3 failed in last 60s");
    permit_of(breakers.admit(call_by("reconciler-b", TARGET)).await.unwrap().into_inner());
    server.stop().await;
}

#[tokio::test]
async fn the_weak_payload_of_the_seed_text_is_never_a_grpc_error() {
    let server = server().await;
    play(server.breakers()).await;
    let status = server.breakers().admit(call_by("invoice-writer", TARGET)).await.map(|_| Code::Ok);
    assert_eq!(status.unwrap(), Code::Ok, "a refusal is an answer: clients retry errors");
    server.stop().await;
}
