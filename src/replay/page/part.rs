//! The parts of the page: what is plotted and what stands in tables.

use super::super::course::Word;
use super::super::figures::{ByLabel, Figures, Listed, length_text};
use super::super::followed::{HEADINGS, cells};
use super::super::session::{Played, PlayedSession, told};
use super::super::{PARTS, Replayed};
use super::markup::Markup;
use super::plot::{Bar, Part, legend, lying, most, standing};

/// Tools that are shown.
const TOOLS_SHOWN_MAX: usize = 20;
const LABELS: [&str; 3] = ["successful", "failed", "unlabelled"];

fn by_label(name: String, by: &ByLabel) -> Bar {
    let counts = [by.successful, by.failed, by.unlabelled];
    Bar { name, parts: LABELS.into_iter().zip(counts).map(|(class, count)| Part { class, count }).collect() }
}

/// The labels that occur.
fn labels(figures: &Figures) -> &'static [&'static str] {
    if figures.sessions.unlabelled == 0 { LABELS.split_at(2).0 } else { &LABELS }
}

fn guard_bars(figures: &Figures) -> Vec<Bar> {
    let bars = figures.guards.iter().flat_map(|(signal, guard)| {
        let bar = move |word: &Word| by_label(format!("{signal}: {word}"), guard.sessions.at(*word));
        Word::ALL.iter().filter(|word| guard.sessions.at(**word).all() > 0).map(bar)
    });
    bars.collect()
}

/// The longest bar under any policy, so that those of one can be held against those of another.
fn most_of(replayed: &Replayed, bars: fn(&Figures) -> Vec<Bar>) -> u64 {
    most(replayed.policies.iter().map(|(_, figures)| bars(figures)))
}

/// How many sessions each guard spoke in, by its word and by what became of the work.
pub(super) fn guards(out: &mut Markup, replayed: &Replayed, figures: &Figures) {
    let bars = guard_bars(figures);
    if bars.is_empty() {
        silent(out);
        return;
    }
    legend(out, labels(figures));
    lying(out, "sessions by guard", &bars, most_of(replayed, guard_bars));
}

fn silent(out: &mut Markup) {
    out.raw("<p class=\"quiet\">No guard would have said anything.</p>\n");
}

fn first_bars(figures: &Figures) -> Vec<Bar> {
    let share = |at: usize| format!("{}–{}", at * 100 / PARTS, (at + 1) * 100 / PARTS);
    let bars = figures.spoke_first.iter().enumerate().map(|(at, words)| {
        let parts = Word::ALL.iter().map(|word| Part { class: word.word(), count: *words.at(*word) });
        Bar { name: share(at), parts: parts.collect() }
    });
    bars.collect()
}

/// When a guard spoke first.
pub(super) fn spoke_first(out: &mut Markup, replayed: &Replayed, figures: &Figures) {
    let spoken = |word: &Word| figures.spoke_first.iter().any(|part| *part.at(*word) > 0);
    let classes: Vec<&str> = Word::ALL.iter().filter(|word| spoken(word)).map(|word| word.word()).collect();
    if classes.is_empty() {
        silent(out);
        return;
    }
    legend(out, &classes);
    let titles = ["when guards speak first", "part of the session's calls in %"];
    standing(out, titles, &first_bars(figures), most_of(replayed, first_bars));
}

/// How long sessions are.
pub(super) fn lengths(out: &mut Markup, figures: &Figures) {
    let longest = figures.lengths.iter().rposition(|by| by.all() > 0);
    let Some(longest) = longest else {
        out.raw("<p class=\"quiet\">There are none.</p>\n");
        return;
    };
    let bars = figures.lengths.iter().take(longest + 1).enumerate();
    let bars: Vec<Bar> = bars.map(|(place, by)| by_label(length_text(place), by)).collect();
    legend(out, labels(figures));
    let most = most(std::iter::once(bars.clone()));
    standing(out, ["calls of a session", "calls"], &bars, most);
}

/// Tools and what was said to their calls.
pub(super) fn tools(out: &mut Markup, _: &Replayed, figures: &Figures) {
    if figures.tools.is_empty() {
        out.raw("<p class=\"quiet\">None was called.</p>\n");
        return;
    }
    let mut tools: Vec<_> = figures.tools.iter().collect();
    tools.sort_by_key(|(_, tool)| std::cmp::Reverse((tool.words.0.iter().sum::<u64>(), tool.calls)));
    out.raw("<div class=\"scroll\"><table>\n");
    out.head(&["tool", "calls", "steered", "halted", "tripped", "refused"], 1);
    for (name, tool) in tools.iter().take(TOOLS_SHOWN_MAX) {
        out.raw("<tr>").cell(name.as_str()).figure(tool.calls);
        for word in Word::ALL {
            out.figure(*tool.words.at(*word));
        }
        out.raw("</tr>\n");
    }
    out.raw("</table></div>\n");
    if tools.len() > TOOLS_SHOWN_MAX {
        out.raw("<p class=\"quiet\">and ").number(tools.len() - TOOLS_SHOWN_MAX).raw(" more</p>\n");
    }
}

/// What the recorded models did where a guard would have spoken.
pub(super) fn after(out: &mut Markup, _: &Replayed, figures: &Figures) {
    let parts = figures.guards.iter().map(|(signal, _)| (signal, figures.followed(signal)));
    let parts: Vec<_> = parts.filter(|(_, sum)| sum.told > 0).collect();
    if parts.is_empty() {
        silent(out);
        return;
    }
    out.raw("<div class=\"scroll\"><table>\n").head(&[["guard"].as_slice(), &HEADINGS].concat(), 1);
    for (signal, sum) in &parts {
        out.raw("<tr>").cell(signal.word());
        for cell in cells(sum) {
            out.raw("<td class=\"n\">").text(&cell).raw("</td>");
        }
        out.raw("</tr>\n");
    }
    out.raw("</table></div>\n");
}

fn session_cells(out: &mut Markup, session: &PlayedSession) {
    let label = match session.success {
        Some(true) => "successful",
        Some(false) => "failed",
        None => "unlabelled",
    };
    out.cell(session.name.as_str()).cell(&format!("{}:{}", session.file, session.line)).cell(label);
}

/// The sessions in which a guard spoke.
pub(super) fn listed(out: &mut Markup, _: &Replayed, figures: &Figures) {
    if figures.listed.is_empty() {
        silent(out);
        return;
    }
    out.raw("<div class=\"scroll\"><table>\n").head(&["session", "recorded in", "was", "would have been"], usize::MAX);
    for Listed { session, course } in &figures.listed {
        out.raw("<tr>");
        session_cells(out, session);
        out.cell(&told(course).unwrap_or_default()).raw("</tr>\n");
    }
    out.raw("</table></div>\n");
    let all: u64 = figures.spoke_first.iter().flat_map(|part| part.0).sum();
    more(out, all, figures.listed.len());
}

/// The sessions on which two policies differ.
pub(super) fn differing(out: &mut Markup, replayed: &Replayed) {
    let differing = &replayed.differing;
    out.raw("<div class=\"card\">\n");
    if differing.count == 0 {
        out.raw("<p class=\"quiet\">Nowhere: both say the same in every session.</p>\n</div>\n");
        return;
    }
    out.raw("<div class=\"scroll\"><table>\n");
    let mut head = vec!["session", "recorded in", "was"];
    head.extend(replayed.policies.iter().map(|(name, _)| name.as_str()));
    out.head(&head, usize::MAX);
    for Played { session, courses, .. } in &differing.listed {
        out.raw("<tr>");
        session_cells(out, session);
        for course in courses {
            out.cell(&told(course).unwrap_or_else(|| "left alone".to_owned()));
        }
        out.raw("</tr>\n");
    }
    out.raw("</table></div>\n");
    more(out, differing.count, differing.listed.len());
    out.raw("</div>\n");
}

fn more(out: &mut Markup, all: u64, shown: usize) {
    let more = all.saturating_sub(shown as u64);
    if more > 0 {
        out.raw("<p class=\"quiet\">and ").number(more).raw(" more</p>\n");
    }
}
