use proptest::prelude::*;

use super::*;
use crate::domain::contract::{Facts, Observed, Standing, Threshold, TripContract};
use crate::domain::ids::{Code, SafeText};

/// A refusal by a row; the sequence tells apart two by the same row.
fn refusal(row: &'static CatalogueRow, event_seq: u64) -> Verdict<u8> {
    let contract = TripContract {
        row,
        breaker: Code::parse("ledger_reader").unwrap(),
        target: SafeText::cut("GET /entries", 96),
        observed: Observed::FirstFailure { slow_ms: None },
        threshold: Threshold::FailedProbe,
        state: Standing::UntilReleased,
        fallback: None,
        max_argument_bytes: None,
    };
    let trip = Trip { contract, retry_at: None, also_open: vec![], generation: 1, event_seq, facts: Facts::default() };
    Verdict::Refuse(Box::new(trip))
}

#[test]
fn of_two_refusals_the_one_whose_row_comes_first_wins() {
    for (at, first) in CATALOGUE.iter().enumerate() {
        assert_eq!(first.precedence(), at);
        for (behind, second) in CATALOGUE.iter().enumerate().skip(at + 1) {
            let (a, b) = (refusal(first, 1), refusal(second, 2));
            assert_eq!(a.clone().stricter(b.clone()), a, "{at} over {behind}");
            assert_eq!(b.stricter(a.clone()), a, "{at} over {behind}, asked the other way");
        }
    }
}

#[test]
fn of_two_refusals_by_one_row_the_first_told_stays() {
    for row in &CATALOGUE {
        assert_eq!(refusal(row, 1).stricter(refusal(row, 2)), refusal(row, 1));
    }
}

#[test]
fn a_refusal_wins_over_a_pass_whichever_comes_first() {
    for row in &CATALOGUE {
        let pass = || Verdict::Proceed(7);
        assert_eq!(pass().stricter(refusal(row, 1)), refusal(row, 1));
        assert_eq!(refusal(row, 1).stricter(pass()), refusal(row, 1));
    }
}

#[test]
fn of_two_passes_the_first_stays() {
    assert_eq!(Verdict::<u8>::Proceed(1).stricter(Verdict::Proceed(2)), Verdict::Proceed(1));
}

fn any_verdict() -> impl Strategy<Value = Verdict<u8>> {
    prop_oneof![
        1 => any::<u8>().prop_map(Verdict::Proceed),
        4 => (0..CATALOGUE.len(), any::<u64>()).prop_map(|(at, seq)| refusal(&CATALOGUE[at], seq)),
    ]
}

proptest! {
    #[test]
    fn the_stricter_of_three_does_not_depend_on_the_grouping(a in any_verdict(), b in any_verdict(), c in any_verdict()) {
        let left = a.clone().stricter(b.clone()).stricter(c.clone());
        prop_assert_eq!(left, a.stricter(b.stricter(c)));
    }

    #[test]
    fn the_stricter_of_a_verdict_and_itself_is_itself(a in any_verdict()) {
        prop_assert_eq!(a.clone().stricter(a.clone()), a);
    }

    #[test]
    fn the_stricter_is_one_of_the_two(a in any_verdict(), b in any_verdict()) {
        let won = a.clone().stricter(b.clone());
        prop_assert!(won == a || won == b);
    }
}
