//! Places of running calls, against a list that is searched from end to end.

use proptest::prelude::*;

use super::*;

/// What is done to the places of one breaker.
#[derive(Clone, Copy, Debug)]
enum Step {
    Take { lease_ms: u64 },
    GiveBack(u64),
    Wait(u64),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1..50_u64).prop_map(|lease_ms| Step::Take { lease_ms }),
        (0..40_u64).prop_map(Step::GiveBack),
        (0..20_u64).prop_map(Step::Wait),
    ]
}

proptest! {
    #[test]
    fn places_are_those_of_calls_that_have_not_returned_and_whose_lease_runs(
        steps in prop::collection::vec(any_step(), 0..60),
        cap in 1..8_u32,
    ) {
        let cap = NonZeroU32::new(cap).unwrap();
        let (mut running, mut list): (Running, Vec<(u64, Timestamp)>) = (Running::default(), vec![]);
        let (mut now, mut seq) = (Timestamp(1), 0);
        for step in steps {
            match step {
                Step::Take { lease_ms } if running.at(now) < cap.get() => {
                    seq += 1;
                    running.take(seq, now.plus_ms(lease_ms));
                    list.push((seq, now.plus_ms(lease_ms)));
                }
                Step::Take { .. } => {}
                Step::GiveBack(of) => {
                    running.give_back(of);
                    list.retain(|(seq, _)| *seq != of);
                }
                Step::Wait(ms) => now = now.plus_ms(ms),
            }
            list.retain(|(_, end)| *end > now);
            // Asked before the expired are swept: a look is the same before and after.
            let free_from = running.free_from(cap, now);
            prop_assert_eq!(running.at(now) as usize, list.len());
            prop_assert_eq!(running.free_from(cap, now), free_from);
            let first_end = list.iter().map(|(_, end)| *end).min();
            let wanted = first_end.filter(|_| list.len() >= cap.get() as usize).unwrap_or(Timestamp(0));
            prop_assert_eq!(free_from, wanted);
        }
    }
}

#[test]
fn a_lower_cap_waits_for_as_many_as_are_over_it() {
    let mut running = Running::default();
    for seq in 1..=3 {
        running.take(seq, Timestamp(seq * 10));
    }
    let cap = NonZeroU32::new(2).unwrap();
    assert_eq!(running.free_from(cap, Timestamp(0)), Timestamp(20));
    assert_eq!(running.free_from(cap, Timestamp(20)), Timestamp(0));
}

#[test]
fn a_breaker_without_running_calls_keeps_nothing() {
    let mut running = Running::default();
    running.take(1, Timestamp(10));
    assert!(running.heap_bytes() > 0);
    running.give_back(1);
    assert_eq!(running.at(Timestamp(1)), 0);
    assert_eq!(running.heap_bytes(), 0);
}
