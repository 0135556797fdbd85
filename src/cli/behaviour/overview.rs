//! Many breakers at a glance: a row for each variant, then every difference that is there, and how much cannot be said.

use super::{Said, percent, resolved, share_of, turns, wrapped};
use crate::cli::text::{Paint, Tone, clean, count, pad};
use crate::cli::words::Word as _;
use crate::wire::pb;

/// Columns of a variant's name, which is cut beyond; it stands below its breaker.
const NAME: usize = 18;
const HEADINGS: [&str; 5] = ["TRIPS", "REPEATED", "MATCHED", "RECOVERED", "TURNS"];
/// Columns of each figure, with the blanks before it.
const WIDTHS: [usize; 5] = [8, 17, 17, 11, 9];

/// The breakers in lines.
pub(super) fn draw(breakers: &[pb::BreakerBehaviour], paint: Paint) -> String {
    let mut lines = vec![heading("BREAKER, VARIANT", paint)];
    for of in breakers {
        lines.push(paint.dye(Tone::Strong, &clean(&of.breaker)));
        lines.extend(of.variants.iter().map(row));
    }
    let said = super::differences(breakers, paint);
    if !said.is_empty() {
        lines.push(String::new());
        lines.extend(said);
    }
    lines.push(String::new());
    lines.push(paint.dye(Tone::Quiet, "one in full: `tripnote behaviour --breaker CODE`"));
    lines.join("\n")
}

/// One breaker's variants apart by signal.
pub(super) fn by_signal(variants: &[pb::VariantBehaviour], paint: Paint) -> String {
    let mut sorted: Vec<&pb::VariantBehaviour> = variants.iter().collect();
    sorted.sort_by_key(|of| of.signal); // which keeps the order of variants
    let mut lines = vec![heading("SIGNAL, VARIANT", paint)];
    let mut last = None;
    for of in sorted {
        if last != Some(of.signal) {
            lines.push(paint.dye(Tone::Strong, &of.signal().word()));
            last = Some(of.signal);
        }
        lines.push(row(of));
    }
    lines.join("\n")
}

fn heading(name: &str, paint: Paint) -> String {
    paint.dye(Tone::Quiet, &format!("{}{}", pad(name, NAME), cells(HEADINGS.map(ToOwned::to_owned))))
}

fn row(of: &pb::VariantBehaviour) -> String {
    let ends = of.resolutions.unwrap_or_default();
    let name = pad(&format!("  {}", clean(&of.variant)), NAME);
    let figures = [
        of.trips.to_string(),
        share(&of.repeat_rate.unwrap_or_default()),
        share(&of.first_action_match.unwrap_or_default()),
        share_of(ends.recovered, resolved(&ends)),
        turns(&of.turns_to_recovery.clone().unwrap_or_default()),
    ];
    format!("{name}{}", cells(figures))
}

fn cells(figures: [String; 5]) -> String {
    figures.iter().zip(WIDTHS).map(|(figure, width)| format!("{figure:>width$}")).collect()
}

/// `43.2% (38-49)`, the interval rounded outwards.
fn share(share: &pb::Share) -> String {
    match share.value {
        None => percent(None),
        value => format!("{} ({:.0}-{:.0})", percent(value), (share.low * 100.0).floor(), (share.high * 100.0).ceil()),
    }
}

/// The differences of one breaker, and in one line how many comparisons say nothing of the kind.
pub(super) fn told(of: &pb::BreakerBehaviour, paint: Paint) -> Vec<String> {
    let breaker = clean(&of.breaker);
    let told = |said: Said, text: &str| paint.dye(said.tone(), &wrapped(&format!("{breaker}: {text}"), 2));
    let of_kind = |due: Said| of.comparisons.iter().filter(move |comparison| Said::of(comparison.verdict()) == due);
    let mut lines: Vec<String> =
        of_kind(Said::Difference).map(|comparison| told(Said::Difference, &clean(&comparison.text))).collect();
    let others = [(Said::Same, "no difference is seen in"), (Said::Nothing, "not enough trips yet for")];
    let others = others.map(|(said, words)| (words, u64::try_from(of_kind(said).count()).unwrap_or(u64::MAX)));
    let others = others.iter().filter(|(_, n)| *n > 0).map(|(words, n)| format!("{words} {}", count(*n, "comparison")));
    let others = others.collect::<Vec<_>>().join(", ");
    if !others.is_empty() {
        lines.push(told(Said::Nothing, &others));
    }
    lines
}
