//! Figures by breaker, signal and wording, of the script or of the service, so that both can be held against each other.

use std::collections::{BTreeMap, BTreeSet};

use super::log::Told;
use crate::cli::words::Word as _;
use crate::wire::pb;

/// What the next step made of a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstAction {
    Match,
    Repeat,
    Other,
    None,
}

/// How it ended with a trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    Recovered,
    Halted,
    Abandoned,
    Superseded,
}

/// Places of a distribution of turns; the last holds those that took longer.
const TURNS_PLACES: usize = 65;

/// Of what figures are. Without a signal: of all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    /// The breaker.
    pub(super) breaker: String,
    /// The class of trouble by its word; empty: all.
    pub(super) signal: String,
    /// The wording.
    pub(super) variant: String,
}

impl Row {
    /// The rows of a contract: that of all signals, and its signal's.
    fn both(told: &Told) -> [Self; 2] {
        let Told { breaker, signal, variant, .. } = told;
        [String::new(), signal.word()].map(|signal| Self { breaker: breaker.clone(), signal, variant: variant.clone() })
    }
}

/// The figures of one row. Names as in the proto.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OfRow {
    pub(super) trips: u64,
    pub(super) concluded: u64,
    pub(super) sessions: u64,
    pub(super) first_actions: pb::FirstActions,
    pub(super) repeated_trips: u64,
    pub(super) repeats: u64,
    pub(super) ignored_trips: u64,
    pub(super) ignored: u64,
    pub(super) resolutions: pb::Resolutions,
    /// By number of turns.
    pub(super) turns: Vec<u64>,
    pub(super) halted_sessions: u64,
    pub(super) false_halts: u64,
}

/// All figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    /// By row.
    pub(super) rows: BTreeMap<Row, OfRow>,
    /// Of sessions.
    pub(super) sessions: pb::SessionTotals,
}

/// A figure that the script and the service do not agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// Of which row; none: of the sessions.
    pub(super) row: Option<Row>,
    /// Which figure.
    pub(super) figure: String,
    /// By the script.
    pub(super) truth: u64,
    /// By the service.
    pub(super) service: u64,
}

impl OfRow {
    /// Counts a first action.
    pub(super) const fn first(&mut self, action: FirstAction) {
        match action {
            FirstAction::Match => self.first_actions.r#match += 1,
            FirstAction::Repeat => self.first_actions.repeat += 1,
            FirstAction::Other => self.first_actions.other += 1,
            FirstAction::None => self.first_actions.none += 1,
        }
    }

    /// Counts an end.
    pub(super) fn resolve(&mut self, resolution: Resolution, turns: Option<u32>) {
        match resolution {
            Resolution::Recovered => self.resolutions.recovered += 1,
            Resolution::Halted => self.resolutions.halted += 1,
            Resolution::Abandoned => self.resolutions.abandoned += 1,
            Resolution::Superseded => self.resolutions.superseded += 1,
        }
        if let Some(turns) = turns {
            let place = usize::try_from(turns).unwrap_or(usize::MAX).min(TURNS_PLACES - 1);
            self.turns.resize(self.turns.len().max(place + 1), 0);
            if let Some(count) = self.turns.get_mut(place) {
                *count += 1;
            }
        }
    }

    fn take_off(&mut self, before: &Self) {
        let (first, first_before) = (&mut self.first_actions, &before.first_actions);
        let (ends, ends_before) = (&mut self.resolutions, &before.resolutions);
        let pairs = [
            (&mut self.trips, before.trips),
            (&mut self.concluded, before.concluded),
            (&mut self.sessions, before.sessions),
            (&mut first.r#match, first_before.r#match),
            (&mut first.repeat, first_before.repeat),
            (&mut first.other, first_before.other),
            (&mut first.none, first_before.none),
            (&mut self.repeated_trips, before.repeated_trips),
            (&mut self.repeats, before.repeats),
            (&mut self.ignored_trips, before.ignored_trips),
            (&mut self.ignored, before.ignored),
            (&mut ends.recovered, ends_before.recovered),
            (&mut ends.halted, ends_before.halted),
            (&mut ends.abandoned, ends_before.abandoned),
            (&mut ends.superseded, ends_before.superseded),
            (&mut self.halted_sessions, before.halted_sessions),
            (&mut self.false_halts, before.false_halts),
        ];
        let turns = self.turns.iter_mut().zip(before.turns.iter().copied());
        for (n, before) in pairs.into_iter().chain(turns) {
            *n = n.saturating_sub(before);
        }
        let used = self.turns.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1);
        self.turns.truncate(used);
    }

    /// Every figure under its name.
    pub(super) fn named(&self) -> Vec<(String, u64)> {
        let pb::FirstActions { r#match, repeat, other, none } = self.first_actions;
        let pb::Resolutions { recovered, halted, abandoned, superseded } = self.resolutions;
        let named = [
            ("trips", self.trips),
            ("concluded", self.concluded),
            ("sessions", self.sessions),
            ("first_actions.match", r#match),
            ("first_actions.repeat", repeat),
            ("first_actions.other", other),
            ("first_actions.none", none),
            ("repeated_trips", self.repeated_trips),
            ("repeats", self.repeats),
            ("ignored_trips", self.ignored_trips),
            ("ignored", self.ignored),
            ("resolutions.recovered", recovered),
            ("resolutions.halted", halted),
            ("resolutions.abandoned", abandoned),
            ("resolutions.superseded", superseded),
            ("halted_sessions", self.halted_sessions),
            ("false_halts", self.false_halts),
        ];
        let turns = self.turns.iter().enumerate().map(|(turns, n)| (format!("turns_to_recovery.{turns}"), *n));
        named.into_iter().map(|(name, n)| (name.to_owned(), n)).chain(turns).collect()
    }
}

impl From<&pb::VariantBehaviour> for OfRow {
    fn from(of: &pb::VariantBehaviour) -> Self {
        Self {
            trips: of.trips,
            concluded: of.concluded,
            sessions: of.sessions,
            first_actions: of.first_actions.unwrap_or_default(),
            repeated_trips: of.repeated_trips,
            repeats: of.repeats,
            ignored_trips: of.ignored_trips,
            ignored: of.ignored,
            resolutions: of.resolutions.unwrap_or_default(),
            turns: of.turns_to_recovery.clone().unwrap_or_default().trips,
            halted_sessions: of.halted_sessions,
            false_halts: of.false_halts,
        }
    }
}

impl From<&pb::GetBehaviourResponse> for Figures {
    fn from(answer: &pb::GetBehaviourResponse) -> Self {
        let mut rows = BTreeMap::new();
        for of in &answer.breakers {
            for variant in of.variants.iter().chain(&of.by_signal) {
                let row = Row {
                    breaker: of.breaker.clone(),
                    signal: variant.signal().word(),
                    variant: variant.variant.clone(),
                };
                rows.insert(row, OfRow::from(variant));
            }
        }
        Self { rows, sessions: answer.sessions.unwrap_or_default() }
    }
}

impl Figures {
    /// Counts something of a contract, for its signal and for all.
    pub(super) fn count(&mut self, told: &Told, count: impl Fn(&mut OfRow)) {
        for row in Row::both(told) {
            count(self.rows.entry(row).or_default());
        }
    }

    /// One session had these contracts concluded: it counts once in each of their rows.
    pub(super) fn add_session(&mut self, told: &[&Told]) {
        let rows: BTreeSet<Row> = told.iter().flat_map(|told| Row::both(told)).collect();
        for row in rows {
            self.rows.entry(row).or_default().sessions += 1;
        }
    }

    /// Without what had been counted before.
    #[must_use]
    pub(super) fn less(mut self, before: &Self) -> Self {
        for (row, of) in &mut self.rows {
            if let Some(before) = before.rows.get(row) {
                of.take_off(before);
            }
        }
        self.rows.retain(|_, of| *of != OfRow::default());
        let (of, before) = (&mut self.sessions, &before.sessions);
        let pairs = [
            (&mut of.open, before.open),
            (&mut of.answered, before.answered),
            (&mut of.escalated, before.escalated),
            (&mut of.halted, before.halted),
            (&mut of.abandoned, before.abandoned),
            (&mut of.with_halts, before.with_halts),
            (&mut of.with_steers, before.with_steers),
            (&mut of.successful, before.successful),
            (&mut of.false_halts, before.false_halts),
        ];
        for (n, before) in pairs {
            *n = n.saturating_sub(before);
        }
        self
    }

    /// All on which the script, of which these are the figures, and the service do not agree.
    pub(super) fn differences(&self, service: &Self) -> Vec<Difference> {
        let mut found = vec![];
        let mut hold = |row: Option<&Row>, truth: Vec<(String, u64)>, service: Vec<(String, u64)>| {
            let service: BTreeMap<String, u64> = service.into_iter().collect();
            let mut names: BTreeMap<String, u64> = service.keys().map(|name| (name.clone(), 0)).collect();
            names.extend(truth);
            for (figure, truth) in names {
                let service = service.get(&figure).copied().unwrap_or(0);
                if truth != service {
                    found.push(Difference { row: row.cloned(), figure, truth, service });
                }
            }
        };
        let rows: BTreeSet<&Row> = self.rows.keys().chain(service.rows.keys()).collect();
        for row in rows {
            let of = |figures: &Self| figures.rows.get(row).cloned().unwrap_or_default().named();
            hold(Some(row), of(self), of(service));
        }
        hold(None, named_sessions(&self.sessions), named_sessions(&service.sessions));
        found
    }
}

/// Every figure of sessions under its name.
pub(super) fn named_sessions(of: &pb::SessionTotals) -> Vec<(String, u64)> {
    let named = [
        ("open", of.open),
        ("answered", of.answered),
        ("escalated", of.escalated),
        ("halted", of.halted),
        ("abandoned", of.abandoned),
        ("with_halts", of.with_halts),
        ("with_steers", of.with_steers),
        ("successful", of.successful),
        ("false_halts", of.false_halts),
    ];
    named.into_iter().map(|(name, n)| (name.to_owned(), n)).collect()
}
