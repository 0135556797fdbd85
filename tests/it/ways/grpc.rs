//! The script over gRPC.

use tripnote::wire::pb;
use tripnote::wire::pb::report_result;

use super::{Line, Way, play, service};
use crate::support::TestServer;
use crate::support::asks::call_ref;

struct Grpc(TestServer);

/// What a model is told after a report, by the disposition.
pub(crate) fn told(ack: &pb::ReportAck) -> Option<String> {
    let handling = ack.handling.clone().unwrap_or_default();
    let trip = ack.trip.as_ref().map(|trip| trip.text.clone());
    trip.or_else(|| Some(handling.text).filter(|text| !text.is_empty()))
}

impl Way for Grpc {
    async fn admit(&mut self, line: &Line) -> Option<String> {
        let request = pb::AdmitRequest {
            tool_name: line.tool.clone(),
            session_id: "run".to_owned(),
            call_id: line.call_id.clone(),
            arguments: line.arguments.clone().into_bytes(),
            ..pb::AdmitRequest::default()
        };
        let answer = self.0.breakers.clone().admit(request).await.unwrap().into_inner();
        match answer.decision.unwrap() {
            pb::admit_response::Decision::Permit(_) => None,
            pb::admit_response::Decision::Trip(trip) => Some(trip.text),
        }
    }

    async fn report(&mut self, line: &Line) -> Option<String> {
        let payload = pb::Payload { body: line.payload.clone().into_bytes(), ..pb::Payload::default() };
        let outcome = pb::Outcome {
            call: Some(call_ref("run", &line.call_id)),
            payload: Some(payload),
            ..pb::Outcome::default()
        };
        let request = pb::ReportRequest { outcomes: vec![outcome] };
        let answer = self.0.breakers.clone().report(request).await.unwrap().into_inner();
        match answer.results[0].result.clone().unwrap() {
            report_result::Result::Ack(ack) => told(&ack),
            report_result::Result::Error(error) => panic!("{error:?}"),
        }
    }
}

#[tokio::test]
async fn the_script_over_grpc() {
    let mut way = Grpc(service().await);
    play(&mut way).await;
    way.0.stop().await;
}
