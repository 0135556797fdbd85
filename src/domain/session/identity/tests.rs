use proptest::prelude::*;

use super::*;
use crate::domain::tool::Tools;

fn metrics(query: &str) -> String {
    let names = promql::metrics(query);
    names.map_or("unreadable".to_owned(), |names| names.into_iter().collect::<Vec<_>>().join(" "))
}

fn labels(query: &str) -> String {
    let names = logql::stream_labels(query);
    names.map_or("unreadable".to_owned(), |names| names.into_iter().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_promql_query_asks_for_its_metrics() {
    let table = [
        ("up", "up"),
        ("up{job=\"a\"}", "up"),
        ("rate(http_requests_total{job=\"b\",code=~\"5..\"}[5m])", "http_requests_total"),
        ("sum by (pod, namespace) (rate(cpu_seconds{pod!=\"x\"}[1m:10s]))", "cpu_seconds"),
        ("sum(rate(a[5m])) by (job) / sum without(x) (rate(b[5m] offset 1h))", "a b"),
        ("a * on(instance) group_left(node_name) b", "a b"),
        ("a and ignoring (x) b or c unless d", "a b c d"),
        ("histogram_quantile(0.99, sum(rate(latency_bucket[5m])) by (le))", "latency_bucket"),
        ("topk(5, count_values(\"version\", build_info))", "build_info"),
        ("label_replace(up, \"a\", \"$1\", \"b\", \"(.*)\")", "up"),
        ("{__name__=\"up\", job=\"x\"}", "up"),
        ("{\"http.requests\", code=\"5\"}", "http.requests"),
        ("{__name__=~\"node_.*\"}", "=~node_.*"),
        ("node:cpu:rate5m > bool 0.5e-3", "node:cpu:rate5m"),
        ("up # and down{\n - 1", "up"),
        ("up @ start() offset -5m", "up"),
        ("SUM BY (x) (Up) + Inf", "Up"),
        ("absent(up{job='a}b'})", "up"),
        ("rate(${metric}[$__rate_interval])", "${metric}"),
        ("1 + 0x1F + 1h30m", ""),
        ("vector(time())", ""),
        ("up{job=\"a", "unreadable"),
        ("rate(up[5m]", "unreadable"),
        ("up)", "unreadable"),
        ("up{job", "unreadable"),
        ("up[5m", "unreadable"),
        ("", ""),
    ];
    for (query, wanted) in table {
        assert_eq!(metrics(query), wanted, "{query}");
    }
}

#[test]
fn a_logql_query_asks_for_its_stream_labels() {
    let table = [
        ("{app=\"a\"}", "app"),
        ("{app=\"a\", env!=\"b\"} |= \"{x=\\\"y\\\"}\"", "app env"),
        ("sum by (level) (rate({app=~\"a|b\"} |~ `err{` | json | level=\"error\" [5m]))", "app"),
        ("{app=\"a\"} | line_format \"{{.msg}}\"", "app"),
        ("{a=\"1\"} # {b=\"2\"}", "a"),
        ("{app=\"a\"", "unreadable"),
        ("}", "unreadable"),
        ("error", ""),
    ];
    for (query, wanted) in table {
        assert_eq!(labels(query), wanted, "{query}");
    }
}

fn identity(tool: &str, arguments: &str) -> String {
    of(tool, Tools::default().of(tool), arguments.as_bytes()).to_string()
}

#[test]
fn the_language_is_known_from_the_tool_and_nothing_else() {
    let table = [
        ("query_prometheus", r#"{"expr":"rate(up{job=\"a\"}[5m])"}"#, "metrics up"),
        ("mcp__grafana__query_prometheus", r#"{"expr":"up"}"#, "metrics up"),
        ("query_prometheus", r#"{"query":"up","datasourceUid":"p"}"#, "metrics up"),
        ("query_prometheus_histogram", r#"{"metric":"http_duration","labels":"a"}"#, "metrics http_duration"),
        ("query_prometheus", r#"{"expr":"up{"}"#, "all arguments"),
        ("query_prometheus", r#"{"expr":"vector(1)"}"#, "all arguments"),
        ("query_prometheus", r#"{"start":1}"#, "all arguments"),
        ("query_prometheus", "not json", "all arguments"),
        ("query_prometheus", "[\"up\"]", "all arguments"),
        ("query_loki_logs", r#"{"logql":"{app=\"a\"} |= \"x\""}"#, "stream labels app"),
        ("my_query_prometheus", r#"{"expr":"up"}"#, "all arguments"),
        ("grep", r#"{"query":"up"}"#, "all arguments"),
        ("Bash", r#"{"command":"ls","description":"list"}"#, "1 declared arguments"),
        ("Bash", r#"{"description":"list"}"#, "all arguments"),
    ];
    for (tool, arguments, wanted) in table {
        assert_eq!(identity(tool, arguments), wanted, "{tool} {arguments}");
    }
    let format = Some(FormatChoice::BuiltIn(Format::Prometheus));
    let pinned = Tool { format, ..Tool::unknown() };
    assert_eq!(of("mine", &pinned, br#"{"promql":"up{a=\"b\"}"}"#).to_string(), "metrics up");
}

fn bytes(tool: &str, arguments: &str) -> Option<Vec<u8>> {
    of(tool, Tools::default().of(tool), arguments.as_bytes()).bytes()
}

#[test]
fn relabelled_queries_are_one_and_other_questions_are_not() {
    let up = bytes("query_prometheus", r#"{"expr":"up{job=\"a\"}"}"#);
    assert!(up.is_some());
    assert_eq!(up, bytes("query_prometheus", r#"{"expr":"sum(up{job=\"b\"})","start":"now-1h"}"#));
    assert_ne!(up, bytes("query_prometheus", r#"{"expr":"down"}"#));
    assert_ne!(up, bytes("query_loki_logs", r#"{"logql":"{up=\"a\"}"}"#));
    let ls = bytes("Bash", r#"{"command":"ls","description":"a"}"#);
    assert_eq!(ls, bytes("Bash", r#"{"description":"b", "command":"ls"}"#));
    assert_ne!(ls, bytes("Bash", r#"{"command":"ls -l"}"#));
    assert_eq!(bytes("grep", r#"{"pattern":"x"}"#), None);
}

#[test]
fn an_endless_query_is_known_by_its_arguments() {
    let long = format!(r#"{{"expr":"up + {}"}}"#, "1 + ".repeat(QUERY_BYTES_MAX));
    assert_eq!(identity("query_prometheus", &long), "all arguments");
    let many: Vec<String> = (0..=NAMES_MAX).map(|n| format!("m{n}")).collect();
    assert_eq!(identity("query_prometheus", &format!(r#"{{"expr":"{}"}}"#, many.join("+"))), "all arguments");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_query_makes_it_panic(query in "\\PC*", odd in "[a-z_$(){}\\[\\]\"'`#=!~,.0-9xe+\\\\ -]{0,60}") {
        for text in [&query, &odd] {
            let _ = (promql::metrics(text), logql::stream_labels(text));
            let arguments = serde_json::json!({ "expr": text, "logql": text }).to_string();
            let _ = (identity("query_prometheus", &arguments), identity("query_loki_logs", &arguments));
            let _ = (identity("query_prometheus", text), identity("Bash", text));
        }
    }

    #[test]
    fn labels_and_ranges_never_change_what_is_asked(
        label in "[a-z_]{1,8}", value in "[a-zA-Z0-9 {}()\\[\\],#.*|-]{0,12}", range in "[1-9][0-9]?[smhd]",
    ) {
        let query = format!("sum by ({label}) (rate(errors_total{{{label}=~\"{value}\"}}[{range}])) / up offset {range}");
        prop_assert_eq!(metrics(&query), "errors_total up");
    }
}
