//! Lives of one deployment, one after the other, over any journal.

use std::sync::Arc;
use std::time::Duration;

use tripnote::domain::ids::{Code, HashKey, SafeText, TargetName};
use tripnote::domain::observation::{CallResult, Classification};
use tripnote::domain::signal::{CircuitKind, Phase};
use tripnote::domain::time::Timestamp;
use tripnote::engine::clock::{Clock, ManualClock};
use tripnote::engine::keep::{Keeper, Restored};
use tripnote::engine::operate::{CircuitName, Cursor, Listed};
use tripnote::engine::ports::Journal;
use tripnote::engine::{Call, Decision, Engine, Granted, Identity, Reported};

use tripnote::service::keeping::StoreSettings;
use tripnote::service::server::Address;

use crate::support::{TestServer, engine_settings};

/// Trips at the first failure, and stays open for a minute.
pub(super) const MINUTE: &str = r#"
[defaults.error_rate]
rules = [{ consecutive = 1 }]
open_for = "1m"
max_open = "1m"
jitter = "0%"
lease = "5s"
probes = 1
"#;

pub(super) const MINUTE_MS: u64 = 60_000;
pub(super) const HOUR_MS: i64 = 3_600_000;

/// One life.
pub(super) struct Life {
    pub(super) engine: Arc<Engine>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) keeper: Keeper,
    pub(super) restored: Restored,
}

impl Life {
    /// Begins at a Unix time, and goes on from what the journal holds.
    pub(super) fn begin(toml: &str, journal: Box<dyn Journal>, unix_ms: i64) -> Self {
        let life = Self::unrung(toml, journal, unix_ms);
        life.keeper.ring(|| {});
        life
    }

    /// The same for a service, which has a bell of its own.
    pub(super) fn unrung(toml: &str, mut journal: Box<dyn Journal>, unix_ms: i64) -> Self {
        let begun = journal.begin().unwrap();
        let at = begun.anchor.map_or(Timestamp(0), |anchor| anchor.resumed(u64::try_from(unix_ms).unwrap()));
        let clock = Arc::new(ManualClock::resume(unix_ms, at));
        let (names, permits) = (HashKey(*b"names for a test"), HashKey(*b"permits for test"));
        let identity = Identity { incarnation: begun.incarnation, names, permits };
        let own = Arc::clone(&clock) as Arc<dyn Clock>;
        let engine = Arc::new(Engine::new(engine_settings(toml, 1), identity, own).unwrap());
        let (keeper, restored) = Keeper::restore(Arc::clone(&engine), journal).unwrap();
        Self { engine, clock, keeper, restored }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn flush(&mut self) {
        self.keeper.flush().unwrap();
    }

    /// The permit of a call, or why not: the phase and when to come again.
    pub(super) fn admit(&self, target: &str) -> Result<Granted, (Phase, Option<u64>)> {
        let target = TargetName::parse(target).unwrap();
        match self.engine.admit(&Call::of_target(&target), self.now()) {
            Decision::Permit { granted, .. } => Ok(granted),
            Decision::Trip(refusal) => {
                let left = refusal.trip.retry_at.map(|at| at.since_ms(self.now()));
                let phase = self.circuits().iter().map(|c| c.view.phase).find(|phase| *phase != Phase::Closed);
                Err((phase.unwrap_or(Phase::Closed), left))
            }
        }
    }

    /// What became of a report.
    pub(super) fn report(&self, granted: &Granted, result: Classification) -> String {
        let answer = self.engine.report(Reported::Permit(&granted.token), &CallResult::new(result), self.now());
        answer.acknowledgement.word().to_owned()
    }

    /// Calls a target and fails.
    pub(super) fn fail(&self, target: &str) {
        let granted = self.admit(target).expect("a permit was due");
        assert_eq!(self.report(&granted, Classification::Failed(CircuitKind::ErrorRate)), "counted");
    }

    pub(super) fn circuits(&self) -> Vec<Listed> {
        self.engine.list_circuits(None, true, Cursor::default(), 10_000, self.now()).0
    }
}

/// A server over one life, which writes every 10 ms.
pub(super) async fn served(toml: &str, life: Life, is_strict: bool) -> TestServer {
    let Life { engine, clock, keeper, .. } = life;
    let flush_every = Duration::from_millis(10);
    let store = StoreSettings { keeper: Some(keeper), flush_every, is_strict, trouble: String::new() };
    let any = Address::Tcp("127.0.0.1:0".parse().unwrap());
    TestServer::start_over(toml, [&any, &any], (engine, clock), (None, Some(store))).await.0
}

pub(super) fn all_of(breaker: &str) -> CircuitName {
    CircuitName { breaker: Code::parse(breaker).unwrap(), scope: None, kind: None }
}

pub(super) fn safe(text: &str) -> SafeText {
    SafeText::cut(text, 96)
}

/// Writes what one store holds into another.
pub(super) fn copied(from: &tripnote::store::memory::Memory, to: &mut dyn Journal) {
    let mut source = from.journal();
    let mut group = tripnote::engine::ports::Group::default();
    source.load(&mut |key, value| _ = group.records.insert(key, Some(value.to_vec()))).unwrap();
    group.anchor = source.begin().unwrap().anchor.unwrap();
    to.begin().unwrap();
    to.commit(&group).unwrap();
}
