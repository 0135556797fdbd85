//! The events as server-sent ones (WHATWG HTML, 9.2): an id to go on from, one line of JSON, a sign of life in between.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use prost_reflect::{DynamicMessage, Value};
use tokio_stream::StreamExt as _;
use tonic::Status;
use tonic::codec::Streaming;

use super::serving::Connection;
use crate::wire::InvalidField;
use crate::wire::json::{put_text, write};

/// The media type.
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
/// While nothing happens, so often a comment is sent, so that both sides know of each other.
const ALIVE_EVERY: Duration = Duration::from_secs(15);
/// What is sent first: the head goes out at once, and a reader that is cut off comes again after 2 s.
const OPENING: &str = ": events of tripnote\nretry: 2000\n\n";
const ALIVE: &str = ": still here\n\n";

/// Goes on after the event that a reader saw last, where it says so: `seq`, or `incarnation-seq` as ids are sent, with
/// which another life of the service is noticed.
pub(super) fn resume(request: &mut DynamicMessage, last: &str) -> Result<(), InvalidField> {
    let (life, seq) = last.split_once('-').map_or((None, last), |(life, seq)| (Some(life), seq));
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    if !is_number(seq) || !life.is_none_or(is_number) {
        return Err(InvalidField::new("Last-Event-ID", "is no id of an event: send the last `id` as it came"));
    }
    let descriptor = prost_reflect::ReflectMessage::descriptor(request);
    for (name, text) in [("after_seq", Some(seq)), ("incarnation", life)] {
        let field = descriptor.get_field_by_name(name);
        field.iter().for_each(|field| request.clear_field(field)); // a reader that comes again repeats its first query
        if let Some(text) = text {
            put_text(request, name, text)?;
        }
    }
    Ok(())
}

/// The stream as an answer; each part that the reader takes is told to its connection.
pub(super) fn answer(events: Streaming<DynamicMessage>, connection: Connection) -> Response {
    let frames = events.timeout_repeating(tokio::time::interval(ALIVE_EVERY)).map(|came| match came {
        Err(_nothing) => ALIVE.to_owned(),
        Ok(Ok(event)) => frame(&event),
        Ok(Err(error)) => failure(&error),
    });
    let opening = tokio_stream::once(OPENING.to_owned());
    let parts = opening.chain(frames).map(move |part| {
        connection.sent_part();
        Ok::<_, Infallible>(part)
    });
    ([(CONTENT_TYPE, EVENTS)], Body::from_stream(parts)).into_response()
}

/// One event.
fn frame(event: &DynamicMessage) -> String {
    let number = |name: &str| event.get_field_by_name(name).and_then(|field| field.as_u64()).unwrap_or(0);
    let json = String::from_utf8(write(event)).unwrap_or_default(); // JSON is UTF-8, in one line
    format!("id: {}-{}\ndata: {json}\n\n", number("incarnation"), number("seq"))
}

/// Why the stream ends.
fn failure(error: &Status) -> String {
    let text = Value::String(error.message().to_owned());
    format!("event: error\ndata: {}\n\n", text.as_str().unwrap_or_default().replace(['\n', '\r'], " "))
}
