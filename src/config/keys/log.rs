//! Keys of `[log]`: what is written for people and collectors.

use super::super::field::{Field, Lens};
use super::super::key::Key;
use super::super::settings::{LogFormat, LogLevel, Settings};

/// Keys of `[log]`.
pub(in super::super) static LOG: &[Key<Settings>] = &[
    Key::<Settings>::new("format", word!(LogFormat, log.format), "the form of a log line")
        .variable("TRIPNOTE_LOG_FORMAT"),
    Key::<Settings>::new("level", word!(LogLevel, log.level), "the least urgent line that is written")
        .variable("TRIPNOTE_LOG_LEVEL"),
];
