//! How a record is written: one byte for the version of its form, then the snapshot as JSON. Names stand in it, so that a
//! field that comes later can have a default, and people can read what an export holds.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The form that is written. A record of another is not read.
pub const FORM_VERSION: u8 = 1;

/// Writes a snapshot; none where it cannot be written, which no snapshot of ours is.
pub(super) fn written(snapshot: &impl Serialize) -> Option<Vec<u8>> {
    let mut bytes = vec![FORM_VERSION];
    serde_json::to_writer(&mut bytes, snapshot).ok()?;
    Some(bytes)
}

/// Reads a snapshot; none where the bytes are not one of this form.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (version, text) = bytes.split_first()?;
    (*version == FORM_VERSION).then(|| serde_json::from_slice(text).ok()).flatten()
}
