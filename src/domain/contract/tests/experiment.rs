//! Who is told which wording: the same in every process, by the weights, and each experiment by itself.

use super::super::experiment::{Arm, Draw, Experiment};
use super::*;

/// Variants with their weights.
type Shares<'a> = &'a [(Variant, u32)];

fn code(text: &str) -> Code {
    Code::parse(text).unwrap()
}

fn experiment(name: &str, breakers: &[&str], arms: Shares<'_>) -> Experiment {
    let arms = arms.iter().map(|(variant, weight)| Arm { wording: (*variant).into(), weight: *weight }).collect();
    Experiment::new(code(name), breakers.iter().map(|glob| (*glob).to_owned()).collect(), arms).unwrap()
}

fn wordings(experiments: Vec<Experiment>) -> Arc<Wordings> {
    Arc::new(Wordings::new(Variant::ContractLines.into(), vec![], experiments))
}

/// What session `number` of a caller is told at a breaker.
fn told(wordings: &Arc<Wordings>, number: usize, breaker: &str) -> Variant {
    let session = SessionWording::new(Arc::clone(wordings), Draw::of("agent", &format!("run-{number}")));
    match session.of(&code(breaker)) {
        Wording::BuiltIn(variant) => *variant,
        Wording::Template(_) => panic!("no template here"),
    }
}

const SESSIONS: usize = 10_000;

/// Sessions by what they are told, in the order of the variants.
fn counts(wordings: &Arc<Wordings>, breaker: &str) -> [usize; 4] {
    let mut counts = [0; 4];
    for number in 0..SESSIONS {
        counts[told(wordings, number, breaker) as usize] += 1;
    }
    counts
}

#[test]
fn weights_are_honoured_over_ten_thousand_sessions() {
    use Variant::{Contract, ContractLines, Silent, Weak};
    // The counts are those of these names for ever: another draw would move sessions at an update.
    let table: [(Shares<'_>, [usize; 4]); 4] = [
        (&[(Contract, 1), (ContractLines, 1)], [5_036, 4_964, 0, 0]),
        (&[(Contract, 70), (Weak, 30)], [7_012, 0, 2_988, 0]),
        (&[(Contract, 1), (ContractLines, 2), (Weak, 3), (Silent, 4)], [1_040, 2_035, 2_914, 4_011]),
        (&[(Contract, 1_000_000), (Silent, 1)], [10_000, 0, 0, 0]),
    ];
    for (arms, due) in table {
        let found = counts(&wordings(vec![experiment("wording", &["*"], arms)]), "payments");
        assert_eq!(found, due, "{arms:?}");
        let weight: u32 = arms.iter().map(|(_, weight)| weight).sum();
        let squares = arms.iter().map(|(variant, share)| {
            let expected = SESSIONS as f64 * f64::from(*share) / f64::from(weight);
            (found[*variant as usize] as f64 - expected).powi(2) / expected
        });
        // 16.3 is exceeded once in a thousand draws at three degrees of freedom.
        assert!(squares.sum::<f64>() < 16.3, "{found:?} for {arms:?}");
    }
}

#[test]
fn two_experiments_draw_independently() {
    let halves: Shares<'_> = &[(Variant::Contract, 1), (Variant::Weak, 1)];
    let both = wordings(vec![experiment("first", &["a"], halves), experiment("second", &["b"], halves)]);
    let mut cells = [[0; 2]; 2];
    for number in 0..SESSIONS {
        let is_weak = |breaker| usize::from(told(&both, number, breaker) == Variant::Weak);
        cells[is_weak("a")][is_weak("b")] += 1;
    }
    assert_eq!(cells, [[2530, 2518], [2427, 2525]]);
    for cell in cells.as_flattened() {
        // Four standard deviations around a quarter: 2,500 and 43.3 each.
        assert!((2_327..=2_673).contains(cell), "{cells:?}");
    }
}

#[test]
fn the_first_experiment_with_a_fitting_glob_counts() {
    let one = |variant| [(variant, 1)];
    let all = wordings(vec![
        experiment("one", &["payments_*", "session_progress"], &one(Variant::Weak)),
        experiment("two", &["pay*", "{ledger,search}"], &one(Variant::Silent)),
    ]);
    #[rustfmt::skip]
    let table = [
        ("payments_api_v2", Variant::Weak), ("session_progress", Variant::Weak), ("payroll", Variant::Silent),
        ("ledger", Variant::Silent), ("search", Variant::Silent), ("session_scope", Variant::ContractLines),
        ("payments", Variant::Silent), ("a", Variant::ContractLines),
    ];
    for (breaker, due) in table {
        assert_eq!(told(&all, 1, breaker), due, "{breaker}");
    }
}

#[test]
fn a_draw_depends_on_caller_and_session_and_on_where_one_ends() {
    let all = [("a", "b"), ("b", "a"), ("ab", ""), ("", "ab"), ("a", "bb"), ("", "")];
    for (at, left) in all.iter().enumerate() {
        for right in all.iter().skip(at + 1) {
            assert_ne!(Draw::of(left.0, left.1), Draw::of(right.0, right.1), "{left:?} {right:?}");
        }
    }
    assert_eq!(Draw::of("agent", "run-1"), Draw::of("agent", "run-1"));
}

#[test]
fn a_session_keeps_the_wordings_in_force_when_it_began() {
    let before = wordings(vec![experiment("one", &["*"], &[(Variant::Weak, 1)])]);
    let session = SessionWording::new(Arc::clone(&before), Draw::of("agent", "run"));
    drop(before);
    assert_eq!(session.of(&code("a")).name(), "weak");
    assert_eq!(SessionWording::default().of(&code("a")).name(), "contract");
}
