//! The keys of what may follow a failed step.

use super::range;
use crate::config::failure::{HostDraft, NAME, NARROW, RetryDraft, RouteDraft, SERVED};
use crate::config::field::{Field, Lens};
use crate::config::key::Key;
use crate::domain::failure::tree::{REASON_BYTES_MAX, RETRIES_MAX};

/// Keys of `[failure]`.
pub(in crate::config) static FAILURE: &[Key<RetryDraft>] = &[
    Key::new(
        "same_binding_retries",
        Field::Count(range(1, RETRIES_MAX as u64), count!(u32, retries)),
        "how often a step is tried again at the same host and route after a transport fault; more than 1 needs `reason`",
    ),
    Key::<RetryDraft>::new(
        "reason",
        Field::Text(range(1, REASON_BYTES_MAX as u64), optional!(because)),
        "why more than one retry is right; it is written into the record of each attempt that it was read for",
    )
    .example("\"the array fails over in 40 s\""),
];

/// Keys of `[[host]]`.
pub(in crate::config) static HOST: &[Key<HostDraft>] = &[
    Key::<HostDraft>::new(
        NAME,
        Field::Name(optional!(name)),
        "a host that failed steps may be moved to, in the order of the file; its circuits are those of the target of this \
         name",
    )
    .example("\"gpu-b\""),
    Key::<HostDraft>::new(SERVED, Field::Names(list!(routes)), "the routes that it serves, to the byte")
        .example("[\"large\", \"small\"]"),
];

/// Keys of `[[route]]`.
pub(in crate::config) static ROUTE: &[Key<RouteDraft>] = &[
    Key::<RouteDraft>::new(NAME, Field::Name(optional!(name)), "a route that may be narrowed").example("\"large\""),
    Key::<RouteDraft>::new(
        NARROW,
        Field::Name(optional!(narrow)),
        "the smaller route that it is narrowed to: read-only, without tools, for one labelled field",
    )
    .example("\"small\""),
];
