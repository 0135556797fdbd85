//! Bars in inline SVG: lying ones with names, standing ones over a scale. Knows sizes and classes, not what they count.

use super::markup::Markup;

const WIDTH: f64 = 640.0;
const NAME_WIDTH: f64 = 210.0;
const COUNT_WIDTH: f64 = 48.0;
const ROW_HEIGHT: f64 = 26.0;
const BAR_HEIGHT: f64 = 16.0;
const STAND_HEIGHT: f64 = 180.0;
const SCALE_WIDTH: f64 = 44.0;
const FOOT_HEIGHT: f64 = 38.0;

/// One part of a bar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Its class, and its name in what is shown when somebody points at it.
    pub(super) class: &'static str,
    /// How much.
    pub(super) count: u64,
}

/// A bar of parts.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    /// Its name.
    pub(super) name: String,
    /// In their order.
    pub(super) parts: Vec<Part>,
}

impl Bar {
    fn sum(&self) -> u64 {
        self.parts.iter().map(|part| part.count).sum()
    }
}

/// The largest sum of several plots that are compared; at least 1, so that their scale has an end.
pub(super) fn most(plots: impl Iterator<Item = Vec<Bar>>) -> u64 {
    plots.flatten().map(|bar| bar.sum()).max().unwrap_or(0).max(1)
}

#[expect(clippy::cast_precision_loss, reason = "a plot has no more than some thousand points")]
const fn float(count: u64) -> f64 {
    count as f64
}

/// What the classes stand for.
pub(super) fn legend(out: &mut Markup, classes: &[&'static str]) {
    out.raw("<p class=\"legend\">");
    for class in classes {
        out.raw("<span><i class=\"").raw(class).raw("\"></i>").text(class).raw("</span>");
    }
    out.raw("</p>\n");
}

fn open(out: &mut Markup, title: &str, height: f64) {
    out.raw("<svg role=\"img\" viewBox=\"0 0 ").number(WIDTH).raw(" ").number(height).raw("\" aria-label=\"");
    out.text(title).raw("\">\n");
}

/// A rectangle that says what it is.
fn rectangle(out: &mut Markup, [x, y, width, height]: [f64; 4], part: Part, name: &str) {
    out.raw("<rect class=\"").raw(part.class);
    for (attribute, value) in [("x", x), ("y", y), ("width", width), ("height", height)] {
        out.raw("\" ").raw(attribute).raw("=\"").number(format_args!("{value:.1}"));
    }
    out.raw("\"><title>").text(name).raw(": ").number(part.count).raw(" ").text(part.class).raw("</title></rect>");
}

fn words(out: &mut Markup, [x, y]: [f64; 2], (anchor, class): (&str, &str), text: &str) {
    out.raw("<text x=\"").number(format_args!("{x:.1}")).raw("\" y=\"").number(format_args!("{y:.1}"));
    out.raw("\" text-anchor=\"").raw(anchor).raw("\" class=\"").raw(class).raw("\">").text(text).raw("</text>\n");
}

/// Bars that lie under each other, with their names before and their sums behind. The longest that fits stands for `most`.
pub(super) fn lying(out: &mut Markup, title: &str, bars: &[Bar], most: u64) {
    let most = float(most);
    let room = WIDTH - NAME_WIDTH - COUNT_WIDTH;
    open(out, title, ROW_HEIGHT * float(bars.len() as u64));
    let mut y = 0.0;
    for bar in bars {
        let middle = y + ROW_HEIGHT / 2.0 + 4.0;
        words(out, [NAME_WIDTH - 10.0, middle], ("end", ""), &bar.name);
        let mut x = NAME_WIDTH;
        for part in bar.parts.iter().filter(|part| part.count > 0) {
            let width = room * float(part.count) / most;
            rectangle(out, [x, y + (ROW_HEIGHT - BAR_HEIGHT) / 2.0, width, BAR_HEIGHT], *part, &bar.name);
            x += width;
        }
        words(out, [x + 8.0, middle], ("start", "quiet"), &bar.sum().to_string());
        y += ROW_HEIGHT;
    }
    out.raw("</svg>\n");
}

/// Bars that stand beside each other over their names, with a scale to `most` or a little more; the foot says what the
/// names are.
pub(super) fn standing(out: &mut Markup, [title, foot]: [&str; 2], bars: &[Bar], most: u64) {
    let top = round_up(most);
    let (base, head) = (STAND_HEIGHT, 12.0);
    let step = (WIDTH - SCALE_WIDTH) / float(bars.len().max(1) as u64);
    open(out, title, STAND_HEIGHT + FOOT_HEIGHT);
    for line in [0, top / 2, top] {
        let y = base - (base - head) * float(line) / float(top);
        out.raw("<line x1=\"").number(SCALE_WIDTH).raw("\" x2=\"").number(WIDTH);
        out.raw("\" y1=\"").number(format_args!("{y:.1}")).raw("\" y2=\"").number(format_args!("{y:.1}")).raw("\"/>");
        words(out, [SCALE_WIDTH - 8.0, y + 4.0], ("end", "quiet"), &line.to_string());
    }
    let mut x = SCALE_WIDTH;
    for bar in bars {
        let mut y = base;
        for part in bar.parts.iter().filter(|part| part.count > 0) {
            let height = (base - head) * float(part.count) / float(top);
            y -= height;
            rectangle(out, [x + step * 0.12, y, step * 0.76, height], *part, &bar.name);
        }
        words(out, [x + step / 2.0, base + 16.0], ("middle", "quiet"), &bar.name);
        x += step;
    }
    words(out, [(SCALE_WIDTH + WIDTH) / 2.0, base + 34.0], ("middle", "quiet"), foot);
    out.raw("</svg>\n");
}

/// The next even number of one leading digit, or of two from 10 on, so that half of it is whole.
fn round_up(count: u64) -> u64 {
    let unit = 10_u64.saturating_pow(count.max(1).ilog10().saturating_sub(1));
    count.div_ceil(2 * unit).saturating_mul(2 * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_at_an_even_number_that_is_not_far_off() {
        for (count, end) in [(1, 2), (2, 2), (9, 10), (11, 12), (99, 100), (101, 120), (4_321, 4_400), (9_999, 10_000)]
        {
            assert_eq!(round_up(count), end);
        }
    }
}
