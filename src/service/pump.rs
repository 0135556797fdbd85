//! What goes on beside the requests: watchers are woken, events are logged, memory is given back. Nothing that is decided
//! depends on it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::domain::event::Event;
use crate::engine::Engine;
use crate::engine::operate::SweepCursor;
use crate::telemetry::catalogue::EventReader;
use crate::telemetry::recorder::Recorder;

/// Wakes whoever waits for events.
#[derive(Clone, Debug)]
pub struct Pump {
    last_seq: Arc<watch::Sender<u64>>,
}

/// How often memory is given back, a step each time.
const SWEEP_EVERY: Duration = Duration::from_millis(100);
/// How often samples of the metrics are put into their buckets.
const FOLD_EVERY: Duration = Duration::from_secs(1);
/// Events that one read takes.
const READ_MAX: usize = 64;

impl Pump {
    /// Wires the engine's bell to the watchers.
    #[must_use]
    pub fn start(engine: &Arc<Engine>) -> Self {
        let last_seq = Arc::new(watch::Sender::new(0));
        let (bell, log) = (Arc::clone(&last_seq), Arc::downgrade(engine.log()));
        engine.log().on_events(move || {
            if let Some(log) = log.upgrade() {
                bell.send_replace(log.last_seq());
            }
        });
        Self { last_seq }
    }

    /// Follows events from a number on, to the last one that is there when `end` says so.
    #[must_use]
    pub fn follow(&self, engine: &Arc<Engine>, after: u64, end: watch::Receiver<bool>) -> Follower {
        Follower { engine: Arc::clone(engine), seq: after, last_seq: self.last_seq.subscribe(), end }
    }

    /// Logs every event and gives memory back, to the last event before `end`.
    pub async fn run(self, engine: Arc<Engine>, recorder: Arc<Recorder>, log: fn(&Event), end: watch::Receiver<bool>) {
        let mut events = self.follow(&engine, 0, end);
        let logging = async {
            while let Some(heard) = events.next().await {
                for heard in heard {
                    match heard {
                        Heard::Event(event) => log(&event),
                        Heard::Gap { lost, .. } => {
                            recorder.lost(EventReader::Log, lost);
                            tracing::warn!(lost, "events were not logged: they came too fast");
                        }
                    }
                }
            }
        };
        let sweeping = async {
            let mut cursor = SweepCursor::default();
            let mut tick = tokio::time::interval(SWEEP_EVERY);
            tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
            loop {
                tick.tick().await;
                engine.sweep(&mut cursor, engine.clock().now());
            }
        };
        let folding = async {
            let mut tick = tokio::time::interval(FOLD_EVERY);
            tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
            loop {
                tick.tick().await;
                let recorder = Arc::clone(&recorder);
                let _ = tokio::task::spawn_blocking(move || recorder.fold()).await; // the next one makes up for it
            }
        };
        tokio::select! { () = logging => {}, () = sweeping => {}, () = folding => {} }
    }
}

/// One reader of the events.
#[derive(Debug)]
pub struct Follower {
    engine: Arc<Engine>,
    seq: u64,
    last_seq: watch::Receiver<u64>,
    end: watch::Receiver<bool>,
}

impl Follower {
    /// The next events, as soon as there are some; what was lost is told first. None when the end has come and all is told.
    pub async fn next(&mut self) -> Option<Vec<Heard>> {
        loop {
            self.last_seq.mark_unchanged();
            let is_end = *self.end.borrow(); // before the look: what comes after the end need not be told
            let heard = self.look();
            if !heard.is_empty() {
                return Some(heard);
            }
            if is_end {
                return None;
            }
            tokio::select! {
                changed = self.last_seq.changed() => changed.ok()?,
                _ = self.end.wait_for(|is_end| *is_end) => {}
            }
        }
    }

    /// What is there now.
    fn look(&mut self) -> Vec<Heard> {
        let reading = self.engine.log().after(self.seq, READ_MAX);
        self.seq = self.seq.saturating_add(reading.lost);
        let gap = (reading.lost > 0).then(|| Heard::Gap { lost: reading.lost, next_seq: self.seq.saturating_add(1) });
        if let Some(last) = reading.events.last() {
            self.seq = last.seq;
        }
        gap.into_iter().chain(reading.events.into_iter().map(Heard::Event)).collect()
    }
}

/// What a follower hears.
#[derive(Clone, Debug)]
pub enum Heard {
    /// Events that are kept no more.
    Gap {
        /// How many.
        lost: u64,
        /// The number of the next that is kept.
        next_seq: u64,
    },
    /// The next event.
    Event(
        /// The event.
        Arc<Event>,
    ),
}
