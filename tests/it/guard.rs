//! The `Guard` stream: every message is answered by its tag, in order, and nobody is buffered for.

use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;
use tripnote::domain::time::Timestamp;
use tripnote::wire::pb;
use tripnote::wire::pb::guard_request::Ask;
use tripnote::wire::pb::guard_response::Answer;

use crate::metrics::PAYMENTS;
use crate::support::TestServer;
use crate::support::asks::{Kind, bad, by_permit, call, good, permit_of, trip_of};

fn admit(tag: u64, target: &str) -> pb::GuardRequest {
    pb::GuardRequest { tag, ask: Some(Ask::Admit(call(target))) }
}

fn report(tag: u64, outcomes: Vec<pb::Outcome>) -> pb::GuardRequest {
    pb::GuardRequest { tag, ask: Some(Ask::Report(pb::ReportRequest { outcomes })) }
}

/// What each message is answered, until the service ends the stream.
async fn answers(server: &TestServer, asks: Vec<pb::GuardRequest>) -> Vec<pb::GuardResponse> {
    let stream = server.breakers().guard(tokio_stream::iter(asks)).await.unwrap().into_inner();
    stream.map(Result::unwrap).collect().await
}

#[tokio::test]
async fn messages_sent_ahead_are_answered_in_order_by_their_tags_before_the_stream_ends() {
    let server = TestServer::start("").await;
    let tags: Vec<u64> = (0..1_000).map(|at| at * 7 % 13).collect();
    let told = answers(&server, tags.iter().map(|tag| admit(*tag, "GET /x")).collect()).await;
    assert_eq!(told.iter().map(|answer| answer.tag).collect::<Vec<_>>(), tags);
    assert!(told.iter().all(|answer| matches!(&answer.answer, Some(Answer::Admit(of)) if of.decision.is_some())));
    server.stop().await;
}

#[tokio::test]
async fn a_report_on_the_stream_decides_the_next_call_on_it() {
    let server = TestServer::start(PAYMENTS).await;
    let permit = server.permit("charge").await;
    let told = answers(
        &server,
        vec![report(1, vec![bad(by_permit(&permit.token), Kind::ErrorRate)]), admit(2, "charge"), admit(3, "other")],
    )
    .await;
    let [Some(Answer::Report(acks)), Some(Answer::Admit(refused)), Some(Answer::Admit(let_through))] =
        [0, 1, 2].map(|at| told[at].answer.clone())
    else {
        panic!("{told:?}")
    };
    assert_eq!(acks.results.len(), 1);
    let mut unary = server.trip("charge").await;
    let mut streamed = trip_of(refused);
    (unary.event_seq, streamed.event_seq) = (0, 0); // each refusal is an event of its own
    assert_eq!(streamed, unary, "word for word what `Admit` says");
    permit_of(let_through);
    server.stop().await;
}

#[tokio::test]
async fn a_wave_on_the_stream_is_one_wave() {
    let server = TestServer::start("session.fan_out_per_wave = 2").await;
    let of_session = |at: u32| pb::AdmitRequest {
        session_id: "s".to_owned(),
        tool_name: "search".to_owned(),
        arguments: format!("{{\"q\":{at}}}").into_bytes(),
        ..Default::default()
    };
    let wave = pb::AdmitWaveRequest { calls: (0..4).map(of_session).collect(), reports: vec![] };
    let told = answers(&server, vec![pb::GuardRequest { tag: 9, ask: Some(Ask::Wave(wave)) }]).await;
    let Some(Answer::Wave(answer)) = &told[0].answer else { panic!("{told:?}") };
    let is_permit = |result: &pb::AdmitResult| {
        matches!(&result.result, Some(pb::admit_result::Result::Answer(of))
            if matches!(of.decision, Some(pb::admit_response::Decision::Permit(_))))
    };
    assert_eq!(answer.results.iter().map(is_permit).collect::<Vec<_>>(), [true, true, false, false]);
    server.stop().await;
}

#[tokio::test]
async fn a_malformed_message_is_told_in_its_place_and_the_next_is_answered() {
    let server = TestServer::start("").await;
    let (permit, too_many) = (server.permit("a").await, vec![good(by_permit(b"x")); 300]);
    let told = answers(
        &server,
        vec![
            pb::GuardRequest { tag: 1, ask: None },
            pb::GuardRequest { tag: 2, ask: Some(Ask::Admit(pb::AdmitRequest::default())) },
            report(3, too_many),
            pb::GuardRequest { tag: 4, ask: Some(Ask::Wave(pb::AdmitWaveRequest::default())) },
            report(5, vec![good(by_permit(&permit.token))]),
        ],
    )
    .await;
    let field = |answer: &pb::GuardResponse| match &answer.answer {
        Some(Answer::Error(error)) => error.field.clone(),
        _ => "answered".to_owned(),
    };
    assert_eq!(
        told.iter().map(field).collect::<Vec<_>>(),
        ["ask", "admit.target", "report.outcomes", "wave.calls", "answered"]
    );
    server.stop().await;
}

#[tokio::test]
async fn for_who_sends_and_does_not_read_no_more_than_a_window_of_answers_is_made() {
    let server = TestServer::start("").await;
    let (sender, asks) = mpsc::channel(1);
    let mut stream = server.breakers().guard(ReceiverStream::new(asks)).await.unwrap().into_inner();
    let sending = tokio::spawn(async move {
        for tag in 0..200_000_u64 {
            if sender.send(admit(tag, "GET /x")).await.is_err() {
                return tag;
            }
        }
        200_000
    });
    // nobody reads: what was decided stops growing
    let decided = || server.engine.counts(Timestamp(0)).permits;
    let mut seen = 0;
    let mut still = 0;
    while still < 200 {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        still = if decided() == seen && seen > 0 { still + 1 } else { 0 };
        seen = decided();
    }
    assert!(seen < 50_000, "{seen} answers wait for somebody who does not read them");
    for tag in 0..1_000 {
        assert_eq!(stream.next().await.unwrap().unwrap().tag, tag);
    }
    drop(stream);
    assert!(sending.await.unwrap() < 200_000);
    server.stop().await;
}

#[tokio::test]
async fn a_drain_ends_the_stream_with_word_to_go_elsewhere() {
    let server = TestServer::start("drain_for = \"5m\"").await;
    let (sender, asks) = mpsc::channel(4);
    let mut stream = server.breakers().guard(ReceiverStream::new(asks)).await.unwrap().into_inner();
    sender.send(admit(1, "a")).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap().tag, 1);
    let stopping = tokio::spawn(server.stop());
    let status = stream.next().await.unwrap().unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains("draining"), "{}", status.message());
    assert!(stream.next().await.is_none());
    stopping.await.unwrap();
    drop(sender);
}
