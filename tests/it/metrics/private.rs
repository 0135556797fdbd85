//! Nothing that an agent sends is in a metric, a log line or an event: a word that is in everything it sends is looked for.

use std::io::Write;
use std::sync::Arc;

use tripnote::wire::operator::event as wired;
use tripnote::wire::pb;

use super::PAYMENTS;
use crate::support::TestServer;
use crate::support::asks::{by_permit, permit_of};
use crate::support::web::ask;

/// In arguments, payloads, answers, credentials and every name but those of targets and tools.
const CANARY: &str = "canary7f3c1";

fn admit(number: usize) -> pb::AdmitRequest {
    let canary = |of: &str| format!("{CANARY}-{of}");
    pb::AdmitRequest {
        target: "charge".to_owned(),
        tool_name: "charge".to_owned(),
        caller: canary("caller"),
        session_id: canary("session"),
        call_id: format!("{CANARY}-{number}"),
        task_id: canary("task"),
        wave_id: format!("{CANARY}-wave-{number}"),
        lane: canary("lane"),
        purpose: canary("purpose"),
        credential: canary("credential"),
        idempotency_key: canary("key"),
        arguments: format!("{{\"secret\":\"{CANARY}\"}}").into_bytes(),
        ..pb::AdmitRequest::default()
    }
}

fn failure(token: &[u8]) -> pb::Outcome {
    let header = pb::Header { name: "x-secret".to_owned(), value: CANARY.to_owned() };
    let facts = pb::TransportFacts { http_status: Some(500), headers: vec![header], ..Default::default() };
    let body = format!("{{\"error\":\"{CANARY}\"}}").into_bytes();
    pb::Outcome {
        call: Some(by_permit(token)),
        result: Some(pb::outcome::Result::Transport(facts)),
        payload: Some(pb::Payload { body, ..Default::default() }),
        ..pb::Outcome::default()
    }
}

/// The lines that a log at its most talkative has for the events of a server, in both forms.
fn log_of(server: &TestServer) -> String {
    #[derive(Clone, Default)]
    struct Kept(Arc<parking_lot::Mutex<Vec<u8>>>);
    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let kept = Kept::default();
    let writer = || {
        let kept = kept.clone();
        move || kept.clone()
    };
    let text = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(writer()).finish();
    let json = tracing_subscriber::fmt().json().with_max_level(tracing::Level::TRACE).with_writer(writer()).finish();
    let events = server.engine.log().after(0, usize::MAX).events;
    let tell = || events.iter().for_each(|event| tripnote::telemetry::log::event(event));
    tracing::subscriber::with_default(text, tell);
    tracing::subscriber::with_default(json, tell);
    String::from_utf8(kept.0.lock().clone()).unwrap()
}

#[tokio::test]
async fn a_word_that_is_in_everything_an_agent_sends_comes_out_nowhere() {
    let server = TestServer::start(PAYMENTS).await;
    let watching = server.engine.log().watch_calls(); // an event for every call, too
    let permit = permit_of(server.admit(admit(0)).await);
    server.report(failure(&permit.token)).await;
    for number in 1..4 {
        server.admit(admit(number)).await;
    }
    let session = Some(pb::SessionRef { session_id: format!("{CANARY}-session"), caller: format!("{CANARY}-caller") });
    let text = format!("The root cause is {CANARY}: 17 of 20 requests failed.");
    let review = pb::ReviewAnswerRequest { session: session.clone(), text, task_id: format!("{CANARY}-task") };
    server.sessions().review_answer(review).await.unwrap();
    let close = pb::CloseSessionRequest { session, outcome: pb::SessionOutcome::Halted.into(), success: Some(false) };
    server.sessions().close_session(close).await.unwrap();
    drop(watching);

    let events = server.engine.log().after(0, usize::MAX).events;
    assert!(events.len() > 10, "{}", events.len());
    let wall = server.engine.clock().wall();
    let places = [
        ("metrics", ask(&server.http, "GET", "/metrics").await.body),
        ("log lines", log_of(&server)),
        ("events", format!("{events:?}")),
        ("events on the wire", events.iter().map(|event| format!("{:?}", wired(event, 1, wall))).collect()),
    ];
    for (place, text) in &places {
        assert!(text.contains("payments"), "{place} say something");
        assert!(!text.contains(CANARY) && !text.contains("7f3c1"), "{place} hold the word");
    }
    server.stop().await;
}
