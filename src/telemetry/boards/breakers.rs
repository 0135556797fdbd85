//! The board of breakers: which, when, why, and how restless.

use super::overview::{STATE, STATES, open_table};
use super::panel::{Board, Panel, Row, Variable};

pub(super) fn board() -> Board {
    Board {
        slug: "breakers",
        title: "tripnote / breakers",
        asks: "Which breakers open, why, for how long, and how restless are they?",
        variables: &[Variable::Some { name: "breaker", of: "tripnote_refusals_total" }],
        rows: vec![
            Row::new("How do they stand?", [
                Panel::timeline(
                    "How breakers stand",
                    "Which breaker was open when? The strictest of its circuits on any replica; the words say the same as the colours.",
                )
                .ask(&STATE.replace('@', "@breaker"), "{{breaker}}")
                .words(&STATES)
                .empty("no breaker is configured")
                .size(24, 9),
                of_breaker(open_table()).size(16, 7),
                circuits().size(8, 7),
            ]),
            Row::new("What do they refuse?", refused()),
            Row::new("How restless are they?", restless()),
            Row::new("What did people do, and is there room?", room()),
        ],
    }
}

fn of_breaker(mut panel: Panel) -> Panel {
    for query in &mut panel.queries {
        query.expr = query.expr.replace(r#"instance=~"$instance""#, r#"instance=~"$instance", breaker=~"$breaker""#);
    }
    Panel { more: None, ..panel }
}

fn circuits() -> Panel {
    Panel::lines("Circuits that are not closed", "How many circuits, of all breakers and targets, are not closed?")
        .ask("sum by (phase) (tripnote_circuits{@})", "{{phase}}")
        .colours(&[("open", "red"), ("half_open", "yellow")])
}

fn refused() -> [Panel; 4] {
    [
        Panel::areas("Refusals", "How many calls does each breaker keep from going out, a second?")
            .ask("sum by (breaker) (rate(tripnote_refusals_total{@breaker}[$__rate_interval])) > 0", "{{breaker}}")
            .unit("reqps")
            .empty("nothing is refused"),
        Panel::lines("Trips by signal", "What for are calls refused or runs steered, an hour?")
            .ask("sum by (signal) (rate(tripnote_trips_total{@breaker}[$__rate_interval])) * 3600 > 0", "{{signal}}")
            .empty("no trips"),
        Panel::lines("Decisions with a signal", "Which signals stand behind refusals, steers and halts, a second?")
            .ask(
                r#"sum by (decision, signal) (rate(tripnote_decisions_total{@, signal!="none"}[$__rate_interval])) > 0"#,
                "{{decision}}: {{signal}}",
            )
            .unit("reqps")
            .empty("nothing is refused"),
        Panel::lines(
            "Refusals in shadow",
            "How many calls would a rule have refused that is only tried? Look here before it is switched on.",
        )
        .ask("sum by (signal) (rate(tripnote_shadow_refusals_total{@}[$__rate_interval]))", "{{signal}}")
        .unit("reqps"),
    ]
}

fn restless() -> [Panel; 4] {
    [
        Panel::lines("Transitions an hour", "How often do circuits change their phase, and from which to which?")
            .ask(
                "sum by (from, to) (rate(tripnote_transitions_total{@breaker}[$__rate_interval])) * 3600",
                "{{from}} to {{to}}",
            ),
        Panel::bars("Openings by breaker", "Which ten breakers opened most in this time?")
            .ask(
                r#"topk(10, sum by (breaker) (increase(tripnote_transitions_total{@breaker, to="open"}[$__range])) > 0)"#,
                "{{breaker}}",
            )
            .empty("nothing has opened")
            .bad_above(5.0, 20.0),
        Panel::bars(
            "Probes that failed, by breaker",
            "Which breakers close too early? The share of half-open spells that ended in another opening.",
        )
        .ask(
            r#"sum by (breaker) (increase(tripnote_transitions_total{@breaker, from="half_open", to="open"}[$__range]))
/ (sum by (breaker) (increase(tripnote_transitions_total{@breaker, from="half_open"}[$__range])) > 0)"#,
            "{{breaker}}",
        )
        .unit("percentunit")
        .empty("no probe has ended")
        .bad_above(0.5, 0.8),
        Panel::lines("Probes that were lost", "How many probes were never reported, an hour? A caller dies or forgets.")
            .ask("sum by (instance) (rate(tripnote_probes_lost_total{@}[$__rate_interval])) * 3600", "{{instance}}"),
    ]
}

fn room() -> [Panel; 4] {
    [
        Panel::bars("What operators did", "Who holds circuits open or closed, and how often?")
            .ask("sum by (action) (increase(tripnote_operator_actions_total{@}[$__range]))", "{{action}}"),
        Panel::lines("Breakers and targets", "How many are known?")
            .ask("sum by (instance) (tripnote_breakers{@})", "{{instance}}: breakers")
            .ask("sum by (instance) (tripnote_targets{@})", "{{instance}}: targets"),
        Panel::lines("Targets that made room", "Does `limits.targets` suffice? Idle targets that went, a second.")
            .ask("sum by (instance) (rate(tripnote_evictions_total{@}[$__rate_interval]))", "{{instance}}")
            .unit("ops"),
        Panel::stat(
            "Overflows",
            "How often had targets to share one circuit, for want of room? Anything but 0 asks for a larger `limits.targets`.",
            "sum(increase(tripnote_overflows_total{@}[$__range])) or vector(0)",
        )
        .bad_from(1.0)
        .size(12, 8),
    ]
}
