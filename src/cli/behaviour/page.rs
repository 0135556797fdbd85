//! One breaker in full: a row for each figure, a column for each variant, then what can be said of their difference.

use super::{Said, interval, percent, resolved, share_of, turns, wrapped};
use crate::cli::text::{Paint, Tone, clean, columns, fit, pad};
use crate::wire::pb;

/// Columns of what a figure is called, and of each variant's figures.
const LABEL: usize = 20;
const FIGURE: usize = 15;
/// Variants beside each other; further ones come below.
const BESIDE: usize = (super::WIDTH - LABEL) / FIGURE;

/// The breaker in lines.
pub(super) fn draw(of: &pb::BreakerBehaviour, paint: Paint) -> String {
    let mut blocks: Vec<String> =
        of.variants.chunks(BESIDE).map(|variants| block(&of.breaker, variants, paint)).collect();
    let mut signals: Vec<pb::Signal> = of.by_signal.iter().map(pb::VariantBehaviour::signal).collect();
    signals.sort_unstable();
    signals.dedup();
    if signals.len() > 1 {
        blocks.push(super::overview::by_signal(&of.by_signal, paint));
    }
    let mut said: Vec<(Said, &str)> =
        of.comparisons.iter().map(|comparison| (Said::of(comparison.verdict()), comparison.text.as_str())).collect();
    said.sort_by_key(|(said, _)| *said); // what says most comes first
    if !said.is_empty() {
        let lines = said.into_iter().map(|(said, text)| paint.dye(said.tone(), &wrapped(&clean(text), 2)));
        blocks.push(lines.collect::<Vec<_>>().join("\n"));
    }
    blocks.join("\n\n")
}

fn block(breaker: &str, variants: &[pb::VariantBehaviour], paint: Paint) -> String {
    let names: Vec<String> = variants.iter().map(|of| fit(&clean(&of.variant), FIGURE - 1)).collect();
    let breaker = clean(breaker);
    // a long code has a line of its own
    let (title, label) = if columns(&breaker) < LABEL {
        (String::new(), paint.dye(Tone::Strong, &pad(&breaker, LABEL)))
    } else {
        (format!("{}\n", paint.dye(Tone::Strong, &breaker)), " ".repeat(LABEL))
    };
    let mut lines = vec![format!("{title}{label}{}", paint.dye(Tone::Quiet, &cells(&names)))];
    for (label, weight, figure) in ROWS {
        let figures: Vec<String> = variants.iter().map(figure).collect();
        if figures.iter().all(String::is_empty) {
            continue;
        }
        let line = format!("{}{}", pad(label, LABEL), cells(&figures));
        lines.push(match weight {
            Weight::Main => paint.dye(Tone::Strong, &line),
            Weight::Part => line,
        });
    }
    lines.join("\n")
}

fn cells(figures: &[String]) -> String {
    figures.iter().map(|figure| format!("{figure:>FIGURE$}")).collect()
}

/// Whether a figure is what one looks for, or stands below such a one.
#[derive(Clone, Copy, Debug)]
enum Weight {
    Main,
    Part,
}

type Row = (&'static str, Weight, fn(&pb::VariantBehaviour) -> String);

/// The figures. One that no variant has is left out.
const ROWS: [Row; 20] = [
    ("trips told", Weight::Main, |of| of.trips.to_string()),
    ("  concluded", Weight::Part, |of| of.concluded.to_string()),
    ("  in sessions", Weight::Part, |of| of.sessions.to_string()),
    ("repeat rate", Weight::Main, |of| percent(of.repeat_rate.and_then(|share| share.value))),
    ("  95% interval", Weight::Part, |of| interval(&of.repeat_rate.unwrap_or_default())),
    ("  as if independent", Weight::Part, |of| effective(&of.repeat_rate.unwrap_or_default())),
    ("  calls repeated", Weight::Part, |of| of.repeats.to_string()),
    ("first-action match", Weight::Main, |of| percent(of.first_action_match.and_then(|share| share.value))),
    ("  95% interval", Weight::Part, |of| interval(&of.first_action_match.unwrap_or_default())),
    ("  as if independent", Weight::Part, |of| effective(&of.first_action_match.unwrap_or_default())),
    ("  first: the repeat", Weight::Part, |of| share_of(first(of).repeat, of.concluded)),
    ("  first: another", Weight::Part, |of| share_of(first(of).other, of.concluded)),
    ("  first: none", Weight::Part, |of| share_of(first(of).none, of.concluded)),
    ("ignored", Weight::Main, |of| share_of(of.ignored_trips, of.concluded)),
    ("  ignoring calls", Weight::Part, |of| of.ignored.to_string()),
    ("recovered", Weight::Main, |of| share_of(ends(of).recovered, resolved(&ends(of)))),
    ("  of trips resolved", Weight::Part, |of| resolved(&ends(of)).to_string()),
    ("turns to recovery", Weight::Main, |of| turns(&of.turns_to_recovery.clone().unwrap_or_default())),
    ("told to halt", Weight::Main, |of| some(of.halted_sessions)),
    ("  false halts", Weight::Part, |of| if of.halted_sessions > 0 { of.false_halts.to_string() } else { some(0) }),
];

fn first(of: &pb::VariantBehaviour) -> pb::FirstActions {
    of.first_actions.unwrap_or_default()
}

fn ends(of: &pb::VariantBehaviour) -> pb::Resolutions {
    of.resolutions.unwrap_or_default()
}

fn effective(share: &pb::Share) -> String {
    format!("{:.0}", share.effective_trips)
}

fn some(n: u64) -> String {
    if n == 0 { String::new() } else { n.to_string() }
}
