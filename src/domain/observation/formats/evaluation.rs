//! Scores of an evaluation: two scores of one snapshot are a wobble, which is a record and not a failure.

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
        let runs: Vec<(&str, &str)> = look
            .get("runs")?
            .items()
            .take(RUNS_MAX)
            .filter_map(|run| {
                Some((run.get("snapshot")?.raw(), run.get("score").filter(|score| !score.is_null()).map(Value::raw)?))
            })
            .collect();
        let differs = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() > f64::EPSILON,
            _ => a != b,
        };
        let wobbles = runs.iter().enumerate().any(|(at, (snapshot, score))| {
            runs.iter().skip(at + 1).any(|(other, second)| snapshot == other && differs(score, second))
        });
        if !wobbles {
            return None;
        }
        let finding = Finding::observed("another score for the same snapshot");
        Some(Finding { class: Some(FailureClass::ScoreWobble), ..finding })
    }
}
