//! A trip on a screen: the text exactly as the model is given it, and a hint for the person beside it.

use super::text::{clean, deadline, span};
use crate::wire::pb;

/// What the model is given. Without text where the variant is silent.
pub(super) fn block(trip: &pb::Trip) -> &str {
    &trip.text
}

/// Who refused, how it was worded, and when the call can be asked for again, in one line.
pub(super) fn hint(trip: &pb::Trip) -> String {
    let wording = match clean(&trip.variant_name) {
        unknown if unknown.is_empty() => unknown, // a service that is older than the name
        name => format!(" (worded as {name})"),
    };
    let wait = wait(trip.retry_after_ms, trip.retry_at.as_ref());
    format!("refused by {}{wording}: {wait}{}", trip.breaker, withdrawn(&trip.withdraw))
}

fn withdrawn(tools: &[String]) -> String {
    if tools.is_empty() {
        return String::new();
    }
    let tools: Vec<String> = tools.iter().map(|tool| clean(tool)).collect();
    format!("; this session cannot call now: {}", tools.join(", "))
}

fn wait(after_ms: Option<u64>, at: Option<&prost_types::Timestamp>) -> String {
    match (after_ms, at) {
        (Some(after_ms), Some(at)) => format!("ask again in {}, at {}", span(after_ms), deadline(at, after_ms)),
        (Some(after_ms), None) => format!("ask again in {}", span(after_ms)),
        (None, _) => "there is no time to wait for".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tests::samples;

    #[test]
    fn a_hint_says_who_refused_in_which_words_and_for_how_long() {
        let trip = pb::Trip { variant_name: "prose".to_owned(), retry_at: None, ..samples::trip() };
        assert_eq!(
            hint(&trip),
            "refused by payments_api_v2 (worded as prose): ask again in 40s; \
             this session cannot call now: charge, refund"
        );
        let old = pb::Trip { variant_name: String::new(), retry_after_ms: None, withdraw: vec![], ..trip };
        assert_eq!(hint(&old), "refused by payments_api_v2: there is no time to wait for");
    }
}
