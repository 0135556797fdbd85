//! How a call went: from a permit, or a call's own name, to the breaker that issued it.

use std::sync::Arc;

use super::calls::CallRecord;
use super::{Engine, ReportAnswer, Reported};
use crate::domain::breaker::permit::Permit;
use crate::domain::breaker::{Acknowledgement, Receipt};
use crate::domain::observation::CallResult;
use crate::domain::signal::Phase;
use crate::domain::time::Timestamp;

impl Engine {
    /// How a call went.
    #[must_use]
    pub fn report(&self, reported: Reported<'_>, result: &CallResult, now: Timestamp) -> ReportAnswer {
        let unknown =
            ReportAnswer { acknowledgement: Acknowledgement::Unknown, phase_after: Phase::Closed, trip: None };
        let remembered;
        let token: &[u8] = match reported {
            Reported::Permit(token) => token,
            Reported::Call(id) => match self.call_key(&id).and_then(|key| self.calls.get(key)) {
                Some(CallRecord::Permitted(granted) | CallRecord::Reported(granted)) => {
                    remembered = granted.token;
                    &remembered
                }
                Some(CallRecord::Refused { .. }) | None => return unknown,
            },
        };
        let Some(permit) = Permit::open(token, &self.identity.permits) else { return unknown };
        let mut events = Vec::new();
        let receipt = self.enter(permit.breaker, now, &mut events, |breaker, moment, out| {
            breaker.report(&permit, result, moment, out)
        });
        if permit.call != 0 {
            self.calls.settle(permit.call, token);
        }
        let Some(Receipt { acknowledgement, phase_after, trip }) = receipt else { return unknown };
        let trip = trip.map(|mut trip| {
            let at = usize::try_from(trip.event_seq).unwrap_or(usize::MAX);
            trip.event_seq = events.get(at).map_or(0, |event| event.seq);
            Box::new(self.told(Arc::from(trip), now))
        });
        self.log.hand_in(events);
        ReportAnswer { acknowledgement, phase_after, trip }
    }
}
