//! What became of many trips: sums that can be added to each other, so that lives and replicas can be.

use super::{Cluster, Conclusion, Fact, FirstAction, Resolution, SessionEnd, SessionOutcome};

/// Places of a distribution of steps; the last holds those that took longer.
pub const TURNS_PLACES: usize = 65;

/// What hangs together: over sessions with m trips of which x hit, the sums of squares and products. Trips of one
/// session are not independent, so that their number alone says more than is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clusters {
    /// Sessions with any trip.
    pub sessions: u64,
    /// Sum of m · m.
    pub trips_sq: u64,
    /// Sum of x · x.
    pub hits_sq: u64,
    /// Sum of m · x.
    pub trips_hits: u64,
}

impl Clusters {
    /// One more trip in a session that had `trips` of which `hits` hit.
    fn add(&mut self, trips: u32, hits: u32, is_hit: bool) {
        let (m, x, hit) = (u64::from(trips), u64::from(hits), u64::from(is_hit));
        self.sessions += u64::from(trips == 0);
        self.trips_sq += 2 * m + 1;
        self.hits_sq += hit * (2 * x + 1);
        self.trips_hits += x + hit * (m + 1);
    }

    fn merge(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.trips_sq += other.trips_sq;
        self.hits_sq += other.hits_sq;
        self.trips_hits += other.trips_hits;
    }
}

/// What became of the trips of one breaker in one wording, under one signal or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Trips told.
    pub told: u64,
    /// Of these, concluded.
    pub concluded: u64,
    /// First actions of concluded trips, in the order of [`FirstAction::ALL`].
    pub first_actions: [u64; 4],
    /// Concluded trips with at least one repeat.
    pub repeated: u64,
    /// Repeats in all.
    pub repeats: u64,
    /// Concluded trips whose target was called with other arguments, against the action.
    pub ignored_trips: u64,
    /// Such calls in all.
    pub ignored: u64,
    /// How trips ended, in the order of [`Resolution::ALL`].
    pub resolutions: [u64; 4],
    /// Recovered trips by the steps it took.
    pub turns: [u64; TURNS_PLACES],
    /// How the repeated trips of sessions hang together.
    pub repeated_clusters: Clusters,
    /// How the trips with a first action that matched do.
    pub matched_clusters: Clusters,
    /// Sessions that were told to halt.
    pub halted_sessions: u64,
    /// Of these, those that succeeded.
    pub false_halts: u64,
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            told: 0,
            concluded: 0,
            first_actions: [0; 4],
            repeated: 0,
            repeats: 0,
            ignored_trips: 0,
            ignored: 0,
            resolutions: [0; 4],
            turns: [0; TURNS_PLACES],
            repeated_clusters: Clusters::default(),
            matched_clusters: Clusters::default(),
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

    /// Adds what became known of one trip; `before` is what its session had come to.
    pub fn conclude(&mut self, conclusion: &Conclusion, before: Cluster) {
        let Conclusion { first_action, repeats, ignored, .. } = *conclusion;
        self.concluded += 1;
        if let Some(count) = self.first_actions.get_mut(first_action as usize) {
            *count += 1;
        }
        self.repeated += u64::from(repeats > 0);
        self.repeats += u64::from(repeats);
        self.ignored_trips += u64::from(ignored > 0);
        self.ignored += u64::from(ignored);
        self.repeated_clusters.add(before.trips, before.repeated, repeats > 0);
        self.matched_clusters.add(before.trips, before.matched, first_action == FirstAction::Match);
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
        self.concluded += other.concluded;
        self.repeated += other.repeated;
        self.repeats += other.repeats;
        self.ignored_trips += other.ignored_trips;
        self.ignored += other.ignored;
        self.halted_sessions += other.halted_sessions;
        self.false_halts += other.false_halts;
        add_each(&mut self.first_actions, &other.first_actions);
        add_each(&mut self.resolutions, &other.resolutions);
        add_each(&mut self.turns, &other.turns);
        self.repeated_clusters.merge(&other.repeated_clusters);
        self.matched_clusters.merge(&other.matched_clusters);
    }
}

fn add_each(sums: &mut [u64], more: &[u64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

/// Ended sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    fn clusters_hold_the_sums_over_sessions_however_the_trips_come() {
        let sessions: [&[bool]; 4] = [&[true, false, true], &[false], &[true, true], &[false; 5]];
        let mut sums = Clusters::default();
        for at in 0..5 {
            for trips in sessions.iter().filter_map(|trips| trips.get(..=at)) {
                let hits = trips[..at].iter().filter(|hit| **hit).count();
                sums.add(at as u32, hits as u32, trips[at]);
            }
        }
        let squares = |of: fn(u64, u64) -> u64| -> u64 {
            let counted = |trips: &&[bool]| (trips.len() as u64, trips.iter().filter(|hit| **hit).count() as u64);
            sessions.iter().map(counted).map(|(m, x)| of(m, x)).sum()
        };
        let due = Clusters {
            sessions: 4,
            trips_sq: squares(|m, _| m * m),
            hits_sq: squares(|_, x| x * x),
            trips_hits: squares(|m, x| m * x),
        };
        assert_eq!(sums, due);
    }

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
