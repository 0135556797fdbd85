//! Whose calls these are: the agent run, the step, and the caller of each, from what a client says of itself.
//!
//! The protocol has no session that lasts (2026-07-28 has none at all), so a connection is one, unless a call names its
//! own in `_meta`. Calls that are sent before any answer came back are one step of the model: it has seen none of them.

use std::collections::BTreeMap;

use siphasher::sip128::{Hasher128 as _, SipHasher13};
use std::hash::Hasher as _;

use super::message::short_text;
use super::tools::Known;
use crate::domain::document::Value;
use crate::wire::pb;

/// In a request's `_meta`: the agent run. At most 256 bytes.
pub const SESSION_KEY: &str = "io.tripnote/session";
/// The call, where the client issues it anew under another id. At most 256 bytes.
pub const CALL_KEY: &str = "io.tripnote/call";
/// The request of the user. At most 256 bytes.
pub const TASK_KEY: &str = "io.tripnote/task";
/// The step of the model. At most 256 bytes.
pub const WAVE_KEY: &str = "io.tripnote/wave";
/// The sub-agent. At most 256 bytes.
pub const LANE_KEY: &str = "io.tripnote/lane";
/// The user has approved this very call: `true`.
pub const APPROVED_KEY: &str = "io.tripnote/user_approved";

const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
const NAME_BYTES_MAX: usize = 256;
/// Sessions whose steps are followed; the first in order of names goes, and its next call begins a step.
const SESSIONS_MAX: usize = 256;
/// Longer arguments are told by a digest and their size.
const ARGUMENTS_BYTES_MAX: usize = 64 << 10;

/// Who asks when nobody has introduced itself.
const NAMELESS: &str = "mcp";

#[derive(Debug, Default)]
struct Step {
    number: u64,
    is_over: bool,
}

/// The runs of one connection.
#[derive(Debug)]
pub(super) struct Runs {
    /// A name that no other connection has.
    connection: String,
    session: String,
    is_own: bool,
    prefix: String,
    caller: String,
    calls: u64,
    steps: BTreeMap<String, Step>,
    /// The caller under which our own session was opened.
    opened_by: Option<String>,
}

impl Runs {
    /// The runs of a new connection. A session that is given belongs to whoever named it.
    pub(super) fn new(connection: String, session: Option<String>, prefix: String) -> Self {
        let is_own = session.is_none();
        let session = session.unwrap_or_else(|| connection.clone());
        let caller = NAMELESS.to_owned();
        Self { connection, session, is_own, prefix, caller, calls: 0, steps: BTreeMap::new(), opened_by: None }
    }

    /// A client introduces itself, in the parameters of `initialize`.
    pub(super) fn introduce(&mut self, params: Option<Value<'_>>) {
        let name = params.and_then(|params| params.path(&["clientInfo", "name"]));
        if let Some(name) = short_text(name, NAME_BYTES_MAX) {
            self.caller = name;
        }
    }

    /// What the service is asked about a call of this tool.
    pub(super) fn request(&mut self, tool: &str, known: Known, params: Value<'_>) -> pb::AdmitRequest {
        let meta = params.get("_meta");
        let said = |key: &str| short_text(meta.and_then(|meta| meta.get(key)), NAME_BYTES_MAX);
        self.calls += 1;
        let introduced = meta.and_then(|meta| meta.get(CLIENT_KEY)).and_then(|client| client.get("name"));
        let caller = short_text(introduced, NAME_BYTES_MAX).unwrap_or_else(|| self.caller.clone());
        let session = said(SESSION_KEY).unwrap_or_else(|| self.session.clone());
        if self.is_own && session == self.session {
            self.opened_by.get_or_insert_with(|| caller.clone());
        }
        let step = self.step(&session);
        let arguments = params.get("arguments").map_or("{}", Value::raw);
        let is_long = arguments.len() > ARGUMENTS_BYTES_MAX;
        pb::AdmitRequest {
            target: format!("{}{tool}", self.prefix),
            tool_name: tool.to_owned(),
            call_id: said(CALL_KEY).unwrap_or_else(|| format!("{} {}", self.connection, self.calls)),
            attempt: 1,
            wave_id: said(WAVE_KEY).unwrap_or_else(|| format!("{} {step}", self.connection)),
            lane: said(LANE_KEY).unwrap_or_default(),
            task_id: said(TASK_KEY).unwrap_or_default(),
            user_approved: meta.and_then(|meta| meta.get(APPROVED_KEY)).and_then(Value::as_bool) == Some(true),
            arguments: if is_long { vec![] } else { arguments.as_bytes().to_vec() },
            arguments_digest: if is_long { digest(arguments) } else { vec![] },
            arguments_bytes: u32::try_from(arguments.len()).ok(),
            effect: known.effect.into(),
            // Only that there is one is asked: the tool itself says that a repeat does no harm.
            idempotency_key: if known.is_idempotent { "idempotentHint".to_owned() } else { String::new() },
            session_id: session,
            caller,
            ..pb::AdmitRequest::default()
        }
    }

    /// The model sees an answer of this session: its next call is another step.
    pub(super) fn answered(&mut self, session: &str) {
        if let Some(step) = self.steps.get_mut(session) {
            step.is_over = true;
        }
    }

    fn step(&mut self, session: &str) -> u64 {
        if self.steps.len() >= SESSIONS_MAX && !self.steps.contains_key(session) {
            self.steps.pop_first();
        }
        let calls = self.calls;
        let step = self.steps.entry(session.to_owned()).or_insert(Step { number: calls, is_over: false });
        if step.is_over {
            *step = Step { number: calls, is_over: false };
        }
        step.number
    }

    /// A target as a plan would ask for it.
    pub(super) fn target(&self, tool: &str) -> pb::PeekTarget {
        pb::PeekTarget {
            target: format!("{}{tool}", self.prefix),
            tool_name: tool.to_owned(),
            session_id: self.session.clone(),
            caller: self.caller.clone(),
            ..pb::PeekTarget::default()
        }
    }

    /// The session that ends with the connection; none where it is another's, or nothing was called.
    pub(super) fn own(&self) -> Option<pb::SessionRef> {
        let caller = self.opened_by.clone()?;
        Some(pb::SessionRef { session_id: self.session.clone(), caller })
    }
}

fn digest(arguments: &str) -> Vec<u8> {
    let mut hasher = SipHasher13::new();
    hasher.write(arguments.as_bytes());
    hasher.finish128().as_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::message::document;
    use super::super::tools::UNKNOWN;
    use super::*;

    fn asked(runs: &mut Runs, params: &str) -> pb::AdmitRequest {
        runs.request("t", UNKNOWN, document(params).unwrap().root())
    }

    fn runs() -> Runs {
        Runs::new("c".to_owned(), None, "mcp:x/".to_owned())
    }

    #[test]
    fn calls_are_one_step_until_the_model_sees_an_answer() {
        let mut runs = runs();
        let wave = |runs: &mut Runs| asked(runs, "{}").wave_id;
        let first = wave(&mut runs);
        assert_eq!(wave(&mut runs), first);
        runs.answered("c");
        let second = wave(&mut runs);
        assert_ne!(second, first);
        assert_eq!(wave(&mut runs), second);
        runs.answered("a session that never called");
        assert_eq!(wave(&mut runs), second);
    }

    #[test]
    fn a_call_says_in_its_meta_whose_it_is() {
        let mut runs = runs();
        let params = r#"{"arguments":{"a":1},"_meta":{"io.tripnote/session":"s","io.tripnote/call":"k",
            "io.tripnote/task":"t1","io.tripnote/lane":"l","io.tripnote/user_approved":true,
            "io.modelcontextprotocol/clientInfo":{"name":"me"}}}"#;
        let request = asked(&mut runs, params);
        let named = [&request.session_id, &request.call_id, &request.task_id, &request.lane, &request.caller];
        assert_eq!(named, ["s", "k", "t1", "l", "me"]);
        assert_eq!((request.target.as_str(), &*request.arguments), ("mcp:x/t", &b"{\"a\":1}"[..]));
        assert!(request.user_approved);
        assert_eq!(runs.own(), None, "the session is not ours to end");
        let long = format!(r#"{{"_meta":{{"io.tripnote/session":"{}"}}}}"#, "x".repeat(257));
        assert_eq!(asked(&mut runs, &long).session_id, "c", "what is out of bounds is not said");
        assert_eq!(runs.own().map(|own| own.session_id).as_deref(), Some("c"));
    }

    #[test]
    fn calls_without_arguments_and_with_long_ones_are_told_apart() {
        let mut runs = runs();
        assert_eq!(asked(&mut runs, "{}").arguments, b"{}");
        let long = |fill: &str| format!(r#"{{"arguments":{{"a":"{}"}}}}"#, fill.repeat(ARGUMENTS_BYTES_MAX));
        let (x, y) = (asked(&mut runs, &long("x")), asked(&mut runs, &long("y")));
        assert_eq!((x.arguments.len(), x.arguments_digest.len()), (0, 16));
        assert_ne!(x.arguments_digest, y.arguments_digest);
        assert_eq!(x.arguments_digest, asked(&mut runs, &long("x")).arguments_digest);
    }

    #[test]
    fn the_memory_of_steps_is_bounded() {
        let mut runs = runs();
        for n in 0..2 * SESSIONS_MAX {
            asked(&mut runs, &format!(r#"{{"_meta":{{"io.tripnote/session":"s{n}"}}}}"#));
        }
        assert_eq!(runs.steps.len(), SESSIONS_MAX);
    }
}
