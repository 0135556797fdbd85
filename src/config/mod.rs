//! What an operator asks for: TOML in, and either a valid [`Config`] or all that is wrong with it at once.
//!
//! Everything is checked here and nowhere later. Every key is one row of `keys`; rules over several keys are `checks`.
//! Reads files and nothing else; the environment is handed in.

mod branch;
mod changes;
mod checks;
mod condition;
mod entry;
mod failure;
mod fallback;
mod fault;
mod field;
mod form;
mod format;
mod key;
mod keys;
mod list;
mod output;
mod policy;
mod poll;
mod range;
mod read;
mod review;
mod rule;
mod schema;
mod settings;
mod text;
mod tool;
mod weights;
mod wordings;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use crate::domain::breaker::policy::BreakerPolicy;
use crate::domain::failure::binding::FailureRules;
use crate::domain::observation::custom::CustomFormat;
use crate::domain::tool::Tools;
pub use fault::{FILE_BYTES_MAX, Fault, FaultReport, LoadError};
pub use output::{default_text, readme_table};
pub use schema::schema;
pub use settings::{
    AuditSettings, Durability, Listen, LogFormat, LogLevel, LogSettings, OnStoreError, Settings, StoreKeys, WireLimits,
};
pub(crate) use text::parse_duration;

/// A whole configuration. The default one is that of no file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Everything outside the breakers.
    pub settings: Settings,
    /// The policies of a target that no breaker names, from which every breaker inherits.
    pub default_policy: BreakerPolicy,
    /// In the order of the file.
    pub breakers: Vec<BreakerPolicy>,
    /// The formats of integrations, in the order of the file.
    pub formats: Vec<Arc<CustomFormat>>,
    /// What is known of tools.
    pub tools: Tools,
    /// What may follow a failed step.
    pub failure: FailureRules,
}

/// Gives the value of an environment variable.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// Where the text is no TOML, or with all that is wrong in it.
    pub fn parse(text: &str) -> Result<Self, FaultReport> {
        read::read(text, &|_| None)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Where it cannot be read, is too large, or has faults.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        Self::load_with_env(path, |_| None)
    }

    /// Reads a file and, over it, the environment, so that one can allow what the other asks for.
    ///
    /// # Errors
    /// Where the file cannot be read, is too large, or where one of both has faults.
    pub fn load_with_env(path: &Path, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, LoadError> {
        let text = read_file(path).map_err(|cause| LoadError::Unreadable { path: path.to_owned(), cause })?;
        let text = text.ok_or_else(|| LoadError::TooLarge { path: path.to_owned() })?;
        read::read(&text, &lookup).map_err(|report| LoadError::Faulty { path: path.to_owned(), report })
    }

    /// Takes over what the environment says about the deployment: `TRIPNOTE_GRPC`, `TRIPNOTE_HTTP`, `TRIPNOTE_INSECURE`,
    /// `TRIPNOTE_DATA_DIR`, `TRIPNOTE_LOG_FORMAT` and `TRIPNOTE_LOG_LEVEL`.
    ///
    /// # Errors
    /// With all that is wrong in it.
    pub fn with_env(self, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, FaultReport> {
        Ok(Self { settings: read::read_over(self.settings, &lookup)?, ..self })
    }
}

/// The text of a file; none where it is too large to be a configuration.
fn read_file(path: &Path) -> io::Result<Option<String>> {
    let mut text = String::new();
    let bytes_read = File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    let is_within = u64::try_from(bytes_read).is_ok_and(|bytes| bytes <= FILE_BYTES_MAX);
    Ok(is_within.then_some(text))
}

#[cfg(test)]
mod tests;
