//! What a session came to by the definitions of spec 06, worked out afterwards from the whole of what its host saw.
//!
//! It looks back and forth over a finished log, where the service must decide as things happen: the two share nothing but
//! the definitions.

use super::figures::{Figures, FirstAction, Resolution};
use super::log::{Call, Close, Log, Seen, Told};
use crate::wire::pb;

/// One trip: all that one breaker told in one turn.
struct Trip<'a> {
    turn: u32,
    /// What was told first.
    told: &'a Told,
    /// The calls that it was told of.
    of: Vec<&'a Call>,
    /// Where the telling stands in what was seen.
    place: usize,
    /// The latest of its times; none where one has none.
    until_ms: Option<u64>,
}

/// Adds one session to the figures.
pub(super) fn add(figures: &mut Figures, log: &Log, close: Close) {
    let trips = trips(log);
    let mut counted = Vec::new();
    for trip in &trips {
        let first_action = first_action(trip, log, close);
        let (repeats, ignored) = (repeats(trip, &trips, log), ignored(trip, &trips, log));
        let (resolution, turns) = resolution(trip, &trips, log, close);
        figures.count(trip.told, |of| {
            of.trips += 1;
            of.concluded += 1; // the session is over
            of.first(first_action);
            of.repeated_trips += u64::from(repeats > 0);
            of.repeats += repeats;
            of.ignored_trips += u64::from(ignored > 0);
            of.ignored += ignored;
            of.resolve(resolution, turns);
        });
        counted.push(trip.told);
    }
    figures.add_session(&counted);
    add_end(figures, log, close);
}

fn trips(log: &Log) -> Vec<Trip<'_>> {
    let mut trips: Vec<Trip<'_>> = Vec::new();
    for (place, seen) in log.seen.iter().enumerate() {
        let Seen::Told(at, told) = seen else { continue };
        let Some(call) = log.calls.get(*at) else { continue };
        let is_same = |trip: &&mut Trip<'_>| trip.turn == call.turn && trip.told.breaker == told.breaker;
        if let Some(trip) = trips.iter_mut().find(is_same) {
            trip.of.push(call);
            trip.until_ms = trip.until_ms.zip(told.until_ms).map(|(known, new)| known.max(new));
        } else {
            trips.push(Trip { turn: call.turn, told, of: vec![call], place, until_ms: told.until_ms });
        }
    }
    trips
}

impl Trip<'_> {
    fn is_before_its_time(&self, call: &Call) -> bool {
        self.until_ms.is_none_or(|until_ms| call.at_ms < until_ms)
    }

    fn is_of_target(&self, call: &Call) -> bool {
        self.of.iter().any(|of| of.target == call.target)
    }

    fn is_fallback(&self, call: &Call) -> bool {
        let [name, target] = &self.told.fallback;
        name == call.question.tool.name() || (!target.is_empty() && *target == call.target)
    }

    fn is_of_kind(&self, other: &Self) -> bool {
        other.told.breaker == self.told.breaker && other.told.signal == self.told.signal
    }

    /// Whether a later trip is about the same.
    fn is_followed_by(&self, other: &Self) -> bool {
        other.turn > self.turn && self.is_of_kind(other)
    }

    fn asks_to_stop(&self) -> bool {
        matches!(self.told.action, pb::Action::StopAndEscalate | pb::Action::HaltWithPartialFindings)
    }
}

fn is_repeat(trip: &Trip<'_>, call: &Call) -> bool {
    // in a later wave it is what the contract asked for
    trip.told.action != pb::Action::CallInNextWave
        && trip.is_before_its_time(call)
        && trip.of.iter().any(|of| of.question == call.question && of.target == call.target && of.epoch == call.epoch)
}

/// The table of spec 06; the escalation tool is not configured here.
fn is_match(trip: &Trip<'_>, call: &Call) -> bool {
    match trip.told.action {
        pb::Action::SwitchToFallback | pb::Action::VerifyEffect => trip.is_fallback(call),
        pb::Action::AwaitRecovery | pb::Action::WaitForQuota => {
            !(trip.is_of_target(call) && trip.is_before_its_time(call))
        }
        pb::Action::ReducePayload => trip.is_of_target(call) && !trip.is_before_its_time(call),
        pb::Action::ChangeRoute => !trip.of.iter().any(|of| of.question.asks_as(&call.question)),
        pb::Action::CallInNextWave => true,
        pb::Action::StopAndEscalate | pb::Action::HaltWithPartialFindings | pb::Action::Unspecified => false,
    }
}

fn is_ignoring(trip: &Trip<'_>, call: &Call) -> bool {
    let is_against = trip.is_of_target(call) && trip.is_before_its_time(call);
    is_against && !is_repeat(trip, call) && !is_match(trip, call)
}

fn first_action(trip: &Trip<'_>, log: &Log, close: Close) -> FirstAction {
    match log.calls.iter().find(|call| call.turn > trip.turn) {
        Some(call) if is_repeat(trip, call) => FirstAction::Repeat,
        Some(call) if is_match(trip, call) => FirstAction::Match,
        Some(_) => FirstAction::Other,
        None => match close.outcome {
            pb::SessionOutcome::Answered | pb::SessionOutcome::Escalated if trip.asks_to_stop() => FirstAction::Match,
            pb::SessionOutcome::Answered
            | pb::SessionOutcome::Escalated
            | pb::SessionOutcome::Halted
            | pb::SessionOutcome::Abandoned
            | pb::SessionOutcome::Unspecified => FirstAction::None,
        },
    }
}

/// Calls that did something against a trip, each of them counted for the latest trip that it went against.
fn calls_of<'a>(
    trip: &Trip<'_>,
    trips: &[Trip<'_>],
    log: &'a Log,
    goes_against: fn(&Trip<'_>, &Call) -> bool,
) -> impl Iterator<Item = &'a Call> {
    log.calls.iter().filter(move |call| {
        let is_against = |trip: &Trip<'_>| call.turn > trip.turn && goes_against(trip, call);
        is_against(trip) && !trips.iter().any(|later| trip.is_followed_by(later) && is_against(later))
    })
}

fn repeats(trip: &Trip<'_>, trips: &[Trip<'_>], log: &Log) -> u64 {
    u64::try_from(calls_of(trip, trips, log, is_repeat).count()).unwrap_or(u64::MAX)
}

/// A call that repeats what an earlier contract of the kind forbade is a repeat, and does not ignore the later one too.
fn ignored(trip: &Trip<'_>, trips: &[Trip<'_>], log: &Log) -> u64 {
    let repeats_another = |call: &&Call| {
        let mut of_kind = trips.iter().filter(|other| other.is_of_kind(trip));
        of_kind.any(|other| call.turn > other.turn && is_repeat(other, call))
    };
    let ignoring = calls_of(trip, trips, log, is_ignoring).filter(|call| !repeats_another(call));
    u64::try_from(ignoring.count()).unwrap_or(u64::MAX)
}

fn resolution(trip: &Trip<'_>, trips: &[Trip<'_>], log: &Log, close: Close) -> (Resolution, Option<u32>) {
    let is_guards = trip.told.breaker.starts_with("session_");
    let mends = |call: &Call| {
        let is_own = if is_guards {
            trip.of.iter().any(|of| of.question.tool == call.question.tool)
        } else {
            trip.told.breaker == call.breaker
        };
        let is_other_route = trip.told.action == pb::Action::ChangeRoute && is_match(trip, call);
        call.turn > trip.turn && (is_own || trip.is_fallback(call) || is_other_route)
    };
    for (place, seen) in log.seen.iter().enumerate().skip(trip.place) {
        match seen {
            Seen::Usable(at) => {
                if let Some(call) = log.calls.get(*at).filter(|call| mends(call)) {
                    return (Resolution::Recovered, Some(call.turn - trip.turn));
                }
            }
            Seen::Told(..) => {
                if trips.iter().any(|other| other.place == place && trip.is_followed_by(other)) {
                    return (Resolution::Superseded, None);
                }
            }
        }
    }
    let is_halted = match close.outcome {
        pb::SessionOutcome::Halted | pb::SessionOutcome::Escalated => true,
        pb::SessionOutcome::Answered => trip.asks_to_stop(),
        pb::SessionOutcome::Abandoned | pb::SessionOutcome::Unspecified => false,
    };
    (if is_halted { Resolution::Halted } else { Resolution::Abandoned }, None)
}

fn add_end(figures: &mut Figures, log: &Log, close: Close) {
    let guards = log.seen.iter().filter_map(|seen| match seen {
        Seen::Told(_, told) if told.is_at_report && told.signal == pb::Signal::NoProgress => Some(told),
        Seen::Told(..) | Seen::Usable(_) => None,
    });
    let (mut is_halted, mut is_steered) = (false, false);
    let is_success = close.success == Some(true);
    let mut halted_by: Vec<&Told> = vec![];
    for told in guards {
        is_steered |= told.action == pb::Action::ChangeRoute;
        if told.action == pb::Action::HaltWithPartialFindings {
            is_halted = true;
            if !halted_by.iter().any(|known| known.breaker == told.breaker) {
                halted_by.push(told);
            }
        }
    }
    for told in halted_by {
        figures.count(told, |of| {
            of.halted_sessions += 1;
            of.false_halts += u64::from(is_success);
        });
    }
    let sessions = &mut figures.sessions;
    match close.outcome {
        pb::SessionOutcome::Answered => sessions.answered += 1,
        pb::SessionOutcome::Escalated => sessions.escalated += 1,
        pb::SessionOutcome::Halted => sessions.halted += 1,
        pb::SessionOutcome::Abandoned | pb::SessionOutcome::Unspecified => sessions.abandoned += 1,
    }
    sessions.with_halts += u64::from(is_halted);
    sessions.with_steers += u64::from(is_steered);
    sessions.successful += u64::from(is_success);
    sessions.false_halts += u64::from(is_success && is_halted);
}

#[cfg(test)]
mod tests;
