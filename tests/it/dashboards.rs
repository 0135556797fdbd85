//! The boards and rules that come with the program: they name only what exists, and say in words what they show.
//!
//! Among these are the rules of Grafana's dashboard-linter that can be held without it, and those that bad boards taught.

mod names;
mod promql;
#[cfg(feature = "real")]
mod promtool;
#[cfg(feature = "real")]
mod truth;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tripnote::telemetry::boards::{boards, readme_tables};

use self::promql::{Selector, functions, selectors};

/// Units of Grafana that the boards use; a misspelt one is shown as plain text.
const UNITS: [&str; 7] = ["short", "none", "percentunit", "s", "dtdurations", "reqps", "bytes"];
/// What stands in no catalogue of ours: Prometheus itself says it.
const OF_PROMETHEUS: [&str; 3] = ["up", "ALERTS", "scrape_samples_post_metric_relabeling"];

fn path(of: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("dashboards").join(of)
}

fn read(of: &str) -> String {
    fs::read_to_string(path(of)).unwrap_or_else(|error| panic!("dashboards/{of}: {error}"))
}

fn committed() -> Vec<Value> {
    boards().iter().map(|board| serde_json::from_str(&read(&format!("grafana/{}.json", board.slug))).unwrap()).collect()
}

/// Panels of a board with a word for where they are; rows are not among them.
fn panels(board: &Value) -> Vec<(String, &Value)> {
    let all = board["panels"].as_array().unwrap().iter().filter(|panel| panel["type"] != "row");
    all.map(|panel| (format!("{} / {}", text(board, "uid"), text(panel, "title")), panel)).collect()
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {of}"))
}

/// Expressions of a panel.
fn expressions(panel: &Value) -> Vec<&str> {
    panel["targets"].as_array().unwrap().iter().map(|target| text(target, "expr")).collect()
}

/// Expressions of all panels of all boards, with where they are.
fn all_expressions(boards: &[Value]) -> Vec<(String, String)> {
    let of = |(at, panel): (String, &Value)| {
        expressions(panel).into_iter().map(|expr| (at.clone(), expr.to_owned())).collect::<Vec<_>>()
    };
    boards.iter().flat_map(|board| panels(board).into_iter().flat_map(of).collect::<Vec<_>>()).collect()
}

#[test]
fn what_is_committed_is_what_the_program_writes() {
    for board in boards() {
        let name = format!("grafana/{}.json", board.slug);
        assert!(read(&name) == board.file(), "dashboards/{name} differs: run `tripnote dashboards`");
    }
    let files = fs::read_dir(path("grafana")).unwrap().count();
    assert_eq!(files, boards().len(), "files in dashboards/grafana that no board is behind");
}

#[test]
fn the_readme_tells_of_every_panel_which_question_it_answers() {
    let tables = readme_tables();
    assert!(read("README.md").contains(tables.trim()), "replace the tables of dashboards/README.md with:\n{tables}");
}

#[test]
fn every_board_lets_one_choose_the_source_the_job_and_the_replica() {
    for board in committed() {
        let variables = board["templating"]["list"].as_array().unwrap();
        let first: Vec<(&str, &str)> =
            variables.iter().take(3).map(|one| (text(one, "name"), text(one, "label"))).collect();
        assert_eq!(first, [("datasource", "Data source"), ("job", "Job"), ("instance", "Instance")]);
        assert_eq!(variables[0]["type"], "datasource");
        for variable in variables.iter().filter(|one| one["type"] == "query") {
            assert_eq!(
                (&variable["refresh"], text(&variable["datasource"], "uid")),
                (&Value::from(2), "${datasource}")
            );
            assert!(variable["multi"] == false || variable["allValue"] == ".+", "{variable}");
        }
        assert_eq!(board["editable"], false);
        assert_eq!(board["graphTooltip"], 1, "the crosshair is shared");
        assert!((39..=41).contains(&board["schemaVersion"].as_u64().unwrap()));
    }
}

#[test]
fn every_board_marks_trips_reloads_and_versions() {
    for board in committed() {
        let marks: BTreeSet<&str> =
            board["annotations"]["list"].as_array().unwrap().iter().map(|mark| text(mark, "name")).collect();
        assert!(BTreeSet::from(["Trips", "Reloads", "Versions"]).is_subset(&marks), "{marks:?}");
    }
}

#[test]
fn links_lead_by_uid_to_boards_that_are_there() {
    let boards = committed();
    let uids: BTreeSet<&str> = boards.iter().map(|board| text(board, "uid")).collect();
    assert_eq!(uids.len(), boards.len(), "a uid twice");
    for board in &boards {
        let links = board["links"].as_array().unwrap();
        assert_eq!(links.len(), boards.len() - 1, "each board leads to each other");
        assert!(links.iter().all(|link| link["includeVars"] == true && link["keepTime"] == true));
        let of_panels = panels(board).into_iter().filter_map(|(_, panel)| {
            let links = panel["fieldConfig"]["defaults"]["links"].as_array()?;
            links.first()
        });
        for link in links.iter().chain(of_panels) {
            let uid = text(link, "url").strip_prefix("/d/").unwrap().split('?').next().unwrap();
            assert!(uids.contains(uid), "no board has the uid `{uid}`");
        }
    }
}

#[test]
fn no_panel_lies_on_another_and_each_has_a_name_of_its_own() {
    for board in committed() {
        let mut taken = BTreeMap::new();
        let (mut titles, mut ids) = (BTreeSet::new(), BTreeSet::new());
        for panel in board["panels"].as_array().unwrap() {
            let [x, y, w, h] = ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
            assert!(x + w <= 24, "{} is wider than the grid", panel["title"]);
            for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
                assert_eq!(taken.insert(cell, text(panel, "title")), None, "{} overlaps", panel["title"]);
            }
            assert!(titles.insert(text(panel, "title")) && ids.insert(panel["id"].as_u64()), "{}", panel["title"]);
        }
    }
}

#[test]
fn every_panel_says_what_it_is_and_what_stands_where_nothing_is() {
    for (at, panel) in committed().iter().flat_map(panels) {
        assert!(text(panel, "description").len() > 20, "{at}: a description");
        assert_eq!(text(&panel["datasource"], "uid"), "${datasource}", "{at}");
        let defaults = &panel["fieldConfig"]["defaults"];
        assert!(UNITS.contains(&text(defaults, "unit")) || defaults["unit"] == "ops", "{at}: {}", defaults["unit"]);
        assert!(!["", "No data"].contains(&text(defaults, "noValue")), "{at}");
        assert!(!defaults["thresholds"]["steps"].as_array().unwrap().is_empty(), "{at}");
        let is_judged = panel["type"] != "stat" || defaults["thresholds"]["steps"][0]["color"] != "text";
        assert!(is_judged, "{at}: a number without a bound, nor marked as one that is neither good nor bad");
        assert_eq!(panel["type"] == "text", expressions(panel).is_empty(), "{at}: what is it drawn from?");
    }
}

#[test]
fn no_meaning_hangs_on_a_colour_alone() {
    for (at, panel) in committed().iter().flat_map(panels) {
        match text(panel, "type") {
            // Colour by number, and the number or its word stands there.
            "stat" => assert_eq!(panel["options"]["textMode"], "value", "{at}"),
            "bargauge" => assert_eq!(panel["options"]["valueMode"], "text", "{at}"),
            "state-timeline" => {
                let words = &panel["fieldConfig"]["defaults"]["mappings"][0]["options"];
                assert!(words.as_object().unwrap().values().all(|word| !text(word, "text").is_empty()), "{at}");
                assert_ne!(panel["options"]["showValue"], "never", "{at}");
            }
            // Colour by series, and the series has a name.
            "timeseries" => {
                assert_eq!(panel["options"]["legend"]["showLegend"], true, "{at}");
                let is_named = |target: &Value| text(target, "legendFormat") != "__auto";
                assert!(panel["targets"].as_array().unwrap().iter().all(is_named), "{at}: a series without a name");
            }
            "table" | "text" => {}
            other => panic!("{at}: `{other}` is not drawn by dashboards/render"),
        }
    }
}

#[test]
fn expressions_are_those_that_add_up() {
    for (at, expr) in all_expressions(&committed()) {
        assert!(!functions(&expr).contains("irate"), "{at}: irate shows two samples of many");
        assert!(!functions(&expr).contains("avg"), "{at}: an average of ratios is not the ratio");
        for Selector { metric, range, within, matchers } in selectors(&expr) {
            let is_counter = ["_total", "_bucket", "_sum", "_count"].iter().any(|end| metric.ends_with(end));
            let is_growth = ["rate", "increase", "changes"].contains(&within.as_str());
            assert_eq!(is_counter, is_growth && metric != "process_start_time_seconds", "{at}: {within}({metric})");
            assert!(within != "rate" || range == "$__rate_interval", "{at}: rate over `{range}`");
            let is_ours = !["ALERTS"].contains(&metric.as_str());
            for (variable, label) in [("$job", "job"), ("$instance", "instance")] {
                let has = matchers.iter().any(|one| one.label == label && one.value == variable && one.sign == "=~");
                assert!(has || !is_ours, "{at}: {metric} without {label}=~\"{variable}\"");
            }
            for matcher in matchers.iter().filter(|one| one.label == "le") {
                // Prometheus 3 calls a bucket `3.0` that Prometheus 2 calls `3`.
                let is_either = matcher.sign == "=~" && matcher.value.ends_with(r"(\\.0)?");
                assert!(is_either, "{at}: le{}`{}`", matcher.sign, matcher.value);
            }
        }
    }
}

#[test]
fn a_number_of_things_that_did_not_happen_is_zero_and_not_missing() {
    for (at, panel) in committed().iter().flat_map(panels).filter(|(_, panel)| panel["type"] == "stat") {
        let expr = expressions(panel)[0];
        // What there may be no answer to: a share of nothing, an extreme of nothing, a time since nothing.
        let has_own_word = panel["fieldConfig"]["defaults"]["noValue"] != "nothing yet";
        let is_given = ["min(", "max(", "time()"].iter().any(|start| expr.starts_with(start));
        assert!(has_own_word || is_given || expr.ends_with("or vector(0)"), "{at}: {expr}");
    }
}
