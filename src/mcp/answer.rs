//! What the client is given in place of an answer, or inside of one: contracts, lines of failed calls, errors.
//!
//! Of an answer that goes on to the client only the place of the new text is touched; every other byte stays.

use serde::Serialize;

use super::message::{document, offset};
use super::tools::Known;
use super::words;
use crate::domain::document::Value;
use crate::wire::pb;

/// Under this name a result's `_meta` holds the nine fields of the contract.
pub const TRIP_KEY: &str = "io.tripnote/trip";
/// Under this name it holds the wait until the call can be asked for again, in milliseconds.
pub const RETRY_AFTER_KEY: &str = "io.tripnote/retry_after_ms";
/// Under this name it holds the tools of the session that cannot be called now.
pub const WITHDRAW_KEY: &str = "io.tripnote/withdraw";

/// JSON-RPC: the message is no request as one should be.
pub(super) const INVALID_REQUEST: i32 = -32_600;
/// JSON-RPC: the other side failed, in the range that is left to implementations; MCP clients use it for a lost server.
pub(super) const SERVER_LOST: i32 = -32_000;

#[derive(Serialize)]
struct Contract<'a> {
    action: String,
    breaker: &'a str,
    target: &'a str,
    signal: String,
    observed: &'a str,
    threshold: &'a str,
    state: &'a str,
    do_not: &'a str,
    fallback: &'a str,
}

impl<'a> Contract<'a> {
    fn of(trip: &'a pb::Trip) -> Self {
        Self {
            action: words::action(trip),
            breaker: &trip.breaker,
            target: &trip.target,
            signal: words::signal(trip),
            observed: &trip.observed,
            threshold: &trip.threshold,
            state: &trip.state,
            do_not: &trip.do_not,
            fallback: &trip.fallback,
        }
    }
}

/// A value as JSON. Ours are texts, numbers and lists of these, which always can be.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, json(&text))
}

/// The members of `_meta` that a contract comes with.
fn meta(trip: &pb::Trip) -> String {
    let mut members = format!(r#""{TRIP_KEY}":{}"#, json(&Contract::of(trip)));
    if let Some(wait) = trip.retry_after_ms {
        members.push_str(&format!(r#","{RETRY_AFTER_KEY}":{wait}"#));
    }
    if !trip.withdraw.is_empty() {
        members.push_str(&format!(r#","{WITHDRAW_KEY}":{}"#, json(&trip.withdraw)));
    }
    members
}

/// How a result is to be written for one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form<'a> {
    /// The id of the request, as it was written.
    pub(super) id: &'a str,
    /// What is known of the tool.
    pub(super) tool: Known,
    /// The protocol wants every result to say that it is complete (2026-07-28).
    pub(super) says_complete: bool,
}

impl Form<'_> {
    /// A failed result that holds these texts and, where there is one, a contract.
    pub(super) fn failed(self, texts: &[&str], trip: Option<&pb::Trip>) -> Vec<u8> {
        let blocks: Vec<String> = texts.iter().map(|text| block(text)).collect();
        let complete = if self.says_complete { r#""resultType":"complete","# } else { "" };
        let mut result = format!(r#"{{{complete}"content":[{}]"#, blocks.join(","));
        if let Some(trip) = trip {
            // A tool that promises a shape must keep it, and a wording that says little must not be outdone.
            let is_told_whole = !matches!(trip.variant(), pb::Variant::Weak | pb::Variant::Silent);
            if is_told_whole && !self.tool.has_output_schema {
                result.push_str(&format!(r#","structuredContent":{}"#, json(&Contract::of(trip))));
            }
        }
        result.push_str(r#","isError":true"#);
        if let Some(trip) = trip {
            result.push_str(&format!(r#","_meta":{{{}}}"#, meta(trip)));
        }
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}}}\n", self.id).into_bytes()
    }
}

/// An error in place of an answer.
pub(super) fn error(id: &str, code: i32, message: &str) -> Vec<u8> {
    let message = json(&message);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}}}}}\n").into_bytes()
}

/// A notification without parameters but, where a listener is known, the name of its subscription.
pub(super) fn list_changed(subscription: Option<&str>) -> Vec<u8> {
    let params = subscription.map_or_else(String::new, |id| {
        format!(r#","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#)
    });
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"{params}}}\n").into_bytes()
}

/// A change of a text: what stands from `at` on, `len` bytes of it, gives way to `text`.
#[derive(Debug)]
pub(super) struct Edit {
    /// Where.
    pub(super) at: usize,
    /// How much goes.
    pub(super) len: usize,
    /// What comes.
    pub(super) text: String,
}

/// A text with changes that do not overlap.
pub(super) fn edited(text: &str, mut edits: Vec<Edit>) -> Vec<u8> {
    edits.sort_by_key(|edit| edit.at);
    let mut out = Vec::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut from = 0;
    for Edit { at, len, text: new } in edits {
        out.extend_from_slice(text.as_bytes().get(from..at).unwrap_or_default());
        out.extend_from_slice(new.as_bytes());
        from = at + len;
    }
    out.extend_from_slice(text.as_bytes().get(from..).unwrap_or_default());
    out
}

/// What comes at the end of a container: behind its last member, or as its only one.
pub(super) fn appended(text: &str, container: Value<'_>, members: &str) -> Edit {
    let at = offset(text, container.raw()) + container.raw().len().saturating_sub(1);
    let comma = if container.is_empty() { "" } else { "," };
    Edit { at, len: 0, text: format!("{comma}{members}") }
}

/// A response to a call with more texts in its content, and a contract in its `_meta`. None where it has no content.
pub(super) fn with_texts(line: &str, texts: &[&str], trip: Option<&pb::Trip>) -> Option<Vec<u8>> {
    let document = document(line)?;
    let result = document.root().get("result").filter(|result| result.is_object())?;
    let blocks = texts.iter().map(|text| block(text)).collect::<Vec<_>>().join(",");
    let content = match result.get("content") {
        Some(content) if content.is_array() => appended(line, content, &blocks),
        None if result.get("structuredContent").is_some() => {
            appended(line, result, &format!(r#""content":[{blocks}]"#))
        }
        Some(_) | None => return None, // it is no result that a model sees
    };
    let mut edits = vec![content];
    if let Some(trip) = trip {
        edits.push(match result.get("_meta").filter(|meta| meta.is_object()) {
            Some(there) => appended(line, there, &meta(trip)),
            None => appended(line, result, &format!(r#""_meta":{{{}}}"#, meta(trip))),
        });
    }
    Some(edited(line, edits))
}

#[cfg(test)]
mod tests;
