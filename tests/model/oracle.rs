//! What spec 02 says about one target's circuits, recomputed from the whole history at every question.
//!
//! Written from the specification, not from the service: there is no ring, no counter and no state, only a list of what
//! happened, which is never changed, and questions over it (`questions.rs`). It knows one target with up to three
//! circuits of `min_reporters = 1`; masks, small passes and scopes beyond the target are not its business.

use std::sync::Arc;

use tripnote::domain::breaker::Acknowledgement;
use tripnote::domain::breaker::policy::{Policy, Rule};
use tripnote::domain::observation::Classification;
use tripnote::domain::signal::{CircuitKind, Phase};

/// Circuits that one history can hold.
pub(crate) const CIRCUITS_MAX: usize = 3;
/// Three lost probes in a row reopen (spec 2.4).
pub(crate) const LOST_REOPEN: usize = 3;

/// What a result says about one kind (spec 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Good,
    Bad,
    Neutral,
}

/// Why a phase began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A rule fired on `failed` of `results`; `seen` is what the longer window `observed` speaks of held.
    Fired {
        rule: Rule,
        failed: u32,
        results: u32,
        seen: (u32, u32),
        hung: u32,
    },
    FailedProbe,
    LostProbes,
    Deadline,
    GoodProbes,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fact {
    Asked {
        at: u64,
        seq: u64,
        lease_ends: [Option<u64>; CIRCUITS_MAX],
    },
    Reported {
        at: u64,
        seq: u64,
        took_ms: u64,
        is_result: bool,
        meaning: [Meaning; CIRCUITS_MAX],
        counts: [bool; CIRCUITS_MAX],
    },
    Turned {
        circuit: usize,
        at: u64,
        to: Phase,
        why: Why,
        until: Option<(u64, u64)>,
    },
}

/// One circuit's word on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Pass,
    Probe,
    Refuse { phase: Phase, retry_at: Option<u64> },
}

/// The answer to an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// It may be made; `shadow` says that a circuit in shadow would have refused.
    Permit { is_probe: bool, expires_in_ms: u64, shadow: bool, leases: usize },
    /// The circuits that refuse it, with what each says.
    Refused(Vec<(usize, Phase, Option<u64>)>),
}

/// A report, as the caller makes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) seq: u64,
    pub(crate) class: Classification,
    pub(crate) latency_ms: Option<u64>,
    pub(crate) hint_ms: Option<i64>,
}

/// The answer to a report: its acknowledgement and whether it opened a circuit, of those that refuse or of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) ack: Acknowledgement,
    /// Stale for one of the circuits.
    pub(crate) is_stale_somewhere: bool,
    pub(crate) opens_for_all: bool,
    pub(crate) opens: bool,
}

impl Settled {
    const fn refused(ack: Acknowledgement) -> Self {
        Self { ack, is_stale_somewhere: false, opens_for_all: false, opens: false }
    }
}

/// The whole history of one target.
#[derive(Clone)]
pub(crate) struct Oracle {
    pub(crate) circuits: Arc<[(CircuitKind, Policy)]>,
    pub(crate) slice_ms: u64,
    pub(crate) permit_for_ms: u64,
    pub(crate) history: Vec<Fact>,
}

impl Oracle {
    pub(crate) fn new(circuits: Arc<[(CircuitKind, Policy)]>, permit_for_ms: u64) -> Self {
        let windows = circuits.iter().flat_map(|(_, policy)| &policy.rules).filter_map(|rule| match *rule {
            Rule::Failures { failures, within_ms } => (failures > 1).then_some(within_ms),
            Rule::Ratio { within_ms, .. } => Some(within_ms),
            Rule::Consecutive { .. } => None,
        });
        let slice_ms = windows.min().map_or(6_000, |shortest| (shortest / 10).max(1));
        Self { circuits, slice_ms, permit_for_ms, history: Vec::new() }
    }

    /// A call is asked for.
    pub(crate) fn ask(&mut self, now: u64, seq: u64) -> Asked {
        self.lapse(now, None);
        let words: Vec<Word> = (0..self.circuits.len()).map(|circuit| self.word(circuit, now)).collect();
        let refuses = |circuit: usize, word: &Word| match *word {
            Word::Refuse { phase, retry_at } => Some((circuit, phase, retry_at)),
            Word::Pass | Word::Probe => None,
        };
        let all: Vec<_> = words.iter().enumerate().filter_map(|(circuit, word)| refuses(circuit, word)).collect();
        let (shadow, enforced): (Vec<_>, Vec<_>) = all.into_iter().partition(|(circuit, ..)| self.is_shadow(*circuit));
        if !enforced.is_empty() {
            return Asked::Refused(enforced);
        }
        let mut lease_ends = [None; CIRCUITS_MAX];
        for (circuit, _) in words.iter().enumerate().filter(|(_, word)| **word == Word::Probe) {
            lease_ends[circuit] = Some(now + self.lease_ms(circuit, now));
            if self.phase(circuit) == Phase::Open {
                self.turn(circuit, now, Phase::HalfOpen, Why::Deadline, None);
            }
        }
        self.history.push(Fact::Asked { at: now, seq, lease_ends });
        let first_end = lease_ends.iter().flatten().min();
        Asked::Permit {
            is_probe: first_end.is_some(),
            expires_in_ms: first_end.map_or(self.permit_for_ms, |end| end - now),
            shadow: !shadow.is_empty(),
            leases: lease_ends.iter().flatten().count(),
        }
    }

    /// A call's result is told.
    pub(crate) fn tell(&mut self, now: u64, told: &Told) -> Settled {
        let Some((issued_at, ..)) = self.asked(told.seq) else {
            return Settled::refused(Acknowledgement::Unknown);
        };
        if now - issued_at > self.permit_for_ms {
            return Settled::refused(Acknowledgement::Expired);
        }
        if self.is_reported(told.seq) {
            return Settled::refused(Acknowledgement::Duplicate);
        }
        self.lapse(now, Some(told.seq));
        let took_ms = told.latency_ms.unwrap_or(now - issued_at);
        let mut meaning = [Meaning::Neutral; CIRCUITS_MAX];
        let mut counts = [false; CIRCUITS_MAX];
        for (circuit, (kind, policy)) in self.circuits.iter().enumerate() {
            meaning[circuit] = meaning_of(told.class, *kind, policy.slow_ms, took_ms);
            counts[circuit] = self.is_live(circuit, told.seq, now);
        }
        let is_result = told.class != Classification::Ignored;
        let leased: Vec<bool> =
            (0..self.circuits.len()).map(|circuit| self.holds_lease(circuit, told.seq, now)).collect();
        self.history.push(Fact::Reported { at: now, seq: told.seq, took_ms, is_result, meaning, counts });
        let is_stale = counts.iter().take(self.circuits.len()).any(|counts| !counts);
        let before: Vec<Phase> = (0..self.circuits.len()).map(|circuit| self.phase(circuit)).collect();
        let counts_against = (0..self.circuits.len()).any(|c| counts[c] && meaning[c] == Meaning::Bad);
        let mut settled =
            Settled { ack: Acknowledgement::Counted, is_stale_somewhere: is_stale, opens: false, opens_for_all: false };
        for circuit in 0..self.circuits.len() {
            let weighs = counts[circuit] && meaning[circuit] != Meaning::Neutral;
            if weighs && self.weigh(circuit, now, meaning[circuit], leased[circuit], told) {
                settled.opens = true;
                settled.opens_for_all |= !self.is_shadow(circuit);
            }
        }
        let has_moved = (0..self.circuits.len()).any(|circuit| self.phase(circuit) != before[circuit]);
        if is_stale && !counts_against && !has_moved {
            settled.ack = Acknowledgement::Stale;
        }
        settled
    }

    /// What a counted result makes of a circuit. True where it opened.
    fn weigh(&mut self, circuit: usize, now: u64, meaning: Meaning, is_leased: bool, told: &Told) -> bool {
        match (self.phase(circuit), meaning) {
            (Phase::HalfOpen, Meaning::Bad) if is_leased => {
                self.open(circuit, now, Why::FailedProbe, told.hint_ms);
                true
            }
            (Phase::HalfOpen, Meaning::Good) if is_leased => {
                if self.good_probes(circuit) >= usize::from(self.policy(circuit).successes) {
                    self.turn(circuit, now, Phase::Closed, Why::GoodProbes, None);
                }
                false
            }
            (Phase::Closed, Meaning::Good | Meaning::Bad) => match self.fired(circuit, now, None) {
                Some(why) => {
                    self.open(circuit, now, why, told.hint_ms);
                    true
                }
                None => false,
            },
            (Phase::HalfOpen | Phase::Open, _) | (Phase::Closed, Meaning::Neutral) => false,
        }
    }

    /// What time alone has decided, on the next entry: lost probes reopen, hanging calls open. The call whose result is
    /// being told is no longer in flight.
    pub(crate) fn lapse(&mut self, now: u64, told: Option<u64>) {
        for circuit in 0..self.circuits.len() {
            match self.phase(circuit) {
                Phase::HalfOpen if self.lost_in_a_row(circuit, now) >= LOST_REOPEN => {
                    // Not when somebody came to see it, but when the last of them ended.
                    let ended = self.last_lost(circuit, now).unwrap_or(now);
                    self.open_from(circuit, now, ended, Why::LostProbes, None);
                }
                Phase::Closed if self.follows(circuit) => {
                    if let Some(why) = self.fired(circuit, now, told) {
                        self.open(circuit, now, why, None);
                    }
                }
                Phase::Closed | Phase::Open | Phase::HalfOpen => {}
            }
        }
    }

    fn open(&mut self, circuit: usize, now: u64, why: Why, hint_ms: Option<i64>) {
        self.open_from(circuit, now, now, why, hint_ms);
    }

    fn open_from(&mut self, circuit: usize, now: u64, from: u64, why: Why, hint_ms: Option<i64>) {
        let level = self.level(circuit, now) + u32::from(why == Why::FailedProbe);
        let range = self.open_range(circuit, level, hint_ms);
        let until = (!self.policy(circuit).latch).then_some((from + range.0, from + range.1));
        self.turn(circuit, now, Phase::Open, why, until);
    }

    fn turn(&mut self, circuit: usize, at: u64, to: Phase, why: Why, until: Option<(u64, u64)>) {
        self.history.push(Fact::Turned { circuit, at, to, why, until });
    }

    /// Takes over the deadline that the dice chose, which must lie where the formula allows.
    pub(crate) fn settle_deadline(&mut self, circuit: usize, actual: Option<u64>) {
        let last = self.history.iter_mut().rev().find_map(|fact| match fact {
            Fact::Turned { circuit: own, until: Some(range), .. } if *own == circuit => Some(range),
            _ => None,
        });
        let (Some(range), Some(actual)) = (last, actual) else { return };
        assert!(
            (range.0..=range.1).contains(&actual),
            "deadline {actual} of circuit {circuit} lies outside of {}..={}",
            range.0,
            range.1
        );
        *range = (actual, actual);
    }
}

/// What a class of result says about a kind (spec 2.3): it feeds only the kinds whose question it answers.
pub(crate) fn meaning_of(class: Classification, kind: CircuitKind, slow_ms: Option<u64>, took_ms: u64) -> Meaning {
    let is_slow = slow_ms.is_some_and(|slow| took_ms >= slow);
    let question = match kind {
        CircuitKind::ErrorRate => "path",
        CircuitKind::Latency => "time",
        CircuitKind::MalformedResponse => "form",
        CircuitKind::Authentication
        | CircuitKind::Authorisation
        | CircuitKind::QuotaRate
        | CircuitKind::QuotaBilling => "right",
    };
    match (class, question) {
        (Classification::Ignored, _) => Meaning::Neutral,
        (Classification::TimedOut, "path" | "time") => Meaning::Bad,
        (Classification::TimedOut, _) => Meaning::Neutral,
        (_, "time") if is_slow => Meaning::Bad,
        (Classification::Failed(own), _) if own == kind => Meaning::Bad,
        (Classification::Failed(CircuitKind::ErrorRate), _) => Meaning::Neutral,
        (Classification::Failed(CircuitKind::Latency), _) => Meaning::Good,
        (Classification::Failed(_), "path" | "time") => Meaning::Good,
        (Classification::Failed(_), _) => Meaning::Neutral,
        (Classification::BadInput, "form") => Meaning::Neutral,
        (Classification::BadInput | Classification::Ok, _) => Meaning::Good,
    }
}
