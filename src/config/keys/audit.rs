//! Keys of `[audit]`: which events are written to a file.

use super::super::field::{Field, Lens};
use super::super::key::Key;
use super::super::settings::Settings;
use super::range;

/// Keys of `[audit]`.
pub(in super::super) static AUDIT: &[Key<Settings>] = &[
    Key::<Settings>::new(
        "file",
        Field::Path(optional!(audit.file)),
        "the file to which every event is appended as a line of JSON; unset, none is written",
    )
    .example("\"/var/log/tripnote/audit.jsonl\""),
    Key::new(
        "calls",
        Field::Switch(plain!(audit.calls)),
        "whether each admitted call and each counted report is an event there too",
    ),
    Key::new(
        "rotate_bytes",
        Field::Count(range(64 << 10, 1 << 40), plain!(audit.rotate_bytes)),
        "the size at which another file is begun; the one before is kept as `.1`",
    ),
    Key::new("keep", Field::Count(range(1, 1_000), count!(u32, audit.keep)), "files that are kept, with the first"),
    Key::new(
        "sync",
        Field::Switch(plain!(audit.sync)),
        "whether each write is on the disk before the next; no request waits for it either way",
    ),
];
