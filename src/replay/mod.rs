//! L3: recorded sessions through the engine of the service, in virtual time: what would have been steered, halted or
//! refused, by which guard, and how those sessions ended. Knows no command line, no configuration and no network.
//!
//! A recording is read line by line, each line by its own structure: a session as a list of calls, a session as a list of
//! messages (OpenAI's or Anthropic's), or an event of a service's traffic. Sessions that were recorded apart are played
//! apart, each on an engine that begins anew; the events of one file share an engine and its clock.
//!
//! The events are what an orchestrator can write down of what it says to a service, with the names of its API, each at its
//! time in milliseconds; `outcome` and `success` are its own:
//!
//! ```json
//! {"at_ms":0,"admit":{"session_id":"s1","call_id":"c1","turn":1,"tool_name":"get_order","arguments":{"id":"A1"},"effect":"read"}}
//! {"at_ms":180,"report":{"session_id":"s1","call_id":"c1","transport":{"http_status":200},"payload":"[]","latency_ms":180}}
//! {"at_ms":9000,"close":{"session_id":"s1","outcome":"answered","success":true}}
//! ```
//!
//! A report names its call by `session_id`, `call_id`, `attempt` and `caller`, or by the `permit` that stands beside an
//! `admit`. Arguments and payloads are JSON, or texts that hold it. In place of `transport` and `payload` a report may
//! carry a `classification`.

mod compare;
mod course;
mod crew;
mod fault;
mod figures;
pub mod followed;
mod input;
pub mod page;
mod read;
mod recording;
mod session;
mod stage;
mod traffic;

use std::io;
use std::sync::Arc;

pub use self::compare::{DIFFERING_MAX, Differing};
pub use self::course::{Course, First, PerSignal, PerWord, SIGNALS, WORDS, Word};
pub use self::crew::THREADS_MAX;
use self::crew::{Crew, Done};
pub use self::fault::{Fault, Faults, SHOWN_MAX};
pub use self::figures::{
    ByLabel, Figures, GuardFigures, LENGTHS, LISTED_MAX, Listed, PARTS, TOOLS_MAX, ToolFigures, length_text,
};
use self::input::Piece;
pub use self::input::{DOCUMENT_BYTES_MAX, Input, LINE_BYTES_MAX};
pub use self::recording::CALLS_MAX;
pub use self::session::{Played, PlayedSession, told};
pub use self::stage::CALL_MS;
use self::traffic::Traffic;
use crate::engine::EngineSettings;
use crate::engine::behaviour::Behaviour;

/// A configuration under which sessions are played.
#[derive(Clone, Debug)]
pub struct Policy {
    /// As reports name it.
    pub name: String,
    /// What the engine is given.
    pub settings: EngineSettings,
}

/// How to replay.
#[derive(Clone, Debug)]
pub struct ReplaySettings {
    /// One, or two to be compared.
    pub policies: Vec<Policy>,
    /// Virtual time from one step of the model to the next, in milliseconds.
    pub pace_ms: u64,
    /// Threads, 1 to [`THREADS_MAX`].
    pub threads: usize,
    /// End at the first fault.
    pub is_strict: bool,
}

/// Why a replay ended early.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A recording cannot be opened or read.
    #[error("cannot read `{file}`")]
    Unreadable {
        /// Which.
        file: Arc<str>,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The first fault, where none is to be passed over.
    #[error("{0}")]
    Strict(
        /// The fault.
        Fault,
    ),
    /// No engine can be made for a policy; `config` has refused it before.
    #[error("no engine can be made for the policy `{0}`")]
    Policy(
        /// Its name.
        String,
    ),
    /// A thread ended before its work was done: a bug.
    #[error("a thread of the replay ended early")]
    Thread,
}

/// How far a replay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Sessions that are over.
    pub sessions: u64,
    /// Calls under the first policy.
    pub calls: u64,
    /// Bytes of text that were read.
    pub bytes: u64,
}

/// What a replay came to.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The names of the policies, and what all sessions came to under each.
    pub policies: Vec<(String, Figures)>,
    /// Sessions in which two policies say different things.
    pub differing: Differing,
    /// Lines that could not be read.
    pub faults: Faults,
}

impl Replayed {
    /// What the sessions came to under the first policy.
    #[must_use]
    pub fn first(&self) -> Option<&Figures> {
        self.policies.first().map(|(_, figures)| figures)
    }

    fn add(&mut self, played: &Played) {
        for ((_, figures), course) in self.policies.iter_mut().zip(&played.courses) {
            figures.add(&played.session, course);
        }
        self.add_behaviours(&played.behaviours);
        self.differing.add(played);
    }

    /// The one place where figures of engines are summed.
    fn add_behaviours(&mut self, behaviours: &[Behaviour]) {
        for ((_, figures), behaviour) in self.policies.iter_mut().zip(behaviours) {
            figures.behaviour.merge(behaviour);
        }
    }
}

/// Replays recordings, one after the other. `watch` is told after every batch how far it is.
///
/// # Errors
/// Where a recording cannot be read, or has a fault and none is to be passed over.
pub fn replay(
    inputs: &[Input],
    settings: &ReplaySettings,
    watch: &mut dyn FnMut(Progress),
) -> Result<Replayed, ReplayError> {
    let policies = settings.policies.iter().map(|policy| (policy.name.clone(), Figures::default()));
    let replayed =
        Replayed { policies: policies.collect(), differing: Differing::default(), faults: Faults::default() };
    let crew = Crew::new(&settings.policies, settings.threads, settings.pace_ms)?;
    let mut run = Run { settings, crew, replayed, bytes: 0 };
    for input in inputs {
        run.input(input, watch)?;
    }
    Ok(run.replayed)
}

/// A replay that goes on.
struct Run<'s> {
    settings: &'s ReplaySettings,
    crew: Crew,
    replayed: Replayed,
    bytes: u64,
}

impl Run<'_> {
    fn input(&mut self, input: &Input, watch: &mut dyn FnMut(Progress)) -> Result<(), ReplayError> {
        let file = input.name();
        let unreadable = |cause| ReplayError::Unreadable { file: Arc::clone(&file), cause };
        let mut pieces = input.open().map_err(unreadable)?;
        let mut traffic = None;
        loop {
            let batch = pieces.batch().map_err(unreadable)?;
            if batch.is_empty() {
                break;
            }
            let done = self.crew.work(&file, &batch)?;
            for (piece, done) in batch.iter().zip(done) {
                self.bytes += piece.text.as_ref().map_or(0, |text| text.len() as u64);
                self.take(&file, piece, done, &mut traffic)?;
            }
            watch(self.progress());
        }
        let (left, behaviours) = traffic.map(Traffic::finish).unwrap_or_default();
        left.iter().for_each(|played| self.replayed.add(played));
        self.replayed.add_behaviours(&behaviours);
        watch(self.progress());
        Ok(())
    }

    fn take(
        &mut self,
        file: &Arc<str>,
        piece: &Piece,
        done: Done,
        traffic: &mut Option<Traffic>,
    ) -> Result<(), ReplayError> {
        let results = match done {
            Done::Sessions(results) => results,
            Done::Event(event) => {
                let traffic = match traffic {
                    Some(traffic) => traffic,
                    None => traffic.insert(Traffic::new(file, &self.settings.policies, &event)?),
                };
                let mut ended = Vec::new();
                let played = traffic.play(&event, piece.line, &mut ended);
                ended.into_iter().map(Ok).chain(played.err().map(Err)).collect()
            }
        };
        for result in results {
            match result {
                Ok(played) => self.replayed.add(&played),
                Err(wrong) => {
                    let fault = Fault::new(Arc::clone(file), piece.line, wrong);
                    if self.settings.is_strict {
                        return Err(ReplayError::Strict(fault));
                    }
                    self.replayed.faults.push(fault);
                }
            }
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        let first = self.replayed.first();
        let of = |figure: fn(&Figures) -> u64| first.map_or(0, figure);
        Progress { sessions: of(|all| all.sessions.all()), calls: of(|all| all.calls), bytes: self.bytes }
    }
}
