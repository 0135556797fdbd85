//! The nine fields: always all, always in order, each within its bound, for every example and at their widest.

use super::super::budget::{OWNER_BYTES_MAX, session_examples};
use super::super::session::SessionFigures;
use super::examples::{NOW, TRUSTED, examples};
use super::*;
use crate::domain::breaker::policy::{BasisPoints, Rule};
use crate::domain::ids::CODE_BYTES_MAX;
use crate::domain::signal::Signal;
use crate::domain::time::WallClock;

/// Name, note and the `, ` between them share the bound of the field.
const NOTE_BYTES: usize = LONG_FIELD_BYTES_MAX - NAME_BYTES_MAX - ", ".len();
const DAY_MS: u64 = 86_400_000;
/// The longest spans in letters: odd milliseconds just below an hour and a day.
const WIDE_SLOW_MS: u64 = 3_599_999;
const WIDE_WINDOW_MS: u64 = DAY_MS - 1;

fn wide(bytes: usize) -> SafeText {
    SafeText::cut(&"m".repeat(bytes), bytes)
}

/// Every row with every figure at its widest, under a clock that prints a year with five digits.
pub(super) fn widest() -> (Vec<TripContract>, WallClock) {
    let circuits = CATALOGUE.iter().filter(|row| !is_session(row.signal)).flat_map(|row| {
        figures(row.signal).into_iter().flat_map(move |(observed, threshold)| {
            states().map(move |state| contract(row, "", observed.clone(), threshold.clone(), state))
        })
    });
    let sessions =
        session_examples(u32::MAX, u32::MAX - 1, u32::MAX, 99_999_999_000).into_iter().map(|(row, figures)| {
            let code = figures.guard_code().unwrap_or("");
            contract(row, code, Observed::Session(figures), Threshold::Session(figures), Standing::Session(figures))
        });
    (circuits.chain(sessions).collect(), WallClock { offset_ms: 253_402_300_799_000, trusted: true })
}

fn is_session(signal: Signal) -> bool {
    session_examples(1, 2, 3, 4).iter().any(|(row, _)| row.signal == signal)
}

fn contract(
    row: &'static CatalogueRow,
    code: &str,
    observed: Observed,
    threshold: Threshold,
    state: Standing,
) -> TripContract {
    TripContract {
        row,
        breaker: Code::parse(code).unwrap_or_else(|_| Code::parse(&"m".repeat(CODE_BYTES_MAX)).unwrap()),
        target: wide(LONG_FIELD_BYTES_MAX),
        observed,
        threshold,
        state,
        fallback: Some(NamedFallback { name: wide(NAME_BYTES_MAX), note: Some(wide(NOTE_BYTES)), target: None }),
        max_argument_bytes: Some(u32::MAX),
    }
}

fn states() -> [Standing; 4] {
    let far = NOW.plus_ms(99 * DAY_MS + 1);
    let lease_ends = NOW.plus_ms(120_000);
    [Standing::OpenUntil(far), Standing::HeldUntil(far), Standing::UntilReleased, Standing::ProbeRunning { lease_ends }]
}

fn figures(signal: Signal) -> Vec<(Observed, Threshold)> {
    if signal == Signal::OperatorOverride {
        return vec![(Observed::Held { owner: wide(OWNER_BYTES_MAX), others: 63 }, Threshold::OperatorOverride)];
    }
    let (most, window_ms) = (u32::MAX, WIDE_WINDOW_MS);
    let slow_ms = Some(WIDE_SLOW_MS).filter(|_| signal == Signal::Latency);
    let share = || Observed::Share { failed: most, results: most, window_ms, slow_ms };
    let run = Observed::Consecutive { failures: most, over_ms: 99_999_999_000, slow_ms };
    let rule = |rule| Threshold::Rule { rule, slow_ms };
    vec![
        (share(), rule(Rule::Failures { failures: most, within_ms: window_ms })),
        (share(), rule(Rule::Ratio { ratio: BasisPoints(9_999), within_ms: window_ms, min_calls: most })),
        (run, rule(Rule::Consecutive { failures: most })),
        (Observed::FirstFailure { slow_ms: None }, rule(Rule::Consecutive { failures: 1 })),
        (Observed::ProbeFailed, Threshold::FailedProbe),
        (Observed::ProbesLost(u8::MAX), Threshold::LostProbes(u8::MAX)),
        (Observed::Latched, Threshold::Latch),
    ]
}

fn assert_in_bounds(fields: &Fields) {
    for (name, value) in fields.pairs() {
        let bound = match name {
            "observed" | "threshold" => FIGURE_BYTES_MAX,
            "breaker" => CODE_BYTES_MAX,
            _ => LONG_FIELD_BYTES_MAX,
        };
        let bytes = escaped_len(value);
        assert!((1..=bound).contains(&bytes), "{name} has {bytes} bytes, at most {bound} are promised: {value}");
    }
}

#[test]
fn every_field_of_every_example_is_within_its_bound() {
    for example in examples() {
        assert_in_bounds(&example.fields());
    }
}

#[test]
fn every_field_is_within_its_bound_at_its_widest() {
    let (contracts, wall) = widest();
    for row in &CATALOGUE {
        assert!(contracts.iter().any(|contract| contract.row == row), "{} {}", row.signal, row.condition);
    }
    for contract in contracts {
        assert_in_bounds(&contract.fields(NOW, wall));
    }
}

#[test]
fn json_holds_the_nine_fields_in_contract_order() {
    for example in examples() {
        let fields = example.fields();
        assert_eq!(fields.pairs().map(|(name, _)| name), FIELDS);
        let quoted = |text| serde_json::to_string(text).unwrap();
        let members = fields.pairs().map(|(name, value)| format!("{}:{}", quoted(name), quoted(value)));
        let block = fields.render(&Variant::Contract.into(), 768).text;
        assert_eq!(block, format!("{{{}}}", members.join(",")), "{}", example.name());
    }
}

#[test]
fn lines_hold_the_nine_fields_in_contract_order() {
    for example in examples() {
        let fields = example.fields();
        let block = fields.render(&Variant::ContractLines.into(), 768).text;
        assert_eq!(
            block,
            fields.pairs().map(|(name, value)| format!("{name}: {value}")).join("\n"),
            "{}",
            example.name()
        );
        assert!(block.lines().zip(FIELDS).all(|(line, name)| line.starts_with(&format!("{name}: "))));
    }
}

#[test]
fn a_prohibition_never_names_the_target_the_breaker_or_the_fallback() {
    for example in examples() {
        let Fields { do_not, target, breaker, fallback, .. } = example.fields();
        let endpoint = target.rsplit([' ', '/']).next().unwrap();
        for name in [&*target, &*breaker, &*fallback, endpoint] {
            assert!(!do_not.contains(name), "{}: `{do_not}` names `{name}`", example.name());
        }
    }
}

#[test]
fn action_and_signal_are_the_words_of_the_row() {
    for example in examples() {
        let (row, fields) = (example.contract.row, example.fields());
        assert_eq!((fields.action, fields.signal), (row.action.word(), row.signal.word()));
    }
}

#[test]
fn a_running_probe_replaces_the_prohibition_of_every_circuit_row() {
    let state = Standing::ProbeRunning { lease_ends: NOW.plus_ms(5_000) };
    for row in CATALOGUE.iter().filter(|row| !is_session(row.signal)) {
        let fields = contract(row, "", Observed::FirstFailure { slow_ms: None }, Threshold::FailedProbe, state.clone())
            .fields(NOW, TRUSTED);
        assert_eq!(fields.do_not, "call before the running probe has answered");
    }
}

#[test]
fn a_wait_is_never_shorter_than_the_time_that_is_left() {
    for (left_ms, hint) in [(0, "1 second"), (1, "1 second"), (39_001, "40 seconds"), (120_001, "3 minutes")] {
        let state = Standing::ProbeRunning { lease_ends: NOW.plus_ms(left_ms) };
        let row = &CATALOGUE[7];
        let fields = contract(row, "", Observed::ProbeFailed, Threshold::FailedProbe, state).fields(NOW, TRUSTED);
        assert_eq!(fields.state, format!("half_open, probe running, ask again in about {hint}"));
    }
}

#[test]
fn only_a_full_wave_or_backend_hints_at_a_second() {
    for (row, figures) in session_examples(4, 4, 6, 30_000) {
        let hint = Some(1_000).filter(|_| row.signal == Signal::FanOut);
        assert_eq!(figures.retry_hint_ms(), hint, "{figures:?}");
        let has_own_code = !matches!(figures, SessionFigures::Backend { .. });
        assert_eq!(figures.guard_code().is_some(), has_own_code, "{figures:?}");
    }
}
