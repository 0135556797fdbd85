//! `tripnote explain`: how a result is read, by which rule and why; and whether two results are the same answer.
//!
//! Asks no service: what is known of tools comes from the configuration file, where one is given.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use super::json::Object;
use super::report::parse_header;
use super::source::{Source, file_or_input};
use super::text::span;
use super::wiring::environment;
use super::{Manner, output};
use crate::config::Config;
use crate::domain::ids::{HashKey, HashTag};
use crate::domain::observation::fingerprint::text_of;
use crate::domain::observation::transport::{Carrier, ErrorKind, TransportFacts};
use crate::domain::observation::{Handled, Handling, RawResult, ToldTexts, Typing, type_result};
use crate::domain::tool::Effect;
use crate::engine::clock::{Clock as _, SystemClock};
use crate::wire::pb;

/// A result, and what is known of the call beside it.
#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// The payload, - for standard input; two of them are told apart by their fingerprints
    #[arg(required = true, num_args = 1..=2, value_name = "FILE|-")]
    payloads: Vec<String>,
    /// The tool as the model knows it
    #[arg(long, value_name = "NAME", default_value = "")]
    tool: String,
    /// What carried the call
    #[arg(long, default_value = "none", value_parser = PossibleValuesParser::new(TRANSPORTS).map(|word| Carrier::from_word(&word)))]
    transport: Transport,
    /// An HTTP status, a gRPC code by name or number, an exit code, or why there was no answer, such as timeout
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    status: Option<String>,
    /// A header of the response, such as 'retry-after: 30'; may be given more than once
    #[arg(long, value_name = "NAME: VALUE", value_parser = parse_header)]
    header: Vec<pb::Header>,
    /// How long the call took, in milliseconds; judged by the breaker, not by the typing
    #[arg(long, value_name = "N")]
    latency_ms: Option<u64>,
    /// The arguments: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    args: Option<Source>,
    /// The configuration file, for its tools and formats
    #[arg(long, short, env = "TRIPNOTE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
}

type Transport = Option<Carrier>;

const TRANSPORTS: [&str; 5] = ["http", "grpc", "mcp", "process", "none"];
/// gRPC codes by their numbers.
const GRPC_CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];
/// Fingerprints of one run are comparable with each other, and with nothing else.
const KEY: HashKey = HashKey([0; 16]);

/// What was read of one payload.
struct Explained {
    typing: Typing,
    handling: Handling,
    normalised: Option<String>,
}

impl Explained {
    fn fingerprint(&self) -> Option<String> {
        let text = self.normalised.as_deref()?;
        Some(format!("{:016x}", KEY.hash(HashTag::Fingerprint, text.as_bytes())))
    }
}

/// Explains.
pub(super) fn run(args: ExplainArgs, manner: Manner) -> anyhow::Result<ExitCode> {
    let config = match &args.config {
        Some(path) => Config::load_with_env(path, environment)?,
        None => Config::default(),
    };
    let transport = facts(&args)?;
    let arguments = args.args.map(|source| source.read("the arguments")).transpose()?;
    let explain = |path: &String| -> anyhow::Result<Explained> {
        let payload = file_or_input(path, "the payload")?;
        let clock = SystemClock::start();
        let tool = config.tools.of(&args.tool);
        let raw = RawResult {
            tool_name: &args.tool,
            tool,
            effect: tool.effect,
            transport: &transport,
            payload: Some(&payload),
            content_type: None,
            arguments: arguments.as_deref(),
            is_cut_by_caller: false,
            told: ToldTexts::default(),
            custom: &config.formats,
            now_unix_ms: clock.wall().unix_ms(clock.now()),
        };
        let typing = type_result(&raw);
        let normalised = text_of(&raw, &typing);
        let call = Handled {
            tool_name: &args.tool,
            effect: tool.effect,
            is_idempotent: false,
            attempt: 1,
            opened: false,
            is_open: false,
        };
        Ok(Explained { handling: call.typed(&typing), typing, normalised })
    };
    let all = args.payloads.iter().map(explain).collect::<anyhow::Result<Vec<_>>>()?;
    let text = match all.as_slice() {
        [a, b] if manner.is_json => compared_object(a, b).line()?,
        [a, b] => compared(a, b),
        [one] if manner.is_json => object(one).line()?,
        others => others.iter().map(|one| lines(one, args.latency_ms, tool_effect(&config, &args.tool))).collect(),
    };
    output::print(text.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

fn tool_effect(config: &Config, tool: &str) -> Effect {
    config.tools.of(tool).effect
}

/// The transport's facts by the flags.
fn facts(args: &ExplainArgs) -> anyhow::Result<TransportFacts> {
    let headers = args.header.iter().map(|header| (header.name.clone(), header.value.clone())).collect();
    let mut facts = TransportFacts { carrier: args.transport, headers, ..TransportFacts::default() };
    let Some(status) = args.status.as_deref() else { return Ok(facts) };
    if let Some(kind) = error_kind(status) {
        facts.error_kind = Some(kind);
        return Ok(facts);
    }
    match args.transport {
        Some(Carrier::Http) => {
            let code = status.parse().ok().filter(|code| (100..600).contains(code));
            facts.http_status = Some(code.ok_or_else(|| wrong(status, "100 to 599"))?);
        }
        Some(Carrier::Grpc) => {
            let named = GRPC_CODES.iter().position(|name| name.eq_ignore_ascii_case(status));
            let code = named.and_then(|code| u8::try_from(code).ok()).or_else(|| status.parse().ok());
            let code = code.filter(|code| *code <= 16);
            facts.grpc_code = Some(code.ok_or_else(|| wrong(status, "a gRPC code such as UNAVAILABLE, or 0 to 16"))?);
        }
        Some(Carrier::Process) => {
            facts.exit_code = Some(status.parse().map_err(|_| wrong(status, "an exit code"))?);
        }
        Some(Carrier::Mcp) | None => {
            let kinds = ErrorKind::ALL.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(", ");
            return Err(wrong(status, &format!("with this transport one of {kinds}")));
        }
    }
    Ok(facts)
}

/// Why there was no answer, by our word or by one that is usual elsewhere.
fn error_kind(word: &str) -> Option<ErrorKind> {
    ErrorKind::from_word(word).or(match word {
        "connection_refused" => Some(ErrorKind::ConnectRefused),
        "dns_error" => Some(ErrorKind::Dns),
        "tls_error" => Some(ErrorKind::Tls),
        "connection_reset" => Some(ErrorKind::Reset),
        "cancelled" | "canceled" => Some(ErrorKind::CancelledByCaller),
        _ => None,
    })
}

fn wrong(status: &str, due: &str) -> anyhow::Error {
    anyhow::anyhow!("status `{status}`: {due} is due")
}

fn retry_after_s(typing: &Typing) -> Option<f64> {
    typing.hint.map(|hint| f64::from(u32::try_from(hint.raw_ms.max(0)).unwrap_or(u32::MAX)) / 1_000.0)
}

fn object(one: &Explained) -> Object {
    let Typing { observation, kind, failure_class, format, rule, reason, .. } = one.typing;
    let typing = &one.typing;
    Object::default()
        .with("observation", observation.word())
        .with("usable", observation.is_usable())
        .with("signal", kind.map(|kind| kind.signal().word()))
        .with("failure_class", failure_class.map(|class| class.word()))
        .with("retry_after_s", retry_after_s(typing))
        .with("format", format.word())
        .with("rule", rule.word())
        .with("reason", reason)
        .with("kind", kind.map(|kind| kind.word()))
        .with("total_known", typing.total_known)
        .with("values_degraded", typing.values_degraded)
        .with("caution", typing.caution())
        .with("digest", typing.digest.as_str())
        .with("disposition", one.handling.disposition.word())
        .with("text", one.handling.text.as_deref())
        .with("fingerprint", one.fingerprint())
        .with("normalised", one.normalised.as_deref())
}

fn compared_object(a: &Explained, b: &Explained) -> Object {
    Object::default()
        .with("fingerprint_a", a.fingerprint())
        .with("fingerprint_b", b.fingerprint())
        .with("same", is_same(a, b))
        .with("normalised_a", a.normalised.as_deref())
        .with("normalised_b", b.normalised.as_deref())
}

/// What has no fingerprint is never the same again: usable, context, pending, our own text.
fn is_same(a: &Explained, b: &Explained) -> bool {
    a.normalised.is_some() && a.normalised == b.normalised
}

fn line(name: &str, text: &str) -> String {
    format!("{name:<14}{text}\n")
}

fn lines(one: &Explained, latency_ms: Option<u64>, effect: Effect) -> String {
    let Explained { typing, handling, normalised } = one;
    let usable = if typing.observation.is_usable() { "may be cited" } else { "must not be cited" };
    let signal = typing.kind.map_or("none: it does not count against the target".to_owned(), |kind| {
        format!("{} (circuit {})", kind.signal(), kind.word())
    });
    let mut out = line("observation", &format!("{}, {usable}", typing.observation));
    out += &line("signal", &signal);
    out += &line("failure_class", typing.failure_class.map_or("none", |class| class.word()));
    if let Some(hint) = typing.hint {
        out += &line("retry after", &span(u64::try_from(hint.raw_ms).unwrap_or(0)));
    }
    out += &line("format", typing.format.word());
    out += &line("rule", typing.rule.word());
    out += &line("reason", typing.reason);
    if let Some(caution) = typing.caution() {
        out += &line("caution", caution);
    }
    if let Some(total) = typing.total_known {
        out += &line("total known", &total.to_string());
    }
    if !typing.digest.is_empty() {
        out += &line("digest", &typing.digest);
    }
    if let Some(latency_ms) = latency_ms {
        out += &line("took", &format!("{}; the breaker's slow limit judges it", span(latency_ms)));
    }
    let after = handling.after_ms.map(|ms| format!(" after {}", span(ms))).unwrap_or_default();
    out += &line("disposition", &format!("{}{after} (as a first try, effect {effect})", handling.disposition));
    if let Some(text) = &handling.text {
        out += &line("told", text);
    }
    match (one.fingerprint(), normalised) {
        (Some(print), Some(text)) => out + &line("fingerprint", &print) + &line("normalised", text),
        _ => out + &line("fingerprint", "none: the same again is no repeat"),
    }
}

fn compared(a: &Explained, b: &Explained) -> String {
    let side = |name: &str, one: &Explained| {
        let print = one.fingerprint().unwrap_or_else(|| "none".to_owned());
        let text = one.normalised.as_deref().unwrap_or("the same again is no repeat");
        line(name, &format!("{print}  {text}"))
    };
    let verdict = if is_same(a, b) { "the same answer" } else { "different answers" };
    side("a", a) + &side("b", b) + verdict
}

#[cfg(test)]
mod tests;
