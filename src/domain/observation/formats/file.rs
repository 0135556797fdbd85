//! What a reading tool delivers: files, pages, logs. Content is never taken for an envelope.

use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::super::text;
use super::PayloadFormat;
use crate::domain::document::{Kind, Value};

/// Content and where it was read.
pub(super) struct File;

/// Members that hold the content.
const CONTENT: &[&str] = &["content", "contents", "text", "body", "lines", "data"];
/// Members that stand beside it.
#[rustfmt::skip] // a list of words reads as a paragraph
const BESIDE: &[&str] = &[
    "path", "file", "filename", "file_path", "name", "url", "uri", "size", "encoding", "mimeType", "mime_type",
    "content_type", "type", "language", "truncated", "is_truncated", "total_lines", "line_count", "start_line",
    "end_line", "offset", "limit", "has_more", "sha", "title", "status", "next_offset", "numLines", "startLine",
    "totalLines", "filePath",
];

impl PayloadFormat for File {
    fn format(&self) -> Format {
        Format::File
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        look.layer.is_opaque()
    }

    fn body_failure(&self, _: &Look<'_>) -> Option<Finding> {
        None
    }

    fn pending(&self, _: &Look<'_>) -> Option<Finding> {
        None
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.root()?;
        let observed = Finding::observed("content of a reading tool");
        let is_wrapper = root.is_object()
            && root.entries().all(|(name, _)| CONTENT.iter().chain(BESIDE).any(|known| name.is(known)));
        let content =
            CONTENT.iter().find_map(|name| root.get(name)).filter(|_| is_wrapper && look.layer.is_outermost());
        let Some(content) = content else { return Some(observed) };
        let more = More::of(look, root);
        let is_capped = content.as_str().is_some_and(|text| text::cap_marker(&text).is_some());
        Some(match (is_blank(content), is_capped) {
            (true, _) => more.of_empty(),
            (false, true) => Finding::truncated("the host cut it and says so"),
            (false, false) => more.of_data(),
        })
    }
}

fn is_blank(content: Value<'_>) -> bool {
    match content.kind() {
        Kind::Null => true,
        Kind::String => content.as_str().is_some_and(|text| text.trim().is_empty()),
        Kind::Array | Kind::Object => content.is_empty(),
        Kind::Bool | Kind::Number | Kind::Opaque => false,
    }
}
