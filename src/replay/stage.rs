//! Where sessions that were recorded apart are played: an engine that begins anew for each, in virtual time.
//!
//! A recorded call is asked for and reported with its recorded result whatever was answered, as the recorded model never
//! saw our contracts. A call that is refused is no observation, so that its result is not reported.

use std::sync::Arc;

use super::course::Course;
use super::recording::{RecordedCall, Recording};
use super::{Policy, ReplayError};
use crate::domain::ids::HashKey;
use crate::domain::observation::transport::{Carrier, TransportFacts};
use crate::domain::time::Timestamp;
use crate::engine::behaviour::Behaviour;
use crate::engine::clock::ManualClock;
use crate::engine::{Arguments, AskedAs, Call, CallId, Decision, Engine, Identity, Report, Reported, Said, Seen};

/// How long a call takes.
pub const CALL_MS: u64 = 200;
/// 2026-01-01T00:00:00Z, the moment at which every session begins, so that each run prints the same.
const START_UNIX_MS: i64 = 1_767_225_600_000;

/// One policy's stage.
#[derive(Debug)]
pub(crate) struct Stage {
    engine: Engine,
}

/// An engine whose answers depend on nothing but what it is asked.
pub(crate) fn engine(policy: &Policy, clock: Arc<ManualClock>) -> Result<Engine, ReplayError> {
    let identity = Identity { incarnation: 1, names: HashKey(*b"names of replays"), permits: HashKey([0; 16]) };
    Engine::new(policy.settings.clone(), identity, clock).map_err(|_| ReplayError::Policy(policy.name.clone()))
}

impl Stage {
    pub(crate) fn new(policy: &Policy) -> Result<Self, ReplayError> {
        Ok(Self { engine: engine(policy, Arc::new(ManualClock::at_unix_ms(START_UNIX_MS)))? })
    }

    /// Plays a session from its beginning to its end.
    pub(crate) fn play(&mut self, name: &str, recording: &Recording<'_>, pace_ms: u64) -> (Course, Behaviour) {
        self.engine.begin_anew();
        let mut course = Course::default();
        let mut end = Timestamp::default();
        for wave in recording.calls.chunk_by(|one, next| one.step == next.step) {
            let step = wave.first().map_or(0, |call| u64::from(call.step));
            let now = Timestamp(step.saturating_mul(pace_ms));
            self.wave(name, wave, now, &mut course);
            end = now.plus_ms(pace_ms.max(CALL_MS));
        }
        self.engine.close_session("", name, (recording.outcome, recording.success), end);
        (course, self.engine.behaviour(None, end))
    }

    /// The calls of one step go out together and come back together.
    fn wave(&self, name: &str, wave: &[RecordedCall<'_>], now: Timestamp, course: &mut Course) {
        let ask = |call| {
            let decision = self.ask(name, call, now);
            (call, course.asked(&call.tool, &decision), decision)
        };
        let asked: Vec<_> = wave.iter().map(ask).collect();
        let then = now.plus_ms(CALL_MS);
        for (call, at, decision) in &asked {
            let Decision::Permit { granted, .. } = decision else { continue };
            let Some(report) = report(call, &granted.token) else { continue };
            course.reported(*at, &self.engine.report_result(&report, then));
        }
    }

    fn ask(&self, name: &str, call: &RecordedCall<'_>, now: Timestamp) -> Decision {
        let task = task_name(call.task);
        let bytes = call.arguments.as_bytes();
        self.engine.admit(
            &Call {
                target: &call.target,
                target_is_tool: true,
                id: CallId { session: name, attempt: 1, ..CallId::default() },
                arguments: if bytes.is_empty() { Arguments::Unknown } else { Arguments::Bytes(bytes) },
                arguments_bytes: u32::try_from(bytes.len()).ok().filter(|bytes| *bytes > 0),
                credential: "",
                asked_as: AskedAs {
                    tool_name: &call.tool,
                    effect: call.effect,
                    turn: Some(call.step),
                    task: &task,
                    ..AskedAs::default()
                },
            },
            now,
        )
    }
}

fn task_name(task: u32) -> String {
    format!("task {task}")
}

/// What came of a call; none where the recording ends before.
fn report<'a>(call: &'a RecordedCall<'_>, token: &'a [u8]) -> Option<Report<'a>> {
    let result = call.result.as_ref()?;
    let carrier = result.is_flagged.then_some(Carrier::Mcp);
    Some(Report {
        reported: Reported::Permit(token),
        said: Said::Seen(Seen {
            transport: TransportFacts { carrier, ..TransportFacts::default() },
            payload: Some(result.body.as_bytes()),
            content_type: None,
            arguments: Some(call.arguments.as_bytes()).filter(|arguments| !arguments.is_empty()),
            is_cut_by_caller: false,
        }),
        latency_ms: Some(CALL_MS),
        asked_as: AskedAs { tool_name: &call.tool, effect: call.effect, ..AskedAs::default() },
        attempt: None,
        refused_by: None,
        step: None,
    })
}
