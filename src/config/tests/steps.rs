//! What is said of failed steps lands in the values that the tree reads.

use super::{Config, parsed, report_of};
use crate::domain::failure::names::RouteName;

fn good() -> Config {
    parsed(include_str!("../../../tests/fixtures/config/good-steps.toml"))
}

#[test]
fn hosts_and_routes_keep_their_order_and_their_bytes() {
    let rules = good().failure;
    assert_eq!(
        (rules.cap.retries(), rules.cap.because().map(|why| why.as_str())),
        (2, Some("the array \"b\" fails over"))
    );
    let hosts: Vec<(&str, Vec<&str>)> = rules
        .confirmed
        .hosts()
        .iter()
        .map(|host| (host.name.as_str(), host.routes.iter().map(|route| route.as_str()).collect()))
        .collect();
    assert_eq!(
        hosts,
        [("gpu-b", vec!["large", " small "]), ("gpu-a", vec!["large"]), ("https://gpu-c/v1", vec!["模型"])]
    );
    let narrow = |name: &str| rules.confirmed.narrow(&RouteName::parse(name).unwrap()).map(|route| route.as_str());
    assert_eq!([narrow("large"), narrow("medium"), narrow(" small ")], [Some("medium"), Some(" small "), None]);
}

#[test]
fn nothing_is_confirmed_without_a_word_of_it() {
    let config = parsed("");
    assert_eq!((config.failure.cap.retries(), config.failure.confirmed.hosts().len()), (1, 0));
    let once = parsed("[failure]\nreason = \"not needed\"\n");
    assert_eq!(once.failure, config.failure, "a reason beside one retry is not kept");
    assert_eq!(parsed("[failure]\nsame_binding_retries = 5\nreason = \"x\"").failure.cap.retries(), 5);
}

#[test]
fn sixty_four_hosts_and_routes_are_enough() {
    let host = |n| format!("[[host]]\nname = \"h{n}\"\nroutes = [\"r\"]\n");
    let route = |n| format!("[[route]]\nname = \"r{n}\"\nnarrow = \"s\"\n");
    let file = |count: usize| (0..count).map(host).chain((0..count).map(route)).collect::<String>();
    assert!(Config::parse(&file(64)).is_ok());
    let report = report_of(&file(65));
    assert!(report.contains("host: has 65 hosts, at most 64 are allowed"), "{report}");
    assert!(report.contains("route: has 65 routes, at most 64 are allowed"), "{report}");
}

#[test]
fn a_reload_says_which_hosts_and_routes_changed() {
    let old = "[[host]]\nname = \"a\"\nroutes = [\"r\"]\n[[host]]\nname = \"b\"\nroutes = [\"r\"]\n\
               [[route]]\nname = \"r\"\nnarrow = \"s\"\n";
    let new = "[failure]\nsame_binding_retries = 2\nreason = \"x\"\n[[host]]\nname = \"b\"\nroutes = [\"r\", \"s\"]\n\
               [[host]]\nname = \"a\"\nroutes = [\"r\"]\n[[route]]\nname = \"r\"\nnarrow = \"t\"\n\
               [[route]]\nname = \"t\"\nnarrow = \"u\"\n";
    let (old, new) = (parsed(old), parsed(new));
    let changes = [
        "failure.same_binding_retries",
        "failure.reason",
        "host[b].routes",
        "host order",
        "route[t] added",
        "route[r].narrow",
    ];
    assert_eq!(old.changes(&new), changes);
    assert_eq!(new.changes(&new), [""; 0]);
}
