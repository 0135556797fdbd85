//! What a person reads of an attempt.

use super::*;
use crate::cli::tests::samples;

#[test]
fn an_attempt_says_first_what_may_follow_and_why() {
    let moved = pb::Attempt {
        leaf: pb::Leaf::ComputeMove.into(),
        reason: pb::LeafReason::TransportFaultRepeated.into(),
        row: 5,
        sketch: None,
        ..samples::narrowed()
    };
    let draft = pb::Attempt {
        sketch: Some(pb::Sketch { reference: String::new(), ..pb::Sketch::default() }),
        cap_raised_because: String::new(),
        ..samples::narrowed()
    };
    let pages = [samples::narrowed(), draft, moved, samples::halted()].map(|one| page(&one, Paint::default()));
    samples::assert_golden("decide.txt", &pages.join("\n\n"));
}

#[test]
fn the_attempts_of_a_step_are_a_table() {
    let attempts = [samples::narrowed(), samples::halted()];
    samples::assert_golden("attempts.txt", &table(&attempts).draw(Paint::default()));
}

#[test]
fn every_reason_has_a_sentence() {
    let reasons = (1..).map_while(|number| pb::LeafReason::try_from(number).ok());
    let sentences: std::collections::BTreeSet<&str> = reasons.clone().map(why::sentence).collect();
    assert_eq!(sentences.len(), reasons.count());
    assert!(!sentences.contains(""));
}
