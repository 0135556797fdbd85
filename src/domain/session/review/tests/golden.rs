//! The golden dual-part job: an alert part that was measured and a logs part whose tool failed. The regression for every
//! later change of a gate.

use serde_json::Value;

use super::*;

fn job() -> EvidenceLedger {
    let fixture = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/evidence/dual-part.jsonl"));
    let calls: Vec<Value> = fixture.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let payloads: Vec<&str> = calls.iter().map(|call| call["payload"].as_str().unwrap()).collect();
    let came: Vec<(&str, Came<'_>)> = calls
        .iter()
        .zip(&payloads)
        .map(|(call, payload)| {
            let came = match (call["status"].as_u64(), call["fault"].as_str()) {
                (Some(status), None) => Came::Status(u16::try_from(status).unwrap(), payload),
                (None, Some(fault)) => Came::Fault(ErrorKind::from_word(fault).unwrap()),
                other => panic!("{other:?}"),
            };
            (call["tool"].as_str().unwrap(), came)
        })
        .collect();
    ledger_of(&came)
}

fn judged(answer: &str) -> String {
    let mut given = Given::default();
    given.with("required", "query_prometheus");
    given.with("required", "query_loki_logs");
    given.with("exhausted", "query_loki_logs");
    written(&given.review(&job(), answer))
}

#[test]
fn the_job_measured_its_first_part_and_not_its_second() {
    let text = job().text();
    assert!(text.contains("[f02] ok runtime/mechanism query_prometheus: resultType=vector, result[1]"), "{text}");
    for failed in ["[f03] XX", "[f04] XX", "[f05] XX", "[f06] XX catalog/context"] {
        assert!(text.contains(failed), "{text}");
    }
}

#[test]
fn an_answer_that_leaves_the_second_part_out_is_sent_back() {
    assert_eq!(
        judged("CheckoutErrorRate fires: the error rate of checkout is 0.0731 (7.31%)."),
        "back required_missing"
    );
    assert_eq!(judged("CheckoutErrorRate 正在触发：checkout 的错误率是 7.31%。"), "back required_missing");
}

#[test]
fn an_answer_that_gives_the_second_part_as_a_negative_is_sent_back() {
    assert_eq!(judged("Alert: 7.31% errors.\nLogs: no errors found."), "back required_missing");
}

#[test]
fn an_answer_that_gives_both_parts_as_unknown_without_the_tool_is_sent_back() {
    assert_eq!(judged("Part A: Undetermined. Part B: Undetermined."), "back unnamed_gap,required_missing");
}

#[test]
fn an_answer_that_names_the_tool_and_keeps_the_first_figures_is_allowed() {
    let english = "Part A (alert): CheckoutErrorRate fires, the error rate of checkout is 7.31%.\n\
                   Part B (logs): Unknown. The query_loki_logs route failed three times, so the volume was not measured.";
    assert_eq!(judged(english), "ok");
    assert_eq!(judged("A 部分：checkout 的错误率是 7.31%。\nB 部分：未知，query_loki_logs 查询失败。"), "ok");
    assert_eq!(judged("A 部分：checkout 的錯誤率是 7.31%。\nB 部分：未知，query_loki_logs 查詢失敗。"), "ok");
}

#[test]
fn an_answer_that_names_the_tool_and_drops_the_first_figures_gets_a_caution() {
    assert_eq!(judged("Part A: it fires. Part B: Unknown, query_loki_logs failed."), "caution figures_dropped");
}
