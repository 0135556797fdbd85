//! Every history up to a length, over a small alphabet, from several beginnings.
//!
//! A step with nothing to do is cut: what follows it is a shorter history, which is walked anyway.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::marks::{Mark, Marks};
use super::pair::{Pair, Say, Step, Whose};
use super::policies::{SECOND, Setup, setups};

const ASK: Step = Step::Ask(1);
const OK: Step = Step::Report(Whose::Current, Say::Ok);
const FAIL: Step = Step::Report(Whose::Current, Say::Bad(0));
const OTHER_FAIL: Step = Step::Report(Whose::Current, Say::Bad(1));
const SMALL: Step = Step::Wait(SECOND);
const BIG: Step = Step::Wait(10 * SECOND);

/// The alphabet; the last two only where there is another kind.
const ALPHABET: [Step; 12] = [
    ASK,
    OK,
    FAIL,
    Step::Report(Whose::Current, Say::Ignored),
    Step::Report(Whose::Earlier, Say::Ok),
    Step::Report(Whose::Earlier, Say::Bad(0)),
    Step::Report(Whose::Again, Say::Bad(0)),
    Step::Lose,
    SMALL,
    BIG,
    OTHER_FAIL,
    Step::Report(Whose::Earlier, Say::Bad(1)),
];

/// Beginnings: nothing; ready to probe after a trip with a permit left from before; two probes lost; closed again with a
/// failure from before the trip still in the window; probing again after a failed probe.
const BEGINNINGS: [&[Step]; 5] = [
    &[],
    &[ASK, ASK, ASK, FAIL, FAIL, BIG],
    &[ASK, ASK, FAIL, FAIL, BIG, ASK, BIG, BIG, ASK, BIG, BIG],
    &[ASK, ASK, FAIL, FAIL, BIG, ASK, OK, ASK],
    &[ASK, ASK, FAIL, FAIL, BIG, ASK, FAIL, BIG, BIG, ASK],
];

fn length() -> usize {
    let set = std::env::var("TRIPNOTE_MODEL_LENGTH").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(if cfg!(debug_assertions) { 5 } else { 6 })
}

/// Walks every history of `left` more steps.
fn walk(pair: &Pair, alphabet: &[Step], left: usize, marks: &mut Marks) {
    if left == 0 {
        return marks.note(Mark::Histories);
    }
    for step in alphabet {
        let mut next = pair.clone();
        if next.step(*step, marks) {
            walk(&next, alphabet, left - 1, marks);
        }
    }
}

fn walk_setup(setup: &Arc<Setup>, length: usize) -> Marks {
    let mut marks = Marks::default();
    let alphabet = if setup.circuits.len() > 1 { &ALPHABET[..] } else { &ALPHABET[..ALPHABET.len() - 2] };
    for beginning in BEGINNINGS {
        let mut pair = Pair::new(setup);
        for step in beginning {
            pair.step(*step, &mut marks);
        }
        walk(&pair, alphabet, length, &mut marks);
    }
    marks
}

#[test]
fn every_short_history_agrees_with_the_oracle() {
    let setups: Vec<Arc<Setup>> = setups().into_iter().map(Arc::new).collect();
    let length = length();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut all = Marks::default();
        while let Some(setup) = setups.get(next.fetch_add(1, Ordering::Relaxed)) {
            let marks = walk_setup(setup, length);
            println!("{:>9} histories, {:>9} steps  {}", marks.of(Mark::Histories), marks.of(Mark::Steps), setup.name);
            all.add(&marks);
        }
        all
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = Marks::default();
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for thread in running {
            match thread.join() {
                Ok(marks) => all.add(&marks),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    println!("histories of length {length}:\n{all}");
    assert!(all.missing().is_empty(), "never reached: {:?}", all.missing());
}
