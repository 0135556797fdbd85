//! Rows about sessions: how many, how they ended, what their guards told, and what reviews found.

use super::{Label, Metric, Unit, words};
use crate::domain::behaviour::SessionOutcome;
use crate::domain::session::review::{ReviewRule, ReviewWord};

/// Bounds of what one session comes to; the first is "none".
const OF_A_SESSION: (Unit, &[f64]) = (Unit::Count, &[0.0, 1.0, 2.0, 3.0, 5.0, 10.0]);

/// Open sessions.
pub const SESSIONS_OPEN: Metric =
    Metric::gauge("tripnote_sessions_open", Unit::Count, &[], "Sessions that are remembered");
/// Started sessions.
pub const SESSIONS_STARTED: Metric = Metric::counter("tripnote_sessions_started_total", &[], "Sessions that began");
/// Ended sessions.
pub const SESSIONS_ENDED: Metric = Metric::counter(
    "tripnote_sessions_ended_total",
    &[Label::words("outcome", || words!(SessionOutcome))],
    "Sessions that ended; one that nothing was heard of too long is abandoned",
);
/// Steers of a session.
pub const SESSION_STEERS: Metric =
    Metric::histogram("tripnote_session_steers", OF_A_SESSION, &[], "Steers that an ended session was told");
/// Halts of a session.
pub const SESSION_HALTS: Metric =
    Metric::histogram("tripnote_session_halts", OF_A_SESSION, &[], "Halts that an ended session was told");
/// Steers of a session that ended in a halt.
pub const SESSION_STEER_THEN_HALTS: Metric = Metric::histogram(
    "tripnote_session_steer_then_halts",
    OF_A_SESSION,
    &[],
    "Steers of an ended session that did not help, so that a halt followed",
);
/// Steers that ended in a halt.
pub const STEER_THEN_HALTS: Metric = Metric::counter(
    "tripnote_steer_then_halts_total",
    &[],
    "Halts that came after a steer, at the moment they are told",
);
/// Sessions above the operator's count.
pub const STEER_THEN_HALT_ALERTS: Metric = Metric::counter(
    "tripnote_steer_then_halt_alerts_total",
    &[],
    "Sessions that reached `session.alert_steer_then_halt`, at the moment they did",
);
/// The operator's count.
pub const ALERT_STEER_THEN_HALT: Metric = Metric::gauge(
    "tripnote_alert_steer_then_halt",
    Unit::Count,
    &[],
    "`session.alert_steer_then_halt` of the configuration in force",
);
/// False halts.
pub const FALSE_HALTS: Metric =
    Metric::counter("tripnote_false_halts_total", &[], "Sessions with a halt that their caller closed as successful");
/// Reviews.
pub const REVIEWS: Metric = Metric::counter(
    "tripnote_reviews_total",
    &[Label::words("verdict", || words!(ReviewWord))],
    "Answers that were reviewed",
);
/// What reviews found.
pub const REVIEW_FAULTS: Metric = Metric::counter(
    "tripnote_review_faults_total",
    &[Label::words("rule", || words!(ReviewRule))],
    "Answers that may not stand by the first rule that they break",
)
.experimental();
