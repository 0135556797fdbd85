//! The closed words of the wire as contracts print them.

use crate::domain::contract::Action;
use crate::domain::failure::FailureClass;
use crate::domain::observation::{Observation, disposition};
use crate::domain::signal::Signal;
use crate::wire::pb;

/// The next step that a trip orders. A word of a later version is told as nothing.
pub(super) fn action(trip: &pb::Trip) -> String {
    Option::<Action>::from(trip.action()).map_or_else(String::new, |action| action.word().to_owned())
}

/// The class of trouble that a trip speaks of.
pub(super) fn signal(trip: &pb::Trip) -> String {
    Option::<Signal>::from(trip.signal()).map_or_else(String::new, |signal| signal.word().to_owned())
}

/// The one line that a model gets for a failed call. None where the result was not typed.
pub(super) fn failure(tool: &str, typing: Option<&pb::Typing>) -> Option<String> {
    let typing = typing?;
    let observation = Option::<Observation>::from(typing.observation())?;
    let (signal, class): (Option<Signal>, Option<FailureClass>) =
        (typing.signal().into(), typing.failure_class().into());
    Some(disposition::failure_line(tool, observation.word(), signal, class))
}
