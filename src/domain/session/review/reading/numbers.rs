//! The numbers of an answer: what each is of, and which are no figures at all (list numbers, dates, times, versions).

use super::Reading;
use crate::domain::session::review::fold::is_han;
use crate::domain::session::review::keywords::{Keywords, Marks, WordList};

/// A number that is no list number, date, time or version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub(crate) start: usize,
    /// Behind the number, before its unit.
    pub(crate) end: usize,
    /// The lists of its unit; none: it has no unit.
    pub(crate) unit: Option<Marks>,
    /// It is zero.
    pub(crate) is_zero: bool,
    /// Its clause.
    pub(crate) clause: usize,
}

/// So much of a run of digits is looked at, so that a line of nothing else takes no longer than its length.
const RUN_BYTES_MAX: usize = 48;
/// Chinese digits; a run of them before a unit is a number.
const HAN_DIGITS: &str = "零〇一二三四五六七八九十百千万亿两";
/// The longest of the numerals.
const NUMERAL_BYTES_MAX: usize = 7;
/// English numerals before `percent`.
#[rustfmt::skip] // a list of words reads as a paragraph
const NUMERALS: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "fifteen", "twenty", "thirty",
    "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred",
];
/// Status codes that stand before `errors` as a name, not as a count.
const STATUS_CODES: &[&str] = &["400", "401", "403", "404", "408", "409", "422", "429", "500", "502", "503", "504"];

/// The numbers of a reading whose clauses are known.
pub(super) fn numbers(reading: &Reading, keywords: &Keywords) -> Vec<Number> {
    let mut scan = Scan { reading, keywords, clause: 0, found: Vec::new() };
    let text = reading.text.as_str();
    let mut from = 0;
    for (at, c) in text.char_indices() {
        if at < from {
            continue;
        }
        from = match c {
            '0'..='9' => scan.digits(at),
            'p' if text.get(at..).is_some_and(|rest| rest.starts_with("percent") || rest.starts_with("per cent")) => {
                scan.spelled(at)
            }
            '百' if text.get(at..).is_some_and(|rest| rest.starts_with("百分之")) => scan.hundredths(at),
            _ if is_han(c) && HAN_DIGITS.contains(c) => scan.han(at),
            _ => at,
        };
    }
    scan.found
}

struct Scan<'a> {
    reading: &'a Reading,
    keywords: &'a Keywords,
    clause: usize,
    found: Vec<Number>,
}

impl Scan<'_> {
    fn rest(&self, at: usize) -> &str {
        self.reading.text.get(at..).unwrap_or_default()
    }

    fn last_before(&self, at: usize) -> Option<char> {
        self.reading.text.get(..at).and_then(|before| before.chars().next_back())
    }

    /// Digits and what may stand between them; answers where to go on.
    fn digits(&mut self, start: usize) -> usize {
        let rest = self.rest(start);
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b',' | b':' | b'/' | b'-');
        let run = rest.bytes().take(RUN_BYTES_MAX).take_while(is_part).count();
        let run = rest.get(..run).unwrap_or_default().trim_end_matches(['.', ',', ':', '/', '-']);
        let whole = start + run.len();
        let before = self.last_before(start);
        // `p99`, `v2`, `#7`, and the range of a query: `[5m]`.
        let is_in_word = before.is_some_and(|c| c.is_alphabetic() && !is_han(c) || matches!(c, '_' | '#' | '['));
        if is_in_word || is_moment(run) || run.matches('.').count() > 1 || self.is_list_number(start, run) {
            return whole;
        }
        let part = run.find(['/', '-']).map_or(run, |end| run.get(..end).unwrap_or_default());
        let end = start + part.len();
        if self.rest(end).starts_with(['年', '月', '日', '号', '点', '时']) || self.is_clock(end) {
            return end;
        }
        let mut unit = self.unit_behind(end);
        if unit.is_some_and(|unit| unit.has(WordList::UnitOfCount)) && STATUS_CODES.contains(&part) {
            unit = None; // `500 errors` names a kind of error
        }
        if before.is_some_and(|c| matches!(c, '$' | '€' | '£' | '¥' | '￥')) {
            unit = Some(Marks::of(WordList::UnitOfSize));
        }
        let is_zero = part.bytes().all(|byte| matches!(byte, b'0' | b'.' | b','));
        self.push(Number { start, end, unit, is_zero, clause: 0 });
        end
    }

    /// `fifty percent`.
    fn spelled(&mut self, at: usize) -> usize {
        let before = self.reading.text.get(..at).unwrap_or_default();
        let before = before.strip_suffix([' ', '-']).unwrap_or(before);
        let len = before.bytes().rev().take(NUMERAL_BYTES_MAX + 1).take_while(u8::is_ascii_alphabetic).count();
        let word = before.get(before.len() - len..).unwrap_or_default();
        if NUMERALS.contains(&word) {
            let start = before.len() - word.len();
            let unit = Some(Marks::of(WordList::UnitOfRate));
            self.push(Number { start, end: before.len(), unit, is_zero: false, clause: 0 });
        }
        at + 1
    }

    /// `百分之五十五`, `百分之 55`.
    fn hundredths(&mut self, at: usize) -> usize {
        let start = at + "百分之".len();
        let rest = self.rest(start).trim_start_matches(' ');
        if rest.starts_with(|c: char| c.is_ascii_digit() || HAN_DIGITS.contains(c)) {
            let unit = Some(Marks::of(WordList::UnitOfRate));
            self.push(Number { start: at, end: start, unit, is_zero: false, clause: 0 });
        }
        start
    }

    /// `三百毫秒`. One digit before what is counted is an article: `一个`.
    fn han(&mut self, start: usize) -> usize {
        let rest = self.rest(start);
        let end = start + rest.find(|c| !HAN_DIGITS.contains(c)).unwrap_or(rest.len());
        let is_single = rest.chars().nth(1).is_none_or(|next| !HAN_DIGITS.contains(next));
        if let Some(unit) = self.unit_behind(end)
            && !(is_single && (unit.has(WordList::UnitOfCount) || rest.starts_with('一')))
        {
            self.push(Number { start, end, unit: Some(unit), is_zero: rest.starts_with(['零', '〇']), clause: 0 });
        }
        end
    }

    fn unit_behind(&self, end: usize) -> Option<Marks> {
        let at = if self.rest(end).starts_with(' ') { end + 1 } else { end };
        self.keywords.unit_at(&self.reading.text, at).map(|(_, marks)| marks)
    }

    /// `5pm`, `10 am`.
    fn is_clock(&self, end: usize) -> bool {
        let rest = self.rest(end).trim_start_matches(' ');
        let is_word = |word: &str| {
            rest.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
        };
        is_word("am") || is_word("pm") || is_word("o'clock")
    }

    /// `1.`, `2)` and `3、` at the start of a line.
    fn is_list_number(&self, start: usize, run: &str) -> bool {
        let begins_line = self.reading.text.get(..start).is_some_and(|before| {
            before.trim_end_matches([' ', '#', '-', '(', '>', '|']).chars().next_back().is_none_or(|c| c == '\n')
        });
        let is_marked = self.rest(start + run.len()).starts_with(['.', ')', '、', ':']);
        run.len() <= 3 && begins_line && is_marked && run.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn push(&mut self, number: Number) {
        let clauses = &self.reading.clauses;
        while clauses.get(self.clause).is_some_and(|clause| clause.end <= number.start) {
            self.clause += 1;
        }
        self.found.push(Number { clause: self.clause, ..number });
    }
}

/// A date or a time of day: `2026-09-01`, `14:02:10`, `1/9/2026`.
fn is_moment(run: &str) -> bool {
    let has_time = run.contains(':');
    let mut parts = run.split('-');
    let is_date =
        parts.next().is_some_and(|year| year.len() == 4) && parts.next().is_some_and(|month| month.len() == 2);
    has_time || is_date || run.matches('/').count() == 2
}
