//! From the text of a table to its steps. A line that cannot be read is a failure of the test, with its place.

use tripnote::domain::breaker::overrides::OverrideMode;
use tripnote::domain::observation::transport::ErrorKind;
use tripnote::domain::signal::CircuitKind;
use tripnote::wire::pb;

use super::tokens::{Reader, Token, parse_span, range, tokens};
use super::wanted::{self, Run};

/// A whole file.
pub(super) struct Table {
    /// Whether one breaker is all it needs: then it runs on the pure core, else on the engine.
    pub(super) on_core: bool,
    pub(super) cases: Vec<Case>,
}

/// One story, from a machine that has seen nothing.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) config: String,
    pub(super) lines: Vec<Line>,
}

/// One line.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) at_ms: u64,
    pub(super) step: Step,
    pub(super) wanted: Vec<Run>,
}

/// What is done.
pub(super) enum Step {
    /// Calls, each with the label of its permit; with a result, each is reported at once.
    Admit(Vec<(pb::AdmitRequest, Option<String>)>, Option<Reported>),
    Report(Vec<Whose>, Reported),
    Peek(Vec<pb::PeekTarget>),
    Hold {
        mode: OverrideMode,
        circuits: Circuits,
        owner: String,
        for_ms: Option<u64>,
    },
    Clear {
        circuits: Circuits,
        owner: String,
    },
    Reset(Circuits),
    Reload(String),
    Wall(i64),
    Circuit(Circuits),
    /// What happened since the last look, without some kinds.
    Events {
        but: Vec<String>,
    },
}

/// Whose call is reported.
#[derive(Clone)]
pub(super) enum Whose {
    Label(String),
    /// The same bytes with one bit changed.
    Forged(String),
    Named(pb::CallRef),
}

/// How it went.
#[derive(Clone)]
pub(super) struct Reported {
    pub(super) result: pb::outcome::Result,
    pub(super) latency_ms: Option<u64>,
}

/// Which circuits: what is left out is any. The scope is the beginning of its name.
#[derive(Clone, Default)]
pub(super) struct Circuits {
    pub(super) kind: Option<CircuitKind>,
    pub(super) scope: Option<String>,
    pub(super) breaker: Option<String>,
}

/// The target of a call that names none.
const TARGET: &str = "api";

/// Reads a file.
pub(super) fn table(file: &str, text: &str) -> Table {
    let mut table = Table { on_core: true, cases: vec![] };
    let mut shared = String::new();
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    while let Some((number, line)) = lines.next() {
        let trimmed = line.trim();
        let block = trimmed.ends_with("<<TOML").then(|| {
            let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "TOML");
            inside.collect::<Vec<_>>().join("\n")
        });
        match (trimmed.split_whitespace().next(), table.cases.last_mut()) {
            (None, _) => {}
            (Some(first), _) if first.starts_with('#') => {}
            (Some("runs"), None) => table.on_core = trimmed == "runs on core",
            (Some("config"), None) => shared = block.unwrap_or_default(),
            (Some("config"), Some(case)) => case.config = block.unwrap_or_default(),
            (Some("case"), _) => {
                let name = trimmed.trim_start_matches("case").trim().to_owned();
                table.cases.push(Case { name, config: shared.clone(), lines: vec![] });
            }
            (Some(_), None) => panic!("{file}:{number}: `case` is due before the first step"),
            (Some(_), Some(case)) => {
                let read = step_line(trimmed.trim_end_matches("<<TOML"), block.unwrap_or_default());
                let (at_ms, step, wanted) = read.unwrap_or_else(|fault| panic!("{file}:{number}: {fault}"));
                case.lines.push(Line { number, at_ms, step, wanted });
            }
        }
    }
    table
}

fn step_line(line: &str, block: String) -> Result<(u64, Step, Vec<Run>), String> {
    let mut reader = Reader::new(tokens(line)?);
    if !reader.takes("at") {
        return Err("`at TIME` is due".to_owned());
    }
    let at_ms = reader.span("a time")?;
    let times = reader.times().unwrap_or(1);
    let step = step(&mut reader, times, block)?;
    let wanted = if reader.takes_mark(&Token::Arrow) { wanted::runs(&mut reader)? } else { vec![] };
    if reader.is_at_end() && !reader.takes_mark(&Token::Comma) {
        Ok((at_ms, step, wanted))
    } else {
        Err("the line goes on where it should end".to_owned())
    }
}

fn step(reader: &mut Reader, times: usize, block: String) -> Result<Step, String> {
    let verb = reader.value("a verb")?;
    Ok(match verb.as_str() {
        "admit" => {
            let calls = repeated(calls(reader)?, times);
            let report = if reader.takes_mark(&Token::Comma) { Some(reported(reader)?) } else { None };
            Step::Admit(calls, report)
        }
        "report" => {
            let whose = repeated(whose(reader)?, times);
            Step::Report(whose, reported(reader)?)
        }
        "peek" => Step::Peek(repeated(calls(reader)?, times).into_iter().map(|(call, _)| peek_of(call)).collect()),
        "override" => {
            let mode = reader.value("a mode")?;
            let mode = OverrideMode::from_word(&mode).ok_or_else(|| format!("`{mode}` is no mode"))?;
            let (circuits, owner) = held(reader)?;
            let for_ms = if reader.takes("for") { Some(reader.span("how long")?) } else { None };
            Step::Hold { mode, circuits, owner, for_ms }
        }
        "clear" => {
            let (circuits, owner) = held(reader)?;
            Step::Clear { circuits, owner }
        }
        "reset" => Step::Reset(circuits(reader)?),
        "reload" => Step::Reload(block),
        "wall" => {
            let step = reader.value("how far")?;
            Step::Wall(parse_span(&step).ok_or_else(|| format!("`{step}` is no span"))?)
        }
        "circuit" => Step::Circuit(circuits(reader)?),
        "events" => {
            let mut but = vec![];
            if reader.takes("but") {
                while !reader.is_at_end() {
                    but.push(reader.value("a kind of event")?);
                }
            }
            Step::Events { but }
        }
        _ => return Err(format!("`{verb}` is no verb")),
    })
}

/// `times` rounds of the same.
fn repeated<T: Clone>(of: Vec<T>, times: usize) -> Vec<T> {
    let len = of.len() * times;
    of.into_iter().cycle().take(len).collect()
}

/// One call, or as many as the one range in it has values.
fn calls(reader: &mut Reader) -> Result<Vec<(pb::AdmitRequest, Option<String>)>, String> {
    let mut call = (pb::AdmitRequest { attempt: 1, ..Default::default() }, None);
    let mut several = Vec::new();
    while !reader.is_at_end() {
        let option = reader.value("an option")?;
        let value = reader.value(&format!("what follows `{option}`"))?;
        let values = if option == "args" { vec![value.clone()] } else { range(&value) };
        set(&mut call, &option, &value)?;
        if values.len() > 1 {
            several.push((option, values));
        }
    }
    let (request, _) = &mut call;
    if request.target.is_empty() && request.tool_name.is_empty() {
        TARGET.clone_into(&mut request.target);
    }
    let len = several.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
    let nth = |n: usize| {
        let mut one = call.clone();
        for (option, values) in &several {
            let value = values.get(n).ok_or("ranges of one call are of one length")?;
            set(&mut one, option, value)?;
        }
        Ok(one)
    };
    (0..len).map(nth).collect()
}

fn set(call: &mut (pb::AdmitRequest, Option<String>), option: &str, value: &str) -> Result<(), String> {
    let (request, label) = call;
    let value = value.to_owned();
    let number = || value.parse::<u32>().map_err(|_| format!("`{value}` is no number"));
    match option {
        "to" => request.target = value,
        "tool" => request.tool_name = value,
        "by" => request.caller = value,
        "key" => request.credential = value,
        "in" => request.session_id = value,
        "call" => request.call_id = value,
        "attempt" => request.attempt = number()?,
        "args" => request.arguments = value.into_bytes(),
        "size" => request.arguments_bytes = Some(number()?),
        "as" => *label = Some(value),
        _ => return Err(format!("`{option}` is no option of a call")),
    }
    Ok(())
}

fn peek_of(call: pb::AdmitRequest) -> pb::PeekTarget {
    let pb::AdmitRequest { target, tool_name, session_id, credential, caller, .. } = call;
    pb::PeekTarget { target, tool_name, session_id, credential, caller }
}

/// `P`, `S1..S8`, `forged P`, or `call c1 in s1 [attempt 2] [by a]`.
fn whose(reader: &mut Reader) -> Result<Vec<Whose>, String> {
    if reader.takes("forged") {
        return Ok(vec![Whose::Forged(reader.value("a label")?)]);
    }
    if !reader.takes("call") {
        return Ok(range(&reader.value("a label")?).into_iter().map(Whose::Label).collect());
    }
    let mut named = pb::CallRef { call_id: reader.value("a call id")?, ..Default::default() };
    loop {
        if reader.takes("in") {
            named.session_id = reader.value("a session")?;
        } else if reader.takes("attempt") {
            named.attempt = reader.number("a number")?;
        } else if reader.takes("by") {
            named.caller = reader.value("a caller")?;
        } else {
            return Ok(vec![Whose::Named(named)]);
        }
    }
}

/// `ok`, `ignored`, `fail [KIND]`, `status 503`, `grpc 14`, `error timeout`; then `hint 60s`, `took 80ms`,
/// `header "retry-after: 30"`.
fn reported(reader: &mut Reader) -> Result<Reported, String> {
    use pb::classification::Kind;
    use pb::outcome::Result as Of;
    let word = reader.value("a result")?;
    let own = |result: Kind, kind: pb::CircuitKind| {
        Of::Classification(pb::Classification { result: result.into(), kind: kind.into(), retry_after_ms: None })
    };
    let mut result = match word.as_str() {
        "ok" => own(Kind::Ok, pb::CircuitKind::Unspecified),
        "ignored" => own(Kind::Ignored, pb::CircuitKind::Unspecified),
        "fail" => {
            let kind = kind(reader).unwrap_or(CircuitKind::ErrorRate);
            own(Kind::Failed, kind.into())
        }
        "status" => {
            Of::Transport(pb::TransportFacts { http_status: Some(reader.number("a status")?), ..Default::default() })
        }
        "grpc" => {
            let code = i32::try_from(reader.number("a code")?).map_err(|_| "no code".to_owned())?;
            Of::Transport(pb::TransportFacts { grpc_code: Some(code), ..Default::default() })
        }
        "error" => {
            let word = reader.value("a kind of error")?;
            let kind = ErrorKind::from_word(&word).ok_or_else(|| format!("`{word}` is no kind of error"))?;
            let error_kind = pb::ErrorKind::from(kind).into();
            Of::Transport(pb::TransportFacts { error_kind, ..Default::default() })
        }
        _ => return Err(format!("`{word}` is no result")),
    };
    let mut latency_ms = None;
    while !reader.is_at_end() {
        let option = reader.value("an option")?;
        match (option.as_str(), &mut result) {
            ("took", _) => latency_ms = Some(reader.span("how long it took")?),
            ("hint", Of::Classification(own)) => own.retry_after_ms = Some(reader.span("a hint")?),
            ("header", Of::Transport(facts)) => {
                let text = reader.value("a header")?;
                let (name, value) = text.split_once(": ").ok_or("a header is `name: value`")?;
                facts.headers.push(pb::Header { name: name.to_owned(), value: value.to_owned() });
            }
            _ => return Err(format!("`{option}` is no option of this result")),
        }
    }
    Ok(Reported { result, latency_ms })
}

/// Takes the word of a kind if it is next.
fn kind(reader: &mut Reader) -> Option<CircuitKind> {
    let kind = CircuitKind::from_word(reader.peek()?)?;
    reader.takes(kind.word());
    Some(kind)
}

/// `[KIND] [on SCOPE] [of CODE]`.
fn circuits(reader: &mut Reader) -> Result<Circuits, String> {
    let mut circuits = Circuits { kind: kind(reader), ..Circuits::default() };
    loop {
        if reader.takes("on") {
            circuits.scope = Some(reader.value("a scope")?);
        } else if reader.takes("of") {
            circuits.breaker = Some(reader.value("a code")?);
        } else {
            return Ok(circuits);
        }
    }
}

/// `[KIND] [on SCOPE] [of CODE] by OWNER`.
fn held(reader: &mut Reader) -> Result<(Circuits, String), String> {
    let circuits = circuits(reader)?;
    if reader.takes("by") { Ok((circuits, reader.value("an owner")?)) } else { Err("`by OWNER` is due".to_owned()) }
}
