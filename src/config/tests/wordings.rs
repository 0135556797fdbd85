//! What is said of templates and experiments lands in the values that contracts are told by.

use super::{Config, parsed, report_of};
use crate::domain::contract::Wording;
use crate::domain::ids::Code;

const ALL: &str = "{action}{breaker}{target}{signal}{observed}{threshold}{state}{do_not}{fallback}";

fn good() -> Config {
    parsed(include_str!("../../../tests/fixtures/config/good-wordings.toml"))
}

fn template(name: &str, text: &str) -> String {
    format!("[[template]]\nname = \"{name}\"\ntext = \"{text}\"\n")
}

fn experiment(name: &str, variants: &str) -> String {
    format!("[[experiment]]\nname = \"{name}\"\nbreakers = [\"*\"]\nvariants = {{ {variants} }}\n")
}

#[test]
fn templates_and_experiments_land_in_their_places() {
    let config = good();
    let wordings = &config.settings.contract.wordings;
    assert_eq!(wordings.default_wording().name(), "prose");
    let templates = wordings.templates();
    assert_eq!(wordings.default_wording(), &Wording::Template(templates[0].clone()));
    assert!(templates[0].text().starts_with("{action}: ") && templates[0].text().contains(").\nDo not"));
    assert_eq!(templates.iter().map(|one| one.name().as_str()).collect::<Vec<_>>(), ["prose", "own_json"]);
    let shown: Vec<_> = wordings
        .experiments()
        .iter()
        .map(|one| {
            let arms: Vec<_> = one.arms().iter().map(|arm| (arm.wording.name(), arm.weight)).collect();
            (one.name().as_str(), one.breakers().to_vec(), arms)
        })
        .collect();
    let globs = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
    let expected = [
        (
            "payments",
            globs(&["payments_*", "{ledger,session_progress}"]),
            vec![("contract", 2), ("prose", 1), ("weak", 1_000_000)],
        ),
        ("all_else", globs(&["*"]), vec![("contract_lines", 3), ("own_json", 3)]),
    ];
    assert_eq!(shown, expected);
    let of = |code: &str| wordings.experiment(&Code::parse(code).unwrap()).map(|one| one.name().as_str());
    assert_eq!(
        [of("payments_v2"), of("session_progress"), of("search")].map(Option::unwrap),
        ["payments", "payments", "all_else"]
    );
}

#[test]
fn without_a_word_of_it_everybody_is_told_the_contract() {
    let wordings = parsed("").settings.contract.wordings;
    assert_eq!(wordings.default_wording().name(), "contract");
    assert_eq!((wordings.templates().len(), wordings.experiments().len()), (0, 0));
    assert_eq!(
        parsed("contract.variant = \"contract_lines\"").settings.contract.wordings.default_wording().name(),
        "contract_lines"
    );
}

#[test]
fn what_exists_for_measuring_only_is_asked_for_wherever_it_stands() {
    let due = "exists for measuring only: `experimental = true` is due with it";
    let weak = experiment("a", "contract = 1, weak = 2");
    assert_eq!(report_of(&weak), format!("line 4: experiment[0].variants.weak: `weak` {due}"));
    assert_eq!(report_of("contract.variant = \"silent\""), format!("line 1: contract.variant: `silent` {due}"));
    assert!(Config::parse(&format!("experimental = true\ncontract.variant = \"silent\"\n{weak}")).is_ok());
    let unsure = report_of(&format!("experimental = 1\n{weak}"));
    assert_eq!(unsure, "line 1: experimental: `1` is an integer: `true` or `false` is due");
}

#[test]
fn sixteen_templates_and_experiments_of_eight_variants_are_enough() {
    let file = |count: usize, arms: usize| {
        let templates: String = (0..count).map(|n| template(&format!("t{n}"), ALL)).collect();
        let variants: Vec<String> = (0..arms).map(|n| format!("t{n} = 1")).collect();
        let experiments: String = (0..count).map(|n| experiment(&format!("e{n}"), &variants.join(", "))).collect();
        templates + &experiments
    };
    assert!(Config::parse(&file(16, 8)).is_ok());
    assert!(Config::parse(&file(16, 2)).is_ok());
    let report = report_of(&file(17, 9));
    assert!(report.contains("template: has 17 templates, at most 16 are allowed"), "{report}");
    assert!(report.contains("experiment: has 17 experiments, at most 16 are allowed"), "{report}");
    assert!(report.contains(" has 9 names: 2 to 8 are due"), "{report}");
    let long = |bytes: usize| {
        Config::parse(&format!(
            "contract.budget_bytes = 4096\n{}",
            template("long", &format!("{ALL}{}", "a".repeat(bytes - ALL.len())))
        ))
    };
    assert!(long(2_048).is_ok());
    assert!(long(2_049).is_err_and(|report| report.to_string().ends_with(" has 2049 bytes: at most 2048 are allowed")));
}

#[test]
fn a_reload_says_which_wordings_changed() {
    let old =
        template("a", ALL) + &template("b", ALL) + &experiment("x", "a = 1, b = 1") + &experiment("y", "a = 1, b = 1");
    let new = format!("contract.variant = \"a\"\n{}", template("a", &format!("Stop: {ALL}")))
        + &template("c", ALL)
        + &experiment("x", "a = 1, c = 1")
        + &experiment("z", "a = 1, c = 1");
    let (old, new) = (parsed(&old), parsed(&new));
    let changes = [
        "contract.variant",
        "template[b] removed",
        "template[c] added",
        "template[a].text",
        "experiment[y] removed",
        "experiment[z] added",
        "experiment[x].variants",
    ];
    assert_eq!(old.changes(&new), changes);
    assert_eq!(new.changes(&new), [""; 0]);
    // The order in which the variants of one experiment are written is no part of it.
    let swapped = template("a", ALL) + &template("b", ALL) + &experiment("x", "b = 1, a = 1");
    let straight = template("a", ALL) + &template("b", ALL) + &experiment("x", "a = 1, b = 1");
    assert_eq!(parsed(&swapped), parsed(&straight));
}
