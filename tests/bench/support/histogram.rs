//! A log-linear histogram: 32 steps in each doubling, so that a quantile is at most 3 % off.

const STEPS_LOG2: u32 = 5;
const STEPS: u64 = 1 << STEPS_LOG2;

#[derive(Clone, Default)]
pub(crate) struct Histogram {
    counts: Vec<u32>,
    total: u64,
}

/// Below `STEPS` each value has its own place; above, each doubling has `STEPS` of them.
fn place_of(value: u64) -> usize {
    let doublings = value.max(1).ilog2().saturating_sub(STEPS_LOG2);
    let place = (u64::from(doublings) << STEPS_LOG2) + (value >> doublings);
    usize::try_from(place).unwrap_or(usize::MAX)
}

/// The largest value of a place.
fn top_of(place: usize) -> u64 {
    let place = place as u64;
    let doublings = (place >> STEPS_LOG2).saturating_sub(1);
    let step = place - (doublings << STEPS_LOG2);
    ((step + 1) << doublings) - 1
}

impl Histogram {
    pub(crate) fn add(&mut self, value: u64) {
        let place = place_of(value);
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
        self.total += 1;
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The value below which a share of all lies; 0 where there are none.
    pub(crate) fn quantile(&self, share: f64) -> u64 {
        let wanted = (self.total as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (place, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return top_of(place);
            }
        }
        0
    }
}

/// Panics where the places do not tile the numbers; asked once before a bench relies on it, as benches have no tests.
pub(crate) fn check() {
    for value in (0..5_000).chain([1 << 20, (1 << 30) + 12_345]) {
        let (place, top) = (place_of(value), top_of(place_of(value)));
        assert!(value <= top && top <= value + value / STEPS, "{value} is in place {place}, which ends at {top}");
    }
}
