//! What is no JSON: phrases, failures in words, HTML, and what a host or a broken wire cut.

use super::cause::Cause;
use super::finding::Finding;
use super::format::Format;
use super::formats::PayloadFormat;
use super::look::{Body, Layer, Look};
use super::steps::{Answer, Decision, decide_inner};
use super::{Observation, RetryHint, Rule, phrases, wording};
use crate::domain::document::{Damage, Document};

/// A marker by which a host says that it cut is at most so long.
const MARKER_BYTES_MAX: usize = 64;

/// A payload that is no document. Statuses from 300 on speak for themselves.
pub(super) fn unreadable(look: &Look<'_>, format: &dyn PayloadFormat) -> Option<Answer> {
    let Body::Text(damage) = look.body else { return None };
    if let Some(data) = event_data(look) {
        let mut decision = decide_inner(look.layer, data, format.format());
        if decision.finding.cause == Some(Cause::Withheld) && look.text().matches("data:").take(2).count() > 1 {
            decision.finding = Finding::truncated("a stream that was cut after something was said");
        }
        return Some(Answer::Unwrapped(Box::new(decision)));
    }
    if look.layer.http_status().is_some_and(|code| code >= 300) {
        return None;
    }
    let text = look.text();
    let found = |finding| Some(decided(look, finding));
    if let Some((before, behind)) = cap_marker(text) {
        return Some(capped(look, before, behind));
    }
    if look.layer.result.is_cut_by_caller && looks_like_json(text) {
        return Some(capped(look, text, ""));
    }
    if look.layer.is_opaque() {
        return found(Finding::observed("content of a reading tool"));
    }
    if let Some(finding) = format.body_failure(look) {
        return Some(with_rule(look, finding, Rule::BodyFailure, format.format()));
    }
    if is_html(look.layer) {
        return found(html(text));
    }
    if look.layer.promises_json() {
        return found(Cause::Malformed.because("JSON was promised, and this is none"));
    }
    if looks_like_json(text) && matches!(damage, Damage::Cut | Damage::TooDeep) {
        return found(Cause::Malformed.because("it begins like JSON and cannot be read"));
    }
    found(worded(text))
}

fn decided(look: &Look<'_>, finding: Finding) -> Answer {
    let format = if is_html(look.layer) { Format::Html } else { Format::Text };
    with_rule(look, finding, Rule::Parse, format)
}

fn with_rule(look: &Look<'_>, finding: Finding, rule: Rule, format: Format) -> Answer {
    Answer::Unwrapped(Box::new(Decision::new(look, finding, rule, format)))
}

/// What a text says.
pub(super) fn worded(text: &str) -> Finding {
    if wording::is_failure(text) {
        let finding =
            phrases::finding(text).unwrap_or_else(|| Cause::Unexplained.because("a failure without a known cause"));
        let hint = RetryHint::of_text(text);
        return finding.with_hint(hint);
    }
    if wording::is_absence(text) || is_empty_table(text) {
        return Finding::empty("its words say that nothing was found");
    }
    Finding::observed("text")
}

/// A table of a database that has a head and no row.
fn is_empty_table(text: &str) -> bool {
    let last = text.lines().next_back().unwrap_or_default().trim().to_ascii_lowercase();
    let is_short = text.lines().take(6).count() <= 5;
    is_short
        && (last == "(0 rows)"
            || last.starts_with("empty set (")
            || last == "0 rows in set"
            || last.starts_with("0 rows in set"))
}

fn looks_like_json(text: &str) -> bool {
    text.starts_with(['{', '['])
}

/// The text before and behind a marker by which a host says that it cut. A marker names how much is missing.
pub(super) fn cap_marker(text: &str) -> Option<(&str, &str)> {
    let words = ["truncated", "omitted", "elided", "trimmed", "clipped"];
    words
        .iter()
        .find_map(|word| text.match_indices(word).take(64).find_map(|(at, _)| marker_around(text, at, word.len())))
}

/// The marker that the word at `at` is part of: from its bracket or dots to the closing one or the line's end.
fn marker_around(text: &str, at: usize, len: usize) -> Option<(&str, &str)> {
    let near = text.get(back(text, at, MARKER_BYTES_MAX)..at)?;
    let near = near.rfind('\n').map_or(near, |newline| &near[newline + 1..]);
    let start = at - near.len() + near.rfind(['[', '(', '<', '…']).or_else(|| near.rfind("..."))?;
    let behind = text.get(at + len..)?;
    let behind = behind.get(..ahead(behind, MARKER_BYTES_MAX))?;
    let end = at + len + behind.find([']', ')', '>', '\n']).map_or(behind.len(), |end| end + 1);
    let marker = text.get(start..end)?.to_ascii_lowercase();
    let counts = ["char", "byte", "line", "token", "item", "row", "kb", "mb", "word", "result", "message"];
    let has_count = marker.bytes().any(|b| b.is_ascii_digit()) && counts.iter().any(|count| marker.contains(count));
    has_count.then(|| (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default()))
}

/// A place so many bytes before another, or a little nearer to it where a character would be cut.
fn back(text: &str, at: usize, bytes: usize) -> usize {
    let mut near = at.saturating_sub(bytes);
    while !text.is_char_boundary(near) {
        near += 1;
    }
    near
}

/// So many bytes from the front, or a little more where a character would be cut.
fn ahead(text: &str, bytes: usize) -> usize {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    end
}

/// What a host cut: the part before the cut decides whether anything was delivered, or whether it failed.
fn capped(look: &Look<'_>, before: &str, behind: &str) -> Answer {
    let rest = |text: &'_ str| text.trim_matches([' ', '.', '\n', '\r', '\t', ']']).is_empty();
    if rest(before) && rest(behind) {
        let finding = Cause::Withheld.because("all of it was cut");
        return Answer::Unwrapped(Box::new(Decision::new(look, finding, Rule::Parse, Format::Text)));
    }
    let delivered = before.trim_end().trim_end_matches('.').trim_end();
    let saved = if looks_like_json(delivered) { Document::salvage(delivered) } else { None };
    let mut decision = match &saved {
        Some(saved) => decide_inner(look.layer, saved, Format::Json),
        None => Decision::new(look, Finding::observed("text"), Rule::Parse, Format::Text),
    };
    match decision.finding.observation {
        Observation::Observed | Observation::Truncated => {
            decision.finding = Finding::truncated("the host cut it and says so");
            decision.rule = Rule::Parse;
        }
        Observation::Empty => {
            let finding = Cause::Withheld.because("the host cut it before anything was delivered");
            decision = Decision::new(look, finding, Rule::Parse, decision.format);
        }
        Observation::Unavailable | Observation::Error | Observation::Context => {}
    }
    Answer::Unwrapped(Box::new(decision))
}

/// The data of the last event of a stream of server-sent events.
fn event_data<'a>(look: &Look<'a>) -> Option<&'a str> {
    let text = look.text();
    let is_stream = ["data:", "event:", "id:", "retry:", ": "].iter().any(|field| text.starts_with(field));
    if !is_stream
        || !(look.layer.media_type() == "text/event-stream" || text.contains("data: {") || text.contains("data:{"))
    {
        return None;
    }
    let mut data = text.lines().rev().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    data.find(|data| !data.is_empty() && *data != "[DONE]")
}

fn is_html(layer: &Layer<'_>) -> bool {
    let head: String = layer.text.chars().take(64).collect::<String>().to_lowercase();
    let begins = ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| head.starts_with(tag));
    begins || (layer.media_type() == "text/html" && head.starts_with('<'))
}

/// A page where an answer was due.
fn html(text: &str) -> Finding {
    let lower = text.get(..text.len().min(16_384)).unwrap_or(text).to_lowercase();
    let signs = [
        "type=\"password\"",
        "type='password'",
        "type=password",
        "name=\"password\"",
        "<title>sign in",
        "<title>log in",
        "<title>login",
        "<title>single sign",
        "/login?",
        "/oauth/authorize",
        "saml",
    ];
    if signs.iter().any(|sign| lower.contains(sign)) {
        Cause::Unauthenticated.because("a login page in place of an answer")
    } else {
        Cause::Malformed.because("a page in place of an answer")
    }
}

#[cfg(test)]
mod tests;
