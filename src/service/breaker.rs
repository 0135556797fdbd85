//! `BreakerService`: admit, report, peek.

use std::sync::Arc;

use tonic::{Request, Response, Status, Streaming};

use super::caller::{User, known};
use super::guard::Guarding;
use super::{Shared, status};
use crate::domain::time::Timestamp;
use crate::wire::InvalidField;
use crate::wire::breaker::{AskedCall, PeekedTarget, ReportedOutcome};
use crate::wire::pb;
use crate::wire::pb::breaker_service_server::BreakerService;

/// The service.
#[derive(Clone)]
pub(crate) struct Breakers(pub(crate) Arc<Shared>);

/// An answer to one request.
fn answered<T>(answer: Result<T, InvalidField>) -> Result<Response<T>, Status> {
    answer.map(Response::new).map_err(|invalid| status::invalid(&invalid))
}

impl Breakers {
    fn admit(&self, request: &pb::AdmitRequest, now: Timestamp) -> Result<pb::AdmitResponse, InvalidField> {
        let asked = AskedCall::try_from(request)?;
        Ok(self.0.engine.admit(&asked.call(), now).into())
    }

    fn report_all(&self, outcomes: &[pb::Outcome], path: &str, now: Timestamp) -> Vec<pb::ReportResult> {
        if outcomes.is_empty() {
            return vec![];
        }
        let report = |(at, outcome): (usize, &pb::Outcome)| {
            let result = match ReportedOutcome::parse(outcome, self.0.limits.payload_bytes) {
                Ok(outcome) => pb::report_result::Result::Ack(self.0.engine.report_result(&outcome.report, now).into()),
                Err(invalid) => pb::report_result::Result::Error(invalid.inside(&format!("{path}[{at}]")).into()),
            };
            pb::ReportResult { result: Some(result) }
        };
        outcomes.iter().enumerate().map(report).collect()
    }

    /// A batch within its bound; where something is due, not empty.
    fn batch<T>(&self, items: &[T], path: &str, is_due: bool) -> Result<(), InvalidField> {
        let max = self.0.limits.batch;
        match items.len() {
            0 if is_due => Err(InvalidField::new(path, format!("is empty: 1 to {max} items are taken"))),
            len if len > max => Err(InvalidField::new(path, format!("has {len} items, at most {max} are taken"))),
            _ => Ok(()),
        }
    }

    /// One call, after the reports that ride along; a malformed call applies none of them.
    pub(super) fn admit_with_reports(
        &self,
        request: &pb::AdmitRequest,
        now: Timestamp,
    ) -> Result<pb::AdmitResponse, InvalidField> {
        self.batch(&request.reports, "reports", false)?;
        let asked = AskedCall::try_from(request)?;
        let reports = self.report_all(&request.reports, "reports", now);
        let answer = pb::AdmitResponse::from(self.0.engine.admit(&asked.call(), now));
        Ok(pb::AdmitResponse { reports, ..answer })
    }

    /// All calls of a wave, after its reports.
    pub(super) fn admit_all(
        &self,
        request: pb::AdmitWaveRequest,
        now: Timestamp,
    ) -> Result<pb::AdmitWaveResponse, InvalidField> {
        let pb::AdmitWaveRequest { mut calls, reports } = request;
        self.batch(&calls, "calls", true)?;
        self.batch(&reports, "reports", false)?;
        let reports = self.report_all(&reports, "reports", now);
        self.name_wave(&mut calls);
        let results = calls.iter().enumerate().map(|(at, call)| self.admit_of_wave(call, at, now)).collect();
        Ok(pb::AdmitWaveResponse { results, reports })
    }

    /// Outcomes, in order.
    pub(super) fn report(
        &self,
        request: &pb::ReportRequest,
        now: Timestamp,
    ) -> Result<pb::ReportResponse, InvalidField> {
        self.batch(&request.outcomes, "outcomes", true)?;
        Ok(pb::ReportResponse { results: self.report_all(&request.outcomes, "outcomes", now) })
    }

    /// Calls that come in one request are one wave, where they do not say otherwise.
    fn name_wave(&self, calls: &mut [pb::AdmitRequest]) {
        let is_unnamed = |call: &&mut pb::AdmitRequest| call.wave_id.is_empty() && call.turn.is_none();
        let mut unnamed = calls.iter_mut().filter(is_unnamed).filter(|call| !call.session_id.is_empty()).peekable();
        if unnamed.peek().is_some() {
            let name = format!("admit_wave {}", self.0.engine.next_number());
            unnamed.for_each(|call| call.wave_id.clone_from(&name));
        }
    }

    fn admit_of_wave(&self, request: &pb::AdmitRequest, at: usize, now: Timestamp) -> pb::AdmitResult {
        let answer = if request.reports.is_empty() {
            self.admit(request, now)
        } else {
            Err(InvalidField::new("reports", "stands inside a wave: give outcomes in the wave's own reports"))
        };
        let result = match answer {
            Ok(answer) => pb::admit_result::Result::Answer(answer),
            Err(invalid) => pb::admit_result::Result::Error(invalid.inside(&format!("calls[{at}]")).into()),
        };
        pb::AdmitResult { result: Some(result) }
    }
}

#[tonic::async_trait]
impl BreakerService for Breakers {
    type GuardStream = Guarding;

    async fn admit(&self, request: Request<pb::AdmitRequest>) -> Result<Response<pb::AdmitResponse>, Status> {
        let now = self.0.now(request.metadata());
        answered(self.admit_with_reports(&known(request), now))
    }

    async fn admit_wave(
        &self,
        request: Request<pb::AdmitWaveRequest>,
    ) -> Result<Response<pb::AdmitWaveResponse>, Status> {
        let now = self.0.now(request.metadata());
        answered(self.admit_all(known(request), now))
    }

    async fn report(&self, request: Request<pb::ReportRequest>) -> Result<Response<pb::ReportResponse>, Status> {
        let now = self.0.now(request.metadata());
        answered(self.report(&known(request), now))
    }

    async fn guard(&self, request: Request<Streaming<pb::GuardRequest>>) -> Result<Response<Guarding>, Status> {
        let _ = self.0.now(request.metadata()); // a test clock may be moved by the head of the stream
        let user = User::of(&request);
        Ok(Response::new(Guarding::new(self.clone(), user, request.into_inner())))
    }

    async fn peek(&self, request: Request<pb::PeekRequest>) -> Result<Response<pb::PeekResponse>, Status> {
        let now = self.0.now(request.metadata());
        let targets = &known(request).targets;
        self.batch(targets, "targets", true).map_err(|invalid| status::invalid(&invalid))?;
        let peek = |(at, target): (usize, &pb::PeekTarget)| {
            let result = match PeekedTarget::try_from(target) {
                Ok(target) => self.0.engine.peek(&target.call(), now).into(),
                Err(invalid) => pb::peek_result::Result::Error(invalid.inside(&format!("targets[{at}]")).into()),
            };
            pb::PeekResult { result: Some(result) }
        };
        Ok(Response::new(pb::PeekResponse { results: targets.iter().enumerate().map(peek).collect() }))
    }
}
