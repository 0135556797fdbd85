//! Answers in a language whose words an operator brings along.

use tripnote::service::server::Address;
use tripnote::wire::pb;

use super::agent::Agent;
use crate::support::TestServer;

const EMPTY: &str = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
const DOWN: &str = "upstream connect error";

/// As an operator writes them, in any case.
const GERMAN: &str = r#"
[review]
conclusion = ["die Ursache ist", "ist ausgefallen"]
connector = ["wegen"]
undetermined = ["unbekannt", "nicht bestimmbar"]
nothing_found = ["keine Daten"]
not_measured = ["nicht gemessen"]
negator = ["keine", "keinerlei"]
finding = ["Fehler", "Ausfälle"]
unit_of_count = ["Anfragen"]
ignored = ["Ursache ist unbekannt"]
"#;

async fn verdict(server: &TestServer, id: &str, status: u32, body: &str, answer: &str) -> (pb::ReviewVerdict, String) {
    let mut agent = Agent::new(server, id).await;
    agent.answered("query_prometheus", r#"{"expr":"errors_total"}"#, status, body).await;
    let review = agent.review(answer).await;
    let rule = review.rule().as_str_name().trim_start_matches("REVIEW_RULE_").to_lowercase();
    (review.verdict(), rule)
}

#[tokio::test]
async fn an_answer_in_a_third_language_is_read_by_configured_words_until_a_reload_takes_them_away() {
    let address = Address::Tcp("127.0.0.1:0".parse().unwrap());
    let (server, text) = TestServer::start_at(GERMAN, &address).await;
    let cases = [
        (200, EMPTY, "Die Ursache ist der neue Validator.", "no_usable_evidence"),
        (200, EMPTY, "Der Dienst lief nicht, wegen des Validators.", "no_usable_evidence"),
        (200, EMPTY, "372 Anfragen wurden abgelehnt.", "no_usable_evidence"),
        (200, EMPTY, "Keine Daten in diesem Zeitraum.", "unspecified"),
        (200, EMPTY, "Die Ursache ist unbekannt.", "unspecified"),
        (503, DOWN, "Es gab keinerlei Ausfälle.", "gap_as_negative"),
        (503, DOWN, "Keine Fehlerquote ist hoch.", "unspecified"), // another word that begins like one
        (503, DOWN, "Es gab keine Fehler, nur wurde mit query_prometheus nicht gemessen.", "unspecified"),
    ];
    for (nth, (status, body, answer, rule)) in cases.into_iter().enumerate() {
        let (word, found) = verdict(&server, &format!("de {nth}"), status, body, answer).await;
        assert_eq!(found, rule, "{answer}");
        let due = if rule == "unspecified" { pb::ReviewVerdict::Allow } else { pb::ReviewVerdict::SendBack };
        assert_eq!(word, due, "{answer}");
    }
    text.lock().0 = String::new();
    server.operators().reload_config(pb::ReloadConfigRequest {}).await.unwrap();
    let unread = verdict(&server, "after", 200, EMPTY, "Die Ursache ist der neue Validator.").await;
    assert_eq!(unread, (pb::ReviewVerdict::Allow, "unspecified".to_owned()));
    let english = verdict(&server, "english", 200, EMPTY, "The root cause is the new validator.").await;
    assert_eq!(english.1, "no_usable_evidence", "the built-in words stay");
}
