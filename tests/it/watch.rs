//! Events: one gapless order for everybody, and the truth about what is missing.

use tokio::task::JoinSet;
use tonic::{Code, Streaming};
use tripnote::wire::pb;
use tripnote::wire::pb::EventKind as Event;

use crate::support::TestServer;
use crate::support::asks::{Kind, bad, by_permit, call, fields_of, permit_of, says_when_to_retry};

const TRIPS_AT_FIRST: &str = "defaults.error_rate = { rules = [{ consecutive = 1 }], jitter = \"0%\" }\n";
/// The smallest log: 128 events.
const SMALL_LOG: &str = "limits.events_bytes = 65536\n";
const SMALL_LOG_EVENTS: u64 = 128;

/// Everything that is kept, and what comes.
fn all() -> pb::WatchEventsRequest {
    pb::WatchEventsRequest { after_seq: Some(0), ..Default::default() }
}

async fn watch(server: &TestServer, request: pb::WatchEventsRequest) -> Streaming<pb::Event> {
    server.operators().watch_events(request).await.unwrap().into_inner()
}

async fn next(stream: &mut Streaming<pb::Event>) -> pb::Event {
    stream.message().await.unwrap().unwrap()
}

/// Reads up to a number; fails where one is missing that no `GAP` tells of. Answers how many were lost.
async fn read_to(stream: &mut Streaming<pb::Event>, mut seq: u64, last: u64) -> u64 {
    let mut lost = 0;
    while seq < last {
        let event = next(stream).await;
        if event.event_kind() == Event::Gap {
            lost += event.lost;
            assert_eq!(event.seq, seq + event.lost, "the last of those that are missing");
        } else {
            assert_eq!(event.seq, seq + 1);
        }
        seq = event.seq;
    }
    lost
}

/// A client that makes `calls` calls, each at a target of its own, of which every second fails.
async fn client(server: &TestServer, nth: usize, calls: usize) {
    for at in 0..calls {
        let target = format!("client {nth} target {at}");
        let permit = server.permit(&target).await;
        let of = by_permit(&permit.token);
        let outcome = if at % 2 == 0 { bad(of, Kind::ErrorRate) } else { crate::support::asks::good(of) };
        server.report(outcome).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn watchers_see_all_events_in_one_order_without_gaps() {
    let server = std::sync::Arc::new(TestServer::start(TRIPS_AT_FIRST).await);
    let request = pb::WatchEventsRequest { include_calls: true, ..all() };
    let mut streams = [watch(&server, request.clone()).await, watch(&server, request).await];
    let mut clients = JoinSet::new();
    for nth in 0..8 {
        let server = std::sync::Arc::clone(&server);
        clients.spawn(async move { client(&server, nth, 40).await });
    }
    let last = 8 * (40 * 2 + 20); // each call is admitted and recorded, every second one trips
    let mut orders = [vec![], vec![]];
    for (stream, order) in streams.iter_mut().zip(&mut orders) {
        for seq in 1..=last {
            let event = next(stream).await;
            assert_eq!((event.seq, event.incarnation), (seq, 1));
            order.push((event.event_kind(), event.breaker));
        }
    }
    while let Some(done) = clients.join_next().await {
        done.unwrap();
    }
    assert_eq!(orders[0], orders[1]);
    let tripped = orders[0].iter().filter(|(kind, _)| *kind == Event::Tripped).count();
    assert_eq!((server.engine.log().last_seq(), tripped), (last, 160));
}

#[tokio::test]
async fn a_watcher_goes_on_where_it_was() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let mut stream = watch(&server, pb::WatchEventsRequest::default()).await;
    for nth in 0..10 {
        server.open(&format!("target {nth}"), Kind::ErrorRate).await;
    }
    read_to(&mut stream, 0, 4).await;
    drop(stream);
    let request = pb::WatchEventsRequest { after_seq: Some(4), incarnation: Some(1), ..Default::default() };
    let mut stream = watch(&server, request).await;
    assert_eq!(read_to(&mut stream, 4, 10).await, 0);
    let mut only_new = watch(&server, pb::WatchEventsRequest::default()).await;
    server.open("target 10", Kind::ErrorRate).await;
    assert_eq!(next(&mut only_new).await.seq, 11);
    server.stop().await;
}

#[tokio::test]
async fn events_of_another_life_are_no_reason_to_miss_those_of_this_one() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    server.open("a", Kind::ErrorRate).await;
    server.open("b", Kind::ErrorRate).await;
    let request = pb::WatchEventsRequest { after_seq: Some(2), incarnation: Some(7), ..Default::default() };
    let mut stream = watch(&server, request).await;
    assert_eq!(read_to(&mut stream, 0, 2).await, 0);
    server.stop().await;
}

#[tokio::test]
async fn what_is_kept_no_more_is_told_as_a_gap() {
    let server = TestServer::start(&[SMALL_LOG, TRIPS_AT_FIRST].concat()).await;
    server.open("a", Kind::ErrorRate).await;
    for _ in 0..299 {
        server.trip("a").await; // one event each
    }
    let mut stream = watch(&server, all()).await;
    let gap = next(&mut stream).await;
    let lost = 300 - SMALL_LOG_EVENTS;
    assert_eq!((gap.event_kind(), gap.lost, gap.seq), (Event::Gap, lost, lost));
    assert_eq!(read_to(&mut stream, lost, 300).await, 0);
    server.stop().await;
}

#[tokio::test]
async fn a_watcher_that_reads_nothing_delays_nobody_and_learns_what_it_lost() {
    let server = TestServer::start(&[SMALL_LOG, TRIPS_AT_FIRST].concat()).await;
    let mut stream = server.narrow_watch().await;
    let target = "a".repeat(500); // each event names it
    server.open(&target, Kind::ErrorRate).await;
    for _ in 0..1_000 {
        server.trip(&target).await; // far more than its way and the log hold
    }
    assert_eq!(server.engine.log().last_seq(), 1_001);
    let lost = read_to(&mut stream, 0, 1_001).await;
    assert!(lost > 0, "nothing was lost: the test is too small");
    server.stop().await;
}

#[tokio::test]
async fn events_of_single_calls_are_made_only_for_who_wants_them() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    client(&server, 0, 2).await;
    assert_eq!(server.engine.log().last_seq(), 1, "the trip alone");
    let mut plain = watch(&server, all()).await;
    let mut every = watch(&server, pb::WatchEventsRequest { include_calls: true, ..all() }).await;
    client(&server, 1, 2).await;
    let mut kinds = vec![];
    for _ in 0..6 {
        kinds.push(next(&mut every).await.event_kind());
    }
    let due = [Event::Tripped, Event::Admitted, Event::Tripped, Event::Recorded, Event::Admitted, Event::Recorded];
    assert_eq!(kinds, due);
    let seqs = [next(&mut plain).await.seq, next(&mut plain).await.seq];
    assert_eq!(seqs, [1, 3], "a filter leaves numbers out and tells no gap");
    server.stop().await;
}

#[tokio::test]
async fn a_watcher_of_one_breaker_hears_of_no_other() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let request = pb::WatchEventsRequest { breaker: "b".to_owned(), ..all() };
    let mut stream = watch(&server, request).await;
    for target in ["a", "b", "c"] {
        server.open(target, Kind::ErrorRate).await;
        server.trip(target).await;
    }
    let (opened, refused) = (next(&mut stream).await, next(&mut stream).await);
    assert_eq!((opened.seq, opened.event_kind()), (3, Event::Tripped));
    assert_eq!((refused.seq, refused.event_kind()), (4, Event::Refused));
    let bad_code = pb::WatchEventsRequest { breaker: "No Code".to_owned(), ..all() };
    assert_eq!(fields_of(&server.operators().watch_events(bad_code).await.unwrap_err()), ["breaker"]);
    server.stop().await;
}

#[tokio::test]
async fn an_event_says_what_the_contract_said() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let trip = server.open("POST /a", Kind::ErrorRate).await;
    let refusal = server.trip("POST /a").await;
    let events = server.events(2).await;
    let [opened, refused] = &events[..] else { panic!("two events were due") };
    assert_eq!((trip.event_seq, refusal.event_seq), (opened.seq, refused.seq));
    assert_eq!((&opened.observed, &opened.threshold), (&trip.observed, &trip.threshold));
    assert_eq!(
        (opened.from_phase(), opened.to_phase(), opened.open_for_ms),
        (pb::Phase::Closed, pb::Phase::Open, 30_000)
    );
    assert_eq!(
        (opened.scope.as_str(), opened.kind(), opened.generation),
        ("target:POST /a", Kind::ErrorRate, trip.generation)
    );
    assert_eq!((refused.action(), refused.urgency()), (refusal.action(), refusal.urgency()));
    assert_eq!((&refused.observed, &refused.threshold), (&refusal.observed, &refusal.threshold));
    assert_eq!(opened.at.unwrap().seconds * 1_000, crate::support::NOON_UNIX_MS);
    server.stop().await;
}

#[tokio::test]
async fn watchers_above_the_bound_are_refused_and_told_when_to_come_again() {
    let server = TestServer::start("limits.watchers = 2").await;
    let _held = [watch(&server, all()).await, watch(&server, all()).await];
    let status = server.operators().watch_events(all()).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    assert!(says_when_to_retry(&status), "{status:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_watcher_that_left_gives_its_place_back_though_nothing_happens() {
    let server = TestServer::start("limits.watchers = 1").await;
    drop(watch(&server, all()).await);
    for _ in 0..10_000 {
        if let Ok(stream) = server.operators().watch_events(all()).await {
            drop(stream);
            return server.stop().await;
        }
        tokio::task::yield_now().await; // its leaving is on the way
    }
    panic!("the place of a watcher that left was never free again");
}

#[tokio::test]
async fn a_watcher_may_call_the_service_while_it_handles_an_event() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let mut stream = watch(&server, all()).await;
    server.open("a", Kind::ErrorRate).await;
    for nth in 0..20 {
        let event = next(&mut stream).await;
        assert_eq!((event.event_kind(), event.seq), (Event::Tripped, nth + 1));
        let permit = permit_of(server.admit(call(&format!("after {}", event.seq))).await);
        server.report(bad(by_permit(&permit.token), Kind::ErrorRate)).await;
    }
    server.stop().await;
}
