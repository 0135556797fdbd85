//! A replay as text for a person.

use crate::cli::text::{Cell, Paint, Table, Tone, count};
use crate::replay::followed::cells;
use crate::replay::{ByLabel, Figures, Listed, Played, Replayed, Word, told};

/// Sessions that are shown; JSON and the page show more.
const SHOWN_MAX: usize = 10;

/// One policy after the other, then what they differ in.
pub(super) fn of(replayed: &Replayed, paint: Paint) -> String {
    let mut parts = Vec::new();
    let is_compared = replayed.policies.len() > 1;
    parts.push(sessions(replayed, paint));
    for (name, figures) in &replayed.policies {
        let title = if is_compared { format!("{}\n", paint.dye(Tone::Strong, name)) } else { String::new() };
        parts.push(format!("{title}{}", guards(figures, paint)));
        parts.extend(followed(figures, paint));
    }
    match replayed.policies.as_slice() {
        [(_, figures)] => parts.extend(listed(figures, paint)),
        _ => parts.push(differing(replayed, paint)),
    }
    if replayed.faults.count > 0 {
        let skipped = format!("{} could not be read", count(replayed.faults.count, "line"));
        parts.push(paint.dye(Tone::Warn, &skipped));
    }
    parts.join("\n\n")
}

/// How many sessions there were, and in how many a word was said.
fn sessions(replayed: &Replayed, paint: Paint) -> String {
    let mut table = Table::of(["POLICY", "SESSIONS", "ALL", "SUCCESSFUL", "FAILED", "UNLABELLED", "CALLS"]);
    let is_compared = replayed.policies.len() > 1;
    for (name, figures) in &replayed.policies {
        let name = if is_compared { name.as_str() } else { "" };
        let row = |what: &str, by: &ByLabel, calls: String, is_bad: bool| {
            let successful = by.successful.to_string();
            let successful = if is_bad && by.successful > 0 {
                Cell::in_tone(Tone::Bad, &successful)
            } else {
                Cell::from(successful)
            };
            let has_unlabelled = figures.sessions.unlabelled > 0;
            let unlabelled = if has_unlabelled { by.unlabelled.to_string() } else { String::new() };
            [
                name.into(),
                what.into(),
                by.all().to_string().into(),
                successful,
                by.failed.to_string().into(),
                unlabelled.into(),
                calls.into(),
            ]
        };
        table.push(row("replayed", &figures.sessions, figures.calls.to_string(), false));
        for word in Word::ALL {
            let calls: u64 = figures.guards.iter().map(|(_, guard)| *guard.calls.at(*word)).sum();
            table.push(row(word.word(), figures.told.at(*word), calls.to_string(), *word != Word::Steered));
        }
    }
    table.draw(paint)
}

/// What each guard said.
fn guards(figures: &Figures, paint: Paint) -> String {
    let mut table = Table::of(["GUARD", "SAID", "SESSIONS", "SUCCESSFUL", "FAILED", "CALLS"]);
    let mut is_silent = true;
    for (signal, guard) in figures.guards.iter() {
        for word in Word::ALL {
            let (calls, by) = (*guard.calls.at(*word), guard.sessions.at(*word));
            if calls == 0 && by.all() == 0 {
                continue;
            }
            is_silent = false;
            let cells = [by.all(), by.successful, by.failed, calls].map(|n| Cell::from(n.to_string()));
            let [all, successful, failed, calls] = cells;
            table.push([signal.word().into(), word.word().into(), all, successful, failed, calls]);
        }
    }
    if is_silent { "no guard would have said anything".to_owned() } else { table.draw(paint) }
}

/// What the recorded models did where a guard would have spoken.
fn followed(figures: &Figures, paint: Paint) -> Option<String> {
    let headings = ["GUARD", "TRIPS", "WITH A REPEAT", "REPEATS", "FIRST ACTION MATCHES", "RECOVERED", "STEPS TO IT"];
    let mut table = Table::of(headings);
    let mut rows = 0;
    for (signal, _) in figures.guards.iter() {
        let sum = figures.followed(signal);
        if sum.told > 0 {
            let [trips, repeated, repeats, matched, recovered, steps] = cells(&sum).map(Cell::from);
            table.push([signal.word().into(), trips, repeated, repeats, matched, recovered, steps]);
            rows += 1;
        }
    }
    (rows > 0).then(|| table.draw(paint))
}

fn listed(figures: &Figures, paint: Paint) -> Option<String> {
    let mut table = Table::of(["SESSION", "WAS", "WOULD HAVE BEEN"]);
    for Listed { session, course } in figures.listed.iter().take(SHOWN_MAX) {
        let said = told(course).unwrap_or_default();
        table.push([session.name.as_str().into(), label(session.success), said.into()]);
    }
    let all: u64 = figures.spoke_first.iter().flat_map(|part| part.0).sum();
    let more = more(all, figures.listed.len());
    (all > 0).then(|| format!("{}{more}", table.draw(paint)))
}

fn differing(replayed: &Replayed, paint: Paint) -> String {
    let differing = &replayed.differing;
    let mut table = Table::of(["SESSION", "WAS", "FIRST POLICY", "SECOND POLICY"]);
    for Played { session, courses, .. } in differing.listed.iter().take(SHOWN_MAX) {
        let said = |at: usize| courses.get(at).and_then(told).unwrap_or_else(|| "left alone".to_owned());
        table.push([session.name.as_str().into(), label(session.success), said(0).into(), said(1).into()]);
    }
    if differing.count == 0 {
        return "both policies say the same in every session".to_owned();
    }
    let differs = if differing.count == 1 { "differs" } else { "differ" };
    let head = format!("{} {differs}", count(differing.count, "session"));
    format!("{head}\n{}{}", table.draw(paint), more(differing.count, differing.listed.len()))
}

fn more(all: u64, listed: usize) -> String {
    let more = all.saturating_sub(listed.min(SHOWN_MAX) as u64);
    if more > 0 { format!("\nand {} more", count(more, "session")) } else { String::new() }
}

fn label(success: Option<bool>) -> Cell {
    match success {
        Some(true) => Cell::in_tone(Tone::Good, "successful"),
        Some(false) => Cell::in_tone(Tone::Quiet, "failed"),
        None => Cell::from("unlabelled"),
    }
}
