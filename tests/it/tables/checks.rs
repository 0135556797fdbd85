//! What holds for every refusal and every history, whatever the table says.

use std::collections::HashMap;

use tripnote::wire::pb;

const CONTRACT_BYTES_MAX: usize = 768;
const NAMES: [&str; 9] =
    ["action", "breaker", "target", "signal", "observed", "threshold", "state", "do_not", "fallback"];

/// What is wrong with a contract (spec 01), a line each.
pub(super) fn contract(trip: &pb::Trip) -> Vec<&'static str> {
    let fields =
        [&trip.breaker, &trip.target, &trip.observed, &trip.threshold, &trip.state, &trip.do_not, &trip.fallback];
    let places = NAMES.map(|name| trip.text.find(&format!("\"{name}\":\"")));
    let says_consecutive = trip.observed.contains("consecutive");
    // Who waits for a running call is told a wait, and no time: nobody knows when it returns.
    let is_timed = trip.state.contains("about") || trip.signal() == pb::Signal::FanOut;
    let has_time = trip.state.contains('Z');
    let rules = [
        (fields.iter().all(|field| !field.is_empty()), "a field of the contract is empty"),
        (trip.action() != pb::Action::Unspecified, "no action"),
        (trip.signal() != pb::Signal::Unspecified, "no signal"),
        (trip.urgency() != pb::Urgency::Unspecified, "no urgency"),
        (places.iter().all(Option::is_some) && places.is_sorted(), "the text has not all nine fields in their order"),
        (trip.text.len() <= CONTRACT_BYTES_MAX, "the text is above its budget"),
        (!trip.do_not.contains(trip.target.as_str()) || trip.target.len() < 4, "the prohibition repeats the target"),
        (trip.retry_after_ms != Some(0), "a wait of nothing"),
        (trip.retry_after_ms.is_some() == is_timed, "the state and the wait disagree on whether there is an end"),
        (!has_time || trip.retry_at.is_some(), "a time in the state and none in the message"),
        (
            says_consecutive == trip.threshold.contains("consecutive"),
            "`consecutive` of a rule that is not, or not of one that is",
        ),
        (
            trip.do_not.contains("before") || trip.retry_after_ms.is_none() || trip.do_not.contains("endpoint"),
            "a prohibition without an end",
        ),
        (trip.also_open.iter().all(|also| !also.scope.is_empty()), "an also_open without its scope"),
        (trip.also_open.iter().all(|also| also.retry_after_ms != Some(0)), "an also_open with a wait of nothing"),
    ];
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, rule)| rule).collect()
}

/// What is wrong with a history: numbers without gaps, and each circuit's phases in one chain.
pub(super) fn chain(history: &[pb::Event]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut phases: HashMap<(String, String, i32), pb::Phase> = HashMap::new();
    for (event, due) in history.iter().zip(1_u64..) {
        if event.seq != due {
            wrong.push(format!("event {} comes where {due} is due", event.seq));
        }
        if event.to_phase() == pb::Phase::Unspecified {
            continue;
        }
        let circuit = (event.breaker.clone(), event.scope.clone(), event.kind);
        let before = phases.insert(circuit, event.to_phase()).unwrap_or(pb::Phase::Closed);
        if before != event.from_phase() {
            wrong.push(format!("the chain is broken: was {before:?} before {event:?}"));
        }
    }
    wrong
}
