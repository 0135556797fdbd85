//! The keys of what is known of tools and of their formats.

use super::{FORMATS, NAME, WINDOW, range};
use crate::config::condition::ConditionDraft;
use crate::config::field::{Field, Lens};
use crate::config::format::FormatDraft;
use crate::config::key::Key;
use crate::config::poll::PollDraft;
use crate::config::text::DAY;
use crate::config::tool::{MATCH, ToolDraft, format_words};
use crate::domain::ids::SafeText;
use crate::domain::tool::Effect;

/// The name of a tool that a model may be told; kept as it was read, in which nothing had to be cut.
macro_rules! tool_name {
    ($($at:tt)+) => {
        Field::Text(
            NAME,
            Lens {
                get: |it| it.$($at)+.as_deref().map(|name| SafeText::cut(name, usize::MAX)),
                set: |it, name| it.$($at)+ = Some(name.as_str().into()),
            },
        )
    };
}

/// Keys of `[[tool]]`.
pub(in crate::config) static TOOL: &[Key<ToolDraft>] = &[
    Key::<ToolDraft>::new(
        MATCH,
        Field::Glob(optional!(pattern)),
        "the tools, by their names as the model knows them; the first row in the file that fits a tool counts; one about \
         a single name starts from what is built in for that name, a pattern from nothing",
    )
    .example("\"orders_*\""),
    Key::<ToolDraft>::new(
        "format",
        Field::Named(format_words, FORMATS, optional!(format)),
        "what results are read as; unset, it is recognised from their structure",
    )
    .example("\"job_api\""),
    Key::<ToolDraft>::new(
        "domain",
        Field::Code(optional!(tool.domain)),
        "the store that answers, of which several tools are one source; `catalog` is never evidence",
    )
    .example("\"runtime\""),
    Key::<ToolDraft>::new(
        "role",
        Field::Code(optional!(tool.role)),
        "what the answers are good for; `context`, `notes` and `memory` are never evidence",
    )
    .example("\"mechanism\""),
    Key::new("effect", word!(Effect, tool.effect), "what a call does to the world, where the call does not say"),
    Key::<ToolDraft>::new(
        "identity",
        Field::Pointers(list!(tool.identity)),
        "where the arguments say what is asked; unset, all of them say it",
    )
    .example("[\"/service\"]"),
    Key::new(
        "opaque",
        Field::Switch(plain!(tool.is_opaque)),
        "whether results are content such as files, pages and logs, which is never read as an envelope",
    ),
    Key::<ToolDraft>::new("poll", Field::Poll(optional!(tool.poll)), "for how long the same answer is no repeat")
        .example("{ every = \"10s\", up_to = \"15m\" }"),
    Key::<ToolDraft>::new(
        "alternative",
        tool_name!(tool.alternative),
        "the tool that a model is told to turn to where this one does not help",
    )
    .example("\"orders_search\""),
    Key::<ToolDraft>::new(
        "read_tool",
        tool_name!(tool.read_tool),
        "the tool that tells whether a write of this one happened",
    )
    .example("\"orders_get\""),
];

/// Keys of `poll`.
pub(in crate::config) static POLL: &[Key<PollDraft>] = &[
    Key::new("every", Field::Duration(WINDOW, optional!(every_ms)), "how far apart its calls are expected"),
    Key::new(
        "up_to",
        Field::Duration(range(100, 30 * DAY), optional!(up_to_ms)),
        "how long after the first the same answer is no repeat; at least `every`",
    ),
];

/// Keys of `[[format]]`.
pub(in crate::config) static FORMAT: &[Key<FormatDraft>] = &[
    Key::<FormatDraft>::new(
        crate::config::format::NAME,
        Field::Code(optional!(name)),
        "what tools call it; no name of a format that is built in",
    )
    .example("\"job_api\""),
    Key::<FormatDraft>::new(
        "recognised_when",
        Field::Conditions(list!(recognised_when)),
        "what a payload of it is known by, all of them; unset, a tool has to name it",
    )
    .example("[{ at = \"/job\", present = true }, { at = \"/state\", present = true }]"),
    Key::<FormatDraft>::new(
        "failed_when",
        Field::Conditions(list!(failed_when)),
        "the query failed where one of these holds; the first of the four lists that holds decides",
    )
    .example("[{ at = \"/state\", is = [\"failed\", \"aborted\"] }]"),
    Key::<FormatDraft>::new(
        "unavailable_when",
        Field::Conditions(list!(unavailable_when)),
        "the question was never put to the data where one of these holds",
    )
    .example("[{ at = \"/error/kind\", is = \"backend_down\" }]"),
    Key::<FormatDraft>::new(
        "truncated_when",
        Field::Conditions(list!(truncated_when)),
        "more exists than was delivered where one of these holds",
    )
    .example("[{ at = \"/next_page\", present = true }]"),
    Key::<FormatDraft>::new(
        "empty_when",
        Field::Conditions(list!(empty_when)),
        "nothing was found where one of these holds",
    )
    .example("[{ at = \"/rows\", empty = true }]"),
];

/// Keys of one condition.
pub(in crate::config) static CONDITION: &[Key<ConditionDraft>] = &[
    Key::new("at", Field::Pointer(optional!(at)), "where in the payload"),
    Key::new("is", Field::Words(optional!(is)), "the value there is one of these, texts in any case"),
    Key::new(
        "empty",
        Field::Switch(optional!(empty)),
        "whether the list, object or text there has no content; other values are neither",
    ),
    Key::new("present", Field::Switch(optional!(present)), "whether anything but `null` is there"),
];
