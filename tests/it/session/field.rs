//! The field reports of `research/agents.md` 3.2 that a breaker, the typing of results or the review of an answer decides.

use tripnote::wire::pb;

use super::agent::{Agent, Word};
use crate::support::TestServer;
use crate::support::asks::{by_permit, permit_of, trip_of};

/// What an MCP server answers in words.
fn says(text: &str, is_error: bool) -> String {
    serde_json::json!({"content": [{"type": "text", "text": text}], "isError": is_error}).to_string()
}

fn ask(session: &str, tool: &str, target: &str) -> pb::AdmitRequest {
    pb::AdmitRequest {
        session_id: session.to_owned(),
        tool_name: tool.to_owned(),
        target: target.to_owned(),
        ..pb::AdmitRequest::default()
    }
}

/// Makes a call that comes back with this body.
async fn came(server: &TestServer, request: pb::AdmitRequest, body: &str) -> pb::ReportAck {
    let permit = permit_of(server.admit(request).await);
    let payload = Some(pb::Payload { body: body.as_bytes().to_vec(), ..pb::Payload::default() });
    server.report(pb::Outcome { call: Some(by_permit(&permit.token)), payload, ..pb::Outcome::default() }).await
}

/// Refused, time-out, refused: three faults of one server, whichever its tool and whatever was asked of it.
#[tokio::test]
async fn f06_a_server_that_is_down_is_shut_for_all_of_its_tools_and_sessions_and_then_probed_once() {
    let server = TestServer::start("").await;
    let mut told = Vec::new();
    for (tool, text) in [("query", "connection refused"), ("query", "timed out"), ("list", "connection refused")] {
        let ack = came(&server, ask("f06", tool, "mcp:db"), &says(text, true)).await;
        told.push((ack.typing.unwrap().observation(), ack.trip.map(|trip| trip.observed)));
    }
    let down = pb::Observation::Unavailable;
    assert_eq!(told, [(down, None), (down, None), (down, Some("3/3 failed in last 60s".to_owned()))]);
    let other = trip_of(server.admit(ask("another", "list", "mcp:db")).await);
    assert_eq!((other.signal(), other.action()), (pb::Signal::ErrorRate, pb::Action::AwaitRecovery));
    server.clock.advance_ms(other.retry_after_ms.unwrap());
    assert!(permit_of(server.admit(ask("f06", "query", "mcp:db")).await).probe);
    trip_of(server.admit(ask("another", "list", "mcp:db")).await);
}

/// The report asks for every tool of the credential; a credential is known within the breaker of its targets (2.1).
#[tokio::test]
async fn f08_a_refused_credential_in_a_text_shuts_every_tool_of_its_server() {
    let server =
        TestServer::start("[[breaker]]\ncode = \"opensearch\"\ntargets = [\"ClusterHealthTool\", \"ListIndexTool\"]")
            .await;
    let with =
        |tool: &str, credential: &str| pb::AdmitRequest { credential: credential.to_owned(), ..ask("f08", tool, "") };
    let text = "Error executing ClusterHealthTool: AuthenticationException(401, 'Unauthorized')";
    let ack = came(&server, with("ClusterHealthTool", "key"), &says(text, false)).await;
    assert_eq!(ack.typing.unwrap().signal(), pb::Signal::AuthFailure);
    assert_eq!(ack.trip.unwrap().action(), pb::Action::StopAndEscalate);
    let refused = trip_of(server.admit(with("ListIndexTool", "key")).await);
    assert_eq!((refused.signal(), refused.breaker.as_str()), (pb::Signal::AuthFailure, "opensearch"));
    permit_of(server.admit(with("ListIndexTool", "another key")).await);
}

/// The report asks for a name and a telephone number to be sent back, too; a number without a unit is no claim here (4.4).
#[tokio::test]
async fn f11_an_answer_from_searches_that_found_nothing_is_sent_back_once() {
    let server = TestServer::start("").await;
    let mut agent = Agent::new(&server, "f11").await;
    let listing = "Search results for: \"Neologix\"...\n1. URL: Domain: unknown";
    assert_eq!(agent.call("search_web", r#"{"q":"Neologix"}"#, listing).await, Word::Permit);
    let page = r#"{"path":"https://neologix.ae/about-us/"}"#;
    agent.came("read_file", page, pb::Effect::Unspecified, says("File not found", true).as_bytes()).await;
    let ledger = agent.evidence().await;
    assert!(ledger.rows.iter().all(|row| !row.usable), "{}", ledger.text);
    let answer = "The CEO is A. K.; revenue was $12M.";
    let verdict = agent.review(answer).await;
    assert_eq!((verdict.verdict(), verdict.rule()), (pb::ReviewVerdict::SendBack, pb::ReviewRule::NoUsableEvidence));
    assert_eq!(agent.review(answer).await.verdict(), pb::ReviewVerdict::AllowUnsupported);
}

/// The report calls it context; a declared format says that nothing was found, which is as little evidence.
#[tokio::test]
async fn f12_prose_without_sources_is_no_evidence_where_the_format_says_so() {
    let server = TestServer::start(
        r#"
[[format]]
name = "bing_prose"
recognised_when = [{ at = "/type", is = ["output_text"] }]
empty_when = [{ at = "/bing_searches", present = false }]
[[tool]]
match = "web_search"
domain = "web"
"#,
    )
    .await;
    let mut agent = Agent::new(&server, "f12").await;
    let prose = |sources: &str| {
        format!(
            r#"{{"type":"output_text","text":{{"value":"Long confident prose"}},"bing_searches":{sources},"annotations":null}}"#
        )
    };
    agent.call("web_search", r#"{"q":"repo"}"#, &prose("null")).await;
    agent.call("web_search", r#"{"q":"repo sources"}"#, &prose(r#"[{"url":"https://a.test"}]"#)).await;
    let rows = agent.evidence().await.rows;
    assert_eq!(rows.iter().map(|row| row.usable).collect::<Vec<_>>(), [false, true]);
    assert_eq!(rows[0].observation(), pb::Observation::Empty);
}

#[tokio::test]
async fn f13_f29_a_figure_after_a_refused_search_is_sent_back_once_and_then_shown_as_unsupported() {
    let server = TestServer::start("").await;
    let mut agent = Agent::new(&server, "f13").await;
    assert_eq!(agent.answered("web_search", r#"{"q":"market size"}"#, 403, "Access Denied").await, Word::Halt);
    let mut verdicts = Vec::new();
    for _ in 0..3 {
        verdicts.push(agent.review("The market is $4.2B").await.verdict());
    }
    let unsupported = pb::ReviewVerdict::AllowUnsupported;
    assert_eq!(verdicts, [pb::ReviewVerdict::SendBack, unsupported, unsupported]);
}

/// What the call says of its effect counts, without a row for the tool; a read that brings nothing is empty.
#[tokio::test]
async fn f25_a_write_that_is_acknowledged_without_a_body_is_observed() {
    let server = TestServer::start("").await;
    let mut seen = Vec::new();
    for effect in [pb::Effect::Mutate, pb::Effect::Read, pb::Effect::Unspecified] {
        let request = pb::AdmitRequest { effect: effect.into(), ..ask(effect.as_str_name(), "dispatch_workflow", "") };
        let permit = permit_of(server.admit(request).await);
        let facts = pb::TransportFacts { http_status: Some(204), ..pb::TransportFacts::default() };
        let result = Some(pb::outcome::Result::Transport(facts));
        let (call, payload) = (Some(by_permit(&permit.token)), Some(pb::Payload::default()));
        let ack = server.report(pb::Outcome { call, result, payload, ..pb::Outcome::default() }).await;
        seen.push((ack.typing.unwrap().observation(), ack.handling.unwrap().disposition()));
    }
    let deliver = pb::Disposition::Deliver;
    let (observed, empty) = (pb::Observation::Observed, pb::Observation::Empty);
    assert_eq!(seen, [(observed, deliver), (empty, deliver), (empty, deliver)]);
}

/// That tools are expected is said by requiring them.
#[tokio::test]
async fn f30_a_result_of_a_tool_that_was_never_called_is_sent_back_where_the_tool_is_required() {
    let server = TestServer::start("").await;
    let mut agent = Agent::new(&server, "f30").await;
    let policy = pb::SessionPolicy { required_tools: vec!["kb_search".to_owned()], ..pb::SessionPolicy::default() };
    agent.open(policy).await.unwrap();
    let verdict = agent.review("The tool returned: 'pain management' is covered by plan B.").await;
    assert_eq!((verdict.verdict(), verdict.rule()), (pb::ReviewVerdict::SendBack, pb::ReviewRule::RequiredMissing));
    assert!(verdict.message.contains("kb_search"), "{}", verdict.message);
}
