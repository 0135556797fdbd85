//! Rows about trips: what a model did with what it was told, and how it ended.

use super::{BREAKER, Label, Metric, SIGNAL, Unit, VARIANT, words};
use crate::domain::behaviour::{FirstAction, Resolution};

/// Trips.
pub const TRIPS: Metric = Metric::counter(
    "tripnote_trips_total",
    &[BREAKER, SIGNAL, VARIANT],
    "Contracts that were told in a session; several of one breaker in one model step are one",
);
/// Follow-ups.
pub const FOLLOW_UPS: Metric = Metric::counter(
    "tripnote_trip_followups_total",
    &[BREAKER, SIGNAL, VARIANT, Label::words("first_action", || words!(FirstAction))],
    "Concluded trips by the first action after them; `none` is no further call",
);
/// Resolutions.
pub const RESOLUTIONS: Metric = Metric::counter(
    "tripnote_trip_resolutions_total",
    &[BREAKER, SIGNAL, VARIANT, Label::words("outcome", || words!(Resolution))],
    "Trips by how it ended with what had been refused",
);
/// Steps to a recovery.
pub const RECOVERY_TURNS: Metric = Metric::histogram(
    "tripnote_recovery_turns",
    (Unit::Turn, &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 25.0]),
    &[SIGNAL, VARIANT],
    "Model steps from a trip to its recovery, of recovered trips alone; set it beside all resolutions",
);
/// Trips with a repeat.
pub const REPEATED_TRIPS: Metric = Metric::counter(
    "tripnote_repeated_trips_total",
    &[BREAKER, SIGNAL, VARIANT],
    "Concluded trips after which the same call was made again before its time, first or later",
);
/// Repeats.
pub const REPEATS: Metric = Metric::counter(
    "tripnote_repeats_total",
    &[SIGNAL, VARIANT],
    "How often the same call was made again before its time, over concluded trips",
);
/// Sessions with a trip.
pub const TRIP_SESSIONS: Metric = Metric::counter(
    "tripnote_trip_sessions_total",
    &[BREAKER, SIGNAL, VARIANT],
    "Sessions with a concluded trip: what is independent of each other, as trips of one session are not",
);
