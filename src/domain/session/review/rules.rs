//! The rules, one function each. A rule sees the rows by their states and the answer as it was read.

mod hypotheses;

use std::collections::BTreeSet;

use super::keywords::WordList::{self, *};
use super::reading::{Clause, Hit, Number, Reading, ToolName};
use super::{ReviewInput, ReviewRule};
use crate::domain::ids::SafeText;
use crate::domain::observation::Observation;
use crate::domain::session::evidence::identifiers::{Identifier, identifiers, sightings};
use crate::domain::session::evidence::{EvidenceRow, TOOL_BYTES_MAX};

/// `no` and what is absent stand so near to each other, in bytes.
const ABSENCE_BYTES_MAX: usize = 40;
/// Tools of a task whose names are looked for.
const TOOLS_MAX: usize = 64;

/// What breaks.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// In the order of the table.
    pub(super) broken: Vec<ReviewRule>,
    /// How many ids are invented.
    pub(super) invented: usize,
    /// Required tools that measured nothing and are not given as Unknown.
    pub(super) missing: Vec<SafeText>,
    /// The places of the restated hypotheses on the list.
    pub(super) restated: Vec<usize>,
}

pub(super) fn judge(input: &ReviewInput<'_>) -> Findings {
    let reading = Reading::of(input.answer, input.keywords);
    let mut findings = Findings {
        invented: invented(input, &reading),
        missing: missing(input, &reading),
        restated: hypotheses::restated(input.excluded_hypotheses, &reading),
        ..Findings::default()
    };
    for rule in ReviewRule::ALL {
        let is_broken = match rule {
            ReviewRule::NoUsableEvidence => has_no_usable(input) && states_something(&reading),
            ReviewRule::InventedIdentifier => findings.invented > 0,
            ReviewRule::GapAsNegative => has_no_measured(input) && states_absence(&reading),
            ReviewRule::UnnamedGap => leaves_gap_unnamed(input, &reading),
            ReviewRule::RequiredMissing => !findings.missing.is_empty(),
            ReviewRule::ExcludedHypothesis => !findings.restated.is_empty(),
            ReviewRule::CappedTotal => totals_what_is_capped(input, &reading),
            ReviewRule::FiguresDropped => drops_figures(input, &reading),
        };
        if is_broken {
            findings.broken.push(*rule);
        }
    }
    findings
}

fn has_no_usable(input: &ReviewInput<'_>) -> bool {
    !input.task.lost.was_usable && !input.task.rows.iter().any(|row| row.is_usable)
}

fn has_no_measured(input: &ReviewInput<'_>) -> bool {
    !input.task.lost.was_measured && !input.task.rows.iter().any(|row| row.is_measured())
}

/// A conclusion, or a number with a unit.
fn states_something(reading: &Reading) -> bool {
    reading.numbers.iter().any(|number| is_claim(reading, number))
        || reading.clauses.iter().any(|clause| is_conclusion(reading, clause))
}

/// A number with a unit that is neither a window, nor a count of the checks, nor said to be of nothing or given. A total
/// or rate is its own unit: `error rate 0.55`.
fn is_claim(reading: &Reading, number: &Number) -> bool {
    let Some(clause) = reading.clauses.get(number.clause) else { return false };
    let is_of = |list: WordList| number.unit.is_some_and(|unit| unit.has(list));
    if number.unit.is_none() && (number.is_zero || !clause.marks.has(Total) || clause.marks.has(Checking)) {
        return false;
    }
    let is_none_of_something = number.is_zero && is_of(UnitOfCount); // a negative, which an empty result supports
    let is_about_checks = (is_of(UnitOfTime) && clause.marks.has_any(&[Window, Failed]))
        || (is_of(UnitOfCount) && clause.marks.has(Checking));
    !is_none_of_something && !is_about_checks && !clause.marks.has_any(&[NothingFound, Undetermined, Given])
}

/// A cause or verdict that is stated. What only joins (`because`) may join words about the gap in the same sentence.
fn is_conclusion(reading: &Reading, clause: &Clause) -> bool {
    let is_plain = |of: &[WordList]| !clause.marks.has_any(of);
    let Some(sentence) = reading.sentence_of(clause).filter(|sentence| !sentence.is_question) else { return false };
    let is_stated = clause.marks.has(Conclusion) && is_plain(&[Undetermined, NothingFound, Failed, Supposed, RuledOut]);
    let is_joined = clause.marks.has(Connector)
        && !sentence.marks.has_any(&[Undetermined, NothingFound, NotMeasured, Failed, Supposed, RuledOut]);
    is_stated || is_joined
}

/// Ids that no payload held and nobody gave.
fn invented(input: &ReviewInput<'_>, reading: &Reading) -> usize {
    if !input.seen_ids.is_complete() {
        return 0;
    }
    let given: BTreeSet<Identifier> = input.known_ids.iter().flat_map(|text| sightings(text)).collect();
    let written: BTreeSet<Identifier> = identifiers(&reading.text).collect();
    written.iter().filter(|id| !given.contains(id) && !input.seen_ids.holds(**id)).count()
}

/// Absence that is stated as a finding, and nowhere said to be no measurement.
fn states_absence(reading: &Reading) -> bool {
    !reading.has(NotMeasured)
        && (reading.clauses.iter().any(|clause| is_absence(reading, clause))
            || reading.numbers.iter().any(|number| is_zero_found(reading, number)))
}

fn is_absence(reading: &Reading, clause: &Clause) -> bool {
    if clause.marks.has_any(&[Undetermined, Failed, Supposed]) || is_question(reading, clause) {
        return false;
    }
    let hits = reading.hits_in(clause);
    let is_near = |no: &Hit, what: &Hit| what.start >= no.end && what.start - no.end <= ABSENCE_BYTES_MAX;
    let denies = |(at, no): (usize, &Hit)| {
        no.marks.has(Negator)
            && hits.iter().skip(at + 1).take_while(|what| is_near(no, what)).any(|what| what.marks.has(Finding))
    };
    clause.marks.has(Negative) || hits.iter().enumerate().any(denies)
}

/// `0 errors`, `error rate 0%`, `errors: 0`, `the count is 0`.
fn is_zero_found(reading: &Reading, number: &Number) -> bool {
    let Some(clause) = reading.clauses.get(number.clause).filter(|_| number.is_zero) else { return false };
    let Some(sentence) = reading.sentence_of(clause) else { return false };
    if sentence.marks.has_any(&[Undetermined, Failed, Supposed]) || clause.marks.has(Checking) {
        return false;
    }
    let before = reading.part(clause.start, number.start).trim_end();
    let is_given_as =
        before.ends_with([':', '=', '|', '是', '为']) || before.ends_with(" is") || before.ends_with(" was");
    match number.unit {
        Some(unit) => !unit.has(UnitOfTime),
        None => is_given_as || sentence.marks.has(Finding),
    }
}

fn is_question(reading: &Reading, clause: &Clause) -> bool {
    reading.sentence_of(clause).is_some_and(|sentence| sentence.is_question)
}

/// An answer that gives something as unknown while a tool failed for good, and that names no tool that failed.
fn leaves_gap_unnamed(input: &ReviewInput<'_>, reading: &Reading) -> bool {
    let rows = &input.task.rows;
    let failed: BTreeSet<&SafeText> = rows.iter().filter(|row| row.is_failed()).map(|row| &row.tool).collect();
    let measured: BTreeSet<&SafeText> = rows.iter().filter(|row| row.is_measured()).map(|row| &row.tool).collect();
    let has_gap = failed.difference(&measured).next().is_some();
    let is_named = || failed.iter().take(TOOLS_MAX).any(|tool| reading.mentions_any(&ToolName::of(tool.as_str())));
    has_gap && reading.has(Undetermined) && !is_named()
}

/// Required tools without a row that measured, be it nothing, which the answer does not give as Unknown. What such a
/// tool measured counts whatever its domain: the caller said that it measures.
fn missing(input: &ReviewInput<'_>, reading: &Reading) -> Vec<SafeText> {
    let cut = |tool: &SafeText| SafeText::cut(tool.as_str(), TOOL_BYTES_MAX);
    let has_measured = |tool: &SafeText| input.task.rows.iter().any(|row| row.tool == *tool && row.is_measured());
    let required: BTreeSet<SafeText> = input.required_tools.iter().map(cut).collect();
    let is_missing = |tool: &SafeText| !has_measured(tool) && !is_given_as_unknown(reading, tool);
    if input.task.lost.was_measured {
        return Vec::new(); // it may have been this tool's row that had to go
    }
    required.into_iter().filter(is_missing).collect()
}

/// The tool is named in a sentence that gives something as unknown, or next to one.
fn is_given_as_unknown(reading: &Reading, tool: &SafeText) -> bool {
    reading.mentions(&ToolName::of(tool.as_str())).any(|at| {
        let sentence = reading.sentence_at(at);
        let near = sentence.saturating_sub(1)..=sentence + 1;
        near.into_iter().filter_map(|near| reading.sentences.get(near)).any(|near| near.marks.has(Undetermined))
    })
}

/// A total or rate while every usable row is capped. A total that a row states itself may be cited.
fn totals_what_is_capped(input: &ReviewInput<'_>, reading: &Reading) -> bool {
    let usable = || input.task.rows.iter().filter(|row| row.is_usable);
    let is_capped = |row: &EvidenceRow| row.observation == Observation::Truncated;
    if input.task.lost.was_whole || usable().next().is_none() || !usable().all(|row| is_capped(row)) {
        return false;
    }
    let stated: BTreeSet<u64> = usable().filter_map(|row| row.total_known).collect();
    reading.numbers.iter().any(|number| {
        let Some(clause) = reading.clauses.get(number.clause) else { return false };
        let is_rate = number.unit.is_some_and(|unit| unit.has(UnitOfRate));
        let value = reading.part(number.start, number.end).replace(',', "").parse::<u64>();
        let is_stated = !is_rate && value.is_ok_and(|value| stated.contains(&value));
        let is_hedged = clause.marks.has_any(&[Partial, Undetermined, NothingFound, Given, Checking]);
        (is_rate || clause.marks.has(Total)) && !is_stated && !is_hedged
    })
}

/// Something is unknown, there are usable rows, and the answer quotes no figure.
fn drops_figures(input: &ReviewInput<'_>, reading: &Reading) -> bool {
    let is_figure = |number: &Number| {
        let clause = reading.clauses.get(number.clause);
        clause.is_some_and(|clause| !clause.marks.has_any(&[NothingFound, Checking, Given]))
    };
    input.task.rows.iter().any(|row| row.is_usable)
        && reading.has(Undetermined)
        && !reading.numbers.iter().any(is_figure)
}
