use proptest::prelude::*;

use super::*;
use crate::domain::observation::transport::{ErrorKind, TransportFacts};
use crate::domain::observation::{RawResult, ToldTexts, type_result};
use crate::domain::tool::Tools;

const KEY: HashKey = HashKey([7; 16]);

/// A result as a test writes it: the body, or how the transport failed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Came<'a> {
    With(&'a str),
    Status(u16, &'a str),
    Fault(ErrorKind),
}

/// Types a result as the engine does, and records it.
pub(crate) fn report(
    ledger: &mut EvidenceLedger,
    tools: &Tools,
    (task, tool_name): (u64, &str),
    came: Came<'_>,
) -> u32 {
    let mut transport = TransportFacts::default();
    let payload = match came {
        Came::With(payload) => payload,
        Came::Status(status, payload) => {
            transport.http_status = Some(status);
            payload
        }
        Came::Fault(fault) => {
            transport.error_kind = Some(fault);
            ""
        }
    };
    let tool = tools.of(tool_name);
    let typing = type_result(&RawResult {
        tool_name,
        tool,
        effect: tool.effect,
        transport: &transport,
        payload: Some(payload.as_bytes()),
        content_type: None,
        arguments: None,
        is_cut_by_caller: false,
        told: ToldTexts::default(),
        custom: &[],
        now_unix_ms: 0,
    });
    let payload = Some(payload.as_bytes());
    ledger.record(&ReportedCall { tool_name, tool, typing: &typing, task, turn: 1, payload, is_cut_by_caller: false })
}

const EMPTY_METRIC: &str = r#"{"resultType":"vector","result":[],"note":"No such metric in Prometheus: payment_declines_total.","hint":"Call discover_metrics(service) for the names this service really emits"}"#;
const SERIES: &str = r#"{"resultType":"vector","result":[{"metric":{"service_name":"payment-service"},"value":1.304},{"metric":{"s":"b"},"value":2},{"metric":{"s":"c"},"value":3},{"metric":{"s":"d"},"value":4},{"metric":{"s":"e"},"value":5},{"metric":{"s":"f"},"value":6}]}"#;
const EMPTY_LOGS: &str = r#"{"resultType":"streams","result":[],"note":"Not an indexable stream label: service."}"#;
const LOG_COUNT: &str = r#"{"resultType":"vector","result":[{"metric":{},"value":372.0}]}"#;
const EMPTY_TRACES: &str = r#"{"traces":[],"count":0}"#;
const CUT_TRACES: &str = r#"{"truncated":true,"reason":"Tempo result > 8192B; returning slim summaries.","traces":[{"traceID":"31c23409fd04f91bb3bf8f16892b4a0","rootServiceName":"payment-service","durationMs":812}]}"#;
const NO_PODS: &str = r#"{"service":"billing-service","namespace":"demo","pod_count":0,"pods":[]}"#;
const CATALOGUE: &str = r#"{"service":"payment-service","metric_count":6,"identity_labels":["service_name"],"metrics":["a","b","c","d","e","f"]}"#;

/// The calls of the seed, in its order.
pub(crate) const SEED: [(&str, Came<'_>); 8] = [
    ("query_prometheus", Came::With(EMPTY_METRIC)),
    ("query_prometheus", Came::With(SERIES)),
    ("query_loki_logs", Came::With(EMPTY_LOGS)),
    ("query_loki_logs", Came::With(LOG_COUNT)),
    ("query_tempo_traces", Came::With(EMPTY_TRACES)),
    ("query_tempo_traces", Came::With(CUT_TRACES)),
    ("k8s_pod_status_tool", Came::With(NO_PODS)),
    ("discover_metrics_tool", Came::With(CATALOGUE)),
];

pub(crate) fn ledger_of(calls: &[(&str, Came<'_>)]) -> EvidenceLedger {
    let (mut ledger, tools) = (EvidenceLedger::new(KEY), Tools::default());
    for (tool, came) in calls {
        report(&mut ledger, &tools, (1, tool), *came);
    }
    ledger
}

#[test]
fn the_ledger_reads_line_for_line_as_the_seed_prints_it() {
    let expected = "\
EVIDENCE LEDGER (machine-typed from the tool payloads, not from your summary):
[f01] XX runtime/mechanism query_prometheus: no data in this window — MUST NOT be cited as evidence
[f02] ok runtime/mechanism query_prometheus: resultType=vector, result[6]
[f03] XX log/impact query_loki_logs: no data in this window — MUST NOT be cited as evidence
[f04] ok log/impact query_loki_logs: resultType=vector, result[1]
[f05] XX trace/mechanism query_tempo_traces: no data in this window — MUST NOT be cited as evidence
[f06] ok trace/mechanism query_tempo_traces: real but capped — cite what is in it, never a total or a rate from it
[f07] XX runtime/mechanism k8s_pod_status_tool: no data in this window — MUST NOT be cited as evidence
[f08] XX catalog/context discover_metrics_tool: catalog lookup — orients the next query, not evidence
usable: 3/8 across 3 independent source(s) [log, runtime, trace]. role is a hint from which store answered, not proof that it tested that role.";
    assert_eq!(ledger_of(&SEED).text(), expected);
}

#[test]
fn two_queries_of_one_store_are_one_source_and_a_catalogue_is_none() {
    let ledger = ledger_of(&[
        ("query_prometheus", Came::With(SERIES)),
        ("query_prometheus", Came::With(SERIES)),
        ("discover_metrics", Came::With(CATALOGUE)),
    ]);
    assert!(ledger.text().contains("usable: 2/3 across 1 independent source(s) [runtime]."), "{}", ledger.text());
}

#[test]
fn each_state_has_a_line_of_its_own() {
    let lines = [
        (
            "query_prometheus",
            Came::Status(503, "upstream connect error"),
            "XX runtime/mechanism query_prometheus: never reached the data (error_rate, transport) — absence was not measured, MUST NOT be cited as evidence",
        ),
        (
            "query_loki_logs",
            Came::Fault(ErrorKind::Timeout),
            "XX log/impact query_loki_logs: never reached the data (latency, transport) — absence was not measured, MUST NOT be cited as evidence",
        ),
        (
            "query_prometheus",
            Came::With(r#"{"status":"error","errorType":"bad_data","error":"parse error"}"#),
            "XX runtime/mechanism query_prometheus: the query failed (contract_miss) — absence was not measured, MUST NOT be cited as evidence",
        ),
        ("TodoRead", Came::With(r#"{"todos":[1]}"#), "XX unknown/notes TodoRead: the agent's own notes — not evidence"),
        (
            "Skill",
            Came::With("Use PromQL."),
            "XX unknown/context Skill: context — orients the next query, not evidence",
        ),
        (
            "frobnicate",
            Came::With(r#"{"value":[1,2]}"#),
            "XX unknown/context frobnicate: tool in no row of the tools table — not evidence until its domain is configured",
        ),
        ("get_assertions", Came::With(r#"{"assertions":[1]}"#), "ok runtime/mechanism get_assertions: assertions[1]"),
        ("get_alert_group", Came::With(r#"{"alerts":[1,2]}"#), "ok runtime/unstated get_alert_group: alerts[2]"),
        (
            "query_tempo_traces",
            Came::With(r#"{"traces":[{"traceID":"1"}],"total":90,"truncated":true}"#),
            "ok trace/mechanism query_tempo_traces: real but capped",
        ),
    ];
    for (tool, came, expected) in lines {
        let text = ledger_of(&[(tool, came)]).text();
        assert!(
            text.lines().nth(1).is_some_and(|line| line.strip_prefix("[f01] ").unwrap().starts_with(expected)),
            "{text}"
        );
    }
}

#[test]
fn a_row_holds_keys_and_counts_and_no_value() {
    let secret =
        r#"{"resultType":"vector","result":[{"metric":{"card":"4111-1111"},"value":"s3cret"}],"note":"s3cret"}"#;
    let ledger = ledger_of(&[("query_prometheus", Came::With(secret))]);
    let all = format!("{ledger:?}{}", ledger.text());
    assert!(!all.contains("s3cret") && !all.contains("4111"), "{all}");
}

#[test]
fn the_oldest_rows_go_with_a_count_and_what_they_held_is_remembered_of_their_task() {
    let (mut ledger, tools) = (EvidenceLedger::new(KEY), Tools::default());
    report(&mut ledger, &tools, (1, "query_prometheus"), Came::With(SERIES));
    for _ in 0..ROWS_MAX + 3 {
        report(&mut ledger, &tools, (2, "query_loki_logs"), Came::Fault(ErrorKind::Timeout));
    }
    assert_eq!(ledger.rows().len(), ROWS_MAX);
    assert_eq!(ledger.dropped(), 4);
    assert!(ledger.text().contains("\n(4 older row(s) dropped"));
    assert!(ledger.of_task(1).rows.is_empty());
    assert_eq!(ledger.of_task(1).lost, Lost { rows: 1, was_usable: true, was_whole: true, was_measured: true });
    assert_eq!(ledger.of_task(2).lost, Lost { rows: 3, ..Lost::default() });
    assert!(ledger.of_task(2).text().contains("(3 older row(s) dropped"));
}

#[test]
fn a_name_that_is_too_long_or_unsafe_is_cut_and_cleaned() {
    let name = format!("evil\nname\u{202e}{}", "x".repeat(500));
    let ledger = ledger_of(&[(&name, Came::With("[]"))]);
    let row = ledger.rows().next().unwrap();
    assert!(row.tool.as_str().len() <= TOOL_BYTES_MAX && row.tool.as_str().starts_with("evilname"));
    assert_eq!(ledger.text().lines().count(), 3);
}

#[test]
fn ids_are_incomplete_where_the_model_may_have_read_more_than_was_sent_along() {
    let tools = Tools::default();
    let typing = |fault: Option<ErrorKind>| {
        let transport = TransportFacts {
            error_kind: fault,
            http_status: fault.is_none().then_some(200),
            ..TransportFacts::default()
        };
        type_result(&RawResult {
            tool_name: "get-trace",
            tool: tools.of("get-trace"),
            effect: tools.of("get-trace").effect,
            transport: &transport,
            payload: None,
            content_type: None,
            arguments: None,
            is_cut_by_caller: false,
            told: ToldTexts::default(),
            custom: &[],
            now_unix_ms: 0,
        })
    };
    let record = |typing: &Typing, payload, is_cut_by_caller| {
        let mut ledger = EvidenceLedger::new(KEY);
        let tool = tools.of("get-trace");
        ledger.record(&ReportedCall {
            tool_name: "get-trace",
            tool,
            typing,
            task: 1,
            turn: 1,
            payload,
            is_cut_by_caller,
        });
        ledger.ids().is_complete()
    };
    assert!(!record(&typing(None), None, false));
    assert!(!record(&typing(None), Some(b"{}"), true));
    assert!(record(&typing(None), Some(b"{}"), false));
    assert!(record(&typing(Some(ErrorKind::ConnectRefused)), None, false));
}

proptest! {
    #[test]
    fn whatever_is_reported_the_ledger_keeps_its_bounds(
        calls in proptest::collection::vec(("\\PC{0,200}", "\\PC{0,400}", 0_u64..40), 0..40), times in 1_usize..40,
    ) {
        let (mut ledger, tools) = (EvidenceLedger::new(KEY), Tools::default());
        for _ in 0..times {
            for (tool, payload, task) in &calls {
                report(&mut ledger, &tools, (*task, tool), Came::With(payload));
            }
        }
        prop_assert!(ledger.rows().len() <= ROWS_MAX && ledger.ids().len() <= identifiers::IDS_MAX);
        prop_assert!(ledger.lost.len() <= LOST_TASKS_MAX);
        prop_assert_eq!(ledger.rows().len() + ledger.dropped() as usize, calls.len() * times);
        prop_assert!(ledger.rows().all(|row| row.tool.as_str().len() <= TOOL_BYTES_MAX && row.digest.as_str().len() <= DIGEST_BYTES_MAX));
        prop_assert!(ledger.text().lines().count() <= ledger.rows().len() + 3);
    }
}
