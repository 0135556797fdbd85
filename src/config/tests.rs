mod faults;
mod outputs;
mod review;
mod steps;
mod tools;
mod wordings;

use std::net::SocketAddr;
use std::path::PathBuf;

use super::{Config, Listen, LoadError, LogFormat, LogLevel};
use crate::domain::breaker::policy::{BasisPoints, Policy, Rule, ScopeKind};
use crate::domain::signal::CircuitKind;

fn parsed(text: &str) -> Config {
    Config::parse(text).unwrap_or_else(|report| panic!("{report}"))
}

fn report_of(text: &str) -> String {
    Config::parse(text).expect_err("faults").to_string()
}

fn default_of(config: &Config, kind: CircuitKind) -> &Policy {
    config.default_policy.policies.at(kind).as_ref().expect("on")
}

fn of_breaker(config: &Config, index: usize, kind: CircuitKind) -> &Policy {
    config.breakers[index].policies.at(kind).as_ref().expect("on")
}

#[test]
fn no_file_and_an_empty_one_are_the_same() {
    assert_eq!(parsed(""), Config::default());
    assert_eq!(Config::default().with_env(|_| None), Ok(Config::default()));
}

#[test]
fn each_key_lands_in_its_place() {
    let config = parsed(include_str!("../../tests/fixtures/config/good.toml"));
    let settings = &config.settings;
    assert_eq!(settings.grpc, Listen::Unix(PathBuf::from("/run/tripnote.sock")));
    assert_eq!((settings.permit_for_ms, settings.experimental), (300_000, true));
    assert_eq!((settings.log.format, settings.log.level), (LogFormat::Json, LogLevel::Info));
    assert_eq!(settings.contract.wordings.default_wording().name(), "contract_lines");
    assert_eq!(settings.contract.escalation_tool.as_ref().map(|tool| tool.as_str()), Some("page_on_call"));
    let open_for = default_of(&config, CircuitKind::ErrorRate).open_for;
    assert_eq!((open_for.factor, open_for.jitter), (BasisPoints(12_500), BasisPoints(0)));
    assert!(default_of(&config, CircuitKind::Authentication).latch);
    assert!(!default_of(&config, CircuitKind::Authorisation).latch);

    let payments = &config.breakers[0];
    assert_eq!(payments.code.as_ref().map(|code| code.as_str()), Some("payments_api_v2"));
    assert_eq!(payments.targets, ["POST /v2/*", "GET /v2/{charge,refund}/*"]);
    assert!(payments.reducible);
    let fallback: Vec<_> = payments.fallback.iter().map(|one| (one.name.as_str(), one.target.as_str())).collect();
    assert_eq!(fallback, [("payments_api_v1", "payments_api_v1"), ("ledger", "mcp:ledger/read")]);
    assert_eq!(payments.fallback[1].note.as_ref().map(|note| note.as_str()), Some("read only"));
    assert_eq!(config.breakers[1].policies.at(CircuitKind::QuotaRate), &None);
    assert_eq!((config.breakers[1].code.as_ref(), config.breakers[1].fallback.len()), (None, 1));
}

#[test]
fn a_breaker_inherits_key_by_key_and_replaces_rules_whole() {
    let config = parsed(include_str!("../../tests/fixtures/config/good.toml"));
    let policy = of_breaker(&config, 0, CircuitKind::ErrorRate);
    // in the order in which rules are asked, not in the order of the file
    let rules = [Rule::Failures { failures: 2, within_ms: 20_000 }, Rule::Consecutive { failures: 4 }];
    let expected =
        Policy { rules: rules.to_vec(), shadow_percent: 30, ..default_of(&config, CircuitKind::ErrorRate).clone() };
    assert_eq!(policy, &expected);
    assert_eq!(of_breaker(&config, 1, CircuitKind::ErrorRate), default_of(&config, CircuitKind::ErrorRate));
}

#[test]
fn the_cap_on_a_backend_holds_for_every_breaker() {
    let config = parsed("[session]\nfan_out_per_backend = 7\n[[breaker]]\ntargets = [\"a\"]\n");
    let caps = [&config.default_policy, &config.breakers[0]].map(|policy| policy.calls_at_once.map(|cap| cap.get()));
    assert_eq!(caps, [Some(7); 2]);
    assert_eq!(parsed("").default_policy.calls_at_once, None);
}

#[test]
fn latency_is_on_as_soon_as_it_knows_what_slow_is() {
    let slow_of = |text: &str| {
        let config = parsed(text);
        let policies = config.breakers.last().map_or(config.default_policy.policies, |last| last.policies.clone());
        policies.at(CircuitKind::Latency).as_ref().and_then(|policy| policy.slow_ms)
    };
    let breaker = "[[breaker]]\ntargets = [\"a\"]\n";
    let off = "[defaults.latency]\nenabled = false\nopen_for = \"10s\"\n";
    assert_eq!(slow_of(""), None);
    assert_eq!(slow_of("[defaults.latency]\nslow = \"2s\""), Some(2_000));
    assert_eq!(slow_of("[defaults.latency]\nslow = \"2s\"\nenabled = false"), None);
    assert_eq!(slow_of(&format!("[defaults.latency]\nslow = \"2s\"\n{breaker}")), Some(2_000));
    assert_eq!(slow_of(&format!("{off}{breaker}[breaker.latency]\nslow = \"3s\"")), Some(3_000));
    assert_eq!(slow_of(&format!("{off}{breaker}[breaker.latency]\nlease = \"3s\"")), None);
    assert_eq!(slow_of(&format!("{breaker}[breaker.latency]\nslow = \"3s\"\nenabled = false")), None);
}

#[test]
fn durations_percentages_and_factors_are_exact() {
    let error_rate = |line: &str| {
        let config = parsed(&format!("[defaults.error_rate]\n{line}"));
        default_of(&config, CircuitKind::ErrorRate).clone()
    };
    for (written, ms) in [("500ms", 500), ("90s", 90_000), ("007m", 420_000), ("2h", 7_200_000), ("1d", 86_400_000)] {
        assert_eq!(error_rate(&format!("healthy_window = \"{written}\"")).healthy_window_ms, ms, "{written}");
    }
    for (written, share) in [("0%", 0), ("0.01%", 1), ("49.5%", 4_950), ("49.05%", 4_905), ("100%", 10_000)] {
        assert_eq!(error_rate(&format!("jitter = \"{written}\"")).open_for.jitter, BasisPoints(share), "{written}");
    }
    for (written, factor) in [("1", 10_000), ("2.0", 20_000), ("1.15", 11_500), ("\"1.5\"", 15_000), ("1_0", 100_000)] {
        assert_eq!(error_rate(&format!("factor = {written}")).open_for.factor, BasisPoints(factor), "{written}");
    }
    for (written, percent) in [("true", 100), ("false", 0), ("\"1%\"", 1), ("\"100%\"", 100)] {
        assert_eq!(error_rate(&format!("shadow = {written}")).shadow_percent, percent, "{written}");
    }
    assert_eq!(error_rate("scope = \"target+credential\"").scope, ScopeKind::TargetCredential);
    assert_eq!(error_rate("probes = 0x1F").probes, 31);
}

#[test]
fn a_small_number_of_targets_lowers_the_default_share_of_a_caller() {
    let limits = |text: &str| parsed(text).settings.limits;
    assert_eq!(limits("[limits]\ntargets = 500").targets_per_caller, 500);
    assert_eq!(limits("[limits]\ntargets = 500\ntargets_per_caller = 20").targets_per_caller, 20);
    assert_eq!(limits("[limits]\ntargets = 500000").targets_per_caller, 10_000);
}

#[test]
fn the_environment_goes_before_the_file() {
    let environment = |name: &str| match name {
        "TRIPNOTE_GRPC" => Some("0.0.0.0:80".to_owned()),
        "TRIPNOTE_INSECURE" => Some("true".to_owned()),
        "TRIPNOTE_LOG_FORMAT" => Some("json".to_owned()),
        "TRIPNOTE_LOG_LEVEL" => Some("debug".to_owned()),
        _ => None,
    };
    let settings = parsed("grpc = \"127.0.0.1:1\"").with_env(environment).expect("fits").settings;
    assert_eq!(settings.grpc, Listen::Tcp(SocketAddr::from(([0, 0, 0, 0], 80))));
    assert_eq!((settings.insecure, settings.log.format, settings.log.level), (true, LogFormat::Json, LogLevel::Debug));
}

#[test]
fn the_environment_can_allow_what_the_file_asks_for() {
    let file = directory().join("beyond.toml");
    std::fs::write(&file, "grpc = \"0.0.0.0:7171\"").expect("written");
    assert!(matches!(Config::load(&file), Err(LoadError::Faulty { report, .. }) if report.faults[0].path == "grpc"));
    let allowed = Config::load_with_env(&file, |name| (name == "TRIPNOTE_INSECURE").then(|| "true".to_owned()));
    assert!(allowed.is_ok_and(|config| config.settings.insecure));
}

#[test]
fn a_listener_is_beyond_loopback_where_others_can_reach_it() {
    for key in ["grpc", "http"] {
        let is_refused = |address: &str| Config::parse(&format!("{key} = \"{address}\"")).is_err();
        assert!(["0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[::ffff:10.0.0.1]:1"].into_iter().all(is_refused));
        let loopback = ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "unix:/x"];
        assert!(!loopback.into_iter().any(is_refused));
        assert!(Config::parse(&format!("insecure = true\n{key} = \"0.0.0.0:1\"")).is_ok());
    }
}

#[test]
fn the_http_port_can_be_moved_and_turned_off() {
    assert_eq!(Config::default().settings.http, Some(Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 7172)))));
    assert_eq!(parsed("http = \"\"").settings.http, None);
    let moved = parsed("http = \"\"").with_env(|name| (name == "TRIPNOTE_HTTP").then(|| "unix:/run/web".to_owned()));
    assert_eq!(moved.expect("fits").settings.http, Some(Listen::Unix("/run/web".into())));
    assert!(Config::parse("grpc = \"\"").is_err(), "only the HTTP port can be done without");
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    let missing = directory().join("missing.toml");
    let unreadable = Config::load(&missing).expect_err("no file");
    assert!(matches!(unreadable, LoadError::Unreadable { .. }));
    assert!(unreadable.to_string().starts_with(&format!("cannot read the configuration `{}`: ", missing.display())));

    let large = directory().join("large.toml");
    std::fs::write(&large, "#".repeat(1_048_577)).expect("written");
    let too_large = Config::load(&large).expect_err("too large");
    let text = format!("configuration `{}` is larger than 1048576 bytes, at most that many are read", large.display());
    assert_eq!(too_large.to_string(), text);
    std::fs::write(&large, "#".repeat(1_048_576)).expect("written");
    assert!(Config::load(&large).is_ok());

    let faulty = directory().join("faulty.toml");
    std::fs::write(&faulty, "a = 1\nb = 2").expect("written");
    let text = Config::load(&faulty).expect_err("faults").to_string();
    assert!(text.starts_with(&format!(
        "configuration `{}` has 2 faults, nothing of it is used\nline 1: a: ",
        faulty.display()
    )));
}

/// A directory of this process; each test has file names of its own.
fn directory() -> PathBuf {
    let directory = std::env::temp_dir().join(format!("tripnote-config-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("made");
    directory
}

#[test]
fn a_reload_says_what_changed() {
    let old = "[[breaker]]\ncode = \"a\"\ntargets = [\"a\"]\n[[breaker]]\ncode = \"b\"\ntargets = [\"b\"]\n\
               [[breaker]]\ntargets = [\"c\"]\n[[breaker]]\ntargets = [\"c\"]\n";
    let new = "drain_for = \"1s\"\nlog.level = \"debug\"\n[defaults.error_rate]\nopen_for = \"31s\"\n\
               [defaults.latency]\nslow = \"1s\"\n[defaults.quota_exhausted.billing]\nenabled = false\n\
               [[breaker]]\ncode = \"d\"\ntargets = [\"d\"]\n\
               [[breaker]]\ncode = \"b\"\ntargets = [\"x\"]\n[breaker.error_rate]\nopen_for = \"30s\"\nprobes = 2\n\
               [[breaker]]\ncode = \"a\"\ntargets = [\"a\"]\n[[breaker]]\ntargets = [\"c\"]\n\
               [breaker.latency]\nenabled = false\n";
    let changes = parsed(old).changes(&parsed(new));
    let expected = [
        "drain_for",
        "log.level",
        "defaults.error_rate.open_for",
        "defaults.quota_exhausted.billing turned off",
        "defaults.latency turned on",
        "breaker[c]#3 removed",
        "breaker[d] added",
        "breaker[a].error_rate.open_for",
        "breaker[a].quota_exhausted.billing turned off",
        "breaker[a].latency turned on",
        "breaker[b].targets",
        "breaker[b].quota_exhausted.billing turned off",
        "breaker[b].error_rate.probes",
        "breaker[b].latency turned on",
        "breaker[c].error_rate.open_for",
        "breaker[c].quota_exhausted.billing turned off",
        "breaker order",
    ];
    let sorted = |changes: Vec<String>| {
        let mut changes = changes;
        changes.sort();
        changes
    };
    assert_eq!(sorted(changes), sorted(expected.map(str::to_owned).to_vec()));
    assert_eq!(parsed(new).changes(&parsed(new)), [""; 0]);
}
