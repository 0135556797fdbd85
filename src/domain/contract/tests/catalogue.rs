//! The catalogue is a table whose order decides; what must hold of its rows and of the closed words in them.

use std::collections::BTreeSet;

use super::super::catalogue::DO_NOT_WHILE_PROBING;
use super::*;
use crate::domain::signal::Signal;

#[test]
fn rows_are_numbered_from_1_to_15_in_order() {
    let mut numbers: Vec<u8> = CATALOGUE.iter().map(|row| row.number).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    numbers.dedup();
    assert_eq!(numbers, (1..=15).collect::<Vec<u8>>());
}

#[test]
fn rows_that_share_a_number_differ_by_their_fallback_only() {
    for pair in CATALOGUE.windows(2).filter(|pair| pair[0].number == pair[1].number) {
        let [with, without] = pair else { unreachable!("windows of two") };
        assert_eq!((with.condition, without.condition), (Condition::FallbackAdmissible, Condition::NoFallback));
        let with_fallback =
            if with.signal == Signal::AmbiguousEffect { Action::VerifyEffect } else { Action::SwitchToFallback };
        assert_eq!(with.action, with_fallback);
        assert!(with.depends_on_fallback() && without.depends_on_fallback());
        assert_eq!((with.signal, with.urgency, with.do_not), (without.signal, without.urgency, without.do_not));
    }
    let pairs = CATALOGUE.iter().filter(|row| row.depends_on_fallback()).count();
    assert_eq!(pairs, 2 * (CATALOGUE.len() - 15));
}

#[test]
fn every_row_is_found_by_its_signal_and_condition() {
    for row in &CATALOGUE {
        let found = CatalogueRow::find(row.signal, row.condition);
        assert!(found.is_some_and(|found| std::ptr::eq(found, row)), "{} {} is there twice", row.signal, row.condition);
    }
    assert_eq!(CatalogueRow::find(Signal::Latency, Condition::Billing), None);
}

#[test]
fn every_closed_word_is_used_by_a_row() {
    for signal in Signal::ALL {
        assert!(CATALOGUE.iter().any(|row| row.signal == *signal), "{signal}");
    }
    for action in Action::ALL {
        assert!(CATALOGUE.iter().any(|row| row.action == *action), "{action}");
    }
    for urgency in Urgency::ALL {
        assert!(CATALOGUE.iter().any(|row| row.urgency == *urgency), "{urgency}");
    }
    for condition in Condition::ALL {
        assert!(CATALOGUE.iter().any(|row| row.condition == *condition), "{condition}");
    }
}

#[test]
fn enum_words_are_unique_and_lead_back() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(
        all: &[T],
        word: fn(T) -> &'static str,
        back: fn(&str) -> Option<T>,
    ) {
        let words: BTreeSet<&str> = all.iter().map(|value| word(*value)).collect();
        assert_eq!(words.len(), all.len(), "a word is there twice: {words:?}");
        for value in all {
            assert_eq!(back(word(*value)), Some(*value));
        }
        assert_eq!(back(""), None);
    }
    check(Action::ALL, Action::word, Action::from_word);
    check(Urgency::ALL, Urgency::word, Urgency::from_word);
    check(Condition::ALL, Condition::word, Condition::from_word);
    check(Variant::ALL, Variant::word, Variant::from_word);
    check(Signal::ALL, Signal::word, Signal::from_word);
    check(CircuitKind::ALL, CircuitKind::word, CircuitKind::from_word);
    check(Phase::ALL, Phase::word, Phase::from_word);
}

/// A value of one list is never read as one of another: an action is no signal, no phase, no urgency.
#[test]
fn words_of_fields_that_stand_together_do_not_overlap() {
    let actions = Action::ALL.iter().map(|value| value.word());
    let signals = Signal::ALL.iter().map(|value| value.word());
    let urgencies = Urgency::ALL.iter().map(|value| value.word());
    let phases = Phase::ALL.iter().map(|value| value.word());
    let words: Vec<&str> = actions.chain(signals).chain(urgencies).chain(phases).collect();
    assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
}

/// `do_not` follows the words "do not"; N stands in one row only and nothing else is filled in.
#[test]
fn prohibitions_are_plain_text_with_one_number_at_most() {
    let texts =
        CATALOGUE.iter().map(|row| (row.action, row.do_not)).chain([(Action::AwaitRecovery, DO_NOT_WHILE_PROBING)]);
    for (action, text) in texts {
        assert!(text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.ends_with('.'), "{text}");
        assert_eq!(text.contains("{bytes}"), action == Action::ReducePayload, "{text}");
        assert!(!text.replace("{bytes}", "").contains(['{', '}', '"', '\\', '\n']), "{text}");
    }
}

#[test]
fn the_experimental_variants_are_those_that_break_the_nine_fields() {
    for variant in Variant::ALL {
        assert_eq!(variant.is_experimental(), !COMPLETE.contains(variant), "{variant}");
    }
    assert_eq!(ContractSettings::default().wordings.default_wording(), &Variant::Contract.into());
}
