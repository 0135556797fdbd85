//! `tripnote admit`: may this call go out?
//!
//! Standard output holds what is handed on, and nothing else: the permit, or the contract for the model.

use std::process::ExitCode;

use super::connect::Service;
use super::json::{self, Object};
use super::source::Source;
use super::text::{one_line, span};
use super::words::effects;
use super::{Manner, TRIPPED, output, token, trip};
use crate::wire::pb;
use crate::wire::pb::admit_response::Decision;

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
    /// What the call does to the world, where the configuration does not know
    #[arg(long, value_parser = effects())]
    effect: Option<pb::Effect>,
    /// A key by which the target recognises a repeat
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// The size of the arguments, where they are not given
    #[arg(long, value_name = "N")]
    arguments_bytes: Option<u32>,
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
            arguments: self.arguments.map(|source| source.read("the arguments")).transpose()?.unwrap_or_default(),
            arguments_bytes: self.arguments_bytes,
            credential: self.credential.unwrap_or_default(),
            caller: self.caller.unwrap_or_default(),
            effect: self.effect.unwrap_or_default().into(),
            idempotency_key: self.idempotency_key.unwrap_or_default(),
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
            permit.notices.iter().for_each(|notice| output::remark(&one_line(notice)));
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
        assert_eq!(of(r#"{"a":1}"#).read("the arguments").unwrap(), br#"{"a":1}"#);
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Source::File("/nowhere/a.json".to_owned()).read("the arguments").unwrap_err();
        assert!(format!("{error:#}").contains("`/nowhere/a.json`"), "{error:#}");
    }
}
