use proptest::prelude::*;

use super::super::record::RawRecord;
use super::*;

/// The rows of the fixture: the record and the words of leaf, row and reason.
fn fixture() -> Vec<(AttemptRecord, [String; 3])> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/failure-tree.table");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(row).collect()
}

fn row(line: &str) -> (AttemptRecord, [String; 3]) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [class, attempt, writes, tools, snapshot, "->", leaf, row, reason] = words[..] else { panic!("{line}") };
    let raw = RawRecord {
        failure_class: class,
        attempt: attempt.parse().unwrap(),
        writes: writes.parse().ok(),
        tools_enabled: tools.parse().ok(),
        snapshot_same: snapshot.parse().ok(),
        ..RawRecord::default()
    };
    (raw.parse().unwrap(), [leaf, row, reason].map(str::to_owned))
}

#[test]
fn the_eight_rows_hold() {
    let rows = fixture();
    assert_eq!(rows.len(), 8);
    for (record, expected) in rows {
        let got = branch(&record, &RetryCap::default());
        assert_eq!([got.leaf.word(), got.row.word(), got.reason.word()].map(str::to_owned), expected, "{record:?}");
    }
}

const CLASSES: [&str; 7] = ["transport", "contract_miss", "scope_creep", "score_wobble", "unknown", "", "gremlins"];

/// Every class and two words that are none, attempts 0 to 4, and every setting of the six bits.
fn whole_space() -> impl Iterator<Item = RawRecord<'static>> {
    let each = |class| (0..5).flat_map(move |attempt| (0..64_u8).map(move |bits| (class, attempt, bits)));
    CLASSES.into_iter().flat_map(each).map(|(failure_class, attempt, bits)| {
        let [writes, tools, snapshot, effect, key, policy] = std::array::from_fn(|i| bits & (1 << i) != 0);
        RawRecord {
            failure_class,
            attempt,
            writes: Some(writes),
            tools_enabled: Some(tools),
            snapshot_same: Some(snapshot),
            effect_unknown: effect,
            has_idempotency_key: key,
            policy_denied: policy,
        }
    })
}

/// The table said a second time: each row as what it asks of a record, the first that holds counts.
fn by_table(raw: &RawRecord<'_>, cap: u32) -> (&'static str, &'static str) {
    let class = raw.failure_class;
    let [writes, tools, same] = [raw.writes, raw.tools_enabled, raw.snapshot_same].map(|bit| bit == Some(true));
    let is_heard_of = ["transport", "contract_miss", "scope_creep", "score_wobble"].contains(&class);
    let rows = [
        (raw.policy_denied, "halt", "policy"),
        (!is_heard_of, "halt", "1"),
        (class == "scope_creep", "halt", "2"),
        ((writes || tools) && ["contract_miss", "score_wobble"].contains(&class), "halt", "3"),
        (raw.effect_unknown && writes && !raw.has_idempotency_key, "halt", "effect"),
        (class == "transport" && (1..=cap).contains(&raw.attempt) && same, "same_binding_retry", "4"),
        (class == "transport" && raw.attempt > cap && same, "compute_move", "5"),
        (class == "contract_miss" && !writes && !tools, "route_narrowing", "6"),
        (true, "halt", "7"),
    ];
    rows.into_iter().find(|(holds, ..)| *holds).map(|(_, leaf, row)| (leaf, row)).unwrap()
}

#[test]
fn the_whole_input_space_is_the_table() {
    for (retries, reason) in [(1, ""), (2, "the disk array fails over in 40 s"), (5, "flaky link, ticket 7")] {
        let cap = RetryCap::parse(retries, reason).unwrap();
        for raw in whole_space() {
            let got = branch(&raw.parse().unwrap(), &cap);
            assert_eq!((got.leaf.word(), got.row.word()), by_table(&raw, retries), "{raw:?} with {retries} retries");
        }
    }
}

#[test]
fn the_leaves_are_as_many_as_a_count_by_hand() {
    // 7 words, 5 attempts, 3 bits: transport within 4 settings of writes and tools, a miss within 2 of the snapshot
    let count = |effect_unknown: bool, leaf: Leaf| {
        let mut space: Vec<_> = whole_space().filter(|raw| !raw.has_idempotency_key && !raw.policy_denied).collect();
        space.retain(|raw| raw.effect_unknown == effect_unknown);
        assert_eq!(space.len(), 7 * 5 * 8);
        space.iter().filter(|raw| branch(&raw.parse().unwrap(), &RetryCap::default()).leaf == leaf).count()
    };
    assert_eq!(count(false, Leaf::SameBindingRetry), 4);
    assert_eq!(count(false, Leaf::ComputeMove), 3 * 4);
    assert_eq!(count(false, Leaf::RouteNarrowing), 5 * 2);
    assert_eq!(count(false, Leaf::Halt), 280 - 26);
    assert_eq!(count(true, Leaf::SameBindingRetry), 2, "only without writes");
    assert_eq!(count(true, Leaf::ComputeMove), 3 * 2, "only without writes");
    assert_eq!(count(true, Leaf::RouteNarrowing), 5 * 2, "a miss is an answer");
}

const FAULT: AttemptRecord = AttemptRecord {
    failure_class: Some(Class::Transport),
    attempt: 1,
    writes: false,
    tools_enabled: false,
    snapshot_same: true,
    effect_unknown: false,
    has_idempotency_key: false,
    policy_denied: false,
};

fn reason(record: AttemptRecord) -> Reason {
    branch(&record, &RetryCap::default()).reason
}

#[test]
fn a_write_whose_reply_was_lost_is_sent_again_only_under_an_idempotency_key() {
    let lost = AttemptRecord { writes: true, effect_unknown: true, ..FAULT };
    assert_eq!(reason(lost), Reason::AmbiguousEffect);
    assert_eq!(reason(AttemptRecord { attempt: 2, ..lost }), Reason::AmbiguousEffect);
    assert_eq!(reason(AttemptRecord { snapshot_same: false, ..lost }), Reason::AmbiguousEffect);
    assert_eq!(reason(AttemptRecord { has_idempotency_key: true, ..lost }), Reason::TransportFault);
    assert_eq!(reason(AttemptRecord { effect_unknown: false, ..lost }), Reason::TransportFault);
    assert_eq!(reason(AttemptRecord { writes: false, tools_enabled: true, ..lost }), Reason::TransportFault);
}

#[test]
fn the_last_row_says_which_part_of_the_others_was_not_met() {
    assert_eq!(reason(AttemptRecord { attempt: 0, ..FAULT }), Reason::NoAttempt);
    assert_eq!(reason(AttemptRecord { attempt: 0, snapshot_same: false, ..FAULT }), Reason::SnapshotChanged);
    assert_eq!(reason(AttemptRecord { failure_class: Some(Class::ScoreWobble), ..FAULT }), Reason::ScoreWobble);
}

#[test]
fn a_policy_denial_is_read_before_the_class() {
    for failure_class in Class::ALL.iter().copied().map(Some).chain([None]) {
        let denied = AttemptRecord { failure_class, policy_denied: true, ..FAULT };
        assert_eq!(branch(&denied, &RetryCap::default()), Branch::halt(Row::Policy, Reason::PolicyDenied));
    }
}

#[test]
fn a_row_has_the_number_that_its_word_says() {
    for row in Row::ALL {
        assert_eq!(row.number(), row.word().parse().ok(), "{row}");
    }
}

#[test]
fn a_cap_rises_only_with_a_written_reason() {
    let fault = |retries, reason: &str| RetryCap::parse(retries, reason).unwrap_err().to_string();
    assert_eq!(fault(0, "why not"), "same_binding_retries `0` is outside 1 to 5");
    assert_eq!(fault(6, "why not"), "same_binding_retries `6` is outside 1 to 5");
    for none in ["", "  ", "\u{200b} \u{200b}"] {
        let text = "same_binding_retries `2` stands without a reason: write one of 1 to 256 bytes, or leave it at 1";
        assert_eq!(fault(2, none), text);
    }
    assert_eq!(fault(2, &"x".repeat(257)), "reason has 257 bytes, at most 256 are taken");
    let raised = RetryCap::parse(3, " the array fails over in 40 s ").unwrap();
    assert_eq!((raised.retries(), raised.because().map(SafeText::as_str)), (3, Some("the array fails over in 40 s")));
    assert_eq!(RetryCap::parse(1, "left over from a raised one").unwrap(), RetryCap::default());
}

proptest! {
    #[test]
    fn the_tree_is_total_and_opens_no_socket_for_what_may_do_harm(
        class in proptest::option::of(proptest::sample::select(Class::ALL)),
        attempt: u32,
        bits: [bool; 6],
        retries in 1..=RETRIES_MAX,
    ) {
        let [writes, tools_enabled, snapshot_same, effect_unknown, has_idempotency_key, policy_denied] = bits;
        let record = AttemptRecord {
            failure_class: class, attempt, writes, tools_enabled, snapshot_same, effect_unknown, has_idempotency_key,
            policy_denied,
        };
        let got = branch(&record, &RetryCap::parse(retries, "a reason").unwrap());
        let may_retry = class == Some(Class::Transport) && snapshot_same && !record.is_ambiguous();
        prop_assert!(got.leaf == Leaf::Halt || !policy_denied);
        prop_assert!(got.leaf != Leaf::SameBindingRetry || (may_retry && attempt <= retries));
        prop_assert!(got.leaf != Leaf::ComputeMove || (may_retry && attempt > retries));
        prop_assert!(got.leaf != Leaf::RouteNarrowing || (!writes && !tools_enabled));
    }
}
