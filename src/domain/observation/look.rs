//! One layer of a result: the body as it came, or what was wrapped in it (a JSON-RPC result, an MCP text, a process's
//! output). Every layer goes through the same steps; only the outermost has a transport.

use std::cell::OnceCell;

use super::RetryHint;
use super::fingerprint::Mask;
use super::transport::Carrier;
use super::typing::RawResult;
use crate::domain::document::{Damage, Value};

/// How deep wrappings are opened: JSON-RPC, in it MCP, in it a text that is JSON, in it an output.
pub(super) const LAYERS_MAX: u8 = 6;

/// A body and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer<'a> {
    /// The whole result.
    pub(super) result: &'a RawResult<'a>,
    /// This layer's text, without byte order marks and blanks around it.
    pub(super) text: &'a str,
    /// 0 for the outermost.
    pub(super) depth: u8,
    /// Nothing but frames of a protocol stand around it.
    pub(super) is_framed: bool,
    /// One of several that are told as one: nobody asks what it is known again by.
    pub(super) is_part: bool,
    /// What its words are compared without, made where it is first needed.
    pub(super) mask: &'a OnceCell<Mask>,
}

impl<'a> Layer<'a> {
    pub(super) fn outermost(result: &'a RawResult<'a>, text: &'a str, mask: &'a OnceCell<Mask>) -> Self {
        Self { result, text: trimmed(text), depth: 0, is_framed: true, is_part: false, mask }
    }

    /// What is wrapped in this layer.
    pub(super) fn inner<'b>(&'b self, text: &'b str, is_framed: bool) -> Layer<'b>
    where
        'a: 'b,
    {
        Layer { text: trimmed(text), depth: self.depth.saturating_add(1), is_framed, ..*self }
    }

    /// The same, where it wraps several.
    pub(super) const fn of_parts(self) -> Self {
        Self { is_part: true, ..self }
    }

    /// What its words are compared without.
    pub(super) fn mask(&self) -> &'a Mask {
        self.mask.get_or_init(|| Mask::new(self.result.arguments))
    }

    /// Whether it has the transport's facts.
    pub(super) const fn is_outermost(&self) -> bool {
        self.depth == 0
    }

    /// The HTTP status that speaks of this layer.
    pub(super) fn http_status(&self) -> Option<u16> {
        self.result.transport.http_status.filter(|_| self.is_outermost())
    }

    /// A header of the response, where it speaks of this layer.
    pub(super) fn header(&self, name: &str) -> Option<&'a str> {
        if self.is_outermost() { self.result.transport.header(name) } else { None }
    }

    /// The media type, in lower case, without parameters; empty where none is known.
    pub(super) fn media_type(&self) -> String {
        let given =
            if self.is_outermost() { self.result.content_type.or_else(|| self.header("content-type")) } else { None };
        given.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Whether JSON was promised.
    pub(super) fn promises_json(&self) -> bool {
        let media = self.media_type();
        media == "application/json" || media.ends_with("+json") || media.starts_with("application/x-amz-json")
    }

    /// Whether its content is data whatever it looks like: files, pages, logs.
    pub(super) fn is_opaque(&self) -> bool {
        self.result.tool.is_opaque
    }

    /// Whether it is content of a reading tool, in which a frame or an envelope is only a text that was read.
    pub(super) fn is_content(&self) -> bool {
        self.is_opaque() && !self.is_framed
    }

    /// Whether the caller says that it came over this carrier.
    pub(super) fn came_over(&self, carrier: Carrier) -> bool {
        self.result.transport.carrier == Some(carrier)
    }

    /// The wait that the headers ask for, or between them the body.
    pub(super) fn hint(&self, body: Option<RetryHint>) -> Option<RetryHint> {
        self.result.transport.hint(body, self.result.now_unix_ms)
    }
}

/// A layer that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    /// Where it stands.
    pub(super) layer: &'a Layer<'a>,
    /// What it holds.
    pub(super) body: Body<'a>,
}

/// What a layer holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body<'a> {
    /// Nothing, or blanks.
    Nothing,
    /// A document.
    Json(Value<'a>),
    /// Text of any kind; and what is wrong with it, seen as JSON.
    Text(Damage),
}

impl<'a> Look<'a> {
    /// The text of the layer.
    pub(super) const fn text(&self) -> &'a str {
        self.layer.text
    }

    /// The document.
    pub(super) const fn root(&self) -> Option<Value<'a>> {
        match self.body {
            Body::Json(root) => Some(root),
            Body::Nothing | Body::Text(_) => None,
        }
    }

    /// The document, where it is an object.
    pub(super) fn object(&self) -> Option<Value<'a>> {
        self.root().filter(|root| root.is_object())
    }

    /// A member of the document.
    pub(super) fn get(&self, name: &str) -> Option<Value<'a>> {
        self.root().and_then(|root| root.get(name))
    }

    /// The text, where it is no document.
    pub(super) fn plain(&self) -> Option<&'a str> {
        match self.body {
            Body::Text(_) => Some(self.layer.text),
            Body::Nothing | Body::Json(_) => None,
        }
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}
