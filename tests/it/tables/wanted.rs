//! What a table expects of an answer: a verdict, words that must be said, fields that must have a value. What is not
//! mentioned is not compared.

use super::fact::{Fact, Value};
use super::tokens::{Reader, Token, parse_span, span};

/// One or several answers of a step.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) count: Count,
    verdict: String,
    words: Vec<String>,
    fields: Vec<(String, String)>,
}

/// How many answers a run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// All answers of the step where it is the only run, else one.
    Open,
    /// So many in a row.
    Exactly(usize),
    /// So many of all, in any order.
    Among(usize, usize),
}

const SPANS: [&str; 4] = ["retry", "until", "for", "hint"];
const TEXTS: [&str; 26] = [
    "observed",
    "threshold",
    "state",
    "do_not",
    "fallback",
    "also",
    "gen",
    "bytes",
    "facts",
    "breaker",
    "target",
    "level",
    "failed",
    "probes",
    "held",
    "scope",
    "from",
    "to",
    "owner",
    "version",
    "circuits",
    "holds",
    "left",
    "faults",
    "field",
    "rule",
];

/// `3x counted, tripped error_rate until 10s`; `20..40 of probe, 60..80 of refused`.
pub(super) fn runs(reader: &mut Reader) -> Result<Vec<Run>, String> {
    let mut runs = vec![run(reader)?];
    while reader.takes_mark(&Token::Comma) {
        runs.push(run(reader)?);
    }
    Ok(runs)
}

fn run(reader: &mut Reader) -> Result<Run, String> {
    let mut run = Run { count: Count::Open, verdict: String::new(), words: vec![], fields: vec![] };
    let first = match reader.times() {
        Some(times) => {
            run.count = Count::Exactly(times);
            reader.value("a verdict")?
        }
        None => reader.value("a verdict")?,
    };
    run.verdict = if reader.takes("of") {
        let (low, high) = first.split_once("..").unwrap_or((&first, &first));
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
        run.count = Count::Among(number(low)?, number(high)?);
        reader.value("a verdict")?
    } else {
        first
    };
    while !reader.is_at_end() {
        let word = reader.value("a word")?;
        let is_field = SPANS.contains(&word.as_str()) || TEXTS.contains(&word.as_str());
        if is_field {
            let value = reader.value(&format!("what follows `{word}`"))?;
            run.fields.push((word, value));
        } else {
            run.words.push(word);
        }
    }
    Ok(run)
}

impl Run {
    /// Whether an answer is as it should be.
    pub(super) fn fits(&self, fact: &Fact) -> bool {
        self.verdict == fact.verdict
            && self.words.iter().all(|word| fact.words.contains(word))
            && self
                .fields
                .iter()
                .all(|(name, wanted)| fact.fields.iter().any(|(own, value)| own == name && fits(wanted, value)))
    }
}

fn fits(wanted: &str, value: &Value) -> bool {
    let ms = match value {
        Value::Text(text) => return text == wanted,
        Value::Span(None) => return wanted == "none",
        Value::Span(Some(ms)) => *ms,
    };
    match wanted.split_once("..") {
        Some((low, high)) => {
            parse_span(low).is_some_and(|low| low <= ms) && parse_span(high).is_some_and(|high| ms <= high)
        }
        None => parse_span(wanted) == Some(ms),
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.count {
            Count::Among(low, high) => write!(f, "{low}..{high} of ")?,
            Count::Open | Count::Exactly(_) => {}
        }
        f.write_str(&self.verdict)?;
        self.words.iter().try_for_each(|word| write!(f, " {word}"))?;
        self.fields.iter().try_for_each(|(name, value)| match parse_span(value) {
            Some(ms) if SPANS.contains(&name.as_str()) => write!(f, " {name} {}", span(ms)),
            _ if value.contains([' ', ',']) || value.is_empty() => write!(f, " {name} \"{value}\""),
            _ => write!(f, " {name} {value}"),
        })
    }
}

/// What is wrong with the answers of a step, a line each.
pub(super) fn compare(runs: &[Run], facts: &[Fact]) -> Vec<String> {
    if runs.iter().any(|run| matches!(run.count, Count::Among(..))) {
        return compare_tally(runs, facts);
    }
    let is_one_for_all = matches!(runs, [Run { count: Count::Open, .. }]) && !facts.is_empty();
    let each = |run: &Run| match run.count {
        Count::Exactly(times) => times,
        Count::Open | Count::Among(..) if is_one_for_all => facts.len(),
        Count::Open | Count::Among(..) => 1,
    };
    let wanted: Vec<&Run> = runs.iter().flat_map(|run| std::iter::repeat_n(run, each(run))).collect();
    let mut wrong = Vec::new();
    for at in 0..wanted.len().max(facts.len()) {
        let nth = if facts.len() > 1 { format!(" ({} of {})", at + 1, facts.len()) } else { String::new() };
        match (wanted.get(at), facts.get(at)) {
            (Some(run), Some(fact)) if run.fits(fact) => {}
            (run, fact) => {
                let run = run.map_or_else(|| "nothing more".to_owned(), ToString::to_string);
                let fact = fact.map_or_else(|| "nothing more".to_owned(), ToString::to_string);
                wrong.push(format!("{nth}\n    wanted  {run}\n    got     {fact}"));
            }
        }
    }
    wrong
}

fn compare_tally(runs: &[Run], facts: &[Fact]) -> Vec<String> {
    let mut wrong: Vec<String> = Vec::new();
    for run in runs {
        let found = facts.iter().filter(|fact| run.fits(fact)).count();
        let is_fitting = matches!(run.count, Count::Among(low, high) if (low..=high).contains(&found));
        if !is_fitting {
            wrong.push(format!("\n    wanted  {run}\n    got     {found} of them"));
        }
    }
    let stray = facts.iter().find(|fact| !runs.iter().any(|run| run.fits(fact)));
    wrong.extend(stray.map(|fact| format!("\n    wanted  none but these\n    got     {fact}")));
    wrong
}
