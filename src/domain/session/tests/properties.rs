use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::super::call::{Ask, ToolName, Wave};
use super::super::policy::{ProgressPolicy, SessionPolicy};
use super::super::progress::{Progress, ProgressLedger};
use super::super::{ENTRIES_MAX, Session};
use super::world::{Call, Op, Result, TOOLS, any_call, any_history};
use crate::domain::ids::SafeText;
use crate::domain::time::Timestamp;

fn strictness(progress: &Progress) -> u8 {
    match progress {
        Progress::Nothing => 0,
        Progress::Steer(_) => 1,
        Progress::Halt(_) => 2,
    }
}

fn play(ledger: &mut ProgressLedger, history: &[Op]) {
    let (policy, name) = (ProgressPolicy::default(), SafeText::cut("target", 96));
    for op in history {
        match *op {
            Op::Report(call) => drop(ledger.observe(&policy, &call.report(&name))),
            Op::Admit { tool, may_probe } => drop(ledger.judge_admit(&policy, tool, None, may_probe)),
            Op::Recovered(target) => ledger.target_recovered(target),
            Op::Epoch => ledger.advance_epoch(),
            Op::Task => ledger.new_task(),
        }
    }
}

/// What a wave came to for each tool, and what follows after it.
fn outcome(before: &ProgressLedger, wave: &[Call], after: &[Call]) -> (BTreeMap<u64, u8>, Vec<String>) {
    let (policy, name) = (ProgressPolicy::default(), SafeText::cut("target", 96));
    let mut ledger = before.clone();
    let mut verdicts: BTreeMap<u64, u8> = BTreeMap::new();
    for call in wave {
        let strict = strictness(&ledger.observe(&policy, &call.report(&name)));
        let verdict = verdicts.entry(call.tool).or_default();
        *verdict = strict.max(*verdict);
    }
    let mut left: Vec<String> =
        TOOLS.map(|tool| format!("{:?}", ledger.judge_admit(&policy, tool, None, false))).collect();
    left.extend(after.iter().map(|call| format!("{:?}", ledger.observe(&policy, &call.report(&name)))));
    left.push(ledger.steers_that_halted().to_string());
    (verdicts, left)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_concurrent_reports_in_a_wave_changes_the_verdict(
        history in any_history(60),
        (wave, shuffled) in proptest::collection::vec(any_call(), 1..7)
            .prop_flat_map(|wave| (Just(wave.clone()), Just(wave).prop_shuffle())),
        after in proptest::collection::vec(any_call(), 0..8),
    ) {
        let mut ledger = ProgressLedger::default();
        play(&mut ledger, &history);
        let of_wave = |calls: Vec<Call>| -> Vec<Call> {
            calls.into_iter().map(|call| Call { wave: Some(999), now: 200_000, ..call }).collect()
        };
        let after: Vec<Call> = after.into_iter().map(|call| Call { now: 201_000, ..call }).collect();
        let (wave, shuffled) = (of_wave(wave), of_wave(shuffled));
        prop_assert_eq!(outcome(&ledger, &wave, &after), outcome(&ledger, &shuffled, &after));
    }

    #[test]
    fn after_a_halt_no_path_leads_to_another_call_of_the_tool_but_its_targets_recovery(history in any_history(150)) {
        let (policy, name) = (ProgressPolicy::default(), SafeText::cut("target", 96));
        let mut ledger = ProgressLedger::default();
        // Halted tools of this task, and whether a recovery may end it.
        let mut halted: BTreeMap<u64, bool> = BTreeMap::new();
        for op in &history {
            match *op {
                Op::Report(call) => {
                    let progress = ledger.observe(&policy, &call.report(&name));
                    // A good result of the target in the same wave ends a halt, whichever came first.
                    let is_ended = call.wave.is_some() && !ledger.is_exhausted(call.tool);
                    if let Progress::Halt(halt) = progress
                        && !(halt.is_on_target && is_ended)
                    {
                        let is_on_target = halted.entry(call.tool).or_insert(halt.is_on_target);
                        *is_on_target &= halt.is_on_target;
                    }
                    if !matches!(call.result, Result::Error(_) | Result::Down(_) | Result::Ours) {
                        halted.retain(|_, is_on_target| !*is_on_target); // may have ended it
                    }
                }
                Op::Recovered(target) => {
                    ledger.target_recovered(target);
                    halted.retain(|_, is_on_target| !*is_on_target);
                }
                Op::Task => {
                    ledger.new_task();
                    halted.clear();
                }
                Op::Epoch => ledger.advance_epoch(),
                Op::Admit { .. } => {}
            }
            for (tool, is_on_target) in &halted {
                let wave = Some(Wave { lane: 0, id: 3, turn: 9 });
                let plain = ledger.judge_admit(&policy, *tool, wave, false);
                prop_assert!(plain.is_some());
                let probe = ledger.judge_admit(&policy, *tool, wave, true);
                prop_assert!(*is_on_target || probe.is_some());
            }
        }
    }

    #[test]
    fn a_halt_comes_after_a_steer_and_a_steer_is_not_repeated(history in any_history(150)) {
        let (policy, name) = (ProgressPolicy::default(), SafeText::cut("target", 96));
        let mut ledger = ProgressLedger::default();
        let mut steered: BTreeSet<u64> = BTreeSet::new();
        for op in &history {
            let Op::Report(call) = *op else { play(&mut ledger, &[*op]); continue };
            match ledger.observe(&policy, &call.report(&name)) {
                Progress::Steer(_) => { steered.insert(call.tool); }
                Progress::Halt(_) => prop_assert!(steered.contains(&call.tool)),
                Progress::Nothing => {}
            }
        }
    }
}

#[test]
fn memory_stays_in_its_bound_whatever_comes() {
    let name = SafeText::cut("target", 96);
    let mut session = Session::new(Arc::new(SessionPolicy::default()));
    let mut dice = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = |below: u64| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice % below
    };
    let mut most = 0;
    for step in 0..40_000_u64 {
        let result = match draw(6) {
            0 => Result::Empty,
            1 => Result::Error(draw(1_000)),
            2 => Result::Down(draw(1_000)),
            _ => Result::Usable(draw(1_000_000)),
        };
        let call = Call {
            tool: 1 + draw(2_000),
            arguments: draw(1_000_000),
            purpose: draw(50),
            target: 1 + draw(1_000),
            result,
            wave: (draw(2) == 0).then(|| 1 + step / 700),
            is_retry: false,
            is_held: false,
            now: step,
        };
        let mut report = call.report(&name);
        report.tool = ToolName { id: call.tool, name: "a tool whose name is much longer than what is kept of a name" };
        report.refused_by = (draw(5) == 0).then_some(crate::domain::contract::session::Refuser::User);
        report.is_reply_lost = draw(9) == 0;
        report.effect = if report.is_reply_lost { crate::domain::tool::Effect::Mutate } else { report.effect };
        session.report(&report);
        let ask = Ask {
            tool: report.tool,
            target: &name,
            arguments: draw(1_000_000),
            wave: None,
            call: 0,
            place: step + 1,
            lease_ends: Timestamp(step + 1_000),
            idempotency_key: 0,
            is_approved: false,
            may_probe: false,
            alternatives: &[],
            now: Timestamp(step),
        };
        let _ = session.admit(&ask);
        if draw(5_000) == 0 {
            session.new_task(step);
        }
        most = most.max(session.entries());
        assert!(most <= ENTRIES_MAX, "{most}");
    }
    assert!(most > 1_000, "the bounds were reached: {most}");
}
