//! Agent runs over a restart: what their gates, their evidence and their follow-ups knew is known again, whatever the wall
//! clock did; what failed steps were told, and the figures of the messages, are there too.

use tripnote::store::memory::Memory;
use tripnote::wire::pb;
use tripnote::wire::pb::failure_service_client::FailureServiceClient;

use super::lives::{HOUR_MS, Life, served};
use crate::session::agent::{Agent, Word};
use crate::support::asks::{Kind, call, trip_of};
use crate::support::{NOON_UNIX_MS, TestServer, channel};

const EMPTY: &str = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
const ONE: &str =
    r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"b"},"value":[1,"7"]}]}}"#;

/// Remembers sessions for a day, so that an hour on the wall clock ends none.
const DAY: &str = "session.idle_for = \"24h\"\ndefaults.error_rate = { rules = [{ consecutive = 1 }], open_for = \"2h\", max_open = \"2h\", jitter = \"0%\" }\n";

/// What a test does in one life and finds in the next.
async fn reborn(memory: &Memory, toml: &str, later_ms: i64) -> TestServer {
    served(toml, Life::unrung(toml, Box::new(memory.journal()), NOON_UNIX_MS + later_ms), false).await
}

/// The jumps of the wall clock between two lives.
const JUMPS: [i64; 3] = [0, HOUR_MS, -HOUR_MS];

#[tokio::test]
async fn a_loop_is_counted_on_where_it_was_and_a_halt_stays() {
    for jump in JUMPS {
        let memory = Memory::default();
        let server = reborn(&memory, DAY, 0).await;
        let mut agent = Agent::new(&server, "loop").await;
        let query = r#"{"expr":"up{job=\"a\"}"}"#;
        assert_eq!(agent.call("query_prometheus", query, EMPTY).await, Word::Permit);
        server.stop().await;
        let server = reborn(&memory, DAY, jump).await;
        let mut agent = Agent::new(&server, "loop").await;
        // Another tool first: the new agent counts its turns from 1 again, which is the turn of the call before.
        agent.call("query_loki_logs", r#"{"logql":"{app=\"x\"}"}"#, ONE).await;
        let words =
            [agent.call("query_prometheus", query, EMPTY).await, agent.call("query_prometheus", query, EMPTY).await];
        assert_eq!(words, [Word::Steer, Word::Halt], "{jump}");
        server.stop().await;
        let server = reborn(&memory, DAY, 2 * jump).await;
        let mut agent = Agent::new(&server, "loop").await;
        assert_eq!(agent.call("query_prometheus", query, EMPTY).await, Word::Refused, "{jump}");
        let shown = agent.session().await;
        assert_eq!(shown.exhausted_tools, ["query_prometheus"]);
        assert_eq!(shown.counts.unwrap().steer_then_halt, 1);
        server.stop().await;
    }
}

#[tokio::test]
async fn evidence_is_there_and_a_call_that_was_out_at_the_restart_still_becomes_a_row() {
    for jump in JUMPS {
        let memory = Memory::default();
        let server = reborn(&memory, DAY, 0).await;
        let mut agent = Agent::new(&server, "run").await;
        agent.call("query_prometheus", r#"{"expr":"up"}"#, ONE).await;
        let out = agent.ask("query_loki_logs", r#"{"logql":"{app=\"x\"}"}"#).await.unwrap();
        let before = agent.evidence().await;
        server.stop().await;
        let server = reborn(&memory, DAY, jump).await;
        let mut agent = Agent::new(&server, "run").await;
        assert_eq!(agent.evidence().await, before, "{jump}");
        let payload = pb::Payload { body: ONE.into(), ..pb::Payload::default() };
        let outcome = pb::Outcome {
            call: Some(crate::support::asks::by_permit(&out.token)),
            payload: Some(payload),
            ..pb::Outcome::default()
        };
        let answer =
            server.breakers().report(pb::ReportRequest { outcomes: vec![outcome] }).await.unwrap().into_inner();
        let ack = crate::support::asks::ack_of(&answer.results[0]);
        assert_eq!(ack.acknowledgement(), pb::Acknowledgement::Stale, "a permit of before moves no circuit");
        assert_eq!(agent.evidence().await.rows.len(), before.rows.len() + 1);
        server.stop().await;
    }
}

#[tokio::test]
async fn allowlists_pins_and_unverified_writes_hold() {
    for jump in JUMPS {
        let memory = Memory::default();
        let toml = format!("{DAY}[[tool]]\nmatch = \"charge\"\neffect = \"mutate\"\nread_tool = \"order_status\"\n");
        let server = reborn(&memory, &toml, 0).await;
        let mut agent = Agent::new(&server, "run").await;
        let allow = ["query_*", "delete_file", "charge", "order_status"].map(str::to_owned).to_vec();
        agent.open(pb::SessionPolicy { allow, ..pb::SessionPolicy::default() }).await.unwrap();
        let delete = agent.ask("delete_file", r#"{"path":"a"}"#).await.unwrap();
        agent.refuse(&delete, pb::RefusedBy::User).await;
        let lost = agent.ask("charge", r#"{"order":7}"#).await.unwrap();
        assert_eq!(agent.lost(&lost, "charge").await, Word::Halt);
        server.stop().await;
        let server = reborn(&memory, &toml, jump).await;
        let mut agent = Agent::new(&server, "run").await;
        let refused = async |agent: &mut Agent<'_>, tool: &str, args: &str| {
            agent.ask(tool, args).await.map(|_| ()).map_err(|t| t.signal())
        };
        assert_eq!(refused(&mut agent, "send_mail", "{}").await, Err(pb::Signal::ScopeCreep), "{jump}");
        assert_eq!(refused(&mut agent, "delete_file", r#"{"path":"a"}"#).await, Err(pb::Signal::ScopeCreep));
        assert_eq!(refused(&mut agent, "delete_file", r#"{"path":"b"}"#).await, Ok(()));
        assert_eq!(refused(&mut agent, "charge", r#"{"order":7}"#).await, Err(pb::Signal::AmbiguousEffect));
        agent.call("order_status", r#"{"order":7}"#, r#"{"orders":[]}"#).await;
        server.stop().await;
    }
}

#[tokio::test]
async fn an_answer_is_sent_back_once_over_two_lives() {
    let memory = Memory::default();
    let server = reborn(&memory, DAY, 0).await;
    let mut agent = Agent::new(&server, "run").await;
    agent.answered("query_prometheus", r#"{"expr":"up"}"#, 503, "down").await;
    let claim = "The error rate is 7 % since 10:00.";
    let first = agent.review(claim).await;
    server.stop().await;
    let server = reborn(&memory, DAY, 0).await;
    let mut agent = Agent::new(&server, "run").await;
    let second = agent.review(claim).await;
    assert_eq!([first.verdict(), second.verdict()], [pb::ReviewVerdict::SendBack, pb::ReviewVerdict::AllowUnsupported]);
    server.stop().await;
}

#[tokio::test]
async fn figures_go_on_and_a_trip_that_was_told_before_is_concluded_once_after() {
    let memory = Memory::default();
    let server = reborn(&memory, DAY, 0).await;
    server.open("POST /pay", Kind::ErrorRate).await;
    let in_session = |id: &str| pb::AdmitRequest { session_id: id.to_owned(), ..call("POST /pay") };
    for session in ["a", "b"] {
        trip_of(server.admit(in_session(session)).await);
    }
    let figures = async |server: &TestServer| {
        server.operators().get_behaviour(pb::GetBehaviourRequest::default()).await.unwrap().into_inner()
    };
    let before = figures(&server).await;
    assert_eq!(before.breakers[0].variants[0].trips, 2);
    server.stop().await;
    let server = reborn(&memory, DAY, 0).await;
    assert_eq!(figures(&server).await, before);
    for session in ["a", "b"] {
        let session = Some(pb::SessionRef { session_id: session.to_owned(), caller: String::new() });
        server.sessions().close_session(pb::CloseSessionRequest { session, outcome: 0, success: None }).await.unwrap();
    }
    server.stop().await;
    let server = reborn(&memory, DAY, 0).await;
    let after = figures(&server).await;
    let of = &after.breakers[0].variants[0];
    let ended = of.resolutions.unwrap();
    assert_eq!((of.trips, ended.recovered + ended.halted + ended.abandoned + ended.superseded), (2, 2));
    assert_eq!(server.engine.session_count(), 0, "what ended stays ended");
    server.stop().await;
}

#[tokio::test]
async fn a_session_is_told_in_the_variant_that_it_was_told_in_although_the_experiment_is_another_now() {
    let weights = |contract: u32, lines: u32| {
        format!(
            "{DAY}[[experiment]]\nname = \"x\"\nbreakers = [\"*\"]\nvariants = {{ contract = {contract}, contract_lines = {lines} }}\n"
        )
    };
    let memory = Memory::default();
    let server = reborn(&memory, &weights(1, 1), 0).await;
    server.open("POST /pay", Kind::ErrorRate).await;
    let told = async |server: &TestServer, session: String| {
        trip_of(server.admit(pb::AdmitRequest { session_id: session, ..call("POST /pay") }).await).variant_name
    };
    let mut before = Vec::new();
    for n in 0..12 {
        before.push(told(&server, format!("s{n}")).await);
    }
    assert!(before.iter().any(|name| *name != before[0]), "both are drawn: {before:?}");
    server.stop().await;
    let server = reborn(&memory, &weights(1, 1_000_000), 0).await;
    let mut after = Vec::new();
    for n in 0..12 {
        after.push(told(&server, format!("s{n}")).await);
    }
    assert_eq!(after, before);
    server.stop().await;
}

#[tokio::test]
async fn attempts_are_answered_as_before_and_their_numbers_are_not_given_again() {
    let toml = "[[host]]\nname = 'b'\nroutes = ['large']\n[[host]]\nname = 'c'\nroutes = ['large']\n";
    let asked = |host: &str, attempt: u32| pb::DecideRequest {
        step: "4".to_owned(),
        binding: Some(pb::StepBinding {
            host: host.to_owned(),
            route: "large".to_owned(),
            snapshot: "sha256:1f".to_owned(),
        }),
        record: Some(pb::AttemptRecord {
            failure_class: "transport".to_owned(),
            attempt,
            writes: Some(false),
            tools_enabled: Some(false),
            snapshot_same: Some(true),
            ..pb::AttemptRecord::default()
        }),
        published_at: ["a", "b", "c"].map(str::to_owned).to_vec(),
        ..pb::DecideRequest::default()
    };
    let decide = async |server: &TestServer, host: &str, attempt: u32| {
        let mut failures = FailureServiceClient::new(channel(&server.endpoint).await);
        failures.decide(asked(host, attempt)).await.unwrap().into_inner()
    };
    let memory = Memory::default();
    let server = reborn(&memory, toml, 0).await;
    let first = decide(&server, "a", 1).await;
    let moved = decide(&server, "a", 2).await;
    server.stop().await;
    let server = reborn(&memory, toml, HOUR_MS).await;
    let again = decide(&server, "a", 2).await;
    assert!(again.duplicate && !moved.duplicate);
    assert_eq!(again.attempt, moved.attempt);
    let next = decide(&server, "b", 2).await;
    let id = |answer: &pb::DecideResponse| answer.attempt.as_ref().unwrap().id;
    assert!(id(&next) > id(&moved) && id(&moved) > id(&first));
    let host = next.attempt.unwrap().next_binding.unwrap().host;
    assert_eq!(host, "c", "the chain has left `a`, and leaves `b`");
    server.stop().await;
}

/// A run with a call of each kind, an attempt and a figure, for the fixture.
pub(super) fn run_with_everything(life: &Life) {
    use tripnote::domain::behaviour::SessionOutcome;
    use tripnote::domain::failure::binding::Binding;
    use tripnote::domain::failure::names::{HostName, RouteName, SnapshotId, StepName};
    use tripnote::domain::failure::record::RawRecord;
    use tripnote::domain::ids::TargetName;
    use tripnote::engine::failure::Step;
    use tripnote::engine::{Arguments, AskedAs, Call, CallId};

    let target = TargetName::parse("a").unwrap();
    for session in ["run", "ended"] {
        let id = CallId { caller: "agent", session, call: "c1", attempt: 1 };
        let asked_as = AskedAs {
            tool_name: "query_prometheus",
            wave: "w",
            lane: "sub",
            turn: Some(1),
            task: "t",
            ..AskedAs::default()
        };
        let arguments = Arguments::Bytes(br#"{"expr":"up"}"#);
        let _ = life.engine.admit(&Call { id, asked_as, arguments, ..Call::of_target(&target) }, life.now());
        let other = TargetName::parse("other").unwrap();
        let id = CallId { call: "c2", ..id };
        let _ = life.engine.admit(&Call { id, asked_as, arguments, ..Call::of_target(&other) }, life.now());
    }
    assert!(life.engine.close_session("agent", "ended", (SessionOutcome::Halted, Some(false)), life.now()));
    let binding = Binding {
        host: HostName::parse("gpu-a").unwrap(),
        route: RouteName::parse("large").unwrap(),
        snapshot: SnapshotId::parse("sha256:1f").unwrap(),
    };
    let name = StepName::parse("4").unwrap();
    let step = Step { name, binding, published_at: Vec::new(), sketch: None };
    let record = RawRecord {
        failure_class: "transport",
        attempt: 1,
        writes: Some(false),
        tools_enabled: Some(false),
        snapshot_same: Some(true),
        ..RawRecord::default()
    };
    let _ = life.engine.decide_step("agent", &step, &record.parse().unwrap(), life.now());
}
