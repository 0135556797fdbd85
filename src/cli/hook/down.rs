//! What a hook says where no service answers: whether the call goes on, and to the user once.

use std::fs::{self, OpenOptions};
use std::hash::Hasher as _;
use std::io::ErrorKind;
use std::path::PathBuf;

use serde_json::{Value, json};
use siphasher::sip::SipHasher13;

use crate::cli::connect::Address;
use crate::cli::text::clean;
use crate::domain::tool::{Effect, Tools};
use crate::service::hooks::{HookEvent, HookProgram, denied, noted};

/// What becomes of calls that nobody decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenDown {
    /// They are made: an editor that cannot write is worse than a missing guard.
    GoOn,
    /// They are refused.
    Refuse,
    /// Those of tools that are known to change something are refused.
    ByEffect,
}

impl WhenDown {
    pub(super) const ALL: &'static [Self] = &[Self::GoOn, Self::Refuse, Self::ByEffect];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::GoOn => "go_on",
            Self::Refuse => "refuse",
            Self::ByEffect => "by_effect",
        }
    }

    fn refuses(self, tool: &str) -> bool {
        match self {
            Self::GoOn => false,
            Self::Refuse => true,
            Self::ByEffect => Tools::default().of(tool).effect == Effect::Mutate,
        }
    }
}

/// Whether a session was told that no service answers: a file that is there until one does.
pub(super) struct Silence(PathBuf);

impl Silence {
    pub(super) fn of(program: HookProgram, address: &Address, session: &str) -> Self {
        let mut hasher = SipHasher13::new();
        for part in [program.word(), &address.to_string(), session] {
            hasher.write(part.as_bytes());
            hasher.write_u8(0);
        }
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
        Self(folder.join(format!("tripnote-down-{:016x}", hasher.finish())))
    }

    /// Whether nobody was told yet; from now on somebody was. What cannot be noted is said again.
    fn is_new(&self) -> bool {
        let noted = OpenOptions::new().write(true).create_new(true).open(&self.0);
        !noted.is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
    }

    /// A service answers: the next time that none does is said anew.
    pub(super) fn is_over(&self) {
        let _ = fs::remove_file(&self.0); // it is seldom there
    }
}

/// The answer to an event.
pub(super) fn said(event: &HookEvent<'_>, address: &Address, when_down: WhenDown, silence: &Silence) -> Value {
    if let Some(tool) = event.tool_before_call().filter(|tool| when_down.refuses(tool)) {
        let tool = clean(tool);
        return denied(&format!("no tripnote service answers at {address}: {tool} is refused until one does"));
    }
    if !silence.is_new() {
        return json!({});
    }
    let rest = match when_down {
        WhenDown::GoOn => "calls go on unguarded",
        WhenDown::Refuse => "calls are refused",
        WhenDown::ByEffect => "calls that change something are refused, the others go on unguarded",
    };
    noted(&format!("no tripnote service answers at {address}: {rest} until one does"))
}
