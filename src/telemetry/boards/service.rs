//! The board of the service itself: rate, errors and duration of its calls, then what it uses.

use super::panel::{Board, Panel, Row};

pub(super) fn board() -> Board {
    Board {
        slug: "service",
        title: "tripnote / service",
        asks: "Is the service fast, sound and within its means?",
        variables: &[],
        rows: vec![
            Row::new("Calls: rate, errors, duration", calls()),
            Row::new("Requests over HTTP", over_http()),
            Row::new("Permits and reports", permits()),
            Row::new("Results as they were read", results()),
            Row::new(
                "Configuration, events and clock",
                inside().into_iter().chain(inside_over_time()).collect::<Vec<_>>(),
            ),
            Row::new("What outlives a restart", store()),
            Row::new("Means", means()),
        ],
    }
}

fn calls() -> [Panel; 4] {
    let quantile = |of: &str| {
        format!(
            "histogram_quantile({of}, sum by (le, grpc_method) (
  rate(grpc_server_handling_seconds_bucket{{@, grpc_method=~\"Admit|AdmitWave|Report\"}}[$__rate_interval])
))
>= 0"
        )
    };
    [
        Panel::areas("Calls", "How many calls begin, a second, of which kind?")
            .ask("sum by (grpc_method) (rate(grpc_server_started_total{@}[$__rate_interval])) > 0", "{{grpc_method}}")
            .unit("reqps")
            .empty("no calls"),
        Panel::lines(
            "Failed calls",
            "Which share of calls ends with a fault of the service? A refusal is an answer and never among them.",
        )
        .ask(
            r#"(sum by (grpc_method) (rate(grpc_server_handled_total{@, grpc_code=~"Internal|Unavailable|Unknown|DataLoss"}[$__rate_interval]))
  or 0 * sum by (grpc_method) (rate(grpc_server_handled_total{@}[$__rate_interval])))
/ (sum by (grpc_method) (rate(grpc_server_handled_total{@}[$__rate_interval])) > 0)"#,
            "{{grpc_method}}",
        )
        .unit("percentunit")
        .empty("no calls"),
        Panel::lines("How long calls take", "How long do agents wait? Half and 99 of 100 of the calls take no longer.")
            .ask(&quantile("0.5"), "{{grpc_method}} p50")
            .ask(&quantile("0.99"), "{{grpc_method}} p99")
            .unit("s")
            .empty("no calls"),
        Panel::bars("Codes of calls that ended", "What did clients get, by code?")
            .ask("sum by (grpc_code) (increase(grpc_server_handled_total{@}[$__range])) > 0", "{{grpc_code}}")
            .empty("no calls"),
    ]
}

fn over_http() -> [Panel; 3] {
    let of_http = |of: &str| {
        format!(
            "histogram_quantile({of}, sum by (le) (
  rate(tripnote_http_request_duration_seconds_bucket{{@}}[$__rate_interval])
))
>= 0"
        )
    };
    [
        Panel::areas(
            "HTTP requests by route",
            "What is asked over HTTP, a second, hooks among it? None of it is among the calls.",
        )
        .ask("sum by (route) (rate(tripnote_http_requests_total{@}[$__rate_interval])) > 0", "{{route}}")
        .unit("reqps")
        .empty("no requests"),
        Panel::lines(
            "Requests over HTTP at fault",
            "Which share of requests over HTTP is at fault (4xx), or met a fault of the service (5xx)?",
        )
        .ask(
            r#"sum by (code) (rate(tripnote_http_requests_total{@, code=~"4xx|5xx"}[$__rate_interval]))
/ on () group_left () (sum(rate(tripnote_http_requests_total{@}[$__rate_interval])) > 0)"#,
            "{{code}}",
        )
        .unit("percentunit")
        .empty("no requests"),
        Panel::lines(
            "How long requests over HTTP take",
            "How long do programs and people wait? Half and 99 of 100 of the requests take no longer.",
        )
        .ask(&of_http("0.5"), "p50")
        .ask(&of_http("0.99"), "p99")
        .unit("s")
        .empty("no requests")
        .size(24, 7),
    ]
}

fn permits() -> [Panel; 6] {
    [
        Panel::lines("Permits", "Are permits given back as they are taken, a second?")
            .ask("sum(rate(tripnote_permits_issued_total{@}[$__rate_interval]))", "issued")
            .ask("sum by (result) (rate(tripnote_permits_settled_total{@}[$__rate_interval]))", "{{result}}")
            .unit("ops"),
        Panel::lines("Permits in flight", "How many calls are under way, on which replica?")
            .ask("sum by (instance) (tripnote_permits_in_flight{@})", "{{instance}}"),
        Panel::stat(
            "Permits never reported",
            "Which share of the permits ran out without a report? Callers that die or forget blind the breaker.",
            r#"sum(increase(tripnote_permits_settled_total{@, result="expired"}[$__range]))
/ sum(increase(tripnote_permits_issued_total{@}[$__range]))"#,
        )
        .unit("percentunit")
        .empty("no calls")
        .bad_above(0.01, 0.02)
        .size(8, 4),
        Panel::stat(
            "Oldest permit",
            "How long has the oldest permit been out?",
            "max(tripnote_permit_oldest_age_seconds{@}) or vector(0)",
        )
        .unit("s")
        .bad_above(60.0, 300.0)
        .size(8, 4),
        Panel::stat(
            "Contracts over budget",
            "Was a contract ever longer than its budget? It is proved that none is.",
            "sum(increase(tripnote_contract_overruns_total{@}[$__range])) or vector(0)",
        )
        .bad_from(1.0)
        .size(8, 4),
        Panel::lines("Reports", "What becomes of reports, a second? Late, unknown and doubled ones move nothing.")
            .ask(
                "sum by (acknowledgement) (rate(tripnote_reports_total{@}[$__rate_interval])) > 0",
                "{{acknowledgement}}",
            )
            .unit("ops")
            .empty("no reports")
            .size(24, 7),
    ]
}

fn results() -> [Panel; 2] {
    [
        Panel::areas("What results are", "What do tools answer, by what it was read as?")
            .ask("sum by (observation) (rate(tripnote_results_total{@}[$__rate_interval])) > 0", "{{observation}}")
            .unit("ops")
            .empty("no results"),
        Panel::areas("Who is to act on them", "Is it for the model, the harness or nobody?")
            .ask("sum by (disposition) (rate(tripnote_dispositions_total{@}[$__rate_interval])) > 0", "{{disposition}}")
            .unit("ops")
            .empty("no results"),
    ]
}

fn inside() -> [Panel; 6] {
    [
        Panel::stat(
            "Last reload",
            "Was the configuration good when it was read last, on every replica?",
            "min(tripnote_config_last_reload_successful{@})",
        )
        .unit("none")
        .words(&[(0.0, "failed", "red"), (1.0, "good", "green")])
        .good_from(1.0)
        .size(4, 4),
        Panel::stat(
            "Configuration read",
            "How long ago was the configuration read and good, on the replica where it is longest ago?",
            "time() - min(tripnote_config_last_reload_success_timestamp_seconds{@})",
        )
        .unit("dtdurations")
        .plain()
        .size(4, 4),
        Panel::stat(
            "Clock",
            "Has a wall clock jumped, so that contracts show no absolute time?",
            "max(tripnote_clock_distrusted{@})",
        )
        .unit("none")
        .words(&[(0.0, "trusted", "green"), (1.0, "has jumped", "red")])
        .bad_from(1.0)
        .size(4, 4),
        Panel::stat(
            "Events lost",
            "Did a reader miss events? The log, the audit file and watchers are told how many; counters never miss one.",
            "sum(increase(tripnote_events_lost_total{@}[$__range])) or vector(0)",
        )
        .bad_from(1.0)
        .size(4, 4),
        Panel::stat("Watchers", "How many streams of events are open?", "sum(tripnote_event_watchers{@}) or vector(0)")
            .plain()
            .size(4, 4),
        Panel::stat(
            "Series of a replica",
            "How many series does a replica give? It is built to stay below 2,500.",
            "max(scrape_samples_post_metric_relabeling{@})",
        )
        .empty("not scraped")
        .bad_above(2_500.0, 5_000.0)
        .size(4, 4),
    ]
}

fn inside_over_time() -> [Panel; 4] {
    [
        Panel::lines("Events", "How much happens, a second, and how much of it do readers miss?")
            .ask("sum by (instance) (rate(tripnote_events_total{@}[$__rate_interval]))", "{{instance}}")
            .ask("sum by (instance) (rate(tripnote_audit_events_total{@}[$__rate_interval]))", "audited: {{instance}}")
            .ask("sum by (reader) (rate(tripnote_events_lost_total{@}[$__rate_interval]))", "lost: {{reader}}")
            .unit("ops"),
        Panel::table("Replicas", "Which version does each replica run, and since when?", &["instance", "version"])
            .column(
                "running for",
                "dtdurations",
                "max by (instance, version) (tripnote_build_info{@})
* on (instance) group_left () (time() - max by (instance) (process_start_time_seconds{@}))",
            )
            .empty("not scraped"),
        Panel::lines("Version of the configuration", "Do all replicas follow a reload?")
            .ask("max by (instance) (tripnote_config_version{@})", "{{instance}}")
            .unit("none"),
        Panel::lines("Reloads", "How often was the configuration read again, an hour, and what came of it?")
            .ask("sum by (result) (rate(tripnote_config_reloads_total{@}[$__rate_interval])) * 3600", "{{result}}"),
    ]
}

fn store() -> [Panel; 6] {
    [
        Panel::stat("Store", "Is what is to outlive a restart written, on every replica?", "min(tripnote_store_up{@})")
            .unit("none")
            .words(&[(0.0, "down", "red"), (1.0, "up", "green")])
            .good_from(1.0)
            .size(8, 4),
        Panel::stat(
            "Waiting to be written",
            "How many circuits, sessions, attempts and figures would a crash forget the last change of?",
            "max(tripnote_store_unwritten{@})",
        )
        .plain()
        .size(8, 4),
        Panel::stat(
            "Degraded decisions",
            "How many calls were decided while the store was down?",
            "sum(increase(tripnote_degraded_decisions_total{@}[$__range])) or vector(0)",
        )
        .bad_from(1.0)
        .size(8, 4),
        Panel::lines(
            "Writes",
            "How often is the store written, a second, how often in vain, and how many records is that?",
        )
        .ask("sum by (result) (rate(tripnote_store_commits_total{@}[$__rate_interval]))", "{{result}}")
        .ask("sum(rate(tripnote_store_records_written_total{@}[$__rate_interval]))", "records")
        .unit("ops")
        .size(8, 7),
        Panel::lines("How long writes take", "Is the disk slow? Half and 99 of 100 of the writes take no longer.")
            .ask(&commit_quantile("0.5"), "p50")
            .ask(&commit_quantile("0.99"), "p99")
            .unit("s")
            .empty("no writes")
            .size(8, 7),
        Panel::lines("What is written", "How many bytes are written, a second, on which replica?")
            .ask("sum by (instance) (rate(tripnote_store_written_bytes_total{@}[$__rate_interval]))", "{{instance}}")
            .unit("bytes")
            .size(8, 7),
    ]
}

fn commit_quantile(of: &str) -> String {
    format!(
        "histogram_quantile({of}, sum by (le) (
  rate(tripnote_store_commit_seconds_bucket{{@}}[$__rate_interval])
))
>= 0"
    )
}

fn means() -> [Panel; 5] {
    [
        Panel::lines("Processor", "How many cores does each replica use?")
            .ask("sum by (instance) (rate(process_cpu_seconds_total{@}[$__rate_interval]))", "{{instance}}")
            .unit("none"),
        Panel::lines("Memory", "Does a replica grow without end?")
            .ask("max by (instance) (process_resident_memory_bytes{@})", "{{instance}}")
            .unit("bytes"),
        Panel::lines("Open files", "Is there room for connections?")
            .ask("max by (instance) (process_open_fds{@}) / max by (instance) (process_max_fds{@})", "{{instance}}")
            .unit("percentunit"),
        Panel::lines("Threads", "How many threads does each replica run?")
            .ask("max by (instance) (process_threads{@})", "{{instance}}")
            .unit("none"),
        Panel::lines("Running for", "Which replica was started again, and when?")
            .ask("time() - max by (instance) (process_start_time_seconds{@})", "{{instance}}")
            .unit("dtdurations")
            .size(24, 7),
    ]
}
