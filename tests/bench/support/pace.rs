//! Arrivals at a steady rate, precise to some microseconds: a thread that sleeps to the moment of the next one and hands
//! it over. The runtime's own timers count milliseconds, and a thread that spins would starve the client on its core.
//!
//! The kernel may let a sleeper lie 50 µs longer to save wake-ups; this thread asks it not to, by the file that
//! `prctl(PR_SET_TIMERSLACK)` stands behind, as the crate has no unsafe code.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The moments at which calls are due; ends when it is dropped.
pub(crate) struct Arrivals {
    pub(crate) due: UnboundedReceiver<Instant>,
    is_over: Arc<AtomicBool>,
}

impl Arrivals {
    pub(crate) fn every(interval: Duration) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (sender, due) = unbounded_channel();
        let ends = Arc::clone(&is_over);
        std::thread::spawn(move || {
            wake_sharply();
            let mut next = Instant::now() + interval;
            while !ends.load(Ordering::Relaxed) && sender.send(next).is_ok() {
                next += interval; // late or not: what is overdue is sent at once, and counts from when it was due
                std::thread::sleep(next.saturating_duration_since(Instant::now()));
            }
        });
        Self { due, is_over }
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Where it is not allowed, arrivals are up to 50 µs late for both servers alike.
fn wake_sharply() {
    let thread = std::fs::read_link("/proc/thread-self").unwrap_or_default();
    let Some(number) = thread.file_name().and_then(|name| name.to_str()) else { return };
    let _ = std::fs::write(format!("/proc/{number}/timerslack_ns"), "1");
}
