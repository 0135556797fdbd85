//! Agent runs through a real service: loops end, honest work goes on, evidence is kept, answers are held against it.

pub(crate) mod agent;
mod field;
mod notices;
mod reviewed;
mod shared;
mod withdraw;

use tripnote::wire::pb;

use self::agent::{Agent, Word};
use crate::support::TestServer;

const EMPTY: &str = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
const ONE: &str =
    r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"b"},"value":[1,"7"]}]}}"#;

#[tokio::test]
async fn a_query_that_is_only_relabelled_is_steered_once_and_then_halted() {
    let server = TestServer::start("").await;
    let mut agent = Agent::new(&server, "loop").await;
    let query = |label: &str| format!(r#"{{"expr":"rate(payments_declined_total{{job=\"{label}\"}}[5m])"}}"#);
    let words = [
        agent.call("query_prometheus", &query("a"), EMPTY).await,
        agent.call("query_prometheus", &query("b"), EMPTY).await,
        agent.call("query_prometheus", &query("c"), EMPTY).await,
        agent.call("query_prometheus", &query("d"), EMPTY).await,
    ];
    assert_eq!(words, [Word::Permit, Word::Steer, Word::Halt, Word::Refused]);
    let halt = agent.last_trip();
    assert_eq!(halt.signal(), pb::Signal::NoProgress);
    assert_eq!(halt.observed, "same empty result 3 times");
    assert_eq!(halt.action(), pb::Action::HaltWithPartialFindings);
    // Another tool is another route, and the halt is told in the list of the exhausted.
    assert_eq!(agent.call("query_loki_logs", r#"{"logql":"{app=\"x\"}"}"#, ONE).await, Word::Permit);
    let shown = agent.session().await;
    assert_eq!(shown.exhausted_tools, ["query_prometheus"]);
    let counts = shown.counts.unwrap();
    assert_eq!((counts.steered, counts.halted, counts.steer_then_halt), (1, 1, 1));
    let told: Vec<&str> = shown.calls.iter().map(|call| call.told.as_str()).collect();
    assert_eq!(told, ["permit", "steer no_progress", "trip no_progress", "trip no_progress", "permit"]);
}

#[tokio::test]
async fn five_metrics_that_are_there_and_empty_are_steered_once_at_most() {
    let server = TestServer::start("").await;
    let mut agent = Agent::new(&server, "five").await;
    let mut words = Vec::new();
    for metric in ["up", "go_goroutines", "process_cpu_seconds_total", "http_requests_total", "scrape_duration_seconds"]
    {
        words.push(agent.call("query_prometheus", &format!(r#"{{"expr":"{metric}{{x=\"1\"}}"}}"#), EMPTY).await);
    }
    assert!(words.iter().filter(|word| **word == Word::Steer).count() <= 1, "{words:?}");
    assert!(!words.iter().any(|word| matches!(word, Word::Halt | Word::Refused)), "{words:?}");
}

#[tokio::test]
async fn honest_work_is_left_alone() {
    let server = TestServer::start("").await;
    let mut agent = Agent::new(&server, "honest").await;
    for word in ["timeout", "declined", "panic", "oom", "refused"] {
        let grep = format!(r#"{{"pattern":"{word}"}}"#);
        let said = agent.run("shell:grep", &grep, r#"{"stdout":"","stderr":"","exit_code":1}"#).await;
        assert!(!matches!(said, Word::Halt | Word::Refused), "grep {word}: {said:?}");
    }
    for service in ["billing", "invoicing", "cart", "search", "mail"] {
        let args = format!(r#"{{"service":"{service}"}}"#);
        let body = format!(r#"{{"service":"{service}","pod_count":0,"pods":[]}}"#);
        let said = agent.call("k8s_pod_status_tool", &args, &body).await;
        assert!(!matches!(said, Word::Halt | Word::Refused), "{service}: {said:?}");
    }
    for url in ["a", "b", "c"] {
        let said = agent
            .answered("web_fetch", &format!(r#"{{"url":"https://x.test/{url}"}}"#), 404, "404 page not found")
            .await;
        assert!(!matches!(said, Word::Halt | Word::Refused), "{url}: {said:?}");
    }
    for round in 0..12 {
        let edit = format!(r#"{{"path":"a.rs","round":{round}}}"#);
        assert_eq!(agent.call("edit_file", &edit, r#"{"ok":true,"data":{"changed":1}}"#).await, Word::Permit);
        let failing = r#"{"stdout":"1 failed, 3 passed\n","stderr":"","exit_code":1}"#;
        assert_eq!(agent.run("shell:pytest", r#"{"args":"-q"}"#, failing).await, Word::Permit, "round {round}");
    }
}

#[tokio::test]
async fn calls_of_one_tool_at_once_are_capped_and_twins_are_told_so() {
    let server = TestServer::start("").await;
    let mut agent = Agent::new(&server, "wave").await;
    agent.wave = "w1".to_owned();
    for page in 0..4 {
        assert!(agent.ask("search", &format!(r#"{{"page":{page}}}"#)).await.is_ok());
    }
    let refused = agent.ask("search", r#"{"page":9}"#).await.unwrap_err();
    assert_eq!((refused.signal(), refused.observed.as_str()), (pb::Signal::FanOut, "4 of 4 running"));
    let twin = agent.ask("search", r#"{ "page": 1.0 }"#).await.unwrap_err();
    assert_eq!(twin.observed, "same call already running");
    // Another tool has places of its own.
    assert!(agent.ask("fetch_page", r#"{"page":9}"#).await.is_ok());
}

#[tokio::test]
async fn a_tool_outside_the_allowlist_is_refused_and_a_refused_call_is_pinned() {
    let server = TestServer::start("").await;
    let mut agent = Agent::new(&server, "scope").await;
    let policy =
        pb::SessionPolicy { allow: vec!["query_*".to_owned(), "delete_file".to_owned()], ..Default::default() };
    agent.open(policy).await.unwrap();
    assert_eq!(agent.ask("send_mail", "{}").await.unwrap_err().signal(), pb::Signal::ScopeCreep);
    let permit = agent.ask("delete_file", r#"{"path":"a"}"#).await.unwrap();
    agent.refuse(&permit, pb::RefusedBy::User).await;
    let pinned = agent.ask("delete_file", r#"{"path":"a"}"#).await.unwrap_err();
    assert_eq!((pinned.signal(), pinned.observed.as_str()), (pb::Signal::ScopeCreep, "refused by the user"));
    assert!(agent.ask("delete_file", r#"{"path":"b"}"#).await.is_ok());
    agent.task = "another".to_owned();
    assert!(agent.ask("delete_file", r#"{"path":"a"}"#).await.is_ok(), "a new task releases it");
}

#[tokio::test]
async fn a_write_whose_reply_was_lost_is_read_back_before_it_is_repeated() {
    let server =
        TestServer::start("[[tool]]\nmatch = \"charge\"\neffect = \"mutate\"\nread_tool = \"get_charge\"").await;
    let mut agent = Agent::new(&server, "effects").await;
    let lost = agent.ask("charge", r#"{"order":7}"#).await.unwrap();
    assert_eq!(agent.lost(&lost, "charge").await, Word::Halt);
    let again = agent.ask("charge", r#"{"order":7}"#).await.unwrap_err();
    assert_eq!((again.signal(), again.action()), (pb::Signal::AmbiguousEffect, pb::Action::VerifyEffect));
    assert_eq!(again.fallback, "get_charge");
    assert!(agent.ask("charge", r#"{"order":8}"#).await.is_ok(), "another write is another write");
    assert_eq!(agent.call("get_charge", r#"{"order":7}"#, r#"{"items":[]}"#).await, Word::Permit);
    assert!(agent.ask("charge", r#"{"order":7}"#).await.is_ok(), "an empty read-back says that it did not happen");
}

#[tokio::test]
async fn an_answer_is_held_against_the_evidence_of_its_task() {
    let server = TestServer::start("").await;
    let mut agent = Agent::new(&server, "review").await;
    agent.call("query_prometheus", r#"{"expr":"errors_total"}"#, EMPTY).await;
    let first = agent.review("The root cause is payment: 35% of requests failed.").await;
    assert_eq!((first.verdict(), first.rule()), (pb::ReviewVerdict::SendBack, pb::ReviewRule::NoUsableEvidence));
    assert!(first.message.contains("query_prometheus"), "{}", first.message);
    let again = agent.review("The root cause is payment: 35% of requests failed.").await;
    assert_eq!(again.verdict(), pb::ReviewVerdict::AllowUnsupported, "at most one send-back");
    let mut agent = Agent::new(&server, "review plainly").await;
    agent.call("query_prometheus", r#"{"expr":"errors_total"}"#, EMPTY).await;
    let plain = agent.review("No data was found for errors_total in this window.").await;
    assert_eq!(plain.verdict(), pb::ReviewVerdict::Allow, "{}", plain.message);
    let chinese = agent.review("在這個時間窗內沒有找到任何資料。").await;
    assert_eq!(chinese.verdict(), pb::ReviewVerdict::Allow, "{}", chinese.message);
    agent.call("query_prometheus", r#"{"expr":"up"}"#, ONE).await;
    assert_eq!(agent.review("The value is 7 req/s.").await.verdict(), pb::ReviewVerdict::Allow);
    let ledger = agent.evidence().await;
    assert_eq!(ledger.rows.len(), 2);
    assert!(
        ledger.text.contains("[f02] ok runtime/mechanism query_prometheus: resultType=vector, result[1]"),
        "{}",
        ledger.text
    );
    assert!(ledger.text.contains("MUST NOT be cited as evidence"), "{}", ledger.text);
}

#[tokio::test]
async fn exhausting_a_tool_never_removes_it_from_the_required() {
    let server = TestServer::start("").await;
    let mut agent = Agent::new(&server, "required").await;
    let policy = pb::SessionPolicy { required_tools: vec!["query_loki_logs".to_owned()], ..Default::default() };
    agent.open(policy).await.unwrap();
    agent.call("query_prometheus", r#"{"expr":"up"}"#, ONE).await;
    for job in ["a", "b", "c"] {
        agent
            .answered(
                "query_loki_logs",
                &format!(r#"{{"logql":"{{app=\"{job}\"}}"}}"#),
                400,
                "parse error at line 1, col 1: syntax error",
            )
            .await;
    }
    let shown = agent.session().await;
    assert_eq!(shown.exhausted_tools, ["query_loki_logs"]);
    assert_eq!(shown.required_tools, ["query_loki_logs"]);
    let left_out = agent.review("The value is 7 req/s.").await;
    assert_eq!((left_out.verdict(), left_out.rule()), (pb::ReviewVerdict::SendBack, pb::ReviewRule::RequiredMissing));
    let mut other = Agent::new(&server, "required").await;
    other.epoch(5).await;
    let given = other.review("The value is 7 req/s. Logs: Unknown, query_loki_logs failed with a parse error.").await;
    assert_eq!(given.verdict(), pb::ReviewVerdict::Allow, "{}", given.message);
}

#[tokio::test]
async fn a_session_belongs_to_its_caller_and_ends_when_it_is_closed_or_idle() {
    let server = TestServer::start("session.idle_for = \"1m\"").await;
    let mut agent = Agent::new(&server, "mine").await;
    agent.call("search", r#"{"q":"a"}"#, r#"{"items":[1]}"#).await;
    let other = pb::GetSessionRequest {
        session: Some(pb::SessionRef { session_id: "mine".to_owned(), caller: "somebody else".to_owned() }),
    };
    let status = server.sessions().get_session(other).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::NotFound);
    server.clock.advance_ms(61_000);
    assert!(agent.try_session().await.is_err(), "nothing was heard of it");
    agent.call("search", r#"{"q":"a"}"#, r#"{"items":[1]}"#).await;
    assert_eq!(agent.session().await.counts.unwrap().admitted, 1, "it starts anew");
    agent.close().await;
    assert!(agent.try_session().await.is_err());
}

#[tokio::test]
async fn a_policy_that_is_not_as_the_manual_says_names_its_field() {
    let server = TestServer::start("").await;
    let mut agent = Agent::new(&server, "bad").await;
    let with =
        |thresholds: pb::SessionThresholds| pb::SessionPolicy { thresholds: Some(thresholds), ..Default::default() };
    for (policy, field) in [
        (with(pb::SessionThresholds { steer_at: Some(1), ..Default::default() }), "policy.thresholds.steer_at"),
        (with(pb::SessionThresholds { halt_at: Some(2), ..Default::default() }), "policy.thresholds.steer_at"),
        (with(pb::SessionThresholds { max_halts: Some(0), ..Default::default() }), "policy.thresholds.max_halts"),
        (pb::SessionPolicy { allow: vec!["[".to_owned()], ..Default::default() }, "policy.allow[0]"),
        (pb::SessionPolicy { required_tools: vec![String::new()], ..Default::default() }, "policy.required_tools[0]"),
        (pb::SessionPolicy { known_ids: vec!["x".repeat(65)], ..Default::default() }, "policy.known_ids[0]"),
    ] {
        let status = agent.open(policy).await.unwrap_err();
        assert_eq!(crate::support::asks::fields_of(&status), [field]);
    }
}

#[tokio::test]
async fn a_session_is_not_found_by_a_name_that_spells_its_caller_out() {
    let server = TestServer::start("").await;
    let of = |caller: &str, id: &str| Some(pb::SessionRef { session_id: id.to_owned(), caller: caller.to_owned() });
    let opened = pb::OpenSessionRequest { session: of("abc", "night"), policy: None };
    assert!(server.sessions().open_session(opened).await.unwrap().into_inner().opened);
    for (caller, id, is_there) in
        [("abc", "night", true), ("", "night", false), ("ab", "cnight", false), ("", "\u{3}\0\0\0abcnight", false)]
    {
        let found = server.sessions().get_session(pb::GetSessionRequest { session: of(caller, id) }).await;
        assert_eq!(found.is_ok(), is_there, "{caller:?} {id:?}");
    }
}
