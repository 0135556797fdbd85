//! What became of many trips: sums that can be added to each other, so that lives and replicas can be.

use super::statistics::{Counted, Sample};
use super::{Cluster, Conclusion, Fact, FirstAction, Resolution, SessionEnd, SessionOutcome};

/// Places of a distribution of steps; the last holds those that took longer.
pub const TURNS_PLACES: usize = 65;

/// What became of the trips of one breaker in one wording, under one signal or all.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Figures {
    /// Trips told.
    pub told: u64,
    /// First actions of concluded trips, in the order of [`FirstAction::ALL`].
    pub first_actions: [u64; 4],
    /// Concluded trips and, of these, those with at least one repeat.
    pub repeated: Sample,
    /// Concluded trips and, of these, those whose first action matched.
    pub matched: Sample,
    /// Repeats in all.
    pub repeats: u64,
    /// Concluded trips whose target was called with other arguments, against the action.
    pub ignored_trips: u64,
    /// Such calls in all.
    pub ignored: u64,
    /// How trips ended, in the order of [`Resolution::ALL`].
    pub resolutions: [u64; 4],
    /// Recovered trips by the steps it took.
    #[serde(with = "crate::domain::written::array")]
    pub turns: [u64; TURNS_PLACES],
    /// Sessions that were told to halt.
    pub halted_sessions: u64,
    /// Of these, those that succeeded.
    pub false_halts: u64,
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            told: 0,
            first_actions: [0; 4],
            repeated: Sample::default(),
            matched: Sample::default(),
            repeats: 0,
            ignored_trips: 0,
            ignored: 0,
            resolutions: [0; 4],
            turns: [0; TURNS_PLACES],
            halted_sessions: 0,
            false_halts: 0,
        }
    }
}

impl Figures {
    /// Concluded trips with a first action.
    #[must_use]
    pub fn first_action(&self, word: FirstAction) -> u64 {
        self.first_actions.get(word as usize).copied().unwrap_or(0)
    }

    /// Trips that ended in a way.
    #[must_use]
    pub fn resolution(&self, word: Resolution) -> u64 {
        self.resolutions.get(word as usize).copied().unwrap_or(0)
    }

    /// Concluded trips.
    #[must_use]
    pub const fn concluded(&self) -> u64 {
        self.repeated.counted.trips
    }

    /// Adds what became known of one trip; `before` is what its session had come to.
    pub fn conclude(&mut self, conclusion: &Conclusion, before: Cluster) {
        let Conclusion { first_action, repeats, ignored, .. } = *conclusion;
        if let Some(count) = self.first_actions.get_mut(first_action as usize) {
            *count += 1;
        }
        self.repeats += u64::from(repeats);
        self.ignored_trips += u64::from(ignored > 0);
        self.ignored += u64::from(ignored);
        let add = |sample: &mut Sample, hits: u32, is_hit: bool| {
            let (trips, hits) = (u64::from(before.trips), u64::from(hits));
            let after = Counted { trips: trips + 1, hits: hits + u64::from(is_hit) };
            sample.recount(Counted { trips, hits }, after);
        };
        add(&mut self.repeated, before.repeated, repeats > 0);
        add(&mut self.matched, before.matched, first_action == FirstAction::Match);
    }

    /// Adds how it ended with one trip.
    pub fn resolve(&mut self, resolution: Resolution, turns: Option<u32>) {
        if let Some(count) = self.resolutions.get_mut(resolution as usize) {
            *count += 1;
        }
        let place = turns.map(|turns| usize::try_from(turns).unwrap_or(usize::MAX).min(TURNS_PLACES - 1));
        if let Some(count) = place.and_then(|place| self.turns.get_mut(place)) {
            *count += 1;
        }
    }

    /// Adds a session that had been told to halt.
    pub fn halt(&mut self, is_false: bool) {
        self.halted_sessions += 1;
        self.false_halts += u64::from(is_false);
    }

    /// Adds the figures of another part: other signals, another replica.
    pub fn merge(&mut self, other: &Self) {
        self.told += other.told;
        self.repeats += other.repeats;
        self.ignored_trips += other.ignored_trips;
        self.ignored += other.ignored;
        self.halted_sessions += other.halted_sessions;
        self.false_halts += other.false_halts;
        add_each(&mut self.first_actions, &other.first_actions);
        add_each(&mut self.resolutions, &other.resolutions);
        add_each(&mut self.turns, &other.turns);
        self.repeated.add(&other.repeated);
        self.matched.add(&other.matched);
    }
}

fn add_each(sums: &mut [u64], more: &[u64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

/// Ended sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SessionFigures {
    /// By how they ended, in the order of [`SessionOutcome::ALL`].
    pub outcomes: [u64; 4],
    /// With a halt.
    pub with_halts: u64,
    /// With a steer.
    pub with_steers: u64,
    /// Closed as successful.
    pub successful: u64,
    /// With a halt, and closed as successful.
    pub false_halts: u64,
}

impl SessionFigures {
    /// Sessions that ended in a way.
    #[must_use]
    pub fn outcome(&self, word: SessionOutcome) -> u64 {
        self.outcomes.get(word as usize).copied().unwrap_or(0)
    }

    /// Adds an ended session.
    pub fn end(&mut self, end: &SessionEnd) {
        let is_success = end.success == Some(true);
        if let Some(count) = self.outcomes.get_mut(end.outcome as usize) {
            *count += 1;
        }
        self.with_halts += u64::from(end.halts > 0);
        self.with_steers += u64::from(end.steers > 0);
        self.successful += u64::from(is_success);
        self.false_halts += u64::from(is_success && end.halts > 0);
    }

    /// Adds the figures of another part.
    pub fn merge(&mut self, other: &Self) {
        add_each(&mut self.outcomes, &other.outcomes);
        self.with_halts += other.with_halts;
        self.with_steers += other.with_steers;
        self.successful += other.successful;
        self.false_halts += other.false_halts;
    }
}

impl Fact {
    /// Of which contract; none where it is of a session.
    #[must_use]
    pub const fn label(&self) -> Option<&super::Label> {
        match self {
            Self::Told(label, _) | Self::Resolved { label, .. } => Some(label),
            Self::Concluded(conclusion) => Some(&conclusion.label),
            Self::Ended(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_two_parts_add_up_to_those_of_the_whole() {
        let (mut one, mut other, mut whole) = (Figures::default(), Figures::default(), Figures::default());
        for at in 0..200_u32 {
            let part = if at % 3 == 0 { &mut one } else { &mut other };
            for figures in [part, &mut whole] {
                figures.told += 1;
                figures.resolve(Resolution::ALL[at as usize % 4], (at % 4 == 0).then_some(at));
                figures.halt(at % 7 == 0);
            }
        }
        one.merge(&other);
        assert_eq!(one, whole);
        assert_eq!(whole.turns[TURNS_PLACES - 1], (64..200).filter(|at| at % 4 == 0).count() as u64);
    }
}
