//! As much of PromQL as the lints read: selectors, and the functions about them.

use std::collections::BTreeSet;

/// One matcher of a selector.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matcher {
    pub(super) label: String,
    pub(super) sign: String,
    pub(super) value: String,
}

/// A metric as an expression names it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Selector {
    pub(super) metric: String,
    pub(super) matchers: Vec<Matcher>,
    /// What stands in brackets behind it; empty for none.
    pub(super) range: String,
    /// The function whose argument it is; empty for none.
    pub(super) within: String,
}

const KEYWORDS: [&str; 14] = [
    "by",
    "without",
    "on",
    "ignoring",
    "group_left",
    "group_right",
    "and",
    "or",
    "unless",
    "bool",
    "offset",
    "inf",
    "nan",
    "atan2",
];

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == ':'
}

/// Words of an expression that are neither in quotes nor in braces, each with what follows it.
fn words(expr: &str) -> Vec<(usize, &str, &str)> {
    let (mut found, mut rest, mut start) = (vec![], expr, 0);
    let (mut depth, mut is_quoted) = (0_i32, false);
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()).max(c.len_utf8());
        let (word, after) = rest.split_at(length);
        match c {
            '\\' if is_quoted => {
                (rest, start) = (&rest[2..], start + 2);
                continue;
            }
            '"' => is_quoted = !is_quoted,
            '{' | '[' if !is_quoted => depth += 1,
            '}' | ']' if !is_quoted => depth -= 1,
            _ if !is_quoted && depth == 0 && (c.is_ascii_alphabetic() || c == '_') => found.push((start, word, after)),
            _ => {}
        }
        (rest, start) = (after, start + length);
    }
    found
}

/// The functions and aggregations of an expression.
pub(super) fn functions(expr: &str) -> BTreeSet<&str> {
    let is_call = |after: &str| {
        let after = after.trim_start();
        after.starts_with('(') || after.starts_with("by ") || after.starts_with("by(")
    };
    let called = words(expr).into_iter().filter(|(_, word, after)| !KEYWORDS.contains(word) && is_call(after));
    called.map(|(_, word, _)| word).collect()
}

/// The lists of labels behind `by`, `on` and their kin.
pub(super) fn grouped(expr: &str) -> BTreeSet<&str> {
    let lists = words(expr)
        .into_iter()
        .filter(|(_, word, _)| ["by", "on", "group_left", "group_right", "without", "ignoring"].contains(word));
    lists
        .filter_map(|(_, _, after)| after.trim_start().strip_prefix('(')?.split(')').next())
        .flat_map(|list| list.split(',').map(str::trim))
        .filter(|label| !label.is_empty())
        .collect()
}

/// The selectors of an expression, in order.
pub(super) fn selectors(expr: &str) -> Vec<Selector> {
    let groups = grouped(expr);
    let called = functions(expr);
    let is_metric =
        |word: &str| word.contains(['_', ':']) && !called.contains(word) || ["up", "ALERTS"].contains(&word);
    words(expr)
        .into_iter()
        .filter(|(_, word, _)| !KEYWORDS.contains(word) && !groups.contains(word) && is_metric(word))
        .map(|(at, word, after)| selector(expr, at, word, after))
        .collect()
}

fn selector(expr: &str, at: usize, word: &str, after: &str) -> Selector {
    let (inside, after) = match after.strip_prefix('{') {
        Some(rest) => rest.split_at(rest.find('}').unwrap()),
        None => ("", after),
    };
    let range = after.trim_start_matches('}').strip_prefix('[').and_then(|rest| rest.split(']').next());
    let before = expr[..at].strip_suffix('(').unwrap_or_default();
    let within = &before[before.rfind(|c: char| !is_word(c)).map_or(0, |end| end + 1)..];
    let matchers = inside.split("\",").filter(|part| !part.trim().is_empty()).map(|part| {
        let (head, value) = part.split_once('"').unwrap();
        let label: String = head.trim().chars().take_while(|c| is_word(*c)).collect();
        let sign = head.trim()[label.len()..].to_owned();
        Matcher { label, sign, value: value.trim_end().trim_end_matches('"').to_owned() }
    });
    Selector {
        metric: word.to_owned(),
        matchers: matchers.collect(),
        range: range.unwrap_or_default().to_owned(),
        within: if ["rate", "irate", "increase", "changes"].contains(&within) {
            within.to_owned()
        } else {
            String::new()
        },
    }
}

#[test]
fn selectors_are_read_with_what_is_about_them() {
    let expr = r#"sum by (le, breaker) (rate(a_b_bucket{x="1", le=~"3(\\.0)?"}[5m])) / on (breaker) max by (breaker) (c_d{}) or up"#;
    let found = selectors(expr);
    let names: Vec<(&str, &str, &str)> =
        found.iter().map(|one| (one.metric.as_str(), one.range.as_str(), one.within.as_str())).collect();
    assert_eq!(names, [("a_b_bucket", "5m", "rate"), ("c_d", "", ""), ("up", "", "")]);
    let matchers: Vec<(&str, &str, &str)> =
        found[0].matchers.iter().map(|one| (one.label.as_str(), one.sign.as_str(), one.value.as_str())).collect();
    assert_eq!(matchers, [("x", "=", "1"), ("le", "=~", r"3(\\.0)?")]);
    assert_eq!(functions(expr), BTreeSet::from(["max", "rate", "sum"]));
    assert_eq!(grouped(expr), BTreeSet::from(["breaker", "le"]));
}
