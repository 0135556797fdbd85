//! An agent that calls tools through a service, one call at a time.

use tripnote::wire::pb;

use crate::support::{TestServer, asks};

/// What a call came to for the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// It went through, and nothing was said.
    Permit,
    /// The result, and a contract under it.
    Steer,
    /// A contract in place of the result.
    Halt,
    /// It was not let through.
    Refused,
}

/// One agent run.
pub(crate) struct Agent<'a> {
    server: &'a TestServer,
    id: String,
    calls: u32,
    pub(crate) wave: String,
    pub(crate) task: String,
    trip: Option<pb::Trip>,
}

impl<'a> Agent<'a> {
    pub(crate) async fn new(server: &'a TestServer, id: &str) -> Self {
        Self { server, id: id.to_owned(), calls: 0, wave: String::new(), task: String::new(), trip: None }
    }

    fn session_ref(&self) -> Option<pb::SessionRef> {
        Some(pb::SessionRef { session_id: self.id.clone(), caller: String::new() })
    }

    pub(crate) async fn open(&mut self, policy: pb::SessionPolicy) -> Result<bool, tonic::Status> {
        let request = pb::OpenSessionRequest { session: self.session_ref(), policy: Some(policy) };
        Ok(self.server.sessions().open_session(request).await?.into_inner().opened)
    }

    pub(crate) async fn close(&mut self) {
        let request = pb::CloseSessionRequest { session: self.session_ref(), outcome: 0, success: None };
        self.server.sessions().close_session(request).await.unwrap();
    }

    pub(crate) async fn epoch(&mut self, context_epoch: u32) {
        let request = pb::AdvanceContextEpochRequest { session: self.session_ref(), context_epoch };
        self.server.sessions().advance_context_epoch(request).await.unwrap();
    }

    pub(crate) async fn try_session(&mut self) -> Result<pb::GetSessionResponse, tonic::Status> {
        let request = pb::GetSessionRequest { session: self.session_ref() };
        Ok(self.server.sessions().get_session(request).await?.into_inner())
    }

    pub(crate) async fn session(&mut self) -> pb::GetSessionResponse {
        self.try_session().await.unwrap()
    }

    pub(crate) async fn evidence(&mut self) -> pb::GetEvidenceResponse {
        let request = pb::GetEvidenceRequest { session: self.session_ref(), current_task_only: false };
        self.server.sessions().get_evidence(request).await.unwrap().into_inner()
    }

    pub(crate) async fn review(&mut self, text: &str) -> pb::ReviewAnswerResponse {
        let request =
            pb::ReviewAnswerRequest { session: self.session_ref(), text: text.to_owned(), task_id: String::new() };
        self.server.sessions().review_answer(request).await.unwrap().into_inner()
    }

    pub(crate) fn last_trip(&self) -> pb::Trip {
        self.trip.clone().unwrap()
    }

    /// Asks for a call in a new turn.
    pub(crate) async fn ask(&mut self, tool: &str, args: &str) -> Result<pb::Permit, Box<pb::Trip>> {
        self.ask_as(tool, args, pb::Effect::Unspecified).await
    }

    /// Asks for a call that does something.
    pub(crate) async fn ask_as(
        &mut self,
        tool: &str,
        args: &str,
        effect: pb::Effect,
    ) -> Result<pb::Permit, Box<pb::Trip>> {
        self.calls += 1;
        let request = pb::AdmitRequest {
            tool_name: tool.to_owned(),
            session_id: self.id.clone(),
            turn: Some(self.calls),
            wave_id: self.wave.clone(),
            task_id: self.task.clone(),
            arguments: args.as_bytes().to_vec(),
            effect: effect.into(),
            ..pb::AdmitRequest::default()
        };
        let request = if self.wave.is_empty() { request } else { pb::AdmitRequest { turn: None, ..request } };
        match self.server.admit(request).await.decision.unwrap() {
            pb::admit_response::Decision::Permit(permit) => Ok(permit),
            pb::admit_response::Decision::Trip(trip) => Err(Box::new(trip)),
        }
    }

    async fn report(&mut self, permit: &pb::Permit, outcome: pb::Outcome) -> Word {
        let outcome = pb::Outcome { call: Some(asks::by_permit(&permit.token)), ..outcome };
        let request = pb::ReportRequest { outcomes: vec![outcome] };
        let answer = self.server.breakers().report(request).await.unwrap().into_inner();
        let ack = asks::ack_of(&answer.results[0]).clone();
        let disposition = ack.handling.as_ref().unwrap().disposition();
        self.trip = ack.trip.or(self.trip.take());
        match disposition {
            pb::Disposition::Trip => Word::Halt,
            pb::Disposition::Steer => Word::Steer,
            _ => Word::Permit,
        }
    }

    async fn call_with(&mut self, tool: &str, args: &str, effect: pb::Effect, outcome: pb::Outcome) -> Word {
        match self.ask_as(tool, args, effect).await {
            Err(trip) => {
                self.trip = Some(*trip);
                Word::Refused
            }
            Ok(permit) => self.report(&permit, outcome).await,
        }
    }

    /// A call over HTTP.
    pub(crate) async fn answered(&mut self, tool: &str, args: &str, status: u32, body: &str) -> Word {
        let facts = pb::TransportFacts { http_status: Some(status), ..pb::TransportFacts::default() };
        let payload = pb::Payload { body: body.as_bytes().to_vec(), ..pb::Payload::default() };
        let result = Some(pb::outcome::Result::Transport(facts));
        let outcome = pb::Outcome { result, payload: Some(payload), ..pb::Outcome::default() };
        self.call_with(tool, args, pb::Effect::Unspecified, outcome).await
    }

    /// A call that was answered well by its transport.
    pub(crate) async fn call(&mut self, tool: &str, args: &str, body: &str) -> Word {
        self.answered(tool, args, 200, body).await
    }

    /// A call with an effect whose body alone is known.
    pub(crate) async fn came(&mut self, tool: &str, args: &str, effect: pb::Effect, body: &[u8]) -> Word {
        let payload = pb::Payload { body: body.to_vec(), ..pb::Payload::default() };
        let outcome = pb::Outcome { payload: Some(payload), ..pb::Outcome::default() };
        self.call_with(tool, args, effect, outcome).await
    }

    /// Nothing listens where the tool is.
    #[cfg(feature = "real")]
    pub(crate) async fn unreachable(&mut self, tool: &str, args: &str) -> Word {
        let error_kind = pb::ErrorKind::ConnectRefused.into();
        let result = Some(pb::outcome::Result::Transport(pb::TransportFacts { error_kind, ..Default::default() }));
        let outcome = pb::Outcome { result, ..pb::Outcome::default() };
        self.call_with(tool, args, pb::Effect::Unspecified, outcome).await
    }

    /// A process.
    pub(crate) async fn run(&mut self, tool: &str, args: &str, body: &str) -> Word {
        self.came(tool, args, pb::Effect::Unspecified, body.as_bytes()).await
    }

    /// The reply of a call is lost.
    pub(crate) async fn lost(&mut self, permit: &pb::Permit, tool: &str) -> Word {
        let facts = pb::TransportFacts { error_kind: pb::ErrorKind::Timeout.into(), ..pb::TransportFacts::default() };
        let result = Some(pb::outcome::Result::Transport(facts));
        let outcome = pb::Outcome { result, tool_name: tool.to_owned(), ..pb::Outcome::default() };
        self.report(permit, outcome).await
    }

    /// Somebody refuses a call that was admitted.
    pub(crate) async fn refuse(&mut self, permit: &pb::Permit, by: pb::RefusedBy) {
        self.report(permit, pb::Outcome { refused_by: by.into(), ..pb::Outcome::default() }).await;
    }
}
