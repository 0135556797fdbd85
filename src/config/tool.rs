//! `[[tool]]`: what is known of tools beside their results.

use std::sync::Arc;

use super::branch::Branch;
use super::fault::{Place, Sink};
use super::format::KnownFormats;
use super::keys::{TOOL, TOOLS};
use super::read::{row_path, rows};
use super::text::nearest;
use crate::domain::breaker::routes::target_glob;
use crate::domain::observation::format::{Format, FormatChoice};
use crate::domain::tool::{Tool, ToolRow, Tools};

/// Rows in one file.
pub(super) const TOOLS_MAX: usize = 1_000;
/// The key that every row has.
pub(super) const MATCH: &str = "match";

/// A row as far as it is read.
#[derive(Clone)]
pub(super) struct ToolDraft {
    pub(super) pattern: Option<Arc<str>>,
    /// The name of the format, which is looked up when all formats are read.
    pub(super) format: Option<Arc<str>>,
    /// All else.
    pub(super) tool: Tool,
}

impl Default for ToolDraft {
    fn default() -> Self {
        Self { pattern: None, format: None, tool: Tool::unknown() }
    }
}

impl From<&ToolRow> for ToolDraft {
    fn from(row: &ToolRow) -> Self {
        let format = row.tool.format.as_ref().map(|format| match format {
            FormatChoice::BuiltIn(format) => format.word().into(),
            FormatChoice::Custom(format) => format.name.as_str().into(),
        });
        Self { pattern: Some(Arc::clone(&row.pattern)), format, tool: row.tool.clone() }
    }
}

impl ToolDraft {
    fn into_row(self) -> Option<ToolRow> {
        let pattern = self.pattern?;
        let matcher = target_glob(&pattern).ok()?.compile_matcher();
        Some(ToolRow { pattern, matcher, tool: self.tool })
    }
}

/// The formats that a tool can be pinned to by a word; `custom` stands for those of the file, by their names.
pub(super) fn format_words() -> Vec<&'static str> {
    Format::ALL.iter().filter(|format| **format != Format::Custom).map(|format| format.word()).collect()
}

/// Reads `[[tool]]`.
pub(super) fn read_tools(root: &Branch<'_>, formats: &KnownFormats, sink: &mut Sink<'_>) -> Tools {
    let places = rows(root, TOOLS, TOOLS_MAX, sink);
    let mut drafts: Vec<ToolDraft> = places.iter().map(|place| read_tool(place, sink)).collect();
    for (index, draft) in drafts.iter_mut().enumerate() {
        let Some(name) = &draft.format else { continue };
        draft.tool.format = choice(name, formats);
        if draft.tool.format.is_none() && !formats.is_unsure {
            sink.fault_at(&format!("{}.format", row_path(TOOLS, index)), unknown_format(name, formats));
        }
    }
    Tools::new(drafts.into_iter().filter_map(ToolDraft::into_row).collect())
}

fn read_tool(place: &Place<'_>, sink: &mut Sink<'_>) -> ToolDraft {
    let mut draft = ToolDraft::default();
    sink.mark(&place.path, place);
    let Some(table) = Branch::at(place, sink) else { return draft };
    // A row about one tool by its name mends what is built in; a pattern says all there is to say.
    if let Some(name) = table.place(MATCH).and_then(|place| place.value.as_str()) {
        draft.tool = Tools::default().of(name).clone();
    }
    table.read(TOOL, &[], &mut draft, sink);
    if table.place(MATCH).is_none() {
        sink.fault(place, format!("has no `{MATCH}`: say which tools it is about, e.g. `{MATCH} = \"query_*\"`"));
    }
    draft
}

fn choice(name: &str, formats: &KnownFormats) -> Option<FormatChoice> {
    let custom = formats.custom.iter().find(|format| format.name.as_str() == name);
    let built_in = || Format::from_word(name).filter(|format| *format != Format::Custom).map(FormatChoice::BuiltIn);
    custom.map(|format| FormatChoice::Custom(Arc::clone(format))).or_else(built_in)
}

fn unknown_format(name: &str, formats: &KnownFormats) -> String {
    let custom = formats.custom.iter().map(|format| format.name.as_str());
    let known: Vec<&str> = custom.chain(format_words()).collect();
    match nearest(name, &known) {
        Some(near) => format!("is no known format: the nearest one is `{near}`"),
        None => format!("is no known format: known here are {}", known.join(", ")),
    }
}
