//! The keys of `[session]`: what every agent run is held to.

use super::{COUNT, range};
use crate::config::field::{Field, Lens};
use crate::config::key::Key;
use crate::config::settings::Settings;
use crate::config::text::DAY;
use crate::domain::breaker::running::CALLS_AT_ONCE_MAX;

/// Counts at which a guard speaks: two at least, as one observation is no repeat.
const REPEATS: crate::config::field::Range = range(2, 1_000);

/// Keys of `[session]`.
pub(in crate::config) static SESSION: &[Key<Settings>] = &[
    Key::new(
        "idle_for",
        Field::Duration(range(1_000, 30 * DAY), plain!(session.idle_for_ms)),
        "how long a session is remembered of which nothing is heard",
    ),
    Key::new(
        "steer_at",
        Field::Count(REPEATS, count!(u32, session.steer_at)),
        "the same failed or empty result of the same question: steers at this count",
    ),
    Key::new(
        "halt_at",
        Field::Count(REPEATS, count!(u32, session.halt_at)),
        "the same failed or empty result of the same question: halts the route at this count",
    ),
    Key::new(
        "sweep_steer_at",
        Field::Count(REPEATS, count!(u32, session.sweep_steer_at)),
        "the same result of other questions of the same tool: steers at this count",
    ),
    Key::new(
        "sweep_halt_at",
        Field::Count(REPEATS, count!(u32, session.sweep_halt_at)),
        "the same result of other questions of the same tool: halts the route at this count",
    ),
    Key::new(
        "broad_steer_at",
        Field::Count(REPEATS, count!(u32, session.broad_steer_at)),
        "failures of one tool in a row, whatever they say: steers at this count",
    ),
    Key::new(
        "broad_halt_at",
        Field::Count(REPEATS, count!(u32, session.broad_halt_at)),
        "failures of one tool in a row, whatever they say: halts the route at this count",
    ),
    Key::new(
        "observed_repeats",
        Field::Switch(plain!(session.observed_repeats)),
        "whether the same usable result of the same call counts as a repeat",
    ),
    Key::new(
        "observed_steer_at",
        Field::Count(REPEATS, count!(u32, session.observed_steer_at)),
        "the same usable result of the same call: steers at this count",
    ),
    Key::new(
        "observed_halt_at",
        Field::Count(REPEATS, count!(u32, session.observed_halt_at)),
        "the same usable result of the same call: halts the route at this count",
    ),
    Key::new(
        "max_halts",
        Field::Count(range(1, 64), count!(u32, session.max_halts)),
        "halted routes of a task that halt the session until the next task",
    ),
    Key::new(
        "alert_steer_then_halt",
        Field::Count(COUNT, count!(u32, session.alert_steer_then_halt)),
        "steers of a session that ended in a halt: the count that the operator wants to hear of",
    ),
    Key::new(
        "fan_out_per_wave",
        Field::Count(range(0, 256), count!(u32, session.fan_out_per_wave)),
        "calls of one tool at once in a session; 0 for no cap",
    ),
    Key::new(
        "fan_out_per_backend",
        Field::Count(range(0, CALLS_AT_ONCE_MAX as u64), count!(u32, session.fan_out_per_backend)),
        "calls of one breaker at once over all sessions, and without one; 0 for no cap",
    ),
    Key::new(
        "pin_tool_after",
        Field::Count(range(0, 1_000), count!(u32, session.pin_tool_after)),
        "refusals of one tool by the user or the host that pin the tool for the task; 0 for never",
    ),
];
