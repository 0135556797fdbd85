//! What Prometheus' own checker says of boards and rules, and whether each rule's tests notice when it is turned round:
//! Debian's package `prometheus`. One alert goes the whole way, through Debian's package `prometheus-alertmanager`.

mod delivery;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::names::rules;
use super::{all_expressions, committed, path, read};

/// A directory of its own with the rules in it, which goes with the value.
pub(super) struct Room(pub(super) PathBuf);

impl Room {
    pub(super) fn new(name: &str) -> Self {
        let home = std::env::temp_dir().join(format!("tripnote-{name}-{}", std::process::id()));
        fs::create_dir_all(&home).unwrap();
        for file in ["recording.rules.yaml", "alerts.rules.yaml"] {
            fs::copy(path("prometheus").join(file), home.join(file)).unwrap();
        }
        Self(home)
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).unwrap();
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether promtool is content, and what it says.
fn promtool(at: &Path, words: &[&str]) -> (bool, String) {
    let said = Command::new("promtool").current_dir(at).args(words).output();
    let said = said.expect("Debian's package `prometheus` is installed");
    (said.status.success(), String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned())
}

fn assert_content(at: &Path, words: &[&str]) {
    let (is_content, said) = promtool(at, words);
    assert!(is_content, "{words:?}: {said}");
}

#[test]
fn every_expression_of_every_board_is_promql() {
    let room = Room::new("boards");
    let mut text = "groups:\n- name: boards\n  rules:\n".to_owned();
    for (number, (_, expr)) in all_expressions(&committed()).into_iter().enumerate() {
        let expr = expr.replace("$__rate_interval", "5m").replace("$__range", "1h").replace("$n", "1");
        let lines = expr.replace('\n', "\n      ");
        text += &format!("  - record: board\n    labels: {{number: '{number}'}}\n    expr: |\n      {lines}\n");
    }
    room.write("boards.yaml", &text);
    assert_content(&room.0, &["check", "rules", "boards.yaml"]);
}

#[test]
fn rules_and_configurations_are_sound_and_their_tests_hold() {
    let at = path("prometheus");
    assert_content(&at, &["check", "rules", "--lint=all", "--lint-fatal", "recording.rules.yaml", "alerts.rules.yaml"]);
    assert_content(&at, &["check", "config", "prometheus.yml"]);
    assert_content(&at, &["test", "rules", "recording_test.yaml", "alerts_test.yaml", "alerts_day_test.yaml"]);
}

/// An expression with one of its comparisons or joins turned round, or with its replicas not added up: all of them.
fn mutants(expr: &str) -> Vec<String> {
    const TURNS: [(&str, &str); 9] = [
        (" > ", " < "),
        ("> ", "< "),
        (" >= ", " < "),
        (" == ", " != "),
        ("absent(", "sum("),
        (" unless ", " and "),
        ("unless ", "and "),
        ("and ", "or "),
        ("sum by", "max by"),
    ];
    let turn = |(from, to): (&str, &str)| {
        let all: Vec<String> = expr
            .match_indices(from)
            .map(|(at, _)| format!("{}{to}{}", &expr[..at], &expr[at + from.len()..]))
            .collect();
        all
    };
    let mut all: Vec<String> = TURNS.into_iter().flat_map(turn).collect();
    all.sort();
    all.dedup();
    all
}

/// The cases of one rule out of a file of tests.
fn cases_of(tests: &str, alert: &str) -> String {
    let (head, cases) = tests.split_once("tests:\n").unwrap();
    let of = cases.split("  - name: ").filter(|case| case.starts_with(&format!("{alert} ")));
    format!("{head}tests:\n{}", of.map(|case| format!("  - name: {case}")).collect::<String>())
}

#[test]
fn an_alert_that_is_turned_round_does_not_pass_its_tests() {
    let room = Room::new("mutants");
    let file = read("prometheus/alerts.rules.yaml");
    let (minutes, days) = (read("prometheus/alerts_test.yaml"), read("prometheus/alerts_day_test.yaml"));
    let mut survivors = vec![];
    let mut tried = 0;
    for (name, expr) in rules("prometheus/alerts.rules.yaml") {
        let tests = if days.contains(&format!("- name: {name} ")) { &days } else { &minutes };
        room.write("test.yaml", &cases_of(tests, &name));
        room.write("alerts.rules.yaml", &file);
        assert_content(&room.0, &["test", "rules", "test.yaml"]);
        // Sums over replicas are held by the recorded figures' tests; here one replica is enough.
        for mutant in mutants(&expr)
            .into_iter()
            .filter(|mutant| mutant.matches("max by").count() == expr.matches("max by").count())
        {
            tried += 1;
            room.write("alerts.rules.yaml", &file.replace(&expr, &mutant));
            assert_content(&room.0, &["check", "rules", "alerts.rules.yaml"]);
            if promtool(&room.0, &["test", "rules", "test.yaml"]).0 {
                survivors.push(format!("{name}: {mutant}"));
            }
        }
    }
    assert!(tried >= 30, "{tried} mutants");
    assert!(survivors.is_empty(), "of {tried} mutants these passed:\n{}", survivors.join("\n"));
}

#[test]
fn a_recorded_figure_that_does_not_add_up_replicas_does_not_pass_its_test() {
    let room = Room::new("figures");
    let file = read("prometheus/recording.rules.yaml");
    room.write("recording_test.yaml", &read("prometheus/recording_test.yaml"));
    let mut survivors = vec![];
    for (name, expr) in rules("prometheus/recording.rules.yaml") {
        let halved = expr.replacen("increase(", "0.5 * increase(", 1).replacen("quantile(0.99", "quantile(0.5", 1);
        let mutants = mutants(&expr).into_iter().filter(|mutant| !mutant.contains(" < ")).chain([halved]);
        for mutant in mutants {
            // A quantile of one of two equal replicas is that of both.
            let is_same = name.contains("p99") && mutant.contains("max by");
            room.write("recording.rules.yaml", &file.replacen(&expr, &mutant, 1));
            assert_content(&room.0, &["check", "rules", "recording.rules.yaml"]);
            if !is_same && promtool(&room.0, &["test", "rules", "recording_test.yaml"]).0 {
                survivors.push(format!("{name}: {mutant}"));
            }
        }
    }
    assert!(survivors.is_empty(), "{}", survivors.join("\n"));
}
