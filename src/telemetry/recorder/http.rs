//! Requests of the HTTP face: what they were for, how they ended, how long they took. Knows routes as closed words, never
//! a path.

use std::sync::Arc;

use super::handles::{Counter, Handles, Histogram};
use super::{Recorder, count_word};
use crate::engine::clock::Stopwatch;
use crate::telemetry::catalogue as row;
use crate::telemetry::catalogue::{HttpClass, HttpRoute};

/// The handles.
pub(super) struct Requests {
    /// Routes, and in each the classes, in the order of their lists.
    counts: Vec<Counter>,
    seconds: Histogram,
}

impl Requests {
    pub(super) fn new(handles: &Handles) -> Self {
        let count = |route: HttpRoute| {
            let of = move |class: &HttpClass| handles.counter(&row::HTTP_REQUESTS, &[route.word(), class.word()]);
            HttpClass::ALL.iter().map(of)
        };
        Self {
            counts: HttpRoute::ALL.iter().copied().flat_map(count).collect(),
            seconds: handles.histogram(&row::HTTP_SECONDS, &[]),
        }
    }
}

/// A request on its way.
#[derive(Debug)]
pub struct HttpRunning {
    recorder: Arc<Recorder>,
    since: Stopwatch,
}

impl HttpRunning {
    /// Counts how it ended: what it was for, and the status of the answer.
    pub fn end(self, route: HttpRoute, status: u16) {
        let class = match status {
            400..=499 => HttpClass::Refused,
            500.. => HttpClass::Failed,
            _ => HttpClass::Answered,
        };
        let requests = &self.recorder.http;
        let at = route as usize * HttpClass::ALL.len() + class as usize;
        count_word(&requests.counts, at, HttpRoute::ALL.len() * HttpClass::ALL.len());
        requests.seconds.record(self.since.seconds());
    }
}

impl Recorder {
    /// A request begins.
    #[must_use]
    pub fn http_begins(self: &Arc<Self>) -> HttpRunning {
        HttpRunning { recorder: Arc::clone(self), since: Stopwatch::start() }
    }
}
