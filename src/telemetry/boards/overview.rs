//! The first board: whether the breaker helps, and whether it is well.

use super::panel::{Board, Panel, Row};

/// How a breaker stands as a number, the strictest of its replicas; closed is 0.
pub(super) const STATE: &str = r#"max by (breaker) (
  3 * tripnote_breaker_state{@, state="forced_open"} or 2 * tripnote_breaker_state{@, state="open"}
  or tripnote_breaker_state{@, state="half_open"}
)"#;
/// The words of [`STATE`].
pub(super) const STATES: [(f64, &str, &str); 4] =
    [(0.0, "closed", "green"), (1.0, "half-open", "yellow"), (2.0, "open", "red"), (3.0, "held open", "purple")];
/// Decisions in the colours of their weight.
const DECISIONS: &[(&str, &str)] =
    &[("admit", "green"), ("probe", "yellow"), ("steer", "orange"), ("trip", "red"), ("halt", "dark-red")];

pub(super) fn board() -> Board {
    Board {
        slug: "overview",
        title: "tripnote / overview",
        asks: "Is the breaker helping the agents, and is it well itself?",
        variables: &[],
        rows: vec![
            Row::new("Is it helping, and is it well?", headline()),
            Row::new("What is open?", open()),
            Row::new("What is decided?", decided()),
            Row::new("Do models heed what they are told?", heeded()),
        ],
    }
}

fn headline() -> [Panel; 8] {
    [
        Panel::stat(
            "Open breakers",
            "How many breakers refuse calls now, on any replica?",
            r#"sum(max by (job, breaker) (tripnote_breaker_state{@, state=~"open|forced_open"})) or vector(0)"#,
        )
        .bad_above(1.0, 5.0),
        Panel::stat(
            "Repeat rate",
            "After which share of concluded trips was the very same call made again before its time? Low is good.",
            "sum(increase(tripnote_repeated_trips_total{@}[$__range]))
/ sum(increase(tripnote_trip_followups_total{@}[$__range]))",
        )
        .unit("percentunit")
        .empty("no trips")
        .bad_above(0.15, 0.4),
        Panel::stat(
            "First-action match",
            "After which share of concluded trips did the model do first what the contract asked for? High is good.",
            r#"sum(increase(tripnote_trip_followups_total{@, first_action="match"}[$__range]))
/ sum(increase(tripnote_trip_followups_total{@}[$__range]))"#,
        )
        .unit("percentunit")
        .empty("no trips")
        .bad_below(0.4, 0.7),
        Panel::stat(
            "Recovered in 3 steps",
            "Which share of all trips, not of the recovered alone, had a usable result within three model steps?",
            r#"sum(increase(tripnote_recovery_turns_bucket{@, le=~"3(\\.0)?"}[$__range]))
/ sum(increase(tripnote_trip_resolutions_total{@}[$__range]))"#,
        )
        .unit("percentunit")
        .empty("no trips")
        .bad_below(0.3, 0.6),
        Panel::stat(
            "Halts per 100 sessions",
            "How many halts were told in a hundred sessions that ended?",
            "100 * sum(increase(tripnote_session_halts_sum{@}[$__range]))
/ sum(increase(tripnote_session_halts_count{@}[$__range]))",
        )
        .empty("no sessions")
        .bad_above(5.0, 20.0),
        Panel::stat(
            "Admit p99",
            "How long do agents wait for a permit? 99 of 100 wait no longer.",
            r#"histogram_quantile(0.99,
  sum by (le) (increase(grpc_server_handling_seconds_bucket{@, grpc_method="Admit"}[$__range])))"#,
        )
        .unit("s")
        .empty("no calls")
        .bad_above(0.005, 0.025),
        Panel::stat("Replicas up", "How many replicas does Prometheus reach?", "sum(up{@}) or vector(0)")
            .good_from(1.0),
        Panel::stat(
            "Alerts firing",
            "How many of the alerts that come with tripnote fire now?",
            r#"count(ALERTS{alertstate="firing", alertname=~"Tripnote.+"}) or vector(0)"#,
        )
        .bad_from(1.0),
    ]
}

fn open() -> [Panel; 3] {
    [
        Panel::timeline(
            "How breakers stand",
            "Which breaker was open when? The strictest of its circuits on any replica; the words say the same as the colours.",
        )
        .ask(STATE, "{{breaker}}")
        .words(&STATES)
        .empty("no breaker is configured")
        .more("breakers", "breaker")
        .size(24, 7),
        open_table().size(14, 7),
        Panel::table(
            "Alerts",
            "Which alerts fire now? Each has its place in the README of the dashboards, with what to do.",
            &["alertname", "severity"],
        )
        .column(
            "firing",
            "short",
            r#"count by (alertname, severity) (ALERTS{alertstate="firing", alertname=~"Tripnote.+"})"#,
        )
        .empty("no alert fires")
        .size(10, 7),
    ]
}

/// Breakers that are not closed, per replica.
pub(super) fn open_table() -> Panel {
    Panel::table(
        "Not closed now",
        "Which breakers are not closed, where, and for how long? A replica holds circuits of its own.",
        &["breaker", "instance"],
    )
    .column(
        "state",
        "none",
        r#"max by (breaker, instance) (
  3 * tripnote_breaker_state{@, state="forced_open"} or 2 * tripnote_breaker_state{@, state="open"}
  or tripnote_breaker_state{@, state="half_open"}
) > 0"#,
    )
    .column(
        "since it opened last",
        "dtdurations",
        "time() - (max by (breaker, instance) (tripnote_breaker_opened_timestamp_seconds{@}) > 0)",
    )
    .words(&STATES)
    .empty("every breaker is closed")
    .more("breakers", "breaker")
}

fn decided() -> [Panel; 2] {
    [
        Panel::areas("Decisions", "What is answered to calls and results, a second?")
            .ask("sum by (decision) (rate(tripnote_decisions_total{@}[$__rate_interval]))", "{{decision}}")
            .unit("reqps")
            .colours(DECISIONS),
        Panel::lines("Refusals by breaker", "Which ten breakers and session guards refuse most?")
            .ask("topk(10, sum by (breaker) (rate(tripnote_refusals_total{@}[$__rate_interval])) > 0)", "{{breaker}}")
            .unit("reqps")
            .empty("nothing is refused")
            .more("breakers", "breaker"),
    ]
}

fn heeded() -> [Panel; 2] {
    [
        Panel::lines("Repeat rate by variant, over an hour", "Does one wording keep models from repeating better?")
            .ask(
                "sum by (variant) (increase(tripnote_repeated_trips_total{@}[1h]))
/ (sum by (variant) (increase(tripnote_trip_followups_total{@}[1h])) > 0)",
                "{{variant}}",
            )
            .unit("percentunit")
            .empty("no trips")
            .more("messages", "variant"),
        Panel::bars("First-action match by signal and variant", "Which messages are understood, and which are not?")
            .ask(
                r#"sum by (signal, variant) (increase(tripnote_trip_followups_total{@, first_action="match"}[$__range]))
/ (sum by (signal, variant) (increase(tripnote_trip_followups_total{@}[$__range])) > 0)"#,
                "{{signal}}, {{variant}}",
            )
            .unit("percentunit")
            .empty("no trips")
            .bad_below(0.4, 0.7)
            .more("messages", "signal"),
    ]
}
