//! What the model is told when its answer comes back: which rules it breaks, what the rows of the task are, and what an
//! acceptable answer holds. Figures, closed words and the caller's own names; nothing of payloads or of the answer.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::rules::Findings;
use super::{ReviewInput, ReviewRule};
use crate::domain::ids::SafeText;
use crate::domain::session::evidence::EvidenceRow;

/// The longest message in bytes.
pub const MESSAGE_BYTES_MAX: usize = 4_096;
/// How a message begins, so that one that comes back as a tool's result is known.
pub const MESSAGE_HEAD: &str = "ANSWER REVIEW: sent back";
/// Groups of rows that are listed.
const GROUPS_MAX: usize = 10;
/// Names of tools or hypotheses that are listed for one rule.
const NAMES_MAX: usize = 3;
/// Bytes of a name.
const NAME_BYTES_MAX: usize = 64;
const TEXT_BYTES_MAX: usize = 96;

pub(super) fn message(input: &ReviewInput<'_>, findings: &Findings, broken: &[ReviewRule]) -> String {
    let words: Vec<&str> = broken.iter().map(|rule| rule.word()).collect();
    let mut out =
        format!("{MESSAGE_HEAD} ({}). It may be sent back once; then it is shown as unsupported.", words.join(", "));
    // Writing to a String cannot fail.
    let _ = write!(out, "\nRows of this task by tool and state: {}.", rows(&input.task.rows, input.task.lost.rows));
    for rule in broken {
        out.push_str("\n- ");
        fault(*rule, input, findings, &mut out);
    }
    out.push_str(
        "\nAn acceptable answer says which checks were made and what each returned, cites only rows that are observed or \
         truncated, keeps the figures that were measured, and gives as Unknown, with the tool named, what was not measured.",
    );
    debug_assert!(out.len() <= MESSAGE_BYTES_MAX, "a message of {} bytes", out.len());
    out
}

/// The rows by tool and state, counted, in the order of the alphabet.
fn rows(rows: &[&EvidenceRow], lost: u64) -> String {
    let mut groups: BTreeMap<(String, &str), u32> = BTreeMap::new();
    for row in rows {
        let is_foreign = row.is_of_unknown_tool() && row.observation.is_usable();
        let state =
            if is_foreign { "not evidence, its tool is in no row of the tools table" } else { row.observation.word() };
        *groups.entry((name(&row.tool), state)).or_default() += 1;
    }
    let mut out = String::new();
    for ((tool, state), count) in groups.iter().take(GROUPS_MAX) {
        let separator = if out.is_empty() { "" } else { ", " };
        let _ = write!(out, "{separator}{tool}: {state}");
        if *count > 1 {
            let _ = write!(out, " x{count}");
        }
    }
    if groups.is_empty() {
        out.push_str("none");
    }
    if groups.len() > GROUPS_MAX {
        let _ = write!(out, ", and {} more", groups.len() - GROUPS_MAX);
    }
    if lost > 0 {
        let _ = write!(out, "; {lost} older dropped");
    }
    out
}

fn fault(rule: ReviewRule, input: &ReviewInput<'_>, findings: &Findings, out: &mut String) {
    let _ = match rule {
        ReviewRule::NoUsableEvidence => write!(
            out,
            "No row of this task is usable as evidence, yet the answer states a conclusion or quotes a number with a \
             unit. Rewrite it: say which checks you ran and that each returned nothing usable; state no cause and no figure."
        ),
        ReviewRule::InventedIdentifier => write!(
            out,
            "{} trace or span id(s) of the answer occur in no result of this session and were not given by the user. \
             Copy ids from results, or leave them out.",
            findings.invented
        ),
        ReviewRule::GapAsNegative => write!(
            out,
            "The answer says that there was nothing (none, no errors, 0), but every query failed: absence was never \
             measured. Say that it is Unknown and why."
        ),
        ReviewRule::UnnamedGap => write!(
            out,
            "The answer leaves something undetermined and names none of the tools that failed: {}. Name the failed query's tool.",
            names(&failed(input))
        ),
        ReviewRule::RequiredMissing => required(input, findings, out),
        ReviewRule::ExcludedHypothesis => write!(
            out,
            "The answer restates what was excluded before: {}. Leave it out, or say that it is ruled out.",
            hypotheses(input, findings)
        ),
        ReviewRule::CappedTotal => write!(
            out,
            "The answer gives a total or a rate, but every usable row is capped. Cite what is in the rows, or say `at least`."
        ),
        ReviewRule::FiguresDropped => write!(out, "The answer drops the figures that were measured."),
    };
}

fn required(input: &ReviewInput<'_>, findings: &Findings, out: &mut String) -> std::fmt::Result {
    let (halted, open): (Vec<&SafeText>, Vec<&SafeText>) =
        findings.missing.iter().partition(|tool| input.exhausted_tools.contains(tool));
    out.push_str("Required measurements are missing, and the answer does not give them as Unknown.");
    if !open.is_empty() {
        write!(out, " Call, or give as Unknown with the tool named: {}.", names(&open))?;
    }
    if !halted.is_empty() {
        write!(out, " Halted for this task, so give as Unknown with the tool named: {}.", names(&halted))?;
    }
    Ok(())
}

fn failed<'a>(input: &ReviewInput<'a>) -> Vec<&'a SafeText> {
    let failed: std::collections::BTreeSet<_> =
        input.task.rows.iter().filter(|row| row.is_failed()).map(|row| &row.tool).collect();
    failed.into_iter().collect()
}

fn hypotheses(input: &ReviewInput<'_>, findings: &Findings) -> String {
    let texts = findings.restated.iter().filter_map(|place| Some((place, input.excluded_hypotheses.get(*place)?)));
    let told: Vec<String> = texts
        .take(NAMES_MAX)
        .map(|(place, text)| format!("no. {} `{}`", place + 1, SafeText::cut(text, TEXT_BYTES_MAX).as_str()))
        .collect();
    with_more(told, findings.restated.len())
}

fn names(tools: &[&SafeText]) -> String {
    with_more(tools.iter().take(NAMES_MAX).map(|tool| name(tool)).collect(), tools.len())
}

fn with_more(told: Vec<String>, all: usize) -> String {
    let more = all - told.len().min(all);
    let listed = told.join(", ");
    if more == 0 { listed } else { format!("{listed}, and {more} more") }
}

fn name(tool: &SafeText) -> String {
    SafeText::cut(tool.as_str(), NAME_BYTES_MAX).as_str().to_owned()
}
