//! One line an event.

use super::*;
use crate::cli::tests::samples;

#[test]
fn each_event_is_a_line() {
    let of = |kind: pb::EventKind| pb::Event {
        seq: 42,
        at: Some(samples::at(123)),
        event_kind: kind.into(),
        breaker: "payments_api_v2".to_owned(),
        scope: "target:POST /v2/charge".to_owned(),
        kind: pb::CircuitKind::ErrorRate.into(),
        ..pb::Event::default()
    };
    let nobody = |kind: pb::EventKind| pb::Event { breaker: String::new(), scope: String::new(), kind: 0, ..of(kind) };
    let told = pb::Event { action: pb::Action::SwitchToFallback.into(), ..of(pb::EventKind::Refused) };
    let events = [
        of(pb::EventKind::Admitted),
        pb::Event { lost: 0, config_version: 0, owner: String::new(), hint_ms: None, ..samples::event() },
        pb::Event { hint_ms: Some(30_000), hint_clamped: false, ..of(pb::EventKind::Tripped) },
        told,
        of(pb::EventKind::Recovered),
        pb::Event { owner: "ops".to_owned(), ..of(pb::EventKind::Overridden) },
        pb::Event { config_version: 2, ..nobody(pb::EventKind::ConfigChanged) },
        pb::Event { lost: 3, ..nobody(pb::EventKind::Gap) },
    ];
    let lines: Vec<String> = events.iter().map(|event| line(event, Paint::default())).collect();
    samples::assert_golden("tail.txt", &lines.join("\n"));
}

#[test]
fn only_a_service_that_may_come_back_is_waited_for() {
    assert!([Code::Unavailable, Code::Unknown].into_iter().all(is_lost));
    assert!(![Code::NotFound, Code::InvalidArgument, Code::Unimplemented].into_iter().any(is_lost));
}
