//! The service behind a socket: every step is a request of a generated client, with the time in its header. Several calls
//! of one step go as a wave, several reports as a batch.

use std::sync::Arc;

use tokio::runtime::Runtime;
use tonic::{Request, Status};
use tripnote::engine::operate::CircuitName;
use tripnote::service::TEST_NOW_HEADER;
use tripnote::service::server::Address;
use tripnote::wire::pb;

use super::machine::{Hold, Machine};
use crate::support::TestServer;

/// The most that one request holds.
const BATCH: usize = 256;

pub(super) struct ThroughGrpc {
    runtime: Runtime,
    server: TestServer,
    config: Arc<parking_lot::Mutex<(String, u64)>>,
    seen: u64,
}

impl ThroughGrpc {
    pub(super) fn new(config: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let address = Address::Tcp("127.0.0.1:0".parse().unwrap());
        let (server, config) = runtime.block_on(TestServer::start_at(config, &address));
        Self { runtime, server, config, seen: 0 }
    }
}

fn request<T>(at_ms: u64, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert(TEST_NOW_HEADER, at_ms.to_string().parse().unwrap());
    request
}

fn named(name: &CircuitName) -> pb::CircuitName {
    let kind = name.kind.map_or(pb::CircuitKind::Unspecified, Into::into).into();
    pb::CircuitName { breaker: name.breaker.to_string(), scope: name.scope.clone().unwrap_or_default(), kind }
}

fn text(status: Status) -> String {
    status.message().to_owned()
}

impl Machine for ThroughGrpc {
    fn admit(&mut self, at_ms: u64, message: &pb::AdmitRequest) -> pb::AdmitResponse {
        let asked = self.server.breakers.admit(request(at_ms, message.clone()));
        self.runtime.block_on(asked).unwrap().into_inner()
    }

    fn admit_all(&mut self, at_ms: u64, requests: &[pb::AdmitRequest]) -> Vec<pb::AdmitResponse> {
        use pb::admit_result::Result as Found;
        if let [one] = requests {
            return vec![self.admit(at_ms, one)];
        }
        let mut answers = Vec::with_capacity(requests.len());
        for calls in requests.chunks(BATCH) {
            let message = pb::AdmitWaveRequest { calls: calls.to_vec(), reports: vec![] };
            let asked = self.server.breakers.admit_wave(request(at_ms, message));
            let results = self.runtime.block_on(asked).unwrap().into_inner().results;
            answers.extend(results.into_iter().map(|result| match result.result.unwrap() {
                Found::Answer(answer) => answer,
                Found::Error(error) => panic!("{error:?}"),
            }));
        }
        answers
    }

    fn report(&mut self, at_ms: u64, outcome: &pb::Outcome) -> pb::ReportAck {
        let [ack] = <[_; 1]>::try_from(self.report_all(at_ms, std::slice::from_ref(outcome))).unwrap();
        ack
    }

    fn report_all(&mut self, at_ms: u64, outcomes: &[pb::Outcome]) -> Vec<pb::ReportAck> {
        use pb::report_result::Result as Found;
        let mut acks = Vec::with_capacity(outcomes.len());
        for outcomes in outcomes.chunks(BATCH) {
            let message = pb::ReportRequest { outcomes: outcomes.to_vec() };
            let asked = self.server.breakers.report(request(at_ms, message));
            let results = self.runtime.block_on(asked).unwrap().into_inner().results;
            acks.extend(results.into_iter().map(|result| match result.result.unwrap() {
                Found::Ack(ack) => ack,
                Found::Error(error) => panic!("{error:?}"),
            }));
        }
        acks
    }

    fn peek(&mut self, at_ms: u64, target: &pb::PeekTarget) -> pb::peek_result::Result {
        let asked = self.server.breakers.peek(request(at_ms, pb::PeekRequest { targets: vec![target.clone()] }));
        let [result] = <[_; 1]>::try_from(self.runtime.block_on(asked).unwrap().into_inner().results).unwrap();
        result.result.unwrap()
    }

    fn hold(&mut self, at_ms: u64, hold: &Hold) -> Result<u32, String> {
        let message = pb::SetOverrideRequest {
            name: Some(named(&hold.name)),
            mode: pb::OverrideMode::from(hold.mode).into(),
            owner: hold.owner.clone(),
            reason: "a table says so".to_owned(),
            expires_in_ms: hold.for_ms,
        };
        let asked = self.server.operators.set_override(request(at_ms, message));
        self.runtime.block_on(asked).map(|held| held.into_inner().circuits).map_err(text)
    }

    fn clear(&mut self, at_ms: u64, name: &CircuitName, owner: &str) -> Result<(u32, u32), String> {
        let message = pb::ClearOverrideRequest { name: Some(named(name)), owner: owner.to_owned() };
        let asked = self.server.operators.clear_override(request(at_ms, message));
        let cleared = self.runtime.block_on(asked).map_err(text)?.into_inner();
        Ok((cleared.released, cleared.still_held))
    }

    fn reset(&mut self, at_ms: u64, name: &CircuitName) -> Result<u32, String> {
        let asked = self.server.operators.reset(request(at_ms, pb::ResetRequest { name: Some(named(name)) }));
        self.runtime.block_on(asked).map(|reset| reset.into_inner().circuits).map_err(text)
    }

    fn reload(&mut self, at_ms: u64, config: &str) -> Vec<String> {
        config.clone_into(&mut self.config.lock().0);
        // A reload reads the clock and no header; the list before it moves the clock.
        let looked = self.server.operators.list_circuits(request(at_ms, pb::ListCircuitsRequest::default()));
        self.runtime.block_on(looked).unwrap();
        let asked = self.server.operators.reload_config(request(at_ms, pb::ReloadConfigRequest {}));
        let reloaded = self.runtime.block_on(asked).unwrap().into_inner();
        reloaded.faults.into_iter().map(|fault| fault.path).collect()
    }

    fn step_wall(&mut self, ms: i64) {
        self.server.clock.step_wall_ms(ms);
    }

    fn circuits(&mut self, at_ms: u64) -> Vec<pb::Circuit> {
        let mut found = Vec::new();
        let mut message = pb::ListCircuitsRequest { page_size: 1_000, ..Default::default() };
        loop {
            let asked = self.server.operators.list_circuits(request(at_ms, message.clone()));
            let page = self.runtime.block_on(asked).unwrap().into_inner();
            found.extend(page.circuits);
            if page.next_page_token.is_empty() {
                return found;
            }
            message.page_token = page.next_page_token;
        }
    }

    fn events(&mut self) -> Vec<pb::Event> {
        let last = self.server.engine.log().last_seq();
        let mut found: Vec<pb::Event> = Vec::new();
        if last == self.seen {
            return found;
        }
        let message = pb::WatchEventsRequest { after_seq: Some(self.seen), ..Default::default() };
        let operators = &mut self.server.operators;
        self.runtime.block_on(async {
            let mut stream = operators.watch_events(message).await.unwrap().into_inner();
            while found.last().is_none_or(|event| event.seq < last) {
                found.push(stream.message().await.unwrap().unwrap());
            }
        });
        self.seen = last;
        found
    }
}
