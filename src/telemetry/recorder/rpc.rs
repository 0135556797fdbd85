//! RPCs as every gRPC server counts them, so that existing dashboards work: started, handled by code, and how long.

use std::collections::HashMap;
use std::sync::Arc;

use super::Recorder;
use super::handles::{Counter, Handles, Histogram};
use crate::domain::signal::closed_words;
use crate::engine::clock::Stopwatch;
use crate::telemetry::catalogue as row;
use crate::telemetry::catalogue::{OTHER, RpcCode};

closed_words! {
    /// How many messages go which way.
    MethodType {
        /// One and one.
        Unary = "unary",
        /// Many to the service.
        ClientStream = "client_stream",
        /// Many to the caller.
        ServerStream = "server_stream",
        /// Many both ways.
        BidiStream = "bidi_stream",
    }
}

/// A method of a service, as the protos name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// With its package.
    pub service: String,
    /// Its own name.
    pub name: String,
    /// How many messages go which way.
    pub of: MethodType,
}

impl Method {
    /// What no proto names.
    pub(super) fn other() -> Self {
        Self { service: OTHER.to_owned(), name: OTHER.to_owned(), of: MethodType::Unary }
    }

    /// The path of a request for it.
    pub(super) fn path(&self) -> String {
        format!("/{}/{}", self.service, self.name)
    }
}

/// Codes that stand at zero from the start; another comes too seldom to have a series at every method.
const USUAL: [RpcCode; 7] = [
    RpcCode::Ok,
    RpcCode::Canceled,
    RpcCode::Unknown,
    RpcCode::InvalidArgument,
    RpcCode::ResourceExhausted,
    RpcCode::Internal,
    RpcCode::Unavailable,
];

/// The handles of one method.
pub(super) struct OfMethod {
    method: Method,
    started: Counter,
    handled: Vec<(RpcCode, Counter)>,
    /// None for streams, which take as long as they are wanted.
    seconds: Option<Histogram>,
}

impl OfMethod {
    pub(super) fn new(handles: &Handles, method: &Method) -> Self {
        let labels = [method.of.word(), &*method.service, &*method.name];
        let handled = |code: RpcCode| (code, handled(handles, method, code));
        Self {
            started: handles.counter(&row::RPC_STARTED, &labels),
            handled: USUAL.into_iter().map(handled).collect(),
            seconds: (method.of == MethodType::Unary).then(|| handles.histogram(&row::RPC_SECONDS, &labels)),
            method: method.clone(),
        }
    }
}

fn handled(handles: &Handles, method: &Method, code: RpcCode) -> Counter {
    handles.counter(&row::RPC_HANDLED, &[method.of.word(), &*method.service, &*method.name, code.word()])
}

/// Methods by the path of a request.
pub(super) struct Methods {
    by_path: HashMap<String, usize>,
    /// The last is that of paths which no proto names.
    all: Vec<OfMethod>,
}

impl Methods {
    pub(super) fn new(handles: &Handles, methods: &[Method]) -> Self {
        let by_path = methods.iter().enumerate().map(|(at, method)| (method.path(), at)).collect();
        let all = methods.iter().chain([&Method::other()]).map(|method| OfMethod::new(handles, method)).collect();
        Self { by_path, all }
    }
}

/// An RPC on its way. One that is dropped before it has ended was cancelled.
#[derive(Debug)]
pub struct Running {
    recorder: Arc<Recorder>,
    at: usize,
    since: Stopwatch,
    is_ended: bool,
}

impl Running {
    /// Counts an RPC that begins.
    #[must_use]
    pub fn begin(recorder: &Arc<Recorder>, path: &str) -> Self {
        let Methods { by_path, all } = &recorder.methods;
        let at = by_path.get(path).copied().unwrap_or(all.len().saturating_sub(1));
        if let Some(of) = all.get(at) {
            of.started.increment(1);
        }
        Self { recorder: Arc::clone(recorder), at, since: Stopwatch::start(), is_ended: false }
    }

    /// Whether its code is known only when its answer has ended.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.recorder.methods.all.get(self.at).is_some_and(|of| of.method.of != MethodType::Unary)
    }

    /// Counts how it ended; what is none of the known codes is unknown. Only the first end counts.
    pub fn end(&mut self, code: i32) {
        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        let Some(of) = self.recorder.methods.all.get(self.at) else { return };
        let code = usize::try_from(code).ok().and_then(|code| RpcCode::ALL.get(code)).copied();
        let code = code.unwrap_or(RpcCode::Unknown);
        match of.handled.iter().find(|(usual, _)| *usual == code) {
            Some((_, counter)) => counter.increment(1),
            None => handled(&self.recorder.handles, &of.method, code).increment(1),
        }
        if let Some(seconds) = &of.seconds {
            seconds.record(self.since.seconds());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end(RpcCode::Canceled as i32);
    }
}
