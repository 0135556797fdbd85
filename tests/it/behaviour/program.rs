//! `tripnote sim` and `tripnote behaviour` as people and programs run them.

use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tripnote::wire::pb;

use crate::support::TestServer;
use crate::support::asks::{Kind, call, trip_of};

async fn tripnote(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tripnote"));
    command.env_clear().args(arguments).stdin(Stdio::null());
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn objects(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[tokio::test]
async fn a_simulation_agrees_with_the_service_and_says_so() {
    let output = tripnote(&["sim", "--seed", "3", "--sessions", "60"]).await;
    let told = text(&output.stdout);
    assert!(output.status.success(), "{told}");
    assert!(told.lines().last().unwrap().starts_with("60 sessions with "), "{told}");
    assert!(told.contains("seed 3: all ") && !told.contains("differs"), "{told}");
    assert_eq!(text(&output.stderr), "", "progress is for terminals");

    let output = tripnote(&["sim", "--seed", "3", "--sessions", "60", "--json", "--mix", "weak=stubborn:100"]).await;
    assert!(output.status.success());
    let objects = objects(&output);
    assert!(objects.iter().all(|object| object["equal"] == true), "{objects:#?}");
    let all_of = |kind: &str| objects.iter().filter(|object| object["type"] == kind).count();
    assert_eq!((all_of("sessions"), all_of("summary")), (1, 1));
    let of = |variant: &str| {
        let is_own =
            |of: &&Value| of["variant"] == variant && of["breaker"] == "payments" && of.get("signal").is_none();
        objects.iter().find(is_own).unwrap_or_else(|| panic!("{objects:#?}"))
    };
    let weak = of("weak");
    assert_eq!(weak["truth"], weak["service"]);
    let [trips, sessions] = ["trips", "sessions"].map(|figure| weak["service"][figure].as_u64().unwrap());
    assert!(trips > sessions, "all that were told `weak` are stubborn, and are told again: {weak}");
}

#[tokio::test]
async fn a_running_service_is_simulated_against_when_it_is_named() {
    let server = TestServer::start("").await;
    let output = tripnote(&["sim", "--sessions", "25", "--connect", &server.endpoint]).await;
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let output = tripnote(&["behaviour", "--json", "--connect", &server.endpoint]).await;
    let sessions = objects(&output).into_iter().find(|object| object["type"] == "sessions").unwrap();
    let ended = ["answered", "escalated", "halted", "abandoned"].map(|word| sessions[word].as_u64().unwrap());
    assert_eq!(ended.iter().sum::<u64>(), 25);
}

#[tokio::test]
async fn figures_are_shown_from_none_to_some() {
    let server = TestServer::start("defaults.error_rate = { rules = [{ consecutive = 1 }] }").await;
    let shown = async |more: &[&str]| {
        let output = tripnote(&[&["behaviour", "--connect", &server.endpoint], more].concat()).await;
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert!(shown(&[]).await.starts_with("nothing was told yet: "));
    server.open("POST /a", Kind::ErrorRate).await;
    let ask = |turn: u32| pb::AdmitRequest { session_id: "s".to_owned(), turn: Some(turn), ..call("POST /a") };
    for turn in 1..=3 {
        trip_of(server.admit(ask(turn)).await);
    }
    let told = shown(&[]).await;
    let trips = told.lines().find(|line| line.starts_with("trips told")).unwrap();
    assert_eq!(trips.split_whitespace().collect::<Vec<_>>(), ["trips", "told", "3"], "{told}");
    assert!(told.contains("\nsessions: 1 open; "), "{told}");
    assert!(shown(&["--breaker", "ledger"]).await.starts_with("nothing of `ledger` was told yet: "));
    let objects = text(tripnote(&["behaviour", "--json", "--connect", &server.endpoint]).await.stdout.as_slice());
    let breaker: Value = serde_json::from_str(objects.lines().next().unwrap()).unwrap();
    assert_eq!((&breaker["breaker"], &breaker["variants"][0]["trips"]), (&Value::from("post_a"), &Value::from(3)));
}
