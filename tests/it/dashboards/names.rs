//! Boards, rules and the catalogue of metrics agree on every name, label and closed word, in both directions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tripnote::telemetry::boards::{NOT_ON_A_BOARD, names_metric};
use tripnote::telemetry::catalogue::{Kind, METRICS, Metric, Values};

use super::promql::{Matcher, Selector, grouped, selectors};
use super::{OF_PROMETHEUS, all_expressions, committed, read, text};

/// Rules of a file: the name of an alert or a recorded figure with its expression.
pub(super) fn rules(file: &str) -> Vec<(String, String)> {
    let read = read(file);
    let blocks = read.split("\n      - ").skip(1);
    let rule = |block: &str| {
        let (head, rest) = block.split_once('\n').unwrap();
        let name = head.split_once(": ").unwrap().1.to_owned();
        let rest = rest.split_once("expr: ").unwrap().1;
        let mut lines = rest.lines();
        let first = lines.next().unwrap();
        let expr = if first == "|" {
            lines.take_while(|line| line.starts_with("          ")).collect::<Vec<_>>().join("\n")
        } else {
            first.to_owned()
        };
        (name, expr)
    };
    blocks.map(rule).collect()
}

fn recorded() -> BTreeMap<String, String> {
    rules("prometheus/recording.rules.yaml").into_iter().collect()
}

fn all_rules() -> Vec<(String, String)> {
    [rules("prometheus/recording.rules.yaml"), rules("prometheus/alerts.rules.yaml")].concat()
}

/// Expressions of annotations and variables of boards.
fn beside_panels(boards: &[Value]) -> Vec<(String, String)> {
    let of = |board: &Value| {
        let uid = text(board, "uid").to_owned();
        let marks = board["annotations"]["list"].as_array().unwrap().iter();
        let variables = board["templating"]["list"].as_array().unwrap().iter();
        let marks = marks.filter_map(|mark| mark["expr"].as_str().map(str::to_owned));
        let variables = variables.filter_map(|one| {
            let (series, _) = one["definition"].as_str()?.strip_prefix("label_values(")?.rsplit_once(", ")?;
            Some(series.to_owned())
        });
        marks.chain(variables).map(|expr| (uid.clone(), expr)).collect::<Vec<_>>()
    };
    boards.iter().flat_map(of).collect()
}

/// The row of the catalogue behind a name, where there is one.
fn row(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| {
        let is_histogram = matches!(metric.kind, Kind::Histogram(_));
        let of_histogram = ["_bucket", "_sum", "_count"].iter().any(|end| name.strip_suffix(end) == Some(metric.name));
        if is_histogram { of_histogram } else { metric.name == name }
    })
}

/// What is wrong with a matcher on a metric.
fn fault(metric: &Metric, name: &str, Matcher { label, sign, value }: &Matcher) -> Option<String> {
    if ["job", "instance"].contains(&label.as_str()) {
        return None;
    }
    if label == "le" {
        return if name.ends_with("_bucket") { bucket_fault(metric, value) } else { Some(format!("{name} has no le")) };
    }
    let Some(of) = metric.labels.iter().find(|of| of.name == label) else {
        return Some(format!("{name} has no label `{label}`"));
    };
    let words: Vec<&str> = if sign.ends_with('~') { value.split('|').collect() } else { vec![value] };
    let is_choice = |word: &&str| word.starts_with('$');
    match of.values {
        Values::Words(closed) => {
            let closed = closed();
            let unknown = words.into_iter().find(|word| !is_choice(word) && !closed.contains(word))?;
            Some(format!("{name}: `{label}` is never `{unknown}`"))
        }
        Values::Breakers | Values::Variants | Values::Version => words
            .into_iter()
            .find(|word| !is_choice(word))
            .map(|word| format!("{name}: `{label}` = `{word}` is a guess")),
        Values::Methods => None,
    }
}

/// A bound that a histogram does not have would give nothing at all.
fn bucket_fault(metric: &Metric, value: &str) -> Option<String> {
    let Kind::Histogram(bounds) = metric.kind else { return Some(format!("{} has no buckets", metric.name)) };
    let wanted = value.trim_end_matches(r"(\\.0)?").trim_matches(['(', ')']);
    let is_bound = |word: &str| word == "$n" || bounds.iter().any(|bound| bound.to_string() == word);
    let unknown = wanted.split('|').find(|word| !is_bound(word))?;
    Some(format!("{} has no bucket `{unknown}`", metric.name))
}

fn faults(at: &str, expr: &str, recorded: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = vec![];
    let mut labels: BTreeSet<&str> = BTreeSet::from(["job", "instance", "le", "alertname", "severity"]);
    for Selector { metric: name, matchers, .. } in selectors(expr) {
        if OF_PROMETHEUS.contains(&name.as_str()) {
            continue;
        }
        if let Some(of) = recorded.get(&name) {
            labels.extend(grouped(of));
            continue;
        }
        let Some(metric) = row(&name) else {
            found.push(format!("{at}: no metric is called `{name}`"));
            continue;
        };
        labels.extend(metric.labels.iter().map(|label| label.name));
        found.extend(matchers.iter().filter_map(|of| fault(metric, &name, of)).map(|fault| format!("{at}: {fault}")));
    }
    let unknown = grouped(expr).into_iter().filter(|label| !labels.contains(label));
    found.extend(unknown.map(|label| format!("{at}: nothing here has a label `{label}`")));
    found
}

#[test]
fn boards_and_rules_name_only_what_exists() {
    let boards = committed();
    let recorded = recorded();
    let all = [all_expressions(&boards), beside_panels(&boards), all_rules()].concat();
    assert!(all.len() > 100);
    let found: Vec<String> = all.iter().flat_map(|(at, expr)| faults(at, expr, &recorded)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_name_that_does_not_exist_is_found() {
    let none = BTreeMap::new();
    for (expr, says) in [
        ("tripnote_trips", "no metric is called `tripnote_trips`"),
        ("tripnote_recovery_turns", "no metric is called"),
        ("sum by (tool) (tripnote_trips_total)", "nothing here has a label `tool`"),
        (r#"tripnote_trips_total{session="x"}"#, "has no label `session`"),
        (r#"tripnote_trips_total{signal="slow"}"#, "`signal` is never `slow`"),
        (r#"tripnote_trips_total{signal=~"latency|slow"}"#, "`signal` is never `slow`"),
        (r#"tripnote_trips_total{breaker="pay"}"#, "is a guess"),
        (r#"tripnote_recovery_turns_bucket{le=~"6(\\.0)?"}"#, "has no bucket `6`"),
    ] {
        let found = faults("here", expr, &none).join("; ");
        assert!(found.contains(says), "{expr}: {found}");
    }
}

#[test]
fn every_metric_is_on_a_board_or_there_is_a_reason() {
    let boards = committed();
    let shown = all_expressions(&boards);
    let is_shown = |name: &str| shown.iter().any(|(_, expr)| names_metric(expr, name));
    let reasons: BTreeMap<&str, &str> = NOT_ON_A_BOARD.iter().copied().collect();
    for Metric { name, .. } in METRICS {
        assert_ne!(is_shown(name), reasons.contains_key(name), "{name}: on a board, or not on one for a reason");
    }
    assert!(reasons.keys().all(|name| row(name).is_some()), "a reason for what does not exist");
}

#[test]
fn every_alert_says_what_to_do() {
    let (readme, file) = (read("README.md"), read("prometheus/alerts.rules.yaml"));
    let alerts = rules("prometheus/alerts.rules.yaml");
    assert!(alerts.len() > 15);
    for (name, _) in alerts {
        let block = file.split(&format!("- alert: {name}\n")).nth(1).unwrap();
        let block = block.split("- alert:").next().unwrap();
        let anchor = format!("runbook: dashboards/README.md#{}\n", name.to_lowercase());
        assert!(block.contains(&anchor), "{name}: {anchor}");
        assert!(["info", "warning", "critical"].iter().any(|word| block.contains(&format!("{{severity: {word}}}"))));
        let part = readme.split(&format!("\n### {name}\n")).nth(1).unwrap_or_else(|| panic!("no runbook for {name}"));
        assert!(part.split("\n#").next().unwrap().trim().len() > 60, "{name}: what to do?");
    }
}

#[test]
fn every_rule_has_a_case_in_which_it_speaks_and_one_in_which_it_does_not() {
    let tests = read("prometheus/alerts_test.yaml") + &read("prometheus/alerts_day_test.yaml");
    for (name, _) in rules("prometheus/alerts.rules.yaml") {
        for kind in ["fires", "is silent"] {
            assert!(tests.contains(&format!("- name: {name} {kind}\n")), "{name} {kind}");
        }
    }
    let values = read("prometheus/recording_test.yaml");
    for (name, _) in rules("prometheus/recording.rules.yaml") {
        assert!(values.contains(&format!("{{expr: '{name}'")), "{name}");
    }
}
