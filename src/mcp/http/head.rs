//! What the head of an HTTP request says of the message in its body.

use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use super::super::message::{Id, Message, document, read, short_text};
use crate::domain::document::Value;

/// The header of the protocol version.
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The header of the session, up to 2025-11-25.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUE_BYTES_MAX: usize = 4_096;

/// What is known of a message that is to be sent.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// The id of a request.
    pub(super) id: Option<Id>,
    /// Its method.
    pub(super) method: String,
    /// The request that a cancellation names.
    pub(super) cancels: Option<Id>,
    /// What it names, where the head of the request says so, too.
    name: Option<String>,
    /// The protocol version that it names itself, which makes it complete without a session (2026-07-28).
    pub(super) version: Option<String>,
}

impl Head {
    /// The head of a message.
    pub(super) fn of(text: &str) -> Self {
        let Some(document) = document(text) else { return Self::default() };
        let (id, method, params) = match read(document.root()) {
            Message::Request { id, method, params } => (Some(id), method.into_owned(), params),
            Message::Notification { method, params } => (None, method.into_owned(), params),
            Message::Response { .. } | Message::Batch | Message::Other => return Self::default(),
        };
        let param = |name: &str| params.and_then(|params| params.get(name));
        let name = match method.as_str() {
            "tools/call" | "prompts/get" => param("name"),
            "resources/read" => param("uri"),
            _ => None,
        };
        let version = param("_meta").and_then(|meta| meta.get(VERSION_KEY));
        let cancels = param("requestId").filter(|_| method == "notifications/cancelled").map(Id::of);
        Self {
            id,
            cancels,
            name: short_text(name, VALUE_BYTES_MAX),
            version: short_text(version, VALUE_BYTES_MAX),
            method,
        }
    }

    /// Says it.
    pub(super) fn say(&self, headers: &mut HeaderMap) {
        let mut say = |name: HeaderName, text: &str| {
            if let Ok(value) = HeaderValue::from_str(&header_text(text)) {
                headers.insert(name, value);
            }
        };
        if let Some(version) = &self.version {
            say(VERSION, version);
            say(METHOD, &self.method);
            self.name.iter().for_each(|name| say(NAME, name));
        }
    }
}

/// The version that an answer to `initialize` settles on.
pub(super) fn settled_version(answer: &str) -> Option<String> {
    let document = document(answer)?;
    short_text(document.root().path(&["result", "protocolVersion"]), VALUE_BYTES_MAX)
}

/// Whether a message answers a request.
pub(super) fn answers(text: &str, id: &Id) -> bool {
    let Some(document) = document(text) else { return false };
    let answers =
        |value: Value<'_>| matches!(read(value), Message::Response { id: answered } if answered.key == id.key);
    let root = document.root();
    answers(root) || root.is_array() && root.items().any(answers)
}

/// A text as a header can hold it: what it cannot hold is told in base64.
fn header_text(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text.trim() == text;
    if is_plain && !text.starts_with("=?base64?") { text.to_owned() } else { format!("=?base64?{}?=", base64(text)) }
}

fn base64(text: &str) -> String {
    let mut out = String::with_capacity(text.len().div_ceil(3) * 4);
    for group in text.as_bytes().chunks(3) {
        let bits = group.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = BASE64.get(bits >> (18 - 6 * place) & 63).copied().unwrap_or(b'=');
            out.push(char::from(if place > group.len() { b'=' } else { digit }));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_header_cannot_hold_is_told_in_base64() {
        let table = [
            ("search_orders", "search_orders"),
            ("a b", "a b"),
            ("é", "=?base64?w6k=?="),
            (" a", "=?base64?IGE=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ];
        for (text, want) in table {
            assert_eq!(header_text(text), want);
        }
    }

    #[test]
    fn a_message_that_needs_no_session_says_so_in_its_head() {
        let mut headers = HeaderMap::new();
        Head::of(r#"{"id":1,"method":"tools/call","params":{"name":"t"}}"#).say(&mut headers);
        assert!(headers.is_empty(), "the version was settled when the session began");
        let modern = r#"{"id":1,"method":"tools/call","params":{"name":"t",
            "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        Head::of(modern).say(&mut headers);
        let said = [VERSION, METHOD, NAME].map(|name| headers[name].to_str().unwrap().to_owned());
        assert_eq!(said, ["2026-07-28", "tools/call", "t"]);
    }
}
