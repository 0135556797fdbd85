//! The script over gRPC: a request for each call and report, and all of them on one stream.

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tripnote::wire::pb;
use tripnote::wire::pb::guard_request::Ask;
use tripnote::wire::pb::guard_response::Answer;
use tripnote::wire::pb::report_result;

use super::{Line, Way, play, service};
use crate::support::TestServer;
use crate::support::asks::call_ref;

/// What a model is told after a report, by the disposition.
pub(crate) fn told(ack: &pb::ReportAck) -> Option<String> {
    let handling = ack.handling.clone().unwrap_or_default();
    let trip = ack.trip.as_ref().map(|trip| trip.text.clone());
    trip.or_else(|| Some(handling.text).filter(|text| !text.is_empty()))
}

fn asked(line: &Line) -> pb::AdmitRequest {
    pb::AdmitRequest {
        tool_name: line.tool.clone(),
        session_id: "run".to_owned(),
        call_id: line.call_id.clone(),
        arguments: line.arguments.clone().into_bytes(),
        ..pb::AdmitRequest::default()
    }
}

fn reported(line: &Line) -> pb::ReportRequest {
    let payload = pb::Payload { body: line.payload.clone().into_bytes(), ..pb::Payload::default() };
    let outcome =
        pb::Outcome { call: Some(call_ref("run", &line.call_id)), payload: Some(payload), ..pb::Outcome::default() };
    pb::ReportRequest { outcomes: vec![outcome] }
}

fn refusal(answer: pb::AdmitResponse) -> Option<String> {
    match answer.decision.unwrap() {
        pb::admit_response::Decision::Permit(_) => None,
        pb::admit_response::Decision::Trip(trip) => Some(trip.text),
    }
}

fn word(answer: &pb::ReportResponse) -> Option<String> {
    match answer.results[0].result.clone().unwrap() {
        report_result::Result::Ack(ack) => told(&ack),
        report_result::Result::Error(error) => panic!("{error:?}"),
    }
}

struct Grpc(TestServer);

impl Way for Grpc {
    async fn admit(&mut self, line: &Line) -> Option<String> {
        refusal(self.0.breakers.clone().admit(asked(line)).await.unwrap().into_inner())
    }

    async fn report(&mut self, line: &Line) -> Option<String> {
        word(&self.0.breakers.clone().report(reported(line)).await.unwrap().into_inner())
    }
}

struct Stream {
    asks: mpsc::Sender<pb::GuardRequest>,
    answers: Streaming<pb::GuardResponse>,
}

impl Stream {
    async fn answer(&mut self, ask: Ask) -> Answer {
        self.asks.send(pb::GuardRequest { tag: 7, ask: Some(ask) }).await.unwrap();
        let answer = self.answers.message().await.unwrap().unwrap();
        assert_eq!(answer.tag, 7);
        answer.answer.unwrap()
    }
}

impl Way for Stream {
    async fn admit(&mut self, line: &Line) -> Option<String> {
        match self.answer(Ask::Admit(asked(line))).await {
            Answer::Admit(answer) => refusal(answer),
            other => panic!("{other:?}"),
        }
    }

    async fn report(&mut self, line: &Line) -> Option<String> {
        match self.answer(Ask::Report(reported(line))).await {
            Answer::Report(answer) => word(&answer),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn the_script_over_grpc() {
    let mut way = Grpc(service().await);
    play(&mut way).await;
    way.0.stop().await;
}

#[tokio::test]
async fn the_script_on_one_stream() {
    let server = service().await;
    let (asks, stream) = mpsc::channel(1);
    let answers = server.breakers().guard(ReceiverStream::new(stream)).await.unwrap().into_inner();
    let mut way = Stream { asks, answers };
    play(&mut way).await;
    drop(way);
    server.stop().await;
}
