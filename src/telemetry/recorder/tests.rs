//! What has a name of its own, and what is counted as `other`.

use super::{Names, Recorder};
use crate::domain::behaviour::{Fact, Label};
use crate::domain::contract::Action;
use crate::domain::event::{Event, Happening};
use crate::domain::ids::Code;
use crate::domain::signal::Signal;
use crate::domain::time::Timestamp;

fn code(text: &str) -> Code {
    Code::parse(text).unwrap()
}

fn names(breakers: &[&str], variants: &[&str]) -> Names {
    let codes = |texts: &[&str]| texts.iter().map(|text| code(text)).collect();
    Names { breakers: codes(breakers), variants: codes(variants), alert_steer_then_halt: 3, version: 1 }
}

fn told(breaker: &str, signal: Signal, variant: &str) -> Event {
    let label = Label { breaker: code(breaker), signal, variant: code(variant) };
    let what = Happening::FollowedUp(Fact::Told(label, Action::AwaitRecovery));
    Event {
        seq: 0,
        at: Timestamp(0),
        breaker: code(breaker),
        scope: "".into(),
        scope_id: 0,
        kind: None,
        generation: 0,
        what,
    }
}

/// The lines of the trips that are not at zero, without the metric's name.
fn trips(recorder: &Recorder) -> Vec<String> {
    let text = recorder.handles.text();
    let lines = text.lines().filter_map(|line| line.strip_prefix("tripnote_trips_total"));
    let mut lines: Vec<String> = lines.filter(|line| !line.ends_with(" 0")).map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn what_the_configuration_does_not_name_is_other() {
    let recorder = Recorder::new(&names(&["payments"], &["contract"]), &[]);
    recorder.events(&[
        told("payments", Signal::ErrorRate, "contract"),
        told("get_users_id", Signal::ErrorRate, "contract"),
        told("session_progress", Signal::NoProgress, "contract"),
        told("payments", Signal::ErrorRate, "of_nobody"),
    ]);
    let of =
        |breaker, signal, variant| format!("{{breaker=\"{breaker}\",signal=\"{signal}\",variant=\"{variant}\"}} 1");
    let due = [
        of("other", "error_rate", "contract"),
        of("payments", "error_rate", "contract"),
        of("payments", "error_rate", "other"),
        of("session_progress", "no_progress", "contract"),
    ];
    assert_eq!(trips(&recorder), due);
}

#[test]
fn without_a_place_for_all_those_that_trip_first_have_one() {
    let codes: Vec<String> = (0..60).map(|at| format!("breaker_{at}")).collect();
    let breakers: Vec<&str> = codes.iter().map(String::as_str).collect();
    let recorder = Recorder::new(&names(&breakers, &["contract"]), &[]);
    let signals = [Signal::ErrorRate, Signal::Latency, Signal::AuthFailure];
    for breaker in &breakers {
        recorder.events(&signals.map(|signal| told(breaker, signal, "contract")));
    }
    let lines = trips(&recorder);
    let own = lines.iter().filter(|line| !line.contains("\"other\"")).count();
    let due = recorder.known.read().parts_max();
    assert!(due < breakers.len() * signals.len());
    assert_eq!((own, lines.len()), (due, due + signals.len()));
    let count = |line: &String| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap();
    assert_eq!(lines.iter().map(count).sum::<usize>(), breakers.len() * signals.len(), "none is lost");
}

#[test]
fn a_usual_configuration_has_a_zero_for_every_part() {
    for (breakers, variants) in [(8, &["contract", "weak"][..]), (10, &["contract"])] {
        let codes: Vec<String> = (0..breakers).map(|at| format!("breaker_{at}")).collect();
        let breakers: Vec<&str> = codes.iter().map(String::as_str).collect();
        let recorder = Recorder::new(&names(&breakers, variants), &[]);
        let before = recorder.handles.text().lines().count();
        for breaker in &breakers {
            recorder.events(&[told(breaker, Signal::OperatorOverride, variants[variants.len() - 1])]);
        }
        assert_eq!(recorder.handles.text().lines().count(), before, "{} breakers", breakers.len());
    }
}

#[test]
fn a_configuration_that_comes_later_brings_its_names_and_takes_none_away() {
    let recorder = Recorder::new(&names(&["payments"], &["contract"]), &[]);
    recorder.learn(&names(&["billing"], &["prose"]));
    for (breaker, variant) in [("payments", "contract"), ("billing", "prose"), ("payments", "prose")] {
        recorder.events(&[told(breaker, Signal::Latency, variant)]);
    }
    assert!(trips(&recorder).iter().all(|line| !line.contains("other")), "{:?}", trips(&recorder));
}
