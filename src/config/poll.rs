//! How long a tool may answer the same thing: `{ every = "10s", up_to = "15m" }`.

use serde_json::Value;

use super::branch::read_inline;
use super::fault::{Place, Sink};
use super::form::{self, Forms};
use super::key::inline;
use super::keys::POLL;
use super::text::Written;
use crate::domain::tool::Poll;

const FORMS: Forms = &[&["every", "up_to"]];

/// A poll as far as it is read.
#[derive(Clone, Default)]
pub(super) struct PollDraft {
    pub(super) every_ms: Option<u64>,
    pub(super) up_to_ms: Option<u64>,
}

impl PollDraft {
    fn into_poll(self) -> Result<Poll, String> {
        let (Some(every_ms), Some(up_to_ms)) = (self.every_ms, self.up_to_ms) else {
            return Err(format!("is no poll: {}", form::due(FORMS)));
        };
        if up_to_ms < every_ms {
            return Err(format!("has an `up_to` below `every`: at least {} is due", Written(every_ms)));
        }
        Ok(Poll { every_ms, up_to_ms })
    }
}

/// The poll; none where something in it is at fault, which is reported.
pub(super) fn read_poll(place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Poll> {
    let draft = read_inline(place, POLL, sink)?;
    draft.into_poll().map_err(|rule| sink.fault(place, rule)).ok()
}

/// The poll as TOML writes it.
pub(super) fn written_poll(poll: Poll) -> String {
    inline(POLL, &PollDraft { every_ms: Some(poll.every_ms), up_to_ms: Some(poll.up_to_ms) })
}

pub(super) fn schema() -> Value {
    form::schema(FORMS, POLL).into()
}
