//! The board of sessions: how runs end, and which steers did not help.

use super::panel::{Board, Panel, Row, Variable};

pub(super) fn board() -> Board {
    Board {
        slug: "sessions",
        title: "tripnote / sessions",
        asks: "How do agent runs end, and do steers help before a halt?",
        variables: &[Variable::Fixed {
            name: "n",
            title: "Steer-then-halts above",
            values: &["1", "0", "2", "3", "5", "10"],
        }],
        rows: vec![
            Row::new("How do runs end?", headline()),
            Row::new("Over time", course()),
            Row::new("How many of them, in one run?", spread()),
            Row::new("Are answers borne out?", reviews()),
        ],
    }
}

fn headline() -> [Panel; 8] {
    let share = |of: &str| {
        format!("sum(increase({of}[$__range])) / sum(increase(tripnote_sessions_ended_total{{@}}[$__range]))")
    };
    let above = r#"1 - sum(increase(tripnote_session_steer_then_halts_bucket{@, le=~"$n(\\.0)?"}[$__range]))
/ sum(increase(tripnote_session_steer_then_halts_count{@}[$__range]))"#;
    let [known, share_of_ended] =
        [|panel: Panel| panel.size(6, 4), |panel: Panel| panel.unit("percentunit").empty("no sessions").size(3, 4)];
    [
        known(Panel::stat(
            "Open sessions",
            "How many runs are remembered?",
            "sum(tripnote_sessions_open{@}) or vector(0)",
        ))
        .plain(),
        share_of_ended(Panel::stat(
            "Ended in a halt",
            "Which share of the sessions that ended was closed as halted?",
            &share(r#"tripnote_sessions_ended_total{@, outcome="halted"}"#),
        ))
        .bad_above(0.05, 0.2),
        share_of_ended(Panel::stat(
            "Abandoned",
            "Which share was given up, or fell silent until it was forgotten?",
            &share(r#"tripnote_sessions_ended_total{@, outcome="abandoned"}"#),
        ))
        .bad_above(0.2, 0.5),
        share_of_ended(Panel::stat(
            "False halts",
            "Which share was told to halt and then closed as successful? Each is work that was nearly stopped in vain.",
            &share("tripnote_false_halts_total{@}"),
        ))
        .bad_above(0.01, 0.05),
        share_of_ended(Panel::stat(
            "More than $n steer-then-halts",
            "Which share of the sessions that ended had more steers that did not help than the board's choice?",
            above,
        ))
        .bad_above(0.02, 0.05),
        known(Panel::stat(
            "Above the operator's count",
            "How many sessions reached `session.alert_steer_then_halt`, as soon as they did?",
            "sum(increase(tripnote_steer_then_halt_alerts_total{@}[$__range])) or vector(0)",
        ))
        .bad_from(1.0),
        known(Panel::stat(
            "The operator's count",
            "From how many steer-then-halts of one session on does the operator want to hear of it?",
            "max(tripnote_alert_steer_then_halt{@})",
        ))
        .plain(),
        known(Panel::stat(
            "Steer-then-halts",
            "How many steers did not help, so that a halt followed?",
            "sum(increase(tripnote_steer_then_halts_total{@}[$__range])) or vector(0)",
        ))
        .plain(),
    ]
}

fn course() -> [Panel; 4] {
    [
        Panel::lines("Sessions an hour", "How many runs begin and end?")
            .ask("sum(rate(tripnote_sessions_started_total{@}[$__rate_interval])) * 3600", "began")
            .ask("sum(rate(tripnote_sessions_ended_total{@}[$__rate_interval])) * 3600", "ended"),
        Panel::areas("How they end, an hour", "With an answer, with a person, halted, or abandoned?")
            .ask("sum by (outcome) (rate(tripnote_sessions_ended_total{@}[$__rate_interval])) * 3600", "{{outcome}}")
            .colours(&[("answered", "green"), ("escalated", "blue"), ("halted", "red"), ("abandoned", "orange")]),
        Panel::lines("Open sessions by replica", "Is memory held by runs that nobody closes?")
            .ask("sum by (instance) (tripnote_sessions_open{@})", "{{instance}}"),
        Panel::lines("Steer-then-halts an hour", "How often does a steer not help, as it happens?")
            .ask("sum(rate(tripnote_steer_then_halts_total{@}[$__rate_interval])) * 3600", "steer-then-halts an hour"),
    ]
}

/// Sessions by how many of something they had, each number apart: the difference of two bounds.
fn spread_of(title: &'static str, asks: &'static str, metric: &str) -> Panel {
    let up_to = |bound: &str| format!(r#"sum(increase({metric}_bucket{{@, le=~"{bound}(\\.0)?"}}[$__range]))"#);
    let all = format!("(sum(increase({metric}_count{{@}}[$__range])) > 0)");
    let between = |low: &str, high: &str| format!("clamp_min({} - {}, 0) / {all}", up_to(high), up_to(low));
    Panel::bars(title, asks)
        .ask(&format!("{} / {all}", up_to("0")), "none")
        .ask(&between("0", "1"), "1")
        .ask(&between("1", "2"), "2")
        .ask(&between("2", "3"), "3")
        .ask(&format!("clamp_min(1 - {} / {all}, 0)", up_to("3")), "4 and more")
        .unit("percentunit")
        .empty("no session has ended")
        .size(8, 7)
}

fn spread() -> [Panel; 3] {
    [
        spread_of("Steers of a session", "How often is one run told to go on otherwise?", "tripnote_session_steers"),
        spread_of("Halts of a session", "How often is one run told to stop?", "tripnote_session_halts"),
        spread_of(
            "Steer-then-halts of a session",
            "How often is one run told, and stopped nevertheless?",
            "tripnote_session_steer_then_halts",
        ),
    ]
}

fn reviews() -> [Panel; 2] {
    [
        Panel::areas("Reviewed answers an hour", "Which answers may stand?")
            .ask("sum by (verdict) (rate(tripnote_reviews_total{@}[$__rate_interval])) * 3600", "{{verdict}}"),
        Panel::bars("Rules that answers break", "Why may they not stand?")
            .ask("sum by (rule) (increase(tripnote_review_faults_total{@}[$__range])) > 0", "{{rule}}")
            .empty("no answer was at fault"),
    ]
}
