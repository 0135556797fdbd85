//! The proof that no contract of a configuration can exceed its budget: the worst case of every breaker × signal ×
//! wording is worked out when the configuration is read.

use super::session::{Refuser, SessionFigures};
use super::wording::FieldBytes;
use super::{
    CATALOGUE, CatalogueRow, ContractSettings, LONG_FIELD_BYTES_MAX, NAME_BYTES_MAX, NamedFallback, Observed, Standing,
    Threshold, TripContract, Variant, Wording,
};
use crate::domain::breaker::policy::{BreakerPolicy, Policy, Rule};
use crate::domain::ids::{CODE_BYTES_MAX, Code, SafeText};
use crate::domain::observation::Observation;
use crate::domain::signal::Signal;
use crate::domain::time::{Timestamp, WallClock};

/// The longest owner of an override in bytes.
pub const OWNER_BYTES_MAX: usize = 40;

/// A contract that could exceed the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetFault {
    /// The place in the file of the breaker that could print it; none for the defaults and the guards of sessions.
    pub breaker: Option<usize>,
    /// The wording that is too long: of a breaker the longest that is built in, and each template by itself.
    pub wording: Wording,
    /// The longest field that the configuration decides.
    pub field: &'static str,
    /// Bytes of the worst case.
    pub bytes: usize,
    /// The budget in bytes.
    pub limit: usize,
}

/// The longest block so far.
#[derive(Clone, Copy, Default)]
struct Worst {
    bytes: usize,
    breaker: Option<usize>,
    field: &'static str,
}

/// Works out the worst case of every breaker in every wording that can be told; empty where all fit.
#[must_use]
pub fn prove(default: &BreakerPolicy, breakers: &[BreakerPolicy], settings: &ContractSettings) -> Vec<BudgetFault> {
    let limit = settings.budget_bytes;
    let built_in: Vec<Wording> = Variant::ALL.iter().copied().map(Wording::from).collect();
    let templates: Vec<Wording> = settings.wordings.templates().iter().cloned().map(Wording::Template).collect();
    let mut of_templates = vec![Worst::default(); templates.len()];
    let fault = |wording: &Wording, worst: Worst| {
        let Worst { bytes, breaker, field } = worst;
        (bytes > limit).then(|| BudgetFault { breaker, wording: wording.clone(), field, bytes, limit })
    };
    let mut faults = Vec::new();
    let all = std::iter::once((None, default)).chain(breakers.iter().enumerate().map(|(at, b)| (Some(at), b)));
    for (breaker, policy) in all {
        let mut contracts = circuit_worst_cases(policy, settings);
        if breaker.is_none() {
            contracts.extend(session_worst_cases());
        }
        let sizes = sizes_of(&contracts, policy.code.as_ref());
        let worst = |wording: &Wording| {
            let of = sizes.iter().map(|(size, field)| Worst { bytes: wording.bytes(size), breaker, field });
            of.max_by_key(|worst| worst.bytes).unwrap_or_default()
        };
        let of_breaker = built_in.iter().map(|wording| (wording, worst(wording)));
        faults
            .extend(of_breaker.max_by_key(|(_, worst)| worst.bytes).and_then(|(wording, worst)| fault(wording, worst)));
        for (so_far, wording) in of_templates.iter_mut().zip(&templates) {
            let here = worst(wording);
            if here.bytes > so_far.bytes {
                *so_far = here;
            }
        }
    }
    faults.extend(templates.iter().zip(of_templates).filter_map(|(wording, worst)| fault(wording, worst)));
    faults
}

/// The sizes of the fields of each contract, with the longest field that the configuration decides.
fn sizes_of(contracts: &[TripContract], code: Option<&Code>) -> Vec<(FieldBytes, &'static str)> {
    // The end of the last year with four digits, less the 99 days that are past any deadline that can be configured.
    let (now, wall) =
        (Timestamp(0), WallClock { offset_ms: 253_402_300_799_000 - 100 * 24 * 3_600_000, trusted: true });
    let code_bytes = code.map_or(0, |code| code.as_str().len());
    let sizes = contracts.iter().map(|contract| {
        let fields = contract.fields(now, wall);
        let configured = [("breaker", code_bytes), ("fallback", fields.fallback.len())];
        let field = configured.into_iter().max_by_key(|(_, bytes)| *bytes).map_or("target", |(name, _)| name);
        (FieldBytes::from(&fields), field)
    });
    sizes.collect()
}

fn widest_target() -> SafeText {
    SafeText::cut(&"m".repeat(LONG_FIELD_BYTES_MAX), LONG_FIELD_BYTES_MAX)
}

fn widest_code() -> Code {
    Code::from_target(&"m".repeat(CODE_BYTES_MAX))
}

/// Every contract that a breaker's circuits can hand out, at its widest.
fn circuit_worst_cases(policy: &BreakerPolicy, settings: &ContractSettings) -> Vec<TripContract> {
    let fallbacks: Vec<Option<NamedFallback>> = std::iter::once(None)
        .chain(policy.fallback.iter().map(|f| {
            Some(NamedFallback { name: f.name.clone(), note: f.note.clone(), target: Some(f.target.clone()) })
        }))
        .chain(
            settings
                .escalation_tool
                .iter()
                .map(|tool| Some(NamedFallback { name: tool.clone(), note: None, target: None })),
        )
        .collect();
    let held = Observed::Held { owner: SafeText::cut(&"m".repeat(OWNER_BYTES_MAX), OWNER_BYTES_MAX), others: 63 };
    let mut contracts = Vec::new();
    for row in &CATALOGUE {
        let mut figures: Vec<(Observed, Threshold)> = Vec::new();
        if row.signal == Signal::OperatorOverride {
            figures.push((held.clone(), Threshold::OperatorOverride));
        }
        if row.signal == Signal::FanOut {
            let full = SessionFigures::Backend { running: u32::MAX, cap: u32::MAX };
            figures.push((Observed::Session(full), Threshold::Session(full)));
        }
        for (kind, policy) in policy.policies.iter() {
            if let Some(policy) = policy.as_ref().filter(|_| kind.signal() == row.signal) {
                figures.extend(widest_figures(policy));
            }
        }
        for (observed, threshold) in figures {
            for fallback in &fallbacks {
                contracts.push(widest(row, policy.code.clone(), observed.clone(), threshold.clone(), fallback.clone()));
            }
        }
    }
    contracts
}

fn widest(
    row: &'static CatalogueRow,
    code: Option<Code>,
    observed: Observed,
    threshold: Threshold,
    fallback: Option<NamedFallback>,
) -> TripContract {
    let farthest = Timestamp(99 * 24 * 3_600_000 + 1);
    // A circuit's `state` tells the latest deadline, which may be an operator's beside any row; its text is the longest.
    let state = match observed {
        Observed::Session(figures) => Standing::Session(figures),
        Observed::Share { .. }
        | Observed::Consecutive { .. }
        | Observed::FirstFailure { .. }
        | Observed::ProbeFailed
        | Observed::ProbesLost(_)
        | Observed::Held { .. }
        | Observed::Latched => Standing::HeldUntil(farthest),
    };
    let breaker = code.unwrap_or_else(widest_code);
    TripContract {
        row,
        breaker,
        target: widest_target(),
        observed,
        threshold,
        state,
        fallback,
        max_argument_bytes: Some(u32::MAX),
    }
}

fn widest_figures(policy: &Policy) -> Vec<(Observed, Threshold)> {
    let (most, slow_ms) = (u32::MAX, policy.slow_ms);
    let mut figures: Vec<(Observed, Threshold)> = policy
        .rules
        .iter()
        .map(|rule| {
            let window_ms = policy.observe_ms.max(rule.window_ms().unwrap_or(0));
            let observed = match rule {
                Rule::Failures { failures: 0 | 1, .. } | Rule::Consecutive { failures: 0 | 1 } => {
                    Observed::FirstFailure { slow_ms }
                }
                Rule::Consecutive { .. } => Observed::Consecutive { failures: most, over_ms: 99_999_999_000, slow_ms },
                Rule::Failures { .. } | Rule::Ratio { .. } => {
                    Observed::Share { failed: most, results: most, window_ms, slow_ms }
                }
            };
            (observed, Threshold::Rule { rule: *rule, slow_ms })
        })
        .collect();
    figures.push((Observed::ProbesLost(u8::MAX), Threshold::LostProbes(u8::MAX)));
    figures
}

/// One example of every row of the session table, with the given counts.
#[must_use]
pub fn session_examples(
    count: u32,
    limit: u32,
    halt: u32,
    after_ms: u64,
) -> Vec<(&'static CatalogueRow, SessionFigures)> {
    use super::Condition as C;
    use crate::domain::signal::Signal as S;
    let observation = Observation::Unavailable;
    let same = |times| SessionFigures::SameResult { observation, times, steer_at: limit, halt_at: halt };
    let sweep = |times| SessionFigures::Sweep { observation, times, steer_at: limit, halt_at: halt };
    let broad = |failures| SessionFigures::Broad { failures, steer_at: limit, halt_at: halt };
    let held = |times| SessionFigures::AlreadyHeld { times, steer_at: limit, halt_at: halt };
    [
        (S::ScopeCreep, C::Always, SessionFigures::NotAllowed { allowed: count }),
        (S::ScopeCreep, C::Always, SessionFigures::Refused(Refuser::User)),
        (S::ScopeCreep, C::Always, SessionFigures::Refused(Refuser::Host)),
        (S::AmbiguousEffect, C::FallbackAdmissible, SessionFigures::AmbiguousEffect { after_ms }),
        (S::AmbiguousEffect, C::NoFallback, SessionFigures::AmbiguousEffect { after_ms }),
        (S::NoProgress, C::Steer, same(limit)),
        (S::NoProgress, C::Halted, same(halt)),
        (S::NoProgress, C::HaltedOnTarget, same(halt)),
        (S::NoProgress, C::Halted, SessionFigures::SessionHalted { routes: count, halt_at: limit }),
        (S::NoProgress, C::Steer, sweep(limit)),
        (S::NoProgress, C::Halted, sweep(halt)),
        (S::NoProgress, C::Steer, broad(limit)),
        (S::NoProgress, C::Halted, broad(halt)),
        (S::NoProgress, C::Steer, held(limit)),
        (S::NoProgress, C::Halted, held(halt)),
        (S::FanOut, C::Full, SessionFigures::Wave { running: count, cap: limit }),
        (S::FanOut, C::Full, SessionFigures::Twin),
        (S::FanOut, C::Full, SessionFigures::Backend { running: count, cap: limit }),
    ]
    .into_iter()
    .filter_map(|(signal, condition, figures)| Some((CatalogueRow::find(signal, condition)?, figures)))
    .collect()
}

fn session_worst_cases() -> Vec<TripContract> {
    let tool = SafeText::cut(&"m".repeat(NAME_BYTES_MAX), NAME_BYTES_MAX);
    let examples = session_examples(u32::MAX, u32::MAX - 1, u32::MAX, 99_999_999_000);
    let contract = |(row, figures): (&'static CatalogueRow, SessionFigures)| TripContract {
        row,
        breaker: figures.guard_code().and_then(|code| Code::parse(code).ok()).unwrap_or_else(widest_code),
        target: widest_target(),
        observed: Observed::Session(figures),
        threshold: Threshold::Session(figures),
        state: Standing::Session(figures),
        fallback: Some(NamedFallback { name: tool.clone(), note: None, target: None }),
        max_argument_bytes: None,
    };
    examples.into_iter().map(contract).collect()
}
