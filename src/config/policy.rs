//! The policy of each kind of circuit: what is given in one table over what the table above says, key by key.

use super::branch::Branch;
use super::checks::Layer;
use super::fault::Sink;
use super::keys::POLICY;
use crate::domain::breaker::policy::{Policy, default_latency_policy, default_policy};
use crate::domain::signal::{CircuitKind, PerKind};

/// The policy of one kind as far as it is read.
#[derive(Clone)]
pub(super) struct PolicyDraft {
    /// The policy, with the values of the layer above where nothing is given.
    pub(super) policy: Policy,
    /// Whether it is on.
    pub(super) is_enabled: bool,
}

impl PolicyDraft {
    /// What stands where nothing is given; `latency` is on as soon as it knows what slow is.
    pub(super) fn of(kind: CircuitKind) -> Self {
        let policy = default_policy(kind).unwrap_or_else(|| Policy { slow_ms: None, ..default_latency_policy(0) });
        Self { policy, is_enabled: true }
    }

    /// The longest window that a rule looks at; 0 where none looks at one.
    pub(super) fn longest_window_ms(&self) -> u64 {
        self.policy.rules.iter().filter_map(|rule| rule.window_ms()).max().unwrap_or(0)
    }

    /// The policy; none where it is off or, for `latency`, does not know what slow is.
    pub(super) fn finish(&self, kind: CircuitKind) -> Option<Policy> {
        let knows_slow = self.policy.slow_ms.is_some() || kind != CircuitKind::Latency;
        (self.is_enabled && knows_slow).then(|| self.policy.clone())
    }
}

impl From<&Policy> for PolicyDraft {
    fn from(policy: &Policy) -> Self {
        Self { policy: policy.clone(), is_enabled: true }
    }
}

/// The policies of one layer: what is given here over what stands `above`.
pub(super) fn read_policies(
    table: Option<&Branch<'_>>,
    above: &PerKind<PolicyDraft>,
    layer: Layer<'_>,
    sink: &mut Sink<'_>,
) -> PerKind<PolicyDraft> {
    let mut drafts = above.clone();
    let Some(table) = table else { return drafts };
    for signal in signals() {
        let conditions = conditions_of(signal);
        if !conditions.is_empty()
            && let Some(signal_table) = table.child(signal, sink)
        {
            signal_table.allow_only(&conditions, sink);
        }
    }
    for kind in CircuitKind::ALL {
        if let Some(policy) = table.of_kind(*kind, sink) {
            policy.read(POLICY, &[], drafts.at_mut(*kind), sink);
        }
    }
    settle_latency(drafts.at_mut(CircuitKind::Latency), layer, sink);
    drafts
}

/// Saying what slow is turns `latency` on; a table that leaves it open is a fault, as it would do nothing.
fn settle_latency(draft: &mut PolicyDraft, layer: Layer<'_>, sink: &mut Sink<'_>) {
    let kind = CircuitKind::Latency;
    let here = layer.here(kind);
    if sink.is_given(&layer.key_here(kind, "slow")) && !sink.is_given(&layer.key_here(kind, "enabled")) {
        draft.is_enabled = true;
    }
    let is_unsure =
        ["slow", "enabled"].iter().any(|key| layer.is_faulty(kind, key, sink)) || sink.is_faulty_itself(&here);
    let is_missing = draft.is_enabled && draft.policy.slow_ms.is_none();
    if is_missing && sink.is_given(&here) && !is_unsure {
        sink.fault_at(&here, "has no `slow`: say what slow is, e.g. `slow = \"2s\"`, or `enabled = false`".to_owned());
    }
}

/// What holds for each kind.
pub(super) fn finish(drafts: &PerKind<PolicyDraft>) -> PerKind<Option<Policy>> {
    PerKind::from_fn(|kind| drafts.at(kind).finish(kind))
}

/// The tables in which policies stand: the first segments of the kinds.
pub(super) fn signals() -> Vec<&'static str> {
    let words = CircuitKind::ALL.iter().map(|kind| kind.word());
    let mut signals: Vec<&str> = words.map(|word| word.split_once('.').map_or(word, |(signal, _)| signal)).collect();
    signals.dedup();
    signals
}

fn conditions_of(signal: &str) -> Vec<&'static str> {
    let dotted = CircuitKind::ALL.iter().filter_map(|kind| kind.word().split_once('.'));
    dotted.filter(|(of, _)| *of == signal).map(|(_, condition)| condition).collect()
}
