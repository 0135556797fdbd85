//! Text for people: colours where there is a terminal, tables, waits and times of day. Knows no wire and no command.

use std::fmt::Write as _;
use std::io::IsTerminal;

use chrono::DateTime;

use crate::domain::ids::SafeText;

/// Columns of a table cell; a longer one is cut on a terminal only.
const CELL_COLUMNS_MAX: usize = 56;
/// Times further away than this carry their date, as in a contract.
const DATED_AFTER_MS: u64 = 12 * 3_600_000;

/// What a colour says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// It works, or works again.
    Good,
    /// It failed or is shut.
    Bad,
    /// It was refused, or is on the way back.
    Warn,
    /// An operator did it.
    Held,
    /// It matters.
    Strong,
    /// It is there to be looked up.
    Quiet,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Bad => "31",
            Self::Warn => "33",
            Self::Held => "35",
            Self::Strong => "1",
            Self::Quiet => "2",
        }
    }
}

/// Whether text may be coloured and cut for a person's eyes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Paint {
    is_terminal: bool,
    is_coloured: bool,
}

impl Paint {
    /// As fits `stream`: colours on a terminal, unless `NO_COLOR` is set to anything.
    pub(super) fn of(stream: &impl IsTerminal) -> Self {
        let is_terminal = stream.is_terminal();
        let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { is_terminal, is_coloured: is_terminal && !is_refused }
    }

    /// `text` in the colour of `tone`.
    pub(super) fn dye(self, tone: Tone, text: &str) -> String {
        if self.is_coloured && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", tone.code())
        } else {
            text.to_owned()
        }
    }
}

/// One cell: its text and, where it has one, its colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    text: String,
    tone: Option<Tone>,
}

impl Cell {
    /// In the colour of `tone`.
    pub(super) fn in_tone(tone: Tone, text: &str) -> Self {
        Self { tone: Some(tone), ..Self::from(text) }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: clean(text.as_ref()), tone: None }
    }
}

/// Rows under headings, each column as wide as it needs; a column in which nothing stands is left out.
#[derive(Debug)]
pub(super) struct Table<const N: usize> {
    headings: [&'static str; N],
    rows: Vec<[Cell; N]>,
}

impl<const N: usize> Table<N> {
    /// A table without rows.
    pub(super) const fn of(headings: [&'static str; N]) -> Self {
        Self { headings, rows: Vec::new() }
    }

    /// Adds a row at the end.
    pub(super) fn push(&mut self, row: [Cell; N]) {
        self.rows.push(row);
    }

    /// The lines, without a line end behind the last.
    pub(super) fn draw(&self, paint: Paint) -> String {
        let cut = |cell: &Cell| if paint.is_terminal { fit(&cell.text, CELL_COLUMNS_MAX) } else { cell.text.clone() };
        let rows: Vec<[(String, Option<Tone>); N]> =
            self.rows.iter().map(|row| row.each_ref().map(|cell| (cut(cell), cell.tone))).collect();
        let mut widths = [0_usize; N];
        for row in &rows {
            for (width, (text, _)) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(text));
            }
        }
        for (width, heading) in widths.iter_mut().zip(self.headings).filter(|(width, _)| **width > 0) {
            *width = (*width).max(columns(heading));
        }
        let headings = self.headings.map(|heading| (heading.to_owned(), Some(Tone::Quiet)));
        let lines = std::iter::once(&headings).chain(&rows).map(|row| line(row, &widths, paint));
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn line<const N: usize>(row: &[(String, Option<Tone>); N], widths: &[usize; N], paint: Paint) -> String {
    let mut line = String::new();
    let mut blanks = 0;
    for ((text, tone), width) in row.iter().zip(widths).filter(|(_, width)| **width > 0) {
        line.extend(std::iter::repeat_n(' ', if text.is_empty() { 0 } else { blanks }));
        line.push_str(&tone.map_or_else(|| text.clone(), |tone| paint.dye(tone, text)));
        // blanks are written only before what follows, so that no line ends in some
        let used = if text.is_empty() { blanks } else { 0 };
        blanks = used + width.saturating_sub(columns(text)) + 2;
    }
    line
}

/// Columns that `text` takes, at one a character.
pub(super) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// `text` in at most `max` columns, with `…` where it was cut.
pub(super) fn fit(text: &str, max: usize) -> String {
    if columns(text) <= max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// `text` in exactly `width` columns.
pub(super) fn pad(text: &str, width: usize) -> String {
    let fitted = fit(text, width);
    let blanks = width.saturating_sub(columns(&fitted));
    format!("{fitted}{}", " ".repeat(blanks))
}

/// `text` without what moves a terminal's cursor or reorders a line.
pub(super) fn clean(text: &str) -> String {
    SafeText::cut(text, usize::MAX).as_str().to_owned()
}

/// `text` as one line: every run of blanks and line ends is one blank.
pub(super) fn one_line(text: &str) -> String {
    clean(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// `1 circuit`, `2 circuits`.
pub(super) fn count(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// A span in its two largest units, rounded up: `250ms`, `40s`, `2m 5s`, `1h 3m`, `2d`.
pub(super) fn span(ms: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
    if ms < 1_000 {
        return format!("{ms}ms");
    }
    let mut seconds = ms.div_ceil(1_000);
    let mut written = String::new();
    let mut parts = 0;
    for (unit, unit_s) in UNITS {
        let n = seconds / unit_s;
        seconds %= unit_s;
        if n > 0 && parts < 2 {
            let blank = if written.is_empty() { "" } else { " " };
            let _ = write!(written, "{blank}{n}{unit}"); // writing to a String cannot fail
        }
        parts += usize::from(n > 0 || parts > 0);
    }
    written
}

/// Milliseconds of a span as the configuration writes it: `500ms`, `30s`, `10m`, `2h`, `1d`.
pub(super) fn parse_span(text: &str) -> Result<u64, String> {
    let rule = "a whole number with its unit is due, such as `500ms`, `30s`, `10m`, `2h` or `1d`";
    crate::config::parse_duration(text).filter(|ms| (1..u64::MAX).contains(ms)).ok_or_else(|| rule.to_owned())
}

/// The UTC time of a deadline: `14:02:10Z`, dated where it is more than 12 hours away. Empty for a time that no calendar
/// has.
pub(super) fn deadline(at: &prost_types::Timestamp, away_ms: u64) -> String {
    let form = if away_ms > DATED_AFTER_MS { "%Y-%m-%dT%H:%M:%SZ" } else { "%H:%M:%SZ" };
    // rounded up as in a contract, so that both name the same second
    let seconds = at.seconds.saturating_add(i64::from(at.nanos > 0));
    DateTime::from_timestamp(seconds, 0).map(|time| time.format(form).to_string()).unwrap_or_default()
}

/// The UTC time of something that happened: `14:02:10.123Z`.
pub(super) fn clock_time(at: &prost_types::Timestamp) -> String {
    in_form(at, "%H:%M:%S%.3fZ")
}

/// A UTC time with its date, as RFC 3339 has it.
pub(super) fn full_time(at: &prost_types::Timestamp) -> String {
    in_form(at, "%Y-%m-%dT%H:%M:%S%.3fZ")
}

fn in_form(at: &prost_types::Timestamp, form: &str) -> String {
    let time = DateTime::from_timestamp(at.seconds, u32::try_from(at.nanos).unwrap_or(0));
    time.map(|time| time.format(form).to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
