//! The error envelopes of AWS: a type in JSON, a code in XML, either under a status that says something else.

use super::super::cause::Cause;
use super::super::finding::Finding;
use super::super::format::Format;
use super::super::look::Look;
use super::super::{codes, phrases};
use super::PayloadFormat;
use crate::domain::document::Value;

/// Errors of any service.
pub(super) struct Aws;

impl PayloadFormat for Aws {
    fn format(&self) -> Format {
        Format::Aws
    }

    fn recognises(&self, look: &Look<'_>) -> bool {
        code_of(look).is_some()
    }

    fn body_failure(&self, look: &Look<'_>) -> Option<Finding> {
        let code = code_of(look)?;
        let name = code.rsplit(['#', '/']).next().unwrap_or_default().split(':').next().unwrap_or_default().to_owned();
        let by_status = || {
            look.layer
                .http_status()
                .filter(|status| *status >= 400)
                .map(|status| super::super::status::of_code(status, ""))
        };
        Some(match name.as_str() {
            "NoSuchKey" => Finding::empty("the key was looked up and is not there"),
            name => match codes::finding(name) {
                Some(finding) => finding,
                None => by_status()
                    .or_else(|| phrases::finding(look.text()))
                    .unwrap_or_else(|| Cause::Unexplained.because("an unknown error code")),
            },
        })
    }
}

/// The code of an error; none where it is none.
fn code_of(look: &Look<'_>) -> Option<String> {
    if let Some(root) = look.object() {
        let is_error = look.get("message").is_some()
            || look.get("Message").is_some()
            || look.layer.http_status().is_some_and(|code| code >= 400)
            || root.len() <= 2;
        let typed = root.get("__type").filter(|_| is_error).and_then(Value::head);
        let coded = || root.path(&["Error", "Code"]).and_then(Value::head);
        if let Some(code) = typed.or_else(coded) {
            return Some(code.into_owned());
        }
    }
    if let Some(kind) = look.layer.header("x-amzn-errortype") {
        return Some(kind.split(':').next().unwrap_or_default().to_owned());
    }
    let text = look.plain().filter(|text| text.starts_with('<'))?;
    let is_error = text.contains("<Error>") || text.contains("<ErrorResponse") || text.contains("<Errors>");
    let (_, behind) = text.split_once("<Code>").filter(|_| is_error)?;
    behind.split_once("</Code>").map(|(code, _)| code.trim().to_owned())
}
