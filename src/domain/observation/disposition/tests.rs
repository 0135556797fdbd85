use super::*;
use crate::domain::observation::transport::TransportFacts;
use crate::domain::observation::{RawResult, ToldTexts, type_result};
use crate::domain::tool::Tool;

fn typed(status: u16, headers: &[(&str, &str)], payload: &str) -> Typing {
    let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let transport = TransportFacts { http_status: Some(status), headers, ..TransportFacts::default() };
    let tool = Tool::unknown();
    type_result(&RawResult {
        tool_name: "find_orders",
        tool: &tool,
        effect: tool.effect,
        transport: &transport,
        payload: Some(payload.as_bytes()),
        content_type: None,
        arguments: None,
        is_cut_by_caller: false,
        told: ToldTexts::default(),
        custom: &[],
        now_unix_ms: 0,
    })
}

const READ: Handled<'_> = Handled {
    tool_name: "find_orders",
    effect: Effect::Read,
    is_idempotent: false,
    attempt: 1,
    opened: false,
    is_open: false,
};

#[test]
fn the_first_row_that_applies_decides() {
    use Disposition as D;
    let down = typed(503, &[], "");
    let late = typed(503, &[("retry-after", "120")], "");
    let soon = typed(503, &[("retry-after", "5")], "");
    let bad = typed(400, &[], r#"{"error":{"code":"bad_data","message":"1:5: parse error"}}"#);
    let denied = typed(403, &[], "");
    let rows = typed(200, &[], r#"{"items":[1]}"#);
    let none = typed(200, &[], r#"{"items":[]}"#);
    let cut = typed(200, &[], r#"{"items":[1],"has_more":true}"#);
    let page = typed(200, &[("content-type", "application/json")], "<html>");
    let ours = typed(200, &[], r#"{"action":"x","breaker":"b","do_not":"y"}"#);
    let running = typed(202, &[], "");
    let lines: &[(&str, Handled<'_>, &Typing, D, Option<u64>)] = &[
        ("a circuit opens", Handled { opened: true, ..READ }, &down, D::Trip, None),
        ("bad input", READ, &bad, D::ReturnError, None),
        ("first fault of a read", READ, &down, D::RetrySilently, Some(1_000)),
        ("it asks for five seconds", READ, &soon, D::RetrySilently, Some(5_000)),
        ("it asks for two minutes", READ, &late, D::DeliverFailure, None),
        ("second try", Handled { attempt: 2, ..READ }, &down, D::DeliverFailure, None),
        ("a write", Handled { effect: Effect::Mutate, ..READ }, &down, D::DeliverFailure, None),
        ("nobody said what it does", Handled { effect: Effect::Unknown, ..READ }, &down, D::DeliverFailure, None),
        (
            "a write that is recognised",
            Handled { effect: Effect::Mutate, is_idempotent: true, ..READ },
            &down,
            D::RetrySilently,
            Some(1_000),
        ),
        ("the circuit is open", Handled { is_open: true, ..READ }, &down, D::DeliverFailure, None),
        ("no right", READ, &denied, D::DeliverFailure, None),
        ("unreadable", READ, &page, D::DeliverFailure, None),
        ("still running", READ, &running, D::DeliverFailure, None),
        ("rows", READ, &rows, D::Deliver, None),
        ("no rows", READ, &none, D::Deliver, None),
        ("cut", READ, &cut, D::Deliver, None),
        ("a contract of ours", READ, &ours, D::Deliver, None),
    ];
    for (name, handled, typing, disposition, after_ms) in lines {
        let got = handled.typed(typing);
        assert_eq!((got.disposition, got.after_ms), (*disposition, *after_ms), "{name}");
    }
}

#[test]
fn what_the_model_is_told_is_one_bounded_line_without_the_raw_body() {
    let bad = typed(
        400,
        &[],
        r#"{"error":{"code":"bad_data","message":"1:5: parse error: unexpected \")\"\nignore \u202ethis"}}"#,
    );
    let told = READ.typed(&bad).text.unwrap();
    assert_eq!(told, r#"find_orders rejected the call: 1:5: parse error: unexpected ")"ignore this"#);
    let told = Handled { attempt: 2, ..READ }.typed(&typed(503, &[], "secret body")).text.unwrap();
    assert_eq!(told, "find_orders: unavailable, signal error_rate, class transport; nothing was measured");
    let long = format!(r#"{{"error":{{"code":"invalid","message":"{}"}}}}"#, "x".repeat(9_000));
    assert!(READ.typed(&typed(422, &[], &long)).text.unwrap().len() <= LINE_BYTES_MAX);
    let cut = READ.typed(&typed(200, &[], r#"{"items":[1],"total":7}"#));
    assert!(cut.text.unwrap().starts_with("partial:"));
    assert_eq!(READ.typed(&typed(200, &[], r#"{"items":[1]}"#)).text, None);
}

#[test]
fn a_callers_own_judgement_is_handled_alike() {
    use Classification as C;
    use Disposition as D;
    for (classification, attempt, disposition) in [
        (C::Ok, 1, D::Deliver),
        (C::Ignored, 1, D::Deliver),
        (C::Failed(CircuitKind::ErrorRate), 1, D::RetrySilently),
        (C::Failed(CircuitKind::ErrorRate), 2, D::DeliverFailure),
        (C::TimedOut, 1, D::RetrySilently),
        (C::Failed(CircuitKind::QuotaRate), 1, D::RetrySilently),
        (C::Failed(CircuitKind::QuotaBilling), 1, D::DeliverFailure),
        (C::Failed(CircuitKind::Authentication), 1, D::DeliverFailure),
        (C::Failed(CircuitKind::MalformedResponse), 1, D::DeliverFailure),
    ] {
        assert_eq!(
            Handled { attempt, ..READ }.judged(classification, None).disposition,
            disposition,
            "{classification:?}"
        );
    }
}

#[test]
fn what_the_tree_said_of_a_step_decides_between_return_error_and_deliver() {
    use crate::domain::failure::tree::Leaf as L;
    use Disposition as D;
    let soon = typed(503, &[("retry-after", "5")], "");
    let late = typed(503, &[("retry-after", "120")], "");
    let open = Handled { is_open: true, ..READ };
    let lines = [
        (READ, &soon, L::SameBindingRetry, D::RetrySilently, Some(5_000)),
        (
            Handled { attempt: 3, effect: Effect::Mutate, ..READ },
            &soon,
            L::SameBindingRetry,
            D::RetrySilently,
            Some(5_000),
        ),
        (READ, &late, L::SameBindingRetry, D::DeliverFailure, None), // the model has other things to do meanwhile
        (open, &soon, L::SameBindingRetry, D::DeliverFailure, None), // it would be refused
        (open, &late, L::ComputeMove, D::Move, None),
        (READ, &soon, L::RouteNarrowing, D::Narrow, None),
        (READ, &soon, L::Halt, D::DeliverFailure, None),
    ];
    for (handled, typing, leaf, disposition, after_ms) in lines {
        let failed = handled.failed_step(typing).unwrap();
        let got = handled.stepped(&failed, leaf);
        assert_eq!((got.disposition, got.after_ms), (disposition, after_ms), "{leaf}");
        assert_eq!(got.text.is_some(), disposition == D::DeliverFailure, "{leaf}");
    }
}

#[test]
fn the_tree_is_asked_of_failures_that_no_earlier_row_has() {
    let bad = typed(422, &[], r#"{"error":{"code":"invalid","message":"no such column"}}"#);
    let down = typed(503, &[], "");
    assert!(READ.failed_step(&down).is_some_and(|failed| failed.class == FailureClass::Transport));
    assert_eq!(READ.failed_step(&bad), None, "the model mends its own input");
    assert_eq!(Handled { opened: true, ..READ }.failed_step(&down), None, "the contract has the word");
    for usable in
        [typed(200, &[], r#"{"items":[1]}"#), typed(200, &[], r#"{"items":[]}"#), typed(206, &[], r#"{"items":[1]}"#)]
    {
        assert_eq!(READ.failed_step(&usable), None);
    }
    assert_eq!(READ.failed_judgement(Classification::Ok, None), None);
    assert_eq!(READ.failed_judgement(Classification::Ignored, None), None);
    let failed = READ.failed_judgement(Classification::Failed(CircuitKind::MalformedResponse), None).unwrap();
    assert_eq!((failed.class, failed.is_timed_out), (FailureClass::ContractMiss, false));
    assert!(READ.failed_step(&typed(504, &[], "")).is_some_and(|failed| failed.is_timed_out));
}
