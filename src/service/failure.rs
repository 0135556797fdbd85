//! `FailureService`: decide, list attempts, accept a sketch.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::caller::known;
use super::{Shared, status};
use crate::wire::failure::{self, AskedStep};
use crate::wire::pb;
use crate::wire::pb::failure_service_server::FailureService;

/// The service.
pub(crate) struct Failures(pub(crate) Arc<Shared>);

#[tonic::async_trait]
impl FailureService for Failures {
    async fn decide(&self, request: Request<pb::DecideRequest>) -> Result<Response<pb::DecideResponse>, Status> {
        let now = self.0.now(request.metadata());
        let request = known(request);
        let asked = AskedStep::try_from(&request).map_err(|invalid| status::invalid(&invalid))?;
        let answer = self.0.engine.decide_step(asked.caller, &asked.step, &asked.record, now);
        let attempt = failure::attempt(&answer.attempt, self.0.engine.clock().wall());
        Ok(Response::new(pb::DecideResponse { attempt: Some(attempt), duplicate: answer.is_duplicate }))
    }

    async fn list_attempts(
        &self,
        request: Request<pb::ListAttemptsRequest>,
    ) -> Result<Response<pb::ListAttemptsResponse>, Status> {
        let pb::ListAttemptsRequest { step, caller } = known(request);
        let step = failure::step_name(&step).map_err(|invalid| status::invalid(&invalid))?;
        let caller = failure::caller(&caller).map_err(|invalid| status::invalid(&invalid))?;
        let kept = self.0.engine.attempts_of_step(caller, &step);
        Ok(Response::new(failure::kept(&kept, self.0.engine.clock().wall())))
    }

    async fn accept_sketch(
        &self,
        request: Request<pb::AcceptSketchRequest>,
    ) -> Result<Response<pb::AcceptSketchResponse>, Status> {
        let now = self.0.now(request.metadata());
        let pb::AcceptSketchRequest { id, caller } = known(request);
        let caller = failure::caller(&caller).map_err(|invalid| status::invalid(&invalid))?;
        let answer = self.0.engine.accept_sketch(caller, id, now).map_err(|invalid| status::no_sketch(&invalid))?;
        let attempt = failure::attempt(&answer.attempt, self.0.engine.clock().wall());
        Ok(Response::new(pb::AcceptSketchResponse { attempt: Some(attempt), duplicate: answer.is_duplicate }))
    }
}
