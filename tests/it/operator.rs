//! What operators see and do: lists, single circuits, resets. Holds and reloads are below.

mod holds;
mod reload;

use std::collections::BTreeSet;

use tonic::Code;
use tripnote::wire::pb;

use crate::support::TestServer;
use crate::support::asks::{Kind, bad, by_permit, call, call_by, fields_of, good, name, permit_of, trip_of};

pub(crate) const TRIPS_AT_FIRST: &str = r#"
[defaults.error_rate]
rules = [{ consecutive = 1 }]
jitter = "0%"
[defaults.malformed_response]
rules = [{ consecutive = 1 }]
jitter = "0%"
"#;

type Page = (Vec<pb::Circuit>, String, u32);

async fn page(server: &TestServer, breaker: &str, only_not_closed: bool, size: u32, token: &str) -> Page {
    let request = pb::ListCircuitsRequest {
        breaker: breaker.to_owned(),
        only_not_closed,
        page_size: size,
        page_token: token.to_owned(),
    };
    let answer = server.operators().list_circuits(request).await.unwrap().into_inner();
    (answer.circuits, answer.next_page_token, answer.total)
}

fn named(circuit: &pb::Circuit) -> (String, String, i32) {
    let name = circuit.name.clone().unwrap();
    (name.breaker, name.scope, name.kind)
}

#[tokio::test]
async fn pages_hold_every_circuit_once_whatever_their_size() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let mut due = BTreeSet::new();
    for nth in 0..23 {
        let target = format!("target {nth}");
        server.open(&target, Kind::ErrorRate).await;
        due.insert((format!("target_{nth}"), format!("target:{target}"), i32::from(Kind::ErrorRate)));
    }
    for size in [1, 2, 7, 23, 24, 1_000] {
        let (mut seen, mut token, mut pages) = (vec![], String::new(), 0);
        loop {
            let (circuits, next, total) = page(&server, "", false, size, &token).await;
            assert_eq!(total, 23);
            assert!(circuits.len() <= size as usize && (!circuits.is_empty() || pages == 0));
            seen.extend(circuits.iter().map(named));
            (token, pages) = (next, pages + 1);
            if token.is_empty() {
                break;
            }
        }
        assert_eq!((seen.len(), seen.into_iter().collect::<BTreeSet<_>>()), (23, due.clone()), "pages of {size}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_page_of_0_is_one_of_100_and_1000_is_the_most() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    for nth in 0..101 {
        server.open(&format!("target {nth}"), Kind::ErrorRate).await;
    }
    let (circuits, next, total) = page(&server, "", false, 0, "").await;
    assert_eq!((circuits.len(), next.is_empty(), total), (100, false, 101));
    let request = pb::ListCircuitsRequest { page_size: 1_001, ..Default::default() };
    assert_eq!(fields_of(&server.operators().list_circuits(request).await.unwrap_err()), ["page_size"]);
    for token in ["x", "1", "1.2", "1.2.3.4", "-1.0.0", "0.0.99999999999999999999999"] {
        let request = pb::ListCircuitsRequest { page_token: token.to_owned(), ..Default::default() };
        assert_eq!(fields_of(&server.operators().list_circuits(request).await.unwrap_err()), ["page_token"], "{token}");
    }
    let (circuits, next, _) = page(&server, "", false, 0, "999.999.999").await;
    assert_eq!((circuits.len(), next.as_str()), (0, ""), "a page behind the last is empty");
    server.stop().await;
}

#[tokio::test]
async fn a_list_is_of_one_breaker_or_of_what_is_not_closed() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    server.open("open", Kind::ErrorRate).await;
    server.open("recovered", Kind::ErrorRate).await;
    server.open("half", Kind::ErrorRate).await;
    server.clock.advance_ms(30_000);
    let probe = server.permit("recovered").await;
    server.report(good(by_permit(&probe.token))).await;
    server.permit("half").await;
    let only = |circuits: &[pb::Circuit]| circuits.iter().map(|c| named(c).0).collect::<BTreeSet<_>>();
    let (all, _, total) = page(&server, "", false, 0, "").await;
    assert_eq!(
        (only(&all).into_iter().collect::<Vec<_>>(), total),
        (vec!["half".into(), "open".into(), "recovered".into()], 3)
    );
    let (not_closed, _, total) = page(&server, "", true, 0, "").await;
    assert_eq!((only(&not_closed).into_iter().collect::<Vec<_>>(), total), (vec!["half".into(), "open".into()], 2));
    let (one, _, total) = page(&server, "half", false, 0, "").await;
    assert_eq!((only(&one).into_iter().collect::<Vec<_>>(), total), (vec!["half".into()], 1));
    assert_eq!(
        (one[0].phase(), one[0].probes_in_flight, one[0].retry_after_ms),
        (pb::Phase::HalfOpen, 1, Some(30_000))
    );
    let open = not_closed.iter().find(|circuit| named(circuit).0 == "open").unwrap();
    assert!(open.probe_ready && open.contract.is_none() && open.retry_after_ms.is_none(), "{open:?}");
    let (none, _, total) = page(&server, "no_such_breaker", false, 0, "").await;
    assert_eq!((none.len(), total), (0, 0));
    let bad_code = pb::ListCircuitsRequest { breaker: "No Code".to_owned(), ..Default::default() };
    assert_eq!(fields_of(&server.operators().list_circuits(bad_code).await.unwrap_err()), ["breaker"]);
    server.stop().await;
}

#[tokio::test]
async fn looking_changes_nothing() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    server.open("a", Kind::ErrorRate).await;
    server.clock.advance_ms(30_000);
    let before = server.circuits(false).await;
    let one = server.circuit(name("a", "target:a", Kind::ErrorRate)).await.unwrap();
    assert_eq!((vec![one], server.circuits(false).await), (before.clone(), before));
    assert!(server.permit("a").await.probe, "the probe was still there");
    server.stop().await;
}

#[tokio::test]
async fn a_circuit_shows_the_contract_that_it_hands_out() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let of_report = server.open("POST /v2/charge", Kind::ErrorRate).await;
    server.clock.advance_ms(7_000);
    let handed_out = server.trip("POST /v2/charge").await;
    let shown = server.circuit(name("post_v2_charge", "target:POST /v2/charge", Kind::ErrorRate)).await.unwrap();
    assert_eq!((shown.phase(), shown.generation), (pb::Phase::Open, handed_out.generation));
    assert_eq!((shown.observed, shown.threshold), (handed_out.observed.clone(), handed_out.threshold.clone()));
    assert_eq!((shown.open_until, shown.retry_after_ms), (handed_out.retry_at, handed_out.retry_after_ms));
    assert_eq!((shown.results, shown.backoff_level), (1, 0));
    assert_eq!(shown.last_seen_ms_ago, 0, "the refusal touched it");
    let contract = shown.contract.unwrap();
    assert_eq!(contract.text, handed_out.text);
    assert_ne!(contract.text, of_report.text, "time has gone on");
    assert_eq!(contract, pb::Trip { event_seq: 0, ..handed_out });
    server.stop().await;
}

#[tokio::test]
async fn a_circuit_of_a_credential_shows_its_contract_without_the_credential() {
    let server = TestServer::start("defaults.quota_exhausted.rate = { jitter = \"0%\" }").await;
    let request = pb::AdmitRequest { credential: "billing-key-2".to_owned(), ..call("POST /v2/charge") };
    let permit = permit_of(server.admit(request.clone()).await);
    server.report(bad(by_permit(&permit.token), Kind::QuotaExhaustedRate)).await;
    let trip = trip_of(server.admit(request).await);
    let [circuit] = &server.circuits(true).await[..] else { panic!("one open circuit was due") };
    let scope = named(circuit).1;
    assert!(scope.starts_with("credential:") && !scope.contains("billing"), "{scope}");
    let shown = circuit.contract.clone().unwrap();
    assert_eq!((shown.action(), shown.state, shown.target), (trip.action(), trip.state, scope));
    server.stop().await;
}

#[tokio::test]
async fn what_is_not_there_is_said_in_words() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let reset = |name| pb::ResetRequest { name: Some(name) };
    let status = server.operators().reset(reset(name("nowhere", "", Kind::Unspecified))).await.unwrap_err();
    assert_eq!(
        (status.code(), status.message()),
        (Code::NotFound, "no breaker has the code `nowhere`: see `tripnote circuits` for those that are there")
    );
    server.open("a", Kind::ErrorRate).await;
    let status =
        server.operators().reset(reset(name("a", "credential:12345678", Kind::Unspecified))).await.unwrap_err();
    assert_eq!(
        (status.code(), status.message()),
        (
            Code::NotFound,
            "breaker `a` has no scope `credential:12345678`: see `tripnote circuits` for those that are there"
        )
    );
    for asked in [
        name("a", "target:b", Kind::ErrorRate),
        name("b", "target:a", Kind::ErrorRate),
        name("a", "target:a", Kind::Latency),
    ] {
        let status = server.circuit(asked).await.unwrap_err();
        assert!(status.code() == Code::NotFound && status.message().starts_with("no circuit `"), "{status:?}");
    }
    let missing = [
        (name("", "target:a", Kind::ErrorRate), "breaker"),
        (name("a", "", Kind::ErrorRate), "scope"),
        (name("a", "target:a", Kind::Unspecified), "kind"),
        (name("a", &"s".repeat(641), Kind::ErrorRate), "scope"),
    ];
    for (asked, path) in missing {
        assert_eq!(fields_of(&server.circuit(asked).await.unwrap_err()), [path]);
    }
    let status = server.operators().reset(pb::ResetRequest { name: None }).await.unwrap_err();
    assert_eq!(fields_of(&status), ["name"]);
    server.stop().await;
}

#[tokio::test]
async fn a_reset_closes_and_makes_permits_from_before_stale() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let early = server.permit("a").await;
    let opened = server.open("a", Kind::ErrorRate).await;
    let answer = server.operators().reset(pb::ResetRequest { name: Some(name("a", "", Kind::Unspecified)) }).await;
    assert_eq!(answer.unwrap().into_inner().circuits, 1);
    let shown = server.circuit(name("a", "target:a", Kind::ErrorRate)).await.unwrap();
    assert_eq!((shown.phase(), shown.failed, shown.backoff_level), (pb::Phase::Closed, 0, 0));
    assert!(shown.generation > opened.generation);
    let ack = server.report(bad(by_permit(&early.token), Kind::ErrorRate)).await;
    assert_eq!((ack.acknowledgement(), ack.phase_after()), (pb::Acknowledgement::Stale, pb::Phase::Closed));
    server.permit("a").await;
    server.stop().await;
}

#[tokio::test]
async fn only_a_reset_ends_a_latch() {
    let server = TestServer::start("defaults.auth_failure.authentication = { latch = true }").await;
    let request = call_by("agent", "a");
    let permit = permit_of(server.admit(request.clone()).await);
    server.report(bad(by_permit(&permit.token), Kind::AuthFailureAuthentication)).await;
    server.clock.advance_ms(30 * 24 * 3_600_000);
    let trip = trip_of(server.admit(request.clone()).await);
    assert_eq!((trip.observed.as_str(), trip.threshold.as_str()), ("latched", "latch"));
    assert_eq!(trip.state, "open until an operator releases it");
    assert_eq!((trip.retry_at, trip.retry_after_ms), (None, None));
    let scope = named(&server.circuits(true).await[0]).1;
    let one = name("a", &scope, Kind::AuthFailureAuthentication);
    let answer = server.operators().reset(pb::ResetRequest { name: Some(one) }).await.unwrap().into_inner();
    assert_eq!(answer.circuits, 1);
    permit_of(server.admit(request).await);
    server.stop().await;
}

#[tokio::test]
async fn a_reset_of_one_kind_leaves_the_others() {
    let server = TestServer::start(TRIPS_AT_FIRST).await;
    let early = server.permit("a").await;
    server.open("a", Kind::ErrorRate).await;
    server.report(bad(by_permit(&early.token), Kind::MalformedResponse)).await;
    let reset = pb::ResetRequest { name: Some(name("a", "target:a", Kind::ErrorRate)) };
    assert_eq!(server.operators().reset(reset).await.unwrap().into_inner().circuits, 1);
    assert_eq!(server.trip("a").await.signal(), pb::Signal::MalformedResponse);
    server.stop().await;
}
