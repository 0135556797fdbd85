//! Runs a table on a session.
//!
//! `TOOL ARGUMENTS RESULT OPTIONS -> TOLD` reports a call, `ask TOOL ARGUMENTS OPTIONS -> TOLD` asks for one.
//! Results: `empty:X error:X down:X` (with a target signal) `ok:X context written lost refused ours`.
//! Options: `q=` query identity, `wave=`, `lane=`, `for=` purpose, `on=` target, `at=` ms, `sent=` ms, `key=`, `n=` the place.

use std::sync::Arc;

use super::super::call::{Ask, Report, ToolName, Wave};
use super::super::policy::SessionPolicy;
use super::super::{Session, Told};
use crate::domain::contract::session::{Refuser, SessionFigures};
use crate::domain::contract::{Condition, Observed, Trip};
use crate::domain::ids::{HashKey, HashTag, SafeText};
use crate::domain::observation::Observation;
use crate::domain::signal::CircuitKind;
use crate::domain::time::Timestamp;
use crate::domain::tool::{Effect, Poll};
use crate::domain::verdict::Verdict;

pub(super) fn hash(text: &str) -> u64 {
    HashKey([7; 16]).hash(HashTag::Arguments, text.as_bytes())
}

pub(super) fn tool(name: &str) -> ToolName<'_> {
    ToolName { id: hash(name), name }
}

/// A session and the tools that stand in for others.
pub(super) struct Table {
    pub(super) session: Session,
    pub(super) alternatives: Vec<String>,
}

impl Table {
    pub(super) fn new(policy: SessionPolicy) -> Self {
        Self { session: Session::new(Arc::new(policy)), alternatives: Vec::new() }
    }

    /// Runs a table and compares each line; also with a restart before each.
    #[track_caller]
    pub(super) fn run(&mut self, table: &str) {
        let mut restarted = Self { session: self.session.clone(), alternatives: self.alternatives.clone() };
        for (at, line) in table.lines().enumerate() {
            let line = line.split('#').next().unwrap().trim();
            if line.is_empty() {
                continue;
            }
            let (call, expected) = line.split_once("->").unwrap_or((line, "-"));
            assert_eq!(self.line(call), expected.trim(), "line {}: {line}", at + 1);
            restarted.restart();
            assert_eq!(restarted.line(call), expected.trim(), "after a restart, line {}: {line}", at + 1);
        }
    }

    /// What was written down, read again.
    fn restart(&mut self) {
        let policy = Arc::clone(&self.session.policy);
        self.session = serde_json::from_slice(&serde_json::to_vec(&self.session).unwrap()).unwrap();
        self.session.adopt(policy);
    }

    pub(super) fn line(&mut self, call: &str) -> String {
        let words: Vec<&str> = call.split_whitespace().collect();
        match words[..] {
            ["ask", name, arguments, ref options @ ..] => self.ask(name, arguments, options),
            ["recovered", target] => {
                self.session.target_recovered(hash(target));
                let resumed = self.session.take_resumed();
                let told: Vec<&str> = resumed.iter().map(|resumed| resumed.tool.as_str()).collect();
                if told.is_empty() { "-".to_owned() } else { format!("notice {}", told.join(" ")) }
            }
            ["task", name] => {
                self.session.new_task(hash(name));
                "-".to_owned()
            }
            ["epoch"] => {
                self.session.advance_epoch();
                "-".to_owned()
            }
            ["release", name, arguments] => self.session.release_effect(hash(name), hash(arguments)).to_string(),
            [name, arguments, result, ref options @ ..] => self.report(name, arguments, result, options),
            _ => panic!("no such line: {call}"),
        }
    }

    fn ask(&mut self, name: &str, arguments: &str, options: &[&str]) -> String {
        let option = |key| find(options, key);
        let number = |key| option(key).map_or(0, |n| n.parse().unwrap());
        let target = SafeText::cut(option("on").unwrap_or(name), 96);
        let alternatives: Vec<ToolName<'_>> = self.alternatives.iter().map(|name| tool(name)).collect();
        let ask = Ask {
            tool: tool(name),
            target: &target,
            arguments: hash(arguments),
            wave: wave(options),
            call: option("call").map_or(0, hash),
            place: number("n"),
            lease_ends: Timestamp(number("at") + 30_000),
            idempotency_key: option("key").map_or(0, hash),
            is_approved: options.contains(&"approved"),
            may_probe: options.contains(&"probe"),
            alternatives: &alternatives,
            now: Timestamp(number("at")),
        };
        match self.session.admit(&ask) {
            Verdict::Proceed(()) => "go".to_owned(),
            Verdict::Refuse(trip) => told(&trip),
        }
    }

    fn report(&mut self, name: &str, arguments: &str, result: &str, options: &[&str]) -> String {
        let option = |key| find(options, key);
        let number = |key| option(key).map_or(0, |n| n.parse().unwrap());
        let target = SafeText::cut(option("on").unwrap_or(name), 96);
        let alternatives: Vec<ToolName<'_>> = self.alternatives.iter().map(|name| tool(name)).collect();
        let (kind_of_result, text) = result.split_once(':').unwrap_or((result, ""));
        let (observation, kind) = match kind_of_result {
            "ok" | "written" => (Observation::Observed, None),
            "empty" => (Observation::Empty, None),
            "context" => (Observation::Context, None),
            "down" => (Observation::Unavailable, Some(CircuitKind::ErrorRate)),
            "lost" => (Observation::Unavailable, Some(CircuitKind::Latency)),
            "error" | "refused" | "ours" | "host" => (Observation::Error, None),
            other => panic!("no such result: {other}"),
        };
        let is_terminal = matches!(kind_of_result, "empty" | "down" | "error" | "lost" | "refused" | "host");
        let is_write = matches!(kind_of_result, "written" | "lost") || options.contains(&"write");
        let report = Report {
            tool: tool(name),
            target_name: &target,
            target: hash(option("on").unwrap_or(name)),
            arguments: hash(arguments),
            identity: hash(option("q").unwrap_or(arguments)),
            purpose: option("for").map_or(0, hash),
            wave: wave(options),
            task: option("task").map_or(0, hash),
            place: number("n"),
            idempotency_key: option("key").map_or(0, hash),
            observation,
            fingerprint: is_terminal.then(|| hash(&format!("{name}|{kind_of_result}|{text}"))),
            result: observation.is_usable().then(|| hash(text)),
            kind,
            effect: if is_write { Effect::Mutate } else { Effect::Read },
            is_success: matches!(kind_of_result, "ok" | "written" | "context" | "empty"),
            is_note: options.contains(&"note"),
            is_silent_retry: options.contains(&"retry"),
            is_ours: kind_of_result == "ours",
            refused_by: match kind_of_result {
                "refused" => Some(Refuser::User),
                "host" => Some(Refuser::Host),
                _ => None,
            },
            is_held_by_circuit: options.contains(&"held"),
            is_reply_lost: kind_of_result == "lost",
            poll: option("poll").map(|ms| Poll { every_ms: 1_000, up_to_ms: ms.parse().unwrap() }),
            read_tool: option("read").map(tool),
            alternatives: &alternatives,
            sent_at: Timestamp(option("sent").map_or_else(|| number("at"), |n| n.parse().unwrap())),
            now: Timestamp(number("at")),
        };
        match self.session.report(&report) {
            Told::Nothing => "-".to_owned(),
            Told::Steer(trip) | Told::Trip(trip) => told(&trip),
        }
    }
}

fn find<'a>(options: &[&'a str], key: &str) -> Option<&'a str> {
    options.iter().find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
}

fn wave(options: &[&str]) -> Option<Wave> {
    let lane = find(options, "lane").map_or(0, hash);
    find(options, "wave").map(|id| Wave { lane, id: hash(id), turn: 0 })
}

/// A contract in a few words.
pub(super) fn told(trip: &Trip) -> String {
    let Observed::Session(figures) = trip.contract.observed else { panic!("no figures of a session") };
    let what = match figures {
        SessionFigures::SameResult { times, .. } => format!("same {times}"),
        SessionFigures::Sweep { times, .. } => format!("sweep {times}"),
        SessionFigures::Broad { failures, .. } => format!("broad {failures}"),
        SessionFigures::AlreadyHeld { times, .. } => format!("held {times}"),
        SessionFigures::SessionHalted { routes, .. } => format!("session {routes}"),
        SessionFigures::Wave { running, cap } => format!("wave {running}/{cap}"),
        SessionFigures::Twin => "twin".to_owned(),
        SessionFigures::NotAllowed { allowed } => format!("not one of {allowed}"),
        SessionFigures::Refused(Refuser::User) => "refused by user".to_owned(),
        SessionFigures::Refused(Refuser::Host) => "refused by host".to_owned(),
        SessionFigures::AmbiguousEffect { .. } => trip.contract.row.action.word().to_owned(),
        SessionFigures::Backend { .. } => panic!("no session guard says this"),
    };
    assert_eq!(trip.contract.breaker.as_str(), figures.guard_code().unwrap());
    let rows =
        [(Condition::Steer, "steer "), (Condition::Halted, "halt "), (Condition::HaltedOnTarget, "halt on target ")];
    let row = rows.iter().find(|(condition, _)| *condition == trip.contract.row.condition).map_or("", |(_, word)| word);
    let fallback = trip.contract.fallback.as_ref().map(|fallback| format!(", try {}", fallback.name.as_str()));
    format!("{row}{what}{}", fallback.unwrap_or_default())
}
