//! Who is told a contract, and in which wording: that of the session, pinned when it began. Decides no wording itself
//! (the domain draws); must not be asked under a lock.

use std::sync::Arc;

use super::exchange::{CallId, Reported};
use super::{Call, Engine};
use crate::domain::contract::experiment::Draw;
use crate::domain::contract::wording::FieldBytes;
use crate::domain::contract::{ContractSettings, Fields, SessionWording, Wording, Wordings};
use crate::domain::ids::Code;
use crate::domain::time::Timestamp;

/// Whom a contract is told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Listener<'a> {
    /// Nobody in particular: an operator, or a call without a session.
    Anybody,
    /// The session of a call that names it.
    Named(CallId<'a>),
    /// The session of a permit, by its key.
    Keyed(u64),
}

impl<'a> Listener<'a> {
    /// The session of a call.
    pub(super) const fn of(call: &Call<'a>) -> Self {
        if call.id.session.is_empty() { Self::Anybody } else { Self::Named(call.id) }
    }

    /// The session that a report is of: by its name where the report gives it, else by its permit's key; 0 for none.
    pub(super) const fn reported(reported: Reported<'a>, session: u64) -> Self {
        match reported {
            _ if session == 0 => Self::Anybody,
            Reported::Call(id) => Self::Named(id),
            Reported::Permit(_) => Self::Keyed(session),
        }
    }
}

impl Engine {
    /// The wording of a breaker's trips for somebody. A session that is over, or has not begun, is told as one that
    /// begins now, where its name is known; by its key alone nothing is known of it.
    pub(super) fn wording_of(
        &self,
        to: Listener<'_>,
        breaker: &Code,
        wordings: &Arc<Wordings>,
        now: Timestamp,
    ) -> Wording {
        let begun = |key| self.sessions.look(key, now, |run| run.wording.clone());
        let own = match to {
            Listener::Anybody => None,
            Listener::Keyed(key) => begun(key),
            Listener::Named(CallId { caller, session, .. }) => {
                let key = self.session_key(caller, session);
                Some(begun(key).unwrap_or_else(|| of_new(wordings, caller, session)))
            }
        };
        own.as_ref().map_or_else(|| wordings.default_wording(), |own| own.of(breaker)).clone()
    }
}

/// The wording of a session, or the one in force where that is a template of an earlier configuration, which was proved
/// for that one's breakers and budget, and does not fit the present budget.
pub(super) fn fitting(own: Wording, fields: &Fields, settings: &ContractSettings) -> Wording {
    let fits = || own.bytes(&FieldBytes::from(fields)) <= settings.budget_bytes;
    if settings.wordings.holds(&own) || fits() { own } else { settings.wordings.default_wording().clone() }
}

/// What a session that begins under these wordings is told in, to its end.
pub(super) fn of_new(wordings: &Arc<Wordings>, caller: &str, session: &str) -> SessionWording {
    SessionWording::new(Arc::clone(wordings), Draw::of(caller, session))
}
