//! The board of wordings: side by side, with what may be said of their difference and what may not.

use super::SESSIONS_FOR_A_VERDICT;
use super::panel::{Board, Panel, Row, Variable};

const READ: &str = "Shares are of **concluded** trips; recoveries are of **all resolved** trips, not of the recovered \
alone. The intervals hold 95 of 100 times. A session is drawn, and its trips are not independent of each other: \
therefore intervals and z reckon with *sessions*, not with trips. Below 100 sessions of each wording the boards say \
*not enough data*. Whoever looks every day and stops at the first verdict will find differences that are not there: \
fix the length of an experiment first. `tripnote behaviour` gives the same shares since the start, over restarts.";

const VARIABLES: &[Variable] = &[
    Variable::Some { name: "breaker", of: "tripnote_trips_total" },
    Variable::Some { name: "signal", of: "tripnote_trips_total" },
    Variable::Some { name: "variant", of: "tripnote_trips_total" },
    Variable::One { name: "baseline", title: "Baseline", of: "tripnote_trips_total", label: "variant", is_last: false },
    Variable::One {
        name: "challenger",
        title: "Challenger",
        of: "tripnote_trips_total",
        label: "variant",
        is_last: true,
    },
];

const CONCLUDED: &str = "sum by (variant) (increase(tripnote_trip_followups_total{@part}[$__range]))";
const SESSIONS: &str = "sum by (variant) (increase(tripnote_trip_sessions_total{@part}[$__range]))";
const MATCHED: &str =
    r#"sum by (variant) (increase(tripnote_trip_followups_total{@part, first_action="match"}[$__range]))"#;
const REPEATED: &str = "sum by (variant) (increase(tripnote_repeated_trips_total{@part}[$__range]))";
// The two that have no label `breaker`, so that its choice must bind neither side of a share.
const RESOLVED: &str = "sum by (variant) (increase(tripnote_trip_resolutions_total{@told}[$__range]))";
const RECOVERED_IN: &str = "sum by (variant, le) (increase(tripnote_recovery_turns_bucket{@told}[$__range]))";

pub(super) fn board() -> Board {
    Board {
        slug: "messages",
        title: "tripnote / messages",
        asks: "Which wording do models heed, and is the difference real?",
        variables: VARIABLES,
        rows: vec![
            Row::new("Wordings side by side", [Panel::text("How to read this", READ).size(24, 4), side_by_side()]),
            Row::new("Is the difference real? (challenger against baseline)", difference()),
            Row::new("What happens after a trip?", aftermath()),
            Row::new("Over time, and whether the draw is fair", course()),
        ],
    }
}

/// A share that is never above 1: the edges of the time are stretched for each series apart.
fn share(of: &str, all: &str) -> String {
    format!("clamp_max({of} / ({all} > 0), 1)")
}

/// One end of the interval of a share (Wilson, 95 of 100 times), with sessions as what is independent.
fn end_of_interval(of: &str, sign: char) -> String {
    let (p, n) = (share(of, CONCLUDED), format!("({SESSIONS} > 0)"));
    format!("({p} + 1.9208 / {n} {sign} 1.96 * sqrt({p} * (1 - {p}) / {n} + 0.9604 / ({n} ^ 2))) / (1 + 3.8416 / {n})")
}

fn side_by_side() -> Panel {
    let within_3 = RECOVERED_IN.replace("variant, le", "variant").replace("@told", r#"@told, le=~"3(\\.0)?""#);
    let none = MATCHED.replace("match", "none");
    let enough = format!("({SESSIONS} >= bool {SESSIONS_FOR_A_VERDICT})");
    Panel::table("Variants side by side", "How did each wording do, on how much evidence?", &["variant"])
        .column("enough data?", "none", &enough)
        .column("trips", "none", CONCLUDED)
        .column("sessions (n)", "none", SESSIONS)
        .column("match", "percentunit", &share(MATCHED, CONCLUDED))
        .column("from", "percentunit", &end_of_interval(MATCHED, '-'))
        .column("to", "percentunit", &end_of_interval(MATCHED, '+'))
        .column("repeat", "percentunit", &share(REPEATED, CONCLUDED))
        .column("from ", "percentunit", &end_of_interval(REPEATED, '-'))
        .column("to ", "percentunit", &end_of_interval(REPEATED, '+'))
        .column("no further call", "percentunit", &share(&none, CONCLUDED))
        .column("within 3 steps", "percentunit", &share(&within_3, RESOLVED))
        .words(&[(0.0, "not enough data", "orange"), (1.0, "yes", "green")])
        .empty("no trips")
        .size(24, 7)
}

/// What is compared: one wording, chosen by a variable, over the trips of the chosen breakers and signals.
fn of_choice(total: &str, choice: &str) -> String {
    let matchers = format!(r#"@, breaker=~"$breaker", signal=~"$signal", variant="${choice}""#);
    total.replace("sum by (variant)", "sum").replace("@part", &matchers)
}

/// How many standard errors lie between the shares of two wordings.
fn z(of: &str) -> String {
    let [hit_1, hit_2] = ["baseline", "challenger"].map(|choice| of_choice(of, choice));
    let [all_1, all_2] = ["baseline", "challenger"].map(|choice| of_choice(CONCLUDED, choice));
    let [n_1, n_2] = ["baseline", "challenger"].map(|choice| of_choice(SESSIONS, choice));
    let pooled = format!("clamp_max(({hit_1} + {hit_2}) / ({all_1} + {all_2}), 1)");
    format!("({hit_2} / {all_2} - {hit_1} / {all_1}) / sqrt({pooled} * (1 - {pooled}) * (1 / {n_1} + 1 / {n_2}))")
}

/// 0 for too few sessions, 1 for no difference, 2 for a lower share of the challenger, 3 for a higher one.
fn verdict(of: &str) -> String {
    let [n_1, n_2] = ["baseline", "challenger"].map(|choice| of_choice(SESSIONS, choice));
    let least = SESSIONS_FOR_A_VERDICT;
    let z = z(of);
    format!("({n_1} >= bool {least}) * ({n_2} >= bool {least}) * (1 + (abs({z}) > bool 1.96) * (1 + (({z}) > bool 0)))")
}

fn difference() -> Vec<Panel> {
    let of = |of: &str, choice: &str| format!("{} / {}", of_choice(of, choice), of_choice(CONCLUDED, choice));
    let gap = |hits: &str| format!("{} - {}", of(hits, "challenger"), of(hits, "baseline"));
    let unsure = "not enough data";
    let shown = |panel: Panel| panel.unit("percentunit").empty(unsure).plain().size(4, 4);
    let odd = |panel: Panel| panel.unit("none").empty(unsure).plain().size(4, 4);
    let told = |panel: Panel, lower: (&'static str, &'static str), higher: (&'static str, &'static str)| {
        let words = [
            (0.0, unsure, "orange"),
            (1.0, "no difference seen", "blue"),
            (2.0, lower.0, lower.1),
            (3.0, higher.0, higher.1),
        ];
        panel.unit("none").empty(unsure).plain().words(&words).size(4, 4)
    };
    let (better, worse) = (("challenger is better", "green"), ("challenger is worse", "red"));
    vec![
        shown(Panel::stat(
            "Match, difference",
            "By how much is the challenger's first-action match higher?",
            &gap(MATCHED),
        )),
        odd(Panel::stat(
            "Match, z",
            "How many standard errors is that? Beyond 1.96 on either side it is told.",
            &z(MATCHED),
        )),
        told(
            Panel::stat("Match, verdict", "Is the challenger's match another than the baseline's?", &verdict(MATCHED)),
            worse,
            better,
        ),
        shown(Panel::stat("Repeat, difference", "By how much is the challenger's repeat rate higher?", &gap(REPEATED))),
        odd(Panel::stat(
            "Repeat, z",
            "How many standard errors is that? Beyond 1.96 on either side it is told.",
            &z(REPEATED),
        )),
        told(
            Panel::stat(
                "Repeat, verdict",
                "Is the challenger's repeat rate another than the baseline's?",
                &verdict(REPEATED),
            ),
            better,
            worse,
        ),
    ]
}

fn aftermath() -> [Panel; 4] {
    let part = |of: &str, label: &str, by: &str| {
        let total = format!("sum by (variant, {label}) (increase({of}[$__range]))");
        format!("{total} / on (variant) group_left () ({by} > 0)")
    };
    // One question a bound, so that they stand in their order.
    let within = |steps: &str| {
        let bound = format!(r#"@told, le=~"{steps}(\\.0)?""#);
        format!("{} / ({RESOLVED} > 0)", RECOVERED_IN.replace("variant, le", "variant").replace("@told", &bound))
    };
    let quartile = |of: &str| format!("ceil(histogram_quantile({of}, {RECOVERED_IN}))");
    [
        Panel::bars("First actions", "What did models do first after they were told?")
            .ask(&part("tripnote_trip_followups_total{@part}", "first_action", CONCLUDED), "{{variant}}: {{first_action}}")
            .unit("percentunit")
            .empty("no trips")
            .size(8, 9),
        Panel::bars(
            "Recovered within so many steps",
            "How fast do trips end well, as a share of all? Over all breakers: this metric has no label for them.",
        )
        .ask(&within("1"), "{{variant}}: 1 or less")
        .ask(&within("2"), "{{variant}}: 2 or less")
        .ask(&within("3"), "{{variant}}: 3 or less")
        .ask(&within("5"), "{{variant}}: 5 or less")
        .ask(&within("10"), "{{variant}}: 10 or less")
        .unit("percentunit")
        .empty("no trips")
        .size(8, 9),
        Panel::bars("How trips ended", "How did it end with what had been refused?")
            .ask(
                &part(
                    "tripnote_trip_resolutions_total{@part}",
                    "outcome",
                    &RESOLVED.replace("@told", "@part"),
                ),
                "{{variant}}: {{outcome}}",
            )
            .unit("percentunit")
            .empty("no trips")
            .size(8, 9),
        Panel::table(
            "Steps to a recovery",
            "After how many model steps, of recovered trips alone? A quartile is a whole number of steps. Read it beside the share that recovers.",
            &["variant"],
        )
        .column("recovered", "none", "sum by (variant) (increase(tripnote_recovery_turns_count{@told}[$__range]))")
        .column("first quartile", "none", &quartile("0.25"))
        .column("median", "none", &quartile("0.5"))
        .column("third quartile", "none", &quartile("0.75"))
        .empty("nothing has recovered")
        .size(24, 6),
    ]
}

fn course() -> [Panel; 4] {
    [
        Panel::lines("Trips an hour", "How often is anything told, and in which wording?")
            .ask("sum by (variant) (rate(tripnote_trips_total{@part}[$__rate_interval])) * 3600", "{{variant}}")
            .empty("no trips"),
        Panel::lines("Repeat rate by signal, over an hour", "Did a change of ours or of a model make a message fail?")
            .ask(
                "sum by (signal) (increase(tripnote_repeated_trips_total{@part}[1h]))
/ (sum by (signal) (increase(tripnote_trip_followups_total{@part}[1h])) > 0)",
                "{{signal}}",
            )
            .unit("percentunit")
            .empty("no trips"),
        Panel::bars(
            "Repeats a trip",
            "How often is the same call made again after one trip? Over all breakers: this metric has no label for them.",
        )
        .ask(
            "sum by (signal, variant) (increase(tripnote_repeats_total{@told}[$__range]))
/ (sum by (signal, variant) (increase(tripnote_trip_followups_total{@told}[$__range])) > 0)",
            "{{signal}}, {{variant}}",
        )
        .unit("none")
        .empty("no trips")
        .bad_above(0.3, 1.0),
        Panel::bars(
            "Sessions by wording",
            "Is the draw fair? Compare with the weights of the experiment; the alert reckons with equal ones.",
        )
        .ask(SESSIONS, "{{variant}}")
        .empty("no trips"),
    ]
}
