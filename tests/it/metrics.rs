//! What the metrics say of scripted scenarios, and what has to hold of every scrape.

pub(crate) mod exposition;
mod private;
#[cfg(feature = "real")]
mod promtool;

use std::collections::BTreeSet;

use tripnote::domain::event::Event;
use tripnote::wire::pb;

use self::exposition::Exposition;
use crate::session::agent::{Agent, Word};
use crate::support::asks::{Kind, bad, by_permit, call, good, ignored, name};
use crate::support::web::ask;
use crate::support::{TestServer, recorder};

/// One breaker that opens at the first failure.
pub(crate) const PAYMENTS: &str = r#"
[[breaker]]
code = "payments"
targets = ["charge"]
[breaker.error_rate]
rules = [{ failures = 1, within = "30s" }]
open_for = "10s"
jitter = "0%"
"#;

pub(crate) async fn scrape(server: &TestServer) -> Exposition {
    Exposition::read(&ask(&server.http, "GET", "/metrics").await.body)
}

/// What differs where a fresh recorder hears the events of a server; beside what is not told by events.
pub(crate) fn replayed(server: &TestServer, toml: &str) -> Vec<String> {
    let events: Vec<Event> =
        server.engine.log().after(0, usize::MAX).events.iter().map(|event| Event::clone(event)).collect();
    let fresh = recorder(toml);
    fresh.events(&events);
    let now = tripnote::engine::clock::Clock::now(&*server.clock);
    let lines = |text: String| -> BTreeSet<String> {
        let is_told = |line: &&str| {
            let elsewhere = ["process_", "grpc_", "tripnote_config_", "tripnote_event"];
            !elsewhere.iter().any(|prefix| line.starts_with(prefix)) && !line.starts_with('#')
        };
        text.lines().filter(is_told).map(str::to_owned).collect()
    };
    let (own, again) = (lines(server.recorder.scrape(&server.engine, now)), lines(fresh.scrape(&server.engine, now)));
    own.symmetric_difference(&again).cloned().collect()
}

#[tokio::test]
async fn everything_that_can_be_named_stands_at_zero_before_the_first_call() {
    let server = TestServer::start(PAYMENTS).await;
    let scrape = scrape(&server).await;
    assert_eq!(scrape.faults(&["payments"], &["contract"]), [""; 0]);
    let part = [("breaker", "payments"), ("signal", "error_rate"), ("variant", "contract")];
    for metric in ["tripnote_trips_total", "tripnote_trip_followups_total", "tripnote_trip_resolutions_total"] {
        let series = &scrape.series[metric];
        let is_part = |of: &&(exposition::Labels, f64)| part.iter().all(|(name, value)| of.0[*name] == *value);
        assert!(series.iter().any(|of| is_part(&of)), "{metric}");
        assert!(series.iter().all(|(_, value)| *value == 0.0), "{metric}");
    }
    assert_eq!(scrape.sum("tripnote_breaker_state", &[("state", "closed")]), 1.0);
    assert_eq!(scrape.sum("grpc_server_handled_total", &[]), 0.0);
    assert_eq!(scrape.sum("tripnote_config_last_reload_successful", &[]), 0.0, "told by who reads the file");
    server.stop().await;
}

#[tokio::test]
async fn calls_and_permits_are_counted_by_what_became_of_them() {
    let server = TestServer::start(PAYMENTS).await;
    let [one, two, three, _lost] =
        [server.permit("a").await, server.permit("a").await, server.permit("b").await, server.permit("b").await];
    server.report(good(by_permit(&one.token))).await;
    server.report(good(by_permit(&one.token))).await;
    server.report(bad(by_permit(&two.token), Kind::ErrorRate)).await;
    server.report(ignored(by_permit(&three.token))).await;
    server.report(good(by_permit(b"none of ours"))).await;
    server.open("charge", Kind::ErrorRate).await;
    server.trip("charge").await;
    let now = scrape(&server).await;
    assert_eq!(now.faults(&["payments"], &["contract"]), [""; 0]);
    let settled = |result| now.sum("tripnote_permits_settled_total", &[("result", result)]);
    assert_eq!(["ok", "failed", "ignored", "expired"].map(settled), [1.0, 2.0, 1.0, 0.0]);
    assert_eq!(now.sum("tripnote_permits_issued_total", &[]), 5.0);
    assert_eq!(now.sum("tripnote_permits_in_flight", &[]), 1.0);
    let reports = |what| now.sum("tripnote_reports_total", &[("acknowledgement", what)]);
    assert_eq!(["counted", "duplicate", "unknown"].map(reports), [4.0, 1.0, 1.0]);
    let decided = |decision| now.sum("tripnote_decisions_total", &[("decision", decision)]);
    assert_eq!(["admit", "probe", "trip"].map(decided), [5.0, 0.0, 1.0]);
    assert_eq!(now.sum("tripnote_refusals_total", &[("breaker", "payments")]), 1.0);
    assert_eq!(now.sum("tripnote_trips_total", &[]), 0.0, "nobody was told in a session");
    server.clock.advance_ms(30 * 60_000);
    let later = scrape(&server).await;
    assert_eq!(later.faults(&["payments"], &["contract"]), [""; 0]);
    assert_eq!(later.sum("tripnote_permits_settled_total", &[("result", "expired")]), 1.0);
    assert_eq!(later.sum("tripnote_permits_in_flight", &[]), 0.0);
    assert_eq!(replayed(&server, PAYMENTS), [""; 0]);
    server.stop().await;
}

#[tokio::test]
async fn phases_are_shown_one_hot_and_every_change_is_counted() {
    let server = TestServer::start(PAYMENTS).await;
    let states = async || {
        let now = scrape(&server).await;
        assert_eq!(now.faults(&["payments"], &["contract"]), [""; 0]);
        let state = |state| now.sum("tripnote_breaker_state", &[("breaker", "payments"), ("state", state)]);
        ["closed", "half_open", "open", "forced_open"].iter().position(|word| state(word) == 1.0).unwrap()
    };
    assert_eq!(states().await, 0);
    server.clock.advance_ms(5_000);
    server.open("charge", Kind::ErrorRate).await;
    assert_eq!(states().await, 2);
    let opened = scrape(&server).await.sum("tripnote_breaker_opened_timestamp_seconds", &[("breaker", "payments")]);
    assert_eq!(opened, crate::support::NOON_UNIX_MS as f64 / 1e3 + 5.0);
    server.clock.advance_ms(10_000);
    let probe = server.permit("charge").await;
    assert_eq!(states().await, 1);
    server.report(good(by_permit(&probe.token))).await;
    assert_eq!(states().await, 0);
    let hold = pb::SetOverrideRequest {
        name: Some(name("payments", "", Kind::Unspecified)),
        mode: pb::OverrideMode::ForceOpen.into(),
        owner: "ops".to_owned(),
        reason: "maintenance".to_owned(),
        expires_in_ms: Some(1_000),
    };
    server.operators().set_override(hold).await.unwrap();
    assert_eq!(states().await, 3);
    server.clock.advance_ms(1_000);
    assert_eq!(states().await, 0);
    let now = scrape(&server).await;
    let moves =
        |from, to| now.sum("tripnote_transitions_total", &[("breaker", "payments"), ("from", from), ("to", to)]);
    assert_eq!([moves("closed", "open"), moves("open", "half_open"), moves("half_open", "closed")], [1.0; 3]);
    assert_eq!(now.sum("tripnote_transitions_total", &[]), 3.0);
    assert_eq!(now.sum("tripnote_decisions_total", &[("decision", "probe")]), 1.0);
    assert_eq!(now.sum("tripnote_breaker_opened_timestamp_seconds", &[]), 0.0);
    assert_eq!(now.sum("tripnote_circuits", &[]), 0.0);
    server.stop().await;
}

#[tokio::test]
async fn what_guards_and_reviews_say_is_counted_at_the_moment_they_say_it() {
    let toml = "session = { alert_steer_then_halt = 1 }";
    let server = TestServer::start(toml).await;
    let mut agent = Agent::new(&server, "night").await;
    let mut words = vec![];
    for label in ["a", "b", "c", "d"] {
        words.push(agent.call("query_prometheus", &format!("{{\"expr\":\"up{{job='{label}'}}\"}}"), "[]").await);
    }
    assert_eq!(words, [Word::Permit, Word::Steer, Word::Halt, Word::Refused]);
    let sent_back = agent.review("The root cause is the connection pool.").await;
    assert_eq!(sent_back.verdict(), pb::ReviewVerdict::SendBack);
    let now = scrape(&server).await;
    assert_eq!(now.faults(&[], &["contract"]), [""; 0]);
    let decided = |decision| now.sum("tripnote_decisions_total", &[("decision", decision), ("signal", "no_progress")]);
    assert_eq!(["steer", "halt", "trip"].map(decided), [1.0; 3]);
    assert_eq!(now.sum("tripnote_steer_then_halts_total", &[]), 1.0);
    assert_eq!(now.sum("tripnote_steer_then_halt_alerts_total", &[]), 1.0);
    assert_eq!(now.sum("tripnote_alert_steer_then_halt", &[]), 1.0);
    assert_eq!(now.sum("tripnote_results_total", &[("observation", "empty")]), 3.0);
    assert_eq!(now.sum("tripnote_reviews_total", &[("verdict", "send_back")]), 1.0);
    assert_eq!(now.sum("tripnote_review_faults_total", &[("rule", "no_usable_evidence")]), 1.0);
    assert_eq!(now.sum("tripnote_sessions_open", &[]), 1.0);
    agent.close().await;
    let after = scrape(&server).await;
    assert_eq!(after.sum("tripnote_sessions_ended_total", &[("outcome", "abandoned")]), 1.0);
    for (metric, count) in [("steers", 1.0), ("halts", 1.0), ("steer_then_halts", 1.0)] {
        assert_eq!(after.sum(&format!("tripnote_session_{metric}_sum"), &[]), count, "{metric}");
        assert_eq!(after.sum(&format!("tripnote_session_{metric}_bucket"), &[("le", "0")]), 0.0, "{metric}");
    }
    assert_eq!(
        [after.sum("tripnote_sessions_started_total", &[]), after.sum("tripnote_sessions_open", &[])],
        [1.0, 0.0]
    );
    assert_eq!(replayed(&server, toml), [""; 0]);
    server.stop().await;
}

#[tokio::test]
async fn rpcs_are_counted_by_method_and_code() {
    let server = TestServer::start("").await;
    server.permit("a").await;
    server.breakers().admit(pb::AdmitRequest::default()).await.unwrap_err();
    let unknown = pb::CircuitName { breaker: "nobody".to_owned(), scope: "breaker".to_owned(), kind: 3 };
    server.circuit(unknown).await.unwrap_err();
    let watch = pb::WatchEventsRequest { after_seq: Some(0), ..Default::default() };
    let stream = server.operators().watch_events(watch).await.unwrap();
    let now = scrape(&server).await;
    let handled = |method, code| now.sum("grpc_server_handled_total", &[("grpc_method", method), ("grpc_code", code)]);
    assert_eq!([handled("Admit", "OK"), handled("Admit", "InvalidArgument")], [1.0, 1.0]);
    assert_eq!(handled("GetCircuit", "NotFound"), 1.0);
    assert_eq!(now.sum("grpc_server_started_total", &[("grpc_method", "Admit")]), 2.0);
    assert_eq!(now.sum("grpc_server_handling_seconds_count", &[("grpc_method", "Admit")]), 2.0);
    let of_stream = [("grpc_method", "WatchEvents"), ("grpc_type", "server_stream")];
    assert_eq!(now.sum("grpc_server_started_total", &of_stream), 1.0);
    assert_eq!(now.sum("grpc_server_handled_total", &of_stream), 0.0, "it runs");
    assert_eq!(now.sum("tripnote_event_watchers", &[]), 1.0);
    drop(stream);
    let mut after = scrape(&server).await;
    while after.sum("grpc_server_handled_total", &of_stream) == 0.0 {
        after = scrape(&server).await; // the service hears of it a moment later
    }
    assert_eq!(
        after.sum("grpc_server_handled_total", &[("grpc_method", "WatchEvents"), ("grpc_code", "Canceled")]),
        1.0
    );
    server.stop().await;
}

#[tokio::test]
async fn a_reload_gives_new_breakers_their_names_and_takes_circuits_that_go_along() {
    let address = tripnote::service::server::Address::Tcp("127.0.0.1:0".parse().unwrap());
    let (server, text) = TestServer::start_at(PAYMENTS, &address).await;
    server.open("charge", Kind::ErrorRate).await;
    assert_eq!(scrape(&server).await.sum("tripnote_circuits", &[("phase", "open")]), 1.0);
    text.lock().0 = PAYMENTS.replace("payments", "billing");
    server.operators().reload_config(pb::ReloadConfigRequest {}).await.unwrap();
    server.admit(call("charge")).await;
    let now = scrape(&server).await;
    assert_eq!(now.faults(&["payments", "billing"], &["contract"]), [""; 0]);
    assert_eq!(now.sum("tripnote_circuits", &[]), 0.0);
    assert_eq!(now.sum("tripnote_breaker_state", &[("state", "closed")]), 2.0);
    assert_eq!(now.sum("tripnote_config_version", &[]), 2.0);
    server.stop().await;
}

#[test]
fn the_series_of_a_large_configuration_are_bounded() {
    let breaker = |at: usize| format!("[[breaker]]\ncode = \"breaker_{at}\"\ntargets = [\"t{at}\"]\n");
    let arms = "[[experiment]]\nname = \"e\"\nbreakers = [\"*\"]\nvariants = { contract = 1, contract_lines = 1, prose = 1 }\n\
                [[template]]\nname = \"prose\"\ntext = \"{action} {breaker} {target} {signal} {observed} {threshold} {state} {do_not} {fallback}\"\n";
    let toml = format!("{}{arms}", (0..50).map(breaker).collect::<String>());
    let clock = std::sync::Arc::new(tripnote::engine::clock::ManualClock::at_unix_ms(0));
    let engine = crate::support::engine(&toml, &clock);
    let recorder = recorder(&toml);
    recorder.events(&told_everything());
    let scrape = Exposition::read(&recorder.scrape(&engine, tripnote::domain::time::Timestamp(0)));
    let codes: Vec<String> = (0..50).map(|at| format!("breaker_{at}")).collect();
    let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
    assert_eq!(scrape.faults(&codes, &["contract", "contract_lines", "prose"]), [""; 0]);
    let by_metric: Vec<(usize, &String)> = scrape.series.iter().map(|(name, series)| (series.len(), name)).collect();
    assert!(scrape.len() < 2_500, "{} series: {by_metric:?}", scrape.len());
}

/// A trip of every breaker, signal and wording.
fn told_everything() -> Vec<Event> {
    use tripnote::domain::behaviour::{Fact, Label};
    use tripnote::domain::contract::Action;
    use tripnote::domain::event::Happening;
    use tripnote::domain::ids::Code;
    use tripnote::domain::signal::Signal;
    let mut events = vec![];
    for at in 0..50 {
        for signal in Signal::ALL {
            for variant in ["contract", "contract_lines", "prose"] {
                let breaker = Code::parse(&format!("breaker_{at}")).unwrap();
                let label = Label { breaker: breaker.clone(), signal: *signal, variant: Code::parse(variant).unwrap() };
                let what = Happening::FollowedUp(Fact::Told(label, Action::AwaitRecovery));
                let at = tripnote::domain::time::Timestamp(0);
                events.push(Event {
                    seq: 0,
                    at,
                    breaker,
                    scope: "".into(),
                    scope_id: 0,
                    kind: None,
                    generation: 0,
                    what,
                });
            }
        }
    }
    events
}
