//! Admit, AdmitWave, Report and Peek as one conversation: repeats, riders, order, and looking without touching.

use std::sync::Arc;

use tokio_stream::StreamExt as _;
use tonic::Code;
use tripnote::wire::pb;
use tripnote::wire::pb::Acknowledgement as Ack;
use tripnote::wire::pb::admit_result::Result as Admitted;

use crate::support::TestServer;
use crate::support::asks::{
    Kind, ack_of, bad, by_permit, call, call_named, call_ref, good, ignored, permit_of, says_when_to_retry, trip_of,
};

const TRIPS_AT_FIRST: &str = "defaults.error_rate = { rules = [{ consecutive = 1 }], jitter = \"0%\" }\n";

async fn wave(server: &TestServer, calls: Vec<pb::AdmitRequest>, reports: Vec<pb::Outcome>) -> pb::AdmitWaveResponse {
    server.breakers().admit_wave(pb::AdmitWaveRequest { calls, reports }).await.unwrap().into_inner()
}

fn answer(result: &pb::AdmitResult) -> pb::AdmitResponse {
    match &result.result {
        Some(Admitted::Answer(answer)) => answer.clone(),
        other => panic!("an answer was due: {other:?}"),
    }
}

/// A server with one circuit whose deadline has passed.
async fn with_a_ready_probe() -> TestServer {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    server.open("a", Kind::ErrorRate).await;
    server.clock.advance_ms(30_000);
    server
}

#[tokio::test]
async fn a_wave_is_answered_in_order_with_one_probe_at_most() {
    let server = with_a_ready_probe().await;
    let calls = ["b", "a", "c", "a", "a"].map(call).to_vec();
    let answer_of = wave(&server, calls, vec![]).await;
    let told = answer_of.results.iter().map(|result| match answer(result).decision.unwrap() {
        pb::admit_response::Decision::Permit(permit) => (permit.breaker, permit.probe),
        pb::admit_response::Decision::Trip(trip) => (trip.state, false),
    });
    let refused = ("half_open, probe running, ask again in about 30 seconds".to_owned(), false);
    let due = [("b".to_owned(), false), ("a".to_owned(), true), ("c".to_owned(), false), refused.clone(), refused];
    assert_eq!(told.collect::<Vec<_>>(), due);
    server.stop().await;
}

#[tokio::test]
async fn reports_of_a_wave_are_applied_before_its_first_call() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let permit = server.permit("a").await;
    let reports = vec![bad(by_permit(&permit.token), Kind::ErrorRate), good(by_permit(&permit.token))];
    let answered = wave(&server, vec![call("a"), call("b")], reports).await;
    let acks: Vec<Ack> = answered.reports.iter().map(|result| ack_of(result).acknowledgement()).collect();
    assert_eq!(acks, [Ack::Counted, Ack::Duplicate]);
    let trip = trip_of(answer(&answered.results[0]));
    assert_eq!(Some(trip.text), ack_of(&answered.reports[0]).trip.clone().map(|trip| trip.text));
    permit_of(answer(&answered.results[1]));
    server.stop().await;
}

#[tokio::test]
async fn a_call_of_a_wave_that_brings_its_own_reports_is_refused_alone() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let permit = server.permit("a").await;
    let reports = vec![bad(by_permit(&permit.token), Kind::ErrorRate)];
    let answered = wave(&server, vec![pb::AdmitRequest { reports, ..call("a") }, call("a")], vec![]).await;
    match &answered.results[0].result {
        Some(Admitted::Error(error)) => assert_eq!(error.field, "calls[0].reports"),
        other => panic!("{other:?}"),
    }
    permit_of(answer(&answered.results[1]));
    server.stop().await;
}

#[tokio::test]
async fn a_malformed_report_that_rides_on_an_admit_fails_nothing_else() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let permit = server.permit("a").await;
    let reports = vec![pb::Outcome::default(), bad(by_permit(&permit.token), Kind::ErrorRate)];
    let answered = server.admit(pb::AdmitRequest { reports, ..call("a") }).await;
    match &answered.reports[0].result {
        Some(pb::report_result::Result::Error(error)) => assert_eq!(error.field, "reports[0].permit"),
        other => panic!("{other:?}"),
    }
    assert_eq!(ack_of(&answered.reports[1]).acknowledgement(), Ack::Counted);
    trip_of(answered);
    server.stop().await;
}

#[tokio::test]
async fn a_malformed_admit_applies_none_of_its_reports() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let permit = server.permit("a").await;
    let reports = vec![bad(by_permit(&permit.token), Kind::ErrorRate)];
    server.breakers().admit(pb::AdmitRequest { reports, ..pb::AdmitRequest::default() }).await.unwrap_err();
    server.permit("a").await;
    assert_eq!(server.report(good(by_permit(&permit.token))).await.acknowledgement(), Ack::Counted);
    server.stop().await;
}

#[tokio::test]
async fn a_named_call_gets_the_same_permit_until_it_is_reported() {
    let server = TestServer::start("").await;
    let asked = call_named("s", "c", "a");
    let first = permit_of(server.admit(asked.clone()).await);
    server.clock.advance_ms(1_000);
    let again = permit_of(server.admit(asked.clone()).await);
    assert_eq!((&again.token, again.expires_in_ms), (&first.token, first.expires_in_ms - 1_000));
    let in_wave = wave(&server, vec![asked.clone(), asked.clone()], vec![]).await;
    assert!(in_wave.results.iter().all(|result| permit_of(answer(result)).token == first.token));
    let others = [
        pb::AdmitRequest { attempt: 2, ..asked.clone() },
        pb::AdmitRequest { caller: "other".to_owned(), ..asked.clone() },
        call_named("s", "other", "a"),
        call_named("other", "c", "a"),
        call("a"),
    ];
    for other in others {
        assert_ne!(permit_of(server.admit(other).await).token, first.token);
    }
    assert_eq!(permit_of(server.admit(pb::AdmitRequest { attempt: 1, ..asked.clone() }).await).token, first.token);
    assert_eq!(server.report(good(call_ref("s", "c"))).await.acknowledgement(), Ack::Counted);
    let anew = permit_of(server.admit(asked).await);
    assert_ne!(anew.token, first.token, "it was reported: another call");
    assert_eq!(server.report(good(by_permit(&first.token))).await.acknowledgement(), Ack::Duplicate);
    server.stop().await;
}

#[tokio::test]
async fn an_old_report_that_comes_again_does_not_settle_the_new_permit() {
    let server = TestServer::start("").await;
    let asked = call_named("s", "c", "a");
    let first = permit_of(server.admit(asked.clone()).await);
    server.report(good(by_permit(&first.token))).await;
    let second = permit_of(server.admit(asked.clone()).await);
    assert_eq!(server.report(good(by_permit(&first.token))).await.acknowledgement(), Ack::Duplicate);
    assert_eq!(permit_of(server.admit(asked).await).token, second.token, "it is not reported yet");
    server.stop().await;
}

#[tokio::test]
async fn a_named_call_is_refused_alike_until_its_time_and_then_decided_anew() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    server.open("a", Kind::ErrorRate).await;
    let asked = call_named("s", "c", "a");
    let first = trip_of(server.admit(asked.clone()).await);
    let last_seq = server.engine.log().last_seq();
    server.clock.advance_ms(29_999);
    let again = trip_of(server.admit(asked.clone()).await);
    assert_eq!((again.event_seq, again.generation), (first.event_seq, first.generation), "nothing is counted twice");
    assert_eq!((again.retry_at, again.retry_after_ms), (first.retry_at, Some(1)));
    assert_eq!(server.engine.log().last_seq(), last_seq);
    server.clock.advance_ms(1);
    assert!(permit_of(server.admit(asked).await).probe);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_call_that_is_asked_twice_at_once_takes_one_lease() {
    let server = Arc::new(TestServer::start(TRIPS_AT_FIRST).await);
    for round in 0..100 {
        let target = format!("target {round}");
        server.open(&target, Kind::ErrorRate).await;
        server.clock.advance_ms(30_000);
        let asks: Vec<_> = (0..4)
            .map(|_| {
                let (server, asked) = (Arc::clone(&server), call_named("s", &target, &target));
                tokio::spawn(async move { server.admit(asked).await.decision.unwrap() })
            })
            .collect();
        let mut tokens = vec![];
        for ask in asks {
            match ask.await.unwrap() {
                pb::admit_response::Decision::Permit(permit) => tokens.push(permit.token),
                pb::admit_response::Decision::Trip(trip) => panic!("its own probe refuses it: {}", trip.text),
            }
        }
        assert!(tokens.iter().all(|token| *token == tokens[0]));
    }
}

#[tokio::test]
async fn a_call_is_reported_by_its_own_name_and_by_nobody_else() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let asked = pb::AdmitRequest { caller: "agent-1".to_owned(), attempt: 3, ..call_named("s", "c", "a") };
    permit_of(server.admit(asked).await);
    let of = |caller: &str, attempt: u32| {
        let (session_id, call_id) = ("s".to_owned(), "c".to_owned());
        pb::outcome::Call::CallRef(pb::CallRef { session_id, call_id, attempt, caller: caller.to_owned() })
    };
    for (caller, attempt) in [("agent-2", 3), ("", 3), ("agent-1", 0), ("agent-1", 2)] {
        let ack = server.report(bad(of(caller, attempt), Kind::ErrorRate)).await;
        assert_eq!((ack.acknowledgement(), ack.phase_after()), (Ack::Unknown, pb::Phase::Unspecified));
    }
    let ack = server.report(bad(of("agent-1", 3), Kind::ErrorRate)).await;
    assert_eq!((ack.acknowledgement(), ack.phase_after()), (Ack::Counted, pb::Phase::Open));
    assert_eq!(server.report(good(of("agent-1", 3))).await.acknowledgement(), Ack::Duplicate);
    server.stop().await;
}

#[tokio::test]
async fn an_ignored_probe_gives_its_lease_back() {
    let server = with_a_ready_probe().await;
    let probe = server.permit("a").await;
    assert_eq!(server.report(ignored(by_permit(&probe.token))).await.phase_after(), pb::Phase::HalfOpen);
    assert!(server.permit("a").await.probe);
    server.stop().await;
}

#[tokio::test]
async fn a_report_after_its_permit_ended_is_expired_and_moves_nothing() {
    let server = TestServer::start("").await;
    let permit = server.permit("a").await;
    assert_eq!(permit.expires_in_ms, 900_000);
    server.clock.advance_ms(900_001);
    let ack = server.report(bad(by_permit(&permit.token), Kind::ErrorRate)).await;
    assert_eq!((ack.acknowledgement(), ack.trip), (Ack::Expired, None));
    assert_eq!(server.circuits(false).await, []);
    server.stop().await;
}

#[tokio::test]
async fn a_peek_changes_nothing_in_any_phase() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let told = async |server: &TestServer| {
        let before = (server.circuits(false).await, server.engine.log().last_seq(), server.engine.targets());
        let first = server.peek("a").await;
        assert_eq!(server.peek("a").await, first);
        let after = (server.circuits(false).await, server.engine.log().last_seq(), server.engine.targets());
        assert_eq!(before, after);
        match first {
            pb::peek_result::Result::Callable(callable) => format!("callable {} {}", callable.breaker, callable.probe),
            pb::peek_result::Result::Trip(trip) => format!("{} {}", trip.event_seq, trip.text),
            pb::peek_result::Result::Error(error) => panic!("{error:?}"),
        }
    };
    assert_eq!(told(&server).await, "callable a false", "never seen");
    server.open("a", Kind::ErrorRate).await;
    assert_eq!(told(&server).await, format!("0 {}", server.trip("a").await.text));
    server.clock.advance_ms(30_000);
    assert_eq!(told(&server).await, "callable a true");
    let probe = server.permit("a").await;
    assert!(probe.probe);
    assert_eq!(told(&server).await, format!("0 {}", server.trip("a").await.text));
    server.report(good(by_permit(&probe.token))).await;
    assert_eq!(told(&server).await, "callable a false");
    server.stop().await;
}

/// An `Admit` whose message does not come: it is in flight until the answer is dropped.
async fn hanging(server: &TestServer) -> tokio::task::JoinHandle<()> {
    let mut client = tonic::client::Grpc::new(crate::support::channel(&server.endpoint).await);
    tokio::spawn(async move {
        client.ready().await.unwrap();
        let never = tokio_stream::pending::<pb::AdmitRequest>();
        let path = tonic::codegen::http::uri::PathAndQuery::from_static("/tripnote.v1.BreakerService/Admit");
        let codec = tonic_prost::ProstCodec::<pb::AdmitRequest, pb::AdmitResponse>::default();
        let answer = client.client_streaming(tonic::Request::new(never.fuse()), path, codec).await;
        answer.map(|_: tonic::Response<pb::AdmitResponse>| ()).unwrap_err();
    })
}

#[tokio::test]
async fn requests_above_the_bound_are_refused_at_once_and_told_when_to_come_again() {
    let server = TestServer::start("limits.requests_in_flight = 1").await;
    server.permit("a").await;
    let in_flight = hanging(&server).await;
    let mut refused = None;
    for _ in 0..10_000 {
        refused = server.breakers().admit(call("a")).await.err();
        if refused.is_some() {
            break;
        }
        tokio::task::yield_now().await; // the other one is on its way
    }
    let status = refused.expect("two at once were served");
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    assert!(says_when_to_retry(&status), "{status:?}");
    in_flight.abort();
    for _ in 0..10_000 {
        if server.breakers().admit(call("a")).await.is_ok() {
            return server.stop().await;
        }
        tokio::task::yield_now().await;
    }
    panic!("the place of a request that left was never free again");
}
