//! Medians, and how quiet the machine was. No figure of a bench is judged; it is printed beside the goal.

#![allow(dead_code, reason = "no bench uses all of it")]

/// The middle one; NaN where there are none.
pub(crate) fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A goal and whether it was reached.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    /// `<= 250 reached`, `>= 0.95 missed`.
    pub(crate) fn judged(self, figure: f64) -> String {
        let (sign, bound, is_reached) = match self {
            Self::AtMost(bound) => ("<=", bound, figure <= bound),
            Self::AtLeast(bound) => (">=", bound, figure >= bound),
        };
        format!("{sign} {bound} {}", if is_reached { "reached" } else { "missed" })
    }
}

/// The load averages of the machine, as the kernel tells them.
pub(crate) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// Whether the program was called with a flag. Cargo adds `--bench`, which is ignored.
pub(crate) fn is_asked_for(flag: &str) -> bool {
    std::env::args().any(|argument| argument == flag)
}
