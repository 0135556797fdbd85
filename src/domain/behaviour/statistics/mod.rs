//! What counts say: shares with their intervals, quartiles, and how much trips of the same sessions say together.
//!
//! Sessions are drawn, trips are counted. Trips of one session hang together, so a share's interval is that of as many
//! independent trips as say as much: never more than there are. Knows no breaker and no wording.

mod comparison;

pub use self::comparison::{Comparison, Measure, Verdict, compare, sentence};

/// Half the width of a 95 % interval, in standard deviations of a normal distribution.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// Trips and, of these, hits: those of which what is asked holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counted {
    /// Trips.
    pub trips: u64,
    /// Of these, hits.
    pub hits: u64,
}

/// Sums over sessions, with m trips and x hits of each. 128 bits hold the squares of any counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Clusters {
    /// Sessions with at least one trip.
    pub sessions: u64,
    /// The sum of m².
    pub trips_sq: u128,
    /// The sum of x².
    pub hits_sq: u128,
    /// The sum of m·x.
    pub trips_hits: u128,
}

/// Trips of many sessions, and how they are spread over them. Takes no more space the more sessions there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sample {
    /// Over all sessions.
    pub counted: Counted,
    /// How they are spread.
    pub clusters: Clusters,
}

/// A share with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// 0 to 1; none where nothing was counted.
    pub value: Option<f64>,
    /// The lower end; 0 where nothing was counted.
    pub low: f64,
    /// The upper end; 1 where nothing was counted.
    pub high: f64,
    /// As many independent trips say as much. 0, or from 1 to the trips there are.
    pub effective_trips: f64,
}

/// How much a sample says.
#[derive(Clone, Copy, Debug)]
struct Weight {
    /// The share of hits.
    share: f64,
    /// As many independent trips have as small a variance.
    trips: f64,
    /// Degrees of freedom of that variance. Infinite where it is known and not measured.
    degrees: f64,
}

impl Sample {
    /// One session's counts went from `before` to `after`. A session begins with nothing counted.
    pub fn recount(&mut self, before: Counted, after: Counted) {
        let moved = |sum: u64, before: u64, after: u64| sum.saturating_sub(before).saturating_add(after);
        self.counted.trips = moved(self.counted.trips, before.trips, after.trips);
        self.counted.hits = moved(self.counted.hits, before.hits, after.hits);
        let clusters = &mut self.clusters;
        clusters.sessions = moved(clusters.sessions, (before.trips > 0).into(), (after.trips > 0).into());
        let product = |left: u64, right: u64| u128::from(left) * u128::from(right);
        let moved = |sum: u128, before: u128, after: u128| sum.saturating_sub(before).saturating_add(after);
        let square = |n: u64| product(n, n);
        clusters.trips_sq = moved(clusters.trips_sq, square(before.trips), square(after.trips));
        clusters.hits_sq = moved(clusters.hits_sq, square(before.hits), square(after.hits));
        let both = |counted: Counted| product(counted.trips, counted.hits);
        clusters.trips_hits = moved(clusters.trips_hits, both(before), both(after));
    }

    /// Adds a sample of other sessions.
    pub const fn add(&mut self, other: &Self) {
        let (mine, more) = (&mut self.counted, &other.counted);
        mine.trips = mine.trips.saturating_add(more.trips);
        mine.hits = mine.hits.saturating_add(more.hits);
        let (mine, more) = (&mut self.clusters, &other.clusters);
        mine.sessions = mine.sessions.saturating_add(more.sessions);
        mine.trips_sq = mine.trips_sq.saturating_add(more.trips_sq);
        mine.hits_sq = mine.hits_sq.saturating_add(more.hits_sq);
        mine.trips_hits = mine.trips_hits.saturating_add(more.trips_hits);
    }

    /// The share of hits with its 95 % interval (Wilson, on effective trips).
    #[must_use]
    pub fn share(&self) -> Share {
        let Some(weight) = self.weight() else {
            return Share { value: None, low: 0.0, high: 1.0, effective_trips: 0.0 };
        };
        // a variance that was measured on few sessions is uncertain itself, which costs as much
        let narrowing = Z_95 / student(Z_95, weight.degrees);
        let effective_trips = (weight.trips * narrowing * narrowing).max(1.0);
        let (low, high) = wilson(weight.share * effective_trips, effective_trips, Z_95);
        Share { value: Some(weight.share), low, high, effective_trips }
    }

    /// None where nothing was counted.
    fn weight(&self) -> Option<Weight> {
        let Counted { trips, hits } = self.counted;
        if trips == 0 {
            return None;
        }
        let hits = hits.min(trips);
        let share = real(hits) / real(trips);
        let (trips_sq, sessions) = (wide(self.clusters.trips_sq), self.clusters.sessions);
        if sessions >= trips {
            // one trip of each session: these are independent
            return Some(Weight { share, trips: real(trips), degrees: f64::INFINITY });
        }
        if hits == 0 || hits == trips || sessions < 2 {
            // Nothing varies between sessions that could be measured, so the trips of one count as one.
            let whole = (real(trips) * real(trips) / trips_sq).clamp(1.0, real(trips));
            return Some(Weight { share, trips: whole, degrees: f64::INFINITY });
        }
        let (hits_sq, both) = (wide(self.clusters.hits_sq), wide(self.clusters.trips_hits));
        let spread = (hits_sq - 2.0 * share * both + share * share * trips_sq).max(0.0);
        let n = real(sessions);
        let variance = n / (n - 1.0) * spread / (real(trips) * real(trips));
        let independent = share * (1.0 - share) / real(trips);
        let design_effect = (variance / independent).max(1.0);
        let trips = (real(trips) / design_effect).max(1.0);
        Some(Weight { share, trips, degrees: n - 1.0 })
    }
}

/// Wilson's interval of a share: `hits` of `trips`, which need not be whole, at `z` standard deviations.
#[must_use]
pub fn wilson(hits: f64, trips: f64, z: f64) -> (f64, f64) {
    if trips <= 0.0 {
        return (0.0, 1.0);
    }
    let (share, z_sq) = ((hits / trips).clamp(0.0, 1.0), z * z);
    let centre = share + z_sq / (2.0 * trips);
    let reach = z * (share * (1.0 - share) / trips + z_sq / (4.0 * trips * trips)).sqrt();
    let scale = 1.0 + z_sq / trips;
    // the ends meet 0 and 1 exactly there, which rounding would miss
    let low = if share <= 0.0 { 0.0 } else { ((centre - reach) / scale).max(0.0) };
    let high = if share >= 1.0 { 1.0 } else { ((centre + reach) / scale).min(1.0) };
    (low, high)
}

/// Quartiles of whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quartiles {
    /// A quarter is at most this.
    pub first: u32,
    /// Half is at most this.
    pub median: u32,
    /// Three quarters are at most this.
    pub third: u32,
}

/// The quartiles of a histogram, whose places count how often each number from 0 came; none where nothing was counted.
///
/// Each is the smallest number that as many do not exceed, so that it is one that was seen. Where the last place holds
/// all that is longer, that place means as much.
#[must_use]
pub fn quartiles(histogram: &[u64]) -> Option<Quartiles> {
    let all: u128 = histogram.iter().map(|n| u128::from(*n)).sum();
    let quarter = |quarters: u128| {
        let sums = histogram.iter().scan(0_u128, |sum, n| {
            *sum += u128::from(*n);
            Some(*sum)
        });
        let at = sums.take_while(|sum| sum * 4 < all * quarters).count();
        u32::try_from(at).unwrap_or(u32::MAX)
    };
    (all > 0).then(|| Quartiles { first: quarter(1), median: quarter(2), third: quarter(3) })
}

/// As many standard deviations of Student's distribution as have the probability of `z` of the normal one (Wallace's
/// approximation the other way round; within 1 % from 4 degrees, and wide below).
fn student(z: f64, degrees: f64) -> f64 {
    if degrees.is_infinite() {
        return z;
    }
    let scaled = z * (8.0 * degrees + 3.0) / (8.0 * degrees + 1.0);
    (degrees * (scaled * scaled / degrees).exp_m1()).sqrt()
}

/// The way back from [`student`].
fn normal(t: f64, degrees: f64) -> f64 {
    if degrees.is_infinite() {
        return t;
    }
    (8.0 * degrees + 1.0) / (8.0 * degrees + 3.0) * (degrees * (t * t / degrees).ln_1p()).sqrt()
}

#[expect(clippy::cast_precision_loss, reason = "counts beyond 2^53 lose what no interval shows")]
const fn real(n: u64) -> f64 {
    n as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts beyond 2^53 lose what no interval shows")]
const fn wide(n: u128) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests;
