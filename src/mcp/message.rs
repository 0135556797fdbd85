//! What a line is: a request, a notification, a response, a batch of these, or nothing that this proxy knows.
//!
//! Reads a message where it lies and changes nothing of it. Whatever is not known is `Other` and passes as it is.

use std::borrow::Cow;

use crate::domain::document::{Dialect, Document, Kind, Value};

/// The longest id that is remembered, as it is written.
pub(super) const ID_BYTES_MAX: usize = 1_024;

/// One message of JSON-RPC.
#[derive(Debug)]
pub(super) enum Message<'d> {
    /// It asks for an answer.
    Request {
        /// Its id.
        id: Id,
        /// What is asked for.
        method: Cow<'d, str>,
        /// With what.
        params: Option<Value<'d>>,
    },
    /// It tells.
    Notification {
        /// What.
        method: Cow<'d, str>,
        /// With what.
        params: Option<Value<'d>>,
    },
    /// It answers the request of that id.
    Response {
        /// The id.
        id: Id,
    },
    /// Several at once, which protocol version 2025-03-26 knows.
    Batch,
    /// Anything else.
    Other,
}

/// An id: as it was written, and by what it is known again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Id {
    /// As it was written; an answer says it so.
    pub(super) raw: String,
    /// The same for every way of writing the same id: a peer may write it in its own way.
    pub(super) key: String,
}

impl Id {
    /// The id of a value; of any type.
    pub(super) fn of(value: Value<'_>) -> Self {
        let raw = value.raw().to_owned();
        let key = match value.kind() {
            Kind::String => format!("s{}", value.as_str().unwrap_or_default()),
            Kind::Number => value.as_i64().map_or_else(|| format!("n{raw}"), |number| format!("n{number}")),
            Kind::Null | Kind::Bool | Kind::Array | Kind::Object | Kind::Opaque => format!("o{raw}"),
        };
        Self { raw, key }
    }

    /// The id that a text spells; none where it is none.
    pub(super) fn read(raw: &str) -> Option<Self> {
        document(raw).map(|document| Self::of(document.root()))
    }

    /// Whether it is short enough to be remembered.
    pub(super) const fn is_kept(&self) -> bool {
        self.raw.len() <= ID_BYTES_MAX
    }
}

/// A text as JSON. What only Python writes is none.
pub(super) fn document(text: &str) -> Option<Document<'_>> {
    Document::read(text).ok().filter(|document| document.dialect() == Dialect::Json)
}

/// What a message is.
pub(super) fn read(root: Value<'_>) -> Message<'_> {
    if root.is_array() {
        return Message::Batch;
    }
    if !root.is_object() {
        return Message::Other;
    }
    let method = root.get("method").filter(|method| method.is_string()).and_then(Value::as_str);
    let params = root.get("params");
    match (root.get("id").map(Id::of), method) {
        (Some(id), Some(method)) => Message::Request { id, method, params },
        (None, Some(method)) => Message::Notification { method, params },
        (Some(id), None) if root.get("result").is_some() || root.get("error").is_some() => Message::Response { id },
        (Some(_) | None, None) => Message::Other,
    }
}

/// A text of the given length at most; none where it is longer, empty, or no text.
pub(super) fn short_text(value: Option<Value<'_>>, bytes_max: usize) -> Option<String> {
    let text = value.filter(|value| value.is_string()).and_then(Value::as_str)?;
    (1..=bytes_max).contains(&text.len()).then(|| text.into_owned())
}

/// Where a part of a text begins. The part must have been cut out of it.
pub(super) fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let Some(document) = document(text) else { return "unreadable".to_owned() };
        match read(document.root()) {
            Message::Request { id, method, .. } => format!("request {} {method}", id.key),
            Message::Notification { method, .. } => format!("notification {method}"),
            Message::Response { id } => format!("response {}", id.key),
            Message::Batch => "batch".to_owned(),
            Message::Other => "other".to_owned(),
        }
    }

    #[test]
    fn a_message_is_known_by_its_members() {
        let table = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request n1 ping"),
            (r#"{"id":null,"method":"ping"}"#, "request onull ping"),
            (r#"{"method":"notifications/initialized"}"#, "notification notifications/initialized"),
            (r#"{"id":"1","result":{}}"#, "response s1"),
            (r#"{"id":{"a":1},"error":{}}"#, r#"response o{"a":1}"#),
            (r#"{"id":1}"#, "other"),
            (r#"{"id":1,"method":7}"#, "other"),
            (r#"[{"id":1,"method":"ping"}]"#, "batch"),
            ("7", "other"),
            ("{'id': 1, 'method': 'ping'}", "unreadable"),
            ("{", "unreadable"),
        ];
        for (text, want) in table {
            assert_eq!(said(text), want, "{text}");
        }
    }

    #[test]
    fn one_id_is_known_again_however_it_is_written() {
        let key = |raw: &str| Id::read(raw).unwrap().key;
        assert_eq!(key(r#""\u00e9""#), key("\"é\""));
        assert_ne!(key("1"), key("\"1\""));
        assert_ne!(key("9007199254740993"), key("9007199254740992"));
        assert_eq!(key("18446744073709551616"), "n18446744073709551616");
    }
}
