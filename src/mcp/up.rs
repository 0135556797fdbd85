//! From the client to the server: every line passes as it is, but a tool call waits until the service has been asked.

use super::answer::{INVALID_REQUEST, SERVER_LOST, error};
use super::asks::Ask;
use super::call::{Call, Seen};
use super::line::{Incoming, LINE_BYTES_MAX, Line, TooLong};
use super::link::Ended;
use super::message::{Id, Message, document, read, short_text};
use super::proxy::{PENDING_MAX, Pending, Proxy};
use super::service::{Unanswered, WhenDown};
use super::tools::NAME_BYTES_MAX;
use crate::domain::document::Value;
use crate::wire::pb;
use crate::wire::pb::admit_response::Decision;

/// The longest beginning that is kept to be played again.
const BEGINNING_BYTES_MAX: usize = 1 << 20;
/// A request's `_meta` names the protocol version from 2026-07-28 on.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// What becomes of a line.
enum Fate {
    /// It goes on.
    Pass,
    /// It is kept from the server.
    Stop,
    /// It goes on if the service allows it.
    Ask(Box<Call>, Box<pb::AdmitRequest>),
    /// It is answered here.
    Answer(Vec<u8>),
    /// It is a batch that holds a tool call: each of its messages goes its own way.
    Apart(Vec<Vec<u8>>),
}

impl Proxy {
    /// Something came from the client.
    pub(super) fn hear_client(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Line(line) => self.client_line(line),
            Incoming::TooLong(TooLong { id, has_method }) => {
                let message =
                    format!("the message is longer than {LINE_BYTES_MAX} bytes, which is the most that passes");
                match id.filter(|_| has_method) {
                    Some(id) => self.to_client(Line::of_ours(error(&id, INVALID_REQUEST, &message))),
                    None => (self.settings.say)(&format!("from the client: {message}")),
                }
            }
        }
    }

    fn client_line(&mut self, line: Line) {
        let fate = match line.text().and_then(document) {
            Some(document) => self.fate(&line, document.root()),
            None => Fate::Pass, // the server says what is wrong with it
        };
        match fate {
            Fate::Pass => self.to_server(line),
            Fate::Stop => {}
            Fate::Ask(call, request) => {
                self.pending.insert(call.id.key.clone(), Pending::Asking(call.id.clone(), call.number));
                self.asks.push(Ask::Admit { call, line, request });
            }
            Fate::Answer(answer) => self.to_client(line.instead(answer)),
            Fate::Apart(parts) => parts.into_iter().for_each(|part| self.client_line(line.instead(part))),
        }
    }

    fn fate(&mut self, line: &Line, root: Value<'_>) -> Fate {
        match read(root) {
            Message::Request { id, method, params } => match (&*method, params) {
                ("tools/call", Some(params)) => self.tool_call(id, params),
                (method, params) => {
                    self.request(line, id, method, params);
                    Fate::Pass
                }
            },
            Message::Notification { method, params } => self.notification(line, &method, params),
            Message::Batch => self.batch(line, root),
            Message::Response { .. } | Message::Other => Fate::Pass,
        }
    }

    fn tool_call(&mut self, id: Id, params: Value<'_>) -> Fate {
        let refused = |why: &str| Fate::Answer(error(&id.raw, INVALID_REQUEST, why));
        let Some(tool) = short_text(params.get("name"), NAME_BYTES_MAX) else {
            self.wait_for(id.clone(), Pending::Other(id));
            return Fate::Pass; // no call that anybody could make: the server says what is wrong with it
        };
        if !id.is_kept() {
            return refused("the id of a tool call has at most 1024 bytes");
        }
        if self.pending.contains_key(&id.key) {
            return refused("the id is that of a request that waits for its answer: a new one is due");
        }
        if self.pending.len() >= PENDING_MAX {
            return refused(&format!("{PENDING_MAX} requests wait for their answers, which is the most that may"));
        }
        self.calls += 1;
        let known = self.tools.of(&tool);
        let request = self.runs.request(&tool, known, params);
        let says_complete = params.get("_meta").is_some_and(|meta| meta.get(VERSION_KEY).is_some());
        let call = Call {
            number: self.calls,
            id,
            tool,
            known,
            session: request.session_id.clone(),
            arguments: request.arguments.clone(),
            says_complete,
        };
        Fate::Ask(Box::new(call), Box::new(request))
    }

    fn request(&mut self, line: &Line, id: Id, method: &str, params: Option<Value<'_>>) {
        let pending = match method {
            "initialize" => {
                self.runs.introduce(params);
                if self.settings.restarts && line.bytes().len() <= BEGINNING_BYTES_MAX {
                    self.starts.initialize = Some((line.bytes().to_vec(), id.clone()));
                }
                Pending::Initialize(id.clone())
            }
            "tools/list" => {
                let is_first = params.and_then(|params| params.get("cursor")).is_none_or(Value::is_null);
                Pending::List(id.clone(), is_first)
            }
            "subscriptions/listen" => {
                let wants = params.and_then(|params| params.path(&["notifications", "toolsListChanged"]));
                if wants.and_then(Value::as_bool) == Some(true) && id.is_kept() {
                    self.subscription = Some(id.clone());
                }
                Pending::Other(id.clone())
            }
            _ => Pending::Other(id.clone()),
        };
        self.wait_for(id, pending);
    }

    /// Remembers a request, where there is room for it. One that is not remembered passes all the same.
    fn wait_for(&mut self, id: Id, pending: Pending) {
        if id.is_kept() && self.pending.len() < PENDING_MAX {
            self.pending.entry(id.key).or_insert(pending);
        }
    }

    fn notification(&mut self, line: &Line, method: &str, params: Option<Value<'_>>) -> Fate {
        match method {
            "notifications/initialized" if self.settings.restarts && line.bytes().len() <= BEGINNING_BYTES_MAX => {
                self.starts.initialized = Some(line.bytes().to_vec());
                Fate::Pass
            }
            "notifications/cancelled" => match params.and_then(|params| params.get("requestId")).map(Id::of) {
                Some(id) => self.cancelled(&id),
                None => Fate::Pass,
            },
            _ => Fate::Pass,
        }
    }

    fn cancelled(&mut self, id: &Id) -> Fate {
        match self.pending.remove(&id.key) {
            // The server never heard of the call. Its permit, if it comes, is given back.
            Some(Pending::Asking(..)) => Fate::Stop,
            Some(Pending::Sent(call, permit, _)) => {
                self.report_nothing(call, permit, Some(pb::ErrorKind::CancelledByCaller));
                Fate::Pass
            }
            Some(Pending::List(..) | Pending::Initialize(_) | Pending::Other(_)) | None => Fate::Pass,
        }
    }

    fn batch(&mut self, line: &Line, root: Value<'_>) -> Fate {
        let is_call = |part: Value<'_>| match read(part) {
            Message::Request { method, .. } => method == "tools/call",
            Message::Notification { .. } | Message::Response { .. } | Message::Batch | Message::Other => false,
        };
        if root.items().any(is_call) {
            return Fate::Apart(parts(root));
        }
        for part in root.items() {
            if let Message::Request { id, method, params } = read(part) {
                self.request(line, id, &method, params);
            }
        }
        Fate::Pass
    }

    /// The service has been asked about a call.
    pub(super) fn admitted(&mut self, call: Box<Call>, line: Line, answer: Result<Box<Decision>, Unanswered>) {
        self.heard(answer.as_ref().err());
        let answer = answer.map(|decision| *decision);
        let number = call.number;
        let is_awaited = |it: &Pending| matches!(it, Pending::Asking(_, asked) if *asked == number);
        if !self.pending.get(&call.id.key).is_some_and(is_awaited) {
            if let Ok(Decision::Permit(permit)) = answer {
                self.report_nothing(call, Some(permit.token), Some(pb::ErrorKind::CancelledByCaller));
            }
            return;
        }
        match answer {
            Ok(Decision::Permit(permit)) => self.send(call, line, Some(permit.token), permit.notices),
            Ok(Decision::Trip(trip)) => {
                self.refuse(&call, line.instead(call.form().failed(&[&trip.text], Some(&trip))));
                self.look();
            }
            Err(_) if self.settings.when_down.goes_on(call.known.effect) => self.send(call, line, None, vec![]),
            Err(unanswered) => {
                let why = match self.settings.when_down {
                    WhenDown::ByEffect => "it may change something, and ",
                    WhenDown::GoOn | WhenDown::Refuse => "",
                };
                let what = match unanswered {
                    Unanswered::Away(_) => "reached",
                    Unanswered::Rejected(_) => "asked about it",
                };
                let text = format!("{} was not called: {why}the circuit breaker service cannot be {what}", call.tool);
                self.refuse(&call, line.instead(call.form().failed(&[&text], None)));
            }
        }
    }

    fn send(&mut self, call: Box<Call>, line: Line, permit: Option<Vec<u8>>, notices: Vec<String>) {
        self.pending.insert(call.id.key.clone(), Pending::Sent(call, permit, notices));
        self.to_server(line);
    }

    fn refuse(&mut self, call: &Call, answer: Line) {
        self.pending.remove(&call.id.key);
        self.runs.answered(&call.session);
        self.to_client(answer);
    }

    /// Reports a call that the client gets no further answer to. Neutral where nothing was seen of it.
    pub(super) fn report_nothing(&mut self, call: Box<Call>, permit: Option<Vec<u8>>, seen: Option<pb::ErrorKind>) {
        let Some(permit) = permit else { return };
        let facts = seen.map(|kind| pb::TransportFacts {
            error_kind: kind.into(),
            carrier: pb::Carrier::Mcp.into(),
            ..pb::TransportFacts::default()
        });
        self.asks.push(Ask::Report { call, permit, notices: vec![], seen: Seen::Nothing { facts } });
    }

    /// The server is over: whoever waits for an answer gets one error. Calls that have not gone out are kept for the next.
    pub(super) fn lost(&mut self, ended: &Ended, has_next: bool) {
        let message = format!("the MCP server ended ({}) before it answered", ended.how);
        for (key, pending) in std::mem::take(&mut self.pending) {
            if has_next && matches!(pending, Pending::Asking(..)) {
                self.pending.insert(key, pending);
                continue;
            }
            self.to_client(Line::of_ours(error(&pending.id().raw, SERVER_LOST, &message)));
            if let Pending::Sent(call, permit, _) = pending {
                self.runs.answered(&call.session);
                self.report_nothing(call, permit, Some(pb::ErrorKind::Reset));
            }
        }
    }

    /// The proxy is told to end: nobody waits for an answer any more.
    pub(super) fn given_up(&mut self) {
        for pending in std::mem::take(&mut self.pending).into_values() {
            if let Pending::Sent(call, permit, _) = pending {
                self.report_nothing(call, permit, Some(pb::ErrorKind::CancelledByCaller));
            }
        }
    }
}

/// The messages of a batch, a line each.
pub(super) fn parts(batch: Value<'_>) -> Vec<Vec<u8>> {
    batch.items().map(|part| format!("{}\n", part.raw().replace('\n', " ")).into_bytes()).collect()
}
