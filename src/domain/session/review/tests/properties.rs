use proptest::prelude::*;

use super::*;

/// Pieces of answers that the rules look for, and the signs between them.
const PIECES: &[&str] = &[
    "55%",
    "0",
    "1.",
    "\n",
    "。",
    "，",
    "no",
    "errors",
    "none",
    "unknown",
    "query_loki_logs",
    "root cause is",
    "but",
    "根因是",
    "没有",
    "错误",
    "无法确定",
    "三百",
    "毫秒",
    "百分之",
    "-",
    "|",
    "#",
    ":",
    "4bf92f3577b34da6a3ce929d0e0e4736",
    "validator",
    "v2.5.0",
    "排除",
    "total",
    "at least",
    "é",
    "\u{1f600}",
    "İ",
    "\u{200b}",
    "１２％",
    "12:30",
    "2026-09-01",
    "/",
    "$",
    "?",
    "percent",
];
const SETS: &[&str] = &["real", "empty", "failed", "mixed", "capped", "foreign", "none"];

fn full() -> Given {
    let mut given = Given::default();
    given.with("required", "query_loki_logs");
    given.with("excluded", "the validator of v2.5.0");
    given.with("excluded", "数据库错误");
    given.with("known", "trace 00f067aa0ba902b7");
    given
}

fn answers() -> impl Strategy<Value = String> {
    let pieces = proptest::collection::vec((proptest::sample::select(PIECES), any::<bool>()), 0..40);
    let joined = pieces.prop_map(|pieces| {
        pieces.into_iter().flat_map(|(piece, is_spaced)| [piece, if is_spaced { " " } else { "" }]).collect::<String>()
    });
    prop_oneof![joined, "\\PC{0,200}", proptest::collection::vec(any::<char>(), 0..80).prop_map(String::from_iter)]
}

proptest! {
    #[test]
    fn any_answer_is_judged_and_twice_alike(answer in answers(), set in proptest::sample::select(SETS)) {
        let (given, ledger) = (full(), rows(set));
        let verdict = given.review(&ledger, &answer);
        prop_assert_eq!(&verdict, &given.review(&ledger, &answer));
        if let Verdict::SendBack { message, .. } = &verdict {
            prop_assert!(message.len() <= MESSAGE_BYTES_MAX);
            let again = Given { was_sent_back: true, ..full() }.review(&ledger, &answer);
            prop_assert!(matches!(again, Verdict::AllowUnsupported { .. }), "{again:?}");
        }
    }

    #[test]
    fn the_order_of_the_rows_does_not_matter(answer in answers(), order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle(), failing in 0_usize..3) {
        let down = ("query_loki_logs", Came::Fault(ErrorKind::ConnectRefused));
        let calls: Vec<_> = SEED.iter().copied().skip(failing * 2).chain(std::iter::repeat_n(down, failing)).collect();
        let shuffled: Vec<_> = order.iter().filter_map(|at| calls.get(*at)).copied().collect();
        let given = full();
        prop_assert_eq!(given.review(&ledger_of(&calls), &answer), given.review(&ledger_of(&shuffled), &answer));
    }

    #[test]
    fn an_id_of_a_payload_is_never_called_invented(numbers in proptest::collection::vec(1_u128.., 1..20), is_upper in any::<bool>()) {
        let ids: Vec<String> = numbers
            .iter()
            .map(|number| if number % 3 == 0 { format!("{:016x}", (number >> 64).max(1)) } else { format!("{number:032x}") })
            .map(|id| if is_upper { id.to_uppercase() } else { id })
            .collect();
        let payload = serde_json::json!({ "traces": ids.iter().map(|id| serde_json::json!({ "traceID": id })).collect::<Vec<_>>() });
        let ledger = ledger_of(&[("query_tempo_traces", Came::With(&payload.to_string()))]);
        prop_assert_eq!(written(&Given::default().review(&ledger, &ids.join(" and "))), "ok");
    }
}
