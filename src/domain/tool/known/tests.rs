use super::*;
use crate::domain::tool::{Effect, Tools};

fn words(name: &str) -> (Option<&str>, Option<&str>, Effect) {
    let tool = of(name);
    (tool.domain.as_ref().map(|word| word.as_str()), tool.role.as_ref().map(|word| word.as_str()), tool.effect)
}

#[test]
fn the_rows_are_sorted_and_each_name_stands_once() {
    for (first, second) in ROWS.iter().zip(ROWS.iter().skip(1)) {
        assert!(first.0 < second.0, "{} before {}", first.0, second.0);
    }
}

#[test]
fn every_row_is_found_and_says_something() {
    for (name, facts) in ROWS {
        assert_eq!(of(name), &facts.tool(), "{name}");
        assert_ne!(of(name), &Tool::unknown(), "{name}");
        assert!(of(name).identity.iter().all(|pointer| pointer.starts_with('/')), "{name}");
    }
}

#[test]
fn the_words_are_those_of_the_ledger() {
    assert_eq!(words("query_prometheus"), (Some("runtime"), Some("mechanism"), Effect::Read));
    assert_eq!(words("query_loki_logs"), (Some("log"), Some("impact"), Effect::Read));
    assert_eq!(words("query_tempo_traces"), (Some("trace"), Some("mechanism"), Effect::Read));
    assert_eq!(words("k8s_pod_status_tool"), (Some("runtime"), Some("mechanism"), Effect::Read));
    assert_eq!(words("discover_metrics"), (Some("catalog"), Some("context"), Effect::Read));
}

#[test]
fn only_what_is_never_evidence_is_context() {
    for name in
        ["discover_metrics_tool", "list_loki_label_names", "search_tools", "load_skill", "read_notes", "TodoWrite"]
    {
        assert!(of(name).is_context(), "{name}");
    }
    for name in ["query_prometheus", "Read", "Bash", "list_deployments", "list_pods", "gh_list_pulls", "list_issues"] {
        assert!(!of(name).is_context(), "{name}");
    }
}

#[test]
fn the_name_of_the_server_is_no_part_of_the_tool() {
    assert_eq!(of("mcp__grafana__query_prometheus"), of("query_prometheus"));
    assert_eq!(of("mcp__my_grafana__query_prometheus"), of("query_prometheus"));
    assert_eq!(of("mcp__filesystem__read_file"), of("read_file"));
    for name in ["mcp__grafana", "mcp____", "mcp__", "mcp__grafana__", "grafana__query_prometheus"] {
        assert_eq!(of(name), &Tool::unknown(), "{name}");
    }
}

#[test]
fn nothing_is_guessed_from_parts_of_a_name() {
    for name in ["", "query", "query_prometheus2", "Query_Prometheus", "my_read_file", "shell:grep", "check_status"] {
        assert_eq!(of(name), &Tool::unknown(), "{name:?}");
    }
}

#[test]
fn writes_of_coding_agents_mutate_and_their_readers_are_opaque() {
    for name in ["Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch", "write_file", "edit_file", "git_commit"] {
        assert_eq!(of(name).effect, Effect::Mutate, "{name}");
    }
    for name in ["Read", "Grep", "Glob", "WebFetch", "read_file", "fetch", "web_fetch", "read_logs", "fetch_log_file"] {
        assert!(of(name).is_opaque && of(name).effect == Effect::Read, "{name}");
    }
    // who may do either has to say it with the call
    for name in ["Bash", "shell", "str_replace_editor", "memory"] {
        assert_eq!(of(name).effect, Effect::Unknown, "{name}");
    }
}

#[test]
fn a_configuration_without_rows_knows_the_table() {
    assert_eq!(Tools::default().of("Bash").identity.first().map(|pointer| &**pointer), Some("/command"));
}
