//! The catalogue of spec 01: signal × condition → action, urgency and prohibition. The order of the rows *is* the
//! precedence; nothing else orders refusals.

use crate::domain::signal::{Signal, closed_words};

closed_words! {
    /// The next step that a model is told.
    Action {
        /// Stop this work and hand it to a person.
        StopAndEscalate = "stop_and_escalate",
        /// Read back whether the write happened before anything else.
        VerifyEffect = "verify_effect",
        /// Call the named fallback instead.
        SwitchToFallback = "switch_to_fallback",
        /// Stop probing and report what was measured.
        HaltWithPartialFindings = "halt_with_partial_findings",
        /// Do other work until the time in `state`.
        AwaitRecovery = "await_recovery",
        /// Do other work until the limit refills.
        WaitForQuota = "wait_for_quota",
        /// Send smaller arguments.
        ReducePayload = "reduce_payload",
        /// Ask another tool or another question.
        ChangeRoute = "change_route",
        /// Make this call in a later turn.
        CallInNextWave = "call_in_next_wave",
    }
}

closed_words! {
    /// The escalation ladder, highest first.
    Urgency {
        /// Data may be wrong or out of bounds.
        Corruption = "corruption",
        /// Something is down.
        Crash = "crash",
        /// The agent turns in circles.
        StuckLoop = "stuck_loop",
        /// Answers are wrong.
        WrongOutput = "wrong_output",
        /// Time will mend it.
        RateLimit = "rate_limit",
    }
}

closed_words! {
    /// What, beside the signal, chooses the row.
    Condition {
        /// The signal has one row.
        Always = "always",
        /// The credential was not accepted.
        Authentication = "authentication",
        /// The credential is good but not for this.
        Authorisation = "authorisation",
        /// A fallback can be called now.
        FallbackAdmissible = "fallback_admissible",
        /// No fallback can be called now.
        NoFallback = "no_fallback",
        /// The session or the route is halted on results without a target signal.
        Halted = "halted",
        /// An account without credit.
        Billing = "billing",
        /// A limit that time refills.
        Rate = "rate",
        /// The breaker says `reducible` and the size of slow arguments is known.
        Reducible = "reducible",
        /// No other row of the signal applies.
        Otherwise = "otherwise",
        /// The route is halted on results with a target signal.
        HaltedOnTarget = "halted_on_target",
        /// The same result came a second time.
        Steer = "steer",
        /// A wave or a backend is full.
        Full = "full",
    }
}

/// One row of the catalogue.
#[derive(Debug, PartialEq, Eq)]
pub struct CatalogueRow {
    /// The row's number in spec 01; the two rows of a fallback condition share one.
    pub number: u8,
    /// The class of trouble.
    pub signal: Signal,
    /// What chooses this row among those of the signal.
    pub condition: Condition,
    /// The next step.
    pub action: Action,
    /// How urgent it is for a person.
    pub urgency: Urgency,
    /// The prohibition; `{bytes}` stands for the size of arguments.
    pub do_not: &'static str,
}

/// What `do_not` reads while a circuit is half-open and its probes are taken.
pub const DO_NOT_WHILE_PROBING: &str = "call before the running probe has answered";

const fn row(
    number: u8,
    signal: Signal,
    condition: Condition,
    action: Action,
    urgency: Urgency,
    do_not: &'static str,
) -> CatalogueRow {
    CatalogueRow { number, signal, condition, action, urgency, do_not }
}

/// Every row, highest precedence first.
#[rustfmt::skip]
pub static CATALOGUE: [CatalogueRow; 19] = {
    use {Action as A, Condition as C, Signal as S, Urgency as U};
    const UNREAD: &str = "repeat this write before its effect has been read back";
    const OVERRIDE: &str = "call this endpoint before an operator releases it";
    const ERRORS: &str = "retry same endpoint before half_open";
    const MALFORMED: &str = "retry or parse around this endpoint before half_open";
    [
        row(1, S::ScopeCreep, C::Always, A::StopAndEscalate, U::Corruption, "call this tool from this session"),
        row(2, S::AmbiguousEffect, C::FallbackAdmissible, A::VerifyEffect, U::Corruption, UNREAD),
        row(2, S::AmbiguousEffect, C::NoFallback, A::StopAndEscalate, U::Corruption, UNREAD),
        row(3, S::AuthFailure, C::Authentication, A::StopAndEscalate, U::Crash, "use this credential again, here or on another endpoint, before it is replaced"),
        row(4, S::AuthFailure, C::Authorisation, A::StopAndEscalate, U::Crash, "call this endpoint with this credential; other endpoints are not affected"),
        row(5, S::OperatorOverride, C::FallbackAdmissible, A::SwitchToFallback, U::Crash, OVERRIDE),
        row(5, S::OperatorOverride, C::NoFallback, A::StopAndEscalate, U::Crash, OVERRIDE),
        row(6, S::NoProgress, C::Halted, A::HaltWithPartialFindings, U::StuckLoop, "call this tool again for this question; report what was measured"),
        row(7, S::ErrorRate, C::FallbackAdmissible, A::SwitchToFallback, U::Crash, ERRORS),
        row(7, S::ErrorRate, C::NoFallback, A::AwaitRecovery, U::Crash, ERRORS),
        row(8, S::MalformedResponse, C::FallbackAdmissible, A::SwitchToFallback, U::WrongOutput, MALFORMED),
        row(8, S::MalformedResponse, C::NoFallback, A::StopAndEscalate, U::WrongOutput, MALFORMED),
        row(9, S::QuotaExhausted, C::Billing, A::StopAndEscalate, U::RateLimit, "call again before the account has credit"),
        row(10, S::QuotaExhausted, C::Rate, A::WaitForQuota, U::RateLimit, "call before the time in state; another endpoint adds no quota"),
        row(11, S::Latency, C::Reducible, A::ReducePayload, U::RateLimit, "send more than {bytes} bytes of arguments before half_open"),
        row(12, S::Latency, C::Otherwise, A::AwaitRecovery, U::RateLimit, "call same endpoint before half_open"),
        row(13, S::NoProgress, C::HaltedOnTarget, A::HaltWithPartialFindings, U::StuckLoop, "call this tool again for this question until the target answers well; report what was measured"),
        row(14, S::NoProgress, C::Steer, A::ChangeRoute, U::StuckLoop, "repeat this probe with other labels, time ranges or wording"),
        row(15, S::FanOut, C::Full, A::CallInNextWave, U::StuckLoop, "start another before a running one returns"),
    ]
};

impl CatalogueRow {
    /// The row of a signal under a condition, where there is one.
    #[must_use]
    pub fn find(signal: Signal, condition: Condition) -> Option<&'static Self> {
        CATALOGUE.iter().find(|row| row.signal == signal && row.condition == condition)
    }

    /// Whether this row chooses its action by whether a fallback is admissible.
    #[must_use]
    pub fn depends_on_fallback(&self) -> bool {
        matches!(self.condition, Condition::FallbackAdmissible | Condition::NoFallback)
    }
}
