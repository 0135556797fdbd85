//! What models did after a guard's word, in words: shares with their intervals, steps with their quartiles.
//!
//! The recorded model was given the raw results, so that these are figures of the world without us.

use crate::domain::behaviour::Resolution;
use crate::domain::behaviour::figures::Figures;
use crate::domain::behaviour::statistics::{Sample, quartiles};

/// The headings over [`cells`], behind the name of a row.
pub const HEADINGS: [&str; 6] =
    ["trips", "with a repeat", "repeats", "first action matches", "recovered", "steps to it"];

/// One row: trips that would have been told, and what came of them.
#[must_use]
pub fn cells(figures: &Figures) -> [String; HEADINGS.len()] {
    let steps = quartiles(&figures.turns);
    [
        figures.told.to_string(),
        share(&figures.repeated),
        figures.repeats.to_string(),
        share(&figures.matched),
        figures.resolution(Resolution::Recovered).to_string(),
        steps.map(|steps| format!("{} ({}–{})", steps.median, steps.first, steps.third)).unwrap_or_default(),
    ]
}

/// `3 of 9, 33 % (12–65 %)`: hits of concluded trips, with the 95 % interval of the share.
fn share(sample: &Sample) -> String {
    let share = sample.share();
    let Some(value) = share.value else { return String::new() };
    let percent = |value: f64| format!("{:.0}", value * 100.0);
    let (hits, trips) = (sample.counted.hits, sample.counted.trips);
    format!("{hits} of {trips}, {} % ({}–{} %)", percent(value), percent(share.low), percent(share.high))
}
