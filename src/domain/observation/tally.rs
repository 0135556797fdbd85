//! The envelope rule (spec 3.2): what several answers in one come to.

use super::finding::Finding;
use super::{Cause, Observation};

/// The answers so far. Only how many there are of each sort is kept, and the first failure.
#[derive(Debug, Default)]
pub(super) struct Tally {
    usable: usize,
    is_cut: bool,
    empty: usize,
    failed: usize,
    first_failure: Option<Finding>,
    causes_differ: bool,
}

impl Tally {
    pub(super) fn add(&mut self, finding: Finding) {
        if finding.is_usable() || finding.observation == Observation::Context {
            self.usable += 1;
            self.is_cut |= finding.observation == Observation::Truncated;
        } else if !finding.is_failure() {
            self.empty += 1;
        } else {
            self.failed += 1;
            match &self.first_failure {
                None => self.first_failure = Some(finding),
                Some(first) => self.causes_differ |= first.cause != finding.cause,
            }
        }
    }

    /// What they come to; none where there was no answer at all.
    pub(super) fn finding(self) -> Option<Finding> {
        let Self { usable, is_cut, empty, failed, first_failure, causes_differ } = self;
        match (usable, empty, first_failure) {
            (0, 0, None) => None,
            (1.., _, Some(_)) => Some(Finding::truncated("some parts answered, others failed")),
            (1.., _, None) if is_cut => Some(Finding::truncated("a part is cut")),
            (1.., _, None) => Some(Finding::observed("a part holds something")),
            (0, _, None) => Some(Finding::empty("every part was answered, all are empty")),
            (0, 0, Some(first)) if !causes_differ => {
                Some(Finding { reason: "every part failed, for the same cause", ..first })
            }
            (0, 0, Some(_)) => {
                debug_assert!(failed > 1, "causes that differ are at least two");
                Some(Cause::Unexplained.because("every part failed, for causes that differ"))
            }
            (0, 1.., Some(first)) => {
                Some(Finding { reason: "some parts failed and the others are empty", spares_target: true, ..first })
            }
        }
    }
}
