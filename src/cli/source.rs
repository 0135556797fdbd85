//! Where a command reads longer texts from: the command line, a file, standard input.

use std::fs::File;
use std::io::{self, Read};
use std::str::FromStr;

use anyhow::Context as _;

/// The most that is read: no service takes a larger message.
const BYTES_MAX: u64 = 64 << 20;

/// Where a text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
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
    /// Reads it; `what` is what an error says cannot be read.
    pub(super) fn read(self, what: &str) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Text(text) => Ok(text.into_bytes()),
            Self::File(path) => file(&path, what),
            Self::Input => {
                bytes_of(io::stdin().lock()).with_context(|| format!("cannot read {what} from standard input"))
            }
        }
    }
}

/// The bytes of a file, or of standard input for `-`.
pub(super) fn file_or_input(path: &str, what: &str) -> anyhow::Result<Vec<u8>> {
    if path == "-" { Source::Input.read(what) } else { file(path, what) }
}

fn file(path: &str, what: &str) -> anyhow::Result<Vec<u8>> {
    let cannot = || format!("cannot read {what} `{path}`");
    bytes_of(File::open(path).with_context(cannot)?).with_context(cannot)
}

fn bytes_of(source: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = source.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    let is_within = u64::try_from(read).is_ok_and(|read| read <= BYTES_MAX);
    anyhow::ensure!(is_within, "more than {BYTES_MAX} bytes");
    Ok(bytes)
}
