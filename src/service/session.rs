//! `SessionService`: one agent run's policy, timeline, evidence and the review of its answer.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::caller::known;
use super::{Shared, status};
use crate::domain::behaviour::SessionOutcome;
use crate::domain::session::run::AgentRun;
use crate::domain::time::Timestamp;
use crate::engine::review::ReviewedAnswer;
use crate::wire::invalid::NAME_BYTES_MAX;
use crate::wire::pb::session_service_server::SessionService;
use crate::wire::session::{ANSWER_BYTES_MAX, bounded, counts, evidence, named, policy, shown, tool_name};
use crate::wire::{InvalidField, pb};

/// The service.
pub(crate) struct Runs(pub(crate) Arc<Shared>);

fn invalid(fault: InvalidField) -> Status {
    status::invalid(&fault)
}

fn no_such_session() -> Status {
    Status::not_found("no such session: it was never opened, has ended, or belongs to another caller")
}

impl Runs {
    /// Works on a run that a request names.
    fn with<R>(
        &self,
        session: Option<&pb::SessionRef>,
        now: Timestamp,
        work: impl FnOnce(&mut AgentRun) -> R,
    ) -> Result<R, Status> {
        let (caller, id) = named(session).map_err(invalid)?;
        let found = self.0.engine.with_session(caller, id, now, work);
        found.ok_or_else(no_such_session)
    }
}

#[tonic::async_trait]
impl SessionService for Runs {
    async fn open_session(
        &self,
        request: Request<pb::OpenSessionRequest>,
    ) -> Result<Response<pb::OpenSessionResponse>, Status> {
        let now = self.0.now(request.metadata());
        let request = known(request);
        let (caller, id) = named(request.session.as_ref()).map_err(invalid)?;
        let own = request.policy.clone().unwrap_or_default();
        let engine = &self.0.engine;
        let opened = engine
            .with_reading(|configured, tools| policy(&own, configured, tools))
            .map(|policy| engine.open_session(caller, id, policy, now))
            .map_err(|fault| invalid(fault.inside("policy")))?;
        Ok(Response::new(pb::OpenSessionResponse { opened }))
    }

    async fn close_session(
        &self,
        request: Request<pb::CloseSessionRequest>,
    ) -> Result<Response<pb::CloseSessionResponse>, Status> {
        let now = self.0.now(request.metadata());
        let request = known(request);
        let session = request.session.as_ref();
        let last = self.with(session, now, |run| counts(run))?;
        let (caller, id) = named(session).map_err(invalid)?;
        let outcome = Option::from(request.outcome()).unwrap_or(SessionOutcome::Abandoned);
        self.0.engine.close_session(caller, id, (outcome, request.success), now);
        Ok(Response::new(pb::CloseSessionResponse { counts: Some(last) }))
    }

    async fn begin_task(
        &self,
        request: Request<pb::BeginTaskRequest>,
    ) -> Result<Response<pb::BeginTaskResponse>, Status> {
        let now = self.0.now(request.metadata());
        let request = known(request);
        let (caller, id) = named(request.session.as_ref()).map_err(invalid)?;
        let task = bounded("task_id", &request.task_id, NAME_BYTES_MAX).map_err(invalid)?;
        Ok(Response::new(pb::BeginTaskResponse { task: self.0.engine.begin_task(caller, id, task, now) }))
    }

    async fn end_wave(&self, request: Request<pb::EndWaveRequest>) -> Result<Response<pb::EndWaveResponse>, Status> {
        let now = self.0.now(request.metadata());
        let request = known(request);
        let (caller, id) = named(request.session.as_ref()).map_err(invalid)?;
        let lane = bounded("lane", &request.lane, NAME_BYTES_MAX).map_err(invalid)?;
        let is_known = self.0.engine.end_wave(caller, id, lane, now);
        if is_known { Ok(Response::new(pb::EndWaveResponse {})) } else { Err(no_such_session()) }
    }

    async fn advance_context_epoch(
        &self,
        request: Request<pb::AdvanceContextEpochRequest>,
    ) -> Result<Response<pb::AdvanceContextEpochResponse>, Status> {
        let now = self.0.now(request.metadata());
        let request = known(request);
        let context_epoch = self.with(request.session.as_ref(), now, |run| run.advance_epoch(request.context_epoch))?;
        Ok(Response::new(pb::AdvanceContextEpochResponse { context_epoch }))
    }

    async fn get_session(
        &self,
        request: Request<pb::GetSessionRequest>,
    ) -> Result<Response<pb::GetSessionResponse>, Status> {
        let now = self.0.now(request.metadata());
        self.with(known(request).session.as_ref(), now, |run| shown(run, now)).map(Response::new)
    }

    async fn get_evidence(
        &self,
        request: Request<pb::GetEvidenceRequest>,
    ) -> Result<Response<pb::GetEvidenceResponse>, Status> {
        let now = self.0.now(request.metadata());
        let request = known(request);
        let only = request.current_task_only;
        self.with(request.session.as_ref(), now, |run| evidence(run, only)).map(Response::new)
    }

    async fn review_answer(
        &self,
        request: Request<pb::ReviewAnswerRequest>,
    ) -> Result<Response<pb::ReviewAnswerResponse>, Status> {
        let now = self.0.now(request.metadata());
        let request = known(request);
        let answer = bounded("text", &request.text, ANSWER_BYTES_MAX).map_err(invalid)?;
        let (caller, id) = named(request.session.as_ref()).map_err(invalid)?;
        let answer = ReviewedAnswer { task: &request.task_id, text: answer };
        let verdict = self.0.engine.review(caller, id, &answer, now).ok_or_else(no_such_session)?;
        Ok(Response::new((&verdict).into()))
    }

    async fn release_effect(
        &self,
        request: Request<pb::ReleaseEffectRequest>,
    ) -> Result<Response<pb::ReleaseEffectResponse>, Status> {
        let now = self.0.now(request.metadata());
        let request = known(request);
        let tool = tool_name("tool_name", &request.tool_name).map_err(invalid)?;
        let tool = self.0.engine.tool_hash(tool);
        let released = self.with(request.session.as_ref(), now, |run| run.release_effects(tool))?;
        let released = u32::try_from(released).unwrap_or(u32::MAX);
        Ok(Response::new(pb::ReleaseEffectResponse { released }))
    }
}
