//! How the name of a record is written: one byte for its kind and two numbers, so that the order of bytes is that of keys.
//! A kind's byte is for ever.

use crate::engine::ports::{RecordKey, RecordKind};

/// Bytes of a key.
pub(super) const KEY_BYTES: usize = 17;

const fn byte_of(kind: RecordKind) -> u8 {
    match kind {
        RecordKind::Circuits => 1,
        RecordKind::Holds => 2,
        RecordKind::Session => 3,
        RecordKind::Attempt => 4,
        RecordKind::Figures => 5,
        RecordKind::Sessions => 6,
    }
}

/// The bytes of a key.
pub(super) fn key_of(key: RecordKey) -> [u8; KEY_BYTES] {
    let mut bytes = [0; KEY_BYTES];
    let parts = [byte_of(key.kind)].into_iter().chain(key.of.to_be_bytes()).chain(key.part.to_be_bytes());
    bytes.iter_mut().zip(parts).for_each(|(byte, part)| *byte = part);
    bytes
}

/// The key of bytes; none where its kind is not known.
pub(super) fn read_key(bytes: &[u8; KEY_BYTES]) -> Option<RecordKey> {
    let (kind, rest) = bytes.split_first()?;
    let kind = RecordKind::ALL.iter().copied().find(|known| byte_of(*known) == *kind)?;
    let (of, part) = rest.split_first_chunk::<8>()?;
    let part = part.first_chunk::<8>()?;
    Some(RecordKey { kind, of: u64::from_be_bytes(*of), part: u64::from_be_bytes(*part) })
}
