//! Golden files: all four variants and a template of every example, byte for byte. `UPDATE_FIXTURES=1` rewrites them; what changed is
//! then read in the diff.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::mem::discriminant;
use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs};

use super::super::budget::session_examples;
use super::examples::examples;
use super::*;

/// Cargo and nextest run tests in the directory of the package.
const DIRECTORY: &str = "tests/fixtures/contracts";

/// Every golden file by its name without `.txt`, rewritten first where that is asked for.
static GOLDEN: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    if env::var_os("UPDATE_FIXTURES").is_some_and(|value| value == "1") {
        for (name, text) in rendered() {
            fs::write(Path::new(DIRECTORY).join(name).with_extension("txt"), text).unwrap();
        }
    }
    let files = fs::read_dir(DIRECTORY).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            let name = name.strip_suffix(".txt").unwrap_or_else(|| panic!("`{name}` is no golden file"));
            (name.to_owned(), fs::read_to_string(&path).unwrap())
        })
        .collect()
});

/// Every example by its name, as its golden file must read.
fn rendered() -> BTreeMap<String, String> {
    let all = examples();
    let by_name: BTreeMap<String, String> =
        all.iter().map(|example| (example.name(), sheet(&example.fields()))).collect();
    assert_eq!(by_name.len(), all.len(), "two examples share a name");
    by_name
}

/// The four variants and a template under their names.
fn sheet(fields: &Fields) -> String {
    let budget_bytes = ContractSettings::default().budget_bytes;
    let mut sheet = String::new();
    for wording in Variant::ALL.iter().map(|variant| Wording::from(*variant)).chain([prose()]) {
        let block = fields.render(&wording, budget_bytes);
        assert!(!block.overran);
        let _ = writeln!(sheet, "== {wording}\n{}", block.text);
    }
    sheet
}

#[test]
fn every_example_reads_as_its_golden_file() {
    for (name, text) in rendered() {
        assert_eq!(Some(&text), GOLDEN.get(&name), "{name}: if this is meant, run with UPDATE_FIXTURES=1");
    }
}

#[test]
fn every_golden_file_is_an_example() {
    let rendered = rendered();
    let strays: Vec<&String> = GOLDEN.keys().filter(|name| !rendered.contains_key(*name)).collect();
    assert!(strays.is_empty(), "no example renders {strays:?}");
}

#[test]
fn every_row_has_a_golden_file_and_every_golden_file_a_row() {
    let prefix = |row: &CatalogueRow| format!("{:02}-{}-{}", row.number, row.signal, row.condition);
    let is_of = |name: &str, row| {
        name.strip_prefix(&prefix(row)).is_some_and(|detail| detail.is_empty() || detail.starts_with('-'))
    };
    for row in &CATALOGUE {
        assert!(GOLDEN.keys().any(|name| is_of(name, row)), "no golden file for {}", prefix(row));
    }
    for name in GOLDEN.keys() {
        assert_eq!(CATALOGUE.iter().filter(|row| is_of(name, row)).count(), 1, "{name} is of no single row");
    }
}

#[test]
fn every_row_of_the_session_table_has_an_example() {
    let shown = examples();
    for (row, figures) in session_examples(3, 3, 5, 30_000) {
        let is_shown = shown.iter().any(|example| {
            let Observed::Session(shown) = &example.contract.observed else { return false };
            let is_same_row = example.contract.row == row && discriminant(shown) == discriminant(&figures);
            is_same_row && shown.is_halt() == figures.is_halt()
        });
        assert!(is_shown, "no example of {} {} {figures:?}", row.signal, row.condition);
    }
}

#[test]
fn the_first_example_is_the_invoice_case_of_the_seed() {
    let first = &examples()[0];
    let block = first.fields().render(&Variant::Contract.into(), 768).text;
    assert_eq!(
        block,
        concat!(
            r#"{"action":"switch_to_fallback","breaker":"payments_api_v2","target":"POST /v2/charge","#,
            r#""signal":"error_rate","observed":"9/10 failed in last 60s","threshold":"trip at 3 failures in 30s","#,
            r#""state":"open until 14:02:10Z (about 40 seconds from now), then half_open","#,
            r#""do_not":"retry same endpoint before half_open","fallback":"payments_api_v1, same request shape"}"#,
        )
    );
}

/// What spec 01 and 02 word, so that rewriting the golden files cannot change it: name, observed, threshold, state.
#[rustfmt::skip]
const SPEC: [(&str, &str, &str, &str); 26] = [
    ("01-scope_creep-always-not_in_allowlist", "not in the allowlist of 12 tools", "allowlist", "refused for this session"),
    ("01-scope_creep-always-refused_by_user", "refused by the user", "one refusal", "refused for this session"),
    ("02-ambiguous_effect-fallback_admissible", "reply lost after 30s", "verify before repeating", "unverified write"),
    ("02-ambiguous_effect-no_fallback", "reply lost after 30s", "verify before repeating", "unverified write"),
    ("14-no_progress-steer", "same empty result 2 times", "steer at 2, halt at 3", "steered; the same result again halts this route"),
    ("06-no_progress-halted", "same empty result 3 times", "halt at 3", "halted for this session"),
    ("06-no_progress-halted-session_halted", "3 routes halted", "session halt at 3 routes", "session halted"),
    ("14-no_progress-steer-sweep", "4 empty results, other questions", "steer at 4, halt at 6", "steered; the same result again halts this route"),
    ("14-no_progress-steer-broad", "6 failures in a row", "steer at 6, halt at 10", "steered; the same result again halts this route"),
    ("14-no_progress-steer-already_held", "same result 3 times", "steer at 3, halt at 6", "the result is already in your context"),
    ("15-fan_out-full-wave", "4 of 4 running", "4 at once", "full until one returns"),
    ("15-fan_out-full-twin", "same call already running", "one of a kind in a wave", "use the running call's result"),
    ("15-fan_out-full-backend", "16 of 16 running", "16 at once over all sessions", "full until one returns"),
    ("07-error_rate-no_fallback", "6/10 failed in last 60s", "trip at 50% of at least 10 in 60s", "open until 14:02:00Z (about 30 seconds from now), then half_open"),
    ("07-error_rate-no_fallback-ratio_with_decimals", "99/200 failed in last 60s", "trip at 49.5% of at least 20 in 60s", "open until 14:02:00Z (about 30 seconds from now), then half_open"),
    ("07-error_rate-no_fallback-consecutive", "5 consecutive failures in 240s", "trip at 5 consecutive failures", "open until 14:02:00Z (about 30 seconds from now), then half_open"),
    ("07-error_rate-fallback_admissible-probe_running", "9/10 failed in last 60s", "trip at 3 failures in 30s", "half_open, probe running, ask again in about 5 seconds"),
    ("07-error_rate-fallback_admissible-untrusted_clock", "9/10 failed in last 60s", "trip at 3 failures in 30s", "open for about 40 seconds, then half_open"),
    ("05-operator_override-no_fallback", "held by ledger-oncall", "operator override", "open until an operator releases it"),
    ("05-operator_override-no_fallback-several_owners", "held by ledger-oncall and 2 more", "operator override", "open until an operator releases it"),
    ("05-operator_override-fallback_admissible-until_expiry", "held by alice", "operator override", "open until 16:01:30Z (about 120 minutes from now), or until released"),
    ("03-auth_failure-authentication", "1 failure", "trip at first failure", "open until 14:06:30Z (about 5 minutes from now), then half_open"),
    ("03-auth_failure-authentication-latched", "latched", "latch", "open until an operator releases it"),
    ("09-quota_exhausted-billing-dated_deadline", "1 failure", "trip at first failure", "open until 2026-08-01T14:01:30Z (about 24 hours from now), then half_open"),
    ("11-latency-reducible", "12/20 slower than 2s in last 60s", "trip at 50% slower than 2s in 60s", "open until 14:02:00Z (about 30 seconds from now), then half_open"),
    ("12-latency-otherwise-consecutive", "4 consecutive slower than 2s in 9s", "trip at 4 consecutive slower than 2s", "open until 14:02:00Z (about 30 seconds from now), then half_open"),
];

#[test]
fn the_texts_are_those_of_the_specification() {
    let examples = examples();
    for (name, observed, threshold, state) in SPEC {
        let example = examples.iter().find(|example| example.name() == name);
        let fields = example.unwrap_or_else(|| panic!("no example {name}")).fields();
        assert_eq!((&*fields.observed, &*fields.threshold, &*fields.state), (observed, threshold, state), "{name}");
    }
}

#[test]
fn the_experimental_variants_are_fixed_texts() {
    for example in examples() {
        let fields = example.fields();
        let block = |variant: Variant| fields.render(&variant.into(), 768).text;
        assert_eq!(block(Variant::Weak), r#"{"error":"Tool call failed. Please try again."}"#);
        assert_eq!(block(Variant::Silent), "");
    }
}
