//! One row a target.

use super::*;
use crate::cli::tests::samples;
use crate::cli::text::Paint;

fn seen() -> (Vec<String>, Vec<Seen>) {
    let callable = |probe| Seen::Callable(pb::Callable { breaker: "payments_api_v1".to_owned(), probe });
    let error = pb::ItemError { field: "targets[3].target".to_owned(), message: "is empty".to_owned() };
    let targets = ["POST /v1/charge", "GET /ledger", "POST /v2/charge", ""].map(ToOwned::to_owned);
    (targets.to_vec(), vec![callable(false), callable(true), Seen::Trip(samples::trip()), Seen::Error(error)])
}

#[test]
fn each_target_is_a_row() {
    let (targets, results) = seen();
    samples::assert_golden("peek.txt", &table(&targets, &results).draw(Paint::default()));
    let lines = targets.iter().zip(&results).map(|(target, seen)| object(target, seen).line().unwrap());
    samples::assert_golden("peek.jsonl", &lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_worst_answer_is_the_status() {
    let (_, results) = seen();
    assert_eq!(status(&results), ExitCode::FAILURE);
    assert_eq!(status(&results[..3]), ExitCode::from(TRIPPED));
    assert_eq!(status(&results[..2]), ExitCode::SUCCESS);
}
