//! A replay as one JSON object for programs.

use crate::cli::json::Object;
use crate::domain::behaviour::Resolution;
use crate::domain::behaviour::figures as behaviour;
use crate::domain::behaviour::statistics::quartiles;
use crate::domain::ids::SafeText;
use crate::domain::signal::Signal;
use crate::replay::{
    ByLabel, Course, Figures, GuardFigures, Listed, Played, PlayedSession, Replayed, ToolFigures, Word,
};

/// Parts of what followed that are listed.
const PARTS_MAX: usize = 1_000;

/// One policy: its figures. Two: a list of theirs, and the sessions on which they differ.
pub(super) fn of(replayed: &Replayed) -> Object {
    let skipped = replayed.faults.count;
    match replayed.policies.as_slice() {
        [(name, figures)] => figures_of(name, figures).with("skipped", skipped),
        policies => {
            let policies = policies.iter().map(|(name, figures)| figures_of(name, figures)).collect();
            Object::default()
                .with_list("policies", policies)
                .with("differing", replayed.differing.count)
                .with_list("differing_sessions", replayed.differing.listed.iter().map(differing).collect())
                .with("skipped", skipped)
        }
    }
}

fn figures_of(name: &str, figures: &Figures) -> Object {
    let told = |word: Word| figures.told.at(word);
    let guards = figures.guards.iter().filter(|(_, guard)| {
        Word::ALL.iter().any(|word| *guard.calls.at(*word) > 0 || guard.sessions.at(*word).all() > 0)
    });
    Object::default()
        .with("policy", name)
        .with("sessions", figures.sessions.all())
        .with("successful", figures.sessions.successful)
        .with("failed", figures.sessions.failed)
        .with("unlabelled", figures.sessions.unlabelled)
        .with("calls", figures.calls)
        .with_count("calls_without_session", figures.calls_without_session)
        .with("steered", told(Word::Steered).all())
        .with("steered_successful", told(Word::Steered).successful)
        .with("halted", told(Word::Halted).all())
        .with("false_halts", figures.false_halts())
        .with("tripped", told(Word::Tripped).all())
        .with("tripped_successful", told(Word::Tripped).successful)
        .with("refused", told(Word::Refused).all())
        .with("refused_successful", told(Word::Refused).successful)
        .with("usable_after", figures.usable_after)
        .with_list("guards", guards.map(|(signal, guard)| guard_of(signal, guard, figures)).collect())
        .with_list("behaviour", behaviour(figures))
        .with_list("tools", figures.tools.iter().map(tool).collect())
        .with_count("other_tools", figures.other_tools)
        .with_list("told", figures.listed.iter().map(listed).collect())
}

fn guard_of(signal: Signal, guard: &GuardFigures, figures: &Figures) -> Object {
    let sessions = |word: Word| by_label(guard.sessions.at(word));
    let object = Object::default()
        .with("signal", signal.word())
        .with("steered_calls", *guard.calls.at(Word::Steered))
        .with("halted_calls", *guard.calls.at(Word::Halted))
        .with("tripped_calls", *guard.calls.at(Word::Tripped))
        .with("refused_calls", *guard.calls.at(Word::Refused))
        .with_object("steered", Some(sessions(Word::Steered)))
        .with_object("halted", Some(sessions(Word::Halted)))
        .with_object("tripped", Some(sessions(Word::Tripped)))
        .with_object("refused", Some(sessions(Word::Refused)));
    followed(object, &figures.followed(signal))
}

/// The same by breaker, signal and wording.
fn behaviour(figures: &Figures) -> Vec<Object> {
    let parts = figures.behaviour.parts.iter().take(PARTS_MAX);
    let told = parts.filter_map(|(part, figures)| {
        let object = Object::default()
            .with("breaker", part.breaker.as_str())
            .with("signal", part.signal?.word())
            .with("variant", part.variant.as_str());
        Some(followed(object, figures))
    });
    told.collect()
}

/// With what models did after what they would have been told; a share is left out where nothing was counted.
fn followed(object: Object, figures: &behaviour::Figures) -> Object {
    let steps = quartiles(&figures.turns);
    object
        .with("trips", figures.told)
        .with("concluded", figures.concluded())
        .with("repeated", figures.repeated.counted.hits)
        .with_some("repeat_rate", figures.repeated.share().value)
        .with("repeats", figures.repeats)
        .with("first_action_matched", figures.matched.counted.hits)
        .with_some("first_action_match", figures.matched.share().value)
        .with("recovered", figures.resolution(Resolution::Recovered))
        .with_some("median_turns_to_recovery", steps.map(|steps| steps.median))
}

fn by_label(sessions: &ByLabel) -> Object {
    Object::default()
        .with("sessions", sessions.all())
        .with("successful", sessions.successful)
        .with("failed", sessions.failed)
        .with("unlabelled", sessions.unlabelled)
}

fn tool((name, figures): (&SafeText, &ToolFigures)) -> Object {
    Object::default()
        .with("tool", name.as_str())
        .with("calls", figures.calls)
        .with("steered", *figures.words.at(Word::Steered))
        .with("halted", *figures.words.at(Word::Halted))
        .with("tripped", *figures.words.at(Word::Tripped))
        .with("refused", *figures.words.at(Word::Refused))
}

fn session(session: &PlayedSession) -> Object {
    Object::default()
        .with("session", session.name.as_str())
        .with("file", &*session.file)
        .with("line", session.line)
        .with_some("success", session.success)
}

fn listed(listed: &Listed) -> Object {
    let course = course(&listed.course);
    session(&listed.session).with_object("course", Some(course))
}

fn differing(played: &Played) -> Object {
    session(&played.session).with_list("courses", played.courses.iter().map(course).collect())
}

fn course(course: &Course) -> Object {
    let first = course.first;
    let total = |word: Word| course.guards.iter().map(|(_, words)| *words.at(word)).sum::<u64>();
    Object::default()
        .with("calls", course.calls)
        .with_some("first_call", first.map(|first| first.call))
        .with_some("first_word", first.map(|first| first.word.word()))
        .with_some("first_signal", first.map(|first| first.signal.word()))
        .with("steered_calls", total(Word::Steered))
        .with("halted_calls", total(Word::Halted))
        .with("tripped_calls", total(Word::Tripped))
        .with("refused_calls", total(Word::Refused))
        .with("usable_after", course.usable_after)
}
