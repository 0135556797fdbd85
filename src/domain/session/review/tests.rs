//! The review against its table, the golden dual-part job, and what must hold for any text.

mod golden;
mod properties;

use super::*;
use crate::domain::observation::transport::ErrorKind;
use crate::domain::session::evidence::EvidenceLedger;
use crate::domain::session::evidence::tests::{Came, SEED, ledger_of};

const CAPPED_TOTAL_STATED: &str = r#"{"took":5,"timed_out":false,"_shards":{"total":1,"successful":1,"failed":0},"hits":{"total":{"value":1234,"relation":"eq"},"hits":[{"_id":"1"}]}}"#;

/// The rows that a table names.
fn rows(name: &str) -> EvidenceLedger {
    let logs_down = ("query_loki_logs", Came::Fault(ErrorKind::ConnectRefused));
    match name {
        "real" => ledger_of(&SEED),
        "empty" => ledger_of(&[SEED[0], SEED[2], SEED[4], SEED[6], SEED[7]]),
        "failed" => ledger_of(&[("query_prometheus", Came::Status(503, "")), logs_down]),
        "mixed" => ledger_of(&[SEED[1], logs_down]),
        "recovered" => ledger_of(&[("query_prometheus", Came::Status(503, "")), SEED[1]]),
        "capped" => ledger_of(&[SEED[5], SEED[4]]),
        "stated" => ledger_of(&[("query_loki_logs", Came::With(CAPPED_TOTAL_STATED))]),
        "foreign" => ledger_of(&[("frobnicate", Came::With(r#"{"queue":[1,2,3]}"#))]),
        "none" => ledger_of(&[]),
        _ => panic!("no rows `{name}`"),
    }
}

/// Everything but the rows and the answer.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) required: Vec<SafeText>,
    exhausted: Vec<SafeText>,
    pub(super) excluded: Vec<Box<str>>,
    known: Vec<Box<str>>,
    is_strict: bool,
    was_sent_back: bool,
}

impl Given {
    fn with(&mut self, key: &str, value: &str) {
        match key {
            "required" => self.required.push(SafeText::cut(value, 128)),
            "exhausted" => self.exhausted.push(SafeText::cut(value, 128)),
            "excluded" => self.excluded.push(value.into()),
            "known" => self.known.push(value.into()),
            "strict" => self.is_strict = true,
            _ => panic!("no key `{key}`"),
        }
    }

    pub(super) fn review(&self, ledger: &EvidenceLedger, answer: &str) -> Verdict {
        review(&ReviewInput {
            task: ledger.of_task(1),
            answer,
            required_tools: &self.required,
            exhausted_tools: &self.exhausted,
            excluded_hypotheses: &self.excluded,
            known_ids: &self.known,
            seen_ids: ledger.ids(),
            keywords: Keywords::built_in(),
            is_strict: self.is_strict,
            was_sent_back: self.was_sent_back,
        })
    }
}

/// A verdict as a table writes it.
fn written(verdict: &Verdict) -> String {
    let words = |rules: &[ReviewRule]| rules.iter().map(|rule| rule.word()).collect::<Vec<_>>().join(",");
    match verdict {
        Verdict::Allow { cautions } if cautions.is_empty() => "ok".to_owned(),
        Verdict::Allow { cautions } => format!("caution {}", words(cautions)),
        Verdict::SendBack { rule, also, .. } => format!("back {}", words(&[&[*rule], also.as_slice()].concat())),
        Verdict::AllowUnsupported { rule, also, .. } => {
            format!("unsupported {}", words(&[&[*rule], also.as_slice()].concat()))
        }
    }
}

#[test]
fn every_line_of_the_table_holds() {
    let table = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/review/review.table"));
    let (mut ledger, mut given, mut failed, mut lines) = (rows("none"), Given::default(), String::new(), 0);
    for (at, line) in table.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("rows ") {
            (ledger, given) = (rows(name), Given::default());
        } else if let Some((key, value)) = line.strip_prefix("with ").and_then(|rest| rest.split_once(' ')) {
            given.with(key, value);
        } else {
            let (expected, answer) = line.split_once(" <- ").unwrap();
            lines += 1;
            let verdict = given.review(&ledger, &answer.replace("\\n", "\n"));
            let got = written(&verdict);
            let first = |text: &str| text.split(',').next().unwrap().to_owned();
            let fits = if expected.contains(',') { got == expected } else { first(&got) == *expected };
            if !fits {
                failed += &format!("line {}: {got}, not {expected}: {answer}\n", at + 1);
            }
        }
    }
    assert!(failed.is_empty() && lines > 150, "{lines} lines\n{failed}");
}

#[test]
fn the_message_lists_rows_and_what_is_acceptable_and_quotes_nothing() {
    let answer =
        "The decline rate is 55.5% because the frabjous validator of trace 4bf92f3577b34da6a3ce929d0e0e4736 broke.";
    let Verdict::SendBack { rule, also, message, .. } = Given::default().review(&rows("empty"), answer) else {
        panic!()
    };
    assert_eq!((rule, also), (ReviewRule::NoUsableEvidence, vec![ReviewRule::InventedIdentifier]));
    let expected = "\
ANSWER REVIEW: sent back (no_usable_evidence, invented_identifier). It may be sent back once; then it is shown as unsupported.
Rows of this task by tool and state: discover_metrics_tool: context, k8s_pod_status_tool: empty, query_loki_logs: empty, query_prometheus: empty, query_tempo_traces: empty.
- No row of this task is usable as evidence, yet the answer states a conclusion or quotes a number with a unit. Rewrite it: say which checks you ran and that each returned nothing usable; state no cause and no figure.
- 1 trace or span id(s) of the answer occur in no result of this session and were not given by the user. Copy ids from results, or leave them out.
An acceptable answer says which checks were made and what each returned, cites only rows that are observed or truncated, keeps the figures that were measured, and gives as Unknown, with the tool named, what was not measured.";
    assert_eq!(message, expected);
    for quoted in ["55.5", "frabjous", "4bf9", "payment_declines_total"] {
        assert!(!message.contains(quoted));
    }
}

#[test]
fn the_message_stays_in_its_bound_with_everything_broken_at_once() {
    let long = |n: usize| format!("{n}{}", "\\\"工具".repeat(40));
    let names: Vec<String> = (0..40).map(long).collect();
    let calls: Vec<_> = names.iter().map(|name| (name.as_str(), Came::Status(503, ""))).collect();
    let ledger = ledger_of(&calls);
    let mut given = Given { is_strict: true, ..Given::default() };
    for n in 100..140 {
        given.with("required", &long(n));
        given.with(if n % 2 == 0 { "exhausted" } else { "required" }, &long(n));
        given.with("excluded", &format!("validator {}", "\\\"详".repeat(100)));
    }
    let answer =
        format!("No errors. Unknown. The rate is 5%. {} {}", given.excluded[0], "4bf92f3577b34da6a3ce929d0e0e4736");
    let verdict = given.review(&ledger, &answer);
    let Verdict::SendBack { message, also, .. } = &verdict else { panic!("{verdict:?}") };
    assert_eq!(also.len(), 5, "{also:?}");
    assert!(message.len() <= MESSAGE_BYTES_MAX, "{}", message.len());
}

#[test]
fn an_answer_is_sent_back_once_in_a_task_and_epoch_and_then_shown_as_unsupported() {
    let (ledger, mut sent) = (rows("empty"), SendBacks::default());
    let mut judge = |task: u64, epoch: u32, answer: &str| {
        let given = Given { was_sent_back: sent.was_sent_back(task, epoch), ..Given::default() };
        let verdict = given.review(&ledger, answer);
        sent.note(task, epoch, &verdict);
        written(&verdict)
    };
    let bad = "The error rate is 55%.";
    assert_eq!(judge(1, 0, "Nothing was found."), "ok");
    assert_eq!(judge(1, 0, bad), "back no_usable_evidence");
    assert_eq!(judge(1, 0, bad), "unsupported no_usable_evidence");
    assert_eq!(judge(1, 0, bad), "unsupported no_usable_evidence");
    assert_eq!(judge(1, 0, "Nothing was found."), "ok");
    assert_eq!(judge(1, 1, bad), "back no_usable_evidence");
    assert_eq!(judge(2, 1, bad), "back no_usable_evidence");
    assert_eq!(judge(1, 1, bad), "unsupported no_usable_evidence");
}

#[test]
fn required_and_exhausted_are_two_lists() {
    let ledger = rows("mixed");
    let mut given = Given::default();
    given.with("required", "query_loki_logs");
    let told = |given: &Given| {
        let verdict = given.review(&ledger, "The rate is 1.304.");
        let Verdict::SendBack { rule: ReviewRule::RequiredMissing, message, .. } = verdict else {
            panic!("{verdict:?}")
        };
        message
    };
    assert!(told(&given).contains(" Call, or give as Unknown with the tool named: query_loki_logs."));
    given.with("exhausted", "query_loki_logs");
    assert!(told(&given).contains(" Halted for this task, so give as Unknown with the tool named: query_loki_logs."));
    assert!(given.required.iter().any(|tool| tool.as_str() == "query_loki_logs"));
}

#[test]
fn the_review_is_silent_on_absence_where_the_rows_that_may_disprove_it_had_to_go() {
    let (usable, failing) = (SEED[1], ("query_loki_logs", Came::Fault(ErrorKind::ConnectRefused)));
    let mut calls = vec![usable];
    calls.extend(std::iter::repeat_n(failing, crate::domain::session::evidence::ROWS_MAX));
    let mut given = Given::default();
    given.with("required", "query_prometheus");
    assert_eq!(written(&given.review(&ledger_of(&calls), "The rate is 55% and there were no errors.")), "ok");
}

#[test]
fn no_id_is_called_invented_once_the_set_overflowed() {
    let many: String = (1..=4_200).map(|n| format!("{n:032x} ")).collect();
    let ledger = ledger_of(&[SEED[1], ("query_tempo_traces", Came::With(&many))]);
    let answer = "See 4bf92f3577b34da6a3ce929d0e0e4736.";
    assert_eq!(written(&Given::default().review(&ledger, answer)), "ok");
}

#[test]
fn a_configured_word_counts() {
    let mut keywords = Keywords::default();
    keywords.add(keywords::WordList::Conclusion, "Schuld ist").unwrap();
    let ledger = rows("empty");
    let input = |keywords| ReviewInput {
        task: ledger.of_task(1),
        answer: "Schuld ist der Validator.",
        required_tools: &[],
        exhausted_tools: &[],
        excluded_hypotheses: &[],
        known_ids: &[],
        seen_ids: ledger.ids(),
        keywords,
        is_strict: false,
        was_sent_back: false,
    };
    assert_eq!(written(&review(&input(Keywords::built_in()))), "ok");
    assert_eq!(written(&review(&input(&keywords))), "back no_usable_evidence");
}
