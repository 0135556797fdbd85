//! The definitions of spec 06, each in a session of a few calls.

use pb::SessionOutcome::{Abandoned, Answered, Escalated, Halted};

use super::*;
use crate::cli::sim::world::{Question, Tool};

/// A session line by line: `turn second tool thing[.wording][e] -> what came`, of which `e` is a new context epoch and
/// what came is `ok`, nothing, or `breaker signal action seconds [fallback]` with `-` for a contract without a time.
fn log(lines: &[&str]) -> Log {
    let mut log = Log::default();
    for line in lines {
        let (asked, came) = line.split_once("->").unwrap();
        let words: Vec<&str> = asked.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<u32>().unwrap();
        let tools = [Tool::Charge, Tool::ChargeOld, Tool::Metrics, Tool::Logs, Tool::CreateOrder, Tool::GetOrder];
        let tool = *tools.iter().find(|tool| tool.name() == words[2]).unwrap();
        let (thing, wording) =
            words[3].trim_end_matches('e').split_once('.').unwrap_or((words[3].trim_end_matches('e'), "0"));
        let question = Question { tool, thing: thing.parse().unwrap(), wording: wording.parse().unwrap() };
        let came: Vec<&str> = came.split_whitespace().collect();
        let place = log.calls.len();
        let at_ms = u64::from(number(1)) * 1_000;
        let breaker = if tool == Tool::Charge { "payments" } else { tool.name() };
        let (turn, epoch) = (number(0), u32::from(words[3].ends_with('e')));
        let target = tool.target("s");
        log.calls.push(Call { turn, at_ms, question, target, epoch, breaker: breaker.to_owned() });
        match came.as_slice() {
            [] => {}
            ["ok"] => log.seen.push(Seen::Usable(place)),
            [breaker, signal, action, seconds, rest @ ..] => {
                let signal = pb::Signal::from_str_name(&format!("SIGNAL_{}", signal.to_uppercase())).unwrap();
                let action = pb::Action::from_str_name(&format!("ACTION_{}", action.to_uppercase())).unwrap();
                let until_ms = seconds.parse::<u64>().ok().map(|seconds| at_ms + seconds * 1_000);
                let fallback = [rest.first().copied().unwrap_or_default().to_owned(), String::new()];
                let (breaker, variant) = ((*breaker).to_owned(), "contract".to_owned());
                let told = Told { breaker, signal, variant, action, fallback, until_ms, is_at_report: true };
                log.seen.push(Seen::Told(place, told));
            }
            other => panic!("{other:?}"),
        }
    }
    log
}

/// First action, repeats, ignoring calls, resolution and turns of each trip.
fn told(lines: &[&str], outcome: pb::SessionOutcome) -> Vec<String> {
    let log = log(lines);
    let close = Close { outcome, success: None };
    let trips = trips(&log);
    let of = |trip: &Trip<'_>| {
        let (resolution, turns) = resolution(trip, &trips, &log, close);
        let turns = turns.map(|turns| format!(" after {turns}")).unwrap_or_default();
        let (repeats, ignored) = (repeats(trip, &trips, &log), ignored(trip, &trips, &log));
        format!("{:?} {repeats} {ignored} {resolution:?}{turns}", first_action(trip, &log, close))
    };
    trips.iter().map(of).collect()
}

const SWITCH: &str = "1 0 charge 0 -> payments error_rate switch_to_fallback 30 charge_v1";

/// What is due of each trip, how the session was closed, and its calls.
type Case = (&'static [&'static str], pb::SessionOutcome, &'static [&'static str]);

const CASES: &[Case] = &[
    (&["Match 0 0 Recovered after 1"], Answered, &[SWITCH, "2 3 charge_v1 0 -> ok"]),
    (&["Match 0 0 Abandoned"], Answered, &[SWITCH, "2 3 charge_v1 0 ->"]),
    // the number of turns is that of the caller
    (&["Match 0 0 Recovered after 6"], Answered, &[SWITCH, "7 3 charge_v1 0 -> ok"]),
    // the same call: before the time a repeat, at the time none; in other words it ignores, and another tool does not
    (&["Repeat 1 0 Recovered after 1"], Answered, &[SWITCH, "2 29 charge 0 -> ok"]),
    (&["Other 0 0 Recovered after 1"], Answered, &[SWITCH, "2 30 charge 0 -> ok"]),
    (&["Other 0 1 Abandoned"], Abandoned, &[SWITCH, "2 3 charge 0.1 ->"]),
    (&["Other 0 0 Abandoned"], Abandoned, &[SWITCH, "2 3 query_loki_logs 0 -> ok"]),
    // what the model forgot it does not repeat
    (&["Other 0 1 Abandoned"], Abandoned, &[SWITCH, "2 3 charge 0e ->"]),
    // two calls of the turn that was refused are one trip, and no follow-up of it
    (&["None 0 0 Halted"], Halted, &[SWITCH, "1 0 charge 1 -> payments error_rate switch_to_fallback 30 charge_v1"]),
    // two repeats in one turn are two repeats of one trip
    (&["Repeat 2 0 Abandoned"], Abandoned, &[SWITCH, "2 3 charge 0 ->", "2 3 charge 0 ->"]),
    // a repeat counts for the latest trip that forbade it; each trip ends once
    (
        &["Repeat 1 0 Superseded", "Repeat 1 0 Superseded", "None 0 0 Abandoned"],
        Answered,
        &[
            SWITCH,
            "2 3 charge 0 -> payments error_rate switch_to_fallback 30 charge_v1",
            "3 6 charge 0 -> payments error_rate switch_to_fallback 30 charge_v1",
        ],
    ),
    (
        &["Other 1 1 Superseded", "Other 0 0 Abandoned"],
        Abandoned,
        &[SWITCH, "2 3 charge 1 -> payments error_rate switch_to_fallback 30 charge_v1", "3 6 charge 0 ->"],
    ),
    // who waits is not told from who turns to something else
    (
        &["Match 0 0 Recovered after 2"],
        Answered,
        &[
            "1 0 charge 0 -> payments error_rate await_recovery 30",
            "2 3 query_loki_logs 0 -> ok",
            "3 30 charge 0 -> ok",
        ],
    ),
    (
        &["Repeat 1 0 Recovered after 2"],
        Answered,
        &["1 0 charge 0 -> payments quota_exhausted wait_for_quota 20", "2 3 charge 0 ->", "3 30 charge 0 -> ok"],
    ),
    // a route is another tool or another metric; other labels are none
    (
        &["Match 0 0 Recovered after 1"],
        Answered,
        &["1 0 query_prometheus 0 -> session_progress no_progress change_route -", "2 3 query_prometheus 1 -> ok"],
    ),
    (
        &["Other 0 1 Recovered after 2"],
        Answered,
        &[
            "1 0 query_prometheus 0 -> session_progress no_progress change_route -",
            "2 3 query_prometheus 0.1 ->",
            "3 6 query_loki_logs 0 -> ok",
        ],
    ),
    // who is to stop does so by no further call, and by closing the session for a reason that is one
    (&["Match 0 0 Halted"], Escalated, &["1 0 charge 0 -> payments auth_failure stop_and_escalate 300"]),
    (&["Match 0 0 Halted"], Answered, &["1 0 charge 0 -> payments auth_failure stop_and_escalate 300"]),
    (&["None 0 0 Abandoned"], Abandoned, &["1 0 charge 0 -> payments auth_failure stop_and_escalate 300"]),
    (&["None 0 0 Halted"], Halted, &["1 0 charge 0 -> payments auth_failure stop_and_escalate 300"]),
    (
        &["Match 0 0 Recovered after 1"],
        Answered,
        &["1 0 create_order 0 -> session_effects ambiguous_effect verify_effect - get_order", "2 3 get_order 0 -> ok"],
    ),
    (
        &["Match 0 0 Recovered after 1"],
        Answered,
        &["1 0 charge 0 -> session_fan_out fan_out call_in_next_wave 1", "2 0 charge 0 -> ok"],
    ),
];

#[test]
fn what_follows_a_contract_is_counted_as_spec_06_defines_it() {
    for (due, outcome, lines) in CASES {
        assert_eq!(told(lines, *outcome), *due, "{lines:#?}");
    }
}

#[test]
fn a_halt_told_with_a_result_counts_its_session_and_a_success_makes_it_false() {
    let halt = "2 3 query_prometheus 0 -> session_progress no_progress halt_with_partial_findings -";
    let steer = "1 0 query_prometheus 0 -> session_progress no_progress change_route -";
    let log = log(&[steer, halt]);
    let mut figures = Figures::default();
    add(&mut figures, &log, Close { outcome: pb::SessionOutcome::Answered, success: Some(true) });
    add(&mut figures, &log, Close { outcome: pb::SessionOutcome::Halted, success: Some(false) });
    let of = figures.rows.values().next().unwrap();
    assert_eq!((of.trips, of.sessions, of.halted_sessions, of.false_halts), (4, 2, 2, 1));
    let pb::SessionTotals { with_halts, with_steers, successful, false_halts, .. } = figures.sessions;
    assert_eq!([with_halts, with_steers, successful, false_halts], [2, 2, 1, 1]);
    assert_eq!((figures.sessions.answered, figures.sessions.halted), (1, 1));
}
