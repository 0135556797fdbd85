use proptest::prelude::*;

use super::super::FailureClass;
use super::super::confirmed::NarrowRoute;
use super::*;

fn host(name: &str) -> HostName {
    HostName::parse(name).unwrap()
}

fn route(name: &str) -> RouteName {
    RouteName::parse(name).unwrap()
}

fn hosts(names: &[&str]) -> Vec<HostName> {
    names.iter().map(|name| host(name)).collect()
}

/// Spare hosts `b`, `c` and `a` serve `large`, `d` only `other`; `large` is narrowed to `small`.
fn rules() -> FailureRules {
    let spare = |name: &str, routes: &[&str]| SpareHost {
        name: host(name),
        routes: routes.iter().map(|name| route(name)).collect(),
    };
    let all =
        vec![spare("d", &["other"]), spare("b", &["large"]), spare("c", &["other", "large"]), spare("a", &["large"])];
    let narrow = vec![NarrowRoute { name: route("large"), narrow: route("small") }];
    FailureRules { cap: RetryCap::default(), confirmed: Confirmed::new(all, narrow).unwrap() }
}

fn at(name: &str) -> Binding {
    Binding { host: host(name), route: route("large"), snapshot: SnapshotId::parse("sha256:1f").unwrap() }
}

const FAULT: AttemptRecord = AttemptRecord {
    failure_class: Some(FailureClass::Transport),
    attempt: 2,
    writes: false,
    tools_enabled: true,
    snapshot_same: true,
    effect_unknown: false,
    has_idempotency_key: false,
    policy_denied: false,
};
const MISS: AttemptRecord =
    AttemptRecord { failure_class: Some(FailureClass::ContractMiss), attempt: 1, tools_enabled: false, ..FAULT };

/// Where a repeated transport fault leads, or why nowhere; the circuits of `open` refuse.
fn moved(binding: &Binding, published: &[&str], left: &[&str], open: &[&str]) -> Result<String, Reason> {
    let (published_at, left) = (hosts(published), hosts(left));
    let question = Question { record: &FAULT, binding, published_at: &published_at, left: &left };
    let decision = decide(&question, &rules(), &|host| open.contains(&host.as_str()));
    assert_eq!(decision.row, Row::Move);
    let Some(next) = decision.next else {
        assert_eq!(decision.leaf, Leaf::Halt);
        return Err(decision.reason);
    };
    assert_eq!((decision.leaf, decision.reason), (Leaf::ComputeMove, Reason::TransportFaultRepeated));
    assert_eq!(
        (&next.binding.route, &next.binding.snapshot),
        (&binding.route, &binding.snapshot),
        "only the host moves"
    );
    assert_eq!(next.attempt, 1, "a new binding starts its own attempts");
    Ok(next.binding.host.as_str().to_owned())
}

const EVERYWHERE: &[&str] = &["a", "b", "c", "d"];

#[test]
fn a_move_goes_through_the_spare_hosts_in_the_order_of_the_configuration() {
    assert_eq!(moved(&at("a"), EVERYWHERE, &[], &[]).as_deref(), Ok("b"));
    assert_eq!(moved(&at("b"), EVERYWHERE, &["a"], &[]).as_deref(), Ok("c"));
    assert_eq!(moved(&at("c"), EVERYWHERE, &["a", "b"], &[]), Err(Reason::NoSpareHostLeft));
    assert_eq!(moved(&at("elsewhere"), EVERYWHERE, &[], &[]).as_deref(), Ok("b"), "the first host need not be a spare");
}

#[test]
fn a_move_passes_over_open_circuits_and_hosts_without_the_snapshot() {
    assert_eq!(moved(&at("a"), EVERYWHERE, &[], &["b"]).as_deref(), Ok("c"));
    assert_eq!(moved(&at("a"), &["c"], &[], &[]).as_deref(), Ok("c"));
    assert_eq!(moved(&at("x"), &["a", "c"], &[], &["c"]).as_deref(), Ok("a"));
}

#[test]
fn a_move_that_leads_nowhere_halts_and_says_what_the_nearest_host_lacked() {
    assert_eq!(moved(&at("a"), &[], &[], &[]), Err(Reason::SnapshotNotPublished), "not known is not published");
    assert_eq!(moved(&at("a"), &["a", "d"], &[], &[]), Err(Reason::SnapshotNotPublished));
    assert_eq!(moved(&at("a"), EVERYWHERE, &[], &["b", "c"]), Err(Reason::SpareCircuitOpen));
    assert_eq!(moved(&at("a"), &["b"], &["c"], &["b"]), Err(Reason::SpareCircuitOpen));
    assert_eq!(moved(&at("a"), &["b"], &["b"], &[]), Err(Reason::SnapshotNotPublished), "c has it not");
    let unserved = Binding { route: route("Large"), ..at("a") };
    assert_eq!(moved(&unserved, EVERYWHERE, &[], &[]), Err(Reason::NoSpareHost), "a route is compared by its bytes");
    let only_here = Binding { route: route("other"), ..at("d") };
    assert_eq!(moved(&only_here, &["d"], &["c"], &[]), Err(Reason::NoSpareHostLeft));
}

#[test]
fn nothing_is_built_in() {
    let published_at = hosts(EVERYWHERE);
    for (record, reason) in [(&FAULT, Reason::NoSpareHost), (&MISS, Reason::NoNarrowRoute)] {
        let question = Question { record, binding: &at("a"), published_at: &published_at, left: &[] };
        let decision = decide(&question, &FailureRules::default(), &|_| false);
        assert_eq!((decision.leaf, decision.reason, decision.next), (Leaf::Halt, reason, None));
    }
}

#[test]
fn a_circuit_is_asked_only_of_hosts_that_could_be_the_next() {
    let asked = std::cell::RefCell::new(vec![]);
    let published_at = hosts(&["a", "c", "d"]);
    let question = Question { record: &FAULT, binding: &at("x"), published_at: &published_at, left: &hosts(&["a"]) };
    let decision = decide(&question, &rules(), &|host| {
        asked.borrow_mut().push(host.clone());
        true
    });
    assert_eq!(decision.reason, Reason::SpareCircuitOpen);
    assert_eq!(asked.into_inner(), hosts(&["c"]));
}

#[test]
fn a_narrowing_changes_the_route_and_nothing_else() {
    let question = Question { record: &MISS, binding: &at("a"), published_at: &[], left: &[] };
    let decision = decide(&question, &rules(), &|_| true);
    assert_eq!((decision.leaf, decision.row), (Leaf::RouteNarrowing, Row::Narrow));
    let next = Next { binding: Binding { route: route("small"), ..at("a") }, attempt: 1 };
    assert_eq!(decision.next, Some(next));
    let narrowed = Binding { route: route("small"), ..at("a") };
    let again = decide(&Question { binding: &narrowed, ..question }, &rules(), &|_| true);
    assert_eq!((again.leaf, again.row, again.reason), (Leaf::Halt, Row::Narrow, Reason::NoNarrowRoute));
}

#[test]
fn a_retry_moves_only_the_counter() {
    let record = AttemptRecord { attempt: 1, ..FAULT };
    let question = Question { record: &record, binding: &at("a"), published_at: &[], left: &[] };
    let decision = decide(&question, &rules(), &|_| true);
    assert_eq!(decision.leaf, Leaf::SameBindingRetry);
    assert_eq!(decision.next, Some(Next { binding: at("a"), attempt: 2 }));
}

#[test]
fn a_chain_that_left_too_many_hosts_has_none_left() {
    let gone: Vec<String> = (0..LEFT_MAX).map(|n| format!("gone{n}")).collect();
    let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
    assert_eq!(moved(&at("a"), EVERYWHERE, &gone, &[]), Err(Reason::NoSpareHostLeft));
    assert_eq!(moved(&at("a"), EVERYWHERE, &gone[1..], &[]).as_deref(), Ok("b"));
}

proptest! {
    #[test]
    fn a_next_attempt_exists_exactly_where_the_leaf_is_no_halt(
        class in proptest::option::of(proptest::sample::select(FailureClass::ALL)),
        attempt in prop_oneof![0..5_u32, Just(u32::MAX)],
        bits: [bool; 6],
        here in proptest::sample::select(vec!["a", "b", "c", "d", "x"]),
        published in proptest::sample::subsequence(EVERYWHERE.to_vec(), 0..=4),
        left in proptest::sample::subsequence(EVERYWHERE.to_vec(), 0..=4),
        open in proptest::sample::subsequence(EVERYWHERE.to_vec(), 0..=4),
    ) {
        let [writes, tools_enabled, snapshot_same, effect_unknown, has_idempotency_key, policy_denied] = bits;
        let record = AttemptRecord {
            failure_class: class, attempt, writes, tools_enabled, snapshot_same, effect_unknown, has_idempotency_key,
            policy_denied,
        };
        let (binding, published_at, left) = (at(here), hosts(&published), hosts(&left));
        let question = Question { record: &record, binding: &binding, published_at: &published_at, left: &left };
        let decision = decide(&question, &rules(), &|host| open.contains(&host.as_str()));
        prop_assert_eq!(decision.next.is_none(), decision.leaf == Leaf::Halt);
        let table = tree::branch(&record, &RetryCap::default());
        prop_assert_eq!(decision.row, table.row);
        prop_assert!(decision.leaf == table.leaf || decision.leaf == Leaf::Halt);
        if let (Leaf::ComputeMove, Some(next)) = (decision.leaf, decision.next) {
            prop_assert!(next.binding.host != binding.host && !left.contains(&next.binding.host));
            prop_assert!(published_at.contains(&next.binding.host) && !open.contains(&next.binding.host.as_str()));
            prop_assert_eq!(&next.binding.route, &binding.route);
        }
    }
}
