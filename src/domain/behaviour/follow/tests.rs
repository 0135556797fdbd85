//! Whatever comes: each trip that is told is concluded once and resolved once, and nothing grows.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::domain::behaviour::telling::{CallKey, Way};
use crate::domain::ids::Code;
use crate::domain::signal::Signal;

/// One thing that happens, as small numbers.
#[derive(Clone, Debug)]
enum Happens {
    Told { breaker: u8, signal: u8, action: u8, call: u8, until: Option<u8>, lane: u8, is_of_result: bool },
    Called { call: u8, lane: u8, next_step: bool },
    Returned { call: u8, breaker: u8, lane: u8 },
    Task,
    Waits(u8),
}

fn happens() -> impl Strategy<Value = Happens> {
    let told = (0..3_u8, 0..2_u8, 0..9_u8, 0..6_u8, prop::option::of(0..9_u8), 0..2_u8, any::<bool>());
    let told = told.prop_map(|(breaker, signal, action, call, until, lane, is_of_result)| Happens::Told {
        breaker,
        signal,
        action,
        call,
        until,
        lane,
        is_of_result,
    });
    let called =
        (0..6_u8, 0..2_u8, any::<bool>()).prop_map(|(call, lane, next_step)| Happens::Called { call, lane, next_step });
    let returned =
        (0..6_u8, 0..3_u8, 0..2_u8).prop_map(|(call, breaker, lane)| Happens::Returned { call, breaker, lane });
    prop_oneof![
        4 => told,
        6 => called,
        2 => returned,
        1 => Just(Happens::Task),
        2 => (0..9_u8).prop_map(Happens::Waits),
    ]
}

fn key(call: u8) -> CallKey {
    let call = u64::from(call);
    CallKey { tool: call / 3 + 1, target: call / 2 + 1, arguments: call + 1, identity: call / 2 + 1 }
}

fn telling(what: &Happens, moment: Moment) -> Option<Telling> {
    let Happens::Told { breaker, signal, action, call, until, is_of_result, .. } = *what else { return None };
    let signal = [Signal::ErrorRate, Signal::NoProgress][usize::from(signal)];
    let label = Label { breaker: Code::from_target(&format!("b{breaker}")), signal, variant: Code::from_target("v") };
    Some(Telling {
        label,
        action: Action::ALL[usize::from(action)],
        breaker: u64::from(breaker),
        call: key(call),
        ways: vec![Way { tool: 2, target: 9 }],
        max_argument_bytes: Some(10),
        until: until.map(|after| moment.at.plus_ms(u64::from(after))),
        epoch: 0,
        moment,
        text: 0,
        is_of_result,
    })
}

/// Plays a history to its end, and answers all facts.
fn play(history: &[Happens], outcome: SessionOutcome) -> Vec<Fact> {
    play_over(history, outcome, |follow_ups| follow_ups)
}

/// The same, with something done to the follow-ups before each thing that happens.
fn play_over(history: &[Happens], outcome: SessionOutcome, over: fn(FollowUps) -> FollowUps) -> Vec<Fact> {
    let (mut follow_ups, mut facts) = (FollowUps::default(), vec![]);
    let (mut now, mut steps) = (Timestamp(0), [1_u32; 2]);
    for what in history {
        follow_ups = over(follow_ups);
        let moment = |lane: u8| Moment { lane: lane.into(), step: steps[usize::from(lane)], at: now };
        match what {
            Happens::Told { lane, .. } => follow_ups.told(telling(what, moment(*lane)).unwrap(), &mut facts),
            Happens::Called { call, lane, next_step } => {
                steps[usize::from(*lane)] += u32::from(*next_step);
                let (step, lane) = (steps[usize::from(*lane)], u64::from(*lane));
                let next = NextCall { key: key(*call), argument_bytes: Some(7), epoch: 0, lane, step, at: now };
                follow_ups.called(&next, &mut facts);
            }
            Happens::Returned { call, breaker, lane } => {
                let (breaker, moment) = (u64::from(*breaker), moment(*lane));
                follow_ups.returned(&UsableResult { key: key(*call), breaker, moment }, &mut facts);
            }
            Happens::Task => follow_ups.end_task(&mut facts),
            Happens::Waits(ms) => {
                now = now.plus_ms(u64::from(*ms));
                follow_ups.settle(now, &mut facts);
            }
        }
        assert!(follow_ups.len() <= TRIPS_MAX);
    }
    follow_ups.end(outcome, None, &mut facts);
    facts
}

/// Trips told, concluded and resolved, by label.
fn counts(facts: &[Fact]) -> BTreeMap<String, [u32; 3]> {
    let mut counts: BTreeMap<String, [u32; 3]> = BTreeMap::new();
    for fact in facts {
        let Some(label) = fact.label() else { continue };
        let at = match fact {
            Fact::Told(..) => 0,
            Fact::Concluded(_) => 1,
            Fact::Resolved { .. } => 2,
            Fact::Ended(_) => continue,
        };
        counts.entry(format!("{label:?}")).or_default()[at] += 1;
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_trip_is_concluded_once_and_resolved_once(
        history in prop::collection::vec(happens(), 0..200),
        outcome in prop::sample::select(SessionOutcome::ALL),
    ) {
        let facts = play(&history, outcome);
        for (label, [told, concluded, resolved]) in counts(&facts) {
            prop_assert_eq!((told, told), (concluded, resolved), "{}", label);
        }
        let ends = facts.iter().filter(|fact| matches!(fact, Fact::Ended(_))).count();
        prop_assert_eq!(ends, 1);
    }

    #[test]
    fn what_is_written_down_and_read_again_says_the_same(
        history in prop::collection::vec(happens(), 0..100),
        outcome in prop::sample::select(SessionOutcome::ALL),
    ) {
        let restarted = |it: FollowUps| serde_json::from_slice(&serde_json::to_vec(&it).unwrap()).unwrap();
        prop_assert_eq!(play_over(&history, outcome, restarted), play(&history, outcome));
    }

    /// A first action that is a repeat is counted as one; each call is one repeat of a label at most; and what a session
    /// had come to before each conclusion is what its conclusions say.
    #[test]
    fn the_counts_of_a_conclusion_agree_with_each_other(history in prop::collection::vec(happens(), 0..200)) {
        let calls = history.iter().filter(|what| matches!(what, Happens::Called { .. })).count() as u32;
        let mut sums: BTreeMap<String, (u32, u32, u32, Cluster)> = BTreeMap::new();
        for fact in play(&history, SessionOutcome::Answered) {
            let Fact::Concluded(conclusion) = fact else { continue };
            let Conclusion { label, first_action, repeats, ignored, of_signal, .. } = &*conclusion;
            let (trips, all_repeats, all_ignored, cluster) = sums.entry(format!("{label:?}")).or_default();
            prop_assert_eq!(of_signal, &*cluster);
            cluster.trips += 1;
            cluster.repeated += u32::from(*repeats > 0);
            cluster.matched += u32::from(*first_action == FirstAction::Match);
            *trips += 1;
            *all_repeats += repeats;
            *all_ignored += ignored;
            prop_assert!(*all_repeats + *all_ignored <= calls);
            prop_assert!(*first_action != FirstAction::None || *repeats + *ignored == 0);
        }
    }

    /// What the calls of one step do to a trip does not hang on their order, but for the first of them.
    #[test]
    fn the_order_of_calls_in_one_step_changes_no_count(
        calls in prop::collection::vec(0..6_u8, 1..6), action in 0..9_u8, until in prop::option::of(0..9_u8),
    ) {
        let told = Happens::Told { breaker: 1, signal: 0, action, call: 0, until, lane: 0, is_of_result: false };
        let count = |calls: &mut dyn Iterator<Item = u8>| -> (u32, u32) {
            let mut history = vec![told.clone()];
            let called = |(at, call): (usize, u8)| Happens::Called { call, lane: 0, next_step: at == 0 };
            history.extend(calls.enumerate().map(called));
            let facts = play(&history, SessionOutcome::Abandoned);
            facts.iter().fold((0, 0), |(repeats, ignored), fact| match fact {
                Fact::Concluded(of) => (repeats + of.repeats, ignored + of.ignored),
                Fact::Told(..) | Fact::Resolved { .. } | Fact::Ended(_) => (repeats, ignored),
            })
        };
        prop_assert_eq!(count(&mut calls.iter().copied()), count(&mut calls.iter().rev().copied()));
    }
}

#[test]
fn a_flood_of_trips_and_labels_stays_in_its_bounds() {
    let (mut follow_ups, mut facts) = (FollowUps::default(), vec![]);
    for at in 0..1_000_u32 {
        let what =
            Happens::Told { breaker: 0, signal: 0, action: 4, call: 0, until: None, lane: 0, is_of_result: false };
        let moment = Moment { lane: 0, step: at, at: Timestamp(at.into()) };
        let label = Label {
            breaker: Code::from_target(&format!("b{at}")),
            signal: Signal::ErrorRate,
            variant: Code::from_target("v"),
        };
        follow_ups.told(Telling { label, ..telling(&what, moment).unwrap() }, &mut facts);
        for call in 0..100 {
            let call = CallKey { arguments: call, ..key(0) };
            let again = Telling { call, ..telling(&what, moment).unwrap() };
            let label = Label { breaker: Code::from_target(&format!("b{at}")), ..again.label.clone() };
            follow_ups.told(Telling { label, ..again }, &mut facts);
        }
    }
    assert_eq!((follow_ups.len(), follow_ups.labels.len()), (TRIPS_MAX, LABELS_MAX));
    assert!(follow_ups.trips.iter().all(|trip| trip.asked.calls.len() == CALLS_MAX));
    follow_ups.end(SessionOutcome::Abandoned, None, &mut facts);
    assert!(counts(&facts).values().all(|counts| *counts == [1, 1, 1]));
}
