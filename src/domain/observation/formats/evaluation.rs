//! Scores of an evaluation: two scores of one snapshot are a wobble, which is a record and not a failure.

use std::collections::BTreeMap;

use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::PayloadFormat;
use crate::domain::document::Value;
use crate::domain::failure::FailureClass;

/// Runs with a snapshot and a score.
pub(super) struct Evaluation;

/// Of one answer, so many runs are compared.
const RUNS_MAX: usize = 256;

impl PayloadFormat for Evaluation {
    fn format(&self) -> Format {
        Format::Evaluation
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        look.get("runs").is_some_and(|runs| {
            runs.items().take(4).any(|run| run.get("snapshot").is_some() && run.get("score").is_some())
        })
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let runs = look.get("runs")?.items().take(RUNS_MAX);
        let mut first_scores = BTreeMap::new();
        let wobbles = runs
            .filter_map(|run| Some((run.get("snapshot")?.raw(), run.get("score").filter(|score| !score.is_null())?)))
            .any(|(snapshot, score)| differs(*first_scores.entry(snapshot).or_insert(score), score));
        if !wobbles {
            return None;
        }
        let finding = Finding::observed("another score for the same snapshot");
        Some(Finding { class: Some(FailureClass::ScoreWobble), ..finding })
    }
}

/// Whether two scores are not the same, as numbers where they are numbers.
fn differs(first: Value<'_>, second: Value<'_>) -> bool {
    match (first.as_f64(), second.as_f64()) {
        (Some(first), Some(second)) => (first - second).abs() > f64::EPSILON,
        _ => first.raw() != second.raw(),
    }
}
