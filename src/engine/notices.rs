//! What a permit says beside going: of what a session was told that it is shut, what is shut no more, so that the
//! plan's assumption can be mended. Names of breakers and tools and the wall clock, and nothing else.

use std::sync::Arc;

use super::registry::code_id;
use super::{Call, Engine};
use crate::domain::breaker::Closing;
use crate::domain::breaker::permit::Permit;
use crate::domain::breaker::scope::CallNames;
use crate::domain::contract::Trip;
use crate::domain::ids::{HashTag, SafeText};
use crate::domain::session::flight::InFlight;
use crate::domain::session::run::{ToldShut, speaks_of_circuits};
use crate::domain::time::{Timestamp, UtcDeadline, WallClock};

/// The longest notice in bytes.
const NOTICE_BYTES_MAX: usize = 192;

impl Engine {
    /// Notes a call that its session's gates and its breaker let through; answers what is to be said beside.
    pub(super) fn note_admitted(
        &self,
        call: &Call<'_>,
        (session, seq, flight): (u64, u64, InFlight),
        now: Timestamp,
    ) -> Option<Arc<[SafeText]>> {
        let (told, resumed) = self.sessions.with(session, now, |run| {
            run.admitted(seq, flight);
            run.due_notices()
        })?;
        if told.is_empty() && resumed.is_empty() {
            return None;
        }
        let caller = self.hash(HashTag::Caller, call.id.caller);
        let looked = told.into_iter().map(|told| (self.closing(&told, caller, now), told));
        let closed: Vec<_> = looked.filter(|(closing, _)| *closing != Closing::NotYet).collect();
        // Looked at without the session's lock: who takes one off the list says it, and nobody else.
        let mine = self
            .sessions
            .with(session, now, |run| closed.into_iter().filter(|(_, told)| run.said_closed(told)).collect::<Vec<_>>());
        let wall = self.clock.wall();
        let mut notices: Vec<SafeText> = Vec::new();
        for (closing, told) in mine.unwrap_or_default() {
            let text = cut(&closed_text(told.code.as_str(), closing, now, wall));
            if !notices.contains(&text) {
                notices.push(text); // several targets of one breaker
            }
        }
        notices.extend(resumed.iter().map(|resumed| cut(&resumed_text(resumed.tool.as_str()))));
        (!notices.is_empty()).then(|| notices.into())
    }

    /// Whether the circuits that a session was told of are closed now.
    fn closing(&self, told: &ToldShut, caller: u64, now: Timestamp) -> Closing {
        let ToldShut { target, credential, arguments, .. } = *told;
        let names = CallNames { target, caller, credential, arguments };
        let mut events = Vec::new();
        let id = code_id(&told.code, &self.identity.names);
        let closing =
            self.enter(id, now, &mut events, |breaker, moment, out| breaker.closing(&names, told.at, moment, out));
        self.hand_in(events);
        closing.unwrap_or(Closing::AtSomeTime) // the breaker is gone, and with it what was shut
    }

    /// What a session is to remember of a refusal by its breaker; none where no circuit speaks.
    pub(super) fn shut(&self, call: &Call<'_>, trip: &Trip, now: Timestamp) -> Option<ToldShut> {
        speaks_of_circuits(trip.contract.row.signal).then(|| told_shut(trip, self.names(call), now))
    }
}

/// The same where a report opened the circuit.
pub(super) fn shut_by(permit: &Permit, trip: &Trip, now: Timestamp) -> ToldShut {
    told_shut(trip, crate::domain::breaker::names_of(permit), now)
}

fn told_shut(trip: &Trip, names: CallNames, at: Timestamp) -> ToldShut {
    let CallNames { target, credential, arguments, .. } = names;
    ToldShut { code: trip.contract.breaker.clone(), target, credential, arguments, at }
}

fn cut(text: &str) -> SafeText {
    SafeText::cut(text, NOTICE_BYTES_MAX)
}

fn closed_text(code: &str, closing: Closing, now: Timestamp, wall: WallClock) -> String {
    match closing {
        Closing::At(at) if wall.trusted => {
            let at = Timestamp(at.0.saturating_sub(wall.unix_ms(at) % 1_000)); // in the second in which it was
            format!("{code} closed at {}", UtcDeadline { at, now, wall })
        }
        Closing::At(_) | Closing::AtSomeTime | Closing::NotYet => format!("{code} closed"),
    }
}

fn resumed_text(tool: &str) -> String {
    format!("{tool} is no longer halted: its target answers well")
}
