//! The report is whole: every fault, each once, with path, value, rule and line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};
use toml::de::DeTable;

use super::outputs::full_text;
use super::{Config, report_of};
use crate::config::checks::report_overruns;
use crate::config::fault::Sink;
use crate::domain::contract::Variant;
use crate::domain::contract::budget::BudgetFault;

fn fixtures() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/config");
    let files = std::fs::read_dir(directory).expect("fixtures").map(|entry| entry.expect("entry").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}

#[test]
fn each_fixture_gives_its_report() {
    let files = fixtures();
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("fixture");
        let report = Config::parse(&text).err().map(|report| format!("{report}\n")).unwrap_or_default();
        let expected_at = file.with_extension("report");
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::write(&expected_at, &report).expect("written");
        }
        assert_eq!(report, std::fs::read_to_string(&expected_at).expect("report"), "{}", file.display());
    }
}

#[test]
fn a_report_can_be_read_by_programs_too() {
    let report = Config::parse("\n[limits]\ntargets = 0").expect_err("a fault");
    let fault = &report.faults[0];
    assert_eq!((fault.path.as_str(), fault.value.as_str(), fault.line), ("limits.targets", "0", Some(3)));
    assert_eq!(fault.rule, "is below the minimum 1 (allowed 1 to 10000000)");
}

#[test]
fn what_an_operator_wrote_is_cut_and_cleaned() {
    let long = "x".repeat(500_000);
    let cut = format!("{}…", "x".repeat(61));
    let report = report_of(&format!("{long} = 1\n[log]\nformat = \"{long}\"\nlevel = \"a`b\u{202e}c\""));
    assert!(report.contains(&format!("line 1: {cut}: `{cut}` is no known key")));
    assert!(report.contains(&format!("line 3: log.format: `{cut}` is not one of")));
    assert!(report.contains("line 4: log.level: `a'bc` is not one of"));
    assert!(report.len() < 1_024);
}

#[test]
fn a_thousand_breakers_are_enough() {
    let breakers = |count: usize| "[[breaker]]\ntargets = [\"a\"]\n".repeat(count);
    assert!(Config::parse(&breakers(1_000)).is_ok());
    assert!(report_of(&breakers(1_001)).ends_with("breaker: has 1001 breakers, at most 1000 are allowed"));
}

#[test]
fn a_thousand_rows_of_tools_and_sixty_four_formats_are_enough() {
    let tools = |count: usize| "[[tool]]\nmatch = \"a\"\n".repeat(count);
    assert!(Config::parse(&tools(1_000)).is_ok());
    assert!(report_of(&tools(1_001)).ends_with("tool: has 1001 tools, at most 1000 are allowed"));
    let format = |i| format!("[[format]]\nname = \"f{i}\"\nempty_when = [{{ at = \"\", empty = true }}]\n");
    let formats = |count: usize| (0..count).map(format).collect::<String>();
    assert!(Config::parse(&formats(64)).is_ok());
    assert!(report_of(&formats(65)).ends_with("format: has 65 formats, at most 64 are allowed"));
}

#[test]
fn lists_of_tools_and_formats_are_bounded() {
    let list = |item: &str, count: usize| vec![item; count].join(", ");
    let config = |pointers: usize, conditions: usize, words: usize, bytes: usize| {
        let condition = format!("{{ at = \"/{}\", is = [{}] }}", "a".repeat(bytes - 1), list("\"w\"", words));
        Config::parse(&format!(
            "[[tool]]\nmatch = \"a\"\nidentity = [{}]\n[[format]]\nname = \"a\"\nfailed_when = [{}]",
            list("\"/p\"", pointers),
            list(&condition, conditions)
        ))
    };
    assert!(config(16, 16, 32, 128).is_ok());
    let report = config(17, 17, 32, 128).expect_err("too many").to_string();
    assert!(report.contains("tool[0].identity: `["), "{report}");
    assert!(report.contains(" has 17 pointers: 1 to 16 are due\n"), "{report}");
    assert!(report.ends_with(" has 17 conditions: 1 to 16 are due"), "{report}");
    let report = config(1, 1, 33, 129).expect_err("too many").to_string();
    assert!(report.contains(" has 129 bytes: at most 128 are allowed\n"), "{report}");
    assert!(report.ends_with(" has 33 words: 1 to 32 are due"), "{report}");
}

#[test]
fn sixty_four_globs_and_eight_alternatives_are_enough() {
    let breaker = |globs: usize, names: usize| {
        let list = |count: usize| vec!["\"a\""; count].join(", ");
        Config::parse(&format!("[[breaker]]\ntargets = [{}]\nfallback = [{}]", list(globs), list(names)))
    };
    assert!(breaker(64, 8).is_ok());
    let paths: Vec<String> = breaker(65, 9).expect_err("too many").faults.into_iter().map(|fault| fault.path).collect();
    assert_eq!(paths, ["breaker[0].targets", "breaker[0].fallback"]);
    let glob = |bytes: usize| Config::parse(&format!("[[breaker]]\ntargets = [\"{}\"]", "a".repeat(bytes)));
    assert!(glob(512).is_ok() && glob(513).is_err());
}

#[test]
fn the_environment_is_judged_like_the_file() {
    let report = |name: &'static str, value: &'static str| {
        let outcome = Config::default().with_env(|asked| (asked == name).then(|| value.to_owned()));
        outcome.expect_err("a fault").to_string()
    };
    assert_eq!(
        report("TRIPNOTE_LOG_LEVEL", "loud"),
        "TRIPNOTE_LOG_LEVEL: `loud` is not one of `\"error\"`, `\"warn\"`, `\"info\"`, `\"debug\"`"
    );
    assert_eq!(report("TRIPNOTE_INSECURE", "yes"), "TRIPNOTE_INSECURE: `yes` is a string: `true` or `false` is due");
    assert_eq!(
        report("TRIPNOTE_GRPC", "0.0.0.0:80"),
        "TRIPNOTE_GRPC: `0.0.0.0:80` is beyond loopback, where nothing protects it: a loopback address or \
         `insecure = true` is due"
    );
    let open = Config::parse("insecure = true\ngrpc = \"0.0.0.0:80\"").expect("allowed");
    let closed = open.with_env(|name| (name == "TRIPNOTE_INSECURE").then(|| "false".to_owned()));
    assert_eq!(
        closed.expect_err("a fault").to_string(),
        "TRIPNOTE_INSECURE: `false` leaves an address beyond loopback without protection: `true` or a loopback \
         address is due"
    );
}

#[test]
fn a_contract_over_the_budget_is_put_on_its_breaker() {
    let text = "[contract]\nbudget_bytes = 600";
    let document = DeTable::parse(text).expect("TOML");
    let root = crate::config::branch::Branch::root(document.get_ref());
    let mut sink = Sink::new(text);
    let contract = root.child("contract", &mut sink).expect("table");
    let place = contract.place("budget_bytes").expect("key");
    sink.mark("contract.budget_bytes", &place);
    let fault = |breaker, bytes| BudgetFault {
        breaker,
        wording: Variant::Contract.into(),
        field: "fallback",
        bytes,
        limit: 600,
    };
    report_overruns(vec![fault(None, 601), fault(Some(2), 640)], &mut sink);
    let report = sink.into_report().expect("faults").to_string();
    let expected = "breaker[2]: can make a contract of 640 bytes in `contract`, above the budget of 600: a shorter \
                    `fallback` or a larger `contract.budget_bytes` is due\n\
                    line 2: contract.budget_bytes: `600` can make a contract of 601 bytes in `contract`, above the \
                    budget of 600: a shorter `fallback` or a larger `contract.budget_bytes` is due";
    assert_eq!(report, expected);
}

/// How a key is broken.
#[derive(Clone, Copy, Debug)]
enum Breakage {
    /// A value that is of no key's type.
    Value,
    /// A name that nobody knows.
    Name,
}

/// The lines of the full text that give a key, with the path of the key.
fn given_keys(text: &str) -> Vec<(usize, String)> {
    let mut table = String::new();
    let mut keys = vec![];
    for (at, line) in text.lines().enumerate() {
        if let Some(list) = line.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")) {
            table = format!("{list}[0].");
        } else if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            table = format!("{}.", header.replace("breaker", "breaker[0]"));
        } else if let Some((name, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
            keys.push((at, format!("{table}{name}")));
        }
    }
    keys
}

fn broken(line: &str, breakage: Breakage) -> String {
    let (name, value) = line.split_once(" = ").expect("a key");
    match breakage {
        Breakage::Value => format!("{name} = 1979-05-27"),
        Breakage::Name => format!("{name}_zzz = {value}"),
    }
}

/// Every key can be broken alone or with others, and nothing but what was broken is reported.
#[test]
fn a_report_names_exactly_what_is_broken() {
    let text = full_text();
    let keys = given_keys(&text);
    assert!(keys.len() > 120, "{}", keys.len());
    // without these the table that they belong to is at fault as well
    let needed = [
        ".targets",
        "latency.slow",
        "tool[0].match",
        "format[0].name",
        "host[0].name",
        ".routes",
        "route[0].name",
        "template[0].name",
        ".text",
        "experiment[0].name",
        ".breakers",
        ".variants",
        ".narrow",
    ];
    let is_needed = |path: &str| needed.iter().any(|end| path.ends_with(end));
    let one = (any::<prop::sample::Index>(), prop_oneof![Just(Breakage::Value), Just(Breakage::Name)]);
    let seed = [7; 32];
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let runs = Runs { cases: 200, failure_persistence: None, ..Runs::default() };
    let outcome = TestRunner::new_with_rng(runs, rng).run(&prop::collection::vec(one, 1..12), |breakages| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut expected = BTreeSet::new();
        let mut touched = BTreeSet::new();
        for (index, breakage) in breakages {
            let (at, path) = index.get(&keys);
            if !touched.insert(*at) {
                continue;
            }
            let breakage = if is_needed(path) { Breakage::Value } else { breakage };
            lines[*at] = broken(&lines[*at], breakage);
            let broken_path = match breakage {
                Breakage::Value => path.clone(),
                Breakage::Name => format!("{path}_zzz"),
            };
            expected.insert((at + 1, broken_path));
        }
        let report = Config::parse(&lines.join("\n")).expect_err("faults");
        let reported: Vec<(usize, String)> =
            report.faults.iter().map(|fault| (fault.line.unwrap_or(0), fault.path.clone())).collect();
        prop_assert_eq!(reported, expected.into_iter().collect::<Vec<_>>(), "{}", report);
        Ok(())
    });
    outcome.unwrap_or_else(|fault| panic!("seed {seed:?}: {fault}"));
}

/// The widest code and alternative that can be configured, under the smallest budget.
#[test]
fn a_breaker_that_could_break_the_budget_is_refused() {
    let breaker = |budget_bytes: usize| {
        let (code, name, note) = ("c".repeat(48), "n".repeat(48), "n".repeat(46));
        Config::parse(&format!(
            "[contract]\nbudget_bytes = {budget_bytes}\n[[breaker]]\ntargets = [\"a\"]\n[[breaker]]\n\
             code = \"{code}\"\ntargets = [\"b\"]\n\
             fallback = {{ name = \"{name}\", note = \"{note}\" }}"
        ))
    };
    let report = breaker(512).expect_err("too wide");
    let paths: Vec<(&str, Option<usize>)> =
        report.faults.iter().map(|fault| (fault.path.as_str(), fault.line)).collect();
    assert_eq!(paths, [("breaker[1]", Some(5))], "{report}");
    assert!(report.to_string().contains("a shorter `fallback` or a larger `contract.budget_bytes` is due"), "{report}");
    assert!(breaker(768).is_ok());
}
