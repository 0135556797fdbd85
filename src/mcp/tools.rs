//! What is known of the server's tools from its lists, and what a list looks like without some of them.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::{Edit, edited};
use super::message::{document, offset, short_text};
use crate::domain::document::Value;
use crate::wire::pb;

/// Tools that are remembered; of further ones nothing is known.
const TOOLS_MAX: usize = 1_000;
/// The longest name that the service takes.
pub(super) const NAME_BYTES_MAX: usize = 512;

/// What a list said of one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// What its calls do to the world, where it says so.
    pub(super) effect: pb::Effect,
    /// A repeat of a call changes nothing more.
    pub(super) is_idempotent: bool,
    /// It promises a shape of `structuredContent`.
    pub(super) has_output_schema: bool,
}

/// A tool that no list has told of.
pub(super) const UNKNOWN: Known =
    Known { effect: pb::Effect::Unspecified, is_idempotent: false, has_output_schema: false };

impl Known {
    fn of(tool: Value<'_>) -> Self {
        let hint = |name| tool.path(&["annotations", name]).and_then(Value::as_bool);
        Self {
            effect: match hint("readOnlyHint") {
                Some(true) => pb::Effect::Read,
                Some(false) => pb::Effect::Mutate,
                None => pb::Effect::Unspecified,
            },
            is_idempotent: hint("idempotentHint") == Some(true),
            has_output_schema: tool.get("outputSchema").is_some_and(|schema| !schema.is_null()),
        }
    }
}

/// The tools that lists told of, by name.
#[derive(Debug, Default)]
pub(super) struct Tools(BTreeMap<String, Known>);

impl Tools {
    /// What is known of a tool.
    pub(super) fn of(&self, name: &str) -> Known {
        self.0.get(name).copied().unwrap_or(UNKNOWN)
    }

    /// All their names.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Learns from a response to `tools/list`; its names in order.
    pub(super) fn learn(&mut self, line: &str) -> Vec<String> {
        let Some(document) = document(line) else { return vec![] };
        let mut names = vec![];
        for tool in listed(document.root()).into_iter().flat_map(Value::items) {
            let Some(name) = short_text(tool.get("name"), NAME_BYTES_MAX) else { continue };
            if self.0.len() >= TOOLS_MAX && !self.0.contains_key(&name) {
                continue;
            }
            self.0.insert(name.clone(), Known::of(tool));
            names.push(name);
        }
        names
    }
}

fn listed(root: Value<'_>) -> Option<Value<'_>> {
    root.path(&["result", "tools"]).filter(|tools| tools.is_array())
}

/// A response to `tools/list` without these tools; none where it holds none of them, and then it stays as it is.
pub(super) fn without(line: &str, shut: &BTreeSet<String>) -> Option<Vec<u8>> {
    let document = document(line)?;
    let tools = listed(document.root())?;
    let is_shut =
        |tool: &Value<'_>| short_text(tool.get("name"), NAME_BYTES_MAX).is_some_and(|name| shut.contains(&name));
    let kept: Vec<&str> = tools.items().filter(|tool| !is_shut(tool)).map(Value::raw).collect();
    if kept.len() == tools.items().count() {
        return None;
    }
    let raw = tools.raw();
    let edit = Edit { at: offset(line, raw), len: raw.len(), text: format!("[{}]", kept.join(",")) };
    Some(edited(line, vec![edit]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = concat!(
        r#"{"jsonrpc":"2.0","id":2,"result":{"tools":["#,
        r#"{"name":"look","annotations":{"readOnlyHint":true}}, "#,
        r#"{"name":"write","annotations":{"readOnlyHint":false,"idempotentHint":true},"outputSchema":{}},"#,
        r#"{"name":"\u0061sk"},{"title":"nameless"}],"nextCursor":"c"}}"#,
        "\n"
    );

    #[test]
    fn a_list_tells_what_calls_do() {
        let mut tools = Tools::default();
        assert_eq!(tools.learn(LIST), ["look", "write", "ask"]);
        let effects = ["look", "write", "ask", "never heard of"].map(|name| tools.of(name).effect);
        let unsaid = pb::Effect::Unspecified;
        assert_eq!(effects, [pb::Effect::Read, pb::Effect::Mutate, unsaid, unsaid]);
        assert!(tools.of("write").is_idempotent && tools.of("write").has_output_schema);
        assert_eq!(tools.learn("{\"result\":{\"tools\":7}}"), [""; 0]);
    }

    #[test]
    fn a_list_loses_the_tools_that_are_shut_and_nothing_else() {
        let shut = BTreeSet::from(["look".to_owned(), "ask".to_owned()]);
        let left = String::from_utf8(without(LIST, &shut).unwrap()).unwrap();
        let (tool, title) =
            (LIST.split(", ").nth(1).unwrap().split(",{\"name\":\"\\u0061").next().unwrap(), "nameless");
        let want = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"tools\":[{tool},{{\"title\":\"{title}\"}}],\"nextCursor\":\"c\"}}}}\n"
        );
        assert_eq!(left, want);
        assert_eq!(without(LIST, &BTreeSet::from(["other".to_owned()])), None);
    }

    #[test]
    fn tools_beyond_the_bound_are_not_remembered() {
        let mut tools = Tools::default();
        let list = |from: usize| {
            let named = (from..from + 600).map(|n| format!(r#"{{"name":"t{n}"}}"#)).collect::<Vec<_>>().join(",");
            format!(r#"{{"result":{{"tools":[{named}]}}}}"#)
        };
        assert_eq!((tools.learn(&list(0)).len(), tools.learn(&list(600)).len()), (600, 400));
        assert_eq!(tools.names().len(), TOOLS_MAX);
    }
}
