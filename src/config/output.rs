//! The keys as text for people: the commented default file and the table of the README.

use std::collections::BTreeSet;

use super::failure::{HostDraft, RetryDraft, RouteDraft};
use super::format::FormatDraft;
use super::key::{Key, Only};
use super::keys::{
    BREAKER, BREAKERS, CONDITION, DEFAULTS, EXPERIMENT, EXPERIMENTS, FAILURE, FAILURES, FALLBACK, FORMAT, FORMATS,
    HOST, HOSTS, POLICY, POLL, ROUTE, ROUTES, RULE, SECTIONS, TEMPLATE, TEMPLATES, TOOL, TOOLS,
};
use super::policy::PolicyDraft;
use super::settings::Settings;
use super::tool::ToolDraft;
use super::wordings::{ExperimentDraft, TemplateDraft};
use crate::domain::breaker::policy::BreakerPolicy;
use crate::domain::signal::CircuitKind;

/// Columns of a comment in the default file.
const WIDTH: usize = 100;
/// How the default file begins.
const INTRODUCTION: &str = "The configuration of tripnote: every key with its default. Lines that start with `#` and \
                            no blank are examples of what has no default.";
/// What is put before a line that is an example.
const EXAMPLE: &str = "#";

/// A configuration file with every key, its meaning and its default. Read back, it is the default configuration.
#[must_use]
pub fn default_text() -> String {
    let mut page = Page::default();
    page.comment(INTRODUCTION);
    let settings = Settings::default();
    for (table, keys) in SECTIONS {
        page.header(if table.is_empty() { None } else { Some(format!("[{table}]")) }, "");
        page.keys(keys.iter(), &settings, "");
    }
    for kind in CircuitKind::ALL {
        let draft = PolicyDraft::of(*kind);
        let mark = if draft.finish(*kind).is_some() { "" } else { EXAMPLE };
        page.header(Some(format!("[{DEFAULTS}.{kind}]")), mark);
        page.keys(POLICY.iter().filter(|key| key.only.covers(*kind)), &draft, mark);
    }
    page.row(BREAKERS, BREAKER, &BreakerPolicy::default());
    page.comment("Every table of the defaults can be given here too; what is not given is inherited, key by key.");
    page.line(EXAMPLE, &format!("[{BREAKERS}.{}]", CircuitKind::ErrorRate));
    page.keys(POLICY.iter().filter(|key| key.name == "open_for"), &PolicyDraft::of(CircuitKind::ErrorRate), EXAMPLE);
    page.row(TOOLS, TOOL, &ToolDraft::default());
    page.row(FORMATS, FORMAT, &FormatDraft::default());
    page.row(TEMPLATES, TEMPLATE, &TemplateDraft::default());
    page.row(EXPERIMENTS, EXPERIMENT, &ExperimentDraft::default());
    page.header(Some(format!("[{FAILURES}]")), "");
    page.keys(FAILURE.iter(), &RetryDraft::default(), "");
    page.row(HOSTS, HOST, &HostDraft::default());
    page.row(ROUTES, ROUTE, &RouteDraft::default());
    page.text
}

/// Text that explains each key where it first stands.
#[derive(Default)]
struct Page {
    text: String,
    explained: BTreeSet<&'static str>,
}

impl Page {
    fn header(&mut self, header: Option<String>, mark: &str) {
        self.text.push('\n');
        if let Some(header) = header {
            self.line(mark, &header);
        }
    }

    fn keys<'k, T: 'static>(&mut self, keys: impl Iterator<Item = &'k Key<T>>, of: &T, mark: &str) {
        for key in keys {
            if self.explained.insert(key.doc) {
                self.comment(&explanation(key));
            }
            match key.field.written(of) {
                Some(default) => self.line(mark, &format!("{} = {default}", key.name)),
                None => self.line(EXAMPLE, &format!("{} = {}", key.name, key.example)),
            }
        }
    }

    /// The example of a row in a list of tables.
    fn row<T: 'static>(&mut self, list: &str, keys: &[Key<T>], of: &T) {
        self.header(Some(format!("[[{list}]]")), EXAMPLE);
        self.keys(keys.iter(), of, EXAMPLE);
    }

    fn line(&mut self, mark: &str, line: &str) {
        self.text.extend([mark, line, "\n"]);
    }

    fn comment(&mut self, text: &str) {
        let mut column = 0;
        for word in text.split(' ') {
            if column == 0 || column + 1 + word.len() > WIDTH {
                self.text.push_str(if column == 0 { "#" } else { "\n#" });
                column = 1;
            }
            self.text.extend([" ", word]);
            column += 1 + word.len();
        }
        self.text.push('\n');
    }
}

fn explanation<T>(key: &Key<T>) -> String {
    let variable = if key.variable.is_empty() { String::new() } else { format!(" (or `{}`)", key.variable) };
    format!("{}: {}{variable}.", key.doc, key.field.due())
}

/// The table of all keys for the README, in Markdown.
#[must_use]
pub fn readme_table() -> String {
    let mut rows = vec!["| key | default | meaning |".to_owned(), "|---|---|---|".to_owned()];
    let settings = Settings::default();
    for (table, keys) in SECTIONS {
        let prefix = if table.is_empty() { String::new() } else { format!("{table}.") };
        rows.extend(keys.iter().map(|key| row(&prefix, key, &code(key.field.written(&settings)))));
    }
    rows.extend(POLICY.iter().map(|key| row(&policy_prefix(key.only), key, &policy_defaults(key))));
    rows.extend(RULE.iter().map(|key| row("….rules[].", key, "")));
    let none = BreakerPolicy::default();
    rows.extend(BREAKER.iter().map(|key| row(&format!("{BREAKERS}[]."), key, &code(key.field.written(&none)))));
    rows.extend(FALLBACK.iter().map(|key| row(&format!("{BREAKERS}[].fallback[]."), key, "")));
    rows.push(format!(
        "| `{BREAKERS}[].<signal>.…` | as `{DEFAULTS}` | every key of `{DEFAULTS}.<signal>`, inherited key by key |"
    ));
    let none = ToolDraft::default();
    rows.extend(TOOL.iter().map(|key| row(&format!("{TOOLS}[]."), key, &code(key.field.written(&none)))));
    rows.extend(POLL.iter().map(|key| row(&format!("{TOOLS}[].poll."), key, "")));
    rows.extend(FORMAT.iter().map(|key| row(&format!("{FORMATS}[]."), key, "")));
    rows.extend(CONDITION.iter().map(|key| row(&format!("{FORMATS}[].…_when[]."), key, "")));
    rows.extend(TEMPLATE.iter().map(|key| row(&format!("{TEMPLATES}[]."), key, "")));
    rows.extend(EXPERIMENT.iter().map(|key| row(&format!("{EXPERIMENTS}[]."), key, "")));
    let once = RetryDraft::default();
    rows.extend(FAILURE.iter().map(|key| row(&format!("{FAILURES}."), key, &code(key.field.written(&once)))));
    rows.extend(HOST.iter().map(|key| row(&format!("{HOSTS}[]."), key, "")));
    rows.extend(ROUTE.iter().map(|key| row(&format!("{ROUTES}[]."), key, "")));
    rows.join("\n") + "\n"
}

fn policy_prefix(only: Only) -> String {
    let signal = match only {
        Only::Every => "<signal>",
        Only::AuthFailure => "auth_failure.<condition>",
        Only::Latency => "latency",
    };
    format!("{DEFAULTS}.{signal}.")
}

fn row<T>(prefix: &str, key: &Key<T>, default: &str) -> String {
    format!("| `{prefix}{}` | {default} | {} |", key.name, explanation(key))
}

fn code(written: Option<String>) -> String {
    written.map(|text| format!("`{text}`")).unwrap_or_default()
}

/// The defaults of all kinds that have the key: each value once, with the kinds it belongs to unless there is but one.
fn policy_defaults(key: &Key<PolicyDraft>) -> String {
    let mut values: Vec<(String, Vec<&str>)> = vec![];
    for kind in CircuitKind::ALL.iter().filter(|kind| key.only.covers(**kind)) {
        let Some(value) = key.field.written(&PolicyDraft::of(*kind)).map(|text| code(Some(text))) else { continue };
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, kinds)) => kinds.push(kind.word()),
            None => values.push((value, vec![kind.word()])),
        }
    }
    match values.as_slice() {
        [] => String::new(),
        [(value, _)] => value.clone(),
        several => {
            let each: Vec<String> =
                several.iter().map(|(value, kinds)| format!("{value} {}", kinds.join(", "))).collect();
            each.join("; ")
        }
    }
}
