//! Addresses to listen at and globs over target names.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobSetBuilder};
use toml::de::DeArray;

use super::fault::{Place, Sink};
use super::field::wrong_type;
use super::settings::Listen;
use super::text::quoted;
use crate::domain::ids::TARGET_BYTES_MAX;

/// Globs in one breaker.
pub(super) const GLOBS_MAX: usize = 64;
/// Bytes of one glob; a longer one could match no target but by `*`.
pub(super) const GLOB_BYTES_MAX: usize = TARGET_BYTES_MAX;
/// Bytes of a socket's path that every system takes.
const SOCKET_PATH_BYTES_MAX: usize = 103;

/// An address as `ip:port` or `unix:/path`.
pub(super) fn parse_address(text: &str) -> Result<Listen, String> {
    if let Some(path) = text.strip_prefix("unix:") {
        let is_fitting = Path::new(path).is_absolute() && path.len() <= SOCKET_PATH_BYTES_MAX && !path.contains('\0');
        let rule =
            || format!("is no socket: `unix:` and an absolute path of at most {SOCKET_PATH_BYTES_MAX} bytes are due");
        return is_fitting.then(|| Listen::Unix(PathBuf::from(path))).ok_or_else(rule);
    }
    let rule = |_| "is no address: an IP and a port such as `127.0.0.1:7171`, or `unix:/run/tripnote.sock`, is due";
    text.parse().map(Listen::Tcp).map_err(rule).map_err(str::to_owned)
}

/// The globs; none where one is at fault, which is reported.
pub(super) fn read_globs(list: &DeArray<'_>, place: &Place<'_>, sink: &mut Sink<'_>) -> Option<Vec<String>> {
    if list.is_empty() || list.len() > GLOBS_MAX {
        sink.fault(place, format!("has {} globs: 1 to {GLOBS_MAX} are due", list.len()));
    }
    let mut globs = vec![];
    for (i, value) in list.iter().enumerate() {
        let place = Place::in_file(format!("{}[{i}]", place.path), value);
        match place.value.as_str().map(read_glob) {
            Some(Ok(glob)) => globs.push(glob),
            Some(Err(rule)) => sink.fault(&place, rule),
            None => sink.fault(&place, wrong_type(place.value, "a glob")),
        }
    }
    (!sink.is_faulty(&place.path)).then_some(globs)
}

fn read_glob(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > GLOB_BYTES_MAX {
        return Err(format!("has {} bytes: 1 to {GLOB_BYTES_MAX} are due", text.len()));
    }
    compile(text).map(|()| text.to_owned()).map_err(|error| format!("is no glob: {}", error.kind()))
}

/// Builds what the matcher will build, so that nothing can fail later.
fn compile(text: &str) -> Result<(), globset::Error> {
    GlobSetBuilder::new().add(Glob::new(text)?).build().map(|_| ())
}

/// The globs as TOML writes them.
pub(super) fn written_globs(globs: &[String]) -> String {
    let globs: Vec<String> = globs.iter().map(|glob| quoted(glob)).collect();
    format!("[{}]", globs.join(", "))
}
