//! The only readers of clocks. One monotonic read per request; the wall clock is read only where a time is shown.

#![expect(clippy::disallowed_methods, reason = "INVARIANT: this file is the one that reads clocks")]

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::domain::time::{Timestamp, WallClock};

/// Where time comes from.
pub trait Clock: Send + Sync + 'static {
    /// The monotonic time of this deployment.
    fn now(&self) -> Timestamp;

    /// How the wall clock stands to it.
    fn wall(&self) -> WallClock;
}

/// The machine's clocks.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
    /// Where the scale stood then.
    began_at: Timestamp,
    /// The offset of the last check, and when it was taken: the wall clock is trusted while it keeps to it.
    anchor_offset_ms: AtomicI64,
    anchored_at_ms: AtomicU64,
}

/// The wall clock may move this far against the monotonic one between checks (spec 01).
const DRIFT_MS_MAX: u64 = 2_000;
/// A new check replaces the last after this time, so that a step is distrusted for at most this long.
const ANCHOR_FOR_MS: u64 = 60_000;

impl SystemClock {
    /// A clock whose timestamp 0 is now.
    #[must_use]
    pub fn start() -> Self {
        Self::resume(&|_| Timestamp(0))
    }

    /// A clock that goes on from where the last life was, given the Unix time in milliseconds.
    #[must_use]
    pub fn resume(from: &dyn Fn(u64) -> Timestamp) -> Self {
        let start = Instant::now();
        let began_at = from(WallClock { offset_ms: offset_ms(Timestamp(0)), trusted: true }.unix_ms(Timestamp(0)));
        let anchored_at_ms = AtomicU64::new(began_at.0);
        let clock = Self { start, began_at, anchor_offset_ms: AtomicI64::new(0), anchored_at_ms };
        clock.anchor_offset_ms.store(offset_ms(clock.now()), Ordering::Relaxed);
        clock
    }
}

/// How far the wall clock is ahead of the monotonic one.
fn offset_ms(now: Timestamp) -> i64 {
    let wall_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let wall_ms = i64::try_from(wall_ms).unwrap_or(i64::MAX);
    wall_ms.saturating_sub(i64::try_from(now.0).unwrap_or(i64::MAX))
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        self.began_at.plus_ms(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    fn wall(&self) -> WallClock {
        let now = self.now();
        let offset_ms = offset_ms(now);
        let anchor_ms = self.anchor_offset_ms.load(Ordering::Relaxed);
        let trusted = is_steady(anchor_ms, offset_ms);
        if now.0.saturating_sub(self.anchored_at_ms.load(Ordering::Relaxed)) >= ANCHOR_FOR_MS {
            self.anchored_at_ms.store(now.0, Ordering::Relaxed);
            self.anchor_offset_ms.store(offset_ms, Ordering::Relaxed);
        }
        WallClock { offset_ms, trusted }
    }
}

/// How long something takes, for those who look on; nothing is decided by it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since then.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

fn is_steady(anchor_ms: i64, offset_ms: i64) -> bool {
    anchor_ms.abs_diff(offset_ms) <= DRIFT_MS_MAX
}

/// A clock that moves only when it is told to: for tests and `serve --test-clock`.
#[derive(Debug)]
pub struct ManualClock {
    now_ms: AtomicU64,
    offset_ms: AtomicI64,
    distrusted: AtomicU64,
}

impl ManualClock {
    /// A clock that stands at timestamp 0 and the given Unix time.
    #[must_use]
    pub const fn at_unix_ms(unix_ms: i64) -> Self {
        Self { now_ms: AtomicU64::new(0), offset_ms: AtomicI64::new(unix_ms), distrusted: AtomicU64::new(0) }
    }

    /// A clock that goes on from a timestamp, at the given Unix time.
    #[must_use]
    pub fn resume(unix_ms: i64, at: Timestamp) -> Self {
        let clock = Self::at_unix_ms(unix_ms.saturating_sub(i64::try_from(at.0).unwrap_or(i64::MAX)));
        clock.set(at);
        clock
    }

    /// Moves to a timestamp; never back.
    pub fn set(&self, now: Timestamp) {
        self.now_ms.fetch_max(now.0, Ordering::SeqCst);
    }

    /// Moves on.
    pub fn advance_ms(&self, ms: u64) {
        self.now_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// Steps the wall clock against the monotonic one, which makes it distrusted when the step is large.
    pub fn step_wall_ms(&self, ms: i64) {
        let before = self.offset_ms.fetch_add(ms, Ordering::SeqCst);
        self.distrusted.store(u64::from(!is_steady(before, before.saturating_add(ms))), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now_ms.load(Ordering::SeqCst))
    }

    fn wall(&self) -> WallClock {
        let trusted = self.distrusted.load(Ordering::SeqCst) == 0;
        WallClock { offset_ms: self.offset_ms.load(Ordering::SeqCst), trusted }
    }
}
