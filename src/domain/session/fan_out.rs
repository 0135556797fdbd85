//! How many calls of one tool run at once in a session, and whether this very call is running already.
//!
//! Pure: a place that nobody gives back is free when its lease ends, whenever somebody looks.

use std::collections::BTreeMap;

use super::call::{Ask, Wave};
use super::policy::FanOutPolicy;
use crate::domain::contract::session::SessionFigures;
use crate::domain::time::Timestamp;

/// Places of one session; at the bound the one whose lease ends first is forgotten.
pub const PLACES_MAX: usize = 256;

/// A running call.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Place {
    tool: u64,
    arguments: u64,
    wave: Option<Wave>,
    call: u64,
    lease_ends: Timestamp,
}

/// The running calls of a session.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct FanOutCap {
    places: BTreeMap<u64, Place>,
}

impl FanOutCap {
    /// Why the call must wait; none where it may go. Takes nothing.
    #[must_use]
    pub fn judge(&self, policy: &FanOutPolicy, ask: &Ask<'_>) -> Option<SessionFigures> {
        let is_own = |number: u64, place: &Place| number == ask.place || (place.call == ask.call && ask.call != 0);
        let others = self.places.iter().filter(|(number, place)| !is_own(**number, place)).map(|(_, place)| place);
        let mut running = 0_u32;
        for place in others.filter(|place| place.tool == ask.tool.id && place.lease_ends > ask.now) {
            if ask.wave.is_some() && place.wave == ask.wave && place.arguments == ask.arguments {
                return Some(SessionFigures::Twin);
            }
            running = running.saturating_add(1);
        }
        let cap = policy.per_wave?.get();
        (running >= cap).then_some(SessionFigures::Wave { running, cap })
    }

    /// Takes the place of a call that may go. A call that asks again, or its next attempt, keeps its one place.
    pub fn take(&mut self, ask: &Ask<'_>) {
        self.places.retain(|_, place| place.lease_ends > ask.now && !(place.call == ask.call && ask.call != 0));
        if self.places.len() >= PLACES_MAX && !self.places.contains_key(&ask.place) {
            let first = self.places.iter().min_by_key(|(_, place)| place.lease_ends).map(|(number, _)| *number);
            first.and_then(|number| self.places.remove(&number));
        }
        let (wave, lease_ends) = (ask.wave, ask.lease_ends);
        let place = Place { tool: ask.tool.id, arguments: ask.arguments, wave, call: ask.call, lease_ends };
        self.places.insert(ask.place, place);
    }

    /// Gives a place back: its call was reported, or a breaker refused it.
    pub fn give_back(&mut self, place: u64) {
        self.places.remove(&place);
    }

    /// Calls that are kept as running, at most [`PLACES_MAX`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether nothing runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}
