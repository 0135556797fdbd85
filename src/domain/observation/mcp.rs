//! The Model Context Protocol and the JSON-RPC under it: `isError`, then `structuredContent`, blocks, text.

use super::cause::Cause;
use super::finding::Finding;
use super::format::Format;
use super::look::Look;
use super::steps::{Answer, Decision, decide_inner};
use super::tally::Tally;
use super::transport::Carrier;
use super::{RetryHint, Rule, fingerprint, phrases, status};
use crate::domain::document::{Kind, Value};

/// Of one result, so many blocks are looked at.
const BLOCKS_MAX: usize = 256;

/// What a JSON-RPC error code means.
pub(super) fn cause_of_code(code: i64) -> Cause {
    match code {
        -32_700 | -32_600 | -32_601 | -32_602 => Cause::BadInput,
        -32_603 => Cause::Broken,
        -32_001 => Cause::TimedOut,
        -32_000 => Cause::Down,
        -32_002 => Cause::BadInput, // a resource that is not there
        -32_800 => Cause::Cancelled,
        _ => Cause::Unexplained,
    }
}

/// A JSON-RPC response: its error, or what it wraps.
pub(super) fn json_rpc(look: &Look<'_>) -> Option<Answer> {
    let is_carried = look.layer.came_over(Carrier::Mcp) || look.layer.http_status().is_some();
    if look.layer.is_content() || (look.layer.is_opaque() && !is_carried) {
        return None; // a recorded frame that was read is content
    }
    let root = look.object().filter(|root| root.get("jsonrpc").is_some_and(Value::is_string))?;
    if root.get("method").is_some() {
        return None; // a request or a notification, which nobody gets as a result
    }
    let error = root.get("error").filter(|error| !error.is_null());
    let found = |finding| Some(decided(look, finding, Rule::JsonRpcError, Format::JsonRpc));
    if let Some(error) = error {
        let cause = error.get("code").and_then(Value::as_i64).map_or(Cause::Unexplained, cause_of_code);
        let worded = (cause == Cause::Unexplained).then(|| status::of_failure(error)).flatten();
        let finding = worded.unwrap_or_else(|| cause.because("a JSON-RPC error"));
        return found(finding.with_hint(RetryHint::of_body(error)));
    }
    let Some(result) = root.get("result") else {
        return found(Cause::Malformed.because("a JSON-RPC response with neither result nor error"));
    };
    if !result.is_object() || is_contentless(result) || result.get("content").is_some_and(Value::is_string) {
        return found(Cause::Malformed.because("the result of a tool call is an object with `content`"));
    }
    Some(Answer::Unwrapped(Box::new(decide_inner(look.layer, result.raw(), Format::JsonRpc))))
}

/// Whether a result of a tool call lacks what it must have. Results of other methods carry something else.
fn is_contentless(result: Value<'_>) -> bool {
    !["content", "structuredContent", "resultType", "task"].iter().any(|name| result.get(name).is_some())
        && result.entries().all(|(name, _)| name.is("_meta") || name.is("isError"))
}

/// Whether a document is the result of a tool call.
fn is_result(look: &Look<'_>, root: Value<'_>) -> bool {
    let content = root.get("content");
    let is_blocks = |content: Value<'_>| {
        content.is_array() && content.items().take(1).all(|block| block.get("type").is_some_and(Value::is_string))
    };
    let is_message = root.get("role").is_some() || root.get("tool_use_id").is_some();
    let marks = root.get("isError").is_some()
        || root.get("structuredContent").is_some()
        || root
            .get("resultType")
            .and_then(Value::head)
            .is_some_and(|kind| matches!(&*kind, "complete" | "input_required" | "task"));
    let only_known = || {
        root.entries().all(|(name, _)| {
            ["content", "isError", "structuredContent", "_meta", "resultType"].iter().any(|known| name.is(known))
        })
    };
    (content.is_some_and(is_blocks) && !is_message && (marks || only_known()))
        || (marks && (content.is_none_or(Value::is_array)))
        || (look.layer.came_over(Carrier::Mcp) && look.layer.is_outermost() && is_contentless(root))
}

/// The result of a tool call.
pub(super) fn result(look: &Look<'_>) -> Option<Answer> {
    let root = look.object().filter(|root| !look.layer.is_content() && is_result(look, *root))?;
    let found = |finding| Some(decided(look, finding, Rule::McpResult, Format::Mcp));
    if let Some(kind) = root.get("resultType").and_then(Value::head)
        && matches!(&*kind, "input_required" | "task")
    {
        return found(Finding::context("the protocol goes on: this is no answer yet"));
    }
    if root.get("isError").and_then(Value::as_bool) == Some(true) {
        return Some(failure(look, root));
    }
    let structured = root.get("structuredContent");
    if let Some(value) = structured.filter(|value| !value.is_null()) {
        let decision = decide_inner(look.layer, value.raw(), Format::Mcp);
        return Some(Answer::Unwrapped(Box::new(decision)));
    }
    match root.get("content") {
        None if structured.is_none() => {
            return found(Cause::Malformed.because("the result of a tool call has `content`"));
        }
        Some(content) if content.is_array() => {}
        Some(_) => return found(Cause::Malformed.because("`content` is a list of blocks")),
        None => return found(Finding::empty("the structured answer is null")),
    }
    Some(blocks(look, root))
}

fn texts(root: Value<'_>) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    let blocks = root.get("content").into_iter().flat_map(Value::items).take(BLOCKS_MAX);
    blocks.filter_map(|block| block.get("text").and_then(Value::as_str))
}

/// `isError`: the text says why.
fn failure(look: &Look<'_>, root: Value<'_>) -> Answer {
    let joined: String = texts(root).collect::<Vec<_>>().join("\n");
    let structured = root.get("structuredContent").filter(|value| value.is_object());
    // What the text says of itself counts where it says that it failed: a contract of ours, an error envelope.
    for body in [structured.map(Value::raw), Some(joined.as_str())].into_iter().flatten() {
        let inner = decide_inner(look.layer, body, Format::Mcp);
        let says_failure = matches!(
            inner.rule,
            Rule::HostRefusal | Rule::BodyFailure | Rule::ElementOutcomes | Rule::JsonRpcError | Rule::ProcessRules
        );
        if says_failure
            && (inner.finding.is_failure() || inner.rule == Rule::ProcessRules && !inner.finding.is_usable())
        {
            return Answer::Unwrapped(Box::new(inner));
        }
    }
    let finding =
        phrases::finding(&joined).unwrap_or_else(|| Cause::Unexplained.because("`isError` without a known cause"));
    let hint = finding.hint.or_else(|| RetryHint::of_text(&joined));
    let mut decision = Decision::new(look, finding.with_hint(hint), Rule::McpResult, Format::Mcp);
    decision.core = decision.core.map(|_| fingerprint::words(look, &joined));
    Answer::Unwrapped(Box::new(decision.complaining(Some(&joined))))
}

/// The content blocks, each looked at: a text by what it says, a picture as a datum, a link as a pointer.
fn blocks(look: &Look<'_>, root: Value<'_>) -> Answer {
    let content = root.get("content").into_iter().flat_map(Value::items);
    let is_alone = content.clone().nth(1).is_none();
    let layer = if is_alone { *look.layer } else { look.layer.of_parts() };
    let mut tally = Tally::default();
    let mut links = 0_usize;
    let mut last: Option<Decision> = None;
    for block in content.take(BLOCKS_MAX) {
        let kind = block.get("type").and_then(Value::head).unwrap_or_default();
        let text = match &*kind {
            "text" => block.get("text"),
            "resource" => block.get("resource").and_then(|resource| resource.get("text")),
            _ => None,
        };
        match (&*kind, text.filter(|text| text.kind() == Kind::String).and_then(Value::as_str)) {
            ("resource_link", _) => links += 1,
            (_, Some(text)) => {
                let decision = decide_inner(&layer, &text, Format::Mcp);
                tally.add(decision.finding.clone());
                last = Some(decision);
            }
            _ => tally.add(Finding::observed("a block that is no text")),
        }
    }
    match last {
        Some(decision) if is_alone => Answer::Unwrapped(Box::new(decision)),
        _ => {
            let pointers = || (links > 0).then(|| Finding::context("pointers: the data itself was not delivered"));
            let finding = tally.finding().filter(|finding| links == 0 || finding.is_usable() || finding.is_failure());
            let finding =
                finding.or_else(pointers).unwrap_or_else(|| Finding::empty("no block and no structured answer"));
            decided(look, finding, Rule::McpResult, Format::Mcp)
        }
    }
}

fn decided(look: &Look<'_>, finding: Finding, rule: Rule, format: Format) -> Answer {
    Answer::Unwrapped(Box::new(Decision::new(look, finding, rule, format)))
}
