//! One request over HTTP and what comes back, and the stream by which a server speaks unasked.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::time::{sleep, timeout};

use super::Talk;
use super::events::{Events, TooLong};
use super::head::{self, Head, answers, settled_version};
use crate::mcp::line::{LINE_BYTES_MAX, Line};
use crate::mcp::link::{Ended, Failed, FromServer};
use crate::wire::pb;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
/// Of an answer that is an error so much is read.
const ERROR_BYTES_MAX: usize = 64 << 10;
/// Headers that a report tells.
const HEADERS_MAX: usize = 64;
/// Between two tries to listen, where the server does not say; and the bounds of what it says.
const LISTEN_AFTER_MS: (u64, u64, u64) = (1_000, 100, 60_000);
/// Tries to listen without hearing anything.
const LISTENS_MAX: u32 = 5;
/// How long the server may take to let go of a session.
const LEAVE_WITHIN: Duration = Duration::from_secs(1);

/// Why nothing came of a request.
struct Lost {
    facts: pb::TransportFacts,
    how: String,
}

impl Lost {
    fn of(kind: pb::ErrorKind, how: &str) -> Self {
        let facts = pb::TransportFacts { error_kind: kind.into(), ..pb::TransportFacts::default() };
        Self { facts, how: how.to_owned() }
    }
}

/// Sends a message and hands on all that comes back.
pub(super) async fn send(talk: Arc<Talk>, head: Head, line: Line) {
    let body = Bytes::copy_from_slice(line.bytes().trim_ascii());
    drop(line); // the body is small, or the only one
    if body.is_empty() {
        return;
    }
    let Err(Lost { mut facts, how }) = exchange(&talk, &head, body).await else { return };
    facts.carrier = if facts.http_status.is_some() { pb::Carrier::Http } else { pb::Carrier::Mcp }.into();
    let failed = Failed { id: head.id.map(|id| id.raw), facts, message: format!("{talk} {how}") };
    let _ = talk.says.send(FromServer::Failed(failed)).await; // nobody may be left to hear it
}

async fn exchange(talk: &Talk, head: &Head, body: Bytes) -> Result<(), Lost> {
    let mut request = talk.request("POST", body);
    let headers = request.headers_mut();
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(ACCEPT, BOTH);
    head.say(headers);
    let response = talk.http.request(request).await.map_err(|error| {
        if error.is_connect() {
            Lost::of(pb::ErrorKind::ConnectRefused, "cannot be reached")
        } else {
            Lost::of(pb::ErrorKind::Reset, "broke the connection")
        }
    })?;
    if !response.status().is_success() {
        return refused(talk, head, response).await;
    }
    if head.method == "initialize"
        && let Some(session) = response.headers().get(head::SESSION)
    {
        let _ = talk.session.set(session.clone()); // a second beginning changes nothing
    }
    if is(response.headers(), "text/event-stream") {
        return stream(talk, head, response.into_body()).await;
    }
    let body = Limited::new(response.into_body(), LINE_BYTES_MAX).collect().await;
    let body = body.map_err(|_| Lost::of(pb::ErrorKind::Reset, "broke off its answer"))?.to_bytes();
    if body.trim_ascii().is_empty() {
        return match head.id {
            Some(_) => Err(Lost::of(pb::ErrorKind::MalformedBody, "answered nothing")),
            None => Ok(()),
        };
    }
    match (&head.id, std::str::from_utf8(&body)) {
        (Some(id), Ok(text)) if !answers(text, id) => {
            Err(Lost::of(pb::ErrorKind::MalformedBody, "answered what is no answer"))
        }
        (Some(_), Err(_)) => Err(Lost::of(pb::ErrorKind::MalformedBody, "answered what is no text")),
        (_, text) => {
            begun(talk, head, text.unwrap_or_default());
            talk.hand_on(&body).await;
            Ok(())
        }
    }
}

fn is(headers: &HeaderMap, media: &str) -> bool {
    let said = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    said.split(';').next().is_some_and(|said| said.trim().eq_ignore_ascii_case(media))
}

/// The answer to `initialize` settles the version of all that follows.
fn begun(talk: &Talk, head: &Head, text: &str) {
    if head.method == "initialize"
        && let Some(version) = settled_version(text)
    {
        let _ = talk.version.set(version); // as above
    }
}

/// Hands on the messages of a stream until the request is answered.
async fn stream(talk: &Talk, head: &Head, mut body: Incoming) -> Result<(), Lost> {
    let mut events = Events::default();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { break };
        let Some(bytes) = frame.data_ref() else { continue };
        let whole = events.feed(bytes);
        let whole = whole.map_err(|TooLong| Lost::of(pb::ErrorKind::MalformedBody, "sent more than may pass"))?;
        for event in whole.into_iter().filter(|event| !event.data.is_empty()) {
            let text = std::str::from_utf8(&event.data).unwrap_or_default();
            begun(talk, head, text);
            let is_answered = head.id.as_ref().is_some_and(|id| answers(text, id));
            if !talk.hand_on(&event.data).await || is_answered {
                return Ok(());
            }
        }
    }
    match head.id {
        Some(_) => Err(Lost::of(pb::ErrorKind::Reset, "ended its stream before it answered")),
        None => Ok(()),
    }
}

/// An answer with a status of failure: a message where it is one, else a fact.
async fn refused(talk: &Talk, head: &Head, response: Response<Incoming>) -> Result<(), Lost> {
    let (parts, body) = response.into_parts();
    if parts.status == StatusCode::NOT_FOUND && talk.session.get().is_some() {
        let ended = Ended { how: "it has forgotten the session".to_owned(), status: 1 };
        let _ = talk.says.send(FromServer::Ended(ended)).await; // nobody may be left to hear it
        return Ok(());
    }
    let body = Limited::new(body, ERROR_BYTES_MAX).collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    if let (Some(id), Ok(text)) = (&head.id, std::str::from_utf8(&body))
        && answers(text, id)
    {
        talk.hand_on(&body).await;
        return Ok(());
    }
    let told = parts.headers.iter().filter_map(|(name, value)| {
        let (name, value) = (name.as_str().to_owned(), value.to_str().ok()?.to_owned());
        (name.len() <= 128 && value.len() <= 1_024).then_some(pb::Header { name, value })
    });
    let facts = pb::TransportFacts {
        http_status: Some(parts.status.as_u16().into()),
        headers: told.take(HEADERS_MAX).collect(),
        ..pb::TransportFacts::default()
    };
    Err(Lost { facts, how: format!("answered with status {}", parts.status.as_u16()) })
}

/// Hears what the server says unasked, where it offers that (up to 2025-11-25); takes the stream up where it broke off.
pub(super) async fn listen(talk: Arc<Talk>) {
    let (after, least, most) = LISTEN_AFTER_MS;
    let (mut last, mut after, mut vain) = (None, after, 0);
    while vain < LISTENS_MAX {
        vain += 1;
        let mut request = talk.request("GET", Bytes::new());
        request.headers_mut().insert(ACCEPT, EVENTS);
        let id = last.as_deref().and_then(|id| HeaderValue::from_str(id).ok());
        id.into_iter().for_each(|id| drop(request.headers_mut().insert("last-event-id", id)));
        if let Ok(response) = talk.http.request(request).await {
            if response.status().is_client_error()
                || response.status().is_success() && !is(response.headers(), "text/event-stream")
            {
                return; // it does not offer this
            }
            let (mut events, mut body) = (Events::default(), response.into_body());
            while let Some(Ok(frame)) = body.frame().await {
                let Ok(whole) = events.feed(frame.data_ref().map_or(&[], |bytes| bytes)) else { break };
                for event in whole {
                    vain = 0;
                    last = event.id.or(last);
                    if !event.data.is_empty() && !talk.hand_on(&event.data).await {
                        return;
                    }
                }
            }
            after = events.retry_ms.unwrap_or(after).clamp(least, most);
        }
        sleep(Duration::from_millis(after)).await;
    }
}

/// Lets the server forget the session.
pub(super) async fn leave(talk: &Talk) {
    if talk.session.get().is_some() {
        let request = talk.request("DELETE", Bytes::new());
        let _ = timeout(LEAVE_WITHIN, talk.http.request(request)).await; // it forgets by itself, too
    }
}
