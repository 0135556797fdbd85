//! A replay as one page for a browser: no script, nothing that is fetched, every name escaped. Holds figures and names of
//! tools, sessions, files and policies; never arguments or results.

mod markup;
mod part;
mod plot;

use self::markup::Markup;
use super::course::Word;
use super::figures::Figures;
use super::{Replayed, SHOWN_MAX};

const STYLE: &str = include_str!("style.css");
/// The page may fetch and run nothing, whatever got into it.
const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>tripnote replay</title>\n<style>\n";

/// The page.
#[must_use]
pub fn page(replayed: &Replayed) -> String {
    let mut out = Markup::default();
    out.raw(HEAD).raw(STYLE).raw("</style>\n</head>\n<body>\n");
    title(&mut out, replayed);
    for (name, figures) in &replayed.policies {
        tiles(&mut out, replayed, name, figures);
    }
    if replayed.first().is_some_and(|figures| figures.calls > 0 || figures.sessions.all() > 0) {
        body(&mut out, replayed);
    }
    skipped(&mut out, replayed);
    out.raw("</body>\n</html>\n");
    out.into_string()
}

/// Everything that there is only where something was played.
fn body(out: &mut Markup, replayed: &Replayed) {
    section(out, "Sessions by guard", "Sessions in which a guard would have spoken, by what became of the work.");
    columns(out, replayed, part::guards);
    let note = "The first word of a guard in a session, by the part of its calls that it came in.";
    section(out, "When guards speak first", note);
    columns(out, replayed, part::spoke_first);
    section(out, "Calls of a session", "How long the sessions are.");
    if let Some(figures) = replayed.first() {
        out.raw("<div class=\"card\">\n");
        part::lengths(out, figures);
        out.raw("</div>\n");
    }
    let note = "What the recorded models, who never saw a contract, did where one would have been told. Shares are of trips of \
        which it is known, with their 95 % intervals; steps are median and quartiles.";
    section(out, "After a guard's word", note);
    each(out, replayed, "stack", part::after); // too wide to stand side by side
    section(out, "Tools", "Those that a guard spoke to most often, then those that were called most often.");
    columns(out, replayed, part::tools);
    if replayed.policies.len() > 1 {
        section(out, "Where the policies differ", "Sessions in which they say different things.");
        part::differing(out, replayed);
    }
    section(out, "Sessions in which a guard speaks", "The first of them, in the order of the recordings.");
    columns(out, replayed, part::listed);
}

fn title(out: &mut Markup, replayed: &Replayed) {
    let (sessions, calls) = replayed.first().map_or((0, 0), |figures| (figures.sessions.all(), figures.calls));
    out.raw("<h1>tripnote replay</h1>\n<p class=\"quiet\">").number(sessions).raw(" recorded sessions with ");
    out.number(calls)
        .raw(" calls, played through the engine of the service in virtual time. The recorded model never saw ");
    out.raw("what the guards say here.</p>\n");
    if sessions == 0 {
        out.raw("<p class=\"bad\">No session could be read.</p>\n");
    }
}

fn section(out: &mut Markup, name: &str, note: &str) {
    out.element("h2", name).raw("\n<p class=\"quiet\">").text(note).raw("</p>\n");
}

/// A part of the page that is made of the figures of one policy, beside those of all.
type OfPolicy = fn(&mut Markup, &Replayed, &Figures);

/// The same part for each policy, side by side where there are two.
fn columns(out: &mut Markup, replayed: &Replayed, part: OfPolicy) {
    each(out, replayed, "columns", part);
}

fn each(out: &mut Markup, replayed: &Replayed, class: &str, part: OfPolicy) {
    out.raw("<div class=\"").raw(class).raw("\">\n");
    for (name, figures) in &replayed.policies {
        out.raw("<div class=\"card\">\n");
        if replayed.policies.len() > 1 {
            out.element("h3", name).raw("\n");
        }
        part(out, replayed, figures);
        out.raw("</div>\n");
    }
    out.raw("</div>\n");
}

fn tiles(out: &mut Markup, replayed: &Replayed, name: &str, figures: &Figures) {
    if replayed.policies.len() > 1 {
        out.element("h2", name).raw("\n");
    }
    out.raw("<div class=\"tiles\">\n");
    let sessions = figures.sessions;
    tile(out, "sessions", sessions.all(), None);
    tile(out, "successful", sessions.successful, Some((sessions.successful, sessions.all())));
    for word in Word::ALL {
        let all = figures.told.at(*word).all();
        tile(out, word.word(), all, Some((all, sessions.all())));
    }
    let halted = figures.false_halts();
    out.raw("<div class=\"tile\"><b").raw(if halted > 0 { " class=\"bad\">" } else { ">" }).number(halted);
    out.raw("</b><span>false halts: halted, yet successful</span></div>\n</div>\n");
}

/// A figure, and which share of a whole it is.
fn tile(out: &mut Markup, name: &str, count: u64, share: Option<(u64, u64)>) {
    out.raw("<div class=\"tile\"><b>").number(count).raw("</b><span>").text(name);
    let tenths = share.and_then(|(part, whole)| (part.saturating_mul(1_000) + whole / 2).checked_div(whole));
    if let Some(tenths) = tenths {
        out.raw(", ").number(tenths / 10).raw(".").number(tenths % 10).raw("&nbsp;%");
    }
    out.raw("</span></div>\n");
}

fn skipped(out: &mut Markup, replayed: &Replayed) {
    let faults = &replayed.faults;
    if faults.count == 0 {
        return;
    }
    section(out, "What could not be read", "");
    out.raw("<div class=\"card\"><p>").number(faults.count).raw(" in all");
    if faults.count > faults.shown.len() as u64 {
        out.raw(", of which the first ").number(SHOWN_MAX);
    }
    out.raw(":</p>\n<pre>");
    for fault in &faults.shown {
        out.text(&fault.to_string()).raw("\n");
    }
    out.raw("</pre></div>\n");
}
