//! `tripnote admit`: may this call go out?
//!
//! Standard output holds what is handed on, and nothing else: the permit, or the contract for the model.

use std::fs::File;
use std::io::{self, Read};
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::Context as _;

use super::connect::Service;
use super::json::{self, Object};
use super::text::span;
use super::{Manner, TRIPPED, output, token, trip};
use crate::wire::pb;
use crate::wire::pb::admit_response::Decision;

/// The most that is read of arguments: no service takes a larger message.
const ARGUMENTS_BYTES_MAX: u64 = 64 << 20;

/// One call that is about to be made.
#[derive(Debug, clap::Args)]
pub(super) struct AdmitArgs {
    /// What is to be called, such as 'POST /v2/charge'; may be left out beside --tool
    #[arg(required_unless_present = "tool")]
    target: Option<String>,
    /// The tool as the model knows it
    #[arg(long)]
    tool: Option<String>,
    /// The agent run
    #[arg(long)]
    session: Option<String>,
    /// This call within the session; the same one is answered alike when it is asked again
    #[arg(long)]
    call_id: Option<String>,
    /// Which try of the call it is, from 1
    #[arg(long, value_name = "N")]
    attempt: Option<u32>,
    /// The model step within the session
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    /// Who asks: an agent, a worker, a tenant
    #[arg(long)]
    caller: Option<String>,
    /// A name for the credential that the call uses, never the secret
    #[arg(long)]
    credential: Option<String>,
    /// The arguments: JSON, @FILE, or - for standard input; hashed by the service, never kept
    #[arg(long, value_name = "JSON|@FILE|-")]
    arguments: Option<Source>,
    /// The size of the arguments, where they are not given
    #[arg(long, value_name = "N")]
    arguments_bytes: Option<u32>,
}

/// Where arguments come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    Text(String),
    File(String),
    Input,
}

impl FromStr for Source {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match (text, text.strip_prefix('@')) {
            ("-", _) => Self::Input,
            (_, Some(path)) => Self::File(path.to_owned()),
            (_, None) => Self::Text(text.to_owned()),
        })
    }
}

impl Source {
    fn read(self) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Text(text) => Ok(text.into_bytes()),
            Self::File(path) => {
                let file = File::open(&path).with_context(|| format!("cannot read the arguments `{path}`"))?;
                bytes_of(file).with_context(|| format!("cannot read the arguments `{path}`"))
            }
            Self::Input => bytes_of(io::stdin().lock()).context("cannot read the arguments from standard input"),
        }
    }
}

fn bytes_of(source: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = source.take(ARGUMENTS_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    let is_within = u64::try_from(read).is_ok_and(|read| read <= ARGUMENTS_BYTES_MAX);
    anyhow::ensure!(is_within, "they are larger than {ARGUMENTS_BYTES_MAX} bytes: give --arguments-bytes instead");
    Ok(bytes)
}

impl AdmitArgs {
    fn request(self) -> anyhow::Result<pb::AdmitRequest> {
        Ok(pb::AdmitRequest {
            target: self.target.unwrap_or_default(),
            tool_name: self.tool.unwrap_or_default(),
            session_id: self.session.unwrap_or_default(),
            turn: self.turn,
            call_id: self.call_id.unwrap_or_default(),
            attempt: self.attempt.unwrap_or_default(),
            arguments: self.arguments.map(Source::read).transpose()?.unwrap_or_default(),
            arguments_bytes: self.arguments_bytes,
            credential: self.credential.unwrap_or_default(),
            caller: self.caller.unwrap_or_default(),
            ..pb::AdmitRequest::default()
        })
    }
}

/// Asks.
pub(super) async fn run(args: AdmitArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let answer = service.breakers().admit(args.request()?).await.map_err(|status| service.explain(&status))?;
    let answer = answer.into_inner();
    let decision = answer.decision.as_ref().ok_or_else(|| service.speechless())?;
    if manner.is_json {
        output::print(&answer_object(decision, answer.shadow_trip.as_ref()).line()?)?;
    } else {
        show(decision, answer.shadow_trip.as_ref())?;
    }
    Ok(match decision {
        Decision::Permit(_) => ExitCode::SUCCESS,
        Decision::Trip(_) => ExitCode::from(TRIPPED),
    })
}

fn answer_object(decision: &Decision, shadow: Option<&pb::Trip>) -> Object {
    let object = match decision {
        Decision::Permit(permit) => Object::default().with_object("permit", Some(json::permit(permit))),
        Decision::Trip(trip) => Object::default().with_object("trip", Some(json::trip(trip))),
    };
    object.with_object("shadow_trip", shadow.map(json::trip))
}

fn show(decision: &Decision, shadow: Option<&pb::Trip>) -> anyhow::Result<()> {
    match decision {
        Decision::Permit(permit) => {
            output::print(&token::encode(&permit.token))?;
            output::remark(&permit_remark(permit));
        }
        Decision::Trip(refusal) => {
            output::print(trip::block(refusal))?;
            output::remark(&trip::hint(refusal));
        }
    }
    if let Some(shadow) = shadow {
        output::remark(&format!("in shadow, it would have been {}", trip::hint(shadow)));
    }
    Ok(())
}

fn permit_remark(permit: &pb::Permit) -> String {
    let pb::Permit { breaker, expires_in_ms, .. } = permit;
    let within = span(*expires_in_ms);
    if permit.probe {
        format!("a probe of {breaker}, it decides for everybody: make the call now and report it within {within}")
    } else {
        format!("allowed by {breaker}: make the call and report it within {within}")
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn arguments_come_as_text_from_a_file_or_from_standard_input() {
        let of = |text: &str| text.parse::<Source>().unwrap();
        assert_eq!(of("-"), Source::Input);
        assert_eq!(of("@/tmp/a.json"), Source::File("/tmp/a.json".to_owned()));
        assert_eq!(of(r#"{"a":"-@"}"#), Source::Text(r#"{"a":"-@"}"#.to_owned()));
        assert_eq!(of(r#"{"a":1}"#).read().unwrap(), br#"{"a":1}"#);
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Source::File("/nowhere/a.json".to_owned()).read().unwrap_err();
        assert!(format!("{error:#}").contains("`/nowhere/a.json`"), "{error:#}");
    }
}
