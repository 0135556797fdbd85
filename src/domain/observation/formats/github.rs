//! GitHub: a 404 may hide what is there, a search may stop at its time limit, a limit may come as 403.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::more::More;
use super::super::status;
use super::{PayloadFormat, common};
use crate::domain::document::{Kind, Value};

/// The REST API.
pub(super) struct Github;

impl PayloadFormat for Github {
    fn format(&self) -> Format {
        Format::Github
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        let is_theirs = look
            .get("documentation_url")
            .and_then(Value::head)
            .is_some_and(|url| url.contains("docs.github") || url.contains("developer.github"));
        is_theirs
            || look.get("incomplete_results").is_some()
            || look.layer.header("x-github-request-id").is_some()
            || look.layer.header("x-github-media-type").is_some()
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let text = root.get("message").and_then(Value::head)?.to_ascii_lowercase();
        let code = look.layer.http_status().or_else(|| status::status_of(root));
        if root.get("documentation_url").is_none() && code.is_none_or(|code| code < 400) {
            return None;
        }
        Some(match code {
            _ if text.contains("rate limit") || text.contains("abuse detection") => {
                Cause::Throttled.because("a rate limit")
            }
            Some(404) => Cause::Hidden.because("not there, or hidden from this credential"),
            Some(403) if look.layer.result.transport.tells_of_a_limit() => {
                Cause::Throttled.because("403 with the headers of a limit")
            }
            Some(code @ 400..) => status::of_code(code, &text),
            _ if text == "not found" => Cause::Hidden.because("not there, or hidden from this credential"),
            _ => common::failure(look).unwrap_or_else(|| {
                super::super::phrases::finding(&text)
                    .unwrap_or_else(|| Cause::Unexplained.because("a message without a known cause"))
            }),
        })
    }

    fn completeness(&self, look: &Look<'_>) -> Option<Finding> {
        let root = look.object()?;
        let items = root.get("items").filter(|items| items.kind() == Kind::Array)?;
        let is_incomplete = root.get("incomplete_results").and_then(Value::as_bool) == Some(true);
        let more = More::of(look, root);
        Some(match (items.is_empty(), is_incomplete) {
            (true, true) => Cause::Withheld.because("the search stopped at its time limit with nothing found yet"),
            (false, true) => Finding::truncated("the search stopped at its time limit"),
            (true, false) => more.of_empty(),
            (false, false) => more.of_data(),
        })
    }
}
