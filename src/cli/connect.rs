//! The way to a running service: where it is, how long to wait for it, and what its errors mean to the person who asked.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::Duration;

use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use super::text::{one_line, span};
use crate::wire::pb::breaker_service_client::BreakerServiceClient;
use crate::wire::pb::failure_service_client::FailureServiceClient;
use crate::wire::pb::operator_service_client::OperatorServiceClient;
use crate::wire::pb::session_service_client::SessionServiceClient;

/// Where a service listens unless something else is configured.
pub(super) const DEFAULT: &str = "127.0.0.1:7171";
/// The environment variable that names another place.
pub(super) const VARIABLE: &str = "TRIPNOTE_CONNECT";
/// How long a connection may take to come about.
const CONNECT_FOR: Duration = Duration::from_secs(5);
/// How long the beginning of an answer may take.
const ANSWER_FOR: Duration = Duration::from_secs(10);
/// The largest answer: a page of circuits with the longest contracts fits in.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Where a service is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address(String);

impl Address {
    fn uri(&self) -> String {
        if self.0.starts_with("unix:") { self.0.clone() } else { format!("http://{}", self.0) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = || "`host:port`, `http://host:port` or `unix:/path` is due".to_owned();
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.starts_with('/') { Ok(Self(format!("unix:{path}"))) } else { Err(rule()) };
        }
        let place = text.strip_prefix("http://").unwrap_or(text).trim_end_matches('/');
        let (host, port) = place.rsplit_once(':').ok_or_else(rule)?;
        let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
        let is_host =
            !host.is_empty() && !host.contains('/') && format!("http://{place}").parse::<hyper::Uri>().is_ok();
        if is_port && is_host { Ok(Self(place.to_owned())) } else { Err(rule()) }
    }
}

/// A connection to a service.
#[derive(Clone, Debug)]
pub(super) struct Service {
    address: Address,
    channel: Channel,
}

impl Service {
    /// Connects.
    pub(super) async fn reach(address: &Address) -> anyhow::Result<Self> {
        let endpoint = Endpoint::from_shared(address.uri())?.connect_timeout(CONNECT_FOR).timeout(ANSWER_FOR);
        let channel = endpoint.connect().await.map_err(|error| nobody(address, &error))?;
        Ok(Self { address: address.clone(), channel })
    }

    /// The connection itself.
    pub(super) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// The way to a service that may come up later, or go away and come back.
    pub(super) fn channel_to(address: &Address) -> anyhow::Result<Channel> {
        Ok(Endpoint::from_shared(address.uri())?.connect_timeout(CONNECT_FOR).connect_lazy())
    }

    /// What agents call.
    pub(super) fn breakers(&self) -> BreakerServiceClient<Channel> {
        BreakerServiceClient::new(self.channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX)
    }

    /// What an agent's host asks about its run.
    pub(super) fn sessions(&self) -> SessionServiceClient<Channel> {
        SessionServiceClient::new(self.channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX)
    }

    /// What runners of steps call.
    pub(super) fn failures(&self) -> FailureServiceClient<Channel> {
        FailureServiceClient::new(self.channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX)
    }

    /// What people call.
    pub(super) fn operators(&self) -> OperatorServiceClient<Channel> {
        OperatorServiceClient::new(self.channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX)
    }

    /// What an error of this service means, and what to do about it.
    pub(super) fn explain(&self, status: &Status) -> anyhow::Error {
        anyhow::Error::msg(meaning(&self.address, status))
    }

    /// An answer that lacks what this client needs.
    pub(super) fn speechless(&self) -> anyhow::Error {
        anyhow::anyhow!(
            "the service at {} answers in a way that this version does not know: use one of both",
            self.address
        )
    }
}

/// Nothing listens there, or nothing that can be reached.
fn nobody(address: &Address, error: &tonic::transport::Error) -> anyhow::Error {
    let mut cause = String::new();
    let mut source = error.source();
    while let Some(error) = source {
        let is_plain = error
            .downcast_ref::<io::Error>()
            .is_some_and(|error| matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound));
        cause = if is_plain { String::new() } else { format!(" ({})", one_line(&error.to_string())) };
        source = error.source();
    }
    anyhow::anyhow!(
        "no service answers at {address}{cause}: start one with `tripnote serve`, or name another with --connect"
    )
}

fn meaning(address: &Address, status: &Status) -> String {
    let message = one_line(status.message());
    let details = status.get_error_details();
    if let Some(after) = details.retry_info().and_then(|retry| retry.retry_delay) {
        let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        return format!("the service at {address} takes no requests now ({message}): try again in {}", span(after_ms));
    }
    match status.code() {
        Code::InvalidArgument => {
            let fields = details.bad_request().map(|request| request.field_violations.as_slice()).unwrap_or_default();
            let faults = fields.iter().map(|fault| one_line(&format!("{}: {}", fault.field, fault.description)));
            if fields.is_empty() { message } else { faults.collect::<Vec<_>>().join("; ") }
        }
        Code::NotFound | Code::FailedPrecondition | Code::OutOfRange | Code::AlreadyExists => message,
        Code::Unavailable => format!("the service at {address} went away ({message}): see whether it still runs"),
        Code::DeadlineExceeded | Code::Cancelled => {
            format!("the service at {address} did not answer within {} s ({message}): try again", ANSWER_FOR.as_secs())
        }
        Code::Unimplemented => {
            format!("what answers at {address} is no tripnote service of this version ({message}): see --connect")
        }
        Code::Ok
        | Code::Unknown
        | Code::PermissionDenied
        | Code::ResourceExhausted
        | Code::Aborted
        | Code::Internal
        | Code::DataLoss
        | Code::Unauthenticated => format!("the service at {address} failed with {:?}: {message}", status.code()),
    }
}

#[cfg(test)]
mod tests;
