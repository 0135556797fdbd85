//! What runs a table: the pure core, the engine in this process, or the service behind a socket. All are asked and
//! answer in the messages of the wire.

use std::sync::Arc;

use tripnote::config::Config;
use tripnote::domain::breaker::overrides::OverrideMode;
use tripnote::domain::ids::SafeText;
use tripnote::domain::time::Timestamp;
use tripnote::engine::Engine;
use tripnote::engine::clock::{Clock, ManualClock};
use tripnote::engine::operate::{CircuitName, Cursor};
use tripnote::wire::breaker::{AskedCall, PeekedTarget, ReportedOutcome};
use tripnote::wire::{operator, pb};

use crate::support::{NOON_UNIX_MS, engine, engine_settings};

/// A hold, with the full names of what it covers.
pub(super) struct Hold {
    pub(super) mode: OverrideMode,
    pub(super) name: CircuitName,
    pub(super) owner: String,
    pub(super) for_ms: Option<u64>,
}

/// One of the three. Every step says at which millisecond of its life it is.
pub(super) trait Machine {
    fn admit(&mut self, at_ms: u64, request: &pb::AdmitRequest) -> pb::AdmitResponse;
    fn report(&mut self, at_ms: u64, outcome: &pb::Outcome) -> pb::ReportAck;
    fn peek(&mut self, at_ms: u64, target: &pb::PeekTarget) -> pb::peek_result::Result;
    /// Several at one moment, each decided with those before it.
    fn admit_all(&mut self, at_ms: u64, requests: &[pb::AdmitRequest]) -> Vec<pb::AdmitResponse> {
        requests.iter().map(|request| self.admit(at_ms, request)).collect()
    }
    fn report_all(&mut self, at_ms: u64, outcomes: &[pb::Outcome]) -> Vec<pb::ReportAck> {
        outcomes.iter().map(|outcome| self.report(at_ms, outcome)).collect()
    }
    /// How many circuits are held; an error where there are none of the name.
    fn hold(&mut self, at_ms: u64, hold: &Hold) -> Result<u32, String>;
    /// How many holds went and how many are left.
    fn clear(&mut self, at_ms: u64, name: &CircuitName, owner: &str) -> Result<(u32, u32), String>;
    fn reset(&mut self, at_ms: u64, name: &CircuitName) -> Result<u32, String>;
    /// The paths of all faults.
    fn reload(&mut self, at_ms: u64, config: &str) -> Vec<String>;
    fn step_wall(&mut self, ms: i64);
    fn circuits(&mut self, at_ms: u64) -> Vec<pb::Circuit>;
    /// What happened since the last look.
    fn events(&mut self) -> Vec<pb::Event>;
}

/// The engine without a service.
pub(super) struct InProcess {
    engine: Arc<Engine>,
    clock: Arc<ManualClock>,
    version: u64,
    seen: u64,
}

impl InProcess {
    pub(super) fn new(config: &str) -> Self {
        let clock = Arc::new(ManualClock::at_unix_ms(NOON_UNIX_MS));
        Self { engine: engine(config, &clock), clock, version: 1, seen: 0 }
    }

    fn now(&self, at_ms: u64) -> Timestamp {
        self.clock.set(Timestamp(at_ms));
        self.clock.now()
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap()
}

impl Machine for InProcess {
    fn admit(&mut self, at_ms: u64, request: &pb::AdmitRequest) -> pb::AdmitResponse {
        let now = self.now(at_ms);
        self.engine.admit(&AskedCall::try_from(request).unwrap().call(), now).into()
    }

    fn report(&mut self, at_ms: u64, outcome: &pb::Outcome) -> pb::ReportAck {
        let now = self.now(at_ms);
        let report = ReportedOutcome::parse(outcome, 1 << 20).unwrap().report;
        self.engine.report_result(&report, now).into()
    }

    fn peek(&mut self, at_ms: u64, target: &pb::PeekTarget) -> pb::peek_result::Result {
        let now = self.now(at_ms);
        self.engine.peek(&PeekedTarget::try_from(target).unwrap().call(), now).into()
    }

    fn hold(&mut self, at_ms: u64, hold: &Hold) -> Result<u32, String> {
        let now = self.now(at_ms);
        let owner = operator::owner(&hold.owner).unwrap();
        let expires_at = hold.for_ms.map(|ms| now.plus_ms(ms));
        let held = self.engine.set_override(&hold.name, hold.mode, owner, SafeText::cut("", 1), expires_at, now);
        held.map(count).map_err(|error| error.to_string())
    }

    fn clear(&mut self, at_ms: u64, name: &CircuitName, owner: &str) -> Result<(u32, u32), String> {
        let now = self.now(at_ms);
        let cleared = self.engine.clear_override(name, owner, now);
        cleared.map(|(went, left)| (count(went), count(left))).map_err(|error| error.to_string())
    }

    fn reset(&mut self, at_ms: u64, name: &CircuitName) -> Result<u32, String> {
        let now = self.now(at_ms);
        self.engine.reset(name, now).map(count).map_err(|error| error.to_string())
    }

    fn reload(&mut self, at_ms: u64, config: &str) -> Vec<String> {
        let now = self.now(at_ms);
        match Config::parse(config) {
            Err(report) => report.faults.into_iter().map(|fault| fault.path).collect(),
            Ok(_) => {
                self.version += 1;
                self.engine.reload(engine_settings(config, self.version), now);
                vec![]
            }
        }
    }

    fn step_wall(&mut self, ms: i64) {
        self.clock.step_wall_ms(ms);
    }

    fn circuits(&mut self, at_ms: u64) -> Vec<pb::Circuit> {
        let now = self.now(at_ms);
        let (listed, next) = self.engine.list_circuits(None, false, Cursor::default(), 10_000, now);
        assert!(next.is_none());
        listed.into_iter().map(|listed| operator::circuit(listed, now, self.clock.wall())).collect()
    }

    fn events(&mut self) -> Vec<pb::Event> {
        let reading = self.engine.log().after(self.seen, usize::MAX);
        assert_eq!(reading.lost, 0);
        self.seen = self.engine.log().last_seq();
        let incarnation = self.engine.incarnation();
        reading.events.iter().map(|event| operator::event(event, incarnation, self.clock.wall())).collect()
    }
}
