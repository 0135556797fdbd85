//! Asking and reporting in one line each, over real gRPC.

use tonic::transport::Channel;
use tripnote::wire::pb;
use tripnote::wire::pb::breaker_service_client::BreakerServiceClient;
use tripnote::wire::pb::operator_service_client::OperatorServiceClient;
use tripnote::wire::pb::session_service_client::SessionServiceClient;

use super::TestServer;

pub(crate) use pb::CircuitKind as Kind;

/// A call with nothing but its target.
pub(crate) fn call(target: &str) -> pb::AdmitRequest {
    pb::AdmitRequest { target: target.to_owned(), ..Default::default() }
}

/// A call of a caller.
pub(crate) fn call_by(caller: &str, target: &str) -> pb::AdmitRequest {
    pb::AdmitRequest { caller: caller.to_owned(), ..call(target) }
}

/// A call that names itself.
pub(crate) fn call_named(session: &str, id: &str, target: &str) -> pb::AdmitRequest {
    pb::AdmitRequest { session_id: session.to_owned(), call_id: id.to_owned(), ..call(target) }
}

/// The name of [`call_named`].
pub(crate) fn call_ref(session: &str, id: &str) -> pb::outcome::Call {
    let (session_id, call_id) = (session.to_owned(), id.to_owned());
    pb::outcome::Call::CallRef(pb::CallRef { session_id, call_id, attempt: 0, caller: String::new() })
}

/// A report by permit.
pub(crate) fn by_permit(token: &[u8]) -> pb::outcome::Call {
    pb::outcome::Call::Permit(token.to_vec())
}

/// How a call went, as a caller judges it.
fn judged(of: pb::outcome::Call, result: pb::classification::Kind, kind: Kind) -> pb::Outcome {
    let judgement = pb::Classification { result: result.into(), kind: kind.into(), retry_after_ms: None };
    let result = Some(pb::outcome::Result::Classification(judgement));
    pb::Outcome { call: Some(of), result, latency_ms: Some(1), ..pb::Outcome::default() }
}

/// It went well.
pub(crate) fn good(of: pb::outcome::Call) -> pb::Outcome {
    judged(of, pb::classification::Kind::Ok, Kind::Unspecified)
}

/// It says nothing.
pub(crate) fn ignored(of: pb::outcome::Call) -> pb::Outcome {
    judged(of, pb::classification::Kind::Ignored, Kind::Unspecified)
}

/// It failed.
pub(crate) fn bad(of: pb::outcome::Call, kind: Kind) -> pb::Outcome {
    judged(of, pb::classification::Kind::Failed, kind)
}

/// A circuit's name; an empty scope or no kind for all.
pub(crate) fn name(breaker: &str, scope: &str, kind: Kind) -> pb::CircuitName {
    pb::CircuitName { breaker: breaker.to_owned(), scope: scope.to_owned(), kind: kind.into() }
}

/// The permit of an answer.
pub(crate) fn permit_of(answer: pb::AdmitResponse) -> pb::Permit {
    match answer.decision {
        Some(pb::admit_response::Decision::Permit(permit)) => permit,
        other => panic!("a permit was due: {other:?}"),
    }
}

/// The trip of an answer.
pub(crate) fn trip_of(answer: pb::AdmitResponse) -> pb::Trip {
    match answer.decision {
        Some(pb::admit_response::Decision::Trip(trip)) => trip,
        other => panic!("a trip was due: {other:?}"),
    }
}

/// The acknowledgement of an answer.
pub(crate) fn ack_of(result: &pb::ReportResult) -> &pb::ReportAck {
    match &result.result {
        Some(pb::report_result::Result::Ack(ack)) => ack,
        other => panic!("an acknowledgement was due: {other:?}"),
    }
}

/// The paths of a refusal of a malformed request.
pub(crate) fn fields_of(status: &tonic::Status) -> Vec<String> {
    use tonic_types::StatusExt as _;
    assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status:?}");
    let details = status.get_error_details();
    let violations = details.bad_request().map(|bad| bad.field_violations.clone()).unwrap_or_default();
    violations.into_iter().map(|violation| violation.field).collect()
}

/// Whether a status says when to come again.
pub(crate) fn says_when_to_retry(status: &tonic::Status) -> bool {
    use tonic_types::StatusExt as _;
    status.get_error_details().retry_info().and_then(|info| info.retry_delay).is_some_and(|delay| !delay.is_zero())
}

impl TestServer {
    pub(crate) fn breakers(&self) -> BreakerServiceClient<Channel> {
        self.breakers.clone()
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<Channel> {
        self.sessions.clone()
    }

    pub(crate) fn operators(&self) -> OperatorServiceClient<Channel> {
        self.operators.clone()
    }

    pub(crate) async fn admit(&self, request: pb::AdmitRequest) -> pb::AdmitResponse {
        self.breakers().admit(request).await.unwrap().into_inner()
    }

    pub(crate) async fn permit(&self, target: &str) -> pb::Permit {
        permit_of(self.admit(call(target)).await)
    }

    pub(crate) async fn trip(&self, target: &str) -> pb::Trip {
        trip_of(self.admit(call(target)).await)
    }

    pub(crate) async fn report(&self, outcome: pb::Outcome) -> pb::ReportAck {
        let outcomes = vec![outcome];
        let answer = self.breakers().report(pb::ReportRequest { outcomes }).await.unwrap().into_inner();
        ack_of(&answer.results[0]).clone()
    }

    /// One call that fails; what its report came to.
    pub(crate) async fn fail(&self, target: &str, kind: Kind) -> pb::ReportAck {
        let permit = self.permit(target).await;
        self.report(bad(by_permit(&permit.token), kind)).await
    }

    /// Opens a circuit by one failure; the policy trips at the first.
    pub(crate) async fn open(&self, target: &str, kind: Kind) -> pb::Trip {
        self.fail(target, kind).await.trip.unwrap()
    }

    pub(crate) async fn peek(&self, target: &str) -> pb::peek_result::Result {
        let targets = vec![pb::PeekTarget { target: target.to_owned(), ..Default::default() }];
        let answer = self.breakers().peek(pb::PeekRequest { targets }).await.unwrap().into_inner();
        answer.results[0].result.clone().unwrap()
    }

    pub(crate) async fn circuits(&self, only_not_closed: bool) -> Vec<pb::Circuit> {
        let request = pb::ListCircuitsRequest { only_not_closed, page_size: 1_000, ..Default::default() };
        self.operators().list_circuits(request).await.unwrap().into_inner().circuits
    }

    pub(crate) async fn circuit(&self, name: pb::CircuitName) -> Result<pb::Circuit, tonic::Status> {
        self.operators().get_circuit(name).await.map(tonic::Response::into_inner)
    }

    /// A watcher whose way holds no more than HTTP/2 makes it (64 KiB).
    pub(crate) async fn narrow_watch(&self) -> tonic::Streaming<pb::Event> {
        let uri = format!("http://{}", self.endpoint);
        let endpoint = tonic::transport::Endpoint::from_shared(uri).unwrap();
        let narrow = endpoint.initial_stream_window_size(65_535).connect_lazy();
        let request = pb::WatchEventsRequest { after_seq: Some(0), ..Default::default() };
        OperatorServiceClient::new(narrow).watch_events(request).await.unwrap().into_inner()
    }

    /// The first events; so many must be there.
    pub(crate) async fn events(&self, count: usize) -> Vec<pb::Event> {
        let last = self.engine.log().last_seq();
        assert!(last >= count as u64, "{count} events were due: {:?}", self.engine.log().after(0, count).events);
        let request = pb::WatchEventsRequest { after_seq: Some(0), ..Default::default() };
        let mut stream = self.operators().watch_events(request).await.unwrap().into_inner();
        let mut events = Vec::new();
        while events.len() < count {
            events.push(stream.message().await.unwrap().unwrap());
        }
        events
    }
}
