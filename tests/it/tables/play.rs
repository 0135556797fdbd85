//! Plays a table on a machine and writes down every line that did not come out as it says.

use std::collections::HashMap;

use tripnote::domain::ids::Code;
use tripnote::engine::operate::CircuitName;
use tripnote::wire::pb;

use super::checks;
use super::fact::{self, Fact, kind};
use super::language::{Case, Circuits, Line, Reported, Step, Whose};
use super::machine::{Hold, Machine};
use super::wanted::compare;

/// Faults of one case that are told.
const WRONG_MAX: usize = 12;

/// One case on its way.
struct Play<'a> {
    machine: &'a mut dyn Machine,
    permits: HashMap<String, Vec<u8>>,
    /// What happened, all of it.
    history: Vec<pb::Event>,
    /// The breaker that is meant where a line names none.
    breaker: Option<String>,
    /// What is wrong with the answers to the line that is played, beside what it says.
    wrong: Vec<String>,
}

/// Plays one case; what went wrong, a paragraph each.
pub(super) fn play(file: &str, case: &Case, machine: &mut dyn Machine) -> Vec<String> {
    let breaker =
        case.config.lines().find_map(|line| line.trim().strip_prefix("code = ")).map(|code| code.replace('"', ""));
    let mut play = Play { machine, permits: HashMap::new(), history: vec![], breaker, wrong: vec![] };
    let mut wrong = Vec::new();
    for line in &case.lines {
        let facts = play.step(line);
        let compared = if line.wanted.is_empty() { unasked(&line.step, &facts) } else { compare(&line.wanted, &facts) };
        let place = format!("{file}:{}: [{}]", line.number, case.name);
        wrong.extend(play.wrong.drain(..).chain(compared).map(|text| format!("{place}{text}")));
        if wrong.len() > WRONG_MAX {
            break; // what follows is the echo of what went wrong
        }
    }
    play.look();
    wrong.extend(checks::chain(&play.history).into_iter().map(|text| format!("{file}: [{}] {text}", case.name)));
    wrong
}

/// A line without an expectation still must not be refused, and its report must count.
fn unasked(step: &Step, facts: &[Fact]) -> Vec<String> {
    let fine: &[&str] = match step {
        Step::Admit(_, None) => &["permit", "probe"],
        Step::Admit(_, Some(_)) | Step::Report(..) => &["counted", "tripped"],
        Step::Hold { .. } => &["held"],
        Step::Clear { .. } => &["cleared"],
        Step::Reset(_) => &["reset"],
        Step::Reload(_) => &["reloaded"],
        Step::Peek(_) | Step::Circuit(_) | Step::Events { .. } | Step::Wall(_) => return vec![],
    };
    let is_bad = |fact: &&Fact| !fine.contains(&fact.verdict.as_str());
    facts.iter().filter(is_bad).map(|fact| format!("\n    wanted  {}\n    got     {fact}", fine.join(" or "))).collect()
}

impl Play<'_> {
    fn step(&mut self, line: &Line) -> Vec<Fact> {
        let at_ms = line.at_ms;
        match &line.step {
            Step::Admit(calls, None) => {
                let requests: Vec<pb::AdmitRequest> = calls.iter().map(|(call, _)| call.clone()).collect();
                let answers = self.machine.admit_all(at_ms, &requests);
                answers.iter().zip(calls).map(|(answer, (_, label))| self.admitted(answer, label.as_deref())).collect()
            }
            Step::Admit(calls, Some(result)) => {
                calls.iter().map(|(call, label)| self.admit_and_report(at_ms, call, label.as_deref(), result)).collect()
            }
            Step::Report(whose, result) => self.report_all(at_ms, whose, result),
            Step::Peek(targets) => targets.iter().map(|target| self.peek(at_ms, target)).collect(),
            Step::Hold { mode, circuits, owner, for_ms } => {
                let name = self.named(at_ms, circuits);
                let hold = Hold { mode: *mode, name, owner: owner.clone(), for_ms: *for_ms };
                vec![answer(self.machine.hold(at_ms, &hold), |circuits| Fact::new("held").text("circuits", circuits))]
            }
            Step::Clear { circuits, owner } => {
                let name = self.named(at_ms, circuits);
                let cleared = |(went, left): (u32, u32)| Fact::new("cleared").text("holds", went).text("left", left);
                vec![answer(self.machine.clear(at_ms, &name, owner), cleared)]
            }
            Step::Reset(circuits) => {
                let name = self.named(at_ms, circuits);
                vec![answer(self.machine.reset(at_ms, &name), |circuits| Fact::new("reset").text("circuits", circuits))]
            }
            Step::Reload(config) => {
                let faults = self.machine.reload(at_ms, config);
                let verdict = if faults.is_empty() { "reloaded" } else { "faulty" };
                vec![Fact::new(verdict).text("faults", faults.join(", "))]
            }
            Step::Wall(ms) => {
                self.machine.step_wall(*ms);
                vec![]
            }
            Step::Circuit(circuits) => {
                let all = self.machine.circuits(at_ms);
                vec![fact::of_circuit(all.iter().find(|circuit| is_meant(circuits, circuit)))]
            }
            Step::Events { but } => {
                let facts: Vec<Fact> = self.look().iter().map(fact::of_event).collect();
                facts.into_iter().filter(|fact| !but.contains(&fact.verdict)).collect()
            }
        }
    }

    /// Keeps the permit and looks at every contract of an answer.
    fn admitted(&mut self, answer: &pb::AdmitResponse, label: Option<&str>) -> Fact {
        use pb::admit_response::Decision;
        match (&answer.decision, label) {
            (Some(Decision::Permit(permit)), Some(label)) => {
                self.permits.insert(label.to_owned(), permit.token.clone());
            }
            (Some(Decision::Trip(trip)), _) => self.check(trip),
            (Some(Decision::Permit(_)) | None, _) => {}
        }
        if let Some(trip) = &answer.shadow_trip {
            self.check(trip);
        }
        fact::of_admit(answer)
    }

    fn admit_and_report(
        &mut self,
        at_ms: u64,
        call: &pb::AdmitRequest,
        label: Option<&str>,
        result: &Reported,
    ) -> Fact {
        const THIS: &str = " this call";
        let label = label.unwrap_or(THIS);
        self.permits.remove(label);
        let answer = self.machine.admit(at_ms, call);
        let fact = self.admitted(&answer, Some(label));
        if !self.permits.contains_key(label) {
            return fact;
        }
        let mut facts = self.report_all(at_ms, &[Whose::Label(label.to_owned())], result);
        facts.pop().unwrap_or(fact)
    }

    fn report_all(&mut self, at_ms: u64, whose: &[Whose], result: &Reported) -> Vec<Fact> {
        let Reported { result, latency_ms } = result;
        let mut outcomes = Vec::with_capacity(whose.len());
        for whose in whose {
            match self.call_of(whose) {
                Ok(call) => {
                    let (result, latency_ms) = (Some(result.clone()), *latency_ms);
                    outcomes.push(pb::Outcome { call: Some(call), result, latency_ms, ..pb::Outcome::default() });
                }
                Err(label) => return vec![Fact::new(format!("no permit `{label}`"))],
            }
        }
        let acks = self.machine.report_all(at_ms, &outcomes);
        acks.iter().filter_map(|ack| ack.trip.as_ref()).for_each(|trip| self.check(trip));
        acks.iter().map(fact::of_ack).collect()
    }

    /// What a report names; the label where there is no such permit.
    fn call_of(&self, whose: &Whose) -> Result<pb::outcome::Call, String> {
        let permit = |label: &String| self.permits.get(label).cloned().ok_or_else(|| label.clone());
        Ok(match whose {
            Whose::Named(call) => pb::outcome::Call::CallRef(call.clone()),
            Whose::Label(label) => pb::outcome::Call::Permit(permit(label)?),
            Whose::Forged(label) => {
                let mut token = permit(label)?;
                if let Some(last) = token.last_mut() {
                    *last ^= 1;
                }
                pb::outcome::Call::Permit(token)
            }
        })
    }

    fn peek(&mut self, at_ms: u64, target: &pb::PeekTarget) -> Fact {
        let found = self.machine.peek(at_ms, target);
        if let pb::peek_result::Result::Trip(trip) = &found {
            self.check(trip);
            self.wrong.extend((trip.event_seq != 0).then(|| " a peek tells of an event".to_owned()));
        }
        fact::of_peek(&found)
    }

    fn check(&mut self, trip: &pb::Trip) {
        self.wrong.extend(checks::contract(trip).into_iter().map(|text| format!(" {text}: {trip:?}")));
    }

    /// What happened since the last look.
    fn look(&mut self) -> Vec<pb::Event> {
        let fresh = self.machine.events();
        self.history.extend(fresh.iter().cloned());
        fresh
    }

    /// The full name of what a line means.
    fn named(&mut self, at_ms: u64, circuits: &Circuits) -> CircuitName {
        let breaker = circuits.breaker.clone().or_else(|| self.breaker.clone()).expect("`of CODE` is due");
        let scope = circuits.scope.clone().map(|scope| {
            let all = self.machine.circuits(at_ms);
            let names = all.iter().filter(|c| is_meant(circuits, c)).filter_map(|c| c.name.as_ref());
            names.map(|name| name.scope.clone()).next().unwrap_or(scope)
        });
        CircuitName { breaker: Code::parse(&breaker).unwrap(), scope, kind: circuits.kind }
    }
}

fn answer<T>(answer: Result<T, String>, fact: impl FnOnce(T) -> Fact) -> Fact {
    answer.map_or_else(|text| Fact::new("no_such").text("rule", text), fact)
}

/// Whether a circuit is of the kind, the breaker and the beginning of a scope that a line names.
fn is_meant(circuits: &Circuits, circuit: &pb::Circuit) -> bool {
    let Some(name) = &circuit.name else { return false };
    circuits.kind.is_none_or(|own| own.word() == kind(name.kind()))
        && circuits.scope.as_ref().is_none_or(|scope| name.scope.starts_with(scope.as_str()))
        && circuits.breaker.as_ref().is_none_or(|code| *code == name.breaker)
}
