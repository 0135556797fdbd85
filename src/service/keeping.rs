//! The thread that writes what outlives a restart, and what the faces say of it. A disk that is slow, full or gone costs
//! this thread time and nobody else; the requests of an operator who asked for it wait until theirs is durable.
//!
//! Knows the keeper of the engine and no file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::watch;

use crate::domain::time::Timestamp;
use crate::engine::Engine;
use crate::engine::clock::Stopwatch;
use crate::engine::keep::Keeper;
use crate::telemetry::recorder::Recorder;

/// What is to be written, and how.
pub struct StoreSettings {
    /// Writes it; none where the store could not be used at the start.
    pub keeper: Option<Keeper>,
    /// How long changes are gathered before they are written.
    pub flush_every: Duration,
    /// Whether an opening, a halt, an override and an end are durable before they are answered.
    pub is_strict: bool,
    /// What went wrong at the start, in one line; empty where nothing did.
    pub trouble: String,
}

/// How the store stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    Up,
    /// Why not.
    Degraded(Arc<str>),
}

/// What wakes the thread.
enum Wake {
    /// The first change since all was written.
    Changed,
    /// Somebody waits.
    Urgent,
    Stop,
}

/// With nothing to write, the moment is written this often, so that a restart knows how long it was away.
const IDLE_EVERY: Duration = Duration::from_secs(60);
/// The longest time between two tries of a store that fails.
const RETRY_EVERY_MAX: Duration = Duration::from_secs(5);
/// A write that takes longer is a store that is down.
const STALLED_AFTER_MS: u64 = 2_000;
/// A request that waits for its write waits no longer: then the store is down, and a tool call is not to be.
const STRICT_WAIT_MAX: Duration = Duration::from_secs(5);

/// What is known of the store, by everybody who asks.
pub struct Keeping {
    engine: Arc<Engine>,
    /// None where no store was asked for.
    wakes: Option<SyncSender<Wake>>,
    is_strict: bool,
    /// What went wrong at the start, for who asks whether the service is ready.
    trouble: Arc<str>,
    standing: watch::Sender<Standing>,
    /// How much of what is urgent is durable.
    durable: watch::Sender<u64>,
    /// Set at the end: a full channel must not keep the thread from hearing of it.
    is_stopping: AtomicBool,
    /// One more than the moment at which the write that runs began; 0 while none runs.
    writing_since: AtomicU64,
    /// Decisions while it was down, and the count of all at which the present trouble began; one more, 0 for none.
    degraded: AtomicU64,
    degraded_from: AtomicU64,
}

impl std::fmt::Debug for Keeping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeping").field("standing", &*self.standing.borrow()).finish_non_exhaustive()
    }
}

/// The thread, to be ended.
pub(crate) struct Writer {
    thread: Option<JoinHandle<()>>,
    done: watch::Receiver<bool>,
}

impl Keeping {
    /// Begins to write; none where there is nothing to write to.
    pub(crate) fn start(
        engine: &Arc<Engine>,
        settings: Option<StoreSettings>,
        recorder: &Arc<Recorder>,
    ) -> (Arc<Self>, Writer) {
        let is_asked_for = settings.is_some();
        let (keeper, flush_every, is_strict, trouble) = settings.map_or_else(
            || (None, IDLE_EVERY, false, String::new()),
            |StoreSettings { keeper, flush_every, is_strict, trouble }| (keeper, flush_every, is_strict, trouble),
        );
        let (wakes, woken) = sync_channel(8);
        let down = is_asked_for && keeper.is_none();
        let standing = if down { Standing::Degraded(trouble.as_str().into()) } else { Standing::Up };
        let keeping = Arc::new(Self {
            engine: Arc::clone(engine),
            wakes: keeper.is_some().then_some(wakes),
            is_strict,
            trouble: trouble.into(),
            standing: watch::Sender::new(standing),
            durable: watch::Sender::new(engine.urgent()),
            is_stopping: AtomicBool::new(false),
            writing_since: AtomicU64::new(0),
            degraded: AtomicU64::new(0),
            degraded_from: AtomicU64::new(u64::from(down)),
        });
        let (done, is_done) = watch::channel(false);
        let thread = keeper.and_then(|keeper| {
            if let Some(wakes) = keeping.wakes.clone() {
                keeper.ring(move || _ = wakes.try_send(Wake::Changed)); // full: it is awake
            }
            let (keeping, recorder) = (Arc::clone(&keeping), Arc::clone(recorder));
            let write = move || {
                write(keeper, &woken, &keeping, &recorder, flush_every);
                done.send_replace(true);
            };
            let thread = std::thread::Builder::new().name("tripnote-store".to_owned()).spawn(write);
            thread.inspect_err(|error| tracing::error!(%error, "the store cannot be written: no thread")).ok()
        });
        (keeping, Writer { thread, done: is_done })
    }

    /// Why what is kept is in memory only; none while it is written.
    pub(crate) fn trouble(&self, now: Timestamp) -> Option<Arc<str>> {
        let since = self.writing_since.load(Ordering::Relaxed);
        if since > 0 && now.since_ms(Timestamp(since - 1)) > STALLED_AFTER_MS {
            return Some("a write to the store does not end".into());
        }
        match &*self.standing.borrow() {
            Standing::Up => None,
            Standing::Degraded(why) => Some(Arc::clone(why)),
        }
    }

    /// What went wrong at the start and is over: a damaged file that was set aside.
    pub(crate) fn began_with(&self) -> &str {
        &self.trouble
    }

    /// Shows how it stands in the metrics.
    pub(crate) fn show(&self, recorder: &Recorder, now: Timestamp) {
        let decided = self.engine.decisions();
        let is_up = self.trouble(now).is_none();
        if is_up {
            self.recovered(decided);
        } else {
            self.failed_from(decided);
        }
        let running = match self.degraded_from.load(Ordering::SeqCst) {
            0 => 0,
            from => decided.saturating_sub(from - 1),
        };
        recorder.store_stands(is_up, self.engine.unwritten(), self.degraded.load(Ordering::SeqCst) + running);
    }

    fn failed_from(&self, decided: u64) {
        let _ = self.degraded_from.compare_exchange(0, decided + 1, Ordering::SeqCst, Ordering::SeqCst);
    }

    fn recovered(&self, decided: u64) {
        let from = self.degraded_from.swap(0, Ordering::SeqCst);
        if from > 0 {
            self.degraded.fetch_add(decided.saturating_sub(from - 1), Ordering::SeqCst);
        }
    }

    /// Where an operator asked for it: waits until all that is urgent so far is durable, or the store is known to be down.
    pub(crate) async fn settled(self: Arc<Self>) {
        let (mut durable, mut standing) = (self.durable.subscribe(), self.standing.subscribe());
        let urgent = self.engine.urgent();
        let written = async {
            let _ = durable.wait_for(|durable| *durable >= urgent).await; // a writer that is gone writes no more
        };
        let down = async {
            let _ = standing.wait_for(|standing| *standing != Standing::Up).await;
        };
        if let Some(wakes) = &self.wakes {
            let _ = wakes.try_send(Wake::Urgent); // full: it is awake
        }
        tokio::select! { () = written => {}, () = down => {}, () = tokio::time::sleep(STRICT_WAIT_MAX) => {} }
    }

    /// How much was urgent before a request; of no use where no answer waits.
    pub(crate) fn urgent(&self) -> u64 {
        if self.is_strict { self.engine.urgent() } else { 0 }
    }

    /// Whether an answer has to wait: something urgent has happened since its request came.
    pub(crate) fn must_settle(&self, urgent_before: u64) -> bool {
        let urgent = self.urgent();
        self.wakes.is_some()
            && urgent > urgent_before
            && *self.durable.borrow() < urgent
            && *self.standing.borrow() == Standing::Up
    }

    fn wrote(&self, urgent: u64) {
        self.durable.send_replace(urgent);
        let was_down = self.standing.send_replace(Standing::Up) != Standing::Up;
        if was_down {
            self.recovered(self.engine.decisions());
            tracing::info!("the store is written again: nothing of what changed meanwhile is missing");
        }
    }

    fn failed(&self, why: &str) {
        self.failed_from(self.engine.decisions());
        let was_up = self.standing.send_replace(Standing::Degraded(why.into())) == Standing::Up;
        if was_up {
            tracing::error!(why, "degraded: the store cannot be written, what is kept is in memory only");
        }
    }
}

impl Writer {
    /// Writes what is left and ends the thread; not waited for longer than `at_most`, as a disk may never answer.
    pub(crate) async fn stop(mut self, keeping: &Keeping, at_most: Duration) {
        let Some(thread) = self.thread.take() else { return };
        keeping.is_stopping.store(true, Ordering::SeqCst);
        if let Some(wakes) = &keeping.wakes {
            let _ = wakes.try_send(Wake::Stop); // full: it wakes anyway
        }
        let done = tokio::time::timeout(at_most, self.done.wait_for(|done| *done)).await;
        match done {
            Ok(_) => _ = thread.join(), // it has said that it is done
            Err(_elapsed) => tracing::error!("the store did not take the last changes in time: they are lost"),
        }
    }
}

/// Gathers and writes until it is told to stop.
fn write(mut keeper: Keeper, woken: &Receiver<Wake>, keeping: &Keeping, recorder: &Recorder, flush_every: Duration) {
    let mut due: Option<Duration> = None; // none: nothing to write
    loop {
        let wake = woken.recv_timeout(due.unwrap_or(IDLE_EVERY));
        let is_stopping = keeping.is_stopping.load(Ordering::SeqCst);
        let is_last = match wake {
            Ok(Wake::Changed) if !is_stopping => {
                due = due.or(Some(flush_every));
                continue;
            }
            Ok(Wake::Changed | Wake::Urgent) | Err(RecvTimeoutError::Timeout) => is_stopping,
            Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => true,
        };
        due = flush(&mut keeper, keeping, recorder, due, flush_every);
        if is_last {
            return;
        }
    }
}

/// Writes once; how long to wait for the next.
fn flush(
    keeper: &mut Keeper,
    keeping: &Keeping,
    recorder: &Recorder,
    due: Option<Duration>,
    flush_every: Duration,
) -> Option<Duration> {
    let began = keeping.engine.clock().now();
    keeping.writing_since.store(began.0.saturating_add(1), Ordering::Relaxed);
    let watch = Stopwatch::start();
    let flushed = keeper.flush();
    recorder.committed(flushed.as_ref().ok().map(|done| (done.records, done.bytes)), watch.seconds());
    keeping.writing_since.store(0, Ordering::Relaxed);
    match flushed {
        Ok(done) => {
            keeping.wrote(done.urgent);
            (keeping.engine.unwritten() > 0).then_some(flush_every)
        }
        Err(error) => {
            keeping.failed(&error.message);
            Some(due.unwrap_or(flush_every).saturating_mul(2).clamp(flush_every, RETRY_EVERY_MAX.max(flush_every)))
        }
    }
}
