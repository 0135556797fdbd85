//! What models did with what they were told: scripted sessions through a real server, their figures counted by hand.

mod script;

use std::collections::BTreeMap;

use tripnote::config::Config;
use tripnote::wire::pb;

use self::script::{Case, Step, read};
use crate::metrics::{replayed, scrape};
use crate::session::agent::Word;
use crate::support::{TestServer, asks};

/// The figures of one breaker, signal and variant by name; those that are 0 are left out.
fn named(of: &pb::VariantBehaviour) -> BTreeMap<&'static str, u64> {
    let (first, ended) = (of.first_actions.unwrap(), of.resolutions.unwrap());
    let turns = of.turns_to_recovery.as_ref().unwrap();
    let steps = (0..).zip(&turns.trips).map(|(steps, trips)| steps * trips).sum();
    let all = [
        ("trips", of.trips),
        ("concluded", of.concluded),
        ("sessions", of.sessions),
        ("match", first.r#match),
        ("repeat", first.repeat),
        ("other", first.other),
        ("none", first.none),
        ("repeated", of.repeated_trips),
        ("repeats", of.repeats),
        ("ignoring", of.ignored_trips),
        ("ignored", of.ignored),
        ("recovered", ended.recovered),
        ("halted", ended.halted),
        ("abandoned", ended.abandoned),
        ("superseded", ended.superseded),
        ("turns", steps),
        ("halted_sessions", of.halted_sessions),
        ("false_halts", of.false_halts),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// Plays a case and says where it departs.
async fn play(case: &Case) -> Vec<String> {
    let server = TestServer::start(&case.config).await;
    let mut player = script::Player::new(&server);
    let mut faults = vec![];
    for (line, step) in &case.steps {
        let (got, due) = match step {
            Step::Act { act, due } => (player.act(act).await, due.clone()),
            Step::Figures { breaker, signal, due } => {
                let request = pb::GetBehaviourRequest { breaker: breaker.clone() };
                let answer = server.operators().get_behaviour(request).await.unwrap().into_inner();
                let is_of = |of: &&pb::VariantBehaviour| {
                    format!("SIGNAL_{}", signal.to_uppercase()) == of.signal().as_str_name()
                };
                let found = answer.breakers.first().and_then(|of| of.by_signal.iter().find(is_of)).map(named);
                (format!("{:?}", found.unwrap_or_default()), format!("{due:?}"))
            }
        };
        if got != due {
            faults.push(format!("line {line} of [{}]\n    wanted  {due}\n    got     {got}", case.name));
        }
    }
    let config = Config::parse(&case.config).unwrap();
    let breakers: Vec<&str> =
        config.breakers.iter().filter_map(|breaker| Some(breaker.code.as_ref()?.as_str())).collect();
    let told = [
        scrape(&server).await.faults(&breakers, &["contract"]),
        departures(&server).await,
        replayed(&server, &case.config),
    ];
    faults.extend(told.into_iter().flatten().map(|fault| format!("metrics of [{}]: {fault}", case.name)));
    server.stop().await;
    faults
}

/// Where the metrics say something else than the figures, over all breakers.
async fn departures(server: &TestServer) -> Vec<String> {
    let figures = server.operators().get_behaviour(pb::GetBehaviourRequest::default()).await.unwrap().into_inner();
    let scrape = scrape(server).await;
    let mut due: BTreeMap<&'static str, u64> = BTreeMap::new();
    for of in figures.breakers.iter().flat_map(|breaker| &breaker.by_signal) {
        for (figure, count) in named(of) {
            *due.entry(figure).or_default() += count;
        }
    }
    let of = |metric: &str, labels: &[(&str, &str)]| scrape.sum(&format!("tripnote_{metric}"), labels);
    let first = |word| of("trip_followups_total", &[("first_action", word)]);
    let ended = |word| of("trip_resolutions_total", &[("outcome", word)]);
    let told = [
        ("trips", of("trips_total", &[])),
        ("concluded", of("trip_followups_total", &[])),
        ("sessions", of("trip_sessions_total", &[])),
        ("match", first("match")),
        ("repeat", first("repeat")),
        ("other", first("other")),
        ("none", first("none")),
        ("repeated", of("repeated_trips_total", &[])),
        ("repeats", of("repeats_total", &[])),
        ("recovered", ended("recovered")),
        ("halted", ended("halted")),
        ("abandoned", ended("abandoned")),
        ("superseded", ended("superseded")),
        ("turns", of("recovery_turns_sum", &[])),
    ];
    let is_other = |(name, count): &(&'static str, f64)| due.get(name).copied().unwrap_or(0) as f64 != *count;
    told.into_iter()
        .filter(is_other)
        .map(|(name, count)| format!("{name} is {count}, not {:?}", due.get(name)))
        .collect()
}

#[tokio::test]
async fn every_action_is_measured_as_it_is_counted_by_hand() {
    let cases = read(include_str!("../fixtures/behaviour/follow_ups.table"));
    let mut faults = vec![];
    for case in &cases {
        faults.extend(play(case).await);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let wanted = ["switch_to_fallback", "await_recovery", "wait_for_quota", "reduce_payload", "change_route"];
    let more = ["call_in_next_wave", "verify_effect", "stop_and_escalate", "halt_with_partial_findings"];
    for action in wanted.iter().chain(&more) {
        assert!(cases.iter().any(|case| case.name.starts_with(action)), "no case of {action}");
    }
}

/// A proxy that wraps what we told as a tool's result must not count it: in whatever wording, it is no observation.
#[tokio::test]
async fn a_text_that_was_told_is_no_result_in_any_wording() {
    let template =
        "{action} {breaker} {target} {signal} {observed} {threshold} {state} {do_not} {fallback}: do as you are told";
    for wording in ["contract", "contract_lines", "weak", "prose"] {
        let config = format!(
            "experimental = true\n[contract]\nvariant = \"{wording}\"\n[[template]]\nname = \"prose\"\ntext = \"{template}\"\n"
        );
        let server = TestServer::start(&config).await;
        let mut agent = crate::session::agent::Agent::new(&server, "s").await;
        agent.call("lookup", r#"{"q":1}"#, "[]").await;
        assert_eq!(agent.call("lookup", r#"{"q":1}"#, "[]").await, Word::Steer, "{wording}");
        let told = agent.last_trip().text;
        for _ in 0..4 {
            assert_eq!(agent.answered("other", "{}", 500, &told).await, Word::Permit, "{wording}");
        }
        assert_eq!(agent.evidence().await.rows.len(), 2, "{wording}: the text is no evidence");
        server.stop().await;
    }
}

/// Calls that come in one request are parallel, though they name neither a wave nor a turn: one trip, and no repeats.
#[tokio::test]
async fn calls_of_one_request_are_one_wave() {
    let server = TestServer::start("[defaults.error_rate]\nrules = [{ failures = 1, within = \"30s\" }]\n").await;
    server.open("pay", asks::Kind::ErrorRate).await;
    let call = |arguments: &str| pb::AdmitRequest {
        session_id: "s".to_owned(),
        arguments: arguments.as_bytes().to_vec(),
        ..asks::call("pay")
    };
    let calls = vec![call("{}"), call("{}"), call(r#"{"n":1}"#)];
    for _ in 0..2 {
        let wave = pb::AdmitWaveRequest { calls: calls.clone(), reports: vec![] };
        assert_eq!(server.breakers().admit_wave(wave).await.unwrap().into_inner().results.len(), 3);
    }
    let request = pb::GetBehaviourRequest { breaker: "pay".to_owned() };
    let behaviour = server.operators().get_behaviour(request).await.unwrap().into_inner();
    let of = &behaviour.breakers[0].variants[0];
    assert_eq!((of.trips, of.resolutions.unwrap().superseded), (2, 1));
    server.stop().await;
}
