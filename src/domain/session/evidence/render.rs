//! The ledger as a model and a person on call read it: one line a row, and a line that counts them (spec 4.3).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::EvidenceRow;
use crate::domain::observation::Observation;
use crate::domain::tool::{CATALOG, CONTEXT};

const HEAD: &str = "EVIDENCE LEDGER (machine-typed from the tool payloads, not from your summary):\n";
const ROLE_IS_A_HINT: &str = "role is a hint from which store answered, not proof that it tested that role.";
/// Stands for a role that nobody gave to a tool of a known domain: `context` would say that it is no evidence.
const UNSTATED: &str = "unstated";
const UNKNOWN: &str = "unknown";

/// The rows in their order, and what they come to.
pub(super) fn ledger<'a>(rows: impl Iterator<Item = &'a EvidenceRow> + Clone, dropped: u64) -> String {
    let mut out = String::from(HEAD);
    // Writing to a String cannot fail.
    if dropped > 0 {
        let _ = writeln!(out, "({dropped} older row(s) dropped to keep the ledger in its bound; not counted below)");
    }
    for row in rows.clone() {
        let _ = writeln!(out, "{}", line(row));
    }
    let usable = rows.clone().filter(|row| row.is_usable).count();
    let sources: BTreeSet<&str> = rows.clone().filter_map(source).collect();
    let named = sources.iter().copied().collect::<Vec<_>>().join(", ");
    let (all, count) = (rows.count(), sources.len());
    let _ = write!(out, "usable: {usable}/{all} across {count} independent source(s) [{named}]. {ROLE_IS_A_HINT}");
    out
}

/// The store that a usable row is one more answer of. Sources are domains, not calls.
fn source(row: &EvidenceRow) -> Option<&str> {
    row.domain.as_ref().filter(|_| row.is_usable).map(super::Code::as_str)
}

fn line(row: &EvidenceRow) -> String {
    let mark = if row.is_usable { "ok" } else { "XX" };
    let domain = row.domain.as_ref().map_or(UNKNOWN, super::Code::as_str);
    let unstated = if row.domain.is_none() { CONTEXT } else { UNSTATED };
    let role = row.role.as_ref().map_or(unstated, super::Code::as_str);
    format!("[f{:02}] {mark} {domain}/{role} {}: {}", row.number, row.tool.as_str(), worth(row))
}

/// What the row is good for.
fn worth(row: &EvidenceRow) -> String {
    let plain = |text: &str| text.to_owned();
    match row.observation {
        Observation::Empty => plain("no data in this window — MUST NOT be cited as evidence"),
        Observation::Unavailable => {
            format!("never reached the data{} — absence was not measured, MUST NOT be cited as evidence", why(row))
        }
        Observation::Error => {
            format!("the query failed{} — absence was not measured, MUST NOT be cited as evidence", why(row))
        }
        Observation::Context => plain(context(row)),
        Observation::Observed | Observation::Truncated if row.is_of_unknown_tool() => {
            plain("tool in no row of the tools table — not evidence until its domain is configured")
        }
        Observation::Truncated if row.values_degraded => {
            plain("real but partial and degraded — cite that it was seen, never a value, total or rate from it")
        }
        Observation::Truncated if row.total_known.is_some() => {
            plain("real but capped — cite what is in it and the total that it states, never a rate from it")
        }
        Observation::Truncated => plain("real but capped — cite what is in it, never a total or a rate from it"),
        Observation::Observed if row.digest.as_str().is_empty() => plain("observed"),
        Observation::Observed => plain(row.digest.as_str()),
    }
}

fn context(row: &EvidenceRow) -> &'static str {
    let is = |word: &Option<super::Code>, wanted: &str| word.as_ref().is_some_and(|word| word.as_str() == wanted);
    if is(&row.domain, CATALOG) {
        "catalog lookup — orients the next query, not evidence"
    } else if is(&row.role, "notes") || is(&row.role, "memory") {
        "the agent's own notes — not evidence"
    } else {
        "context — orients the next query, not evidence"
    }
}

/// What it counted as, in closed words.
fn why(row: &EvidenceRow) -> String {
    match (row.kind, row.failure_class) {
        (Some(kind), Some(class)) => format!(" ({}, {class})", kind.signal()),
        (Some(kind), None) => format!(" ({})", kind.signal()),
        (None, Some(class)) => format!(" ({class})"),
        (None, None) => String::new(),
    }
}
