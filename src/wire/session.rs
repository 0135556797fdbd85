//! `session.proto`: sessions on their way in, evidence and reviews on their way out.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use globset::GlobMatcher;

use super::invalid::{InvalidField, name};
use super::pb;
use crate::domain::breaker::routes::target_glob;
use crate::domain::contract::NAME_BYTES_MAX;
use crate::domain::ids::{Code, SafeText};
use crate::domain::session::evidence::EvidenceRow;
use crate::domain::session::policy::{ProgressPolicy, SessionPolicy, Thresholds};
use crate::domain::session::review::{ReviewRule, Verdict};
use crate::domain::session::run::{AgentRun, DeclaredTool, Line, LineWord, RunPolicy};
use crate::domain::time::Timestamp;
use crate::domain::tool::Tools;

/// Tools, globs and hypotheses in one policy.
const LIST_MAX: usize = 64;
/// Bytes of a tool's name or a glob.
const TOOL_BYTES_MAX: usize = 512;
/// Ids that a user gave.
const KNOWN_IDS_MAX: usize = 1_024;
const KNOWN_ID_BYTES_MAX: usize = 64;
const HYPOTHESIS_BYTES_MAX: usize = 256;
/// Bytes of an answer.
pub const ANSWER_BYTES_MAX: usize = 256 << 10;

/// Which session a request is about.
///
/// # Errors
/// Where no session is named, or a name is too long.
pub fn named(session: Option<&pb::SessionRef>) -> Result<(&str, &str), InvalidField> {
    let Some(session) = session.filter(|session| !session.session_id.is_empty()) else {
        return Err(InvalidField::new("session.session_id", "is empty: name the session"));
    };
    let id = name("session.session_id", &session.session_id)?;
    Ok((name("session.caller", &session.caller)?, id))
}

/// A tool's name within its bound.
///
/// # Errors
/// Where it is empty or too long.
pub fn tool_name<'a>(path: &str, text: &'a str) -> Result<&'a str, InvalidField> {
    if (1..=TOOL_BYTES_MAX).contains(&text.len()) {
        Ok(text)
    } else {
        let rule = format!("has {} bytes, 1 to {TOOL_BYTES_MAX} are taken", text.len());
        Err(InvalidField::new(path, rule))
    }
}

/// A text within a bound.
///
/// # Errors
/// Where it is longer.
pub fn bounded<'a>(path: &str, text: &'a str, max: usize) -> Result<&'a str, InvalidField> {
    if text.len() <= max {
        Ok(text)
    } else {
        Err(InvalidField::new(path, format!("has {} bytes, at most {max} are taken", text.len())))
    }
}

fn listed<T>(path: &str, list: &[T], max: usize) -> Result<(), InvalidField> {
    if list.len() <= max {
        Ok(())
    } else {
        Err(InvalidField::new(path, format!("has {} entries, at most {max} are taken", list.len())))
    }
}

/// A session's own policy over the configured one.
///
/// # Errors
/// The first field that is not as the manual says.
pub fn policy(own: &pb::SessionPolicy, configured: &SessionPolicy, tools: &Tools) -> Result<RunPolicy, InvalidField> {
    listed("required_tools", &own.required_tools, LIST_MAX)?;
    listed("allow", &own.allow, LIST_MAX)?;
    listed("tools", &own.tools, LIST_MAX)?;
    listed("excluded_hypotheses", &own.excluded_hypotheses, LIST_MAX)?;
    listed("known_ids", &own.known_ids, KNOWN_IDS_MAX)?;
    let mut gates = configured.clone();
    for (at, tool) in own.required_tools.iter().enumerate() {
        tool_name(&format!("required_tools[{at}]"), tool)?;
    }
    gates.required_tools = own.required_tools.iter().map(|tool| Arc::from(tool.as_str())).collect();
    if !own.allow.is_empty() {
        let globs = own.allow.iter().enumerate().map(|(at, glob)| matcher(&format!("allow[{at}]"), glob));
        gates.scope.allow = globs.collect::<Result<_, _>>()?;
    }
    if !own.escalation_tool.is_empty() {
        bounded("escalation_tool", &own.escalation_tool, NAME_BYTES_MAX)?;
        gates.escalation_tool = Some(SafeText::cut(&own.escalation_tool, NAME_BYTES_MAX));
    }
    if let Some(asked) = &own.thresholds {
        thresholds(asked, &mut gates).map_err(|invalid| invalid.inside("thresholds"))?;
    }
    let texts = |path: &str, list: &[String], max: usize| -> Result<Vec<Box<str>>, InvalidField> {
        let text = |(at, text): (usize, &String)| bounded(&format!("{path}[{at}]"), text, max).map(Into::into);
        list.iter().enumerate().map(text).collect()
    };
    Ok(RunPolicy {
        gates: Arc::new(gates),
        tools: declared(&own.tools, tools)?,
        excluded_hypotheses: texts("excluded_hypotheses", &own.excluded_hypotheses, HYPOTHESIS_BYTES_MAX)?,
        known_ids: texts("known_ids", &own.known_ids, KNOWN_ID_BYTES_MAX)?,
        is_strict: own.strict,
    })
}

fn matcher(path: &str, glob: &str) -> Result<GlobMatcher, InvalidField> {
    tool_name(path, glob)?;
    let glob = target_glob(glob).map_err(|error| InvalidField::new(path, format!("is no glob: {error}")))?;
    Ok(glob.compile_matcher())
}

fn declared(own: &[pb::DeclaredTool], tools: &Tools) -> Result<BTreeMap<Box<str>, DeclaredTool>, InvalidField> {
    let mut known = BTreeMap::new();
    for (at, told) in own.iter().enumerate() {
        let path = |field: &str| format!("tools[{at}].{field}");
        let name = tool_name(&path("name"), &told.name)?;
        bounded(&path("target"), &told.target, TOOL_BYTES_MAX)?;
        bounded(&path("alternative"), &told.alternative, NAME_BYTES_MAX)?;
        let mut tool = tools.of(name).clone();
        tool.effect = Option::from(told.effect()).unwrap_or(tool.effect);
        if !told.domain.is_empty() {
            let domain =
                Code::parse(&told.domain).map_err(|error| InvalidField::new(path("domain"), error.to_string()))?;
            tool.domain = Some(domain);
        }
        if !told.alternative.is_empty() {
            tool.alternative = Some(SafeText::cut(&told.alternative, NAME_BYTES_MAX).as_str().into());
        }
        let target = if told.target.is_empty() { name } else { &told.target };
        known.insert(name.into(), DeclaredTool { tool, target: target.into() });
    }
    Ok(known)
}

fn thresholds(own: &pb::SessionThresholds, gates: &mut SessionPolicy) -> Result<(), InvalidField> {
    let pair = |steer: Option<u32>, halt: Option<u32>, name: &str, base: Thresholds| {
        let pair = Thresholds::new(steer.unwrap_or(base.steer_at()), halt.unwrap_or(base.halt_at()));
        pair.map_err(|error| InvalidField::new(name, error.to_string()))
    };
    let base = gates.progress;
    let observed = base.observed.unwrap_or(base.same);
    let held = pair(own.observed_steer_at, own.observed_halt_at, "observed_steer_at", observed)?;
    let at_least_one = |path: &str, count: u32| {
        NonZeroU32::new(count).ok_or_else(|| InvalidField::new(path, "is 0, at least 1 is taken"))
    };
    gates.progress = ProgressPolicy {
        same: pair(own.steer_at, own.halt_at, "steer_at", base.same)?,
        sweep: pair(own.sweep_steer_at, own.sweep_halt_at, "sweep_steer_at", base.sweep)?,
        broad: pair(own.broad_steer_at, own.broad_halt_at, "broad_steer_at", base.broad)?,
        observed: base.observed.map(|_| held),
        max_halts: own.max_halts.map_or(Ok(base.max_halts), |count| at_least_one("max_halts", count))?,
        alert_steer_then_halt: base.alert_steer_then_halt,
    };
    if let Some(count) = own.fan_out_per_wave {
        gates.fan_out.per_wave = Some(at_least_one("fan_out_per_wave", count)?);
    }
    Ok(())
}

/// The counts of a run.
#[must_use]
pub fn counts(run: &AgentRun) -> pb::SessionCounts {
    let (steer_then_halt, alert_steer_then_halt) = run.gates().steers_that_halted();
    let counts = run.counts();
    pb::SessionCounts {
        admitted: counts.admitted,
        refused: counts.refused,
        steered: counts.steered,
        halted: counts.halted,
        steer_then_halt: steer_then_halt.into(),
        alert_steer_then_halt,
        session_halted: run.gates().is_halted(),
        task: run.task(),
        context_epoch: run.epoch(),
    }
}

/// A run, line by line.
#[must_use]
pub fn shown(run: &AgentRun, now: Timestamp) -> pb::GetSessionResponse {
    let (lines, dropped_calls) = run.lines();
    pb::GetSessionResponse {
        counts: Some(counts(run)),
        calls: lines.map(|line| line_of(line, now)).collect(),
        dropped_calls,
        exhausted_tools: run.gates().exhausted().map(|tool| tool.as_str().to_owned()).collect(),
        required_tools: run.policy.gates.required_tools.iter().map(ToString::to_string).collect(),
    }
}

fn line_of(line: &Line, now: Timestamp) -> pb::SessionCall {
    let word = match line.word {
        LineWord::Permit => "permit",
        LineWord::Trip => "trip",
        LineWord::Steer => "steer",
    };
    let told = line.signal.map_or_else(|| word.to_owned(), |signal| format!("{word} {signal}"));
    pb::SessionCall {
        turn: line.turn,
        lane: line.lane.into(),
        tool: line.tool.as_str().to_owned(),
        observation: line.observation.map_or(pb::Observation::Unspecified, Into::into).into(),
        signal: line.kind.map_or(pb::Signal::Unspecified, |kind| kind.signal().into()).into(),
        told,
        ago_ms: now.since_ms(line.at),
    }
}

/// A run's evidence.
#[must_use]
pub fn evidence(run: &AgentRun, current_task_only: bool) -> pb::GetEvidenceResponse {
    let ledger = run.evidence();
    if current_task_only {
        let task = ledger.of_task(run.task().into());
        let rows = task.rows.iter().map(|row| row_of(row)).collect();
        return pb::GetEvidenceResponse { rows, text: task.text(), dropped_rows: task.lost.rows };
    }
    let rows = ledger.rows().map(row_of).collect();
    pb::GetEvidenceResponse { rows, text: ledger.text(), dropped_rows: ledger.dropped().into() }
}

fn row_of(row: &EvidenceRow) -> pb::EvidenceRow {
    let word = |code: &Option<Code>, none: &str| code.as_ref().map_or(none, Code::as_str).to_owned();
    let role = if row.is_of_unknown_tool() { "context" } else { "" };
    pb::EvidenceRow {
        number: row.number.into(),
        usable: row.is_usable,
        domain: word(&row.domain, "unknown"),
        role: word(&row.role, role),
        tool: row.tool.as_str().to_owned(),
        observation: pb::Observation::from(row.observation).into(),
        digest: row.digest.as_str().to_owned(),
        task: u32::try_from(row.task).unwrap_or(u32::MAX),
        turn: Some(row.turn).filter(|turn| *turn > 0),
    }
}

impl From<&Verdict> for pb::ReviewAnswerResponse {
    fn from(verdict: &Verdict) -> Self {
        let (rule, cautions) = AgentRun::rules_of(verdict);
        let (word, message) = match verdict {
            Verdict::Allow { .. } => (pb::ReviewVerdict::Allow, String::new()),
            Verdict::SendBack { message, .. } => (pb::ReviewVerdict::SendBack, message.clone()),
            Verdict::AllowUnsupported { .. } => (pb::ReviewVerdict::AllowUnsupported, String::new()),
        };
        let wired = |rule: ReviewRule| i32::from(pb::ReviewRule::from(rule));
        Self {
            verdict: word.into(),
            rule: rule.map_or(pb::ReviewRule::Unspecified, Into::into).into(),
            message,
            cautions: cautions.into_iter().map(wired).collect(),
        }
    }
}
