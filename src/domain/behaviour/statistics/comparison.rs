//! Whether two shares differ, how sure that is, and how many more trips would tell. Knows no breaker.

use super::{Sample, Weight, normal, real};
use crate::domain::signal::closed_words;

/// The probability, in standard deviations, beyond which a difference is called one: 1 %, both sides.
const Z_LEVEL: f64 = 2.575_829_303_548_901;
/// The probability of the same, where there is no difference.
const LEVEL: f64 = 0.01;
/// 80 % power, in standard deviations.
const Z_POWER: f64 = 0.841_621_233_572_914;
/// Hits and misses that are due of each of the two, in effective trips, for the normal distribution to hold.
const EXPECTED_MIN: f64 = 5.0;
/// Effective trips of each from which two that went the same way each time are not called too few: both intervals are
/// then at most 10 points wide.
const SAME_WAY_MIN: f64 = 35.0;
/// The most further trips that are named.
const MORE_TRIPS_MAX: u64 = 1_000_000;

closed_words! {
    /// What of two variants is compared.
    Measure {
        /// Trips after which the same call came again before its time.
        RepeatRate = "repeat_rate",
        /// Trips whose first action was what the contract asked for.
        FirstActionMatch = "first_action_match",
    }
}

closed_words! {
    /// What can be said of two shares.
    Verdict {
        /// There are too few trips to say anything.
        TooFew = "too_few",
        /// They differ, at a level of 1 %.
        Different = "different",
        /// No difference is seen.
        NoDifference = "no_difference",
    }
}

/// Two shares held against each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Both shares, 0 to 1; none where nothing was counted.
    pub shares: [Option<f64>; 2],
    /// The first less the second; none where one of both counted nothing.
    pub difference: Option<f64>,
    /// The probability of a difference as large where there is none; none where it cannot be said.
    pub p_value: Option<f64>,
    /// What can be said.
    pub verdict: Verdict,
    /// Trips of each that are needed beyond those there are, to tell the difference seen at 1 % with 80 % power: 1 to
    /// 1,000,000. None unless there are too few, and where no difference was seen that could be told.
    pub more_trips: Option<u64>,
}

/// Holds two samples of different sessions against each other: the two-proportion z-test, pooled, on effective trips.
///
/// It says nothing where fewer than five hits or misses are expected of either, in effective trips; two samples that went
/// the same way each time are told to show no difference from 35 effective trips of each.
#[must_use]
pub fn compare(first: &Sample, second: &Sample) -> Comparison {
    let (weights, shares) = ([first.weight(), second.weight()], [first, second].map(|sample| sample.share().value));
    let too_few = Comparison { shares, difference: None, p_value: None, verdict: Verdict::TooFew, more_trips: None };
    let [Some(one), Some(other)] = weights else {
        return too_few;
    };
    let difference = Some(one.share - other.share);
    let smaller = one.trips.min(other.trips);
    let pooled = one.pooled(&other);
    let is_same_way = pooled <= 0.0 || pooled >= 1.0;
    if is_same_way && smaller >= SAME_WAY_MIN {
        return Comparison { difference, p_value: Some(1.0), verdict: Verdict::NoDifference, ..too_few };
    }
    if smaller * pooled.min(1.0 - pooled) < EXPECTED_MIN {
        let more_trips = more_trips([(first, one), (second, other)]);
        return Comparison { difference, more_trips, ..too_few };
    }
    let p_value = one.p_value(&other);
    let verdict = if p_value < LEVEL { Verdict::Different } else { Verdict::NoDifference };
    Comparison { difference, p_value: Some(p_value), verdict, ..too_few }
}

impl Weight {
    /// The share of both together.
    fn pooled(&self, other: &Self) -> f64 {
        (self.share * self.trips + other.share * other.trips) / (self.trips + other.trips)
    }

    fn p_value(&self, other: &Self) -> f64 {
        let pooled = self.pooled(other);
        let (mine, others) = (1.0 / self.trips, 1.0 / other.trips);
        let deviation = (pooled * (1.0 - pooled) * (mine + others)).sqrt();
        // Satterthwaite's degrees of freedom: the less is known of a variance, the more its part of it counts
        let uncertain = mine * mine / self.degrees + others * others / other.degrees;
        let degrees = if uncertain > 0.0 { (mine + others) * (mine + others) / uncertain } else { f64::INFINITY };
        let z = normal((self.share - other.share).abs() / deviation, degrees);
        libm::erfc(z / std::f64::consts::SQRT_2)
    }
}

/// None where the shares are equal.
fn more_trips(both: [(&Sample, Weight); 2]) -> Option<u64> {
    let [one, other] = both.map(|(_, weight)| weight.share);
    let difference = (one - other).abs();
    if difference <= 0.0 {
        return None;
    }
    let (middle, vary) = (f64::midpoint(one, other), |share: f64| share * (1.0 - share));
    let reach = Z_LEVEL * (2.0 * vary(middle)).sqrt() + Z_POWER * (vary(one) + vary(other)).sqrt();
    let expected = EXPECTED_MIN / middle.min(1.0 - middle);
    let due = (reach * reach / (difference * difference)).max(expected);
    let more = both.map(|(sample, weight)| {
        let trips = real(sample.counted.trips);
        due * trips / weight.trips - trips
    });
    let [one, other] = more;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the bounds")]
    let more = one.max(other).ceil().clamp(1.0, real(MORE_TRIPS_MAX)) as u64;
    Some(more)
}

/// What a comparison of two variants comes to, in a sentence without its full stop.
#[must_use]
pub fn sentence(measure: Measure, variants: [&str; 2], comparison: &Comparison) -> String {
    let [first, second] = variants;
    let named = match measure {
        Measure::RepeatRate => "repeat rate",
        Measure::FirstActionMatch => "first-action match",
    };
    let [Some(one), Some(other)] = comparison.shares else {
        let [one, _] = comparison.shares;
        let bare = if one.is_none() { first } else { second };
        return format!("not enough trips yet to compare by {named}: none of `{bare}` is concluded");
    };
    let shares = format!("{} against {}", percent(one), percent(other));
    let certainty = comparison.p_value.map_or_else(String::new, certainty);
    match comparison.verdict {
        Verdict::Different => {
            let what = match measure {
                Measure::RepeatRate => "calls are repeated",
                Measure::FirstActionMatch => "the first action matches",
            };
            let how = if one < other { "less" } else { "more" };
            format!("{what} {how} often after `{first}` than after `{second}`: {shares}{certainty}")
        }
        Verdict::NoDifference => {
            format!("no difference in {named} is seen between `{first}` and `{second}`: {shares}{certainty}")
        }
        Verdict::TooFew => {
            let more = match comparison.more_trips {
                Some(MORE_TRIPS_MAX) => ": over a million more of each".to_owned(),
                Some(more) => format!(": about {} more of each", rounded_up(more)),
                None => String::new(),
            };
            format!("not enough trips yet to tell `{first}` from `{second}` by {named} ({shares}){more}")
        }
    }
}

/// `12.5%`.
fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn certainty(p_value: f64) -> String {
    if p_value < 0.001 { " (p < 0.001)".to_owned() } else { format!(" (p = {p_value:.3})") }
}

/// To two places that count, as it is an estimate.
pub(super) const fn rounded_up(n: u64) -> u64 {
    let mut unit = 1;
    while n / unit >= 100 {
        unit *= 10;
    }
    n.div_ceil(unit) * unit
}
