//! L3: a proxy in front of any server of the Model Context Protocol. Every tool call is admitted and reported; every other
//! byte passes as it came, in both directions.
//!
//! It reads messages where they lie and never writes one anew that it did not have to change: what it does not know, it
//! cannot spoil. Words come from the service; its own are for what the service cannot know, such as a server that ended.
//!
//! Start at [`run`] and `proxy`; then `up`, from the client to the server, and `down`, the other way.

mod answer;
mod asks;
mod call;
mod down;
mod hidden;
mod http;
mod line;
mod link;
mod message;
mod proxy;
mod runs;
mod service;
mod skim;
mod start;
mod tools;
mod up;
mod words;

pub use answer::{RETRY_AFTER_KEY, TRIP_KEY, WITHDRAW_KEY};
pub use http::{InvalidRemote, Remote};
pub use line::{LINE_BYTES_MAX, Line, Sink, TooLong};
pub use link::{Ended, Failed, FromServer, Launch, Link, Process};
pub use proxy::{Settings, run};
pub use runs::{APPROVED_KEY, CALL_KEY, LANE_KEY, SESSION_KEY, TASK_KEY, WAVE_KEY};
pub use service::{Service, WhenDown};
