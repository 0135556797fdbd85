//! Answers of a service with every field set, and the golden files of how they are shown.

use std::path::Path;
use std::{env, fs};

use crate::wire::pb;

/// Cargo and nextest run tests in the directory of the package.
const DIRECTORY: &str = "tests/fixtures/cli";

/// Compares `actual` with a golden file, which `UPDATE_FIXTURES=1` rewrites.
pub(in crate::cli) fn assert_golden(name: &str, actual: &str) {
    let path = Path::new(DIRECTORY).join(name);
    if env::var_os("UPDATE_FIXTURES").is_some_and(|value| value == "1") {
        fs::write(&path, format!("{actual}\n")).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(actual, golden.trim_end_matches('\n'), "{}", path.display());
}

/// 2026-05-04T14:02:10Z and some milliseconds.
pub(in crate::cli) fn at(ms: i32) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: 1_777_903_330, nanos: ms * 1_000_000 }
}

/// The contract of the invoice job.
pub(in crate::cli) fn trip() -> pb::Trip {
    pb::Trip {
        action: pb::Action::SwitchToFallback.into(),
        breaker: "payments_api_v2".to_owned(),
        target: "POST /v2/charge".to_owned(),
        signal: pb::Signal::ErrorRate.into(),
        observed: "9/10 failed in last 60s".to_owned(),
        threshold: "trip at 3 failures in 30s".to_owned(),
        state: "open until 14:02:10Z (about 40 seconds from now), then half_open".to_owned(),
        do_not: "retry same endpoint before half_open".to_owned(),
        fallback: "payments_api_v1, same request shape".to_owned(),
        text: r#"{"action":"switch_to_fallback","breaker":"payments_api_v2","target":"POST /v2/charge"}"#.to_owned(),
        variant: pb::Variant::Contract.into(),
        variant_name: "contract".to_owned(),
        urgency: pb::Urgency::Crash.into(),
        retry_at: Some(at(0)),
        retry_after_ms: Some(40_000),
        also_open: vec![pb::AlsoOpen {
            kind: pb::CircuitKind::QuotaExhaustedRate.into(),
            phase: pb::Phase::Open.into(),
            breaker: "payments_api_v2".to_owned(),
            scope: "credential:1f2e3d4c".to_owned(),
            retry_after_ms: Some(5_000),
        }],
        generation: 2,
        event_seq: 17,
        facts: Some(pb::Facts { failed: 3, results: 4, window_ms: 30_000, max_argument_bytes: Some(512) }),
        fallback_target: "POST /v1/charge".to_owned(),
        withdraw: vec!["charge".to_owned(), "refund".to_owned()],
    }
}

/// An open circuit that somebody holds.
pub(in crate::cli) fn open_circuit() -> pb::Circuit {
    pb::Circuit {
        name: Some(name("payments_api_v2", "target:POST /v2/charge", pb::CircuitKind::ErrorRate)),
        phase: pb::Phase::Open.into(),
        probe_ready: false,
        generation: 2,
        open_until: Some(at(0)),
        retry_after_ms: Some(40_000),
        backoff_level: 1,
        observed: "9/10 failed in last 60s".to_owned(),
        threshold: "trip at 3 failures in 30s".to_owned(),
        failed: 9,
        results: 10,
        probes_in_flight: 0,
        override_mode: pb::OverrideMode::ForceOpen.into(),
        holds: vec![
            hold("ops", pb::OverrideMode::ForceOpen, "vendor is down", Some(at(0))),
            hold("alice", pb::OverrideMode::Shadow, "", None),
        ],
        shadow_percent: 10,
        last_seen_ms_ago: 2_000,
        contract: Some(trip()),
    }
}

/// A circuit that one probe tries.
pub(in crate::cli) fn half_open_circuit() -> pb::Circuit {
    pb::Circuit {
        name: Some(name("ledger", "breaker", pb::CircuitKind::AuthFailureAuthentication)),
        phase: pb::Phase::HalfOpen.into(),
        generation: 3,
        retry_after_ms: Some(4_100),
        observed: "1 of 1 failed".to_owned(),
        threshold: "trip at first failure".to_owned(),
        probes_in_flight: 1,
        last_seen_ms_ago: 120,
        contract: Some(trip()),
        ..pb::Circuit::default()
    }
}

/// A circuit that lets calls pass.
pub(in crate::cli) fn closed_circuit() -> pb::Circuit {
    pb::Circuit {
        name: Some(name("warehouse", "target:POST /warehouse", pb::CircuitKind::ErrorRate)),
        phase: pb::Phase::Closed.into(),
        generation: 1,
        failed: 1,
        results: 1,
        last_seen_ms_ago: 61_000,
        ..pb::Circuit::default()
    }
}

fn name(breaker: &str, scope: &str, kind: pb::CircuitKind) -> pb::CircuitName {
    pb::CircuitName { breaker: breaker.to_owned(), scope: scope.to_owned(), kind: kind.into() }
}

fn hold(
    owner: &str,
    mode: pb::OverrideMode,
    reason: &str,
    expires_at: Option<prost_types::Timestamp>,
) -> pb::OverrideHold {
    pb::OverrideHold { owner: owner.to_owned(), reason: reason.to_owned(), expires_at, mode: mode.into() }
}

/// An event with every field set, which no kind has.
pub(in crate::cli) fn event() -> pb::Event {
    pb::Event {
        seq: 42,
        incarnation: 7,
        at: Some(at(123)),
        event_kind: pb::EventKind::Tripped.into(),
        breaker: "payments_api_v2".to_owned(),
        scope: "target:POST /v2/charge".to_owned(),
        kind: pb::CircuitKind::ErrorRate.into(),
        generation: 2,
        from_phase: pb::Phase::Closed.into(),
        to_phase: pb::Phase::Open.into(),
        observed: "9/10 failed in last 60s".to_owned(),
        threshold: "trip at 3 failures in 30s".to_owned(),
        open_for_ms: 40_000,
        level: 1,
        action: pb::Action::SwitchToFallback.into(),
        urgency: pb::Urgency::Crash.into(),
        hint_ms: Some(-1),
        hint_clamped: true,
        lost: 3,
        config_version: 2,
        owner: "ops".to_owned(),
        signal: pb::Signal::ErrorRate.into(),
        variant: "contract_lines".to_owned(),
        first_action: pb::FirstAction::Repeat.into(),
        repeats: 2,
        ignored: 1,
        resolution: pb::Resolution::Recovered.into(),
        turns: Some(3),
        outcome: pb::SessionOutcome::Escalated.into(),
        halts: 1,
        success: Some(false),
        steer_then_halts: 3,
        alert_steer_then_halt: 3,
        review_verdict: pb::ReviewVerdict::SendBack.into(),
        review_rule: pb::ReviewRule::UnnamedGap.into(),
    }
}

/// An acknowledgement with every field.
pub(crate) fn ack() -> pb::ReportAck {
    pb::ReportAck {
        acknowledgement: pb::Acknowledgement::Counted.into(),
        phase_after: pb::Phase::Open.into(),
        trip: Some(trip()),
        typing: Some(pb::Typing {
            observation: pb::Observation::Truncated.into(),
            usable: true,
            signal: pb::Signal::Latency.into(),
            kind: pb::CircuitKind::Latency.into(),
            failure_class: pb::FailureClass::Transport.into(),
            retry_after_ms: Some(5_000),
            format: "datadog".to_owned(),
            rule: "completeness".to_owned(),
            reason: "it timed out with rows".to_owned(),
            total_known: Some(40),
            values_degraded: true,
            digest: "data[3]".to_owned(),
        }),
        handling: Some(pb::Handling {
            disposition: pb::Disposition::RetrySilently.into(),
            after_ms: Some(5_000),
            text: "partial".to_owned(),
        }),
        next_binding: Some(binding("gpu-b", "large")),
        next_attempt: 1,
        leaf: pb::Leaf::ComputeMove.into(),
        leaf_reason: pb::LeafReason::TransportFaultRepeated.into(),
        attempt_id: 7,
    }
}

fn binding(host: &str, route: &str) -> pb::StepBinding {
    pb::StepBinding { host: host.to_owned(), route: route.to_owned(), snapshot: "sha256:1f".to_owned() }
}

/// A narrowed attempt with every field set, which no attempt has.
pub(in crate::cli) fn narrowed() -> pb::Attempt {
    pb::Attempt {
        id: 7,
        chain: 5,
        after: Some(6),
        at: Some(at(123)),
        step: "nightly/2026-05-04/4".to_owned(),
        binding: Some(binding("gpu-b", "large")),
        record: Some(pb::AttemptRecord {
            failure_class: "contract_miss".to_owned(),
            attempt: 1,
            writes: Some(false),
            tools_enabled: Some(false),
            snapshot_same: Some(true),
            effect_unknown: true,
            has_idempotency_key: true,
            policy_denied: false,
        }),
        leaf: pb::Leaf::RouteNarrowing.into(),
        row: 6,
        reason: pb::LeafReason::ReadOnlyMiss.into(),
        next_binding: Some(binding("gpu-b", "small")),
        next_attempt: 1,
        needs_review: true,
        cap_raised_because: "the array fails over in 40 s".to_owned(),
        sketch: Some(pb::Sketch { reference: "drafts/4.json".to_owned(), accepted: true, accepted_at: Some(at(900)) }),
    }
}

/// A halted attempt.
pub(in crate::cli) fn halted() -> pb::Attempt {
    let record = narrowed().record.map(|record| pb::AttemptRecord {
        failure_class: "transport".to_owned(),
        attempt: 2,
        effect_unknown: false,
        has_idempotency_key: false,
        ..record
    });
    pb::Attempt {
        id: 9,
        after: Some(8),
        record,
        leaf: pb::Leaf::Halt.into(),
        row: 5,
        reason: pb::LeafReason::NoSpareHostLeft.into(),
        next_binding: None,
        next_attempt: 0,
        cap_raised_because: String::new(),
        sketch: None,
        ..narrowed()
    }
}
