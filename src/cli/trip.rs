//! A trip on a screen: the text exactly as the model is given it, and a hint for the person beside it.

use super::text::{deadline, span};
use crate::wire::pb;

/// What the model is given. Without text where the variant is silent.
pub(super) fn block(trip: &pb::Trip) -> &str {
    &trip.text
}

/// Who refused, how it was worded, and when the call can be asked for again, in one line.
pub(super) fn hint(trip: &pb::Trip) -> String {
    format!(
        "refused by {}, worded as {}: {}",
        trip.breaker,
        trip.variant_name,
        wait(trip.retry_after_ms, trip.retry_at.as_ref())
    )
}

fn wait(after_ms: Option<u64>, at: Option<&prost_types::Timestamp>) -> String {
    match (after_ms, at) {
        (Some(after_ms), Some(at)) => format!("ask again in {}, at {}", span(after_ms), deadline(at, after_ms)),
        (Some(after_ms), None) => format!("ask again in {}", span(after_ms)),
        (None, _) => "there is no time to wait for".to_owned(),
    }
}
