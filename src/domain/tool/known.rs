//! The table of well-known tools: exact names, as their makers document them.
//!
//! No part of a name says anything, so that a tool that only sounds like another is unknown. A `shell:NAME` tool is a
//! process, of which its name says nothing either.

mod facts;
mod rows;

use std::sync::LazyLock;

use super::Tool;
use rows::ROWS;

static UNKNOWN: Tool = Tool::unknown();

/// What is known of each row, in the order of the rows; made once.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| ROWS.iter().map(|(_, facts)| facts.tool()).collect());

/// What is known of a tool by its name; nothing for most.
pub(super) fn of(name: &str) -> &'static Tool {
    let bare = without_server(name);
    let row = ROWS.binary_search_by(|(known, _)| (*known).cmp(bare)).ok();
    row.and_then(|row| TOOLS.get(row)).unwrap_or(&UNKNOWN)
}

/// The name that a server gave its tool, without the `mcp__SERVER__` that Claude Code puts before it.
fn without_server(name: &str) -> &str {
    let rest = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    rest.map_or(name, |(_, bare)| bare)
}

#[cfg(test)]
mod tests;
