//! One contract for each row of the catalogue, each row of the session table and each text that a circuit can print.

use super::super::session::{Refuser, SessionFigures};
use super::super::*;
use crate::domain::breaker::policy::{BasisPoints, Rule};
use crate::domain::observation::Observation;
use crate::domain::signal::Signal;
use crate::domain::time::WallClock;

/// The moment of every example: one hour into the incarnation, 2026-07-31T14:01:30Z.
pub(super) const NOW: Timestamp = Timestamp(3_600_000);
pub(super) const TRUSTED: WallClock = WallClock { offset_ms: 1_785_502_890_000, trusted: true };
const STEPPED: WallClock = WallClock { trusted: false, ..TRUSTED };

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// A contract and the clock under which it is read.
pub(super) struct Example {
    /// What tells it from the other examples of its row; empty for the plain one.
    pub(super) detail: &'static str,
    pub(super) contract: TripContract,
    pub(super) wall: WallClock,
}

impl Example {
    /// `<nn>-<signal>-<condition>[-<detail>]`
    pub(super) fn name(&self) -> String {
        let CatalogueRow { number, signal, condition, .. } = self.contract.row;
        let plain = format!("{number:02}-{signal}-{condition}");
        if self.detail.is_empty() { plain } else { format!("{plain}-{}", self.detail) }
    }

    pub(super) fn fields(&self) -> Fields {
        self.contract.fields(NOW, self.wall)
    }
}

/// Every example, the seed's invoice case first.
pub(super) fn examples() -> Vec<Example> {
    [failing(), held(), refused(), slow(), session()].into_iter().flatten().collect()
}

/// Who is called: the breaker's code and the target.
type Callee = (&'static str, &'static str);
const PAYMENTS: Callee = ("payments_api_v2", "POST /v2/charge");
const LEDGER: Callee = ("ledger_reader", "https://ledger.internal/v1/accounts/881/entries");
const SEARCH: Callee = ("web_search", "mcp:search/query");
const DELETE: &str = "mcp:files/delete_file";
const METRICS: &str = "mcp:grafana/query_prometheus";

fn example(
    (signal, condition, detail): (Signal, Condition, &'static str),
    (breaker, target): Callee,
    (observed, threshold): (Observed, Threshold),
    state: Standing,
    fallback: Option<NamedFallback>,
) -> Example {
    let contract = TripContract {
        row: CatalogueRow::find(signal, condition).unwrap(),
        breaker: Code::parse(breaker).unwrap(),
        target: SafeText::cut(target, LONG_FIELD_BYTES_MAX),
        observed,
        threshold,
        state,
        fallback,
        max_argument_bytes: None,
    };
    Example { detail, contract, wall: TRUSTED }
}

fn named(name: &str, note: Option<&str>) -> Option<NamedFallback> {
    let cut = |text| SafeText::cut(text, NAME_BYTES_MAX);
    Some(NamedFallback { name: cut(name), note: note.map(cut), target: None })
}

fn payments_v1() -> Option<NamedFallback> {
    named("payments_api_v1", Some("same request shape"))
}

fn open_for(seconds: u64) -> Standing {
    Standing::OpenUntil(NOW.plus_ms(seconds * 1_000))
}

fn held_for(seconds: u64) -> Standing {
    Standing::HeldUntil(NOW.plus_ms(seconds * 1_000))
}

fn failed(failed: u32, results: u32, window: u64) -> Observed {
    Observed::Share { failed, results, window_ms: window * 1_000, slow_ms: None }
}

fn rule(rule: Rule) -> Threshold {
    Threshold::Rule { rule, slow_ms: None }
}

fn failures(failures: u32, within: u64) -> Rule {
    Rule::Failures { failures, within_ms: within * 1_000 }
}

fn ratio(basis_points: u32, min_calls: u32, within: u64) -> Rule {
    Rule::Ratio { ratio: BasisPoints(basis_points), within_ms: within * 1_000, min_calls }
}

/// `error_rate` and `malformed_response`: every rule, every way to reopen, every state of a circuit.
fn failing() -> Vec<Example> {
    use Condition::{FallbackAdmissible, NoFallback};
    use Signal::{ErrorRate, MalformedResponse};
    let nine_of_ten = || (failed(9, 10, 60), rule(failures(3, 30)));
    let half = || (failed(6, 10, 60), rule(ratio(5_000, 10, 60)));
    let five = Observed::Consecutive { failures: 5, over_ms: 239_400, slow_ms: None };
    let three_of_four = || (failed(3, 4, 300), rule(failures(3, 300)));
    let charge = |detail, state, fallback| {
        example((ErrorRate, FallbackAdmissible, detail), PAYMENTS, nine_of_ten(), state, fallback)
    };
    let alone = |detail, figures, state| example((ErrorRate, NoFallback, detail), LEDGER, figures, state, None);
    let malformed = |condition, fallback| {
        example((MalformedResponse, condition, ""), SEARCH, three_of_four(), open_for(MINUTE), named(fallback, None))
    };
    vec![
        charge("", open_for(40), payments_v1()),
        charge("without_note", open_for(40), named("payments_api_v1", None)),
        charge("probe_running", Standing::ProbeRunning { lease_ends: NOW.plus_ms(4_200) }, payments_v1()),
        Example { wall: STEPPED, ..charge("untrusted_clock", open_for(40), payments_v1()) },
        alone("", half(), open_for(30)),
        alone("ratio_with_decimals", (failed(99, 200, 60), rule(ratio(4_950, 20, 60))), open_for(30)),
        alone("consecutive", (five, rule(Rule::Consecutive { failures: 5 })), open_for(30)),
        alone("first_failure", (Observed::FirstFailure { slow_ms: None }, rule(failures(1, 60))), open_for(30)),
        alone("probe_failed", (Observed::ProbeFailed, Threshold::FailedProbe), open_for(2 * MINUTE)),
        alone("probes_lost", (Observed::ProbesLost(3), Threshold::LostProbes(3)), open_for(MINUTE)),
        malformed(FallbackAdmissible, "search_archive"),
        malformed(NoFallback, "ask_a_person"),
    ]
}

/// `operator_override`, with and without an end.
fn held() -> Vec<Example> {
    use Condition::{FallbackAdmissible, NoFallback};
    let by = |owner, others| {
        (Observed::Held { owner: SafeText::cut(owner, budget::OWNER_BYTES_MAX), others }, Threshold::OperatorOverride)
    };
    let charge = |detail, state| {
        example((Signal::OperatorOverride, FallbackAdmissible, detail), PAYMENTS, by("alice", 0), state, payments_v1())
    };
    let entries = |detail, others, state| {
        let escalate = named("ask_a_person", None);
        example((Signal::OperatorOverride, NoFallback, detail), LEDGER, by("ledger-oncall", others), state, escalate)
    };
    vec![
        charge("", Standing::UntilReleased),
        charge("until_expiry", held_for(2 * HOUR)),
        entries("", 0, Standing::UntilReleased),
        entries("several_owners", 2, Standing::UntilReleased),
        Example { wall: STEPPED, ..entries("until_expiry_untrusted_clock", 0, held_for(2 * HOUR)) },
    ]
}

/// `auth_failure` and `quota_exhausted`.
fn refused() -> Vec<Example> {
    use Condition::{Authentication, Authorisation, Billing, Rate};
    use Signal::{AuthFailure, QuotaExhausted};
    let first = || (Observed::FirstFailure { slow_ms: None }, rule(failures(1, 60)));
    let latched = (Observed::Latched, Threshold::Latch);
    let escalate = || named("ask_a_person", None);
    vec![
        example((AuthFailure, Authentication, ""), PAYMENTS, first(), open_for(5 * MINUTE), escalate()),
        example(
            (AuthFailure, Authentication, "without_escalation_tool"),
            PAYMENTS,
            first(),
            open_for(5 * MINUTE),
            None,
        ),
        example((AuthFailure, Authentication, "latched"), PAYMENTS, latched, Standing::UntilReleased, escalate()),
        example((AuthFailure, Authorisation, ""), LEDGER, first(), open_for(5 * MINUTE), escalate()),
        example((QuotaExhausted, Billing, ""), SEARCH, first(), open_for(HOUR), escalate()),
        example((QuotaExhausted, Billing, "dated_deadline"), SEARCH, first(), open_for(24 * HOUR), escalate()),
        example((QuotaExhausted, Rate, ""), SEARCH, first(), open_for(17), None),
    ]
}

/// `latency`: every rule over what is slower than two seconds.
fn slow() -> Vec<Example> {
    use Condition::{Otherwise, Reducible};
    use Signal::Latency;
    let slow_ms = Some(2_000);
    let share = |failed, results| Observed::Share { failed, results, window_ms: 60_000, slow_ms };
    let rule = |rule| Threshold::Rule { rule, slow_ms };
    let half = || (share(12, 20), rule(ratio(5_000, 10, 60)));
    let run = Observed::Consecutive { failures: 4, over_ms: 9_000, slow_ms };
    let otherwise = |detail, figures| example((Latency, Otherwise, detail), LEDGER, figures, open_for(30), None);
    let mut reducible = example((Latency, Reducible, ""), LEDGER, half(), open_for(30), None);
    reducible.contract.max_argument_bytes = Some(2_048);
    vec![
        reducible,
        otherwise("", half()),
        otherwise("first_slow", (Observed::FirstFailure { slow_ms }, rule(failures(1, 60)))),
        otherwise("failures", (share(5, 7), rule(failures(5, 60)))),
        otherwise("consecutive", (run, rule(Rule::Consecutive { failures: 4 }))),
    ]
}

/// The session table of spec 01, with its numbers.
fn session() -> Vec<Example> {
    use Condition::{Always, FallbackAdmissible, Full, Halted, HaltedOnTarget, NoFallback, Steer};
    use Observation::{Empty, Error};
    use SessionFigures as F;
    use Signal::{AmbiguousEffect, FanOut, NoProgress, ScopeCreep};
    let same = |observation, times| F::SameResult { observation, times, steer_at: 2, halt_at: 3 };
    let sweep = |times| F::Sweep { observation: Empty, times, steer_at: 4, halt_at: 6 };
    let broad = |failures| F::Broad { failures, steer_at: 6, halt_at: 10 };
    let already_held = |times| F::AlreadyHeld { times, steer_at: 3, halt_at: 6 };
    let lost = F::AmbiguousEffect { after_ms: 30_000 };
    let rows = [
        (ScopeCreep, Always, "not_in_allowlist", DELETE, F::NotAllowed { allowed: 12 }, Some("ask_a_person")),
        (ScopeCreep, Always, "refused_by_user", DELETE, F::Refused(Refuser::User), Some("ask_a_person")),
        (ScopeCreep, Always, "refused_by_host", DELETE, F::Refused(Refuser::Host), None),
        (AmbiguousEffect, FallbackAdmissible, "", PAYMENTS.1, lost, Some("get_charge")),
        (AmbiguousEffect, NoFallback, "", PAYMENTS.1, lost, Some("ask_a_person")),
        (NoProgress, Halted, "", METRICS, same(Empty, 3), None),
        (NoProgress, Halted, "session_halted", METRICS, F::SessionHalted { routes: 3, halt_at: 3 }, None),
        (NoProgress, Halted, "sweep", METRICS, sweep(6), None),
        (NoProgress, Halted, "broad", METRICS, broad(10), None),
        (NoProgress, Halted, "already_held", METRICS, already_held(6), None),
        (NoProgress, HaltedOnTarget, "", METRICS, same(Error, 3), None),
        (NoProgress, Steer, "", METRICS, same(Empty, 2), Some("query_loki")),
        (NoProgress, Steer, "sweep", METRICS, sweep(4), Some("query_loki")),
        (NoProgress, Steer, "broad", METRICS, broad(6), Some("query_loki")),
        (NoProgress, Steer, "already_held", METRICS, already_held(3), None),
        (FanOut, Full, "wave", SEARCH.1, F::Wave { running: 4, cap: 4 }, None),
        (FanOut, Full, "twin", SEARCH.1, F::Twin, None),
        (FanOut, Full, "backend", SEARCH.1, F::Backend { running: 16, cap: 16 }, None),
    ];
    let contract =
        |(signal, condition, detail, target, figures, fallback): (_, _, _, _, SessionFigures, Option<&str>)| {
            let callee = (figures.guard_code().unwrap_or(SEARCH.0), target);
            let printed = (Observed::Session(figures), Threshold::Session(figures));
            let fallback = fallback.and_then(|tool| named(tool, None));
            example((signal, condition, detail), callee, printed, Standing::Session(figures), fallback)
        };
    rows.map(contract).into()
}
