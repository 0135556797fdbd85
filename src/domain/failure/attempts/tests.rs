use proptest::prelude::*;

use super::super::FailureClass;
use super::super::confirmed::{Confirmed, NarrowRoute, SpareHost};
use super::super::names::{RouteName, SnapshotId};
use super::super::tree::{Reason, RetryCap};
use super::*;

fn host(name: &str) -> HostName {
    HostName::parse(name).unwrap()
}

fn step(name: &str) -> StepKey {
    StepKey { caller: 1, name: StepName::parse(name).unwrap() }
}

const fn own(id: u64) -> AttemptId {
    AttemptId { caller: 1, id }
}

fn at(name: &str, route: &str) -> Binding {
    let snapshot = SnapshotId::parse("sha256:1f").unwrap();
    Binding { host: host(name), route: RouteName::parse(route).unwrap(), snapshot }
}

const HOSTS: [&str; 3] = ["b", "c", "a"];

/// `b`, `c` and `a` serve `large` and `small`, in that order; `large` is narrowed to `small`.
fn rules() -> FailureRules {
    let route = |name| RouteName::parse(name).unwrap();
    let spare = |name| SpareHost { name: host(name), routes: vec![route("large"), route("small")] };
    let narrow = vec![NarrowRoute { name: route("large"), narrow: route("small") }];
    let confirmed = Confirmed::new(HOSTS.map(spare).to_vec(), narrow).unwrap();
    FailureRules { cap: RetryCap::default(), confirmed }
}

fn fault(attempt: u32) -> AttemptRecord {
    AttemptRecord {
        failure_class: Some(FailureClass::Transport),
        attempt,
        writes: false,
        tools_enabled: false,
        snapshot_same: true,
        effect_unknown: false,
        has_idempotency_key: false,
        policy_denied: false,
    }
}

fn miss(attempt: u32) -> AttemptRecord {
    AttemptRecord { failure_class: Some(FailureClass::ContractMiss), ..fault(attempt) }
}

/// A log under the rules above; every snapshot is published everywhere, and the clock is the last id.
struct Story {
    log: AttemptLog,
    rules: FailureRules,
    open: Vec<&'static str>,
}

fn story(per_step: usize, in_all: usize) -> Story {
    Story { log: AttemptLog::new(LogBounds { per_step, in_all }), rules: rules(), open: vec![] }
}

impl Story {
    fn asks(&mut self, name: &str, binding: &Binding, record: AttemptRecord) -> Answer {
        let (published_at, reference) = (HOSTS.map(host), SketchRef::parse("sketches/4.json").unwrap());
        let asked = Asked {
            step: &step(name),
            binding,
            record: &record,
            published_at: &published_at,
            sketch: Some(&reference),
        };
        let now = Timestamp(self.log.last_id);
        self.log.decide(now, &asked, &self.rules, &|host| self.open.contains(&host.as_str()))
    }

    /// The host that a second transport fault at `name` leads to.
    fn moves(&mut self, name: &str, attempt: u32) -> Result<String, Reason> {
        let decision = &self.asks("4", &at(name, "large"), fault(attempt)).attempt.decision;
        decision.next.as_ref().map(|next| next.binding.host.as_str().to_owned()).ok_or(decision.reason)
    }

    fn ids(&self, name: &str) -> Vec<u64> {
        self.log.by_step(&step(name)).map(|attempt| attempt.id).collect()
    }
}

#[test]
fn a_duplicate_answers_the_same_and_moves_nothing() {
    let mut story = story(64, 1_000);
    let first = story.asks("4", &at("a", "large"), fault(2));
    assert!(!first.is_duplicate);
    story.open.push("b"); // decided now, it would be c
    let again = story.asks("4", &at("a", "large"), fault(2));
    assert!(again.is_duplicate);
    assert_eq!(again.attempt, first.attempt);
    let other_class = story.asks("4", &at("a", "large"), miss(2));
    assert_eq!(other_class.attempt, first.attempt, "the first record of an attempt stands");
    assert_eq!(story.ids("4"), [1]);
    assert!(!story.asks("4", &at("a", "large"), fault(3)).is_duplicate, "another attempt");
    assert!(!story.asks("4", &at("a", "small"), fault(2)).is_duplicate, "another binding");
    assert!(!story.asks("5", &at("a", "large"), fault(2)).is_duplicate, "another step");
}

#[test]
fn a_chain_holds_old_and_new_binding_side_by_side() {
    let mut story = story(64, 1_000);
    let asked = [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1)];
    let told: Vec<_> = asked.map(|(name, attempt)| story.asks("4", &at(name, "large"), fault(attempt)).attempt).into();
    let next =
        |at: usize| told[at].decision.next.as_ref().map(|next| (next.binding.host.as_str(), next.attempt)).unwrap();
    assert_eq!([0, 1, 2, 3, 4].map(next), [("a", 2), ("b", 1), ("b", 2), ("c", 1), ("c", 2)]);
    assert_eq!(
        told.iter().map(|attempt| attempt.after).collect::<Vec<_>>(),
        [None, Some(1), Some(2), Some(3), Some(4)]
    );
    assert!(told.iter().all(|attempt| attempt.chain == 1));
    assert_eq!(story.ids("4"), [1, 2, 3, 4, 5]);
    let apart = story.asks("4", &at("x", "large"), fault(1)).attempt;
    assert_eq!((apart.chain, apart.after), (6, None), "a binding that nobody named is a chain of its own");
    let elsewhere = story.asks("5", &at("b", "large"), fault(1)).attempt;
    assert_eq!((elsewhere.chain, elsewhere.after), (7, None), "another step is another chain");
}

#[test]
fn a_move_never_goes_back_to_a_host_that_its_chain_left() {
    let mut story = story(64, 1_000);
    assert_eq!(story.moves("a", 2).as_deref(), Ok("b"));
    assert_eq!(story.moves("b", 2).as_deref(), Ok("c"));
    assert_eq!(story.moves("c", 2), Err(Reason::NoSpareHostLeft));
    assert_eq!(story.moves("a", 3).as_deref(), Ok("c"), "a straggler at a: b has been left since");
}

#[test]
fn a_halt_leaves_no_host() {
    let mut story = story(64, 1_000);
    story.open = vec!["b", "c"];
    assert_eq!(story.moves("a", 2), Err(Reason::SpareCircuitOpen));
    story.open.clear();
    assert_eq!(story.moves("a", 3).as_deref(), Ok("b"));
}

#[test]
fn what_a_chain_left_is_known_when_the_attempt_that_left_it_has_gone() {
    let mut story = story(1, 1_000);
    assert_eq!(story.moves("a", 2).as_deref(), Ok("b"));
    assert_eq!(story.moves("b", 2).as_deref(), Ok("c"));
    assert_eq!(story.moves("c", 2), Err(Reason::NoSpareHostLeft));
    assert_eq!((story.ids("4"), story.log.dropped_of(&step("4"))), (vec![3], 2));
}

#[test]
fn a_narrowed_binding_continues_the_chain_though_its_shorter_prompt_is_another_snapshot() {
    let mut story = story(64, 1_000);
    assert_eq!(story.moves("a", 2).as_deref(), Ok("b"));
    story.asks("4", &at("b", "large"), miss(1));
    let shorter = Binding { snapshot: SnapshotId::parse("sha256:short").unwrap(), ..at("b", "small") };
    let narrowed = story.asks("4", &shorter, fault(2)).attempt;
    assert_eq!((narrowed.chain, narrowed.after), (1, Some(2)));
    let next = narrowed.decision.next.as_ref().unwrap();
    assert_eq!(next.binding, Binding { host: host("c"), ..shorter }, "a was left");
}

#[test]
fn a_moved_binding_with_another_snapshot_is_not_the_one_that_was_named() {
    let mut story = story(64, 1_000);
    assert_eq!(story.moves("a", 2).as_deref(), Ok("b"));
    let other = Binding { snapshot: SnapshotId::parse("sha256:other").unwrap(), ..at("b", "large") };
    assert_eq!(story.asks("4", &other, fault(1)).attempt.after, None);
}

#[test]
fn the_reason_of_a_raised_cap_is_in_the_record_where_the_cap_was_read() {
    let mut story = story(64, 1_000);
    story.rules.cap = RetryCap::parse(2, "the array fails over in 40 s").unwrap();
    let why = |answer: Answer| answer.attempt.cap_raised_because.as_ref().map(|text| text.as_str().to_owned());
    for attempt in 1..4 {
        let answer = story.asks("4", &at("a", "large"), fault(attempt));
        let leaf = if attempt < 3 { Leaf::SameBindingRetry } else { Leaf::ComputeMove };
        assert_eq!(answer.attempt.decision.leaf, leaf);
        assert_eq!(why(answer).as_deref(), Some("the array fails over in 40 s"));
    }
    assert_eq!(why(story.asks("5", &at("a", "large"), miss(1))), None);
    story.rules.cap = RetryCap::default();
    assert_eq!(why(story.asks("6", &at("a", "large"), fault(1))), None);
}

#[test]
fn the_oldest_go_first_and_are_counted() {
    let mut story = story(2, 3);
    for attempt in 1..=3 {
        story.asks("4", &at("a", "large"), fault(attempt));
    }
    assert_eq!((story.ids("4"), story.log.dropped(), story.log.dropped_of(&step("4"))), (vec![2, 3], 1, 1));
    story.asks("5", &at("a", "large"), fault(1));
    story.asks("6", &at("a", "large"), fault(1));
    assert_eq!((story.ids("4"), story.ids("5"), story.ids("6")), (vec![3], vec![4], vec![5]));
    assert_eq!((story.log.kept(), story.log.dropped(), story.log.dropped_of(&step("4"))), (3, 2, 2));
    story.asks("7", &at("a", "large"), fault(1));
    assert_eq!((story.ids("4"), story.log.dropped_of(&step("4"))), (vec![], 0), "a step that has gone is not kept");
    let anew = story.asks("4", &at("a", "large"), fault(3));
    assert!(!anew.is_duplicate, "what has gone is decided anew");
    assert_eq!((anew.attempt.id, story.log.attempt(4)), (7, None), "an id is never used again");
}

#[test]
fn a_log_without_room_keeps_the_last_attempt() {
    let mut story = story(0, 0);
    for attempt in 1..=3 {
        assert_eq!(story.asks("4", &at("a", "large"), fault(attempt)).attempt.id, u64::from(attempt));
        assert_eq!(story.log.kept(), 1);
    }
}

#[test]
fn only_accepting_a_sketch_marks_it_and_only_that_one() {
    let mut story = story(64, 1_000);
    let [first, second] = ["4", "5"].map(|name| story.asks(name, &at("a", "large"), miss(1)).attempt);
    let sketch = Sketch { reference: SketchRef::parse("sketches/4.json").ok(), accepted_at: None };
    assert_eq!(first.sketch, Some(sketch.clone()));
    story.asks("4", &at("a", "large"), miss(1));
    let accepted = story.log.accept_sketch(Timestamp(70), own(first.id)).unwrap();
    assert!(!accepted.is_duplicate);
    let marked = Some(Sketch { accepted_at: Some(Timestamp(70)), ..sketch.clone() });
    assert_eq!(accepted.attempt.sketch, marked);
    let again = story.log.accept_sketch(Timestamp(90), own(first.id)).unwrap();
    assert!(again.is_duplicate);
    assert_eq!(again.attempt.sketch, marked, "the first time stands");
    assert_eq!(story.log.attempt(second.id).and_then(|attempt| attempt.sketch.clone()), Some(sketch));
    assert_eq!(story.asks("4", &at("a", "large"), miss(1)).attempt.sketch, marked, "a duplicate sees it");
}

#[test]
fn what_is_no_sketch_is_not_accepted() {
    let mut story = story(64, 1_000);
    story.asks("4", &at("a", "large"), fault(1));
    story.asks("4", &at("a", "large"), fault(2));
    story.asks("4", &at("a", "small"), miss(1)); // no narrow route
    let mut refused = |id| story.log.accept_sketch(Timestamp(9), own(id)).unwrap_err().to_string();
    let text = |id, leaf| format!("attempt `{id}` is a `{leaf}`, not a sketch: give the id of a `route_narrowing`");
    assert_eq!(refused(1), text(1, "same_binding_retry"));
    assert_eq!(refused(2), text(2, "compute_move"));
    assert_eq!(refused(3), text(3, "halt"));
    assert_eq!(refused(4), "attempt `4` is not kept: give the id of one that is listed");
    assert_eq!(refused(0), "attempt `0` is not kept: give the id of one that is listed");
    assert!(story.log.by_step(&step("4")).all(|attempt| attempt.sketch.is_none()));
}

#[test]
fn a_step_is_its_callers_own() {
    let mut story = story(64, 1_000);
    let told = story.asks("4", &at("a", "large"), miss(1)).attempt;
    let (binding, record) = (at("a", "large"), miss(1));
    let other = StepKey { caller: 2, ..step("4") };
    let asked = Asked { step: &other, binding: &binding, record: &record, published_at: &[], sketch: None };
    let answer = story.log.decide(Timestamp(9), &asked, &story.rules, &|_| false);
    assert!(!answer.is_duplicate);
    assert_eq!((answer.attempt.chain, answer.attempt.after), (2, None));
    let ids = |step: &StepKey| story.log.by_step(step).map(|attempt| attempt.id).collect::<Vec<_>>();
    assert_eq!((ids(&step("4")), ids(&other)), (vec![told.id], vec![2]));
    let stolen = story.log.accept_sketch(Timestamp(9), own(2)).unwrap_err();
    assert_eq!(stolen, InvalidSketch::NotKept { id: 2 }, "that of another caller is as good as none");
    assert!(story.log.accept_sketch(Timestamp(9), AttemptId { caller: 2, id: 2 }).is_ok());
}

proptest! {
    #[test]
    fn a_log_stays_in_its_bounds_and_agrees_with_itself_whatever_comes(
        asked in proptest::collection::vec((0..4_usize, 0..4_usize, 0..4_u32, any::<bool>(), any::<bool>()), 1..80),
        per_step in 1..6_usize,
        in_all in 1..12_usize,
    ) {
        let mut story = story(per_step, in_all);
        let mut decided = 0;
        for (name, place, attempt, is_fault, is_small) in asked {
            let (name, place) = (["4", "5", "6", "7"][name], ["a", "b", "c", "x"][place]);
            let record = if is_fault { fault(attempt) } else { miss(attempt) };
            let answer = story.asks(name, &at(place, if is_small { "small" } else { "large" }), record);
            decided += u64::from(!answer.is_duplicate);
            let log = &story.log;
            prop_assert!(log.kept() <= in_all && log.steps.values().all(|step| step.ids.len() <= per_step));
            prop_assert_eq!(log.kept() as u64 + log.dropped(), decided);
            prop_assert_eq!(log.steps.values().map(|step| step.ids.len()).sum::<usize>(), log.kept());
            prop_assert!(log.steps.values().all(|step| !step.ids.is_empty()));
            prop_assert_eq!(log.chains.values().map(|chain| chain.kept).sum::<usize>(), log.kept());
            prop_assert!(log.chains.values().all(|chain| chain.kept > 0 && chain.left.len() <= 4));
            prop_assert!(log.attempt(answer.attempt.id).is_some(), "the last answer is kept");
        }
    }

    #[test]
    fn a_caller_that_does_as_it_is_told_comes_to_a_halt(
        faults in proptest::collection::vec(any::<bool>(), 40),
        open in proptest::sample::subsequence(HOSTS.to_vec(), 0..=3),
        per_step in 1..6_usize,
    ) {
        let mut story = story(per_step, 100);
        story.open = open;
        let (mut binding, mut attempt, mut calls) = (at("x", "large"), 1, 0);
        for is_fault in faults {
            let record = if is_fault { fault(attempt) } else { miss(attempt) };
            let answer = story.asks("4", &binding, record);
            prop_assert!(!answer.is_duplicate, "nothing is asked of it twice");
            let Some(next) = answer.attempt.decision.next.clone() else { return Ok(()) };
            (binding, attempt, calls) = (next.binding, next.attempt, calls + 1);
            prop_assert!(calls <= 2 * 4 + 2, "two at each of four hosts, and the two of a narrower route where it changed");
        }
        prop_assert!(false, "no halt in 40 attempts");
    }
}

#[test]
fn a_log_that_is_written_down_and_read_again_answers_the_same() {
    let bounds = LogBounds { per_step: 3, in_all: 8 };
    let (rules, step) = (rules(), step("4"));
    let mut log = AttemptLog::new(bounds);
    let ask = |log: &mut AttemptLog, host: &str, attempt: u32| {
        let (binding, published_at) = (at(host, "large"), HOSTS.map(self::host));
        let record = fault(attempt);
        let asked =
            Asked { step: &step, binding: &binding, record: &record, published_at: &published_at, sketch: None };
        log.decide(Timestamp(5), &asked, &rules, &|_| false)
    };
    for (host, attempt) in [("a", 1), ("a", 2), ("b", 2), ("b", 3), ("c", 2)] {
        ask(&mut log, host, attempt);
    }
    let mut restored = AttemptLog::new(bounds);
    for id in 1..=5 {
        let Some(kept) = log.snapshot(id) else { continue };
        restored.restore(serde_json::from_slice(&serde_json::to_vec(&kept).unwrap()).unwrap());
    }
    assert_eq!((restored.kept(), restored.dropped_of(&step)), (log.kept(), log.dropped_of(&step)));
    for (host, attempt) in [("c", 2), ("b", 2), ("c", 3), ("a", 2)] {
        assert_eq!(ask(&mut restored, host, attempt), ask(&mut log, host, attempt), "{host} {attempt}");
    }
    restored.go_on_from(1 << 32);
    assert_eq!(ask(&mut restored, "b", 9).attempt.id, 1 << 32);
}
