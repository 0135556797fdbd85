//! What can be known of a tool by its documentation alone: kinds of tools, each stated once.
//!
//! A domain or role is given where the tool asks one store only. `catalog`, `context`, `notes` and `memory` turn every
//! usable result into context, and belong to tools alone whose answers can never be evidence.

use crate::domain::ids::Code;
use crate::domain::tool::{CATALOG, CONTEXT, Effect, Tool};

/// What is known of a kind of tool; empty words say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    domain: &'static str,
    role: &'static str,
    effect: Effect,
    is_opaque: bool,
    identity: &'static [&'static str],
}

impl Facts {
    const fn of(effect: Effect) -> Self {
        Self { domain: "", role: "", effect, is_opaque: false, identity: &[] }
    }

    const fn domain(self, domain: &'static str) -> Self {
        Self { domain, ..self }
    }

    const fn role(self, role: &'static str) -> Self {
        Self { role, ..self }
    }

    const fn opaque(self) -> Self {
        Self { is_opaque: true, ..self }
    }

    /// The arguments that say what is asked; the others are labels and limits, which differ from call to call.
    const fn identity(self, identity: &'static [&'static str]) -> Self {
        Self { identity, ..self }
    }

    pub(super) fn tool(self) -> Tool {
        Tool {
            domain: Code::parse(self.domain).ok(),
            role: Code::parse(self.role).ok(),
            effect: self.effect,
            identity: self.identity.iter().map(|pointer| (*pointer).into()).collect(),
            is_opaque: self.is_opaque,
            ..Tool::unknown()
        }
    }
}

/// Looks at something of which no more is known.
pub(super) const READ: Facts = Facts::of(Effect::Read);
/// Changes something of which no more is known.
pub(super) const WRITE: Facts = Facts::of(Effect::Mutate);

/// Asks what runs: metrics and the state of workloads.
pub(super) const RUNTIME: Facts = READ.domain("runtime").role("mechanism");
/// Asks which alerts there are and in what state: what runs, but not how it broke.
pub(super) const ALERTS: Facts = READ.domain("runtime");
/// Asks a store of logs.
pub(super) const LOGS: Facts = READ.domain("log").role("impact");
/// Reads a log as it is.
pub(super) const LOG_FILE: Facts = READ.domain("log").opaque();
/// Asks a store of traces.
pub(super) const TRACES: Facts = READ.domain("trace").role("mechanism");
/// Asks a store of profiles.
pub(super) const PROFILES: Facts = READ.domain("profile").role("mechanism");
/// Asks what was changed.
pub(super) const CHANGES: Facts = READ.domain("change").role("trigger");

/// Lists what could be asked.
pub(super) const CATALOGUE: Facts = READ.domain(CATALOG).role(CONTEXT);
/// Tells the model how to go on.
pub(super) const ORIENTATION: Facts = READ.role(CONTEXT);
/// Reads the agent's own notes and plans.
pub(super) const NOTES_READ: Facts = READ.role("notes");
/// Writes the agent's own notes and plans.
pub(super) const NOTES_WRITE: Facts = WRITE.role("notes");
/// Reads what the agent remembered.
pub(super) const MEMORY_READ: Facts = READ.role("memory");
/// Changes what the agent remembers.
pub(super) const MEMORY_WRITE: Facts = WRITE.role("memory");
/// Does either, by an argument.
pub(super) const MEMORY: Facts = Facts::of(Effect::Unknown).role("memory");

/// Gives the content of files.
pub(super) const FILE: Facts = READ.domain("file").opaque();
/// Gives names and properties of files.
pub(super) const FILES: Facts = READ.domain("file");
/// Changes files.
pub(super) const FILE_WRITE: Facts = WRITE.domain("file");
/// Reads or changes files, by an argument.
pub(super) const FILE_EDITOR: Facts = Facts::of(Effect::Unknown).domain("file");
/// Gives the content of a page.
pub(super) const PAGE: Facts = READ.domain("web").opaque();
/// Asks the web, and answers with a structure of its own or with what an HTTP client prints.
pub(super) const WEB: Facts = READ.domain("web");

/// Works in a process, which may do anything.
pub(super) const PROCESS: Facts = Facts::of(Effect::Unknown).domain("process");
/// Gives what a process printed since.
pub(super) const OUTPUT: Facts = READ.domain("process");
/// Runs a command line.
pub(super) const COMMAND: Facts = PROCESS.identity(&["/command"]);
/// Runs a command somewhere; why it asks for that is no part of it.
pub(super) const COMMAND_IN: Facts = PROCESS.identity(&["/command", "/workdir"]);
/// As [`COMMAND_IN`], under another name.
pub(super) const CMD: Facts = PROCESS.identity(&["/cmd", "/workdir"]);
/// Runs a command line, or feeds the one that runs.
pub(super) const COMMAND_INPUT: Facts = PROCESS.identity(&["/command", "/is_input"]);
/// Runs code.
pub(super) const CODE: Facts = PROCESS.identity(&["/code"]);
/// Has another agent do something; the description is a label.
pub(super) const SUBAGENT: Facts = Facts::of(Effect::Unknown).identity(&["/subagent_type", "/prompt"]);
