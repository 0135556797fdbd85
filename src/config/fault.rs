//! What is wrong with a configuration: every fault at once, each with path, value, rule and line.
//!
//! [`Sink`] also remembers what was given and where, so that a rule over two keys can blame the one that the operator
//! wrote, and is silent where one of the two is already reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::DeValue;

use crate::domain::ids::SafeText;

/// The largest configuration file in bytes.
pub const FILE_BYTES_MAX: u64 = 1_048_576;
/// Bytes of a value, or of one unknown key, that a report repeats.
const SHOWN_BYTES_MAX: usize = 64;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where: `breaker[1].error_rate.rules[0].within`, or the name of an environment variable.
    pub path: String,
    /// What was given, cut and made safe to print; empty for a table.
    pub value: String,
    /// What is wrong with it and what would be right.
    pub rule: String,
    /// The line in the file, from 1; none for the environment and for what is not written anywhere.
    pub line: Option<usize>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        if !self.value.is_empty() {
            write!(f, "`{}` ", self.value)?;
        }
        f.write_str(&self.rule)
    }
}

/// Everything that is wrong with a configuration, in the order of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// At least one.
    pub faults: Vec<Fault>,
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.faults.iter().enumerate() {
            let line_end = if i == 0 { "" } else { "\n" };
            write!(f, "{line_end}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FaultReport {}

impl FaultReport {
    /// The report on a text that is no TOML; it has one fault, as nothing behind it can be trusted.
    pub(super) fn of_syntax(text: &str, error: &toml::de::Error) -> Self {
        let at = error.span().map_or(text.len(), |span| span.start);
        let lines = Lines::of(text);
        let fault = Fault {
            path: String::new(),
            value: shown(lines.text_of(at).trim()),
            rule: format!("is no valid TOML: {}", shown_at_most(error.message(), 256)),
            line: Some(lines.number(at)),
        };
        Self { faults: vec![fault] }
    }
}

/// Why a file gives no configuration.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be opened or read as UTF-8 text.
    #[error("cannot read the configuration `{}`: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It is larger than any configuration should be.
    #[error("configuration `{}` is larger than {FILE_BYTES_MAX} bytes, at most that many are read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It was read, and there are faults in it.
    #[error("configuration `{}` has {} faults, nothing of it is used\n{report}", path.display(), report.faults.len())]
    Faulty {
        /// The file.
        path: PathBuf,
        /// All of them.
        report: FaultReport,
    },
}

/// A value, where it stands and what it is called in a report.
#[derive(Clone)]
pub(super) struct Place<'a> {
    /// Its dotted path.
    pub(super) path: String,
    /// What is there.
    pub(super) value: &'a DeValue<'a>,
    span: Option<Range<usize>>,
}

impl<'a> Place<'a> {
    pub(super) fn in_file(path: String, value: &'a Spanned<DeValue<'a>>) -> Self {
        Self { path, value: value.get_ref(), span: Some(value.span()) }
    }

    pub(super) const fn in_environment(path: String, value: &'a DeValue<'a>) -> Self {
        Self { path, value, span: None }
    }
}

/// What is remembered of a given key.
#[derive(Clone)]
struct Mark {
    path: String,
    value: String,
    line: Option<usize>,
}

/// Collects faults and what was given.
pub(super) struct Sink<'a> {
    lines: Lines<'a>,
    faults: Vec<Fault>,
    /// Paths whose value could not be read; what depends on them is not judged.
    faulty: BTreeSet<String>,
    /// Paths whose value is at odds with another one.
    blamed: BTreeSet<String>,
    given: BTreeMap<String, Mark>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            lines: Lines::of(text),
            faults: vec![],
            faulty: BTreeSet::new(),
            blamed: BTreeSet::new(),
            given: BTreeMap::new(),
        }
    }

    /// Remembers that `key` was given at `place`.
    pub(super) fn mark(&mut self, key: &str, place: &Place<'_>) {
        let mark = Mark { path: place.path.clone(), value: self.text_of(place), line: self.line_of(place) };
        self.given.insert(key.to_owned(), mark);
    }

    pub(super) fn fault(&mut self, place: &Place<'_>, rule: String) {
        let (value, line) = (self.text_of(place), self.line_of(place));
        self.faulty.insert(place.path.clone());
        self.faults.push(Fault { path: place.path.clone(), value, rule, line });
    }

    /// Reports a key that nobody knows; what is wrong is the key, not its value.
    pub(super) fn unknown_key(&mut self, path: &str, key: &Spanned<toml::de::DeString<'_>>, rule: String) {
        let line = Some(self.lines.number(key.span().start));
        self.faulty.insert(path.to_owned());
        self.faults.push(Fault { path: path.to_owned(), value: shown(key.get_ref()), rule, line });
    }

    /// Reports a value that could be read and is at odds with another one.
    pub(super) fn fault_at(&mut self, key: &str, rule: String) {
        let fault = match self.given.get(key).cloned() {
            Some(Mark { path, value, line }) => Fault { path, value, rule, line },
            None => Fault { path: key.to_owned(), value: String::new(), rule, line: None },
        };
        self.blamed.insert(key.to_owned());
        self.faults.push(fault);
    }

    /// Whether `key` is at odds with another one.
    pub(super) fn is_blamed(&self, key: &str) -> bool {
        self.blamed.contains(key)
    }

    pub(super) fn is_given(&self, key: &str) -> bool {
        self.given.contains_key(key)
    }

    /// Whether `path` or anything below it could not be read.
    pub(super) fn is_faulty(&self, path: &str) -> bool {
        let same_start = self.faulty.range(path.to_owned()..).take_while(|faulty| faulty.starts_with(path));
        let mut rests = same_start.filter_map(|faulty| faulty.get(path.len()..));
        rests.any(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// Whether `path` could not be read as a whole.
    pub(super) fn is_faulty_itself(&self, path: &str) -> bool {
        self.faulty.contains(path)
    }

    pub(super) fn fault_count(&self) -> usize {
        self.faults.len()
    }

    /// The report, in the order of the lines; nothing where there is no fault.
    pub(super) fn into_report(mut self) -> Option<FaultReport> {
        self.faults.sort_by(|a, b| (a.line, &a.path).cmp(&(b.line, &b.path)));
        (!self.faults.is_empty()).then_some(FaultReport { faults: self.faults })
    }

    fn line_of(&self, place: &Place<'_>) -> Option<usize> {
        place.span.as_ref().map(|span| self.lines.number(span.start))
    }

    fn text_of(&self, place: &Place<'_>) -> String {
        match place.value {
            DeValue::String(text) => shown(text),
            DeValue::Integer(number) => shown(&number.to_string()),
            DeValue::Float(number) => shown(number.as_str()),
            DeValue::Boolean(flag) => flag.to_string(),
            DeValue::Datetime(moment) => moment.to_string(),
            DeValue::Array(_) | DeValue::Table(_) => self.source_of(place),
        }
    }

    /// The source of a list or an inline table; a table under a header has none that is short.
    fn source_of(&self, place: &Place<'_>) -> String {
        let source = place.span.clone().and_then(|span| self.lines.text.get(span)).unwrap_or_default();
        let is_inline = source.starts_with('{') || (source.starts_with('[') && place.value.is_array());
        let is_header = place.value.as_array().is_some_and(|list| list.iter().any(|one| self.is_header_table(one)));
        if is_inline && !is_header { shown(source) } else { String::new() }
    }

    fn is_header_table(&self, value: &Spanned<DeValue<'_>>) -> bool {
        let source = self.lines.text.get(value.span()).unwrap_or_default();
        value.get_ref().is_table() && !source.starts_with('{')
    }
}

/// Cuts and cleans what an operator wrote, so that a report is one line a fault.
fn shown(text: &str) -> String {
    shown_at_most(text, SHOWN_BYTES_MAX)
}

/// As [`SafeText::cut`], with every run of white space and line ends one space and no backticks.
fn shown_at_most(text: &str, max: usize) -> String {
    let mut joined = String::new();
    for word in text.split_whitespace() {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
        if joined.len() > max {
            break; // `cut` drops the rest; a megabyte of it need not be copied
        }
    }
    SafeText::cut(&joined, max).as_str().replace('`', "'")
}

/// One segment of a path: bare where TOML takes it bare, else quoted.
pub(super) fn path_segment(key: &str) -> String {
    let is_bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let cut = shown(key);
    if is_bare { cut } else { format!("\"{cut}\"") }
}

/// Where the lines of a text start.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { text, starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    fn number(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    fn text_of(&self, at: usize) -> &'a str {
        let start = self.number(at).checked_sub(1).and_then(|line| self.starts.get(line)).copied().unwrap_or(0);
        self.text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default()
    }
}
