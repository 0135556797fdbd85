//! Who is told in which wording: a session in one to its end, whatever is reloaded or restarted.

use std::collections::BTreeSet;
use std::sync::Arc;

use tripnote::config::Config;
use tripnote::domain::ids::{HashKey, TargetName};
use tripnote::engine::clock::{Clock, ManualClock};
use tripnote::engine::{Call, CallId, Decision, Engine, Identity, Peeked, Reported};
use tripnote::service::server::Address;
use tripnote::wire::pb;

use crate::session::agent::{Agent, Word};
use crate::support::asks::{Kind, ack_of, bad, by_permit, call, call_named, call_ref, permit_of, trip_of};
use crate::support::{NOON_UNIX_MS, TestServer, engine_settings};

const TWO: &str = r#"
[defaults.error_rate]
rules = [{ consecutive = 1 }]
jitter = "0%"
[[template]]
name = "prose"
text = """
{action}: {breaker} refuses {target} ({signal}: {observed}, {threshold}, {state}).
Do not {do_not}. Instead: {fallback}"""
[[experiment]]
name = "wording"
breakers = ["*"]
variants = { contract_lines = 1, prose = 1 }
"#;

fn in_session(session: &str, target: &str) -> pb::AdmitRequest {
    pb::AdmitRequest { session_id: session.to_owned(), ..call(target) }
}

/// What sessions of these names are told at an open target: the name of the wording, and the text.
async fn told(server: &TestServer, sessions: &[String], target: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for session in sessions {
        let trip = trip_of(server.admit(in_session(session, target)).await);
        all.push((trip.variant_name, trip.text));
    }
    all
}

fn names(prefix: &str) -> Vec<String> {
    (0..24).map(|number| format!("{prefix}-{number}")).collect()
}

fn kinds(told: &[(String, String)]) -> BTreeSet<&str> {
    told.iter().map(|(name, _)| name.as_str()).collect()
}

async fn reload(server: &TestServer, text: &parking_lot::Mutex<(String, u64)>, toml: &str) {
    text.lock().0 = toml.to_owned();
    let answer = server.operators().reload_config(pb::ReloadConfigRequest {}).await.unwrap().into_inner();
    assert_eq!(answer.faults, []);
}

#[tokio::test]
async fn a_session_is_told_in_one_wording_over_every_reload() {
    let address = Address::Tcp("127.0.0.1:0".parse().unwrap());
    let (server, text) = TestServer::start_at(TWO, &address).await;
    server.open("POST /a", Kind::ErrorRate).await;
    let (old, new) = (names("old"), names("new"));
    let before = told(&server, &old, "POST /a").await;
    assert_eq!(kinds(&before), BTreeSet::from(["contract_lines", "prose"]));
    assert_eq!(server.trip("POST /a").await.variant_name, "contract", "a call without a session is in no experiment");

    let without = TWO.split("[[template]]").next().unwrap();
    let reloads = [
        TWO.replace("prose = 1", "prose = 1000000"),
        TWO.replace("\"wording\"", "\"anew\""),
        TWO.replace("Do not", "DO NOT"),
        format!("contract.variant = \"contract_lines\"\n{without}"),
    ];
    for toml in &reloads {
        reload(&server, &text, toml).await;
        assert_eq!(told(&server, &old, "POST /a").await, before, "{toml}");
    }
    assert_eq!(server.trip("POST /a").await.variant_name, "contract_lines", "no session: the default in force");
    assert_eq!(kinds(&told(&server, &new, "POST /a").await), BTreeSet::from(["contract_lines"]));
    server.stop().await;
}

/// The first session of a prefix that is told in a wording.
async fn session_told(server: &TestServer, wording: &str, target: &str) -> String {
    let all = names("run");
    let at = told(server, &all, target).await.iter().position(|(name, _)| name == wording).unwrap();
    all[at].clone()
}

#[tokio::test]
async fn a_session_is_told_the_same_way_wherever_a_contract_is_told() {
    let shadow = "[[breaker]]\ncode = \"tried\"\ntargets = [\"try\"]\nerror_rate.shadow = true\n";
    let server = TestServer::start(&format!("{TWO}{shadow}")).await;
    server.open("POST /a", Kind::ErrorRate).await;
    server.fail("try", Kind::ErrorRate).await;
    for (wording, variant) in [("prose", pb::Variant::Template), ("contract_lines", pb::Variant::ContractLines)] {
        let session = session_told(&server, wording, "POST /a").await;
        let as_due = |trip: &pb::Trip, place: &str| {
            assert_eq!((trip.variant(), trip.variant_name.as_str()), (variant, wording), "{place}");
            assert_eq!(trip.text.contains(" refuses "), variant == pb::Variant::Template, "{place}: {}", trip.text);
        };
        let named = call_named(&session, "c1", "POST /a");
        let first = trip_of(server.admit(named.clone()).await);
        as_due(&first, "a refusal");
        assert_eq!(trip_of(server.admit(named).await).text, first.text, "a repeated answer");

        let peek = pb::PeekTarget { target: "POST /a".to_owned(), session_id: session.clone(), ..Default::default() };
        let peeked = server.breakers().peek(pb::PeekRequest { targets: vec![peek] }).await.unwrap().into_inner();
        match peeked.results[0].result.as_ref().unwrap() {
            pb::peek_result::Result::Trip(trip) => as_due(trip, "a peek"),
            other => panic!("a trip was due: {other:?}"),
        }

        let shadowed = server.admit(call_named(&session, "c2", "try")).await;
        as_due(shadowed.shadow_trip.as_ref().unwrap(), "a shadow");

        let (by_token, by_name) = (format!("one of {wording}"), format!("two of {wording}"));
        let permit = permit_of(server.admit(in_session(&session, &by_token)).await);
        as_due(
            &server.report(bad(by_permit(&permit.token), Kind::ErrorRate)).await.trip.unwrap(),
            "a report by permit",
        );
        permit_of(server.admit(call_named(&session, "c3", &by_name)).await);
        let outcomes = vec![bad(call_ref(&session, "c3"), Kind::ErrorRate)];
        let answer = server.breakers().report(pb::ReportRequest { outcomes }).await.unwrap().into_inner();
        as_due(ack_of(&answer.results[0]).trip.as_ref().unwrap(), "a report by name");

        let mut agent = Agent::new(&server, &session).await;
        let empty = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
        for word in [Word::Permit, Word::Steer, Word::Halt, Word::Refused] {
            assert_eq!(agent.call("query_prometheus", r#"{"expr":"up"}"#, empty).await, word);
            if word != Word::Permit {
                as_due(&agent.last_trip(), "a guard of the session");
            }
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn what_is_over_is_told_as_what_begins_where_its_name_is_known() {
    let server = TestServer::start(TWO).await;
    server.open("POST /a", Kind::ErrorRate).await;
    let session = session_told(&server, "prose", "POST /a").await;
    let late = permit_of(server.admit(in_session(&session, "late")).await);
    let named = call_named(&session, "c1", "POST /a");
    let first = trip_of(server.admit(named.clone()).await);
    let of = Some(pb::SessionRef { session_id: session.clone(), caller: String::new() });
    server.sessions().close_session(pb::CloseSessionRequest { session: of, ..Default::default() }).await.unwrap();
    assert_eq!(trip_of(server.admit(named).await).text, first.text);
    // A permit holds no more than the session's key, from which nothing can be drawn.
    let ack = server.report(bad(by_permit(&late.token), Kind::ErrorRate)).await;
    assert_eq!(ack.trip.unwrap().variant_name, "contract");
    assert_eq!(told(&server, &[session], "POST /a").await[0].0, "prose", "a new session of the same name");
    server.stop().await;
}

#[tokio::test]
async fn a_template_of_an_earlier_configuration_never_exceeds_the_budget_in_force() {
    let address = Address::Tcp("127.0.0.1:0".parse().unwrap());
    let long = TWO.replace("Instead:", &format!("{} Instead:", "Really. ".repeat(80)));
    let (server, text) = TestServer::start_at(&format!("contract.budget_bytes = 1400\n{long}"), &address).await;
    server.open("POST /a", Kind::ErrorRate).await;
    let session = session_told(&server, "prose", "POST /a").await;
    let trip = async || trip_of(server.admit(in_session(&session, "POST /a")).await);
    let before = trip().await.text;
    assert!(before.len() > 700, "{before}");
    let without = TWO.split("[[template]]").next().unwrap();
    reload(&server, &text, &format!("contract.budget_bytes = 1400\n{without}")).await;
    assert_eq!(trip().await.text, before, "it fits, and is told to the end of the session");
    reload(&server, &text, &format!("contract.budget_bytes = 700\n{without}")).await;
    let after = trip().await;
    assert_eq!((after.variant_name.as_str(), server.engine.overruns()), ("contract", 0));
    assert!(after.text.len() <= 700 && after.text.starts_with("{\"action\""), "{}", after.text);
    server.stop().await;
}

/// An engine in a life of its own: other keys, another number.
fn engine(toml: &str, life: u8) -> Engine {
    let clock = Arc::new(ManualClock::at_unix_ms(NOON_UNIX_MS)) as Arc<dyn Clock>;
    let identity =
        Identity { incarnation: life.into(), names: HashKey([life; 16]), permits: HashKey([life.wrapping_add(1); 16]) };
    Engine::new(engine_settings(toml, 1), identity, clock).unwrap()
}

/// Opens the circuits of a target, and answers what sessions of a caller are told there.
fn told_by(engine: &Engine, target: &str, caller: &str) -> Vec<String> {
    let (target, now) = (TargetName::parse(target).unwrap(), engine.clock().now());
    if let Decision::Permit { granted, .. } = engine.admit(&Call::of_target(&target), now) {
        let failed =
            tripnote::domain::observation::Classification::Failed(tripnote::domain::signal::CircuitKind::ErrorRate);
        let failed = tripnote::domain::observation::CallResult::new(failed);
        assert!(engine.report(Reported::Permit(&granted.token), &failed, now).trip.is_some());
    }
    let named = |session: &String| {
        let id = CallId { caller, session, ..CallId::default() };
        let call = Call { id, ..Call::of_target(&target) };
        // A look does not begin a session: what it tells is what the session will be told.
        let Peeked::Trip(ahead) = engine.peek(&call, now) else { panic!("a trip was due") };
        let Decision::Trip(refusal) = engine.admit(&call, now) else { panic!("a trip was due") };
        assert_eq!(ahead.wording, refusal.wording);
        refusal.wording.name().to_owned()
    };
    names("run").iter().map(named).collect()
}

#[test]
fn a_restart_with_the_same_configuration_changes_no_wording() {
    let before = told_by(&engine(TWO, 1), "POST /a", "agent");
    assert_eq!(told_by(&engine(TWO, 2), "POST /a", "agent"), before);
    assert_eq!(told_by(&engine(TWO, 2), "GET /b", "agent"), before, "drawn for the session, not for the breaker");
    assert_ne!(told_by(&engine(TWO, 2), "POST /a", "another"), before, "sessions of another caller are others");
    let renamed = TWO.replace("\"wording\"", "\"anew\"");
    assert_ne!(told_by(&engine(&renamed, 2), "POST /a", "agent"), before, "another experiment draws anew");
}

#[tokio::test]
async fn two_servers_of_one_configuration_tell_the_same() {
    let sessions = names("run");
    let mut all = Vec::new();
    for _ in 0..2 {
        let server = TestServer::start(TWO).await;
        server.open("POST /a", Kind::ErrorRate).await;
        all.push(told(&server, &sessions, "POST /a").await);
        server.stop().await;
    }
    assert_eq!(all[0], all[1]);
}

#[test]
fn only_the_breakers_of_an_experiment_are_in_it() {
    let toml = TWO.replace("[\"*\"]", "[\"post_*\"]");
    let engine = engine(&toml, 1);
    assert_eq!(told_by(&engine, "GET /b", "agent"), vec!["contract"; 24]);
    assert!(told_by(&engine, "POST /a", "agent").contains(&"prose".to_owned()));
}

#[test]
fn the_experiment_of_the_readme_is_valid() {
    let readme = include_str!("../../README.md");
    let section = readme.split("\n## Experiments\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let toml = section.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let config = Config::parse(toml).unwrap_or_else(|report| panic!("{report}"));
    let wordings = &config.settings.contract.wordings;
    assert_eq!((wordings.templates().len(), wordings.experiments().len()), (1, 1));
}
